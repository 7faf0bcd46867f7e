/* map.h - hash map from 64-bit keys to pointers.
 *
 * Open addressing with linear probing; grows when three quarters full. Key 0 is allowed. A map owns
 * only its table, not the values. For text keys use hash_str and compare the key in the value. */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stddef.h>
#include <stdint.h>

struct map_slot {
    uint64_t key;
    void *value; /* NULL if the slot is empty */
};

struct map {
    struct map_slot *slots;
    size_t cap; /* number of slots, a power of two; 0 before the first map_set_value */
    size_t count;
};

void map_init(struct map *m);
void map_clear(struct map *m);

/* Returns the value of the key, or NULL if the key is absent. */
void *map_find_value(const struct map *m, uint64_t key);

/* Stores a value, which must not be NULL. Returns the previous value of the key, or NULL. */
void *map_set_value(struct map *m, uint64_t key, void *value);

/* Returns the removed value or NULL. */
void *map_remove_value(struct map *m, uint64_t key);

/* Iterates in no particular order: start with *at = 0; returns NULL at the end. Do not remove
 * values from the map during the iteration. */
void *map_next_value(const struct map *m, size_t *at);

#endif
