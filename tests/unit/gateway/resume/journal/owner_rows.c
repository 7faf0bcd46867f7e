/* owner_rows.c - tests that session rows of dead nodes are deleted after a waiting time. */
#include "unit/unit.h"

#include "base/arena.h"
#include "base/log.h"
#include "gateway/resume/journal/owner_rows.h"
#include "model/fields/ids.h"
#include "support/stores.h"

enum { PATIENCE_MS = 180 * 1000, BEGIN_MS = 1000 * 1000 };

struct tidying {
    uint32_t identity;
    int64_t now_ms;
    snowflake retained; /* node whose journal exists; 0: none */
};

static enum err tidy_rows(struct tx *tx, void *arg)
{
    const struct tidying *t = arg;
    struct list retained = { 0 };

    if (t->retained)
        id_list_add(tx_arena(tx), &retained, t->retained);
    return session_owner_rows_prune(tx, t->identity, &retained, PATIENCE_MS, t->now_ms);
}

static int64_t count_of(struct fixture *f, uint32_t identity)
{
    static const char *const counts[] = {
        "select count(*) from session_homes where identity = 0",
        "select count(*) from session_homes where identity = 1",
        "select count(*) from session_homes where identity = 2",
        "select count(*) from session_homes where identity = 3",
    };

    return store_number(f->store, counts[identity]);
}

static void tidy_at(struct fixture *f, uint32_t identity, int64_t now_ms, snowflake retained)
{
    struct tidying t = { identity, BEGIN_MS + now_ms, retained };

    assert_int_equal(store_run_transaction_and_wait(f->store, STORE_WRITE, NULL, tidy_rows, &t),
                     OK);
}

/* PostgreSQL nodes have more columns. */
static const char NODES[] = "insert into nodes (node, identity, state) values (1, 1, 1), (2, 2, 3)";
static const char NODES_POSTGRES[] =
    "insert into nodes (node, identity, state, name, seen_at, begun_at, ids_until, position, "
    "sessions, version, settings, address) values "
    "(1, 1, 1, '', now(), now(), 0, 0, 0, '', '', ''), "
    "(2, 2, 3, '', now(), now(), 0, 0, 0, '', '', '')";

/* Node 1 is alive, nodes 2 and 3 are dead, and one session is suspended. */
static void insert_session_owners(struct fixture *f)
{
    assert_int_equal(store_do(f->store, f->postgres ? NODES_POSTGRES : NODES), OK);
    assert_int_equal(store_do(f->store, "insert into session_homes (number, user_id, identity) "
                                        "values (10, 5, 1), (20, 5, 2), (30, 5, 3), (40, 5, 0)"),
                     OK);
    assert_int_equal(store_do(f->store, "insert into parked_sessions (number, user_id, until_ms, "
                                        "body) values (40, 5, 1000000000, '')"),
                     OK);
}

static void rows_of_long_dead_nodes_are_deleted_and_no_others(void **state)
{
    struct fixture *f = *state;

    insert_session_owners(f);
    tidy_at(f, 0, 0, 3);
    tidy_at(f, 0, PATIENCE_MS - 1, 3);
    assert_int_equal(count_of(f, 2), 1);
    tidy_at(f, 0, PATIENCE_MS + 1, 3);
    assert_int_equal(count_of(f, 2), 0);
    assert_int_equal(count_of(f, 0), 1); /* suspended: waits for its client */
    assert_int_equal(count_of(f, 1), 1);
    assert_int_equal(count_of(f, 3), 1); /* the journal of its node exists */
    tidy_at(f, 1, PATIENCE_MS + 2, 3);   /* pruning of a node that starts or stops */
    assert_int_equal(count_of(f, 1), 0);
    assert_int_equal(count_of(f, 0), 1);
}

static void returning_node_restarts_the_wait_before_deletion(void **state)
{
    struct fixture *f = *state;

    insert_session_owners(f);
    tidy_at(f, 0, 0, 0);
    assert_int_equal(store_do(f->store, "update nodes set state = 1 where node = 2"), OK);
    tidy_at(f, 0, 1000, 0);
    assert_int_equal(store_do(f->store, "update nodes set state = 3 where node = 2"), OK);
    tidy_at(f, 0, PATIENCE_MS + 1, 0);
    assert_int_equal(count_of(f, 2), 1);
    assert_int_equal(count_of(f, 3), 0);
    tidy_at(f, 0, 2 * PATIENCE_MS + 2, 0);
    assert_int_equal(count_of(f, 2), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        store_test(rows_of_long_dead_nodes_are_deleted_and_no_others),
        store_test(returning_node_restarts_the_wait_before_deletion),
    };

    log_init(2, LOG_OFF, 0);
    return run_on_both("gateway/owner_rows", tests);
}
