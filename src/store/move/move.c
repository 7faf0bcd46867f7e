/* move.c - moves all data of a server: checks source and target, then copies tables and files. */
#include "store/move/move.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "net/client/object_storage.h"
#include "store/move/internal.h"

enum { MAX_SQL_BYTES = 16 * 1024 * 1024 };

static const struct data_move_engine *get_engine_of_location(
    const struct data_move_location *location)
{
    return location->postgres ? &move_engine_postgres : &move_engine_sqlite;
}

static bool is_same_folder(const char *a, const char *b)
{
    char *x = realpath(a, NULL), *y = realpath(b, NULL);
    bool same = x && y && strcmp(x, y) == 0;

    free(x);
    free(y);
    return same;
}

/* Opens source or target. Applies migrations only to an empty target, because other data may belong
 * to another server. */
static enum err open_source_or_target(struct data_move_endpoint *s,
                                      const struct data_move_location *location, bool target)
{
    bool has_world = true;
    enum err e = OK;

    *s = (struct data_move_endpoint){ .engine = get_engine_of_location(location),
                                      .location = *location };
    if (target)
        e = s->engine->target_has_data(location, &has_world);
    if (!e)
        e = store_open(&(struct store_options){ .folder = location->folder,
                                                .postgres = location->postgres,
                                                .blobs_inside = location->blobs_inside,
                                                .objects = location->objects,
                                                .as_is = has_world,
                                                .moves = target },
                       &s->store);
    if (!e)
        e = store_lock_exclusive(s->store);
    return e ? e : s->engine->open(s, target);
}

static void close_source_or_target(struct data_move_endpoint *s)
{
    if (s->engine)
        s->engine->close(s);
    store_close(s->store);
}

/* --- state of the target -------------------------------------------------------------- */

static const char FIND_SOURCE[] = "select source, void from move_source";
static const char FIND_ANY_USER[] = "select 1 from users limit 1";
static const char FIND_KEY[] = "select digest from server_keys where name = 'pepper.key'";

struct target_state {
    bool is_begun, is_invalidated, has_world;
    char source[160], key[128];
};

static enum err read_move_progress_of_target(struct tx *tx, void *arg)
{
    struct target_state *f = arg;
    struct rows row;
    enum err e = tx_one(tx, FIND_SOURCE, NO_BIND, &row, &f->is_begun);

    if (!e && f->is_begun) {
        snprintf(f->source, sizeof f->source, "%.*s", STR_ARGS(row_text(&row, 0)));
        f->is_invalidated = row_bool(&row, 1);
    }
    bool has_key = false;
    if (!e)
        e = tx_one(tx, FIND_KEY, NO_BIND, &row, &has_key);
    if (!e && has_key)
        snprintf(f->key, sizeof f->key, "%.*s", STR_ARGS(row_text(&row, 0)));
    return e ? e : tx_one(tx, FIND_ANY_USER, NO_BIND, &row, &f->has_world);
}

static const char FIND_STATES[] =
    "select name, row_count, digest, last_key, checked from move_tables";

static struct data_move_table_progress *find_progress_of_table(struct data_move_in_progress *m,
                                                               struct str name)
{
    for (size_t i = 0; i < m->plan.count; i++)
        if (str_is(name, m->plan.tables[i].name))
            return &m->states[i];
    return NULL;
}

static enum err read_saved_progress(struct tx *tx, void *arg)
{
    struct data_move_in_progress *m = arg;
    struct rows r;
    enum err e = tx_query(tx, FIND_STATES, NO_BIND, &r);

    if (e)
        return e;
    while (rows_next(&r)) {
        struct data_move_table_progress *st = find_progress_of_table(m, row_text(&r, 0));
        struct str sum = row_bytes(&r, 2);

        if (!st || sum.n != sizeof st->sum)
            continue; /* skip the row: the table is no longer part of the plan */
        st->rows = row_int(&r, 1);
        memcpy(st->sum, sum.p, sum.n);
        buf_reset(&st->last_key);
        buf_add_str(&st->last_key, row_bytes(&r, 3));
        st->checked = row_bool(&r, 4);
        st->resumed = true;
    }
    return rows_end(&r);
}

enum err data_move_run_sql_on_target(struct data_move_in_progress *m)
{
    buf_add_char(&m->sql, '\0');
    enum err e = buf_is_full(&m->sql) ? ERR_INTERNAL : m->to.engine->script(&m->to, m->sql.p);
    buf_reset(&m->sql);
    return e;
}

/* Appends the SQL text for each table of the plan, with the table name in place of %s. */
static void append_sql_for_tables(struct data_move_in_progress *m, const char *sql)
{
    const char *placeholder = sql ? strstr(sql, "%s") : NULL;

    for (size_t i = 0; placeholder && i < m->plan.count; i++) {
        buf_add(&m->sql, sql, (size_t)(placeholder - sql));
        buf_add_str(&m->sql, str_of(m->plan.tables[i].name));
        buf_add_str(&m->sql, str_of(placeholder + 2));
    }
}

/* Tables that are not moved but emptied in the target, because their rows depend on rows of the
 * moved tables. */
static const char *const dependent_tables[] = {
    "message_index", "gif_index", "parked_sessions", "parking", "session_homes", "object_uploads"
};

static void append_sql_that_empties_target_tables(struct data_move_in_progress *m)
{
    bool truncates = m->to.engine->truncates;
    const char *before = truncates ? "truncate \"" : "delete from \"";
    size_t count = m->plan.count + COUNT_OF(dependent_tables);

    for (size_t i = 0; i < count; i++) {
        const char *name =
            i < m->plan.count ? m->plan.tables[i].name : dependent_tables[i - m->plan.count];

        buf_printf(&m->sql, "%s%s\"%s", truncates && i ? ", \"" : before, name,
                   truncates ? "" : ";");
    }
    if (truncates)
        buf_add_lit(&m->sql, ", \"blobs\" cascade;"); /* a table of PostgreSQL only */
}

static enum err empty_target_and_restart_move(struct data_move_in_progress *m)
{
    buf_add_lit(&m->sql, "begin;");
    append_sql_for_tables(m, m->to.engine->disable_triggers_sql);
    append_sql_that_empties_target_tables(m);
    buf_printf(&m->sql,
               "delete from move_tables; delete from move_source;"
               "insert into move_source (id, source) values (1, '%s'); commit",
               m->source);
    return data_move_run_sql_on_target(m);
}

/* Identifies the server's data by the digest of the key that signs its tokens. */
static enum err read_identity_of_source(struct data_move_in_progress *m)
{
    enum err e = m->from.engine->query_text(&m->from, FIND_KEY, m->key, sizeof m->key);

    if (!e && strspn(m->key, "0123456789abcdef") != strlen(m->key))
        e = ERR_INTERNAL;
    snprintf(m->source, sizeof m->source, "%s %s", store_engine_name(m->from.store), m->key);
    return e;
}

/* Returns whether delete_move_tables_and_run_final_sql rebuilds the table. */
static bool table_is_rebuilt_after_move(const struct moved_table *t)
{
    return strcmp(t->name, "message_unindexed") == 0 || strcmp(t->name, "channel_tails") == 0;
}

/* Compares row counts if the target has data of the same server. If they are equal, an earlier run
 * was killed after its last step, and the move is complete. If they differ, source or target were
 * changed since the move. */
static enum err compare_row_counts_of_databases(struct data_move_in_progress *m)
{
    int64_t from = 0, to = 0;
    enum err e = OK;

    for (size_t i = 0; !e && i < m->plan.count; i++) {
        const struct moved_table *t = &m->plan.tables[i];

        if (table_is_rebuilt_after_move(t))
            continue;
        e = data_move_count_rows(&m->from, t, &from);
        if (!e)
            e = data_move_count_rows(&m->to, t, &to);
        if (e || from == to)
            continue;
        log_error(
            "move: the target has an older or newer copy of this data (table '%s' has %lld rows "
            "there, %lld in the source); choose an empty database or folder",
            t->name, (long long)to, (long long)from);
        return ERR_BAD_REQUEST;
    }
    return e;
}

static enum err start_or_resume_move(struct data_move_in_progress *m)
{
    struct target_state f = { 0 };
    enum err e = read_identity_of_source(m);

    if (!e)
        e = store_run_transaction_and_wait(m->to.store, STORE_READ, NULL,
                                           read_move_progress_of_target, &f);
    if (e)
        return e;
    if (!f.is_begun && f.has_world && m->key[0] && strcmp(f.key, m->key) == 0) {
        m->report->was_done = true;
        return compare_row_counts_of_databases(m);
    }
    if ((f.is_begun && strcmp(f.source, m->source) != 0) || (!f.is_begun && f.has_world)) {
        log_error(
            "move: the target has data of another server; choose an empty database or folder");
        return ERR_BAD_REQUEST;
    }
    if (!f.is_begun || f.is_invalidated)
        return empty_target_and_restart_move(m);
    m->report->resumed = true;
    return store_run_transaction_and_wait(m->to.store, STORE_READ, NULL, read_saved_progress, m);
}

static enum err delete_move_tables_and_run_final_sql(struct data_move_in_progress *m)
{
    buf_add_lit(&m->sql, "begin;");
    buf_add_str(&m->sql, str_of(m->to.engine->final_sql));
    append_sql_for_tables(m, m->to.engine->enable_triggers_sql);
    buf_add_lit(&m->sql, "delete from move_tables; delete from move_source; commit");
    return data_move_run_sql_on_target(m);
}

static enum err copy_files_and_finish(struct data_move_in_progress *m)
{
    enum err e = m->o->rebuild ? m->o->rebuild(m->to.store) : OK;

    if (!e)
        e = store_check_integrity(m->to.store);
    if (!e && !m->report->files_stay)
        e = copy_and_compare_moved_files(m->from.store, m->to.store, NULL, m->o, m->report);
    if (!e)
        e = blobs_compare_or_store_location(m->to.store, true);
    return e ? e : delete_move_tables_and_run_final_sql(m);
}

static enum err build_and_run_move_plan(struct data_move_in_progress *m)
{
    enum err e = data_move_plan_build(&m->from, &m->to, &m->plan);

    if (e)
        return e;
    m->states = mem_new((m->plan.count + 1) * sizeof *m->states);
    for (size_t i = 0; i < m->plan.count; i++)
        data_move_progress_init(&m->states[i]);
    e = start_or_resume_move(m);
    if (!e && !m->report->was_done)
        e = copy_and_compare_moved_tables(m);
    if (!e && !m->report->was_done)
        e = copy_files_and_finish(m);
    for (size_t i = 0; i < m->plan.count; i++)
        data_move_progress_clear(&m->states[i]);
    mem_free(m->states);
    return e;
}

enum err data_move_run(const struct data_move_options *o, struct data_move_report *ret)
{
    struct data_move_in_progress m = { .o = o, .report = ret };

    *ret = (struct data_move_report){ 0 };
    buf_init(&m.scratch, MOVE_MAX_ROW_BYTES);
    buf_init(&m.sql, MAX_SQL_BYTES);
    m.row = mem_new(MOVE_MAX_COLUMNS * sizeof *m.row);
    enum err e = open_source_or_target(&m.from, &o->from, false);
    if (!e)
        e = open_source_or_target(&m.to, &o->to, true);
    ret->blobs_stay = m.from.store && m.to.store && m.from.store->objects && m.to.store->objects &&
                      strcmp(object_storage_get_address(m.from.store->objects),
                             object_storage_get_address(m.to.store->objects)) == 0;
    ret->files_stay = is_same_folder(o->from.folder, o->to.folder) &&
                      (ret->blobs_stay || (!o->from.blobs_inside && !o->to.blobs_inside &&
                                           !o->from.objects && !o->to.objects));
    if (!e)
        e = build_and_run_move_plan(&m);
    data_move_plan_clear(&m.plan);
    close_source_or_target(&m.to);
    close_source_or_target(&m.from);
    mem_free(m.row);
    buf_clear(&m.scratch);
    buf_clear(&m.sql);
    return e;
}

/* --- files alone ---------------------------------------------------------------------- */

static bool is_same_blob_location(const struct store *s, const struct blob_location *to)
{
    return s->remote_blobs == to->remote_blobs &&
           (!s->objects || strcmp(object_storage_get_address(s->objects),
                                  object_storage_get_address(to->objects)) == 0);
}

static enum err delete_database_blobs(struct tx *tx, void *arg)
{
    (void)arg;
    return tx_exec(tx, "delete from blobs", NO_BIND, NULL);
}

static enum err copy_blobs_to_location(struct store *s, const struct data_move_options *o,
                                       struct blob_location *to, struct data_move_report *ret)
{
    bool from_database = s->remote_blobs == &database_blobs;
    enum err e = is_same_blob_location(s, to) ? ERR_BAD_REQUEST : OK;

    if (e)
        log_error("move: the files are already in that place; --to-blobs must differ from --blobs");
    if (!e)
        e = copy_and_compare_moved_files(s, s, to, o, ret);
    /* A server reads blobs from the database as long as the blob table has rows, so delete them. */
    if (!e && from_database)
        e = store_run_transaction_and_wait(s, STORE_WRITE, NULL, delete_database_blobs, NULL);
    store_swap_blob_locations(s, to);
    if (!e)
        e = blobs_compare_or_store_location(s, true);
    store_swap_blob_locations(s, to);
    return e;
}

enum err data_move_run_for_files_only(const struct data_move_options *o,
                                      struct data_move_report *ret)
{
    struct blob_location location = { 0 };
    struct store *s = NULL;
    enum err e = store_open(&(struct store_options){ .folder = o->from.folder,
                                                     .postgres = o->from.postgres,
                                                     .blobs_inside = o->from.blobs_inside,
                                                     .objects = o->from.objects,
                                                     .as_is = true },
                            &s);

    *ret = (struct data_move_report){ 0 };
    if (e)
        return e;
    if (o->from.postgres && !s->blob_connections)
        s->blob_connections = blob_connections_new();
    e = store_lock_exclusive(s);
    store_swap_blob_locations(s, &location);
    if (!e)
        e = remote_blobs_init(s, &(struct store_options){ .blobs_inside = o->to.blobs_inside,
                                                          .objects = o->to.objects });
    if (!e)
        e = blobs_open_folder(s);
    store_swap_blob_locations(s, &location);
    if (!e)
        e = copy_blobs_to_location(s, o, &location, ret);
    store_swap_blob_locations(s, &location);
    remote_blobs_clear(s);
    store_swap_blob_locations(s, &location);
    store_close(s);
    return e;
}
