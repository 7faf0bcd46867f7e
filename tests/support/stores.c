/* stores.c - opens an empty store for each test. */
#include "support/stores.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "support/postgres.h"
#include "support/sqlite.h"
#include "test_sql.h"

static bool use_postgres;

bool fixture_choose(bool postgres)
{
    use_postgres = postgres;
    return !postgres || test_postgres_there();
}

int fixture_open(void **state)
{
    struct fixture *f = mem_new(sizeof *f);
    const char *parent = getenv("TMPDIR");

    snprintf(f->folder, sizeof f->folder, "%s/guildhall-store.XXXXXX",
             parent && *parent ? parent : "/tmp");
    if (!mkdtemp(f->folder))
        return -1;
    if (use_postgres)
        f->postgres = test_postgres_copy();
    else if (!test_sqlite_put(f->folder))
        return -1;
    f->options = (struct store_options){
        .folder = f->folder,
        .postgres = f->postgres,
        .serves = true,
        .workers = 4,
        .readers = 2,
    };
    *state = f;
    return store_open(&f->options, &f->store) ? -1 : 0;
}

int fixture_close(void **state)
{
    struct fixture *f = *state;
    char command[128];

    store_close(f->store);
    test_postgres_drop(f->postgres);
    snprintf(command, sizeof command, "rm -rf '%s'", f->folder);
    int result = system(command);
    mem_free(f);
    return result;
}

int fixture_end(int failed)
{
    test_postgres_drop_model();
    test_sqlite_end();
    return failed;
}

static enum err run_do(struct tx *tx, void *arg)
{
    return tx_exec(tx, test_sql(arg), NO_BIND, NULL);
}

enum err store_do(struct store *s, const char *sql)
{
    return store_run_transaction_and_wait(s, STORE_WRITE, NULL, run_do, (void *)(uintptr_t)sql);
}

struct number {
    const char *sql;
    int64_t n;
};

static enum err run_number(struct tx *tx, void *arg)
{
    struct number *number = arg;
    struct rows r;
    bool found = false;
    enum err e = tx_one(tx, test_sql(number->sql), NO_BIND, &r, &found);

    if (!e && !found)
        return ERR_NOT_FOUND;
    if (!e)
        number->n = row_int(&r, 0);
    return e;
}

int64_t store_number(struct store *s, const char *sql)
{
    struct number number = { .sql = sql };

    assert_int_equal(store_run_transaction_and_wait(s, STORE_READ, NULL, run_number, &number), OK);
    return number.n;
}
