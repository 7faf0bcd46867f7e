/* buf.h - bytes that grow up to a limit.
 *
 * Outside bytes can make a buffer grow, so each is given its maximum when it is
 * made. The first append past the maximum is dropped, and all that follow: what is
 * in the buffer is the beginning of what should be. Nobody uses it without asking
 * buf_full once at the end, or buf_take, which asks for them. */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/str.h"

struct buf {
    char *p;
    size_t n;   /* bytes in it */
    size_t cap; /* bytes it has room for now */
    size_t max; /* bytes it may ever hold */
    bool full;  /* an append did not fit */
};

void buf_init(struct buf *b, size_t max);
/* Gives the memory back; the buffer is empty and usable again. */
void buf_clear(struct buf *b);
/* Empties it but keeps the memory. */
void buf_reset(struct buf *b);

static inline bool buf_full(const struct buf *b)
{
    return b->full;
}

static inline struct str buf_str(const struct buf *b)
{
    return (struct str){ b->p, b->n };
}

/* Room for n more bytes at b->p + b->n, or NULL past the maximum. The caller
 * adds what it wrote to b->n. */
char *buf_room_slow(struct buf *b, size_t n);

static inline char *buf_room(struct buf *b, size_t n)
{
    return b->cap - b->n >= n ? b->p + b->n : buf_room_slow(b, n);
}

static inline void buf_add(struct buf *b, const void *p, size_t n)
{
    char *at = n ? buf_room(b, n) : NULL;

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

/* For literals. */
#define buf_add_lit(b, literal) buf_add((b), (literal), sizeof(literal) - 1)

void buf_add_u64(struct buf *b, uint64_t v);
void buf_add_i64(struct buf *b, int64_t v);
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Text for an HTML page, also between double quotes. */
void buf_add_html(struct buf *b, struct str text);

/* Takes n bytes off the front. */
void buf_drop(struct buf *b, size_t n);

/* Back to its first n bytes; that more did not fit is forgotten. */
void buf_cut(struct buf *b, size_t n);

/* Moves what is in it to an arena. Of a full buffer nothing is left, and the arena is
 * spoiled. */
struct str buf_take(struct buf *b, struct arena *a);

#endif
