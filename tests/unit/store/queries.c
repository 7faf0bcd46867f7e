/* queries.c - tests that both engines store and return the same values. Tests src/store/rows.c,
 * src/store/sqlite/query.c and src/store/postgres/query.c. */
#include "unit/unit.h"

#include <float.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "support/stores.h"
#include "support/test_work.h"

#define KINDS "create table kinds (i bigint, d double precision, t text, b bytea)"

static enum err run_in_one_transaction(struct fixture *f, enum err (*run)(struct tx *tx, void *arg),
                                       void *arg)
{
    return store_run_transaction_and_wait(f->store, STORE_WRITE, NULL, run, arg);
}

#define no_error(call) assert_int_equal((call), OK)

/* --- values --------------------------------------------------------------------------- */

struct kinds {
    int64_t i;
    double d;
    struct str t, b;
};

static enum err write_and_read_back(struct tx *tx, void *arg)
{
    const struct kinds *k = arg;
    struct rows r;
    bool found;

    no_error(tx_exec(tx, "delete from kinds", NO_BIND, NULL));
    no_error(tx_exec(tx, "insert into kinds (b, t, d, i) values ($4, $3, $2, $1)",
                     BIND(v_int(k->i), v_real(k->d), v_text(k->t), v_bytes(k->b)), NULL));
    no_error(tx_one(tx, "select i, d, t, b from kinds", NO_BIND, &r, &found));
    assert_true(found);
    assert_true(row_int(&r, 0) == k->i);
    assert_true(row_real(&r, 1) == k->d);
    assert_true(str_eq(row_text(&r, 2), k->t));
    assert_true(str_eq(row_bytes(&r, 3), k->b));
    for (int i = 0; i < 4; i++)
        assert_false(row_column_is_null(&r, i));
    return OK;
}

static void extreme_values_are_stored_and_read_back(void **state)
{
    struct fixture *f = *state;
    struct kinds all[] = {
        { INT64_MAX, DBL_MAX, STR("ada"), STR("\0\0\xff\x80\\x\0") },
        { INT64_MIN, -DBL_MIN, STR(""), STR("") },
        { 0, 0.1, STR("it's \\ \"q\" $1 \xf0\x9f\x8f\xb0\n"), STR("\\x41") },
        { -1, 1.0 / 3, { NULL, 0 }, { NULL, 0 } },
        { 1LL << 53 | 1, 1e-300, STR("007"), STR("007") },
    };

    no_error(store_do(f->store, KINDS));
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        no_error(run_in_one_transaction(f, write_and_read_back, &all[i]));
}

static enum err put_nulls(struct tx *tx, void *arg)
{
    struct rows r;
    bool found;

    (void)arg;
    /* The same statement accepts a null and a number, in either order. */
    for (int round = 0; round < 2; round++) {
        no_error(tx_exec(tx, "insert into kinds (i, d, t, b) values ($1, $2, $3, $4)",
                         BIND(v_null(), v_null(), v_null(), v_null()), NULL));
        no_error(tx_exec(tx, "insert into kinds (i, d, t, b) values ($1, $2, $3, $4)",
                         BIND(v_int(1), v_real(1), v_text(STR("x")), v_bytes(STR("x"))), NULL));
    }
    no_error(
        tx_one(tx, "select i, d, t, b from kinds where i is null limit 1", NO_BIND, &r, &found));
    assert_true(found);
    for (int i = 0; i < 4; i++)
        assert_true(row_column_is_null(&r, i));
    assert_int_equal(row_int(&r, 0), 0);
    assert_false(row_bool(&r, 0));
    assert_true(row_real(&r, 1) == 0);
    assert_str(row_text(&r, 2), "");
    assert_str(row_bytes(&r, 3), "");
    return OK;
}

static void null_values_are_stored_and_read_as_empty(void **state)
{
    struct fixture *f = *state;

    no_error(store_do(f->store, KINDS));
    no_error(run_in_one_transaction(f, put_nulls, NULL));
    assert_int_equal(store_number(f->store, "select count(*) from kinds where i is null"), 2);
    assert_int_equal(store_number(f->store, "select sum(i) from kinds"), 2);
}

static enum err put_nul(struct tx *tx, void *arg)
{
    (void)arg;
    return tx_exec(tx, "insert into kinds (t) values ($1)", BIND(v_text(STR("a\0b"))), NULL);
}

static void text_with_a_nul_byte_is_refused(void **state)
{
    struct fixture *f = *state;

    no_error(store_do(f->store, KINDS));
    assert_int_equal(run_in_one_transaction(f, put_nul, NULL), ERR_BAD_REQUEST);
    assert_int_equal(store_number(f->store, "select count(*) from kinds"), 0);
}

/* --- rows ----------------------------------------------------------------------------- */

static enum err walk(struct tx *tx, void *arg)
{
    struct rows r;
    struct str retained[100];
    int n = 0;

    (void)arg;
    for (int i = 0; i < 100; i++)
        no_error(tx_exec(tx, "insert into kinds (i, t) values ($1, $2)",
                         BIND(v_int(i), v_text(str_printf(tx_arena(tx), "t%d", i))), NULL));
    no_error(tx_query(tx, "select i, t from kinds where i >= $1 order by i", BIND(v_int(0)), &r));
    while (rows_next(&r)) {
        assert_int_equal(row_int(&r, 0), n);
        retained[n++] = row_text(&r, 1);
    }
    assert_false(rows_next(&r));
    no_error(rows_end(&r));
    assert_int_equal(n, 100);
    assert_str(retained[0], "t0");
    assert_str(retained[99], "t99");
    return OK;
}

static void query_rows_come_in_order_and_their_text_stays_valid(void **state)
{
    struct fixture *f = *state;

    no_error(store_do(f->store, KINDS));
    no_error(run_in_one_transaction(f, walk, NULL));
}

static enum err walk_lent(struct tx *tx, void *arg)
{
    struct rows r;
    char text[8];

    (void)arg;
    for (int i = 0; i < 100; i++)
        no_error(tx_exec(tx, "insert into kinds (i, t, b) values ($1, $2, $3)",
                         BIND(v_int(i), v_text(str_printf(tx_arena(tx), "t%d", i)),
                              v_bytes(str_printf(tx_arena(tx), "b%d", i))),
                         NULL));
    no_error(tx_query(tx, "select i, t, b from kinds order by i", NO_BIND, &r));
    r.lent = true;
    for (int i = 0; i < 100; i++) {
        assert_true(rows_next(&r));
        assert_int_equal(row_int(&r, 0), i);
        snprintf(text, sizeof text, "t%d", i);
        assert_str(row_text(&r, 1), text);
        *text = 'b';
        assert_str(row_bytes(&r, 2), text);
    }
    assert_false(rows_next(&r));
    return rows_end(&r);
}

static void borrowed_rows_have_the_stored_values(void **state)
{
    struct fixture *f = *state;

    no_error(store_do(f->store, KINDS));
    no_error(run_in_one_transaction(f, walk_lent, NULL));
}

static enum err query_inside_a_query(struct tx *tx, void *arg)
{
    static const char sql[] = "select i from kinds where i < $1 order by i";
    struct rows outer, inner;
    int pairs = 0;

    (void)arg;
    for (int i = 0; i < 3; i++)
        no_error(tx_exec(tx, "insert into kinds (i) values ($1)", BIND(v_int(i)), NULL));
    no_error(tx_query(tx, sql, BIND(v_int(3)), &outer));
    while (rows_next(&outer)) {
        no_error(tx_query(tx, sql, BIND(v_int(row_int(&outer, 0))), &inner));
        while (rows_next(&inner))
            pairs++;
        no_error(rows_end(&inner));
    }
    no_error(rows_end(&outer));
    assert_int_equal(pairs, 3);
    return OK;
}

static void query_can_run_inside_its_own_row_loop(void **state)
{
    struct fixture *f = *state;

    no_error(store_do(f->store, KINDS));
    no_error(run_in_one_transaction(f, query_inside_a_query, NULL));
}

static enum err leave_open(struct tx *tx, void *arg)
{
    struct rows r;

    (void)arg;
    no_error(tx_query(tx, "select number from migrations", NO_BIND, &r));
    assert_true(rows_next(&r));
    return OK;
}

static void unfinished_query_does_not_disturb_later_transactions(void **state)
{
    struct fixture *f = *state;

    for (int i = 0; i < 3; i++)
        no_error(run_in_one_transaction(f, leave_open, NULL));
    for (int i = 0; i < 3; i++)
        no_error(store_run_transaction_and_wait(f->store, STORE_READ, NULL, leave_open, NULL));

    /* SQLite closes without an error only if all statements were released. */
    char log[128];
    store_close(f->store);
    f->store = NULL;
    snprintf(log, sizeof log, "%s/guildhall.db-wal", f->folder);
    assert_int_equal(access(log, F_OK), -1);
}

static enum err count_changes(struct tx *tx, void *arg)
{
    int64_t changed = -1;
    struct rows r;
    bool found;

    (void)arg;
    no_error(tx_exec(tx, "insert into kinds (i) values (1), (2), (3)", NO_BIND, &changed));
    assert_int_equal(changed, 3);
    no_error(tx_exec(tx, "update kinds set i = i + 1 where i > $1", BIND(v_int(1)), &changed));
    assert_int_equal(changed, 2);
    no_error(tx_exec(tx, "delete from kinds where i = $1", BIND(v_int(99)), &changed));
    assert_int_equal(changed, 0);

    /* The whole write is executed even if only its first row is read. */
    no_error(tx_one(tx, "update kinds set t = 'x' returning i", NO_BIND, &r, &found));
    assert_true(found);
    assert_int_equal(r.changed, 3);
    no_error(tx_one(tx, "delete from kinds where i = 99 returning i", NO_BIND, &r, &found));
    assert_false(found);
    return OK;
}

static void tx_changes_counts_the_changed_rows(void **state)
{
    struct fixture *f = *state;

    no_error(store_do(f->store, KINDS));
    no_error(run_in_one_transaction(f, count_changes, NULL));
    assert_int_equal(store_number(f->store, "select count(*) from kinds where t = 'x'"), 3);
}

/* --- errors --------------------------------------------------------------------------- */

static enum err insert_twice(struct tx *tx, void *arg)
{
    static const char sql[] = "insert into users (id, username) values ($1, $2)";

    (void)arg;
    no_error(tx_exec(tx, sql, BIND(v_int(1), v_text(STR("ada"))), NULL));
    enum err e = tx_exec(tx, sql, BIND(v_int(2), v_text(STR("ada"))), NULL);
    assert_true(ERR_IS_CONFLICT(e));
    assert_int_equal(tx_exec(tx, sql, BIND(v_int(3), v_text(STR("bob"))), NULL),
                     ERR_STORE_CONFLICT);
    return OK; /* although a statement failed */
}

static void unique_constraint_violation_is_a_conflict_and_aborts_the_transaction(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(run_in_one_transaction(f, insert_twice, NULL), ERR_STORE_CONFLICT);
    assert_int_equal(store_number(f->store, "select count(*) from users"), 0);
}

static enum err insert_or_not(struct tx *tx, void *arg)
{
    static const char sql[] =
        "insert into users (id, username) values ($1, $2) on conflict do nothing";
    int64_t changed;

    (void)arg;
    no_error(tx_exec(tx, sql, BIND(v_int(1), v_text(STR("ada"))), &changed));
    assert_int_equal(changed, 1);
    no_error(tx_exec(tx, sql, BIND(v_int(2), v_text(STR("ada"))), &changed));
    assert_int_equal(changed, 0);
    return OK;
}

static void on_conflict_do_nothing_lets_the_transaction_continue(void **state)
{
    struct fixture *f = *state;

    no_error(run_in_one_transaction(f, insert_or_not, NULL));
    assert_int_equal(store_number(f->store, "select count(*) from users"), 1);
}

static enum err insert_orphan(struct tx *tx, void *arg)
{
    struct rows r;
    bool found;

    (void)arg;
    return tx_one(tx,
                  "insert into tokens (id, kind, user_id, digest, created_at) "
                  "values ($1, 1, 77, $2, 0) returning kind",
                  BIND(v_bytes(STR("12345678")), v_bytes(STR("d"))), &r, &found);
}

static void row_without_its_foreign_key_target_is_refused(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(run_in_one_transaction(f, insert_orphan, NULL), ERR_INTERNAL);
    assert_int_equal(store_number(f->store, "select count(*) from tokens"), 0);
}

static enum err wrong_sql(struct tx *tx, void *arg)
{
    (void)arg;
    return tx_exec(tx, "select nothing from nowhere", NO_BIND, NULL);
}

static enum err too_few_values(struct tx *tx, void *arg)
{
    (void)arg;
    return tx_exec(tx, "delete from users where id = $1 and username = $2", BIND(v_int(1)), NULL);
}

static void invalid_sql_is_an_internal_error_and_the_next_query_works(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(run_in_one_transaction(f, wrong_sql, NULL), ERR_INTERNAL);
    assert_int_equal(run_in_one_transaction(f, too_few_values, NULL), ERR_INTERNAL);
    assert_int_equal(store_number(f->store, "select count(*) from users"), 0);
}

static enum err write_in_a_read(struct tx *tx, void *arg)
{
    (void)arg;
    return tx_exec(tx, "delete from users", NO_BIND, NULL);
}

/* A debug build aborts, a release build refuses; therefore the test runs in a child process. */
static void read_transaction_cannot_write(void **state)
{
    struct fixture *f = *state;
    int status;

    store_close(f->store);
    f->store = NULL;
    pid_t child = fork();
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        if (store_open(&f->options, &f->store) != OK)
            _exit(1);
        enum err e =
            store_run_transaction_and_wait(f->store, STORE_READ, NULL, write_in_a_read, NULL);
        _exit(e == ERR_INTERNAL ? 42 : 2);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
#ifdef NDEBUG
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 42);
#else
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
#endif
}

/* --- pipelined statements ------------------------------------------------------------- */

#define PAIRS     "create table pairs (k bigint primary key, v bigint)"
#define PAIR_OF   "select v from pairs where k = $1"
#define ADD_PAIR  "insert into pairs (k, v) values ($1, $2)"
#define MOVE_PAIR "update pairs set v = v + $2 where k = $1"

static const char pair_of[] = PAIR_OF, add_pair[] = ADD_PAIR, move_pair[] = MOVE_PAIR;

static int64_t value_of_pair(struct tx *tx, int64_t k)
{
    struct rows r;
    bool found;

    no_error(tx_one(tx, pair_of, BIND(v_int(k)), &r, &found));
    return found ? row_int(&r, 0) : -1;
}

static enum err read_pairs_by_helpers(struct tx *tx, void *arg)
{
    struct rows r;
    int64_t v = -1;
    bool found;

    (void)arg;
    no_error(tx_exists(tx, pair_of, BIND(v_int(2)), &found));
    assert_true(found);
    no_error(tx_exists(tx, pair_of, BIND(v_int(9)), &found));
    assert_false(found);
    no_error(tx_read_int(tx, pair_of, BIND(v_int(2)), &v));
    assert_int_equal(v, 20);
    no_error(tx_read_int(tx, pair_of, BIND(v_int(9)), &v));
    assert_int_equal(v, 0);
    no_error(tx_one_or(tx, pair_of, BIND(v_int(2)), ERR_NOT_FOUND, &r));
    assert_int_equal(row_int(&r, 0), 20);
    assert_int_equal(tx_one_or(tx, pair_of, BIND(v_int(9)), ERR_NOT_FOUND, &r), ERR_NOT_FOUND);
    return OK;
}

static void row_helpers_handle_a_missing_row(void **state)
{
    struct fixture *f = *state;

    no_error(store_do(f->store, PAIRS));
    no_error(store_do(f->store, "insert into pairs (k, v) values (2, 20)"));
    no_error(run_in_one_transaction(f, read_pairs_by_helpers, NULL));
}

/* Queries the same rows before and after writes, so that a prefetched row would be wrong. */
static enum err query_around_writes(struct work_item *w, struct tx *tx)
{
    int64_t round = container_of(w, struct test_work, work)->add;

    for (int64_t k = 3; k >= 0; k--)
        assert_int_equal(value_of_pair(tx, k), k ? k * 10 + (k > 1 ? 5 * round : 0) : -1);
    no_error(tx_exec(tx, move_pair, BIND(v_int(2), v_int(5)), NULL));
    assert_int_equal(value_of_pair(tx, 2), 25 + 5 * round);
    assert_int_equal(value_of_pair(tx, 1), 10);
    no_error(tx_exec_deferred(tx, move_pair, BIND(v_int(3), v_int(5))));
    assert_int_equal(value_of_pair(tx, 3), 35 + 5 * round);
    return OK;
}

static void prefetched_rows_match_the_stored_rows(void **state)
{
    enum { ROUNDS = 8 };
    struct fixture *f = *state;

    no_error(store_do(f->store, PAIRS));
    no_error(store_do(f->store, "insert into pairs (k, v) values (1, 10), (2, 20), (3, 30)"));
    for (int64_t i = 0; i < ROUNDS; i++) {
        sem_t finished;
        struct test_work *one = test_works_new(1, &finished);

        one->work.mode = STORE_WRITE;
        one->work.name = "pairs";
        one->work.run = query_around_writes;
        one->add = i;
        store_submit_work_item(f->store, &one->work);
        wait_for(&finished);
        no_error(one->result);
        test_works_free(one, 1);
        sem_destroy(&finished);
    }
    assert_int_equal(store_number(f->store, "select v from pairs where k = 3"), 30 + 5 * ROUNDS);
}

static enum err add_many_soon(struct tx *tx, void *arg)
{
    (void)arg;
    for (int64_t k = 1; k <= 200; k++)
        no_error(tx_exec_deferred(tx, add_pair, BIND(v_int(k), v_int(k))));
    assert_int_equal(value_of_pair(tx, 200), 200);
    no_error(tx_exec_deferred(tx, add_pair, BIND(v_int(201), v_null())));
    return OK;
}

static void pipelined_writes_are_visible_to_later_reads(void **state)
{
    struct fixture *f = *state;

    no_error(store_do(f->store, PAIRS));
    no_error(run_in_one_transaction(f, add_many_soon, NULL));
    assert_int_equal(store_number(f->store, "select count(*) from pairs"), 201);
}

static enum err add_twice(struct tx *tx, void *arg)
{
    const bool *asks = arg;
    struct rows r;
    bool found;

    no_error(tx_exec_deferred(tx, add_pair, BIND(v_int(1), v_int(1))));
    tx_exec_deferred(tx, add_pair, BIND(v_int(1), v_int(2)));
    if (*asks)
        assert_true(tx_one(tx, pair_of, BIND(v_int(1)), &r, &found) != OK);
    return OK;
}

static void failed_pipelined_write_rolls_back_the_transaction(void **state)
{
    struct fixture *f = *state;
    bool asks[] = { false, true };

    no_error(store_do(f->store, PAIRS));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(run_in_one_transaction(f, add_twice, &asks[i]), ERR_STORE_CONFLICT);
        assert_int_equal(store_number(f->store, "select count(*) from pairs"), 0);
    }
    no_error(run_in_one_transaction(f, add_many_soon, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        store_test(extreme_values_are_stored_and_read_back),
        store_test(null_values_are_stored_and_read_as_empty),
        store_test(text_with_a_nul_byte_is_refused),
        store_test(query_rows_come_in_order_and_their_text_stays_valid),
        store_test(borrowed_rows_have_the_stored_values),
        store_test(query_can_run_inside_its_own_row_loop),
        store_test(unfinished_query_does_not_disturb_later_transactions),
        store_test(tx_changes_counts_the_changed_rows),
        store_test(unique_constraint_violation_is_a_conflict_and_aborts_the_transaction),
        store_test(on_conflict_do_nothing_lets_the_transaction_continue),
        store_test(row_without_its_foreign_key_target_is_refused),
        store_test(invalid_sql_is_an_internal_error_and_the_next_query_works),
        store_test(read_transaction_cannot_write),
        store_test(row_helpers_handle_a_missing_row),
        store_test(prefetched_rows_match_the_stored_rows),
        store_test(pipelined_writes_are_visible_to_later_reads),
        store_test(failed_pipelined_write_rolls_back_the_transaction),
    };

    log_init(2, LOG_OFF, 0);
    return run_on_both("store/queries", tests);
}
