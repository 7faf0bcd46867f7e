/* result_cache.h - per-thread cache of results that were computed from rows.
 *
 * On SQLite this process is the only writer, so the store knows the version of each row
 * (tx_row_version_slots_are_unchanged): a cached result is valid until one of its rows changes.
 * Each thread has its own cache. Only reads use the cache; a writing transaction always reads rows.
 * On PostgreSQL, where other nodes may write, nothing is cached. If a result depends on the caller,
 * the key must contain the caller's id. */
#ifndef STORE_RESULT_CACHE_H
#define STORE_RESULT_CACHE_H

#include "base/shared_text.h"
#include "store/store.h"

struct result_cache_entry;

struct result_cache_key {
    const char *what; /* name of the kind of result: a string literal that only one file uses */
    uint64_t ids[5];
};

/* Returns the cached result of the key, or NULL if there is none or a row on which the result
 * depends has changed. The result is valid until this thread caches another result, which may evict
 * it. */
const void *result_cache_find(struct tx *tx, const struct result_cache_key *key);

/* Begins a cache entry that depends on up to `rows` rows; result_cache_add_dependency adds each of
 * them. The caller builds the result in result_cache_get_entry_arena. After result_cache_end_entry
 * the entry can be found, unless it exceeds 256 KiB. Every entry must be ended, with NULL if there
 * is no result. Returns NULL if this engine caches nothing. */
struct result_cache_entry *result_cache_begin_entry(struct tx *tx,
                                                    const struct result_cache_key *key,
                                                    size_t rows);
struct arena *result_cache_get_entry_arena(struct result_cache_entry *k);
void result_cache_add_dependency(struct result_cache_entry *k, enum versioned_row_kind rows,
                                 snowflake id);
void result_cache_end_entry(struct result_cache_entry *k, const void *made);

/* Begins a cache entry whose rows are not known in advance. The entry is valid until a column is
 * written that a query has read between begin and end. A result that is too large, or that the
 * caller ends with `passes` set, is not cached; it stays valid until this thread ends another
 * uncached result. */
struct result_cache_entry *result_cache_begin_entry_tracking_queries(
    struct tx *tx, const struct result_cache_key *key);
void result_cache_end_entry_tracking_queries(struct result_cache_entry *k, const void *made,
                                             bool passes);

/* Ends a cache entry with a text of up to 1 MiB. result_cache_find_text returns a new reference, so
 * that callers need not copy the text. */
void result_cache_end_text_entry(struct result_cache_entry *k, struct str text);
struct shared_text *result_cache_find_text(struct tx *tx, const struct result_cache_key *key);

/* Finds a text that depends only on its key, which contains a digest of all inputs. Such texts
 * never become stale and are cached on both engines. */
struct shared_text *result_cache_find_constant_text(const struct result_cache_key *key);
void result_cache_add_constant_text(const struct result_cache_key *key, struct str text);

#endif
