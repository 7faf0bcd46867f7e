/* nodes.c - tests when silent nodes are declared dead, and that a node stops when the database
 * lost events that it published. */
#include "unit/unit.h"

#include "base/clock.h"
#include "cluster/internal.h"
#include "support/stores.h"

static void ignore_announced_events(void *arg, int64_t position, const struct emitted_event *list)
{
    (void)arg, (void)position, (void)list;
}

static void credentials_revoked_stub(void *arg, const struct revocation_record *f)
{
    (void)arg, (void)f;
}

static void ignore_fresh_until_position(void *arg, int64_t until)
{
    (void)arg, (void)until;
}

static int times_lost;

static void count_detected_losses(void *arg)
{
    (void)arg;
    times_lost++;
}

static uint64_t no_sessions(void *arg)
{
    (void)arg;
    return 0;
}

/* A cluster without its thread: the test sends the heartbeats. */
static struct cluster *enter_cluster(struct fixture *f)
{
    struct cluster_options options = {
        .version = "test",
        .address = "here",
        .settings = STR("-"),
        .publish_events = ignore_announced_events,
        .revoke = credentials_revoked_stub,
        .credentials_valid_until = ignore_fresh_until_position,
        .sessions = no_sessions,
        .lost = count_detected_losses,
    };
    struct cluster *c;

    store_close(f->store);
    f->options.shared = true;
    assert_int_equal(store_open(&f->options, &f->store), OK);
    options.store = f->store;
    assert_int_equal(cluster_open(&options, &c), OK);
    return c;
}

static const char ADD_SILENT[] =
    "insert into nodes (node, identity, name, state, seen_at, begun_at, ids_until, position, "
    "sessions, version, settings, address, schema, frames) values (9, 9, 'other', 1, "
    "clock_timestamp() - interval '1 minute', clock_timestamp(), 0, 0, 0, 'test', '-', 'there', 0, "
    "0)";

/* Clears the last heartbeat, so that the duration of the test does not look like an outage. */
static void clear_last_heartbeat_time(struct cluster *c)
{
    c->follow.last_heartbeat_at = 0;
}

static bool is_dead_at_beat(struct fixture *f, struct cluster *c)
{
    assert_int_equal(cluster_node_write_heartbeat(c), OK);
    return store_number(f->store, "select state from nodes where node = 9") == 3;
}

static void node_that_lost_the_database_declares_no_node_dead_immediately(void **state)
{
    struct fixture *f = *state;
    struct cluster *c = enter_cluster(f);

    assert_int_equal(store_do(f->store, ADD_SILENT), OK);
    assert_true(is_dead_at_beat(f, c));
    assert_int_equal(store_do(f->store, "update nodes set state = 1 where node = 9"), OK);
    /* Simulate an outage of the database as long as the lease. */
    c->follow.last_heartbeat_at -= ms_to_ns(NODE_LEASE_MS);
    assert_false(is_dead_at_beat(f, c));
    assert_in_range(c->follow.declare_dead_at - clock_monotonic_ns(), ms_to_ns(NODE_LEASE_MS),
                    ms_to_ns(2 * NODE_LEASE_MS));
    assert_false(is_dead_at_beat(f, c));
    c->follow.declare_dead_at = clock_monotonic_ns();
    clear_last_heartbeat_time(c);
    assert_true(is_dead_at_beat(f, c));
    cluster_close(c);
}

/* Simulates a database clock that was set forward by `ms` since the last heartbeat. */
static void set_database_clock(struct cluster *c, int64_t ms)
{
    c->clocks.last.database_ms -= ms;
}

static void clock_jump_does_not_make_a_node_declare_others_dead(void **state)
{
    struct fixture *f = *state;
    struct cluster *c = enter_cluster(f);

    assert_int_equal(cluster_node_write_heartbeat(c), OK);
    assert_int_equal(store_do(f->store, ADD_SILENT), OK);
    set_database_clock(c, 60000);
    assert_false(is_dead_at_beat(f, c));
    assert_in_range(c->follow.declare_dead_at - clock_monotonic_ns(), ms_to_ns(NODE_LEASE_MS),
                    ms_to_ns(2 * NODE_LEASE_MS));
    assert_false(is_dead_at_beat(f, c));
    c->follow.declare_dead_at = 0;
    clear_last_heartbeat_time(c);
    assert_true(is_dead_at_beat(f, c));
    cluster_close(c);
}

static void node_last_seen_far_in_the_future_is_declared_dead(void **state)
{
    struct fixture *f = *state;
    struct cluster *c = enter_cluster(f);

    assert_int_equal(store_do(f->store, ADD_SILENT), OK);
    assert_int_equal(store_do(f->store, "update nodes set seen_at = clock_timestamp() + "
                                        "interval '2 seconds' where node = 9"),
                     OK);
    assert_false(is_dead_at_beat(f, c));
    assert_int_equal(store_do(f->store, "update nodes set seen_at = clock_timestamp() + "
                                        "interval '1 hour' where node = 9"),
                     OK);
    clear_last_heartbeat_time(c);
    assert_true(is_dead_at_beat(f, c));
    cluster_close(c);
}

/* --- published events are still in the log -------------------------------------------- */

static enum err insert_delivered_frame(struct tx *tx, void *arg)
{
    const int64_t *position = arg;

    return tx_exec(tx, "insert into log (position, body) values ($1, $2)",
                   BIND(v_int(*position), v_bytes(STR("\1\2"))), NULL);
}

/* Delivers a frame and inserts it into the log. */
static int64_t deliver_and_log_frame(struct fixture *f, struct cluster *c)
{
    struct log_entry nothing = { .origin = 7 };
    int64_t position = log_sequencer_next_position(c->sequencer);

    assert_int_equal(store_run_transaction_and_wait(f->store, STORE_WRITE, NULL,
                                                    insert_delivered_frame, &position),
                     OK);
    log_sequencer_offer_entry(c->sequencer, position, STR("\1\2"), &nothing);
    assert_int_equal(log_sequencer_next_position(c->sequencer), position + 1);
    return position;
}

/* Executes the SQL and checks the log as after a reconnection. */
static bool loss_is_detected_after(struct fixture *f, struct cluster *c, const char *sql)
{
    times_lost = 0;
    c->follow.lost = false;
    assert_int_equal(store_do(f->store, sql), OK);
    assert_int_equal(stop_node_if_log_lacks_delivered_entries(c), OK);
    assert_int_equal(times_lost, 0); /* this connection was already checked */
    c->follow.checked_connections = 0;
    assert_int_equal(stop_node_if_log_lacks_delivered_entries(c), OK);
    return times_lost == 1;
}

static void node_stops_when_the_database_lost_published_events(void **state)
{
    struct fixture *f = *state;
    struct cluster *c = enter_cluster(f);

    assert_int_equal(stop_node_if_log_lacks_delivered_entries(c), OK);
    deliver_and_log_frame(f, c);
    int64_t last = deliver_and_log_frame(f, c);
    assert_int_equal(store_do(f->store, "insert into session_homes (number, user_id, identity) "
                                        "values (1, 2, 3)"),
                     OK);
    assert_false(loss_is_detected_after(f, c, "select 1"));
    /* Old frames may be deleted. */
    assert_false(
        loss_is_detected_after(f, c,
                               "delete from log where position < (select max(position) from "
                               "log)"));
    assert_int_equal(store_number(f->store, "select count(*) from session_homes"), 1);
    /* The position now contains the frame of another transaction. */
    assert_true(loss_is_detected_after(f, c, "update log set body = '\\x0103'"));
    assert_int_equal(store_number(f->store, "select count(*) from session_homes"), 0);
    assert_true(store_number(f->store, "select last_value from log_position") >= last);
    assert_true(loss_is_detected_after(f, c, "delete from log"));
    cluster_close(c);
}

static const char ADD_POLLING[] =
    "insert into nodes (node, identity, name, state, seen_at, begun_at, ids_until, position, "
    "sessions, version, settings, address, schema, frames) select n, n, 'other', 1, "
    "clock_timestamp(), clock_timestamp(), 0, 0, 0, 'test', '-', 'there', 0, 0 "
    "from generate_series(10, 12) n";

static void more_than_four_polling_nodes_cause_a_warning(void **state)
{
    struct fixture *f = *state;
    struct cluster *c = enter_cluster(f);

    assert_int_equal(store_do(f->store, ADD_POLLING), OK);
    assert_int_equal(cluster_node_write_heartbeat(c), OK);
    assert_false(c->follow.warned_of_polling);
    assert_int_equal(store_do(f->store, ADD_SILENT), OK);
    assert_int_equal(store_do(f->store, "update nodes set seen_at = clock_timestamp()"), OK);
    assert_int_equal(cluster_node_write_heartbeat(c), OK);
    assert_true(c->follow.warned_of_polling);
    cluster_close(c);
}

/* Two heartbeats with a retention of 0: the first one records the position, the second one deletes
 * the rows before it. */
static void old_log_rows_are_deleted(void **state)
{
    struct fixture *f = *state;
    struct cluster *c = enter_cluster(f);
    int64_t normal = log_retention_ms, last = 0;

    for (int i = 0; i < 5; i++)
        last = deliver_and_log_frame(f, c);
    log_partitions_create_and_drop(c);
    assert_int_equal(store_number(f->store, "select count(*) from log"), 5);
    log_retention_ms = 0;
    log_partitions_create_and_drop(c);
    log_retention_ms = normal;
    assert_int_equal(store_number(f->store, "select count(*) from log"), 1);
    assert_int_equal(store_number(f->store, "select min(position) from log"), last);
    times_lost = 0;
    log_partitions_create_and_drop(c); /* all deleted rows were delivered */
    assert_int_equal(times_lost, 0);
    assert_int_equal(store_do(f->store, "update log set position = position + 2"), OK);
    log_partitions_create_and_drop(c); /* the next position is gone */
    assert_int_equal(times_lost, 1);
    cluster_close(c);
}

/* --- cut off from the database --------------------------------------------------------- */

static char any_nats_connection; /* cluster_node_is_isolated only checks that there is one */

/* A node that uses NATS, sees another node, and has not read the log for longer than the lease. */
static struct cluster *enter_cluster_without_database(struct fixture *f)
{
    struct cluster *c = enter_cluster(f);

    c->nats.nats = (struct nats *)&any_nats_connection;
    atomic_store(&c->nats.connected, true);
    atomic_store(&c->count.nodes, 2);
    atomic_store(&c->fresh_at, clock_monotonic_ns() - ms_to_ns(NODE_LEASE_MS + 1000));
    return c;
}

static void close_cluster_without_nats(struct cluster *c)
{
    c->nats.nats = NULL;
    cluster_close(c);
}

/* After an outage of the database for all nodes, another node may reconnect a few seconds earlier;
 * then its heartbeats do not mean that this node is cut off. */
static void node_is_isolated_only_after_heartbeats_of_others(void **state)
{
    struct cluster *c = enter_cluster_without_database(*state);
    int64_t minute = ms_to_ns(60000);

    assert_false(cluster_node_is_isolated(c)); /* no other node reaches the database */
    cluster_record_heartbeat_of_other_node(c);
    assert_false(cluster_node_is_isolated(c)); /* the other node may have reconnected just now */
    atomic_fetch_sub(&c->nats.peer_heartbeats_since, minute);
    assert_true(cluster_node_is_isolated(c));
    atomic_fetch_sub(&c->nats.peer_heartbeat_at, minute);
    assert_false(cluster_node_is_isolated(c)); /* the database is gone for the other node, too */
    cluster_record_heartbeat_of_other_node(c);
    assert_false(cluster_node_is_isolated(c)); /* the time starts again after the pause */
    close_cluster_without_nats(c);
}

static void node_without_nats_and_database_is_isolated_at_once(void **state)
{
    struct cluster *c = enter_cluster_without_database(*state);

    atomic_store(&c->nats.connected, false);
    assert_true(cluster_node_is_isolated(c));
    atomic_store(&c->count.nodes, 1); /* a single node keeps its clients */
    assert_false(cluster_node_is_isolated(c));
    atomic_store(&c->count.nodes, 2);
    atomic_store(&c->fresh_at, clock_monotonic_ns());
    assert_false(cluster_node_is_isolated(c));
    atomic_store(&c->fresh_at, 0); /* the node has just started */
    assert_false(cluster_node_is_isolated(c));
    close_cluster_without_nats(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        store_test(node_that_lost_the_database_declares_no_node_dead_immediately),
        store_test(clock_jump_does_not_make_a_node_declare_others_dead),
        store_test(node_last_seen_far_in_the_future_is_declared_dead),
        store_test(node_stops_when_the_database_lost_published_events),
        store_test(more_than_four_polling_nodes_cause_a_warning),
        store_test(old_log_rows_are_deleted),
        store_test(node_is_isolated_only_after_heartbeats_of_others),
        store_test(node_without_nats_and_database_is_isolated_at_once),
    };

    return run_on_postgres("cluster/nodes", tests);
}
