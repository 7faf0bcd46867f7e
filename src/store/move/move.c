/* move.c - moves all data of a server: checks both sides, then copies tables and files. */
#include "store/move/move.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "store/move/internal.h"

enum { LONGEST_SQL = 16 * 1024 * 1024 };

static const struct move_engine *engine_of(const struct move_place *place)
{
    return place->postgres ? &move_postgres : &move_sqlite;
}

static bool is_same_folder(const char *a, const char *b)
{
    char *x = realpath(a, NULL), *y = realpath(b, NULL);
    bool same = x && y && strcmp(x, y) == 0;

    free(x);
    free(y);
    return same;
}

/* Applies migrations only to an empty target: other data may be of another server. */
static enum err open_side(struct move_side *s, const struct move_place *place, bool target)
{
    bool has_world = true;
    enum err e = OK;

    *s = (struct move_side){ .engine = engine_of(place), .place = *place };
    if (target)
        e = s->engine->look(place, &has_world);
    if (!e)
        e = store_open(&(struct store_options){ .folder = place->folder,
                                                .postgres = place->postgres,
                                                .blobs_inside = place->blobs_inside,
                                                .as_is = has_world,
                                                .moves = target },
                       &s->store);
    if (!e)
        e = store_take(s->store);
    return e ? e : s->engine->open(s, target);
}

static void close_side(struct move_side *s)
{
    if (s->engine)
        s->engine->close(s);
    store_close(s->store);
}

/* --- state of the target -------------------------------------------------------------- */

static const char FIND_SOURCE[] = "select source, void from move_source";
static const char FIND_WORLD[] = "select 1 from users limit 1";
static const char FIND_KEY[] = "select digest from server_keys where name = 'pepper.key'";

struct found_move {
    bool is_begun, is_void, has_world;
    char source[160], key[128];
};

static enum err read_found(struct tx *tx, void *arg)
{
    struct found_move *f = arg;
    struct rows row;
    enum err e = tx_one(tx, FIND_SOURCE, NO_BIND, &row, &f->is_begun);

    if (!e && f->is_begun) {
        snprintf(f->source, sizeof f->source, "%.*s", STR_FMT(row_text(&row, 0)));
        f->is_void = row_bool(&row, 1);
    }
    bool has_key = false;
    if (!e)
        e = tx_one(tx, FIND_KEY, NO_BIND, &row, &has_key);
    if (!e && has_key)
        snprintf(f->key, sizeof f->key, "%.*s", STR_FMT(row_text(&row, 0)));
    return e ? e : tx_one(tx, FIND_WORLD, NO_BIND, &row, &f->has_world);
}

static const char FIND_STATES[] =
    "select name, row_count, digest, last_key, checked from move_tables";

static struct move_state *state_of(struct move_run *m, struct str name)
{
    for (size_t i = 0; i < m->plan.count; i++)
        if (str_is(name, m->plan.tables[i].name))
            return &m->states[i];
    return NULL;
}

static enum err read_states(struct tx *tx, void *arg)
{
    struct move_run *m = arg;
    struct rows r;
    enum err e = tx_query(tx, FIND_STATES, NO_BIND, &r);

    if (e)
        return e;
    while (rows_next(&r)) {
        struct move_state *st = state_of(m, row_text(&r, 0));
        struct str sum = row_bytes(&r, 2);

        if (!st || sum.n != sizeof st->sum)
            continue; /* the table is no longer part of the plan */
        st->rows = row_int(&r, 1);
        memcpy(st->sum, sum.p, sum.n);
        buf_reset(&st->last_key);
        buf_add_str(&st->last_key, row_bytes(&r, 3));
        st->checked = row_bool(&r, 4);
        st->was_there = true;
    }
    return rows_end(&r);
}

enum err move_run_script(struct move_run *m)
{
    buf_add_char(&m->sql, '\0');
    enum err e = buf_full(&m->sql) ? ERR_INTERNAL : m->to.engine->script(&m->to, m->sql.p);
    buf_reset(&m->sql);
    return e;
}

/* Appends the SQL text for each table of the plan, with the table name in place of %s. */
static void add_for_tables(struct move_run *m, const char *words)
{
    const char *hole = words ? strstr(words, "%s") : NULL;

    for (size_t i = 0; hole && i < m->plan.count; i++) {
        buf_add(&m->sql, words, (size_t)(hole - words));
        buf_add_str(&m->sql, str_of(m->plan.tables[i].name));
        buf_add_str(&m->sql, str_of(hole + 2));
    }
}

/* Tables outside the plan whose content depends on rows that are deleted. */
static const char *const emptied_too[] = { "message_index", "gif_index", "parked_sessions",
                                           "parking", "session_homes" };

static void add_empty(struct move_run *m)
{
    bool truncates = m->to.engine->truncates;
    const char *before = truncates ? "truncate \"" : "delete from \"";
    size_t count = m->plan.count + COUNT_OF(emptied_too);

    for (size_t i = 0; i < count; i++) {
        const char *name =
            i < m->plan.count ? m->plan.tables[i].name : emptied_too[i - m->plan.count];

        buf_printf(&m->sql, "%s%s\"%s", truncates && i ? ", \"" : before, name,
                   truncates ? "" : ";");
    }
    if (truncates)
        buf_add_lit(&m->sql, ", \"blobs\" cascade;"); /* this table exists on PostgreSQL only */
}

static enum err begin_anew(struct move_run *m)
{
    buf_add_lit(&m->sql, "begin;");
    add_for_tables(m, m->to.engine->quiet);
    add_empty(m);
    buf_printf(&m->sql,
               "delete from move_tables; delete from move_source;"
               "insert into move_source (id, source) values (1, '%s'); commit",
               m->source);
    return move_run_script(m);
}

/* Identifies the data by the digest of the key that signs tokens. */
static enum err name_source(struct move_run *m)
{
    enum err e = m->from.engine->ask(&m->from, FIND_KEY, m->key, sizeof m->key);

    if (!e && strspn(m->key, "0123456789abcdef") != strlen(m->key))
        e = ERR_INTERNAL;
    snprintf(m->source, sizeof m->source, "%s %s", store_engine(m->from.store), m->key);
    return e;
}

/* Whether finish_move rebuilds the table. */
static bool is_rebuilt(const struct move_table *t)
{
    return strcmp(t->name, "message_unindexed") == 0 || strcmp(t->name, "channel_tails") == 0;
}

/* The target has data of the same server. If the row counts are equal, an earlier run was killed
 * after its last step; otherwise the data was changed on one side since the move. */
static enum err compare_counts(struct move_run *m)
{
    int64_t from = 0, to = 0;
    enum err e = OK;

    for (size_t i = 0; !e && i < m->plan.count; i++) {
        const struct move_table *t = &m->plan.tables[i];

        if (is_rebuilt(t))
            continue;
        e = move_table_count(&m->from, t, &from);
        if (!e)
            e = move_table_count(&m->to, t, &to);
        if (e || from == to)
            continue;
        log_error(
            "move: the target has an older or newer copy of this data (table '%s' has %" PRId64
            " rows there, %" PRId64 " in the source); choose an empty database or folder",
            t->name, to, from);
        return ERR_BAD_REQUEST;
    }
    return e;
}

static enum err begin_move(struct move_run *m)
{
    struct found_move f = { 0 };
    enum err e = name_source(m);

    if (!e)
        e = store_run(m->to.store, STORE_READ, NULL, read_found, &f);
    if (e)
        return e;
    if (!f.is_begun && f.has_world && m->key[0] && strcmp(f.key, m->key) == 0) {
        m->report->was_done = true;
        return compare_counts(m);
    }
    if ((f.is_begun && strcmp(f.source, m->source) != 0) || (!f.is_begun && f.has_world)) {
        log_error(
            "move: the target has data of another server; choose an empty database or folder");
        return ERR_BAD_REQUEST;
    }
    if (!f.is_begun || f.is_void)
        return begin_anew(m);
    m->report->resumed = true;
    return store_run(m->to.store, STORE_READ, NULL, read_states, m);
}

/* Each engine has its own message index, so the server of the target builds it again. */
static const char NOTE_MESSAGES[] =
    "insert into message_unindexed (message_id, times) select id, 1 from messages "
    "where ephemeral_for is null on conflict (message_id) do nothing;";

static enum err finish_move(struct move_run *m)
{
    buf_add_lit(&m->sql, "begin;");
    buf_add_str(&m->sql, str_of(NOTE_MESSAGES));
    buf_add_str(&m->sql, str_of(m->to.engine->last));
    add_for_tables(m, m->to.engine->loud);
    buf_add_lit(&m->sql, "delete from move_tables; delete from move_source; commit");
    return move_run_script(m);
}

static enum err move_rest(struct move_run *m)
{
    enum err e = m->o->rebuild ? m->o->rebuild(m->to.store) : OK;

    if (!e)
        e = store_check(m->to.store);
    if (!e && !m->report->files_stay)
        e = move_files(m->from.store, m->to.store, m->o, m->report);
    return e ? e : finish_move(m);
}

static enum err run_move(struct move_run *m)
{
    enum err e = move_plan_make(&m->from, &m->to, &m->plan);

    if (e)
        return e;
    m->states = mem_new((m->plan.count + 1) * sizeof *m->states);
    for (size_t i = 0; i < m->plan.count; i++)
        move_state_init(&m->states[i]);
    e = begin_move(m);
    if (!e && !m->report->was_done)
        e = move_tables(m);
    if (!e && !m->report->was_done)
        e = move_rest(m);
    for (size_t i = 0; i < m->plan.count; i++)
        move_state_clear(&m->states[i]);
    mem_free(m->states);
    return e;
}

enum err move_world(const struct move_options *o, struct move_report *ret)
{
    struct move_run m = { .o = o, .report = ret };

    *ret = (struct move_report){ 0 };
    buf_init(&m.scratch, MOVE_LONGEST_ROW);
    buf_init(&m.sql, LONGEST_SQL);
    m.row = mem_new(MOVE_COLUMNS * sizeof *m.row);
    enum err e = open_side(&m.from, &o->from, false);
    if (!e)
        e = open_side(&m.to, &o->to, true);
    ret->files_stay = is_same_folder(o->from.folder, o->to.folder) && !o->from.blobs_inside &&
                      !o->to.blobs_inside;
    if (!e)
        e = run_move(&m);
    move_plan_clear(&m.plan);
    close_side(&m.to);
    close_side(&m.from);
    mem_free(m.row);
    buf_clear(&m.scratch);
    buf_clear(&m.sql);
    return e;
}
