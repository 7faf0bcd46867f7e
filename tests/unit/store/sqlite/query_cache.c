/* query_cache.c - tests that a loop reuses the rows of a query until a column that the query
 * read changes. */
#include "unit/unit.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "net/loop.h"
#include "store/result_cache.h"
#include "store/sqlite/sqlite.h"
#include "support/stores.h"
#include "support/test_work.h"
#include "support/test_sql.h"

/* --- queries on a loop ---------------------------------------------------------------- */

static struct store *asked;
static struct loops *loops;

static void on_loop_iteration_end(struct loop *l, void *arg)
{
    (void)arg;
    store_release_snapshot_of_loop_iteration(asked, l);
}

struct question {
    struct test_work *one;
    const char *sql;
    struct value values[2];
    size_t count;
    bool all; /* whether the query reads all rows, not only the first */
    char answer[200];
};
static struct question *now;

static void append_text_of_all_rows(struct question *q, const struct rows *r)
{
    size_t n = strlen(q->answer);

    if (r->row[0].kind == VALUE_TEXT)
        snprintf(q->answer + n, sizeof q->answer - n, "%.*s;", STR_ARGS(row_text(r, 0)));
    else
        snprintf(q->answer + n, sizeof q->answer - n, "%lld;", (long long)row_int(r, 0));
}

static enum err run_question(struct work_item *w, struct tx *tx)
{
    struct rows r;
    bool found;

    (void)w;
    now->answer[0] = 0;
    if (!now->all) {
        no_error(tx_one(tx, test_sql(now->sql), now->values, now->count, &r, &found));
        if (found)
            append_text_of_all_rows(now, &r);
        return OK;
    }
    no_error(tx_query(tx, test_sql(now->sql), now->values, now->count, &r));
    while (rows_next(&r))
        append_text_of_all_rows(now, &r);
    return rows_end(&r);
}

static void submit_query_on_loop(struct loop *l, void *arg)
{
    struct test_work *one = arg;

    one->work.mode = STORE_READ;
    one->work.loop = l;
    one->work.run = run_question;
    store_submit_work_item(asked, &one->work);
}

static uint64_t given(void)
{
    return query_cache_count_hits(((struct sqlite *)asked)->readers[0]->cache);
}

/* Runs the query; returns true if the result came from the cache. */
static bool run_cached_query(struct question *q)
{
    sem_t finished;
    struct test_work *one = test_works_new(1, &finished);
    uint64_t before = ((struct sqlite *)asked)->readers[0] ? given() : 0;

    now = q;
    loop_run_function_and_wait(loops_get_loop_at(loops, 0), submit_query_on_loop, one);
    wait_for(&finished);
    assert_int_equal(one->result, OK);
    test_works_free(one, 1);
    sem_destroy(&finished);
    return given() != before;
}

/* The third query at the latest is answered from the cache. */
static void repeat_query_until_it_is_cached(struct question *q)
{
    for (int i = 0; i < 2; i++)
        run_cached_query(q);
    assert_true(run_cached_query(q));
}

static int open_query_test(void **state)
{
    int failed = fixture_open(state);
    struct fixture *f = *state;

    asked = f->store;
    loops = loops_start(1, on_loop_iteration_end, NULL);
    no_error(store_do(asked, "create table guild_like (id integer primary key, name text, seen "
                             "integer not null default 0)"));
    no_error(store_do(
        asked, "create table part_like (guild_id integer not null references guild_like (id) "
               "on delete cascade, n integer not null, primary key (guild_id, n)) "
               "without rowid"));
    no_error(store_do(asked, "create table note_like (id integer not null)"));
    no_error(store_do(asked, "create trigger noting after update of seen on guild_like begin "
                             "insert into note_like values (new.id); end"));
    no_error(store_do(asked, "insert into guild_like (id, name) values (1, 'one'), (2, 'two')"));
    no_error(store_do(asked, "insert into part_like values (1, 10), (1, 11), (2, 20)"));
    return failed;
}

static int close_query_test(void **state)
{
    loops_stop(loops);
    return fixture_close(state);
}

#define asking_test(f) cmocka_unit_test_setup_teardown(f, open_query_test, close_query_test)

static void change(const char *sql)
{
    no_error(store_do(asked, sql));
}

static struct question name_of(int64_t id)
{
    return (struct question){ .sql = "select name from guild_like where id = $1",
                              .values = { v_int(id) },
                              .count = 1 };
}

static struct question parts_of(int64_t id)
{
    return (struct question){ .sql = "select n from part_like where guild_id = $1 order by n",
                              .values = { v_int(id) },
                              .count = 1,
                              .all = true };
}

/* --- the tests ------------------------------------------------------------------------ */

static void repeated_query_is_answered_from_the_cache(void **state)
{
    struct question q = name_of(1), other = name_of(2), parts = parts_of(1), none = name_of(3);

    (void)state;
    assert_false(run_cached_query(&q));
    assert_string_equal(q.answer, "one;");
    repeat_query_until_it_is_cached(&q);
    assert_string_equal(q.answer, "one;");
    assert_false(run_cached_query(&other));
    assert_string_equal(other.answer, "two;");
    repeat_query_until_it_is_cached(&parts);
    assert_string_equal(parts.answer, "10;11;");
    repeat_query_until_it_is_cached(&none);
    assert_string_equal(none.answer, "");
}

static void first_loop_takes_over_the_connection_of_reads_without_a_loop(void **state)
{
    const struct sqlite *q = (struct sqlite *)asked;
    struct question name = name_of(1);

    (void)state;
    assert_int_equal(store_number(asked, "select count(*) from guild_like"), 2);
    const struct sqlite_conn *first = q->tool;
    assert_non_null(first);
    change("create table later_like (id integer)");
    run_cached_query(&name);
    assert_string_equal(name.answer, "one;");
    assert_ptr_equal(q->readers[0], first);
    assert_int_equal(store_number(asked, "select count(*) from part_like"), 3);
    assert_non_null(q->tool);
    assert_ptr_not_equal(q->tool, first);
}

static void change_of_a_read_column_invalidates_the_cached_query(void **state)
{
    struct question q = name_of(1);

    (void)state;
    repeat_query_until_it_is_cached(&q);
    change("update guild_like set name = 'another' where id = 1");
    assert_false(run_cached_query(&q));
    assert_string_equal(q.answer, "another;");
    repeat_query_until_it_is_cached(&q);
    change("insert into guild_like (id, name) values (4, 'four')");
    assert_false(run_cached_query(&q));
    repeat_query_until_it_is_cached(&q);
    change("delete from guild_like where id = 1");
    assert_false(run_cached_query(&q));
    assert_string_equal(q.answer, "");
}

static void change_of_other_columns_keeps_the_cached_query(void **state)
{
    struct question q = name_of(1);

    (void)state;
    repeat_query_until_it_is_cached(&q);
    change("update guild_like set seen = 5 where id = 1");
    assert_true(run_cached_query(&q));
    change("insert into part_like values (1, 12)");
    assert_true(run_cached_query(&q));
    assert_string_equal(q.answer, "one;");
}

static void cascades_and_triggers_invalidate_cached_queries(void **state)
{
    struct question parts = parts_of(1);
    struct question notes = { .sql = "select count(*) from note_like" };

    (void)state;
    repeat_query_until_it_is_cached(&parts);
    repeat_query_until_it_is_cached(&notes);
    assert_string_equal(notes.answer, "0;");
    change("update guild_like set seen = 6 where id = 2");
    assert_true(run_cached_query(&parts));
    assert_false(run_cached_query(&notes));
    assert_string_equal(notes.answer, "1;");
    change("delete from guild_like where id = 1");
    assert_false(run_cached_query(&parts));
    assert_string_equal(parts.answer, "");
}

/* SQLite prepares cached statements again by itself, so the dependencies are determined again. */
static void schema_changes_invalidate_cached_queries(void **state)
{
    struct question q = name_of(2);
    const char *rename = "update guild_like set seen = seen + 1 where id = 2";

    (void)state;
    change(rename);
    change("create trigger renaming after update of seen on guild_like begin "
           "update guild_like set name = 'renamed ' || new.seen where id = new.id; end");
    repeat_query_until_it_is_cached(&q);
    assert_string_equal(q.answer, "two;");
    change(rename);
    run_cached_query(&q);
    assert_string_equal(q.answer, "renamed 2;");
    repeat_query_until_it_is_cached(&q);
    change(rename);
    assert_false(run_cached_query(&q));
    assert_string_equal(q.answer, "renamed 3;");
}

static enum err rename_and_roll_back(struct tx *tx, void *arg)
{
    (void)arg;
    no_error(tx_exec(tx, "update guild_like set name = 'vain' where id = 1", NO_BIND, NULL));
    return ERR_BAD_REQUEST;
}

static void rolled_back_changes_are_not_cached(void **state)
{
    struct question q = name_of(1);

    (void)state;
    repeat_query_until_it_is_cached(&q);
    store_run_transaction_and_wait(asked, STORE_WRITE, NULL, rename_and_roll_back, NULL);
    run_cached_query(&q);
    assert_string_equal(q.answer, "one;");
    run_cached_query(&q);
    run_cached_query(&q);
    change("update guild_like set name = 'late' where id = 1");
    run_cached_query(&q);
    assert_string_equal(q.answer, "late;");
}

static void changes_of_tables_behind_a_view_invalidate_the_query(void **state)
{
    struct question q = { .sql = "select name from seen_like where id = $1",
                          .values = { v_int(1) },
                          .count = 1 };

    (void)state;
    change("create view seen_like as select id, name from guild_like where seen = 0");
    repeat_query_until_it_is_cached(&q);
    assert_string_equal(q.answer, "one;");
    change("update guild_like set name = 'other' where id = 1");
    assert_false(run_cached_query(&q));
    assert_string_equal(q.answer, "other;");
    repeat_query_until_it_is_cached(&q);
    change("update guild_like set seen = 1 where id = 1");
    assert_false(run_cached_query(&q));
    assert_string_equal(q.answer, "");
}

static void replaced_rows_invalidate_cached_queries(void **state)
{
    struct question name = name_of(1), parts = parts_of(1);

    (void)state;
    repeat_query_until_it_is_cached(&name);
    repeat_query_until_it_is_cached(&parts);
    change("insert or replace into guild_like (id, name) values (1, 'replaced')");
    assert_false(run_cached_query(&name));
    assert_string_equal(name.answer, "replaced;");
    assert_false(run_cached_query(&parts));
    assert_string_equal(parts.answer, "");
    repeat_query_until_it_is_cached(&name);
    change("insert into guild_like (id, name) values (1, 'changed') on conflict (id) do update set "
           "name = excluded.name");
    assert_false(run_cached_query(&name));
    assert_string_equal(name.answer, "changed;");
}

static void on_delete_set_null_invalidates_cached_queries(void **state)
{
    struct question q = { .sql = "select guild_id from owned_like where id = 1" };

    (void)state;
    change(
        "create table owned_like (id integer primary key, guild_id integer references guild_like "
        "(id) on delete set null on update cascade)");
    change("insert into owned_like values (1, 1)");
    repeat_query_until_it_is_cached(&q);
    assert_string_equal(q.answer, "1;");
    change("delete from part_like where guild_id = 1");
    change("update guild_like set id = 5 where id = 1");
    assert_false(run_cached_query(&q));
    assert_string_equal(q.answer, "5;");
    repeat_query_until_it_is_cached(&q);
    change("delete from guild_like where id = 5");
    assert_false(run_cached_query(&q));
    assert_string_equal(q.answer, "0;");
}

/* SQLite's internal statements for the index were prepared before, so no callback reports them.
 * The first query of an index is never cached. */
static void changes_of_a_full_text_index_invalidate_cached_queries(void **state)
{
    struct question first = { .sql = "select count(*) from word_like" };
    struct question q = { .sql = "select rowid from word_like where word_like match $1",
                          .values = { v_text(STR("word")) },
                          .count = 1,
                          .all = true };

    (void)state;
    change("create virtual table word_like using fts5 (words)");
    run_cached_query(&first);
    for (int i = 0; i < 2; i++) {
        change("insert into word_like (rowid, words) values (1, 'a word'), (2, 'two')");
        change("update word_like set words = 'a word again' where rowid = 1");
        change("delete from word_like where rowid = 2");
        repeat_query_until_it_is_cached(&q);
        assert_string_equal(q.answer, "1;");
        change("update word_like set words = 'another' where rowid = 1");
        assert_false(run_cached_query(&q));
        assert_string_equal(q.answer, "");
        repeat_query_until_it_is_cached(&q);
        change("insert into word_like (rowid, words) values (3, 'the word')");
        assert_false(run_cached_query(&q));
        assert_string_equal(q.answer, "3;");
        repeat_query_until_it_is_cached(&q);
        change("delete from word_like where rowid in (1, 3)");
        assert_false(run_cached_query(&q));
        assert_string_equal(q.answer, "");
        assert_true(
            run_cached_query(&q)); /* a hit, so that the next result is cached immediately */
    }
}

/* SQLite does not report the source columns of generated columns. */
static void schema_has_no_generated_columns(void **state)
{
    (void)state;
    assert_int_equal(store_number(asked, "select count(*) from sqlite_schema s, "
                                         "pragma_table_xinfo(s.name) x where x.hidden in (2, 3)"),
                     0);
}

static struct str name_within(struct tx *tx)
{
    struct rows r;
    bool found;

    no_error(tx_one(tx, "select name from guild_like where id = $1", BIND(v_int(1)), &r, &found));
    return found ? row_text(&r, 0) : STR("gone");
}

/* Reads, writes and reads in one transaction, which may be rolled back. */
static enum err rename_within(struct tx *tx, void *arg)
{
    const struct sqlite *q = (const struct sqlite *)asked;
    uint64_t before = query_cache_count_hits(q->writer->cache);
    const enum err *answer = arg;

    for (int i = 0; i < 3; i++)
        assert_true(str_is(name_within(tx), "one"));
    /* After a rollback, results are cached less often. */
    assert_true(query_cache_count_hits(q->writer->cache) > before || *answer == OK);
    no_error(tx_exec(tx, "update guild_like set name = 'new' where id = 1", NO_BIND, NULL));
    for (int i = 0; i < 3; i++)
        assert_true(str_is(name_within(tx), "new"));
    no_error(tx_exec(tx, "delete from guild_like where id = 1", NO_BIND, NULL));
    assert_true(str_is(name_within(tx), "gone"));
    no_error(tx_exec(tx, "insert into guild_like (id, name) values (1, 'back')", NO_BIND, NULL));
    assert_true(str_is(name_within(tx), "back"));
    return *answer;
}

static enum err see_name(struct tx *tx, void *arg)
{
    for (int i = 0; i < 4; i++)
        assert_true(str_is(name_within(tx), arg));
    return OK;
}

static void write_transaction_reads_its_own_changes(void **state)
{
    enum err vain = ERR_BAD_REQUEST, good = OK;
    char one[] = "one", back[] = "back";

    (void)state;
    assert_int_equal(store_run_transaction_and_wait(asked, STORE_WRITE, NULL, rename_within, &vain),
                     vain);
    no_error(store_run_transaction_and_wait(asked, STORE_WRITE, NULL, see_name, one));
    no_error(store_run_transaction_and_wait(asked, STORE_WRITE, NULL, rename_within, &good));
    no_error(store_run_transaction_and_wait(asked, STORE_WRITE, NULL, see_name, back));
}

static enum err see_one(struct work_item *w, struct tx *tx)
{
    (void)w;
    for (int i = 0; i < 3; i++)
        assert_true(str_is(name_within(tx), "one"));
    return OK;
}

static enum err rename_and_fail(struct work_item *w, struct tx *tx)
{
    struct test_work *o = container_of(w, struct test_work, work);

    see_one(w, tx);
    no_error(tx_exec(tx, "update guild_like set name = 'vain' where id = 1", NO_BIND, NULL));
    for (int i = 0; i < 3; i++)
        assert_true(str_is(name_within(tx), "vain"));
    return o->answer;
}

static void rolled_back_change_is_invisible_to_the_next_transaction(void **state)
{
    struct fixture *f = *state;
    sem_t finished;
    struct test_work *ones = test_works_new(4, &finished);

    for (int i = 0; i < 4; i++) {
        ones[i].work.run = i % 2 ? rename_and_fail : see_one;
        ones[i].answer = ERR_FORBIDDEN;
    }
    for (int round = 0; round < 3; round++) {
        run_as_batch(f, ones, 4, &finished);
        for (int i = 0; i < 4; i++)
            assert_int_equal(ones[i].result, i % 2 ? ERR_FORBIDDEN : OK);
    }
    test_works_free(ones, 4);
    sem_destroy(&finished);
}

static void query_cache_distinguishes_parameter_values(void **state)
{
    static const char sql[] = "select id from guild_like where name = $1 or id = $2";
    struct question text = { .sql = sql, .values = { v_text(STR("one")), v_null() }, .count = 2 };
    struct question number = { .sql = sql, .values = { v_text(STR("on")), v_int(2) }, .count = 2 };
    struct question both = number;

    (void)state;
    both.values[0] = v_text(STR("one"));
    both.all = true;
    for (int i = 0; i < 4; i++) {
        assert_int_equal(run_cached_query(&text), i >= 2);
        assert_int_equal(run_cached_query(&number), i >= 2);
        assert_int_equal(run_cached_query(&both), i >= 2);
        assert_string_equal(text.answer, "1;");
        assert_string_equal(number.answer, "2;");
        assert_string_equal(both.answer, "1;2;");
    }
}

static void random_time_and_pragma_queries_are_not_cached(void **state)
{
    struct question q = { .sql = "select random() from guild_like where id = 1" };
    struct question now_is = { .sql = "select current_timestamp from guild_like where id = 1" };
    struct question run = { .sql = "pragma query_only" };
    struct question bytes = { .sql = "select id from guild_like where cast($1 as blob) is not null",
                              .values = { v_bytes(STR("x")) },
                              .count = 1 };

    (void)state;
    for (int i = 0; i < 4; i++) {
        assert_false(run_cached_query(&q));
        assert_false(run_cached_query(&now_is));
        assert_false(run_cached_query(&bytes));
        assert_false(run_cached_query(&run));
    }
}

static void frequently_invalidated_queries_are_cached_less_often(void **state)
{
    struct question q = name_of(1);

    (void)state;
    run_cached_query(&q);
    run_cached_query(&q); /* cached from here on */
    change("update guild_like set name = 'a' where id = 1");
    for (int i = 0; i < 3; i++)
        assert_false(
            run_cached_query(&q)); /* two misses, and the one that caches the result again */
    assert_true(run_cached_query(&q));
    assert_string_equal(q.answer, "a;");
    change("update guild_like set name = 'b' where id = 1");
    assert_false(run_cached_query(&q));
    assert_true(run_cached_query(&q)); /* after a hit the result is cached immediately */
    assert_string_equal(q.answer, "b;");
}

/* --- all caches at once ---------------------------------------------------------------- */

enum { FIRST_ID = 1, LAST_ID = 4, STEPS = 600 };

/* The result of a read, with or without all caches. */
struct view {
    struct test_work *one;
    bool fresh;
    char text[1000];
    unsigned runs;
};
static struct view *viewed;

static const char *user_name(struct tx *tx, int64_t id, bool fresh)
{
    static const char what[] = "test user";
    struct result_cache_key key = { what, { (uint64_t)id } };
    const char *found = fresh ? NULL : result_cache_find(tx, &key);
    struct rows r;
    bool is_there;

    if (found)
        return found;
    struct result_cache_entry *retained = fresh ? NULL : result_cache_begin_entry(tx, &key, 1);
    no_error(
        tx_one(tx, "select username from users where id = $1", BIND(v_int(id)), &r, &is_there));
    struct str name = is_there ? row_text(&r, 0) : STR("none");
    if (!retained)
        return str_dup_cstring(tx_arena(tx), name);
    result_cache_add_dependency(retained, VERSIONED_USERS, (snowflake)id);
    found = str_dup_cstring(result_cache_get_entry_arena(retained), name);
    result_cache_end_entry(retained, found);
    return found;
}

static void read_parts(struct tx *tx, struct arena *arena, int64_t id, struct buf *out)
{
    struct arena *before = tx_replace_arena(tx, arena);
    struct rows r;

    no_error(tx_query(tx,
                      "select g.name, p.n from guild_like g join part_like p on "
                      "p.guild_id = g.id where g.id = $1 order by p.n",
                      BIND(v_int(id)), &r));
    while (rows_next(&r))
        buf_printf(out, "%.*s %lld,", STR_ARGS(row_text(&r, 0)), (long long)row_int(&r, 1));
    no_error(rows_end(&r));
    tx_replace_arena(tx, before);
}

static const char *guild_text(struct tx *tx, int64_t id, bool fresh)
{
    static const char what[] = "test guild";
    struct result_cache_key key = { what, { (uint64_t)id } };
    const char *found = fresh ? NULL : result_cache_find(tx, &key);
    struct result_cache_entry *retained =
        found || fresh ? NULL : result_cache_begin_entry_tracking_queries(tx, &key);
    struct arena *arena = retained ? result_cache_get_entry_arena(retained) : tx_arena(tx);
    struct buf out;

    if (found)
        return found;
    buf_init(&out, sizeof viewed->text);
    read_parts(tx, arena, id, &out);
    found = str_dup_cstring(arena, buf_as_str(&out));
    buf_clear(&out);
    if (retained)
        result_cache_end_entry_tracking_queries(retained, found, false);
    return found;
}

static long long count_parts(struct tx *tx, int64_t id)
{
    struct rows r;
    bool found;

    no_error(tx_one(tx, "select count(*) from part_like where guild_id = $1", BIND(v_int(id)), &r,
                    &found));
    return row_int(&r, 0);
}

static void read_all_rows_with_and_without_cache(struct tx *tx, struct view *v)
{
    size_t n = 0;

    for (int64_t id = FIRST_ID; id <= LAST_ID; id++)
        n += (size_t)snprintf(v->text + n, sizeof v->text - n, "%s/%s/%lld;",
                              user_name(tx, id, v->fresh), guild_text(tx, id, v->fresh),
                              count_parts(tx, id));
}

static enum err run_view(struct work_item *w, struct tx *tx)
{
    (void)w;
    read_all_rows_with_and_without_cache(tx, viewed);
    return OK;
}

static enum err run_fresh(struct tx *tx, void *arg)
{
    read_all_rows_with_and_without_cache(tx, arg);
    return OK;
}

static void submit_view(struct loop *l, void *arg)
{
    struct test_work *one = arg;

    one->work.mode = STORE_READ;
    one->work.loop = l;
    store_submit_work_item(asked, &one->work);
}

static void read_view_on_loop_thread(struct view *v,
                                     enum err (*run)(struct work_item *w, struct tx *tx))
{
    sem_t finished;
    struct test_work *one = test_works_new(1, &finished);

    viewed = v;
    one->work.run = run;
    loop_run_function_and_wait(loops_get_loop_at(loops, 0), submit_view, one);
    wait_for(&finished);
    assert_int_equal(one->result, OK);
    test_works_free(one, 1);
    sem_destroy(&finished);
}

/* Statements are cached by the address of their text, so the text stays in the arena. */
static void change_random_row_of_cached_tables(struct arena *arena, unsigned *seed)
{
    static const char *const changes[] = {
        "insert into users (id, username) values (%1$d, 'u%1$d x%2$d') on conflict (id) do update "
        "set username = excluded.username",
        "delete from users where id = %d and %d > 0",
        "insert into guild_like (id, name) values (%d, 'g%d') on conflict (id) do update set name "
        "= excluded.name",
        "delete from guild_like where id = %d and %d > 0",
        "insert or ignore into part_like select id, %2$d %% 5 from guild_like where id = %1$d",
        "delete from part_like where guild_id = %d and n <= %d %% 5",
        "update guild_like set seen = %2$d where id = %1$d",
    };
    const char *sql = changes[rand_r(seed) % COUNT_OF(changes)];
    char text[300];

    snprintf(text, sizeof text, sql, FIRST_ID + rand_r(seed) % LAST_ID, 1 + rand_r(seed) % 100);
    change(str_dup_cstring(arena, str_of(text)));
}

/* Compares cached rows, results by rows and results by columns after random writes. */
static void cached_and_fresh_reads_agree(void **state)
{
    struct view cached = { 0 }, fresh = { .fresh = true };
    struct arena *arena = arena_new();
    unsigned seed = 7;
    uint64_t before = 0;

    (void)state;
    for (int i = 0; i < STEPS; i++) {
        for (unsigned n = rand_r(&seed) % 3; n; n--)
            change_random_row_of_cached_tables(arena, &seed);
        read_view_on_loop_thread(&cached, run_view);
        no_error(store_run_transaction_and_wait(asked, STORE_READ, arena, run_fresh, &fresh));
        assert_string_equal(cached.text, fresh.text);
        before = before ? before : given() + 1;
    }
    assert_true(given() > before);
    arena_free(arena);
}

static void *rename_user(void *arg)
{
    (void)arg;
    change("update users set username = 'later' where id = 1");
    return NULL;
}

/* The name comes from the cache before SQLite has a snapshot; then it changes. */
static enum err read_around_commit(struct work_item *w, struct tx *tx)
{
    pthread_t thread;
    struct rows r;
    bool found;

    (void)w;
    snprintf(viewed->text, sizeof viewed->text, "%s/", user_name(tx, 1, false));
    if (viewed->runs++ == 0) {
        pthread_create(&thread, NULL, rename_user, NULL);
        pthread_join(thread, NULL);
    }
    enum err e = tx_one(tx, "select username from users where id = 1", NO_BIND, &r, &found);
    if (!e)
        snprintf(viewed->text + strlen(viewed->text), 100, "%.*s", STR_ARGS(row_text(&r, 0)));
    return e;
}

static void read_restarts_if_a_commit_follows_its_cached_rows(void **state)
{
    struct view v = { 0 }, first = { 0 };

    (void)state;
    change("insert into users (id, username) values (1, 'early')");
    read_view_on_loop_thread(&first, run_view);
    read_view_on_loop_thread(&v, read_around_commit);
    assert_int_equal(v.runs, 2);
    assert_string_equal(v.text, "later/later");
    read_view_on_loop_thread(&v, read_around_commit);
    assert_int_equal(v.runs, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        asking_test(repeated_query_is_answered_from_the_cache),
        asking_test(first_loop_takes_over_the_connection_of_reads_without_a_loop),
        asking_test(change_of_a_read_column_invalidates_the_cached_query),
        asking_test(change_of_other_columns_keeps_the_cached_query),
        asking_test(cascades_and_triggers_invalidate_cached_queries),
        asking_test(schema_changes_invalidate_cached_queries),
        asking_test(changes_of_tables_behind_a_view_invalidate_the_query),
        asking_test(replaced_rows_invalidate_cached_queries),
        asking_test(on_delete_set_null_invalidates_cached_queries),
        asking_test(changes_of_a_full_text_index_invalidate_cached_queries),
        asking_test(schema_has_no_generated_columns),
        asking_test(rolled_back_changes_are_not_cached),
        asking_test(write_transaction_reads_its_own_changes),
        asking_test(rolled_back_change_is_invisible_to_the_next_transaction),
        asking_test(query_cache_distinguishes_parameter_values),
        asking_test(random_time_and_pragma_queries_are_not_cached),
        asking_test(frequently_invalidated_queries_are_cached_less_often),
        asking_test(cached_and_fresh_reads_agree),
        asking_test(read_restarts_if_a_commit_follows_its_cached_rows),
    };

    log_init(2, LOG_OFF, 0);
    return run_on_sqlite("store/query_cache", tests);
}
