/* query_cache.c - a loop reuses the rows of a query until a column that it read changes. */
#include "unit/unit.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "net/loop.h"
#include "store/kept.h"
#include "store/sqlite/sqlite.h"
#include "support/stores.h"
#include "support/test_work.h"
#include "support/test_sql.h"

/* --- a loop that asks ----------------------------------------------------------------- */

static struct store *asked;
static struct loops *loops;

static void end_turn(struct loop *l, void *arg)
{
    (void)arg;
    store_turn_end(asked, l);
}

struct question {
    struct test_work *one;
    const char *sql;
    struct value values[2];
    size_t count;
    bool all; /* rows, not only the first */
    char answer[200];
};
static struct question *now;

static void note_row(struct question *q, const struct rows *r)
{
    size_t n = strlen(q->answer);

    if (r->row[0].kind == VALUE_TEXT)
        snprintf(q->answer + n, sizeof q->answer - n, "%.*s;", STR_FMT(row_text(r, 0)));
    else
        snprintf(q->answer + n, sizeof q->answer - n, "%lld;", (long long)row_int(r, 0));
}

static enum err run_question(struct work *w, struct tx *tx)
{
    struct rows r;
    bool found;

    (void)w;
    now->answer[0] = 0;
    if (!now->all) {
        no_error(tx_one(tx, test_sql(now->sql), now->values, now->count, &r, &found));
        if (found)
            note_row(now, &r);
        return OK;
    }
    no_error(tx_query(tx, test_sql(now->sql), now->values, now->count, &r));
    while (rows_next(&r))
        note_row(now, &r);
    return rows_end(&r);
}

static void submit_question(struct loop *l, void *arg)
{
    struct test_work *one = arg;

    one->work.mode = STORE_READ;
    one->work.loop = l;
    one->work.run = run_question;
    store_submit(asked, &one->work);
}

static uint64_t given(void)
{
    return query_cache_hits(((struct sqlite *)asked)->readers[0]->cache);
}

/* True: from memory. */
static bool ask(struct question *q)
{
    sem_t finished;
    struct test_work *one = test_works_new(1, &finished);
    uint64_t before = ((struct sqlite *)asked)->readers[0] ? given() : 0;

    now = q;
    loop_call(loops_at(loops, 0), submit_question, one);
    wait_for(&finished);
    assert_int_equal(one->result, OK);
    test_works_free(one, 1);
    sem_destroy(&finished);
    return given() != before;
}

/* The third time at the latest it is from memory. */
static void ask_until_kept(struct question *q)
{
    for (int i = 0; i < 2; i++)
        ask(q);
    assert_true(ask(q));
}

static int begin_asking(void **state)
{
    int failed = fixture_open(state);
    struct fixture *f = *state;

    asked = f->store;
    loops = loops_start(1, end_turn, NULL);
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

static int end_asking(void **state)
{
    loops_stop(loops);
    return fixture_close(state);
}

#define asking_test(f) cmocka_unit_test_setup_teardown(f, begin_asking, end_asking)

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

static void what_was_asked_before_comes_from_memory(void **state)
{
    struct question q = name_of(1), other = name_of(2), parts = parts_of(1), none = name_of(3);

    (void)state;
    assert_false(ask(&q));
    assert_string_equal(q.answer, "one;");
    ask_until_kept(&q);
    assert_string_equal(q.answer, "one;");
    assert_false(ask(&other));
    assert_string_equal(other.answer, "two;");
    ask_until_kept(&parts);
    assert_string_equal(parts.answer, "10;11;");
    ask_until_kept(&none);
    assert_string_equal(none.answer, "");
}

static void a_column_that_was_read_makes_it_forgotten(void **state)
{
    struct question q = name_of(1);

    (void)state;
    ask_until_kept(&q);
    change("update guild_like set name = 'another' where id = 1");
    assert_false(ask(&q));
    assert_string_equal(q.answer, "another;");
    ask_until_kept(&q);
    change("insert into guild_like (id, name) values (4, 'four')");
    assert_false(ask(&q));
    ask_until_kept(&q);
    change("delete from guild_like where id = 1");
    assert_false(ask(&q));
    assert_string_equal(q.answer, "");
}

static void other_columns_and_tables_do_not(void **state)
{
    struct question q = name_of(1);

    (void)state;
    ask_until_kept(&q);
    change("update guild_like set seen = 5 where id = 1");
    assert_true(ask(&q));
    change("insert into part_like values (1, 12)");
    assert_true(ask(&q));
    assert_string_equal(q.answer, "one;");
}

static void cascades_and_triggers_are_seen(void **state)
{
    struct question parts = parts_of(1);
    struct question notes = { .sql = "select count(*) from note_like" };

    (void)state;
    ask_until_kept(&parts);
    ask_until_kept(&notes);
    assert_string_equal(notes.answer, "0;");
    change("update guild_like set seen = 6 where id = 2");
    assert_true(ask(&parts));
    assert_false(ask(&notes));
    assert_string_equal(notes.answer, "1;");
    change("delete from guild_like where id = 1");
    assert_false(ask(&parts));
    assert_string_equal(parts.answer, "");
}

/* SQLite prepares what is cached anew by itself: who writes what is found out again. */
static void tables_that_change_are_seen(void **state)
{
    struct question q = name_of(2);
    const char *rename = "update guild_like set seen = seen + 1 where id = 2";

    (void)state;
    change(rename);
    change("create trigger renaming after update of seen on guild_like begin "
           "update guild_like set name = 'renamed ' || new.seen where id = new.id; end");
    ask_until_kept(&q);
    assert_string_equal(q.answer, "two;");
    change(rename);
    ask(&q);
    assert_string_equal(q.answer, "renamed 2;");
    ask_until_kept(&q);
    change(rename);
    assert_false(ask(&q));
    assert_string_equal(q.answer, "renamed 3;");
}

static enum err rename_in_vain(struct tx *tx, void *arg)
{
    (void)arg;
    no_error(tx_exec(tx, "update guild_like set name = 'vain' where id = 1", NO_BIND, NULL));
    return ERR_BAD_REQUEST;
}

static void what_came_to_nothing_is_not_shown(void **state)
{
    struct question q = name_of(1);

    (void)state;
    ask_until_kept(&q);
    store_run(asked, STORE_WRITE, NULL, rename_in_vain, NULL);
    ask(&q);
    assert_string_equal(q.answer, "one;");
    ask(&q);
    ask(&q);
    change("update guild_like set name = 'late' where id = 1");
    ask(&q);
    assert_string_equal(q.answer, "late;");
}

static void views_are_seen_through(void **state)
{
    struct question q = { .sql = "select name from seen_like where id = $1",
                          .values = { v_int(1) },
                          .count = 1 };

    (void)state;
    change("create view seen_like as select id, name from guild_like where seen = 0");
    ask_until_kept(&q);
    assert_string_equal(q.answer, "one;");
    change("update guild_like set name = 'other' where id = 1");
    assert_false(ask(&q));
    assert_string_equal(q.answer, "other;");
    ask_until_kept(&q);
    change("update guild_like set seen = 1 where id = 1");
    assert_false(ask(&q));
    assert_string_equal(q.answer, "");
}

/* Rows that another takes the place of, with all that hangs on them. */
static void rows_that_are_replaced_are_seen(void **state)
{
    struct question name = name_of(1), parts = parts_of(1);

    (void)state;
    ask_until_kept(&name);
    ask_until_kept(&parts);
    change("insert or replace into guild_like (id, name) values (1, 'replaced')");
    assert_false(ask(&name));
    assert_string_equal(name.answer, "replaced;");
    assert_false(ask(&parts));
    assert_string_equal(parts.answer, "");
    ask_until_kept(&name);
    change("insert into guild_like (id, name) values (1, 'changed') on conflict (id) do update set "
           "name = excluded.name");
    assert_false(ask(&name));
    assert_string_equal(name.answer, "changed;");
}

static void columns_that_lose_their_owner_are_seen(void **state)
{
    struct question q = { .sql = "select guild_id from owned_like where id = 1" };

    (void)state;
    change(
        "create table owned_like (id integer primary key, guild_id integer references guild_like "
        "(id) on delete set null on update cascade)");
    change("insert into owned_like values (1, 1)");
    ask_until_kept(&q);
    assert_string_equal(q.answer, "1;");
    change("delete from part_like where guild_id = 1");
    change("update guild_like set id = 5 where id = 1");
    assert_false(ask(&q));
    assert_string_equal(q.answer, "5;");
    ask_until_kept(&q);
    change("delete from guild_like where id = 5");
    assert_false(ask(&q));
    assert_string_equal(q.answer, "0;");
}

/* What SQLite prepares for the index itself was prepared before: nothing else would tell. (What is
 * asked first of an index is never kept: all that is prepared with it seems to be its own.) */
static void words_that_change_are_seen(void **state)
{
    struct question first = { .sql = "select count(*) from word_like" };
    struct question q = { .sql = "select rowid from word_like where word_like match $1",
                          .values = { v_text(STR("word")) },
                          .count = 1,
                          .all = true };

    (void)state;
    change("create virtual table word_like using fts5 (words)");
    ask(&first);
    for (int i = 0; i < 2; i++) {
        change("insert into word_like (rowid, words) values (1, 'a word'), (2, 'two')");
        change("update word_like set words = 'a word again' where rowid = 1");
        change("delete from word_like where rowid = 2");
        ask_until_kept(&q);
        assert_string_equal(q.answer, "1;");
        change("update word_like set words = 'another' where rowid = 1");
        assert_false(ask(&q));
        assert_string_equal(q.answer, "");
        ask_until_kept(&q);
        change("insert into word_like (rowid, words) values (3, 'the word')");
        assert_false(ask(&q));
        assert_string_equal(q.answer, "3;");
        ask_until_kept(&q);
        change("delete from word_like where rowid in (1, 3)");
        assert_false(ask(&q));
        assert_string_equal(q.answer, "");
        assert_true(ask(&q)); /* of use, so that the next is kept at once */
    }
}

/* SQLite does not name the columns that such a one is made of. */
static void no_column_is_generated(void **state)
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

/* Read, written and read in one transaction, which may come to nothing. */
static enum err rename_within(struct tx *tx, void *arg)
{
    const struct sqlite *q = (const struct sqlite *)asked;
    uint64_t before = query_cache_hits(q->writer->cache);
    const enum err *answer = arg;

    for (int i = 0; i < 3; i++)
        assert_true(str_is(name_within(tx), "one"));
    /* After one that came to nothing it is tried more rarely. */
    assert_true(query_cache_hits(q->writer->cache) > before || *answer == OK);
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

static void the_writer_sees_what_it_writes(void **state)
{
    enum err vain = ERR_BAD_REQUEST, good = OK;
    char one[] = "one", back[] = "back";

    (void)state;
    assert_int_equal(store_run(asked, STORE_WRITE, NULL, rename_within, &vain), vain);
    no_error(store_run(asked, STORE_WRITE, NULL, see_name, one));
    no_error(store_run(asked, STORE_WRITE, NULL, rename_within, &good));
    no_error(store_run(asked, STORE_WRITE, NULL, see_name, back));
}

static enum err see_one(struct work *w, struct tx *tx)
{
    (void)w;
    for (int i = 0; i < 3; i++)
        assert_true(str_is(name_within(tx), "one"));
    return OK;
}

static enum err rename_and_fail(struct work *w, struct tx *tx)
{
    struct test_work *o = container_of(w, struct test_work, work);

    see_one(w, tx);
    no_error(tx_exec(tx, "update guild_like set name = 'vain' where id = 1", NO_BIND, NULL));
    for (int i = 0; i < 3; i++)
        assert_true(str_is(name_within(tx), "vain"));
    return o->answer;
}

/* Of works that share a transaction, one takes back what it wrote. */
static void what_a_work_takes_back_is_not_shown_to_the_next(void **state)
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

static void values_are_told_apart(void **state)
{
    static const char sql[] = "select id from guild_like where name = $1 or id = $2";
    struct question text = { .sql = sql, .values = { v_text(STR("one")), v_null() }, .count = 2 };
    struct question number = { .sql = sql, .values = { v_text(STR("on")), v_int(2) }, .count = 2 };
    struct question both = number;

    (void)state;
    both.values[0] = v_text(STR("one"));
    both.all = true;
    for (int i = 0; i < 4; i++) {
        assert_int_equal(ask(&text), i >= 2);
        assert_int_equal(ask(&number), i >= 2);
        assert_int_equal(ask(&both), i >= 2);
        assert_string_equal(text.answer, "1;");
        assert_string_equal(number.answer, "2;");
        assert_string_equal(both.answer, "1;2;");
    }
}

static void chance_and_orders_are_not_remembered(void **state)
{
    struct question q = { .sql = "select random() from guild_like where id = 1" };
    struct question now_is = { .sql = "select current_timestamp from guild_like where id = 1" };
    struct question run = { .sql = "pragma query_only" };
    struct question bytes = { .sql = "select id from guild_like where cast($1 as blob) is not null",
                              .values = { v_bytes(STR("x")) },
                              .count = 1 };

    (void)state;
    for (int i = 0; i < 4; i++) {
        assert_false(ask(&q));
        assert_false(ask(&now_is));
        assert_false(ask(&bytes));
        assert_false(ask(&run));
    }
}

/* What is never used before it changes is not worth being kept each time. */
static void what_changes_each_time_is_tried_more_rarely(void **state)
{
    struct question q = name_of(1);

    (void)state;
    ask(&q);
    ask(&q); /* kept from here on */
    change("update guild_like set name = 'a' where id = 1");
    for (int i = 0; i < 3; i++)
        assert_false(ask(&q)); /* two that wait, and the one that keeps it again */
    assert_true(ask(&q));
    assert_string_equal(q.answer, "a;");
    change("update guild_like set name = 'b' where id = 1");
    assert_false(ask(&q));
    assert_true(ask(&q)); /* it was used, so it is kept at once */
    assert_string_equal(q.answer, "b;");
}

/* --- all caches at once ---------------------------------------------------------------- */

enum { FIRST_ID = 1, LAST_ID = 4, STEPS = 600 };

/* What a read finds, with all that is cached, and without. */
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
    struct kept_key key = { what, { (uint64_t)id } };
    const char *found = fresh ? NULL : kept_find(tx, &key);
    struct rows r;
    bool is_there;

    if (found)
        return found;
    struct kept_read *kept = fresh ? NULL : kept_begin(tx, &key, 1);
    no_error(
        tx_one(tx, "select username from users where id = $1", BIND(v_int(id)), &r, &is_there));
    struct str name = is_there ? row_text(&r, 0) : STR("none");
    if (!kept)
        return str_dupz(tx_arena(tx), name);
    kept_row(kept, NOTED_USERS, (snowflake)id);
    found = str_dupz(kept_arena(kept), name);
    kept_end(kept, found);
    return found;
}

static void read_parts(struct tx *tx, struct arena *arena, int64_t id, struct buf *out)
{
    struct arena *before = tx_use_arena(tx, arena);
    struct rows r;

    no_error(tx_query(tx,
                      "select g.name, p.n from guild_like g join part_like p on "
                      "p.guild_id = g.id where g.id = $1 order by p.n",
                      BIND(v_int(id)), &r));
    while (rows_next(&r))
        buf_printf(out, "%.*s %lld,", STR_FMT(row_text(&r, 0)), (long long)row_int(&r, 1));
    no_error(rows_end(&r));
    tx_use_arena(tx, before);
}

static const char *guild_text(struct tx *tx, int64_t id, bool fresh)
{
    static const char what[] = "test guild";
    struct kept_key key = { what, { (uint64_t)id } };
    const char *found = fresh ? NULL : kept_find(tx, &key);
    struct kept_read *kept = found || fresh ? NULL : kept_begin_reading(tx, &key);
    struct arena *arena = kept ? kept_arena(kept) : tx_arena(tx);
    struct buf out;

    if (found)
        return found;
    buf_init(&out, sizeof viewed->text);
    read_parts(tx, arena, id, &out);
    found = str_dupz(arena, buf_str(&out));
    buf_clear(&out);
    if (kept)
        kept_end_reading(kept, found, false);
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

static void view_everything(struct tx *tx, struct view *v)
{
    size_t n = 0;

    for (int64_t id = FIRST_ID; id <= LAST_ID; id++)
        n += (size_t)snprintf(v->text + n, sizeof v->text - n, "%s/%s/%lld;",
                              user_name(tx, id, v->fresh), guild_text(tx, id, v->fresh),
                              count_parts(tx, id));
}

static enum err run_view(struct work *w, struct tx *tx)
{
    (void)w;
    view_everything(tx, viewed);
    return OK;
}

static enum err run_fresh(struct tx *tx, void *arg)
{
    view_everything(tx, arg);
    return OK;
}

static void submit_view(struct loop *l, void *arg)
{
    struct test_work *one = arg;

    one->work.mode = STORE_READ;
    one->work.loop = l;
    store_submit(asked, &one->work);
}

static void view_on_loop(struct view *v, enum err (*run)(struct work *w, struct tx *tx))
{
    sem_t finished;
    struct test_work *one = test_works_new(1, &finished);

    viewed = v;
    one->work.run = run;
    loop_call(loops_at(loops, 0), submit_view, one);
    wait_for(&finished);
    assert_int_equal(one->result, OK);
    test_works_free(one, 1);
    sem_destroy(&finished);
}

/* Statements are cached by the address of their text, which stays in the arena. */
static void change_at_random(struct arena *arena, unsigned *seed)
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
    change(str_dupz(arena, str_of(text)));
}

/* The rows of statements, results by rows and results by columns, after random writes. */
static void cached_and_fresh_reads_agree(void **state)
{
    struct view cached = { 0 }, fresh = { .fresh = true };
    struct arena *arena = arena_new();
    unsigned seed = 7;
    uint64_t before = 0;

    (void)state;
    for (int i = 0; i < STEPS; i++) {
        for (unsigned n = rand_r(&seed) % 3; n; n--)
            change_at_random(arena, &seed);
        view_on_loop(&cached, run_view);
        no_error(store_run(asked, STORE_READ, arena, run_fresh, &fresh));
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

/* The name comes from the cache, before SQLite has a snapshot; then it changes. */
static enum err read_around_commit(struct work *w, struct tx *tx)
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
        snprintf(viewed->text + strlen(viewed->text), 100, "%.*s", STR_FMT(row_text(&r, 0)));
    return e;
}

static void a_commit_after_cached_rows_makes_a_read_run_again(void **state)
{
    struct view v = { 0 }, first = { 0 };

    (void)state;
    change("insert into users (id, username) values (1, 'early')");
    view_on_loop(&first, run_view);
    view_on_loop(&v, read_around_commit);
    assert_int_equal(v.runs, 2);
    assert_string_equal(v.text, "later/later");
    view_on_loop(&v, read_around_commit);
    assert_int_equal(v.runs, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        asking_test(what_was_asked_before_comes_from_memory),
        asking_test(a_column_that_was_read_makes_it_forgotten),
        asking_test(other_columns_and_tables_do_not),
        asking_test(cascades_and_triggers_are_seen),
        asking_test(tables_that_change_are_seen),
        asking_test(views_are_seen_through),
        asking_test(rows_that_are_replaced_are_seen),
        asking_test(columns_that_lose_their_owner_are_seen),
        asking_test(words_that_change_are_seen),
        asking_test(no_column_is_generated),
        asking_test(what_came_to_nothing_is_not_shown),
        asking_test(the_writer_sees_what_it_writes),
        asking_test(what_a_work_takes_back_is_not_shown_to_the_next),
        asking_test(values_are_told_apart),
        asking_test(chance_and_orders_are_not_remembered),
        asking_test(what_changes_each_time_is_tried_more_rarely),
        asking_test(cached_and_fresh_reads_agree),
        asking_test(a_commit_after_cached_rows_makes_a_read_run_again),
    };

    log_init(2, LOG_OFF, 0);
    return run_on_sqlite("store/query_cache", tests);
}
