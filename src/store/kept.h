/* kept.h - per-thread cache of results that were computed from rows.
 *
 * On SQLite this process is the only writer, so the store knows the version of each row
 * (tx_unchanged): a cached result is valid until one of its rows changes. Each thread has its own
 * cache. Only reads use it; a writing transaction always reads rows. On PostgreSQL, where other
 * nodes may write, nothing is cached. If a result depends on the caller, the key must contain the
 * caller's id. */
#ifndef STORE_KEPT_H
#define STORE_KEPT_H

#include "base/shared_text.h"
#include "store/store.h"

struct kept_read;

struct kept_key {
    const char *what; /* a string literal that only one file uses */
    uint64_t of[5];
};

/* Returns the cached result of the key; NULL: none, or stale. The result is valid until this thread
 * caches another one, which may evict it. */
const void *kept_find(struct tx *tx, const struct kept_key *key);

/* Begins a cache entry that depends on up to `rows` rows; kept_row adds each of them. The caller
 * builds the result in kept_arena. After kept_end the entry can be found, unless it exceeds 256
 * KiB. Every entry must be ended, with NULL if there is no result. Returns NULL if this engine
 * caches nothing. */
struct kept_read *kept_begin(struct tx *tx, const struct kept_key *key, size_t rows);
struct arena *kept_arena(struct kept_read *k);
void kept_row(struct kept_read *k, enum noted_rows rows, snowflake id);
void kept_end(struct kept_read *k, const void *made);

/* Begins a cache entry whose rows are not known in advance: it is valid until a row changes in a
 * column that a query has read between begin and end. A result that is too large, or that must not
 * be cached (`passes`), stays valid until the thread's next such result. */
struct kept_read *kept_begin_reading(struct tx *tx, const struct kept_key *key);
void kept_end_reading(struct kept_read *k, const void *made, bool passes);

/* Ends a cache entry with a text of up to 1 MiB. kept_find_text returns a new reference, so that
 * callers need not copy the text. */
void kept_end_text(struct kept_read *k, struct str text);
struct shared_text *kept_find_text(struct tx *tx, const struct kept_key *key);

/* For texts that depend on their key only, which contains a digest of all inputs: they are never
 * stale and are cached on both engines. */
struct shared_text *kept_text_of(const struct kept_key *key);
void kept_add_text(const struct kept_key *key, struct str text);

#endif
