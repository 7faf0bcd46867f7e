/* migrations.c - tests that migrations are applied once, and that unknown databases are refused. */
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

static void migration_numbers_rise(void **state)
{
    (void)state;
    assert_true(known() > 0);
    for (int i = 1; i < known(); i++)
        assert_true(migrations[i].number > migrations[i - 1].number);
}

static void empty_database_gets_every_migration_once(void **state)
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

static void migrations_create_the_search_index_of_each_engine(void **state)
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

static void migration_86_removes_role_invite_codes_from_the_audit_log(void **state)
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

static void database_with_unknown_migrations_is_refused(void **state)
{
    struct fixture *f = *state;

    no_error(store_do(f->store, "insert into migrations values (9999, '9999-later', 0, 'x')"));
    reopen(f, ERR_UNAVAILABLE);
}

static void database_with_newer_compatible_migrations_is_accepted(void **state)
{
    struct fixture *f = *state;

    /* The order matters: a worker that connects when only the migration row exists refuses the
     * database. */
    no_error(store_do(f->store, "insert into expanded_steps values (9999)"));
    no_error(store_do(f->store, "insert into migrations values (9999, '9999-later', 0, 'x')"));
    reopen(f, OK);
    no_error(store_do(f->store, "insert into migrations values (10000, '10000-last', 0, 'x')"));
    reopen(f, ERR_UNAVAILABLE);
}

static void database_with_a_changed_migration_is_refused(void **state)
{
    struct fixture *f = *state;

    no_error(store_do(f->store, "update migrations set digest = 'x' where number = 1"));
    reopen(f, ERR_UNAVAILABLE);
}

/* Digests in databases of older versions: comment lines for scripts/check-tables do not count. */
static void owner_comments_do_not_change_a_migration_digest(void **state)
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

    /* Each node needs exclusive access, so a node that meets another is refused and retries, as
     * under a service manager. */
    for (int tries = 0; tries < 100; tries++) {
        if (store_open(&f->options, &s) == OK) {
            store_close(s);
            return f;
        }
        usleep(50 * 1000);
    }
    return NULL;
}

static void nodes_that_start_together_apply_migrations_once(void **state)
{
    enum { NODES = 4 };
    struct fixture *f = *state;
    pthread_t threads[NODES];
    void *opened;

    if (!f->postgres)
        return; /* an SQLite folder belongs to one process */
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
        cmocka_unit_test(migration_numbers_rise),
        store_test(empty_database_gets_every_migration_once),
        store_test(migrations_create_the_search_index_of_each_engine),
        store_test(migration_86_removes_role_invite_codes_from_the_audit_log),
        store_test(database_with_unknown_migrations_is_refused),
        store_test(database_with_newer_compatible_migrations_is_accepted),
        store_test(database_with_a_changed_migration_is_refused),
        store_test(owner_comments_do_not_change_a_migration_digest),
        store_test(nodes_that_start_together_apply_migrations_once),
    };

    log_init(2, LOG_OFF, 0);
    return run_on_both("store/migrations", tests);
}
