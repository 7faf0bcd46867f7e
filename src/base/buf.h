/* buf.h - byte buffers that grow up to a limit.
 *
 * Input can make a buffer grow, so every buffer has a maximum. The first append beyond the maximum
 * is dropped, and so are all later ones: the buffer then holds a prefix of the intended content.
 * Check buf_is_full once at the end, or use buf_move_to_arena, which checks it. */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/str.h"

struct buf {
    char *p;
    size_t n;   /* bytes stored */
    size_t cap; /* bytes allocated */
    size_t max; /* maximum size */
    bool full;  /* true after an append was dropped */
};

void buf_init(struct buf *b, size_t max);
/* Frees the memory. The buffer is then empty and can be used again. */
void buf_clear(struct buf *b);
/* Empties the buffer but retains its memory for reuse. */
void buf_reset(struct buf *b);

static inline bool buf_is_full(const struct buf *b)
{
    return b->full;
}

static inline struct str buf_as_str(const struct buf *b)
{
    return (struct str){ b->p, b->n };
}

/* Makes room for n more bytes and returns its address (b->p + b->n), or NULL if the maximum would
 * be exceeded. The caller adds the number of bytes that it has written to b->n. */
char *buf_reserve_and_grow(struct buf *b, size_t n);

static inline char *buf_reserve(struct buf *b, size_t n)
{
    return b->cap - b->n >= n ? b->p + b->n : buf_reserve_and_grow(b, n);
}

static inline void buf_add(struct buf *b, const void *p, size_t n)
{
    char *at = n ? buf_reserve(b, n) : NULL;

    if (at) {
        memcpy(at, p, n);
        b->n += n;
    }
}

static inline void buf_add_str(struct buf *b, struct str s)
{
    buf_add(b, s.p, s.n);
}

static inline void buf_add_char(struct buf *b, char c)
{
    buf_add(b, &c, 1);
}

/* Appends a string literal. */
#define buf_add_lit(b, literal) buf_add((b), (literal), sizeof(literal) - 1)

void buf_add_u64(struct buf *b, uint64_t v);
void buf_add_i64(struct buf *b, int64_t v);
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Appends the text with <, >, & and double quotes escaped for HTML. */
void buf_add_html_escaped(struct buf *b, struct str text);

void buf_drop_first_bytes(struct buf *b, size_t n);

/* Truncates the buffer to its first n bytes and clears `full`. */
void buf_truncate(struct buf *b, size_t n);

/* Moves the content to an arena. If the buffer is full, returns an empty text and marks the arena
 * as incomplete (arena_record_lost_data). */
struct str buf_move_to_arena(struct buf *b, struct arena *a);

#endif
