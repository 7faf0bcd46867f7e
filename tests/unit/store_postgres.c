/* store_postgres.c - PostgreSQL comes and goes; works are not lost nor done twice. */
#include "unit.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "store/backup.h"
#include "store/libpq.h"
#include "support/postgres.h"
#include "support/silence.h"
#include "support/stores.h"
#include "support/works.h"

/* Ends every connection of the store. Other tests have theirs on the same server. */
static void kill_backends(struct fixture *f)
{
    test_postgres_do(f->postgres, "select count(pg_terminate_backend(pid)) from pg_stat_activity "
                                  "where application_name = current_setting('application_name') "
                                  "and pid <> pg_backend_pid()");
}

static void a_killed_connection_is_made_again(void **state)
{
    struct fixture *f = *state;

    counter_make(f);
    for (int i = 0; i < 3; i++) {
        kill_backends(f);
        no_error(store_do(f->store, "update counter set n = n + 1"));
    }
    assert_int_equal(store_number(f->store, "select n from counter"), 3);
    assert_true(store_ready(f->store));
}

static enum err add_and_be_killed(struct work *w, struct tx *tx)
{
    struct one *o = container_of(w, struct one, work);
    struct rows r;
    bool found;
    enum err e = add_to_counter(w, tx);

    if (e || o->add++ > 1) /* the first try adds 1 in vain */
        return e;
    return tx_one(tx, "select pg_terminate_backend(pg_backend_pid())", NO_BIND, &r, &found);
}

static void a_work_that_lost_its_connection_is_run_again(void **state)
{
    struct fixture *f = *state;
    sem_t finished;
    struct one *one = ones_new(1, &finished);
    struct store_stats stats;

    counter_make(f);
    one->work.run = add_and_be_killed;
    store_submit(f->store, &one->work);
    wait_for(&finished);
    assert_int_equal(one->result, OK);
    assert_int_equal(store_number(f->store, "select n from counter"), 2);
    store_stats(f->store, &stats);
    assert_true(stats.retries >= 1);
    ones_free(one, 1);
    sem_destroy(&finished);
}

/* A trigger that runs at commit and ends the connection: did it commit? */
static void a_commit_without_an_answer_is_not_run_again(void **state)
{
    struct fixture *f = *state;
    sem_t finished;
    struct one *one = ones_new(1, &finished);

    counter_make(f);
    test_postgres_do(f->postgres,
                     "create function leave() returns trigger language plpgsql as $$ begin "
                     "perform pg_terminate_backend(pg_backend_pid()); return null; end $$;"
                     "create constraint trigger leave after update on counter "
                     "deferrable initially deferred for each row execute function leave()");
    store_submit(f->store, &one->work);
    wait_for(&finished);
    assert_int_equal(one->result, ERR_UNAVAILABLE);

    struct store_stats stats;
    store_stats(f->store, &stats);
    assert_int_equal(stats.retries, 0);
    assert_int_equal(stats.failures, 1);
    test_postgres_do(f->postgres, "drop trigger leave on counter");
    no_error(store_do(f->store, "update counter set n = n + 1"));
    ones_free(one, 1);
    sem_destroy(&finished);
}

static const char *ended_on; /* the database */

/* What it adds waits for the commit, and the first time its session is ended before that. */
static enum err add_soon_and_be_ended(struct work *w, struct tx *tx)
{
    struct one *o = container_of(w, struct one, work);
    struct rows r;
    bool found;
    char sql[64];
    enum err e = tx_one(tx, "select pg_backend_pid()", NO_BIND, &r, &found);

    if (!e)
        e = tx_exec_soon(tx, "update counter set n = n + 1", NO_BIND);
    if (e || o->add++ > 1)
        return e;
    snprintf(sql, sizeof sql, "select pg_terminate_backend(%d, 60000)", (int)row_int(&r, 0));
    test_postgres_do(ended_on, sql);
    return OK;
}

static enum err announce_and_be_ended(struct work *w, struct tx *tx)
{
    tx_log(tx, STR("said"));
    return add_soon_and_be_ended(w, tx);
}

static void one_that_was_shut_down_before_its_commit_is_run_again(void **state)
{
    struct fixture *f = *state;
    sem_t finished;
    struct one *ones = ones_new(2, &finished);

    counter_make(f);
    ended_on = f->postgres;
    int64_t said = store_number(f->store, "select count(*) from log");
    ones[0].work.run = add_soon_and_be_ended;
    ones[1].work.run = announce_and_be_ended;
    for (int i = 0; i < 2; i++) {
        store_submit(f->store, &ones[i].work);
        wait_for(&finished);
        assert_int_equal(ones[i].result, OK);
        assert_int_equal(ones[i].add, 3);
    }
    assert_int_equal(store_number(f->store, "select n from counter"), 2);
    assert_int_equal(store_number(f->store, "select count(*) from log") - said, 1);
    ones_free(ones, 2);
    sem_destroy(&finished);
}

/* The database is away for one who may not log in. Opens the store as a role
 * made for this, which is then shut out and let in again. */
struct guest {
    struct fixture *f;
    char role[32], where[512];
};

static void guest_do(struct guest *g, const char *fmt)
{
    char sql[128];

    snprintf(sql, sizeof sql, fmt, g->role, g->role); /* once or twice */
    test_postgres_do(g->f->postgres, sql);
}

static void guest_come(struct guest *g, struct fixture *f)
{
    g->f = f;
    snprintf(g->role, sizeof g->role, "guest_%ld", (long)getpid());
    snprintf(g->where, sizeof g->where, "%s user=%s", f->postgres, g->role);
    guest_do(g, "create role %s login superuser");
    store_close(f->store);
    f->options.postgres = g->where;
    f->options.workers = 2;
    no_error(store_open(&f->options, &f->store));
    counter_make(f);
}

static void guest_leave(struct guest *g)
{
    store_close(g->f->store);
    g->f->store = NULL;
    guest_do(g, "drop owned by %s cascade; drop role %s");
}

static bool becomes_ready(struct store *s, bool expected)
{
    for (int i = 0; i < 6000 && store_ready(s) != expected; i++)
        usleep(10000);
    return store_ready(s) == expected;
}

static void while_it_is_away_works_wait_and_then_give_up(void **state)
{
    struct fixture *f = *state;
    struct guest g;

    guest_come(&g, f);
    assert_true(store_ready(f->store));
    guest_do(&g, "alter role %s nologin");
    kill_backends(f);
    int64_t start = clock_mono();
    assert_int_equal(store_do(f->store, "update counter set n = n + 1"), ERR_UNAVAILABLE);
    assert_in_range((clock_mono() - start) / 1000000, 4900, 30000);
    assert_true(becomes_ready(f->store, false)); /* the other worker noticed by itself */

    guest_do(&g, "alter role %s login");
    assert_true(becomes_ready(f->store, true));
    no_error(store_do(f->store, "update counter set n = n + 1"));
    assert_int_equal(store_number(f->store, "select n from counter"), 1);
    guest_leave(&g);
}

static void a_database_that_is_not_there_is_refused_at_once(void **state)
{
    struct fixture *f = *state;
    struct store *s = NULL;

    f->options.postgres = "host=/nowhere dbname=nothing";
    assert_int_equal(store_open(&f->options, &s), ERR_UNAVAILABLE);
    assert_null(s);
}

static enum err pretend_full(struct work *w, struct tx *tx)
{
    (void)w;
    return tx_exec(tx, "select leave_full()", NO_BIND, NULL);
}

static void a_full_disk_is_named(void **state)
{
    struct fixture *f = *state;
    sem_t finished;
    struct one *one = ones_new(1, &finished);

    test_postgres_do(f->postgres, "create function leave_full() returns bigint language plpgsql as "
                                  "$$ begin raise 'no room' using errcode = '53100'; end $$");
    one->work.run = pretend_full;
    store_submit(f->store, &one->work);
    wait_for(&finished);
    assert_int_equal(one->result, ERR_STORAGE_FULL);
    ones_free(one, 1);
    sem_destroy(&finished);
}

/* --- silence -------------------------------------------------------------------------- */

static void silence_is_noticed_within_ten_seconds(void **state)
{
    struct fixture *f = *state;

    counter_make(f);
    struct silence *wire = silence_new(f->postgres);
    store_close(f->store);
    f->options.postgres = silence_where(wire);
    f->options.workers = 2;
    no_error(store_open(&f->options, &f->store));
    no_error(store_do(f->store, "update counter set n = n + 1"));

    silence_begin(wire);
    int64_t start = clock_mono();
    assert_int_equal(store_do(f->store, "update counter set n = n + 1"), ERR_UNAVAILABLE);
    assert_in_range((clock_mono() - start) / 1000000, 0, 10000);
    silence_end(wire);
    no_error(store_do(f->store, "update counter set n = n + 1"));
    assert_int_equal(store_number(f->store, "select n from counter"), 2);
    store_close(f->store);
    f->store = NULL;
    silence_free(wire);
}

static enum err sleep_too_long(struct work *w, struct tx *tx)
{
    enum err e = add_to_counter(w, tx);

    if (!e)
        e = tx_exec(tx, "set local statement_timeout = '20ms'", NO_BIND, NULL);
    return e ? e : tx_exec(tx, "select pg_sleep(30)", NO_BIND, NULL);
}

static void a_statement_that_takes_too_long_is_given_up(void **state)
{
    struct fixture *f = *state;
    struct store_stats before, after;
    sem_t finished;
    struct one *one = ones_new(1, &finished);

    counter_make(f);
    store_stats(f->store, &before);
    one->work.run = sleep_too_long;
    store_submit(f->store, &one->work);
    wait_for(&finished);
    store_stats(f->store, &after);
    assert_int_equal(one->result, ERR_UNAVAILABLE);
    assert_int_equal(after.retries, before.retries);
    assert_int_equal(store_number(f->store, "select n from counter"), 0);
    assert_int_equal(store_number(f->store, "select count(*) from pg_settings where "
                                            "name in ('statement_timeout', 'lock_timeout', "
                                            "'idle_in_transaction_session_timeout') and "
                                            "cast(setting as bigint) between 1 and 10000"),
                     3);
    ones_free(one, 1);
    sem_destroy(&finished);
}

static void a_tool_and_a_server_keep_each_other_out(void **state)
{
    struct fixture *f = *state;
    struct store *tool, *second = NULL;
    struct store_options as_tool = f->options;

    as_tool.serves = false;
    no_error(store_open(&as_tool, &tool));
    assert_int_equal(store_take(tool), ERR_UNAVAILABLE);
    store_close(f->store);
    no_error(store_take(tool));
    assert_int_equal(store_open(&f->options, &second), ERR_UNAVAILABLE);
    store_close(tool);
    no_error(store_open(&f->options, &f->store));
}

/* As node so, among others. */
static enum err open_node(struct fixture *f, unsigned node, bool shared, struct store **ret)
{
    struct store_options options = f->options;

    options.shared = shared;
    snowflake_init(node);
    enum err e = store_open(&options, ret);
    snowflake_init(0);
    return e;
}

static void servers_share_a_database_when_all_of_them_say_so(void **state)
{
    struct fixture *f = *state;
    struct store *one = NULL, *two = NULL;

    assert_int_equal(open_node(f, 1, true, &one), ERR_UNAVAILABLE); /* node 0 is alone */
    store_close(f->store);
    no_error(open_node(f, 1, true, &one));
    no_error(open_node(f, 2, true, &two));
    assert_int_equal(store_identity_node(store_identity(two)), 2);
    assert_int_equal(open_node(f, 2, true, &f->store), ERR_UNAVAILABLE);
    assert_int_equal(open_node(f, 3, false, &f->store), ERR_UNAVAILABLE);
    store_close(one);
    store_close(two);
    no_error(store_open(&f->options, &f->store));
}

static void reopen_with(struct fixture *f, unsigned workers)
{
    store_close(f->store);
    f->options.workers = workers;
    no_error(store_open(&f->options, &f->store));
}

/* --- works that meet ------------------------------------------------------------------ */

static enum err add_slowly(struct work *w, struct tx *tx)
{
    enum err e = tx_exec(tx, "select n, pg_sleep(0.002) from counter where id = 1", NO_BIND, NULL);

    return e ? e : add_to_counter(w, tx);
}

/* All of them want the same row, and each takes long enough to meet all others. */
static void however_often_works_meet_none_is_refused(void **state)
{
    enum { COUNT = 160 };
    struct fixture *f = *state;
    sem_t finished;

    counter_make(f);
    reopen_with(f, 16);
    struct one *ones = ones_new(COUNT, &finished);
    for (int i = 0; i < COUNT; i++)
        ones[i].work.run = add_slowly;
    for (int i = 0; i < COUNT; i++)
        store_submit(f->store, &ones[i].work);
    for (int i = 0; i < COUNT; i++)
        wait_for(&finished);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(ones[i].result, OK);
    assert_int_equal(store_number(f->store, "select n from counter"), COUNT);
    ones_free(ones, COUNT);
    sem_destroy(&finished);
}

/* --- the order of announcements ------------------------------------------------------- */

/* Stands where the store sends its commits: holds the first one back once it was
 * answered, as a processor does that gives the thread's time to others. */
static struct {
    struct libpq real;
    atomic_bool first; /* the next commit is the one to hold */
    sem_t answered, go;
} held;

static _Thread_local bool holds_next;

static int send_and_look(PGconn *c, const char *sql)
{
    if (strcmp(sql, "commit") == 0 && atomic_exchange(&held.first, false))
        holds_next = true;
    return held.real.sendQuery(c, sql);
}

static PGresult *get_and_hold(PGconn *c)
{
    PGresult *result = held.real.getResult(c);

    if (!result && holds_next) {
        holds_next = false;
        sem_post(&held.answered);
        wait_for(&held.go);
    }
    return result;
}

/* Before there are threads that call libpq. */
static void stand_before_libpq(void)
{
    if (!libpq_load())
        return;
    held.real = pq;
    pq.sendQuery = send_and_look;
    pq.getResult = get_and_hold;
    sem_init(&held.answered, 0, 0);
    sem_init(&held.go, 0, 0);
}

static void hold_first_commit(void)
{
    atomic_store(&held.first, true);
}

static struct {
    struct work *works[8];
    atomic_uint count;
} announced;

static void note_committed(struct work *w)
{
    announced.works[announced.count] = w;
    atomic_fetch_add(&announced.count, 1);
}

static void a_work_is_announced_after_those_it_saw(void **state)
{
    struct fixture *f = *state;
    sem_t finished;

    counter_make(f);
    reopen_with(f, 2);
    struct one *ones = ones_new(3, &finished);
    for (int i = 0; i < 3; i++)
        ones[i].work.committed = note_committed;
    announced.count = 0;
    hold_first_commit();
    store_submit(f->store, &ones[0].work);
    wait_for(&held.answered);

    /* The other worker is past their announcement when it answers the read. */
    store_submit(f->store, &ones[1].work);
    store_submit(f->store, &ones[2].work);
    int64_t n = store_number(f->store, "select n from counter");
    unsigned early = announced.count;
    sem_post(&held.go);
    for (int i = 0; i < 3; i++)
        wait_for(&finished);
    assert_int_equal(n, 3);
    assert_int_equal(early, 0);
    assert_int_equal(announced.count, 3);
    for (int i = 0; i < 3; i++)
        assert_ptr_equal(announced.works[i], &ones[i].work);
    ones_free(ones, 3);
    sem_destroy(&finished);
}

/* A commit that fails lets those behind it go. */
static void a_failed_commit_holds_nobody_up(void **state)
{
    struct fixture *f = *state;
    sem_t finished;

    counter_make(f);
    test_postgres_do(f->postgres,
                     "create function refuse() returns trigger language plpgsql as $$ begin "
                     "if new.n = 1 then raise 'no' using errcode = '53100'; end if; "
                     "return null; end $$;"
                     "create constraint trigger refuse after update on counter "
                     "deferrable initially deferred for each row execute function refuse()");
    reopen_with(f, 2);
    struct one *ones = ones_new(2, &finished);
    ones[1].add = 2;
    for (int i = 0; i < 2; i++)
        ones[i].work.committed = note_committed;
    announced.count = 0;
    hold_first_commit();
    store_submit(f->store, &ones[0].work);
    wait_for(&held.answered);
    store_submit(f->store, &ones[1].work);
    int64_t n = store_number(f->store, "select n from counter");
    unsigned early = announced.count;
    sem_post(&held.go);
    wait_for(&finished);
    wait_for(&finished);
    assert_int_equal(n, 2);
    assert_int_equal(early, 0);
    assert_int_equal(ones[0].result, ERR_STORAGE_FULL);
    assert_int_equal(ones[1].result, OK);
    assert_int_equal(announced.count, 1);
    assert_ptr_equal(announced.works[0], &ones[1].work);
    ones_free(ones, 2);
    sem_destroy(&finished);
}

/* --- positions that came to nothing --------------------------------------------------- */

static enum err log_something(struct tx *tx, void *arg)
{
    (void)arg;
    tx_log(tx, STR("something"));
    return tx_exec(tx, "update counter set n = n + 1", NO_BIND, NULL);
}

static struct {
    int64_t positions[4];
    _Atomic unsigned count;
} voided;

static void hear_voided(void *arg, int64_t position)
{
    (void)arg;
    voided.positions[voided.count++] = position;
}

/* Whether its row cannot be written or its commit fails: others would wait for the position. */
static void a_position_that_came_to_nothing_is_said_to_be_void(void **state)
{
    struct fixture *f = *state;
    const char *refusals[] = {
        "create trigger refuse before insert on log for each row when (new.body is not null) "
        "execute function refuse_row()",
        "drop trigger refuse on log; create constraint trigger refuse after update on counter "
        "deferrable initially deferred for each row execute function refuse_row()",
    };

    counter_make(f);
    test_postgres_do(f->postgres, "create function refuse_row() returns trigger language plpgsql "
                                  "as $$ begin raise 'no' using errcode = '53100'; end $$");
    store_close(f->store);
    f->options.shared = true;
    f->options.workers = 1;
    no_error(store_open(&f->options, &f->store));
    voided.count = 0;
    store_hear_voids(f->store, hear_voided, NULL);
    no_error(store_run(f->store, STORE_WRITE, NULL, log_something, NULL));
    for (unsigned i = 0; i < 2; i++) {
        test_postgres_do(f->postgres, refusals[i]);
        assert_int_equal(store_run(f->store, STORE_WRITE, NULL, log_something, NULL),
                         ERR_STORAGE_FULL);
        assert_int_equal(voided.count, i + 1);
        assert_int_equal(voided.positions[i],
                         store_number(f->store, "select last_value from log_position"));
    }
    /* One that fails before it has a position leaves none. */
    test_postgres_do(f->postgres, "drop trigger refuse on counter; create trigger refuse before "
                                  "update on counter for each row execute function refuse_row()");
    assert_int_equal(store_run(f->store, STORE_WRITE, NULL, log_something, NULL), ERR_STORAGE_FULL);
    assert_int_equal(voided.count, 2);
    assert_int_equal(store_number(f->store, "select count(*) from log where body is null"), 2);
    assert_int_equal(store_number(f->store, "select count(*) from log"), 3);
}

/* More than a connection remembers: the oldest are prepared again. */
static void many_different_queries_are_fine(void **state)
{
    enum { COUNT = 600 };
    static char sql[COUNT][40];
    struct fixture *f = *state;

    for (int i = 0; i < COUNT; i++)
        snprintf(sql[i], sizeof sql[i], "select %d", i);
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < COUNT; i++)
            assert_int_equal(store_number(f->store, sql[i]), i);
}

static void a_backup_leaves_the_rows_to_pg_dump(void **state)
{
    struct fixture *f = *state;

    static const char *const no_keys[] = { NULL };
    struct backup_report report;
    char path[128];

    snprintf(path, sizeof path, "%s/saved", f->folder);
    no_error(backup_make(f->store, path, no_keys, &report));
    assert_false(report.has_rows);
    no_error(backup_check(path, &report));
    no_error(store_check(f->store));
    assert_string_equal(store_engine(f->store), "postgres");
}

static uint64_t ways_of(struct fixture *f)
{
    struct store_stats stats;

    store_stats(f->store, &stats);
    return stats.ways;
}

static enum err ask_and_write(struct tx *tx, void *arg)
{
    static const char first[] = "select n from counter", second[] = "select n + 1 from counter",
                      third[] = "select n + 2 from counter",
                      more[] = "update counter set n = n + 1";
    static const char *const all[] = { first, second, third };
    struct rows r;
    bool found;

    (void)arg;
    for (int i = 1; i < 3; i++)
        tx_foresee(tx, all[i], NO_BIND);
    for (int i = 0; i < 3; i++)
        no_error(tx_one(tx, all[i], NO_BIND, &r, &found));
    for (int i = 0; i < 3; i++)
        no_error(tx_exec_soon(tx, more, NO_BIND));
    return OK;
}

/* Three queries are one way, three writes and the commit another. */
static void what_can_travel_together_does(void **state)
{
    struct fixture *f = *state;
    uint64_t before;

    counter_make(f);
    for (int i = 0; i < 30; i++) /* each connection makes the statements for itself */
        no_error(store_run(f->store, STORE_WRITE, NULL, ask_and_write, NULL));
    before = ways_of(f);
    no_error(store_run(f->store, STORE_WRITE, NULL, ask_and_write, NULL));
    assert_int_equal(ways_of(f) - before, 2);
    assert_int_equal(store_number(f->store, "select n from counter"), 31 * 3);
}

static struct {
    int runs, asks; /* how often, and how much each time */
    int64_t first, last;
} sometimes;

static enum err ask_sometimes(struct work *w, struct tx *tx)
{
    static const char first[] = "select n from counter", then[] = "select n + $1 from counter";
    struct rows r;
    bool found;
    enum err e = tx_one(tx, first, NO_BIND, &r, &found);

    (void)w;
    sometimes.runs++;
    if (!e)
        sometimes.first = row_int(&r, 0);
    for (int i = 1; !e && i < sometimes.asks; i++) {
        e = tx_one(tx, then, BIND(v_int(i)), &r, &found);
        if (!e)
            sometimes.last = row_int(&r, 0);
    }
    return e;
}

static void read_by_name(struct fixture *f, const char *name, bool again, int asks)
{
    sem_t finished;
    struct one *one = ones_new(1, &finished);

    sometimes.runs = 0;
    sometimes.asks = asks;
    one->work.mode = STORE_READ;
    one->work.name = name;
    one->work.again = again;
    one->work.run = ask_sometimes;
    store_submit(f->store, &one->work);
    wait_for(&finished);
    assert_int_equal(one->result, OK);
    ones_free(one, 1);
    sem_destroy(&finished);
}

static void read_sometimes(struct fixture *f, int asks)
{
    read_by_name(f, "sometimes", true, asks);
}

/* One connection, which has the statements from the first time on. */
static void one_connection(struct fixture *f)
{
    store_close(f->store);
    f->options.workers = 1;
    no_error(store_open(&f->options, &f->store));
    counter_make(f);
}

/* A read that asked one thing before is over when it has it; who then asks more begins anew. */
static void a_read_that_asks_more_than_before_begins_anew(void **state)
{
    struct fixture *f = *state;

    one_connection(f);
    for (int i = 0; i < 3; i++) {
        read_sometimes(f, 1);
        assert_int_equal(sometimes.runs, 1);
    }
    no_error(store_do(f->store, "update counter set n = 5"));
    read_sometimes(f, 3);
    assert_int_equal(sometimes.runs, 2);
    assert_int_equal(sometimes.first, 5);
    assert_int_equal(sometimes.last, 7);
    read_sometimes(f, 3); /* which is known from now on */
    assert_int_equal(sometimes.runs, 1);
    read_sometimes(f, 1);
    assert_int_equal(sometimes.runs, 1);
}

static void a_read_that_may_leave_something_behind_is_run_once(void **state)
{
    struct fixture *f = *state;
    static const char name[] = "leaves something";

    one_connection(f);
    for (int i = 0; i < 3; i++)
        read_by_name(f, name, false, 1);
    read_by_name(f, name, false, 3);
    assert_int_equal(sometimes.runs, 1);
    assert_int_equal(sometimes.last, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        store_test(a_killed_connection_is_made_again),
        store_test(a_work_that_lost_its_connection_is_run_again),
        store_test(a_commit_without_an_answer_is_not_run_again),
        store_test(one_that_was_shut_down_before_its_commit_is_run_again),
        store_test(while_it_is_away_works_wait_and_then_give_up),
        store_test(a_database_that_is_not_there_is_refused_at_once),
        store_test(a_full_disk_is_named),
        store_test(silence_is_noticed_within_ten_seconds),
        store_test(a_statement_that_takes_too_long_is_given_up),
        store_test(a_tool_and_a_server_keep_each_other_out),
        store_test(servers_share_a_database_when_all_of_them_say_so),
        store_test(however_often_works_meet_none_is_refused),
        store_test(a_work_is_announced_after_those_it_saw),
        store_test(a_failed_commit_holds_nobody_up),
        store_test(a_position_that_came_to_nothing_is_said_to_be_void),
        store_test(many_different_queries_are_fine),
        store_test(what_can_travel_together_does),
        store_test(a_read_that_asks_more_than_before_begins_anew),
        store_test(a_read_that_may_leave_something_behind_is_run_once),
        store_test(a_backup_leaves_the_rows_to_pg_dump),
    };

    stand_before_libpq();
    log_init(2, LOG_OFF, 0);
    return run_on_postgres("store/postgres", tests);
}
