/* log_gaps.c - tests that a missing log position is either awaited or treated as aborted. The test
 * runs transactions step by step on its own connections. */
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

/* Guild ids of the frames that were delivered, in order. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static snowflake delivered_to[64];
static size_t received_count;

static void record_announced_guild_ids(void *arg, int64_t position,
                                       const struct emitted_event *list)
{
    (void)arg, (void)position;
    pthread_mutex_lock(&lock);
    delivered_to[received_count++] = list->guild_id;
    pthread_mutex_unlock(&lock);
}

static void credentials_revoked_stub(void *arg, const struct revocation_record *f)
{
    (void)arg, (void)f;
}

static void ignore_position_of_fresh_caches(void *arg, int64_t until)
{
    (void)arg, (void)until;
}

static void publish_nothing(void *arg)
{
    (void)arg;
}

static int times_lost;

static void count_lost_log_entries_callbacks(void *arg)
{
    (void)arg;
    times_lost++;
}

static uint64_t no_sessions(void *arg)
{
    (void)arg;
    return 0;
}

static size_t count_delivered(void)
{
    pthread_mutex_lock(&lock);
    size_t n = received_count;
    pthread_mutex_unlock(&lock);
    return n;
}

static void wait_until_log_entry_is_delivered(size_t count)
{
    int64_t until = clock_monotonic_ns() + ms_to_ns(PATIENCE_MS);

    while (count_delivered() < count && clock_monotonic_ns() < until)
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    assert_int_equal(count_delivered(), count);
}

/* --- a node's connection, controlled by the test -------------------------------------- */

static PGconn *hand_open(const struct fixture *f)
{
    const char *keys[] = { "dbname", NULL }, *values[] = { f->postgres, NULL };
    PGconn *c = pq.connectdbParams(keys, values, 1);

    assert_int_equal(pq.status(c), CONNECTION_OK);
    return c;
}

static void run_sql_on_second_connection(PGconn *c, const char *sql)
{
    PGresult *r;

    pq.sendQuery(c, sql);
    while ((r = pq.getResult(c))) {
        ExecStatusType status = pq.resultStatus(r);

        pq.clear(r);
        assert_true(status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK);
    }
}

/* Opens a connection of node 9, as store/postgres/server_identity.c does. */
static PGconn *server_open(const struct fixture *f)
{
    PGconn *c = hand_open(f);

    run_sql_on_second_connection(
        c, "select pg_advisory_lock_shared((7166183 # hashtext(current_schema())), 9 << 21)");
    return c;
}

static void begin_transaction_with_id(PGconn *c)
{
    run_sql_on_second_connection(c, "begin; select pg_current_xact_id()");
}

/* Inserts a frame with this guild id at the next log position. */
static void insert_frame_at_next_position(PGconn *c, snowflake number)
{
    struct arena *a = arena_new();
    struct emitted_event n = { .event = EVENT_GUILD_UPDATE, .guild_id = number };
    struct str hex, frame = log_entry_encode(&(struct log_entry){ .announced = &n }, a);
    struct str parts[] = { STR("insert into log values (nextval('log_position'), '\\x"),
                           { 0 },
                           STR("')") };

    hex = str_hex_encode(a, (const unsigned char *)frame.p, frame.n);
    parts[1] = hex;
    run_sql_on_second_connection(c,
                                 str_dup_cstring(a, STR_CONCAT(a, parts[0], parts[1], parts[2])));
    arena_free(a);
}

/* --- the node that follows the log ---------------------------------------------------- */

/* The time limit is a parameter because a slow test machine may block others for longer than a
 * server allows. */
static struct cluster *open_cluster_without_thread(struct fixture *f, int64_t end_ms)
{
    struct cluster_options options = {
        .store = f->store,
        .version = "test",
        .address = "here",
        .settings = STR("-"),
        .publish_events = record_announced_guild_ids,
        .revoke = credentials_revoked_stub,
        .credentials_valid_until = ignore_position_of_fresh_caches,
        .publish_passed_over = publish_nothing,
        .sessions = no_sessions,
        .lost = count_lost_log_entries_callbacks,
    };
    struct cluster *c;

    received_count = 0;
    times_lost = 0;
    terminate_transactions_after_ms = end_ms;
    store_close(f->store);
    f->options.shared = true;
    assert_int_equal(store_open(&f->options, &f->store), OK);
    options.store = f->store;
    assert_int_equal(cluster_open(&options, &c), OK);
    return c;
}

static struct cluster *follow_log_for(struct fixture *f, int64_t end_ms)
{
    struct cluster *c = open_cluster_without_thread(f, end_ms);

    cluster_start(c);
    return c;
}

static struct cluster *follow_log(struct fixture *f)
{
    return follow_log_for(f, PATIENCE_MS);
}

/* Waits until the log follower has read the bound for the gap. */
static void wait_until_gap_was_examined(struct cluster *c)
{
    struct cluster_stats s;
    int64_t until = clock_monotonic_ns() + ms_to_ns(PATIENCE_MS);

    do {
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
        cluster_read_stats(c, &s);
    } while (!s.gaps && clock_monotonic_ns() < until);
    nanosleep(&(struct timespec){ .tv_nsec = 100 * 1000000 }, NULL);
}

/* The older transaction got its transaction id first and its log position last. The younger one
 * holds the position before it and still runs when the older one has committed. */
static struct cluster *leave_younger_running(struct fixture *f, PGconn **ret_younger)
{
    struct cluster *c = follow_log(f);
    PGconn *older = server_open(f), *younger = server_open(f);

    begin_transaction_with_id(older);
    begin_transaction_with_id(younger);
    insert_frame_at_next_position(younger, 1);
    insert_frame_at_next_position(older, 2);
    run_sql_on_second_connection(older, "commit");
    pq.finish(older);
    wait_until_gap_was_examined(c);
    *ret_younger = younger;
    return c;
}

static void log_follower_waits_for_a_younger_running_transaction(void **state)
{
    PGconn *younger;
    struct cluster *c = leave_younger_running(*state, &younger);

    assert_int_equal(count_delivered(), 0);
    run_sql_on_second_connection(younger, "commit");
    wait_until_log_entry_is_delivered(2);
    assert_int_equal(delivered_to[0], 1);
    assert_int_equal(delivered_to[1], 2);
    pq.finish(younger);
    cluster_close(c);
}

/* Deliberately wrong rule: it must lose the event, otherwise the test above proves nothing. */
static void transaction_bound_of_old_snapshot_would_lose_events(void **state)
{
    struct sql right = transaction_bound_sql;
    PGconn *younger;

    transaction_bound_sql = SQL("select cast(pg_snapshot_xmin(pg_current_snapshot()) as text)");
    struct cluster *c = leave_younger_running(*state, &younger);
    wait_until_log_entry_is_delivered(1);
    assert_int_equal(delivered_to[0], 2);
    run_sql_on_second_connection(younger, "commit");
    pq.finish(younger);
    cluster_close(c);
    transaction_bound_sql = right;
}

static void position_of_a_rolled_back_transaction_is_skipped(void **state)
{
    struct fixture *f = *state;
    struct cluster *c = follow_log(f);
    PGconn *gone = server_open(f), *other = server_open(f), *unrelated = hand_open(f);

    /* A session that is no node may keep its transaction open. */
    begin_transaction_with_id(unrelated);
    begin_transaction_with_id(gone);
    insert_frame_at_next_position(gone, 1);
    begin_transaction_with_id(other);
    insert_frame_at_next_position(other, 2);
    run_sql_on_second_connection(other, "commit");
    run_sql_on_second_connection(gone, "rollback");
    wait_until_log_entry_is_delivered(1);
    assert_int_equal(delivered_to[0], 2);
    struct cluster_stats s;
    int64_t until = clock_monotonic_ns() + ms_to_ns(PATIENCE_MS);
    do /* the counter rises shortly after the later frame was delivered */
        cluster_read_stats(c, &s);
    while (!s.aborted && clock_monotonic_ns() < until);
    assert_int_equal(s.aborted, 1);
    pq.finish(unrelated);
    pq.finish(gone);
    pq.finish(other);
    cluster_close(c);
}

static void transaction_that_blocks_the_log_too_long_is_terminated(void **state)
{
    struct fixture *f = *state;
    struct cluster *c = follow_log_for(f, 1000);
    PGconn *stuck = server_open(f), *other = server_open(f);

    begin_transaction_with_id(stuck);
    insert_frame_at_next_position(stuck, 1);
    begin_transaction_with_id(other);
    insert_frame_at_next_position(other, 2);
    run_sql_on_second_connection(other, "commit");
    wait_until_log_entry_is_delivered(1);
    assert_int_equal(delivered_to[0], 2);
    pq.finish(stuck);
    pq.finish(other);
    cluster_close(c);
}

/* --- a node that was away while log rows were dropped ---------------------------------- */

static void read_event_log_once(struct cluster *c)
{
    int64_t last;
    bool more;

    assert_int_equal(log_follower_read_page(c, &last, &more), OK);
}

/* Resolves gaps as the thread does between two heartbeats, until none is left or the node stops. */
static void resolve_gaps_without_heartbeat(struct cluster *c)
{
    int64_t until = clock_monotonic_ns() + ms_to_ns(PATIENCE_MS);

    read_event_log_once(c);
    while (!times_lost && log_gap_run_next_resolution_step(c) && clock_monotonic_ns() < until)
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

static void restarted_node_detects_rows_dropped_from_the_log(void **state)
{
    struct fixture *f = *state;
    struct cluster *c = open_cluster_without_thread(f, PATIENCE_MS);
    PGconn *other = server_open(f);

    insert_frame_at_next_position(other, 1);
    read_event_log_once(c);
    assert_int_equal(count_delivered(), 1);
    for (snowflake number = 2; number < 5; number++)
        insert_frame_at_next_position(other, number);
    run_sql_on_second_connection(
        other, "delete from log where position < (select max(position) from log)");
    resolve_gaps_without_heartbeat(c);
    assert_int_equal(times_lost, 1);
    assert_int_equal(count_delivered(), 1);
    pq.finish(other);
    cluster_close(c);
}

/* The node has delivered nothing, but the log had a row when the node started. */
static void dropped_rows_are_noticed_before_the_first_event(void **state)
{
    struct fixture *f = *state;
    PGconn *other = hand_open(f);

    insert_frame_at_next_position(other, 1);
    struct cluster *c = open_cluster_without_thread(f, PATIENCE_MS);
    insert_frame_at_next_position(other, 2);
    insert_frame_at_next_position(other, 3);
    run_sql_on_second_connection(
        other, "delete from log where position < (select max(position) from log)");
    resolve_gaps_without_heartbeat(c);
    assert_int_equal(times_lost, 1);
    assert_int_equal(count_delivered(), 0);
    pq.finish(other);
    cluster_close(c);
}

/* Two positions of a new database are aborted, one of them with a report to the sequencer. */
static void aborted_positions_before_the_first_row_do_not_stop_the_node(void **state)
{
    struct fixture *f = *state;
    struct cluster *c = open_cluster_without_thread(f, PATIENCE_MS);
    PGconn *other = hand_open(f);
    int64_t aborted = log_sequencer_next_position(c->sequencer);

    run_sql_on_second_connection(other, "select nextval('log_position'), nextval('log_position')");
    log_sequencer_offer_entry(c->sequencer, aborted, STR(""), NULL);
    insert_frame_at_next_position(other, 1);
    resolve_gaps_without_heartbeat(c);
    assert_int_equal(times_lost, 0);
    assert_int_equal(count_delivered(), 1);
    pq.finish(other);
    cluster_close(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        store_test(log_follower_waits_for_a_younger_running_transaction),
        store_test(transaction_bound_of_old_snapshot_would_lose_events),
        store_test(position_of_a_rolled_back_transaction_is_skipped),
        store_test(transaction_that_blocks_the_log_too_long_is_terminated),
        store_test(restarted_node_detects_rows_dropped_from_the_log),
        store_test(dropped_rows_are_noticed_before_the_first_event),
        store_test(aborted_positions_before_the_first_row_do_not_stop_the_node),
    };

    return run_on_postgres("cluster/settle", tests);
}
