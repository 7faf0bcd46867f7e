/* settle.c - a position that is missing is waited for, or void, and never both.
 *
 * Transactions are taken apart on connections of the test's own, to the moment that a rule
 * which looks as good gets wrong. */
#include "unit/unit.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cluster/internal.h"
#include "store/postgres/libpq.h"
#include "support/postgres.h"
#include "support/stores.h"

enum { PATIENCE_MS = 120000 };

/* What was told: the numbers that frames carry as their guild. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static snowflake told[64];
static size_t told_count;

static void hear_announced(void *arg, int64_t position, const struct announcement *list)
{
    (void)arg, (void)position;
    pthread_mutex_lock(&lock);
    told[told_count++] = list->guild_id;
    pthread_mutex_unlock(&lock);
}

static void hear_forgotten(void *arg, const struct forgotten *f)
{
    (void)arg, (void)f;
}

static void hear_fresh(void *arg, int64_t until)
{
    (void)arg, (void)until;
}

static uint64_t no_sessions(void *arg)
{
    (void)arg;
    return 0;
}

static size_t count_told(void)
{
    pthread_mutex_lock(&lock);
    size_t n = told_count;
    pthread_mutex_unlock(&lock);
    return n;
}

static void wait_told(size_t count)
{
    int64_t until = clock_mono() + ms_to_ns(PATIENCE_MS);

    while (count_told() < count && clock_mono() < until)
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    assert_int_equal(count_told(), count);
}

/* --- a server's connection, by hand --------------------------------------------------- */

static PGconn *hand_open(const struct fixture *f)
{
    const char *keys[] = { "dbname", NULL }, *values[] = { f->postgres, NULL };
    PGconn *c = pq.connectdbParams(keys, values, 1);

    assert_int_equal(pq.status(c), CONNECTION_OK);
    return c;
}

static void hand_do(PGconn *c, const char *sql)
{
    PGresult *r;

    pq.sendQuery(c, sql);
    while ((r = pq.getResult(c))) {
        ExecStatusType status = pq.resultStatus(r);

        pq.clear(r);
        assert_true(status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK);
    }
}

/* Of node 9, as store/postgres/peers.c does it. */
static PGconn *server_open(const struct fixture *f)
{
    PGconn *c = hand_open(f);

    hand_do(c, "select pg_advisory_lock_shared((7166183 # hashtext(current_schema())), 9 << 21)");
    return c;
}

static void take_id(PGconn *c)
{
    hand_do(c, "begin; select pg_current_xact_id()");
}

/* A frame with this number, at the next position. */
static void take_position(PGconn *c, snowflake number)
{
    struct arena *a = arena_new();
    struct announcement n = { .event = EVENT_GUILD_UPDATE, .guild_id = number };
    struct str hex, frame = frame_encode(&(struct frame){ .announced = &n }, a);
    struct str parts[] = { STR("insert into log values (nextval('log_position'), '\\x"),
                           { 0 },
                           STR("')") };

    hex = str_hex(a, (const unsigned char *)frame.p, frame.n);
    parts[1] = hex;
    hand_do(c, str_dupz(a, STR_CONCAT(a, parts[0], parts[1], parts[2])));
    arena_free(a);
}

/* --- the cluster that reads ----------------------------------------------------------- */

/* A test that is kept from the processor may hold others up for longer than a server allows. */
static struct cluster *follow_log_for(struct fixture *f, int64_t end_ms)
{
    struct cluster_options options = {
        .store = f->store,
        .version = "test",
        .address = "here",
        .settings = STR("-"),
        .announce = hear_announced,
        .forget = hear_forgotten,
        .fresh = hear_fresh,
        .sessions = no_sessions,
    };
    struct cluster *c;

    told_count = 0;
    settle_end_ms = end_ms;
    store_close(f->store);
    f->options.shared = true;
    assert_int_equal(store_open(&f->options, &f->store), OK);
    options.store = f->store;
    assert_int_equal(cluster_open(&options, &c), OK);
    cluster_start(c);
    return c;
}

static struct cluster *follow_log(struct fixture *f)
{
    return follow_log_for(f, PATIENCE_MS);
}

/* Waits until the hole was looked into: the tail has asked for its bound, and looks again. */
static void wait_settling(struct cluster *c)
{
    struct cluster_stats s;
    int64_t until = clock_mono() + ms_to_ns(PATIENCE_MS);

    do {
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
        cluster_stats(c, &s);
    } while (!s.holes && clock_mono() < until);
    nanosleep(&(struct timespec){ .tv_nsec = 100 * 1000000 }, NULL);
}

/* One transaction got its id first and its position last. The other, younger one holds the
 * position before it, and is still running when the first has ended. */
static struct cluster *leave_younger_running(struct fixture *f, PGconn **ret_younger)
{
    struct cluster *c = follow_log(f);
    PGconn *older = server_open(f), *younger = server_open(f);

    take_id(older);
    take_id(younger);
    take_position(younger, 1);
    take_position(older, 2);
    hand_do(older, "commit");
    pq.finish(older);
    wait_settling(c);
    *ret_younger = younger;
    return c;
}

static void a_younger_transaction_that_still_runs_is_waited_for(void **state)
{
    PGconn *younger;
    struct cluster *c = leave_younger_running(*state, &younger);

    assert_int_equal(count_told(), 0);
    hand_do(younger, "commit");
    wait_told(2);
    assert_int_equal(told[0], 1);
    assert_int_equal(told[1], 2);
    pq.finish(younger);
    cluster_close(c);
}

/* The planted fault: a rule that looks as good, and loses the event. If this one is not
 * caught, the test above proves nothing. (The end of the snapshot is wrong as well, unless
 * another test's transaction has ended meanwhile.) */
static void the_beginning_of_the_snapshot_is_no_bound(void **state)
{
    struct sql right = settle_bound_sql;
    PGconn *younger;

    settle_bound_sql = SQL("select cast(pg_snapshot_xmin(pg_current_snapshot()) as text)");
    struct cluster *c = leave_younger_running(*state, &younger);
    wait_told(1);
    assert_int_equal(told[0], 2);
    hand_do(younger, "commit");
    pq.finish(younger);
    cluster_close(c);
    settle_bound_sql = right;
}

static void a_transaction_that_came_to_nothing_is_passed(void **state)
{
    struct fixture *f = *state;
    struct cluster *c = follow_log(f);
    PGconn *gone = server_open(f), *other = server_open(f), *stranger = hand_open(f);

    /* Whoever is no server may be in a transaction as long as it likes. */
    take_id(stranger);
    take_id(gone);
    take_position(gone, 1);
    take_id(other);
    take_position(other, 2);
    hand_do(other, "commit");
    hand_do(gone, "rollback");
    wait_told(1);
    assert_int_equal(told[0], 2);
    struct cluster_stats s;
    int64_t until = clock_mono() + ms_to_ns(PATIENCE_MS);
    do /* it is counted a moment after what is behind it was told */
        cluster_stats(c, &s);
    while (!s.voids && clock_mono() < until);
    assert_int_equal(s.voids, 1);
    pq.finish(stranger);
    pq.finish(gone);
    pq.finish(other);
    cluster_close(c);
}

static void one_that_holds_everybody_up_is_ended(void **state)
{
    struct fixture *f = *state;
    struct cluster *c = follow_log_for(f, 1000);
    PGconn *stuck = server_open(f), *other = server_open(f);

    take_id(stuck);
    take_position(stuck, 1);
    take_id(other);
    take_position(other, 2);
    hand_do(other, "commit");
    wait_told(1);
    assert_int_equal(told[0], 2);
    pq.finish(stuck);
    pq.finish(other);
    cluster_close(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        store_test(a_younger_transaction_that_still_runs_is_waited_for),
        store_test(the_beginning_of_the_snapshot_is_no_bound),
        store_test(a_transaction_that_came_to_nothing_is_passed),
        store_test(one_that_holds_everybody_up_is_ended),
    };

    return run_on_postgres("cluster/settle", tests);
}
