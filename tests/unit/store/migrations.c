/* migrations.c - a database is brought up to date once, and never touched
 * by a program that does not know it. */
#include "unit/unit.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "store/migrations.h"
#include "support/postgres.h"
#include "support/stores.h"
#include "support/test_work.h"

static int known(void)
{
    int count = 0;

    while (migrations[count].number)
        count++;
    return count;
}

static void reopen(struct fixture *f, enum err expected)
{
    store_close(f->store);
    f->store = NULL;
    assert_int_equal(store_open(&f->options, &f->store), expected);
}

static void the_numbers_of_steps_rise(void **state)
{
    (void)state;
    assert_true(known() > 0);
    for (int i = 1; i < known(); i++)
        assert_true(migrations[i].number > migrations[i - 1].number);
}

static void an_empty_database_gets_every_step_once(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(store_number(f->store, "select count(*) from migrations"), known());
    int64_t when = store_number(f->store, "select sum(applied_at) from migrations");
    no_error(store_do(f->store, "insert into users (id, username) values (1, 'ada')"));
    reopen(f, OK);
    assert_int_equal(store_number(f->store, "select count(*) from migrations"), known());
    assert_true(store_number(f->store, "select sum(applied_at) from migrations") == when);
    assert_int_equal(store_number(f->store, "select count(*) from users"), 1);
}

static void each_engine_gets_its_own_parts(void **state)
{
    struct fixture *f = *state;
    const char *words =
        f->postgres ? "select count(*) from pg_indexes where indexname = 'gif_index_words' "
                      "and schemaname = current_schema()"
                    : "select count(*) from sqlite_master where sql like '%gif_index using fts5%'";

    assert_int_equal(store_number(f->store, words), 1);
    assert_int_equal(store_number(f->store, "select count(*) from gif_index"), 0);
}

static const char *step_text(int number)
{
    for (const struct migration *m = migrations; m->number; m++)
        if (m->number == number)
            return m->sql;
    fail();
    return NULL;
}

/* Step 86, on rows of a version before: only codes of invites that give roles go. */
static void codes_that_give_roles_leave_the_audit_log(void **state)
{
    static const char *const rows[] = {
        "insert into users (id, username) values (1, 'ada')",
        "insert into guilds (id, name, owner_id) values (2, 'g', 1)",
        "insert into invites (code, type, guild_id, created_at, max_age, max_uses, role_ids) "
        "values ('Roles123', 0, 2, 0, 0, 0, '[\"5\"]'), ('Plain123', 0, 2, 0, 0, 0, null)",
        "insert into audit_log (id, guild_id, action, changes) values "
        "(1, 2, 40, '[{\"key\":\"code\",\"new_value\":\"Roles123\"}]'), "
        "(2, 2, 40, '[{\"key\":\"code\",\"new_value\":\"Plain123\"}]')",
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        no_error(store_do(f->store, rows[i]));
    no_error(store_do(f->store, step_text(86)));
    assert_int_equal(store_number(f->store, "select count(*) from audit_log where changes = "
                                            "'[{\"key\":\"code\",\"new_value\":null}]'"),
                     1);
    assert_int_equal(
        store_number(f->store, "select count(*) from audit_log where changes like '%Plain123%'"),
        1);
}

static void a_newer_database_is_refused(void **state)
{
    struct fixture *f = *state;

    no_error(store_do(f->store, "insert into migrations values (9999, '9999-later', 0, 'x')"));
    reopen(f, ERR_UNAVAILABLE);
}

static void a_newer_database_is_fine_where_the_newer_program_says_so(void **state)
{
    struct fixture *f = *state;

    /* In this order: a worker that connects after the step alone is there refuses the database. */
    no_error(store_do(f->store, "insert into expanded_steps values (9999)"));
    no_error(store_do(f->store, "insert into migrations values (9999, '9999-later', 0, 'x')"));
    reopen(f, OK);
    no_error(store_do(f->store, "insert into migrations values (10000, '10000-last', 0, 'x')"));
    reopen(f, ERR_UNAVAILABLE);
}

static void a_step_with_another_text_is_refused(void **state)
{
    struct fixture *f = *state;

    no_error(store_do(f->store, "update migrations set digest = 'x' where number = 1"));
    reopen(f, ERR_UNAVAILABLE);
}

/* Digests that databases of earlier programs have: lines for scripts/check-tables do not count. */
static void lines_about_owners_do_not_change_a_digest(void **state)
{
    static const char *const known_digests[] = {
        "select count(*) from migrations where number = 2 and digest = 'bd018837124ef1e53330bea445f355c2'",
        "select count(*) from migrations where number = 35 and digest = '6ca01f6e9336db104ec77f82897ede22'",
        "select count(*) from migrations where number = 96 and digest = 'ccf418d9fd6342a4d69e7da39ef51dcf'",
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof known_digests / sizeof *known_digests; i++)
        assert_int_equal(store_number(f->store, known_digests[i]), 1);
    assert_null(strstr(step_text(35), "-- owner:"));
}

static void *open_in_thread(void *arg)
{
    struct fixture *f = arg;
    struct store *s = NULL;

    /* Each wants to be alone, so one that meets another is refused after a while: it comes again,
     * as one does whom a service manager starts. */
    for (int tries = 0; tries < 100; tries++) {
        if (store_open(&f->options, &s) == OK) {
            store_close(s);
            return f;
        }
        usleep(50 * 1000);
    }
    return NULL;
}

static void nodes_that_start_together_migrate_once(void **state)
{
    enum { NODES = 4 };
    struct fixture *f = *state;
    pthread_t threads[NODES];
    void *opened;

    if (!f->postgres)
        return; /* an SQLite folder has one process */
    store_close(f->store);
    f->store = NULL;
    test_postgres_do(f->postgres, "do $$ declare s text := current_schema(); begin "
                                  "execute 'drop schema ' || s || ' cascade'; "
                                  "execute 'create schema ' || s; end $$");
    for (int i = 0; i < NODES; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, open_in_thread, f), 0);
    for (int i = 0; i < NODES; i++) {
        pthread_join(threads[i], &opened);
        assert_non_null(opened);
    }
    no_error(store_open(&f->options, &f->store));
    assert_int_equal(store_number(f->store, "select count(*) from migrations"), known());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_numbers_of_steps_rise),
        store_test(an_empty_database_gets_every_step_once),
        store_test(each_engine_gets_its_own_parts),
        store_test(codes_that_give_roles_leave_the_audit_log),
        store_test(a_newer_database_is_refused),
        store_test(a_newer_database_is_fine_where_the_newer_program_says_so),
        store_test(a_step_with_another_text_is_refused),
        store_test(lines_about_owners_do_not_change_a_digest),
        store_test(nodes_that_start_together_migrate_once),
    };

    log_init(2, LOG_OFF, 0);
    return run_on_both("store/migrations", tests);
}
