/* map.c - hash map from 64-bit keys to pointers. */
#include "base/map.h"

#include <assert.h>

#include "base/hash.h"
#include "base/mem.h"

void map_init(struct map *m)
{
    *m = (struct map){ 0 };
}

void map_clear(struct map *m)
{
    mem_free(m->slots);
    map_init(m);
}

/* Returns the slot that contains the key, or the empty slot into which the key would be
 * inserted. */
static struct map_slot *map_find_slot(const struct map *m, uint64_t key)
{
    size_t i = hash_u64(key) & (m->cap - 1);

    while (m->slots[i].value && m->slots[i].key != key)
        i = (i + 1) & (m->cap - 1);
    return &m->slots[i];
}

void *map_find_value(const struct map *m, uint64_t key)
{
    return m->cap ? map_find_slot(m, key)->value : NULL;
}

static void map_grow(struct map *m)
{
    struct map old = *m;

    m->cap = old.cap ? old.cap * 2 : 16;
    m->slots = mem_new(m->cap * sizeof *m->slots);
    for (size_t i = 0; i < old.cap; i++)
        if (old.slots[i].value)
            *map_find_slot(m, old.slots[i].key) = old.slots[i];
    mem_free(old.slots);
}

void *map_set_value(struct map *m, uint64_t key, void *value)
{
    assert(value);
    if (m->count + 1 > m->cap / 4 * 3)
        map_grow(m);

    struct map_slot *slot = map_find_slot(m, key);
    void *before = slot->value;
    *slot = (struct map_slot){ key, value };
    if (!before)
        m->count++;
    return before;
}

void *map_remove_value(struct map *m, uint64_t key)
{
    struct map_slot *slot = m->cap ? map_find_slot(m, key) : NULL;
    void *value = slot ? slot->value : NULL;

    if (!value)
        return NULL;
    m->count--;

    /* Fill the gap: move later keys into it that linear probing would no longer find. */
    size_t gap = (size_t)(slot - m->slots), i = gap;
    for (;;) {
        i = (i + 1) & (m->cap - 1);
        if (!m->slots[i].value)
            break;
        size_t ideal_slot = hash_u64(m->slots[i].key) & (m->cap - 1);
        if (((i - ideal_slot) & (m->cap - 1)) >= ((i - gap) & (m->cap - 1))) {
            m->slots[gap] = m->slots[i];
            gap = i;
        }
    }
    m->slots[gap].value = NULL;
    return value;
}

void *map_next_value(const struct map *m, size_t *at)
{
    while (*at < m->cap) {
        void *value = m->slots[(*at)++].value;

        if (value)
            return value;
    }
    return NULL;
}
