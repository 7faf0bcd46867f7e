/* node_lease.c - the lease of a node on the voice states of its sessions: renews it, and removes
 * voice states of dead nodes. */
#include "voice/rooms/node_lease.h"

#include <pthread.h>
#include <string.h>

#include "api/jobs/internal_call.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "voice/state_rows.h"
#include "voice/streams/streams.h"

/* A node renews its lease every RENEW_TICKS ticks. A dead node is detected within ten seconds:
 * LEASE_S after its last renewal, plus one tick. The voice states of a dead node are removed in
 * steps of STATES_PER_STEP, because a transaction that removes thousands would block clients that
 * reconnect. */
enum { TICK_MS = 1000, RENEW_TICKS = 2, LEASE_S = 7, STATES_PER_STEP = 64 };
/* Time in which a gateway session can resume after a restart, plus a margin for slow clients. */
#define AWAIT_RESUME_US (INT64_C(185) * 1000000)

struct node_lease {
    struct api *api;
    struct loop *loop;
    void (*on_tick)(void *arg);
    void *arg;
    int64_t node;
    bool shared; /* other nodes may use the store */
    bool running;
    size_t removed;                  /* number of voice states removed so far */
    size_t removed_in_step;          /* number of voice states removed in the current step */
    bool more;                       /* more voice states of dead nodes must be removed */
    bool has_states_awaiting_resume; /* there are voice states with VOICE_NODE_AWAITING_RESUME */
    unsigned ticks;
    struct deadline_list *deadlines;
    struct deadline deadline;
    pthread_mutex_t lock; /* protects the members below; voice_node_lease_begin waits for them */
    pthread_cond_t begun;
    bool cleared;
    enum err result;
};

/* --- SQL ------------------------------------------------------------------------------ */

static const char UPSERT_LEASE[] =
    "insert into voice_nodes (node, expires_at) values ($1, $2) "
    "on conflict (node) do update set expires_at = excluded.expires_at";
static const char LIST_DEAD_NODES[] =
    "select distinct v.node from voice_states v left join voice_nodes n on n.node = v.node "
    "where v.node <> $1 and (n.expires_at is null or n.expires_at <= $2) and v.held_until <= $2";
/* A voice state that already waits for RESUME has a time limit, held_until. It is not changed, so
 * that a second restart does not extend it. */
static const char MARK_AWAITING_RESUME[] =
    "update voice_states set node = $1, live = 0, "
    "held_until = case when held_until > 0 then held_until else $4 end "
    "where node = $2 or cast($3 as bigint) = 1";
static const char FIND_STATE_AWAITING_RESUME[] =
    "select 1 from voice_states where node = $1 limit 1";

static enum err renew_voice_node_lease(struct call *call, const struct node_lease *l)
{
    if (!l->shared)
        return OK;
    return tx_exec(call->tx, UPSERT_LEASE,
                   BIND(v_int(l->node), v_int(clock_us() + LEASE_S * INT64_C(1000000))), NULL);
}

/* Lists the nodes (int64_t) with an expired lease that still have voice states. */
static enum err list_dead_nodes(struct tx *tx, const struct node_lease *l, struct list *ret)
{
    struct rows rows;
    enum err e = tx_query(tx, LIST_DEAD_NODES, BIND(v_int(l->node), v_int(clock_us())), &rows);

    *ret = (struct list){ 0 };
    if (e)
        return e;
    while (rows_next(&rows))
        *(int64_t *)list_append(tx_arena(tx), ret, sizeof(int64_t)) = row_int(&rows, 0);
    return rows_end(&rows);
}

static enum err read_states_awaiting_resume(struct tx *tx, struct node_lease *l)
{
    return tx_exists(tx, FIND_STATE_AWAITING_RESUME, BIND(v_int(VOICE_NODE_AWAITING_RESUME)),
                     &l->has_states_awaiting_resume);
}

/* Ends the streams that ran before the restart. The voice states of the streaming users stay until
 * their sessions resume. */
static enum err end_streams_of_restarted_node(struct call *call, bool *ret_more)
{
    struct list states;
    enum err e = list_streams_awaiting_resume(call->tx, STATES_PER_STEP, &states);
    const struct voice_state *s = states.items;

    *ret_more = states.count == STATES_PER_STEP;
    for (size_t i = 0; !e && i < states.count; i++)
        e = streams_on_voice_leave(call, &s[i]);
    return e;
}

/* Removes a limited number of voice states of dead nodes, in one transaction. */
static enum err remove_states_of_dead_node(struct call *call, struct node_lease *l)
{
    struct list dead, states = { 0 };
    bool streams = false;
    enum err e = list_dead_nodes(call->tx, l, &dead);

    if (!e && dead.count)
        e = list_voice_states_of_node(call->tx, *(const int64_t *)dead.items, STATES_PER_STEP,
                                      &states);
    if (!e && l->has_states_awaiting_resume)
        e = end_streams_of_restarted_node(call, &streams);
    l->removed_in_step = states.count;
    l->more = dead.count > 1 || states.count == STATES_PER_STEP || streams;
    if (!e)
        e = voice_states_delete_all_and_emit(call, &states);
    return e ? e : read_states_awaiting_resume(call->tx, l);
}

static struct node_lease *node_lease_of_internal_call(const struct call *call)
{
    return call_get_stage_data(call, "node_lease");
}

static void start_internal_call_for_node_lease(
    struct node_lease *l, enum route_transaction_kind store, enum err (*run)(struct call *call),
    void (*done)(struct call *call, enum err e, void *arg))
{
    internal_call_start(l->api, l->loop,
                        &(struct internal_call){ .name = "voice_lease",
                                                 .store = store,
                                                 .run = run,
                                                 .done = done,
                                                 .type = "node_lease",
                                                 .data = l,
                                                 .arg = l });
}

static enum err renew_lease_and_clean_up(struct call *call)
{
    struct node_lease *l = node_lease_of_internal_call(call);
    enum err e = renew_voice_node_lease(call, l);

    return e ? e : remove_states_of_dead_node(call, l);
}

static void count_and_log_removed_states(struct node_lease *l)
{
    l->removed += l->removed_in_step;
    if (l->removed && !l->more) {
        log_info("voice: removed %zu voice states whose sessions did not resume", l->removed);
        l->removed = 0;
    }
}

static void on_node_lease_renewed(struct call *call, enum err e, void *arg)
{
    struct node_lease *l = arg;

    (void)call;
    if (e)
        log_warn("voice: cannot renew the lease of this node: %s", error_info(e)->message);
    else
        count_and_log_removed_states(l);
    l->more = l->more || e;
    l->running = !e && l->more && !api_is_draining(l->api);
    if (l->running)
        start_internal_call_for_node_lease(l, ROUTE_STORE_WRITE, renew_lease_and_clean_up,
                                           on_node_lease_renewed);
}

static enum err read_whether_states_need_clean_up(struct call *call)
{
    struct node_lease *l = node_lease_of_internal_call(call);
    struct list dead;
    enum err e = list_dead_nodes(call->tx, l, &dead);

    if (!e)
        e = read_states_awaiting_resume(call->tx, l);
    return e ? e : dead.count ? ERR_NOT_FOUND : OK;
}

static void on_need_for_clean_up_read(struct call *call, enum err e, void *arg)
{
    (void)call;
    if (e)
        start_internal_call_for_node_lease(arg, ROUTE_STORE_WRITE, renew_lease_and_clean_up,
                                           on_node_lease_renewed);
    else
        ((struct node_lease *)arg)->running = false;
}

static void on_node_lease_tick(struct deadline *d)
{
    struct node_lease *l = container_of(d, struct node_lease, deadline);

    l->on_tick(l->arg);
    deadline_restart(l->deadlines, d);
    if (!(l->shared || l->more || l->has_states_awaiting_resume) || l->running ||
        api_is_draining(l->api))
        return;
    l->running = true;
    if (l->more || (l->shared && l->ticks++ % RENEW_TICKS == 0))
        start_internal_call_for_node_lease(l, ROUTE_STORE_WRITE, renew_lease_and_clean_up,
                                           on_node_lease_renewed);
    else
        start_internal_call_for_node_lease(l, ROUTE_STORE_READ, read_whether_states_need_clean_up,
                                           on_need_for_clean_up_read);
}

/* Marks the voice states that the previous process with this node number left as waiting for
 * RESUME, and renews the lease. With SQLite, all voice states are of the previous process. */
static enum err mark_states_and_renew_lease(struct call *call)
{
    struct node_lease *l = node_lease_of_internal_call(call);
    enum err e = tx_exec(call->tx, MARK_AWAITING_RESUME,
                         BIND(v_int(VOICE_NODE_AWAITING_RESUME), v_int(l->node), v_int(!l->shared),
                              v_int(clock_us() + AWAIT_RESUME_US)),
                         NULL);

    l->has_states_awaiting_resume = true;
    return e ? e : renew_lease_and_clean_up(call);
}

/* Called after the first renewal of the lease: voice_node_lease_begin returns then. Later steps
 * remove voice states of dead nodes. */
static void on_first_node_lease_renewal(struct call *call, enum err e, void *arg)
{
    struct node_lease *l = arg;

    on_node_lease_renewed(call, e, l);
    pthread_mutex_lock(&l->lock);
    l->cleared = true;
    l->result = e;
    pthread_cond_signal(&l->begun);
    pthread_mutex_unlock(&l->lock);
}

static void begin_node_lease_on_loop(struct loop *loop, void *arg)
{
    struct node_lease *l = arg;

    l->deadlines = deadline_list_new(loop, TICK_MS, false, on_node_lease_tick);
    deadline_restart(l->deadlines, &l->deadline);
    l->running = true; /* on_node_lease_renewed clears the flag */
    start_internal_call_for_node_lease(l, ROUTE_STORE_WRITE, mark_states_and_renew_lease,
                                       on_first_node_lease_renewal);
}

enum err voice_node_lease_begin(struct api *api, struct loop *loop, void (*on_tick)(void *arg),
                                void *arg, struct node_lease **ret)
{
    struct node_lease *l = mem_new(sizeof *l);

    l->api = api;
    l->loop = loop;
    l->on_tick = on_tick;
    l->arg = arg;
    l->node = snowflake_get_node();
    l->shared = strcmp(store_engine_name(api_get_options(api)->store), "postgres") == 0;
    pthread_mutex_init(&l->lock, NULL);
    pthread_cond_init(&l->begun, NULL);
    *ret = l;
    loop_run_function_and_wait(loop, begin_node_lease_on_loop, l);
    pthread_mutex_lock(&l->lock);
    while (!l->cleared)
        pthread_cond_wait(&l->begun, &l->lock);
    pthread_mutex_unlock(&l->lock);
    if (l->result)
        log_error("voice: cannot clean up the voice states of the previous process: %s",
                  error_info(l->result)->message);
    return l->result;
}

static void end_node_lease_on_loop(struct loop *loop, void *arg)
{
    struct node_lease *l = arg;

    (void)loop;
    deadline_list_free(l->deadlines);
}

void voice_node_lease_end(struct node_lease *l)
{
    if (!l)
        return;
    loop_run_function_and_wait(l->loop, end_node_lease_on_loop, l);
    pthread_cond_destroy(&l->begun);
    pthread_mutex_destroy(&l->lock);
    mem_free(l);
}
