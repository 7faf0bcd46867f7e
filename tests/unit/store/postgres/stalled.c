/* stalled.c - tests a database behind a Unix socket that stops reading. Tests
 * src/store/postgres/conn.c and src/store/postgres/worker.c. */
#include "unit/unit.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "support/postgres.h"
#include "support/stalling.h"
#include "support/stores.h"
#include "support/test_work.h"

enum { LONG = 8 * 1024 * 1024, LONGEST_S = 60 };

static bool stalls; /* the database stops after the begin of the transaction */

static enum err count_characters_of_text(struct tx *tx, void *arg)
{
    struct str *text = arg;
    struct rows row;
    bool found;
    enum err e = tx_one(tx, "select 1", NO_BIND, &row, &found);

    if (e)
        return e;
    stalling_set(stalls);
    return tx_one(tx, "select length(cast($1 as text))", BIND(v_text(*text)), &row, &found);
}

/* More bytes than the socket buffer holds, so sending blocks. */
static void sending_to_a_stalled_database_times_out(void **state)
{
    struct fixture *f = *state;
    char where[600];
    struct str text = { mem_new(LONG), LONG };

    memset((char *)(uintptr_t)text.p, 'x', LONG);
    store_close(f->store);
    snprintf(where, sizeof where, "%s host=%s", f->postgres, stalling_start());
    f->options.postgres = where;
    no_error(store_open(&f->options, &f->store));
    no_error(store_run_transaction_and_wait(f->store, STORE_WRITE, NULL, count_characters_of_text,
                                            &text));
    stalls = true;
    int64_t began = clock_monotonic_ns();
    assert_int_equal(store_run_transaction_and_wait(f->store, STORE_WRITE, NULL,
                                                    count_characters_of_text, &text),
                     ERR_UNAVAILABLE);
    assert_in_range((clock_monotonic_ns() - began) / 1000000000, 0, LONGEST_S);
    stalls = false;
    stalling_set(false);
    no_error(store_run_transaction_and_wait(f->store, STORE_WRITE, NULL, count_characters_of_text,
                                            &text));
    store_close(f->store);
    f->store = NULL;
    stalling_end();
    mem_free((char *)(uintptr_t)text.p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        store_test(sending_to_a_stalled_database_times_out),
    };

    log_init(2, LOG_OFF, 0);
    return run_on_postgres("store/postgres_stalled", tests);
}
