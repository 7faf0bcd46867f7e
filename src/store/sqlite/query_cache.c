/* query_cache.c - per-connection cache of query results.
 *
 * Most queries of a request (account, permissions, application) have run with the same values a
 * moment ago. Their rows are cached (store/cached_rows.h). Cached rows are valid until a column
 * that the statement reads is written (query_dependencies.c). Each loop's connection and the writer
 * have a cache. This process is the only writer, and the writer's statements mark the columns they
 * write before they run, so a transaction sees its own writes. */
#include "store/sqlite/cursor.h"

static bool may_use_query_cache(struct tx *tx, const char *sql)
{
    struct sqlite_conn *c = tx->connection;

    if (!c->cache || c->has_lost_track)
        return false;
    if (!work_item_is_write(tx->work))
        return c->in_view;
    const struct sqlite_prepared_statement *st =
        map_find_value(&c->statements, (uint64_t)(uintptr_t)sql);
    c->seen = atomic_load_explicit(&tx->store->commits, memory_order_relaxed);
    return !st || !st->dependencies->writes.count;
}

static void add_cached_columns_to_dependencies(struct tx_dependencies *to,
                                               const struct row_version_slots *reads)
{
    for (unsigned i = 0; i < reads->count; i++) {
        size_t at = 0;

        while (at < to->count && to->slots[at] != reads->all[i])
            at++;
        if (at == TX_DEPENDENCIES_MAX)
            to->is_unknown = true;
        else if (at == to->count)
            to->slots[to->count++] = reads->all[i];
    }
}

bool query_cache_find_rows(struct tx *tx, const char *sql, const struct value *values, size_t count,
                           struct query_cache_pending_entry *request, struct rows *ret)
{
    struct sqlite_conn *c = tx->connection;
    *request = (struct query_cache_pending_entry){
        .sql = sql, .values = values, .count = count, .single = ret->single
    };
    if (!may_use_query_cache(tx, sql) || !query_cache_hash_request(request))
        return false;
    struct cached_rows *r = query_cache_find(c->cache, request);
    const struct row_version_slots *reads = r ? r->reads : NULL;
    if (r && sqlite_cached_rows_are_consistent(c) &&
        row_version_slots_are_unchanged((struct sqlite *)tx->store, reads->all, reads->count,
                                        r->seen)) {
        query_cache_use_rows(c->cache, r);
        if (tx->reads)
            add_cached_columns_to_dependencies(tx->reads, reads);
        sqlite_cursor_add(tx, sql, r->columns, ret)->cached = r;
        return true;
    }
    if (!query_cache_wants_rows(c->cache, r, request))
        request->hash = 0;
    return false;
}

bool query_cache_next_row(struct rows *r, struct sqlite_cursor *cursor)
{
    struct arena *a = r->lent ? NULL : tx_arena(r->tx);

    if (sqlite_read_time_limit_is_exceeded(r->tx->connection) ||
        !cached_rows_copy_row(cursor->cached, cursor->next_row, a, cursor->cursor.row))
        return false;
    cursor->next_row++;
    r->row = cursor->cursor.row;
    return true;
}

enum err query_cache_close_cursor(struct rows *r, struct sqlite_cursor *cursor)
{
    struct sqlite_conn *c = r->tx->connection;

    cached_rows_unref((struct cache_entry *)cursor->cached);
    tx_remove_cursor(r->tx, &cursor->cursor);
    return c->read_limit.is_exceeded ? tx_mark_transaction_failed(r->tx, ERR_STORE_RETRY) : OK;
}

/* Copies the parameters, because the caller may free them before it has read all rows. */
static const struct value *copy_parameters(struct arena *a, const struct value *values,
                                           size_t count)
{
    struct value *copy = arena_alloc_unzeroed(a, count * sizeof *copy);

    for (size_t i = 0; i < count; i++)
        copy[i] = values[i].kind == VALUE_TEXT
                      ? copy_column_value_to_arena(a, VALUE_TEXT, values[i].s.p, values[i].s.n)
                      : values[i];
    return copy;
}

void query_cache_start_collecting(struct tx *tx, struct sqlite_cursor *cursor,
                                  const struct query_cache_pending_entry *request,
                                  const struct value *values, size_t count, const struct rows *ret)
{
    const struct query_dependencies *d = cursor->statement->dependencies;
    bool is_known = !d->is_volatile && !d->reads.too_many;

    if (tx->reads && is_known)
        add_cached_columns_to_dependencies(tx->reads, &d->reads);
    else if (tx->reads)
        tx->reads->is_unknown = true;
    if (!request->hash || !is_known || d->writes.count || !cursor->statement->reads_only)
        return;
    struct query_cache_pending_entry *q = cursor->cache_request =
        arena_alloc_unzeroed(tx_arena(tx), sizeof *q);
    *q = *request;
    q->reads = &d->reads;
    q->values = copy_parameters(tx_arena(tx), values, count);
    q->columns = ret->columns;
}

void query_cache_collect_row_of_cursor(struct rows *r, const struct sqlite_cursor *cursor)
{
    struct query_cache_pending_entry *q = cursor->cache_request;

    if (q && r->lent)
        q->hash = 0; /* Do not cache these rows: the text of a row is valid only until the next
                      * row. */
    if (q && q->hash)
        query_cache_add_row(tx_arena(r->tx), q, r->row);
}

/* Stores the rows only if all rows of the result were read: a cursor that was closed early has not
 * read all rows. */
void query_cache_store_rows(struct sqlite_conn *c, const struct sqlite_cursor *cursor)
{
    const struct query_cache_pending_entry *q = cursor->cache_request;

    if (q && q->hash && (cursor->at_end || (q->single && q->rows)))
        query_cache_insert(c->cache, q, c->seen);
}
