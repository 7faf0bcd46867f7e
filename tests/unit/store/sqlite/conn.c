/* conn.c - tests a connection with more statements than its cache holds. */
#include "unit/unit.h"

#include <stdio.h>

#include "base/log.h"
#include "support/stores.h"
#include "support/test_work.h"
#include "support/test_sql.h"

enum { MANY = 600 };
static char many_sql[MANY][40];

/* The cache overflows while a cursor is open on one of its statements. */
static enum err run_many_queries(struct tx *tx, void *arg)
{
    struct rows outer, r;
    bool found;

    (void)arg;
    no_error(tx_query(tx, "select 1 union select 2 order by 1", NO_BIND, &outer));
    assert_true(rows_next(&outer));
    for (int i = 0; i < MANY; i++) {
        no_error(tx_one(tx, test_sql(many_sql[i]), NO_BIND, &r, &found));
        assert_int_equal(row_int(&r, 0), i);
    }
    assert_true(rows_next(&outer));
    assert_int_equal(row_int(&outer, 0), 2);
    return rows_end(&outer);
}

static void more_queries_than_the_statement_cache_holds_work(void **state)
{
    struct fixture *f = *state;

    for (int i = 0; i < MANY; i++)
        snprintf(many_sql[i], sizeof many_sql[i], "select %d", i);
    for (int round = 0; round < 2; round++)
        no_error(
            store_run_transaction_and_wait(f->store, STORE_READ, NULL, run_many_queries, NULL));
    no_error(store_run_transaction_and_wait(f->store, STORE_WRITE, NULL, run_many_queries, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        store_test(more_queries_than_the_statement_cache_holds_work),
    };

    log_init(2, LOG_OFF, 0);
    return run_on_sqlite("store/sqlite_conn", tests);
}
