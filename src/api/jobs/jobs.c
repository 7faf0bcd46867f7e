/* jobs.c - the job scheduler: finds due rows, takes them and runs them.
 *
 * A timer on the first loop fires when the next job is due (known from the store, or from calls
 * that schedule an earlier job). It reads the due rows and claims each job by changing its due time
 * to a time in the future (the lease). The node whose update succeeds runs the job.
 *
 * Jobs are divided among nodes by key. A node claims jobs that it has scheduled and those of its
 * share at once, but jobs of other shares only when they are one second late, because their node
 * has stopped or is busy. */
#include "api/jobs/jobs.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "api/jobs/internal_call.h"
#include "api/internal.h"
#include "base/clock.h"
#include "base/clock_watch.h"
#include "base/log.h"
#include "base/mem.h"

enum {
    AT_ONCE = 64,      /* maximum number of jobs per query */
    TICK_MS = 250,     /* maximum sleep of the timer in ms; short, because the wall clock may be
                        * stepped */
    OTHERS_POLL_S = 1, /* polling interval in s; polling finds jobs that other nodes have
                        * scheduled */
    RETRY_S = 5,       /* retry delay after a failure */
    UNKNOWN_S = 3600,  /* delay in s after which a job is retried if this program version does not
                        * know its kind */
    LEFT_S = 60, /* time in s that nodes of other versions have to run a job whose kind this version
                  * does not know */
    LATE_S = 1,  /* if a job is this late (in s), any node may claim it, although it belongs to
                  * another node's share */
    SECOND = 1000 * 1000,
    DAY_S = 24 * 60 * 60,
};

struct job_scheduler {
    struct api *api;
    struct loop *loop;
    uv_timer_t *timer;
    _Atomic int64_t next;     /* due time of the next job in µs; INT64_MAX if none is known */
    _Atomic bool started;     /* whether job_scheduler_start was called */
    struct loop_message wake; /* message that wakes the loop when a call has scheduled an earlier
                               * job */
    _Atomic bool waking;      /* whether wake is already posted */
    int64_t read_at;
    int64_t daily_at; /* time on clock_steady_ms at which the `daily` functions are called next */
    _Atomic uint64_t taken; /* jobs that this node has run */
    unsigned busy;          /* number of queries and jobs that are running */
    bool others;            /* whether several nodes share the store */
    bool full;              /* whether the last query found AT_ONCE jobs, so that more may be due */
};

static void scheduler_record_due_time(struct call *call, int64_t due_us)
{
    if (!call_get_context(call)->effects.job_due ||
        due_us < call_get_context(call)->effects.job_due)
        call_get_context(call)->effects.job_due = due_us;
}

enum err job_schedule(struct call *call, const struct job_kind *kind, snowflake key, int64_t due_us,
                      struct str data)
{
    scheduler_record_due_time(call, due_us);
    return tx_exec(
        call->tx,
        "insert into jobs (kind, key, due, data) values ($1, $2, $3, $4) "
        "on conflict (kind, key) do update set due = excluded.due, data = excluded.data, taken = 0",
        BIND(v_text(str_of(kind->name)), v_id(key), v_int(due_us), v_text(data.p ? data : STR(""))),
        NULL);
}

enum err insert_job_row(struct tx *tx, const char *kind, snowflake key, int64_t due_us,
                        struct str data)
{
    return tx_exec(tx,
                   "insert into jobs (kind, key, due, data) values ($1, $2, $3, $4) "
                   "on conflict do nothing",
                   BIND(v_text(str_of(kind)), v_id(key), v_int(due_us), v_text(data)), NULL);
}

/* First checks whether the job is already scheduled for this time, because on SQLite a SELECT is
 * cheaper than rewriting an unchanged row. */
enum err job_schedule_if_changed(struct call *call, const struct job_kind *kind, snowflake key,
                                 int64_t due_us)
{
    bool found = false;
    enum err e = OK;

    if (!tx_queries_need_round_trips(call->tx))
        e = tx_exists(call->tx,
                      "select 1 from jobs where kind = $1 and key = $2 and due = $3 and taken = 0",
                      BIND(v_text(str_of(kind->name)), v_id(key), v_int(due_us)), &found);
    if (e || !found)
        return e ? e : job_schedule(call, kind, key, due_us, (struct str){ 0 });
    scheduler_record_due_time(call, due_us);
    return OK;
}

enum err job_cancel(struct call *call, const struct job_kind *kind, snowflake key)
{
    return tx_exec(call->tx, "delete from jobs where kind = $1 and key = $2",
                   BIND(v_text(str_of(kind->name)), v_id(key)), NULL);
}

enum err job_renew_lease(struct call *call, const struct job *job, int64_t due_us, struct str data,
                         bool *ret_held)
{
    int64_t changed = 0;
    enum err e = tx_exec(call->tx,
                         "update jobs set due = $4, data = $5 "
                         "where kind = $1 and key = $2 and taken = $3",
                         BIND(v_text(str_of(job->kind->name)), v_id(job->key), v_int(job->taken),
                              v_int(due_us), v_text(data)),
                         &changed);

    scheduler_record_due_time(call, due_us);
    *ret_held = changed == 1;
    return e;
}

enum err job_finish(struct call *call, const struct job *job)
{
    return tx_exec(call->tx, "delete from jobs where kind = $1 and key = $2 and taken = $3",
                   BIND(v_text(str_of(job->kind->name)), v_id(job->key), v_int(job->taken)), NULL);
}

/* Data of the internal call that claims a job. The bytes of job.data are stored behind the
 * struct. */
struct job_claim {
    char kind[48];
    struct job job; /* the job to claim; job.kind is NULL if this program version does not know the
                     * kind */
    int64_t until;  /* new due time in the job's row (the lease); 0 to delete the row */
    bool taken;
};

static void scheduler_count_finished_operation(struct job_scheduler *jobs);

static enum err claim_job_row(struct tx *tx, struct job_claim *t)
{
    const struct value row[] = { v_text(str_of(t->kind)), v_id(t->job.key), v_int(t->job.due),
                                 v_int(t->until), v_int(t->job.taken) };
    int64_t changed = 0;
    enum err e = t->until
                     ? tx_exec(tx,
                               "update jobs set due = $4, taken = $5 "
                               "where kind = $1 and key = $2 and due = $3",
                               row, 5, &changed)
                     : tx_exec(tx, "delete from jobs where kind = $1 and key = $2 and due = $3",
                               row, 3, &changed);

    t->taken = changed == 1;
    return e;
}

static enum err claim_and_run_job(struct call *call)
{
    struct job_claim *t = call_get_stage_data(call, "job_claim");

    t->job.data.p = (const char *)(t + 1);
    enum err e = claim_job_row(call->tx, t);
    if (t->until)
        call_get_context(call)->effects.job_due = t->until;
    return e || !t->taken || t->until ? e : t->job.kind->run(call, &t->job);
}

static void start_job_claim(struct job_scheduler *jobs, const struct job_claim *t,
                            void (*done)(struct call *call, enum err e, void *arg))
{
    size_t size = sizeof *t + t->job.data.n;
    char *bytes = mem_new(size);

    memcpy(bytes, t, sizeof *t);
    memcpy(bytes + sizeof *t, t->job.data.p, t->job.data.n);
    jobs->busy++;
    internal_call_start(jobs->api, jobs->loop,
                        &(struct internal_call){ .name = t->job.kind ? t->job.kind->name : "jobs",
                                                 .store = t->job.kind && t->job.kind->per_node
                                                              ? ROUTE_STORE_APPEND
                                                              : ROUTE_STORE_WRITE,
                                                 .run = claim_and_run_job,
                                                 .done = done,
                                                 .type = "job_claim",
                                                 .data = bytes,
                                                 .size = size,
                                                 .arg = jobs });
    mem_free(bytes);
}

static void on_job_postponed(struct call *call, enum err e, void *arg)
{
    const struct job_claim *t = call_get_stage_data(call, "job_claim");

    if (e)
        log_error("jobs: cannot postpone a job of kind '%s': %s", t->kind, error_info(e)->message);
    scheduler_count_finished_operation(arg);
}

static void postpone_job(struct job_scheduler *jobs, const struct job_claim *failed,
                         int64_t seconds)
{
    struct job_claim t = *failed;

    t.until = clock_us() + seconds * SECOND;
    start_job_claim(jobs, &t, on_job_postponed);
}

static void on_job_claimed(struct call *call, enum err e, void *arg)
{
    const struct job_claim *t = call_get_stage_data(call, "job_claim");
    struct job_scheduler *jobs = arg;

    if (e) {
        log_warn("jobs: job '%s' with key %llu failed, will retry: %s", t->kind,
                 (unsigned long long)t->job.key, error_info(e)->message);
        postpone_job(jobs, t, RETRY_S);
        scheduler_count_finished_operation(jobs);
        return;
    }
    atomic_fetch_add(&jobs->taken, t->taken);
    if (t->taken && t->until)
        t->job.kind->start(jobs->api, jobs->loop, &t->job);
    scheduler_count_finished_operation(jobs);
}

struct due_jobs_query {
    struct job_claim *due; /* due jobs, in the arena of the call */
    size_t count;
    int64_t next;         /* due time in µs of the first job that is not due yet */
    int64_t rank, living; /* the share of jobs to query: rank of this node, and number of living
                           * nodes */
};

static const struct job_kind *find_job_kind(const struct api *api, struct str name)
{
    for (const struct domain *const *d = api->domains; *d; d++)
        for (const struct job_kind *const *k = (*d)->jobs; k && *k; k++)
            if (str_is(name, (*k)->name))
                return *k;
    return NULL;
}

static bool job_claim_from_row(const struct api *api, const struct rows *r, struct job_claim *t)
{
    struct str kind = row_text(r, 0);

    if (kind.n >= sizeof t->kind)
        return false;
    *t = (struct job_claim){ .job = { .kind = find_job_kind(api, kind),
                                      .key = row_id(r, 1),
                                      .due = row_int(r, 2),
                                      .data = row_text(r, 3) } };
    memcpy(t->kind, kind.p, kind.n);
    return true;
}

/* Selects the first jobs of one node's share, and late jobs of all nodes. A job belongs to a share
 * by its key. Keys are mostly snowflakes, whose low 22 bits are poorly distributed, so these bits
 * are ignored. */
static const char FIND_DUE[] =
    "select kind, key, due, data from jobs where (key / 4194304 + length(kind)) % "
    "cast($2 as bigint) = cast($3 as bigint) or due <= $4 order by due limit $1";

static enum err read_due_jobs(struct call *call)
{
    struct due_jobs_query *l = call_get_stage_data(call, "due_jobs_query");
    int64_t late = clock_us() - LATE_S * SECOND;
    struct rows r;

    l->due = arena_array(call->arena, struct job_claim, AT_ONCE);
    l->count = 0;
    l->next = INT64_MAX;
    enum err e = tx_query(call->tx, FIND_DUE,
                          BIND(v_int(AT_ONCE), v_int(l->living), v_int(l->rank), v_int(late)), &r);
    while (!e && l->next == INT64_MAX && rows_next(&r)) {
        if (row_int(&r, 2) > clock_us())
            l->next = row_int(&r, 2);
        else if (job_claim_from_row(call->api, &r, &l->due[l->count]))
            l->count++;
    }
    return e ? e : rows_end(&r);
}

static void scheduler_lower_next_due_time(struct job_scheduler *jobs, int64_t due)
{
    int64_t next = jobs->next;

    while (due < next && !atomic_compare_exchange_weak(&jobs->next, &next, due))
        ;
}

/* Postpones a job of unknown kind. In a cluster, first waits LEFT_S seconds: during an upgrade, a
 * newer node may run the job. */
static void postpone_unknown_job(struct job_scheduler *jobs, const struct job_claim *t)
{
    if (!jobs->others || t->job.due < clock_us() - LEFT_S * SECOND)
        postpone_job(jobs, t, UNKNOWN_S);
}

static void claim_due_job(struct job_scheduler *jobs, const struct job_claim *due)
{
    struct job_claim t = *due;
    const struct job_kind *kind = t.job.kind;

    t.until = kind->start ? clock_us() + kind->lease_ms * 1000 : 0;
    t.job.taken = (int64_t)snowflake_new();
    start_job_claim(jobs, &t, on_job_claimed);
}

static bool job_is_reserved_for_its_node(const struct job *job)
{
    return job->kind->per_node && job->key != snowflake_get_node() &&
           job->due > clock_us() - LATE_S * SECOND;
}

static void on_due_jobs_read(struct call *call, enum err e, void *arg)
{
    const struct due_jobs_query *l = call_get_stage_data(call, "due_jobs_query");
    struct job_scheduler *jobs = arg;
    bool was_full = jobs->full;
    size_t begun = 0;

    if (e)
        log_error("jobs: cannot read due jobs, will retry: %s", error_info(e)->message);
    for (size_t i = 0; !e && i < l->count; i++) {
        if (!l->due[i].job.kind) {
            postpone_unknown_job(jobs, &l->due[i]);
        } else if (!job_is_reserved_for_its_node(&l->due[i].job)) {
            claim_due_job(jobs, &l->due[i]);
            begun++;
        }
    }
    /* If the result has the maximum size, more jobs may be due: query again at once, first this
     * node's share, then all jobs. After an error, query again in one second. */
    jobs->full = !e && begun && l->count == AT_ONCE;
    scheduler_lower_next_due_time(jobs, e                        ? clock_us() + SECOND
                                        : jobs->full || was_full ? 0
                                                                 : l->next);
    scheduler_count_finished_operation(jobs);
}

/* Chooses the jobs to query. Queries only this node's share of the jobs if `next` is not due (then
 * this is a poll for jobs that other nodes scheduled), or if the last result was full. Otherwise
 * queries all jobs. */
static struct due_jobs_query choose_jobs_to_query(const struct job_scheduler *jobs, int64_t now)
{
    struct due_jobs_query l = { .living = 1 };

    if (jobs->others && (jobs->full || jobs->next > now))
        cluster_get_node_rank(jobs->api->options.cluster, &l.rank, &l.living);
    return l;
}

static void start_due_jobs_read(struct job_scheduler *jobs)
{
    int64_t now = clock_us();
    struct due_jobs_query l = choose_jobs_to_query(jobs, now);

    jobs->busy++;
    jobs->read_at = now;
    /* If `next` is due, reset it. Calls that schedule jobs while the query runs lower it again. */
    if (jobs->next <= jobs->read_at)
        jobs->next = INT64_MAX;
    internal_call_start(jobs->api, jobs->loop,
                        &(struct internal_call){ .name = "jobs",
                                                 .store = ROUTE_STORE_READ,
                                                 .run = read_due_jobs,
                                                 .done = on_due_jobs_read,
                                                 .type = "due_jobs_query",
                                                 .data = &l,
                                                 .size = sizeof l,
                                                 .arg = jobs });
}

static void on_scheduler_timer(uv_timer_t *timer);

static void start_scheduler_timer(struct job_scheduler *jobs)
{
    int64_t ms = (jobs->next - clock_us()) / 1000 + 1;

    if (jobs->timer)
        uv_timer_start(jobs->timer, on_scheduler_timer,
                       (uint64_t)(ms < 1         ? 1
                                  : ms > TICK_MS ? TICK_MS
                                                 : ms),
                       0);
}

static void run_daily_callbacks_of_domains(struct job_scheduler *jobs)
{
    int64_t now = clock_steady_ms();

    if (now < jobs->daily_at)
        return;
    jobs->daily_at = now + (int64_t)DAY_S * 1000;
    for (const struct domain *const *d = jobs->api->domains; *d; d++)
        if ((*d)->daily)
            (*d)->daily(jobs->api, jobs->loop);
}

static void on_scheduler_timer(uv_timer_t *timer)
{
    struct job_scheduler *jobs = timer->data;
    int64_t now = clock_us();
    /* If the last read was at a time in the future, the wall clock was stepped back. */
    bool due =
        jobs->next <= now ||
        (jobs->others && (jobs->read_at > now || jobs->read_at + OTHERS_POLL_S * SECOND <= now));

    if (api_is_draining(jobs->api))
        return;
    clock_watch_check();
    run_daily_callbacks_of_domains(jobs);
    if (due && !jobs->busy)
        start_due_jobs_read(jobs);
    else if (!jobs->busy)
        start_scheduler_timer(jobs);
}

static void scheduler_count_finished_operation(struct job_scheduler *jobs)
{
    if (--jobs->busy == 0)
        start_scheduler_timer(jobs);
}

static void on_scheduler_woken(struct loop_message *p)
{
    struct job_scheduler *jobs = container_of(p, struct job_scheduler, wake);

    atomic_store(&jobs->waking, false);
    if (jobs->timer && !jobs->busy && !api_is_draining(jobs->api))
        start_scheduler_timer(jobs);
}

void job_scheduler_wake_at(struct job_scheduler *jobs, int64_t due)
{
    scheduler_lower_next_due_time(jobs, due);
    /* The timer may sleep for TICK_MS. If the job is due earlier, wake the loop. */
    if (jobs->started && due < clock_us() + TICK_MS * 1000 && !atomic_exchange(&jobs->waking, true))
        loop_post_message(jobs->loop, &jobs->wake);
}

static void open_scheduler_timer(struct loop *loop, void *arg)
{
    struct job_scheduler *jobs = arg;

    jobs->timer = mem_new(sizeof *jobs->timer);
    uv_timer_init(loop_get_uv_loop(loop), jobs->timer);
    jobs->timer->data = jobs;
    start_due_jobs_read(jobs);
}

static void free_scheduler_timer(uv_handle_t *handle)
{
    mem_free(handle);
}

static void close_scheduler_timer(struct loop *loop, void *arg)
{
    struct job_scheduler *jobs = arg;

    (void)loop;
    uv_close((uv_handle_t *)jobs->timer, free_scheduler_timer);
    jobs->timer = NULL;
}

struct job_scheduler *job_scheduler_new(struct api *api)
{
    struct job_scheduler *jobs = mem_new(sizeof *jobs);

    jobs->api = api;
    jobs->next = INT64_MAX;
    jobs->wake.run = on_scheduler_woken;
    return jobs;
}

uint64_t job_scheduler_run_count(const struct job_scheduler *jobs)
{
    return atomic_load(&jobs->taken);
}

void job_scheduler_start(struct job_scheduler *jobs, struct loop *loop)
{
    jobs->loop = loop;
    jobs->others =
        jobs->api->options.cluster && !cluster_has_no_other_nodes(jobs->api->options.cluster);
    loop_run_function_and_wait(loop, open_scheduler_timer, jobs);
    jobs->started = true;
}

void job_scheduler_stop(struct job_scheduler *jobs)
{
    jobs->started = false;
    loop_run_function_and_wait(jobs->loop, close_scheduler_timer, jobs);
}

void job_scheduler_free(struct job_scheduler *jobs)
{
    mem_free(jobs);
}
