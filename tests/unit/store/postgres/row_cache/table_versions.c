/* table_versions.c - tests which queries may be cached, and until when. */
#include "unit/unit.h"

#include <stdio.h>

#include "store/postgres/row_cache/table_versions.h"

static void add(struct table_versions *v, const char *name, bool is_cacheable, unsigned written)
{
    struct versioned_table *t = &v->tables[v->count++];

    snprintf(t->name, sizeof t->name, "%s", name);
    t->is_cacheable = is_cacheable;
    t->written.bits[0] = written;
}

enum { USERS = 1, MEMBERS = 2, LOG = 4 };

/* Rows of members are deleted with their user. */
static struct table_versions *three_tables(void)
{
    static struct table_versions v;

    v = (struct table_versions){ 0 };
    table_versions_init(&v);
    add(&v, "users", true, USERS | MEMBERS);
    add(&v, "members", true, MEMBERS);
    add(&v, "log", false, LOG);
    return &v;
}

static void only_queries_of_rows_and_parameters_are_cacheable(void **state)
{
    static const struct {
        const char *sql;
        bool is_cacheable;
        unsigned reads, writes;
    } cases[] = {
        { "select name from users where id = $1", true, USERS, 0 },
        { "select coalesce(max(id), 0) from users where id in (select id from members)", true,
          USERS | MEMBERS, 0 },
        { "select 'now()' from users", true, USERS, 0 },
        { "select 1", false, 0, 0 },
        { "select id from users where seen < now()", false, USERS, 0 },
        { "select id from users where seen < current_timestamp", false, USERS, 0 },
        { "select id from users order by random ()", false, USERS, 0 },
        { "select id from users, pg_locks", false, USERS, 0 },
        { "select position from log", false, LOG, 0 },
        { "select users_of_members(id) from users", false, USERS, 0 },
        { "delete from users where id = $1", false, USERS, USERS | MEMBERS },
        { "insert into members select id from users", false, USERS | MEMBERS, USERS | MEMBERS },
        { "with gone as (delete from members returning id) select id from gone", false, MEMBERS,
          MEMBERS },
    };
    struct table_versions *v = three_tables();

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct statement_tables *s = table_versions_find_statement(v, cases[i].sql);

        print_message("%s\n", cases[i].sql);
        assert_int_equal(s->is_cacheable, cases[i].is_cacheable);
        assert_int_equal(s->reads.bits[0], cases[i].reads);
        assert_int_equal(s->writes.bits[0], cases[i].writes);
    }
    table_versions_clear(v);
}

static void rows_are_not_used_during_and_after_a_commit(void **state)
{
    struct table_versions *v = three_tables();
    const struct table_set users = { { USERS } }, members = { { MEMBERS } };
    uint64_t before = v->clock;

    (void)state;
    assert_true(table_versions_are_unchanged(v, &users, before));
    table_versions_begin_commit(v, &users);
    assert_false(table_versions_are_unchanged(v, &users, v->clock));
    assert_true(table_versions_are_unchanged(v, &members, before));
    table_versions_end_commit(v, &users);
    assert_false(table_versions_are_unchanged(v, &users, before));
    assert_true(table_versions_are_unchanged(v, &users, v->clock));
    assert_true(table_versions_are_unchanged(v, &members, before));
    table_versions_clear(v);
}

/* If the answer to one COMMIT is lost, table_versions_end_commit is not called for it. */
static void rows_are_not_used_while_one_of_two_commits_runs(void **state)
{
    struct table_versions *v = three_tables();
    const struct table_set users = { { USERS } };

    (void)state;
    table_versions_begin_commit(v, &users);
    table_versions_begin_commit(v, &users);
    table_versions_end_commit(v, &users);
    assert_false(table_versions_are_unchanged(v, &users, v->clock));
    table_versions_end_commit(v, &users);
    assert_true(table_versions_are_unchanged(v, &users, v->clock));
    table_versions_clear(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_queries_of_rows_and_parameters_are_cacheable),
        cmocka_unit_test(rows_are_not_used_during_and_after_a_commit),
        cmocka_unit_test(rows_are_not_used_while_one_of_two_commits_runs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
