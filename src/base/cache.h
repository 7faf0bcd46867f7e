/* cache.h - an LRU cache (hash map) bounded by entries, bytes and idle time; owns its entries.
 *
 * An entry is a struct that begins with struct cache_entry. The least recently used entry is
 * evicted first: the order is exact, so an entry that is in use is never lost to a collision of
 * slots, and idle entries stand at the front of the list. A find moves its entry to the end of
 * that list, which costs a dozen instructions.
 *
 * A cache is used by one thread, or its user holds a lock around each call. An entry that has to
 * outlive its eviction has its own reference count, and .free drops the reference of the cache.
 * The statistics may be read by any thread. */
#ifndef BASE_CACHE_H
#define BASE_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/links.h"
#include "base/map.h"

struct cache_entry {
    struct link link;
    uint64_t hash;
    size_t bytes;
    int64_t used_at; /* clock_steady_ms of the last use; only if .idle_ms is set */
};

struct cache_stats {
    uint64_t hits, misses, evictions, entries, bytes;
};

/* Limits and callbacks of all caches with one name; a static variable. A limit of 0 means none. */
struct cache_kind {
    const char *name; /* label in /metrics; NULL: no metrics */
    size_t entries, bytes;
    int64_t idle_ms; /* an entry unused for longer is not found */
    /* Returns true if the entry has this key and is still valid; NULL: the hash is the key. */
    bool (*matches)(const struct cache_entry *e, const void *key);
    void (*free)(struct cache_entry *e); /* NULL: mem_free */

    /* Used only by cache.c. */
    struct cache_kind *next;
    struct link open;
    struct cache_stats closed;
};

/* { .kind = &kind } is an empty cache. */
struct cache {
    struct cache_kind *kind;
    struct map entries;
    struct link order; /* least recently used first */
    struct link in_kind;
    struct {
        _Atomic uint64_t hits, misses, evictions, entries, bytes;
    } stats;
};

void cache_clear(struct cache *c);

/* Returns the calling thread's cache of this kind; it is freed when the thread ends. */
struct cache *cache_of_thread(struct cache_kind *kind);

/* Returns NULL on a miss. The entry stays at least until the next call that changes the cache. */
void *cache_find(struct cache *c, uint64_t hash, const void *key);

/* Takes ownership. Frees an entry with the same hash, then evicts until the limits are met; the new
 * entry stays even if it alone exceeds them. */
void cache_put(struct cache *c, uint64_t hash, size_t bytes, struct cache_entry *e);

/* Removes an entry; the caller then owns it. */
void cache_remove(struct cache *c, struct cache_entry *e);

/* Frees the entries for which matches returns true. */
void cache_evict_if(struct cache *c, bool (*matches)(const struct cache_entry *e, const void *arg),
                    const void *arg);

/* Calls `each` for every named kind that ever had an entry, with the sum over its caches. */
void cache_each_kind_stats(void (*each)(const char *name, const struct cache_stats *s, void *arg),
                           void *arg);

#endif
