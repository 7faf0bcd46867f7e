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
    const char *what; /* a string literal, used in one file only */
    uint64_t of[5];
};

/* Returns the cached result of the key, or NULL if there is none or it is stale. Use it before this
 * thread caches something else, which may evict it. */
const void *kept_find(struct tx *tx, const struct kept_key *key);

/* Begins a cache entry that depends on up to `rows` rows; kept_row names each of them. The caller
 * builds the result in kept_arena. The entry can be found after kept_end, unless it exceeds 256
 * KiB. Every kept_read must be ended, with NULL if there is no result. NULL: nothing is cached
 * here. */
struct kept_read *kept_begin(struct tx *tx, const struct kept_key *key, size_t rows);
struct arena *kept_arena(struct kept_read *k);
void kept_row(struct kept_read *k, enum noted_rows rows, snowflake id);
void kept_end(struct kept_read *k, const void *made);

/* The same for a result whose rows only its queries know. It is valid until any row changes in a
 * column that a query has read since kept_begin_reading. The result stays in the arena. If it is
 * too large, or passes is true (do not cache), it lives until the thread's next such result. */
struct kept_read *kept_begin_reading(struct tx *tx, const struct kept_key *key);
void kept_end_reading(struct kept_read *k, const void *made, bool passes);

/* The same for a text of up to 1 MiB outside the arena. kept_find_text returns a new reference, so
 * that callers need not copy the text. */
void kept_end_text(struct kept_read *k, struct str text);
struct shared_text *kept_find_text(struct tx *tx, const struct kept_key *key);

/* A text that depends on its key only, which contains a digest of all its inputs: never stale, and
 * cached on both engines. */
struct shared_text *kept_text_of(const struct kept_key *key);
void kept_add_text(const struct kept_key *key, struct str text);

#endif
