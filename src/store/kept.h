/* kept.h - results that a thread has made of rows, for its next reads, while those rows are
 * unchanged.
 *
 * Where one process writes (SQLite) the store knows the version of each row (tx_unchanged), so that
 * a result that was made of some rows can be used again until one of them changes. Each thread has
 * a cache of its own. Only reads use it: a writing transaction decides from rows alone. On
 * PostgreSQL, where others may write, nothing is cached. A result must not depend on who asks,
 * unless the key says who that is. */
#ifndef STORE_KEPT_H
#define STORE_KEPT_H

#include "base/shared_text.h"
#include "store/store.h"

struct kept_read;

struct kept_key {
    const char *what; /* a literal of the one file that keeps it */
    uint64_t of[5];
};

/* What was kept under a key, if it still holds; else NULL. To be used before this thread keeps
 * something else, for which it may have to make room. */
const void *kept_find(struct tx *tx, const struct kept_key *key);

/* Begins to keep something that is made of up to this many rows, which are named one by one: what
 * this read has seen of them counts. What is made lies in the arena. It is found from kept_end on,
 * unless it is larger than a quarter of a mebibyte. Every kept_read has to be ended; if nothing was
 * made, with NULL. NULL: nothing is kept here. */
struct kept_read *kept_begin(struct tx *tx, const struct kept_key *key, size_t rows);
struct arena *kept_arena(struct kept_read *k);
void kept_row(struct kept_read *k, enum noted_rows rows, snowflake id);
void kept_end(struct kept_read *k, const void *made);

/* The same for a result of which only its queries know the rows: it is valid until a column that a
 * query has read since kept_begin_reading is written, in any row. The result stays in the arena:
 * what is too large, or passes (is not to be found again), stays until the thread makes the next.
 */
struct kept_read *kept_begin_reading(struct tx *tx, const struct kept_key *key);
void kept_end_reading(struct kept_read *k, const void *made, bool passes);

/* The same for a text of up to a mebibyte, which lies outside the arena: who finds it gets a hold
 * of its own, and need not copy it. */
void kept_end_text(struct kept_read *k, struct str text);
struct shared_text *kept_find_text(struct tx *tx, const struct kept_key *key);

/* A text that follows from its key and from nothing else, whatever was written since: the key has a
 * digest of all that it is made of. On any engine. */
struct shared_text *kept_text_of(const struct kept_key *key);
void kept_add_text(const struct kept_key *key, struct str text);

#endif
