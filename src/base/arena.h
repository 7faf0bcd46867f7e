/* arena.h - memory that is given back all at once.
 *
 * Whatever is made while answering a call lives in that call's arena and goes
 * with it, so handlers free nothing. Allocation succeeds or ends the process:
 * sizes are limited where bytes enter the server. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct arena_block;

/* Looked at by arena_raw alone. */
struct arena {
    struct arena_block *current; /* newest first; the oldest is the one that is kept */
    char *at, *end;
    size_t used;
    bool spoiled;
};

struct arena *arena_new(void);
/* One of many that stay, most of which hold little. */
struct arena *arena_new_small(void);
void arena_free(struct arena *a);

/* Forgets everything made in it but keeps its first block for the next user. */
void arena_reset(struct arena *a);

/* Zeroed, aligned for any type, valid until arena_free or arena_reset. */
void *arena_alloc(struct arena *a, size_t size);

/* A new block, of at least so many bytes. */
void arena_grow(struct arena *a, size_t size);

/* The same without zeroing, for bytes that are written at once. */
static inline void *arena_raw(struct arena *a, size_t size)
{
    const size_t align = _Alignof(max_align_t);

    size = (size + align - 1) / align * align;
    if (size > (size_t)(a->end - a->at))
        arena_grow(a, size);
    void *p = a->at;
    a->at += size;
    a->used += size;
    return p;
}

/* `count` of a type, zeroed. */
#define arena_array(a, type, count) ((type *)arena_alloc((a), sizeof(type) * (count)))

/* Notes that something made in it is missing or cut, since a buffer was full. Whoever makes
 * something last of all that is in the arena asks before it lets go of it: a transaction
 * that cannot be whole is not committed, and a call that cannot be is refused. */
void arena_spoil(struct arena *a);
bool arena_spoiled(const struct arena *a);

/* Bytes handed out since the last reset. */
size_t arena_used(const struct arena *a);

#endif
