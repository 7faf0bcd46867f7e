/* map.h - from a 64-bit key to a pointer.
 *
 * Open addressing with linear probing; grows at three quarters full. The key 0
 * is allowed. Values are the caller's; a map owns only its table. Keys that
 * are text go through hash_str, and the value says whether it is the one. */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stddef.h>
#include <stdint.h>

struct map_slot {
    uint64_t key;
    void *value; /* NULL: free */
};

struct map {
    struct map_slot *slots;
    size_t cap; /* a power of two, or 0 before the first put */
    size_t count;
};

void map_init(struct map *m);
void map_clear(struct map *m);

/* NULL when the key is not there. */
void *map_get(const struct map *m, uint64_t key);

/* Puts a value that is not NULL; returns the one it replaces, or NULL. */
void *map_put(struct map *m, uint64_t key, void *value);

/* Returns the value that was there, or NULL. */
void *map_remove(struct map *m, uint64_t key);

/* Walks in no particular order: start with *at = 0; NULL at the end. The value
 * just returned may not be removed during the walk. */
void *map_next(const struct map *m, size_t *at);

#endif
