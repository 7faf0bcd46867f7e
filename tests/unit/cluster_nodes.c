/* cluster_nodes.c - who is silent is buried, unless the database was away for all; and who has told
 * what the database lacks ends. */
#include "unit.h"

#include "base/clock.h"
#include "cluster/internal.h"
#include "support/stores.h"

static void ignore_announced(void *arg, int64_t position, const struct announcement *list)
{
    (void)arg, (void)position, (void)list;
}

static void ignore_forgotten(void *arg, const struct forgotten *f)
{
    (void)arg, (void)f;
}

static void ignore_fresh(void *arg, int64_t until)
{
    (void)arg, (void)until;
}

static int times_lost;

static void count_lost(void *arg)
{
    (void)arg;
    times_lost++;
}

static uint64_t no_sessions(void *arg)
{
    (void)arg;
    return 0;
}

/* One that is not started: beats are the test's. */
static struct cluster *enter_cluster(struct fixture *f)
{
    struct cluster_options options = {
        .version = "test",
        .address = "here",
        .settings = STR("-"),
        .announce = ignore_announced,
        .forget = ignore_forgotten,
        .fresh = ignore_fresh,
        .sessions = no_sessions,
        .lost = count_lost,
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

/* However long the test took since, it was not cut off. */
static void forget_last_beat(struct cluster *c)
{
    c->follow.beaten_at = 0;
}

static bool is_buried_at_beat(struct fixture *f, struct cluster *c)
{
    assert_int_equal(nodes_beat(c), OK);
    return store_number(f->store, "select state from nodes where node = 9") == 3;
}

static void who_was_cut_off_itself_buries_nobody_at_once(void **state)
{
    struct fixture *f = *state;
    struct cluster *c = enter_cluster(f);

    assert_int_equal(store_do(f->store, ADD_SILENT), OK);
    assert_true(is_buried_at_beat(f, c));
    assert_int_equal(store_do(f->store, "update nodes set state = 1 where node = 9"), OK);
    /* As if nothing could have been written for so long. */
    c->follow.beaten_at -= ms_to_ns(LEASE_MS);
    assert_false(is_buried_at_beat(f, c));
    assert_in_range(c->follow.bury_at - clock_mono(), ms_to_ns(LEASE_MS), ms_to_ns(2 * LEASE_MS));
    assert_false(is_buried_at_beat(f, c));
    c->follow.bury_at = clock_mono();
    forget_last_beat(c);
    assert_true(is_buried_at_beat(f, c));
    cluster_close(c);
}

/* As if the database's clock had been put so far forward since the last beat. */
static void set_database_clock(struct cluster *c, int64_t ms)
{
    c->clocks.last.database_ms -= ms;
}

static void nobody_is_buried_because_the_clock_was_set(void **state)
{
    struct fixture *f = *state;
    struct cluster *c = enter_cluster(f);

    assert_int_equal(nodes_beat(c), OK);
    assert_int_equal(store_do(f->store, ADD_SILENT), OK);
    set_database_clock(c, 60000);
    assert_false(is_buried_at_beat(f, c));
    assert_in_range(c->follow.bury_at - clock_mono(), ms_to_ns(LEASE_MS), ms_to_ns(2 * LEASE_MS));
    assert_false(is_buried_at_beat(f, c));
    c->follow.bury_at = 0;
    forget_last_beat(c);
    assert_true(is_buried_at_beat(f, c));
    cluster_close(c);
}

static void who_was_last_seen_in_the_future_is_buried(void **state)
{
    struct fixture *f = *state;
    struct cluster *c = enter_cluster(f);

    assert_int_equal(store_do(f->store, ADD_SILENT), OK);
    assert_int_equal(store_do(f->store, "update nodes set seen_at = clock_timestamp() + "
                                        "interval '2 seconds' where node = 9"),
                     OK);
    assert_false(is_buried_at_beat(f, c));
    assert_int_equal(store_do(f->store, "update nodes set seen_at = clock_timestamp() + "
                                        "interval '1 hour' where node = 9"),
                     OK);
    forget_last_beat(c);
    assert_true(is_buried_at_beat(f, c));
    cluster_close(c);
}

/* --- what was told is there still ----------------------------------------------------- */

static enum err put_told(struct tx *tx, void *arg)
{
    const int64_t *position = arg;

    return tx_exec(tx, "insert into log (position, body) values ($1, $2)",
                   BIND(v_int(*position), v_bytes(STR("\1\2"))), NULL);
}

/* Tells a frame, and puts it into the log. */
static int64_t tell_something(struct fixture *f, struct cluster *c)
{
    struct frame nothing = { .origin = 7 };
    int64_t position = line_next(c->line);

    assert_int_equal(store_run(f->store, STORE_WRITE, NULL, put_told, &position), OK);
    line_offer(c->line, position, STR("\1\2"), &nothing);
    assert_int_equal(line_next(c->line), position + 1);
    return position;
}

/* As if it had connected anew. */
static bool is_lost_after(struct fixture *f, struct cluster *c, const char *sql)
{
    times_lost = 0;
    c->follow.lost = false;
    assert_int_equal(store_do(f->store, sql), OK);
    assert_int_equal(history_look(c), OK);
    assert_int_equal(times_lost, 0); /* it was looked at before, on this connection */
    c->follow.looked_back = 0;
    assert_int_equal(history_look(c), OK);
    return times_lost == 1;
}

static void a_database_that_has_gone_back_ends_the_server(void **state)
{
    struct fixture *f = *state;
    struct cluster *c = enter_cluster(f);

    assert_int_equal(history_look(c), OK);
    tell_something(f, c);
    int64_t last = tell_something(f, c);
    assert_int_equal(store_do(f->store, "insert into session_homes (number, user_id, identity) "
                                        "values (1, 2, 3)"),
                     OK);
    assert_false(is_lost_after(f, c, "select 1"));
    /* Old parts may go. */
    assert_false(is_lost_after(f, c,
                               "delete from log where position < (select max(position) from "
                               "log)"));
    assert_int_equal(store_number(f->store, "select count(*) from session_homes"), 1);
    /* Another transaction has the position now. */
    assert_true(is_lost_after(f, c, "update log set body = '\\x0103'"));
    assert_int_equal(store_number(f->store, "select count(*) from session_homes"), 0);
    assert_true(store_number(f->store, "select last_value from log_position") >= last);
    assert_true(is_lost_after(f, c, "delete from log"));
    cluster_close(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        store_test(who_was_cut_off_itself_buries_nobody_at_once),
        store_test(nobody_is_buried_because_the_clock_was_set),
        store_test(who_was_last_seen_in_the_future_is_buried),
        store_test(a_database_that_has_gone_back_ends_the_server),
    };

    return run_on_postgres("cluster/nodes", tests);
}
