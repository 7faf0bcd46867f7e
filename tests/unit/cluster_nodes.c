/* cluster_nodes.c - who is silent is buried, unless the database was away for all. */
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
    c->beaten_at -= ms_to_ns(LEASE_MS);
    assert_false(is_buried_at_beat(f, c));
    assert_in_range(c->bury_at - clock_mono(), ms_to_ns(LEASE_MS), ms_to_ns(2 * LEASE_MS));
    assert_false(is_buried_at_beat(f, c));
    c->bury_at = clock_mono();
    c->beaten_at = c->bury_at;
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
    assert_in_range(c->bury_at - clock_mono(), ms_to_ns(LEASE_MS), ms_to_ns(2 * LEASE_MS));
    assert_false(is_buried_at_beat(f, c));
    c->bury_at = 0;
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
    assert_true(is_buried_at_beat(f, c));
    cluster_close(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        store_test(who_was_cut_off_itself_buries_nobody_at_once),
        store_test(nobody_is_buried_because_the_clock_was_set),
        store_test(who_was_last_seen_in_the_future_is_buried),
    };

    return run_on_postgres("cluster/nodes", tests);
}
