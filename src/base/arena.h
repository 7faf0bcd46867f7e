/* arena.h - memory that is freed all at once.
 *
 * Everything allocated for a request lives in its arena and is freed with it, so handlers free
 * nothing. If an allocation fails, the process ends; input sizes are limited where bytes enter the
 * server, so this means that the machine is out of memory. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct arena_block;

/* Only arena.c and arena_alloc_unzeroed may access the members. */
struct arena {
    struct arena_block *current; /* list of blocks, newest first; arena_reset frees all but the
                                  * oldest */
    char *at, *end;
    size_t used;
    bool incomplete;
};

struct arena *arena_new(void);
/* Creates an arena whose first block has only 512 bytes, for arenas that store little. */
struct arena *arena_new_small(void);
void arena_free(struct arena *a);

/* Frees everything in the arena but retains its first block for reuse. */
void arena_reset(struct arena *a);

/* Returns zeroed memory, aligned for any type, valid until arena_free or arena_reset. */
void *arena_alloc(struct arena *a, size_t size);

/* Adds a new block of at least `size` bytes. */
void arena_add_block(struct arena *a, size_t size);

/* Returns memory like arena_alloc, but not zeroed: for memory that is overwritten at once. */
static inline void *arena_alloc_unzeroed(struct arena *a, size_t size)
{
    const size_t align = _Alignof(max_align_t);

    size = (size + align - 1) / align * align;
    if (size > (size_t)(a->end - a->at))
        arena_add_block(a, size);
    void *p = a->at;
    a->at += size;
    a->used += size;
    return p;
}

#define arena_array(a, type, count) ((type *)arena_alloc((a), sizeof(type) * (count)))

/* Marks the arena as incomplete: a buffer was full, so data in the arena is missing or truncated.
 * Callers check the mark before they use the arena's data: a marked transaction is not committed,
 * and a marked request is rejected. */
void arena_record_lost_data(struct arena *a);
bool arena_has_lost_data(const struct arena *a);

/* Returns the number of bytes that were allocated since the last arena_reset. */
size_t arena_used_bytes(const struct arena *a);

#endif
