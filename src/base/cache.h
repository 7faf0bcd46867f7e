/* cache.h - an LRU cache (hash map) bounded by entries, bytes and idle time; owns its entries.
 *
 * An entry is a struct that begins with struct cache_entry. The least recently used entry is
 * evicted first. cache_find moves the entry to the end of the list of all entries, so idle entries
 * are at the front; this costs about a dozen CPU instructions.
 *
 * A cache is used by one thread, or its user holds a lock around each call. An entry that has to
 * outlive its eviction has its own reference count, and .free drops the cache's reference. The
 * statistics may be read by any thread. */
#ifndef BASE_CACHE_H
#define BASE_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/links.h"
#include "base/map.h"

struct cache_entry {
    struct list_link link;
    uint64_t hash;
    size_t bytes;
    int64_t used_at; /* clock_steady_ms of the last use; set only if the kind has .idle_ms */
};

struct cache_stats {
    uint64_t hits, misses, evictions, entries, bytes;
};

/* Limits and callbacks that all caches with the same name share; a static variable. A limit of 0
 * means no limit. */
struct cache_kind {
    const char *name; /* label of these caches in /metrics; NULL if they have no metrics */
    size_t entries, bytes;
    int64_t idle_ms; /* in ms: an entry that was not used for longer than this counts as missing */
    /* Returns true if the entry has this key and is still valid. If this member is NULL, entries
     * are found by their hash only. */
    bool (*matches)(const struct cache_entry *e, const void *key);
    void (*free)(struct cache_entry *e); /* frees an entry that the cache evicts; NULL means
                                          * mem_free */

    /* The following members are internal to cache.c. */
    struct cache_kind *next;
    struct list_link open;
    struct cache_stats closed;
};

/* A cache. The initializer { .kind = &kind } makes an empty one. */
struct cache {
    struct cache_kind *kind;
    struct map entries;
    struct list_link order; /* entries, least recently used first */
    struct list_link in_kind;
    struct {
        _Atomic uint64_t hits, misses, evictions, entries, bytes;
    } stats;
};

void cache_clear(struct cache *c);

/* Returns the calling thread's cache of this kind; it is freed when the thread ends. */
struct cache *cache_get_for_thread(struct cache_kind *kind);

/* Finds an entry; returns NULL if there is none. The entry stays valid until the next call that
 * changes the cache. */
void *cache_find(struct cache *c, uint64_t hash, const void *key);

/* Inserts an entry and takes ownership of it. Frees an older entry with the same hash, then evicts
 * entries until the limits are met. The new entry stays even if it alone exceeds the limits. */
void cache_insert(struct cache *c, uint64_t hash, size_t bytes, struct cache_entry *e);

/* Removes an entry from the cache; the caller then owns the entry. */
void cache_remove(struct cache *c, struct cache_entry *e);

/* Evicts the entries for which matches returns true. */
void cache_evict_if(struct cache *c, bool (*matches)(const struct cache_entry *e, const void *arg),
                    const void *arg);

/* Calls `each` for every named cache kind that ever had an entry, with the sum of the statistics of
 * its caches. */
void cache_visit_kind_stats(void (*each)(const char *name, const struct cache_stats *s, void *arg),
                            void *arg);

#endif
