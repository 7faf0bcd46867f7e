/* rows.c - queries and rows: the code that both engines share. */
#include <assert.h>
#include <string.h>

#include "base/log.h"
#include "store/internal.h"

struct arena *tx_arena(struct tx *tx)
{
    return tx->work->arena;
}

struct arena *tx_replace_arena(struct tx *tx, struct arena *a)
{
    struct arena *before = tx->work->arena;

    if (arena_has_lost_data(before))
        arena_record_lost_data(a);
    tx->work->arena = a;
    return before;
}

unsigned tx_get_counter_shard(const struct tx *tx)
{
    const struct store_engine *engine = tx->store->engine;

    return engine->counter_shard ? engine->counter_shard(tx) : 0;
}

enum err tx_require_background_thread(struct tx *tx)
{
    const struct store_engine *engine = tx->store->engine;

    return engine->move_to_background && engine->move_to_background(tx) ? ERR_STORE_RETRY : OK;
}

bool tx_get_snapshot_version(struct tx *tx, struct snapshot_version *ret)
{
    const struct store_engine *engine = tx->store->engine;

    return engine->snapshot_version && engine->snapshot_version(tx, ret);
}

bool tx_row_version_slots_are_unchanged(struct tx *tx, const struct snapshot_version *since,
                                        const uint16_t *slots, size_t count)
{
    const struct store_engine *engine = tx->store->engine;

    return engine->slots_unchanged && engine->slots_unchanged(tx, since, slots, count);
}

void tx_record_query_dependencies(struct tx *tx, struct tx_dependencies *to)
{
    tx->reads = to;
}

void tx_mark_row_changed(struct tx *tx, enum versioned_row_kind rows, snowflake id)
{
    const struct store_engine *engine = tx->store->engine;

    if (engine->mark_row_changed)
        engine->mark_row_changed(tx, rows, id);
}

void tx_set_event_log_row(struct tx *tx, struct str body, struct str recipients)
{
    tx->work->log = body;
    tx->work->log_recipients = recipients;
}

void tx_make_ids_visible_in_order(struct tx *tx, uint64_t stream, uint64_t id)
{
    struct created_stream_id *o = arena_alloc(tx_arena(tx), sizeof *o);

    *o = (struct created_stream_id){ tx->work->ordered_ids, stream, id };
    tx->work->ordered_ids = o;
    if (tx->store->engine->order_id)
        tx->store->engine->order_id(tx, stream, id);
}

enum err tx_mark_transaction_failed(struct tx *tx, enum err e)
{
    if (!tx->failed)
        tx->failed = e;
    return e;
}

enum err tx_abort_process_on_write_in_read(const char *sql)
{
    log_error("store: bug: a read transaction tried to write; statement: %s", sql);
    assert(false && "a read tried to write");
    return ERR_INTERNAL;
}

void tx_add_cursor(struct tx *tx, struct row_cursor *c, int columns)
{
    c->row = arena_array(tx_arena(tx), struct value, (size_t)columns);
    c->next = tx->open;
    tx->open = c;
}

void tx_remove_cursor(struct tx *tx, struct row_cursor *c)
{
    struct row_cursor **at = &tx->open;

    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
}

enum err tx_run_work_item(struct tx *tx)
{
    enum err e = tx->work->run(tx->work, tx);

    while (tx->open) {
        struct rows left = { .tx = tx, .cursor = tx->open };

        tx->store->engine->end(&left);
    }
    if (!e && !tx->failed && arena_has_lost_data(tx_arena(tx)))
        return ERR_ENTITY_TOO_LARGE; /* a buffer in the arena was full, so strings that were read
                                      * may be truncated */
    return e ? e : tx->failed;
}

struct value copy_column_value_to_arena(struct arena *a, enum value_kind kind, const void *p,
                                        size_t n)
{
    char *copy = arena_alloc_unzeroed(a, n + 1);

    if (n)
        memcpy(copy, p, n);
    copy[n] = 0;
    return (struct value){ .kind = kind, .s = { copy, n } };
}

static bool text_parameters_have_nul_byte(const struct value *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (values[i].kind == VALUE_TEXT && values[i].s.n &&
            memchr(values[i].s.p, 0, values[i].s.n))
            return true;
    return false;
}

static enum err start_query(struct tx *tx, struct sql sql, const struct value *values, size_t count,
                            bool single, struct rows *ret)
{
    *ret = (struct rows){ .tx = tx, .single = single };
    if (tx->failed)
        ret->error = tx->failed;
    else if (text_parameters_have_nul_byte(values, count))
        ret->error = tx_mark_transaction_failed(tx, ERR_BAD_REQUEST);
    else
        ret->error = tx->store->engine->query(tx, *sql.text, values, count, ret);
    return ret->error;
}

enum err tx_query_sql(struct tx *tx, struct sql sql, const struct value *values, size_t count,
                      struct rows *ret)
{
    return start_query(tx, sql, values, count, false, ret);
}

bool tx_queries_need_round_trips(const struct tx *tx)
{
    return store_queries_need_round_trips(tx->store);
}

bool store_queries_need_round_trips(const struct store *s)
{
    return s->engine->exec_deferred;
}

enum err tx_exec_deferred_sql(struct tx *tx, struct sql sql, const struct value *values,
                              size_t count)
{
    const struct store_engine *engine = tx->store->engine;

    if (!engine->exec_deferred || tx->failed || text_parameters_have_nul_byte(values, count))
        return tx_exec(tx, sql, values, count, NULL);
    return engine->exec_deferred(tx, sql, values, count);
}

bool rows_next(struct rows *r)
{
    return r->cursor && !r->error && r->tx->store->engine->next(r);
}

enum err rows_end(struct rows *r)
{
    if (r->cursor) {
        enum err e = r->tx->store->engine->end(r);

        r->cursor = NULL;
        if (!r->error)
            r->error = e;
    }
    return r->error;
}

enum err tx_exec_sql(struct tx *tx, struct sql sql, const struct value *values, size_t count,
                     int64_t *ret_changed)
{
    struct rows r;
    enum err e = tx_query(tx, sql, values, count, &r);

    if (e)
        return e;
    while (rows_next(&r))
        ;
    e = rows_end(&r);
    if (!e && ret_changed)
        *ret_changed = r.changed;
    return e;
}

enum err tx_query_one_sql(struct tx *tx, struct sql sql, const struct value *values, size_t count,
                          struct rows *ret, bool *ret_found)
{
    enum err e = start_query(tx, sql, values, count, true, ret);

    *ret_found = !e && rows_next(ret);
    return e ? e : rows_end(ret);
}

enum err tx_query_one_or_error_sql(struct tx *tx, struct sql sql, const struct value *values,
                                   size_t count, enum err otherwise, struct rows *ret)
{
    bool found;
    enum err e = tx_query_one_sql(tx, sql, values, count, ret, &found);

    return e || found ? e : otherwise;
}

enum err tx_exists_sql(struct tx *tx, struct sql sql, const struct value *values, size_t count,
                       bool *ret)
{
    struct rows row;

    return tx_query_one_sql(tx, sql, values, count, &row, ret);
}

enum err tx_read_int_sql(struct tx *tx, struct sql sql, const struct value *values, size_t count,
                         int64_t *ret)
{
    struct rows row;
    bool found;
    enum err e = tx_query_one_sql(tx, sql, values, count, &row, &found);

    if (!e)
        *ret = found ? row_int(&row, 0) : 0;
    return e;
}

enum err tx_read_id_sql(struct tx *tx, struct sql sql, const struct value *values, size_t count,
                        snowflake *ret)
{
    int64_t id;
    enum err e = tx_read_int(tx, sql, values, count, &id);

    if (!e)
        *ret = (snowflake)id;
    return e;
}

static const struct value *get_column_of_current_row(const struct rows *r, int column)
{
    assert(r->row && column >= 0 && column < r->columns);
    return &r->row[column];
}

bool row_column_is_null(const struct rows *r, int column)
{
    return get_column_of_current_row(r, column)->kind == VALUE_NULL;
}

int64_t row_int(const struct rows *r, int column)
{
    const struct value *v = get_column_of_current_row(r, column);

    assert(v->kind == VALUE_INT || v->kind == VALUE_REAL || v->kind == VALUE_NULL);
    return v->kind == VALUE_REAL ? (int64_t)v->d : v->kind == VALUE_INT ? v->i : 0;
}

snowflake row_id(const struct rows *r, int column)
{
    return (snowflake)row_int(r, column);
}

double row_real(const struct rows *r, int column)
{
    const struct value *v = get_column_of_current_row(r, column);

    assert(v->kind == VALUE_INT || v->kind == VALUE_REAL || v->kind == VALUE_NULL);
    return v->kind == VALUE_REAL ? v->d : v->kind == VALUE_INT ? (double)v->i : 0;
}

bool row_bool(const struct rows *r, int column)
{
    return row_int(r, column) != 0;
}

static struct str get_column_text_or_bytes(const struct rows *r, int column, enum value_kind kind)
{
    const struct value *v = get_column_of_current_row(r, column);

    assert(v->kind == kind || v->kind == VALUE_NULL);
    return v->kind == kind ? v->s : STR("");
}

struct str row_text(const struct rows *r, int column)
{
    return get_column_text_or_bytes(r, column, VALUE_TEXT);
}

struct str row_bytes(const struct rows *r, int column)
{
    return get_column_text_or_bytes(r, column, VALUE_BYTES);
}
