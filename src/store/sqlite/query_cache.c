/* query_cache.c - per-connection cache of query results.
 *
 * Most queries of a request (account, permissions, application) have run with the same values a
 * moment ago. From the second run on, the rows of a query are cached with the SQL text and the
 * values. Cached rows are valid until a column that the statement reads is written
 * (query_dependencies.c). Each loop's connection and the writer have a cache. This process is the
 * only writer, and the writer's statements mark the columns they write before they run, so a
 * transaction sees its own writes. Results that change as often as they are read are cached less
 * and less often. */
#include <string.h>

#include "base/cache.h"
#include "base/hash.h"
#include "base/mem.h"
#include "store/sqlite/cursor.h"

enum {
    SEEN_HASHES = 8192,
    MAX_CACHED_ROWS = 64,
    MAX_ENTRY_BYTES = 16 * 1024,
    MAX_KEY_TEXT = 64, /* longest cached text parameter, in bytes */
    MAX_KEY_VALUES = 8,
    MAX_BACKOFF = 64,
};

struct cached_rows {
    struct cache_entry entry;
    const char *sql;
    const struct row_version_slots *reads; /* columns that the query reads; owned by the connection,
                                            * which outlives the cache entry */
    uint64_t seen; /* number of commits that were visible to the snapshot from which the rows were
                    * read */
    unsigned references; /* references: the cache, and open cursors */
    bool used;           /* the cached rows were used at least once since they were stored */
    bool waits; /* the rows became stale before they were used, so the query is not cached again at
                 * once */
    unsigned wait, backoff;
    bool single;
    unsigned rows;
    int columns;
    size_t count;
    struct value *values, *cells; /* parameters and rows; allocated together with this struct, and
                                   * followed by their bytes */
};

struct query_cache {
    struct cache rows;
    uint32_t seen_hashes[SEEN_HASHES]; /* hashes of queries that ran once */
    uint64_t hits;
};

static void cached_rows_unref(struct cache_entry *e)
{
    struct cached_rows *r = (struct cached_rows *)e;

    if (--r->references == 0)
        mem_free(r);
}

static bool sql_values_are_equal(const struct value *a, const struct value *b)
{
    if (a->kind != b->kind)
        return false;
    if (a->kind == VALUE_TEXT)
        return str_eq(a->s, b->s);
    return a->kind == VALUE_NULL || a->i == b->i;
}

static bool cached_rows_match_request(const struct cache_entry *e, const void *key)
{
    const struct cached_rows *r = (const struct cached_rows *)e;
    const struct query_cache_pending_entry *q = key;

    if (r->sql != q->sql || r->count != q->count || r->single != q->single)
        return false;
    for (size_t i = 0; i < q->count; i++)
        if (!sql_values_are_equal(&r->values[i], &q->values[i]))
            return false;
    return true;
}

static bool parameters_can_be_cached(const struct value *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (values[i].kind == VALUE_BYTES || values[i].kind == VALUE_REAL ||
            (values[i].kind == VALUE_TEXT && values[i].s.n > MAX_KEY_TEXT))
            return false;
    return count <= MAX_KEY_VALUES;
}

static uint64_t hash_value(const struct value *v)
{
    if (v->kind == VALUE_TEXT)
        return hash_str(v->s);
    return v->kind == VALUE_INT ? (uint64_t)v->i + 1 : 0;
}

static uint64_t hash_query_and_parameters(const struct query_cache_pending_entry *q)
{
    uint64_t hash = (uint64_t)(uintptr_t)q->sql << 1 | q->single;

    for (size_t i = 0; i < q->count; i++)
        hash = hash_u64(hash ^ hash_value(&q->values[i])) + i;
    return hash_u64(hash) | 1;
}

static struct cache_kind query_cache_kind = {
    .name = "queries",
    .entries = 4096,
    .bytes = 1024 * 1024, /* per connection */
    .matches = cached_rows_match_request,
    .free = cached_rows_unref,
};

struct query_cache *query_cache_new(void)
{
    struct query_cache *cache = mem_new(sizeof *cache);

    cache->rows.kind = &query_cache_kind;
    return cache;
}

void query_cache_free(struct query_cache *cache)
{
    if (!cache)
        return;
    if (cache->rows.order.next)
        cache_clear(&cache->rows);
    mem_free(cache);
}

uint64_t query_cache_count_hits(const struct query_cache *cache)
{
    return cache->hits;
}

/* Records that a query runs. Returns whether it has run before: rows are cached only from the
 * second time on. */
static bool record_query_and_get_whether_it_was_seen(struct query_cache *cache, uint64_t hash)
{
    uint32_t *at = &cache->seen_hashes[hash >> 1 & (SEEN_HASHES - 1)],
             mark = (uint32_t)(hash >> 32) | 1;
    bool before = *at == mark;

    *at = mark;
    return before;
}

/* Implements exponential backoff: if cached rows became stale before they were used, the query's
 * rows are cached again only after the query ran 2, 4, 8, … times. */
static bool query_must_be_seen_again_before_caching(struct cached_rows *r)
{
    if (r->used) {
        r->backoff = 0;
        return false;
    }
    if (!r->waits) {
        r->waits = true;
        r->backoff = r->backoff ? 2 * r->backoff : 2;
        if (r->backoff > MAX_BACKOFF)
            r->backoff = MAX_BACKOFF;
        r->wait = r->backoff;
    }
    return r->wait && r->wait--;
}

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
    struct query_cache_pending_entry q = {
        .sql = sql, .values = values, .count = count, .single = ret->single
    };

    request->hash = 0;
    if (!may_use_query_cache(tx, sql) || !parameters_can_be_cached(values, count))
        return false;
    uint64_t hash = hash_query_and_parameters(&q);
    struct cached_rows *r = cache_find(&c->cache->rows, hash, &q);
    if (r && sqlite_cached_rows_are_consistent(c) &&
        row_version_slots_are_unchanged((struct sqlite *)tx->store, r->reads->all, r->reads->count,
                                        r->seen)) {
        r->used = true;
        r->references++;
        c->cache->hits++;
        if (tx->reads)
            add_cached_columns_to_dependencies(tx->reads, r->reads);
        sqlite_cursor_add(tx, sql, r->columns, ret)->cached = r;
        return true;
    }
    if (r ? !query_must_be_seen_again_before_caching(r)
          : record_query_and_get_whether_it_was_seen(c->cache, hash)) {
        *request = q;
        request->hash = hash;
        request->min_repeats = r ? r->backoff : 0;
    }
    return false;
}

static bool copy_cached_row(const struct cached_rows *r, unsigned row, struct arena *a,
                            struct value *ret)
{
    if (row >= r->rows)
        return false;
    const struct value *cell = r->cells + row * (size_t)r->columns;
    for (int i = 0; i < r->columns; i++)
        if (a && (cell[i].kind == VALUE_TEXT || cell[i].kind == VALUE_BYTES))
            ret[i] = copy_column_value_to_arena(a, cell[i].kind, cell[i].s.p, cell[i].s.n);
        else
            ret[i] = cell[i];
    return true;
}

bool query_cache_next_row(struct rows *r, struct sqlite_cursor *cursor)
{
    struct arena *a = r->lent ? NULL : tx_arena(r->tx);

    if (sqlite_read_time_limit_is_exceeded(r->tx->connection) ||
        !copy_cached_row(cursor->cached, cursor->next_row, a, cursor->cursor.row))
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

static void cache_request_add_row(struct arena *arena, struct query_cache_pending_entry *q,
                                  const struct value *row)
{
    enum { FIRST = 4 };
    size_t size = (size_t)q->columns * sizeof *row;

    if (q->rows == MAX_CACHED_ROWS || (q->rows + 1) * size > MAX_ENTRY_BYTES) {
        q->hash = 0;
        return;
    }
    if (q->rows == q->room) {
        unsigned room = q->room ? 4 * q->room : q->single ? 1 : FIRST;
        struct value *more = arena_alloc_unzeroed(arena, room * size);

        if (q->rows)
            memcpy(more, q->cells, q->rows * size);
        q->cells = more;
        q->room = room;
    }
    memcpy(q->cells + q->rows++ * (size_t)q->columns, row, size);
}

void query_cache_collect_row_of_cursor(struct rows *r, const struct sqlite_cursor *cursor)
{
    struct query_cache_pending_entry *q = cursor->cache_request;

    if (q && r->lent)
        q->hash = 0; /* Do not cache these rows: the text of a row is valid only until the next
                      * row. */
    if (q && q->hash)
        cache_request_add_row(tx_arena(r->tx), q, r->row);
}

static size_t compute_size_of_sql_values(const struct value *v, size_t count)
{
    size_t n = count * sizeof *v;

    for (size_t i = 0; i < count; i++)
        if (v[i].kind == VALUE_TEXT || v[i].kind == VALUE_BYTES)
            n += v[i].s.n;
    return n;
}

/* Copies an array of values, and their text and bytes to `bytes`. Returns the end of the copied
 * bytes. */
static char *copy_sql_values(struct value *to, const struct value *from, size_t count, char *bytes)
{
    for (size_t i = 0; i < count; i++) {
        to[i] = from[i];
        if (from[i].kind != VALUE_TEXT && from[i].kind != VALUE_BYTES)
            continue;
        if (from[i].s.n)
            memcpy(bytes, from[i].s.p, from[i].s.n);
        to[i].s.p = bytes;
        bytes += from[i].s.n;
    }
    return bytes;
}

static void insert_cached_rows(struct sqlite_conn *c, const struct query_cache_pending_entry *q)
{
    size_t cells = (size_t)q->rows * (size_t)q->columns;
    size_t size = sizeof(struct cached_rows) + compute_size_of_sql_values(q->values, q->count) +
                  compute_size_of_sql_values(q->cells, cells);

    if (size > MAX_ENTRY_BYTES)
        return;
    struct cached_rows *r = mem_new(size);
    *r = (struct cached_rows){
        .sql = q->sql,
        .reads = q->reads,
        .seen = c->seen,
        .references = 1,
        .backoff = q->min_repeats,
        .single = q->single,
        .rows = q->rows,
        .columns = q->columns,
        .count = q->count,
        .values = (struct value *)(r + 1),
        .cells = (struct value *)(r + 1) + q->count,
    };
    char *bytes = copy_sql_values(r->values, q->values, q->count, (char *)(r->cells + cells));
    copy_sql_values(r->cells, q->cells, cells, bytes);
    cache_insert(&c->cache->rows, q->hash, size, &r->entry);
}

/* Stores the rows only if all rows of the result were read: a cursor that was closed early has not
 * read all rows. */
void query_cache_store_rows(struct sqlite_conn *c, const struct sqlite_cursor *cursor)
{
    const struct query_cache_pending_entry *q = cursor->cache_request;

    if (q && q->hash && (cursor->at_end || (q->single && q->rows)))
        insert_cached_rows(c, q);
}
