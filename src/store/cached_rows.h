/* cached_rows.h - cache of query results, for the engines.
 *
 * The key is the address of the SQL text and the parameters. An engine decides whether found rows
 * are still valid (.reads and .seen). From the second run on, the rows of a query are cached.
 * Results that change as often as they are read are cached less and less often. A cache belongs to
 * one connection and is used by one thread. */
#ifndef STORE_CACHED_ROWS_H
#define STORE_CACHED_ROWS_H

#include "base/cache.h"
#include "store/store.h"

struct query_cache;

struct cached_rows {
    struct cache_entry entry;
    const char *sql;
    const void *reads;   /* tables or columns of the query; the engine owns them */
    uint64_t seen;       /* number of the last commit that the rows include */
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

/* Key of a query, and its rows if they are to be cached. If hash is 0, they are not cached. */
struct query_cache_pending_entry {
    uint64_t hash;
    unsigned min_repeats;
    const char *sql;
    const void *reads;
    const struct value *values;
    size_t count;
    bool single;
    int columns;
    unsigned rows, room;
    struct value *cells;
};

struct query_cache *query_cache_new(void);
void query_cache_free(struct query_cache *cache); /* accepts NULL */
uint64_t query_cache_count_hits(const struct query_cache *cache);

/* Sets q->hash; returns false if a query with these parameters is never cached. */
bool query_cache_hash_request(struct query_cache_pending_entry *q);
/* Returns the rows of a query, which may be stale, or NULL. */
struct cached_rows *query_cache_find(struct query_cache *cache,
                                     const struct query_cache_pending_entry *q);
/* Counts a hit and adds a reference. */
void query_cache_use_rows(struct query_cache *cache, struct cached_rows *r);
/* Returns whether the rows should be cached, and sets q->min_repeats. stale: the result of
 * query_cache_find. Call it once for each run of the query. */
bool query_cache_wants_rows(struct query_cache *cache, struct cached_rows *stale,
                            struct query_cache_pending_entry *q);
/* Adds a row. Its text must live until query_cache_insert. If there are too many rows, sets q->hash
 * to 0. */
void query_cache_add_row(struct arena *arena, struct query_cache_pending_entry *q,
                         const struct value *row);
/* Copies the rows to the cache, unless they are too large. */
void query_cache_insert(struct query_cache *cache, const struct query_cache_pending_entry *q,
                        uint64_t seen);

/* Reads a row; returns false after the last one. Text is copied to the arena, or lent if `a` is
 * NULL. */
bool cached_rows_copy_row(const struct cached_rows *r, unsigned row, struct arena *a,
                          struct value *ret);
void cached_rows_unref(struct cache_entry *e);

#endif
