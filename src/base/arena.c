/* arena.c - memory that is freed all at once. */
#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"

enum { FIRST_BLOCK = 8 * 1024, SMALL_BLOCK = 512 };

struct arena_block {
    struct arena_block *next;
    size_t size;
    alignas(max_align_t) char bytes[];
};

static struct arena_block *arena_block_new(size_t size)
{
    struct arena_block *b = mem_resize(NULL, sizeof *b + size);

    b->next = NULL;
    b->size = size;
    return b;
}

static void arena_push_block(struct arena *a, struct arena_block *b)
{
    b->next = a->current;
    a->current = b;
    a->at = b->bytes;
    a->end = b->bytes + b->size;
}

static struct arena *arena_new_with_block(size_t first)
{
    struct arena *a = mem_new(sizeof *a);

    arena_push_block(a, arena_block_new(first));
    return a;
}

struct arena *arena_new(void)
{
    return arena_new_with_block(FIRST_BLOCK);
}

struct arena *arena_new_small(void)
{
    return arena_new_with_block(SMALL_BLOCK);
}

void arena_reset(struct arena *a)
{
    struct arena_block *b = a->current;

    while (b->next) {
        struct arena_block *older = b->next;

        mem_free(b);
        b = older;
    }
    a->current = NULL;
    a->used = 0;
    a->incomplete = false;
    arena_push_block(a, b);
}

void arena_free(struct arena *a)
{
    if (!a)
        return;
    arena_reset(a);
    mem_free(a->current);
    mem_free(a);
}

/* Adds a block at least twice as large as the previous one, so that n allocated bytes need at most
 * log n blocks. The unused rest of the previous block is not used again. */
void arena_add_block(struct arena *a, size_t size)
{
    size_t next = a->current->size * 2;

    arena_push_block(a, arena_block_new(size > next ? size : next));
}

void *arena_alloc(struct arena *a, size_t size)
{
    return memset(arena_alloc_unzeroed(a, size), 0, size);
}

void arena_record_lost_data(struct arena *a)
{
    a->incomplete = true;
}

bool arena_has_lost_data(const struct arena *a)
{
    return a->incomplete;
}

size_t arena_used_bytes(const struct arena *a)
{
    return a->used;
}
