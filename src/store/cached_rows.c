/* cached_rows.c - cache of query results, for the engines. */
#include "store/cached_rows.h"

#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "store/internal.h"

enum {
    SEEN_HASHES = 8192,
    MAX_CACHED_ROWS = 64,
    MAX_ENTRY_BYTES = 16 * 1024,
    MAX_KEY_TEXT = 64, /* longest cached text parameter, in bytes */
    MAX_KEY_VALUES = 8,
    MAX_BACKOFF = 64,
};

struct query_cache {
    struct cache rows;
    uint32_t seen_hashes[SEEN_HASHES]; /* hashes of queries that ran once */
    uint64_t hits;
};

void cached_rows_unref(struct cache_entry *e)
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

bool query_cache_hash_request(struct query_cache_pending_entry *q)
{
    if (!parameters_can_be_cached(q->values, q->count))
        return false;
    q->hash = hash_query_and_parameters(q);
    return true;
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

struct cached_rows *query_cache_find(struct query_cache *cache,
                                     const struct query_cache_pending_entry *q)
{
    return cache_find(&cache->rows, q->hash, q);
}

void query_cache_use_rows(struct query_cache *cache, struct cached_rows *r)
{
    r->used = true;
    r->references++;
    cache->hits++;
}

bool query_cache_wants_rows(struct query_cache *cache, struct cached_rows *stale,
                            struct query_cache_pending_entry *q)
{
    if (stale ? query_must_be_seen_again_before_caching(stale)
              : !record_query_and_get_whether_it_was_seen(cache, q->hash))
        return false;
    q->min_repeats = stale ? stale->backoff : 0;
    return true;
}

bool cached_rows_copy_row(const struct cached_rows *r, unsigned row, struct arena *a,
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

void query_cache_add_row(struct arena *arena, struct query_cache_pending_entry *q,
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

void query_cache_insert(struct query_cache *cache, const struct query_cache_pending_entry *q,
                        uint64_t seen)
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
        .seen = seen,
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
    cache_insert(&cache->rows, q->hash, size, &r->entry);
}
