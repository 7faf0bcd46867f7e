/* upstream_cache.c - what the other server said lately, and whether it answers at all. */
#include "gifs/internal.h"

#include <pthread.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/links.h"
#include "base/map.h"
#include "base/mem.h"

enum { FRESH_MS = 5 * 60 * 1000, OLD_MS = 60 * 60 * 1000 };
enum { MOST_ENTRIES = 512, MOST_BYTES = 16 * 1024 * 1024 };
enum { BREAK_AFTER = 5, BREAK_MS = 30 * 1000 };

struct cached_answer {
    struct link link; /* the oldest first */
    uint64_t hash;
    char *key, *body;
    size_t size;
    int64_t at;
    bool refreshing;
};

static struct {
    pthread_mutex_t lock;
    struct map entries;
    struct link order;
    size_t bytes;
    int failures;
    int64_t broken_until;
} cache = { .lock = PTHREAD_MUTEX_INITIALIZER };

static char *upstream_cache_copy(struct str s)
{
    char *p = mem_new(s.n + 1);

    if (s.n)
        memcpy(p, s.p, s.n);
    return p;
}

static void upstream_cache_drop(struct cached_answer *e)
{
    map_remove(&cache.entries, e->hash);
    link_remove(&e->link);
    cache.bytes -= e->size;
    mem_free(e->key);
    mem_free(e->body);
    mem_free(e);
}

/* With the lock. Two keys with one hash: the later one has the place. */
static struct cached_answer *upstream_cache_find(struct str key)
{
    struct cached_answer *e = map_get(&cache.entries, hash_str(key));

    return e && str_is(key, e->key) ? e : NULL;
}

enum cached cache_find(struct str key, struct arena *a, struct str *ret, bool *ret_refresh)
{
    enum cached found = CACHED_NOT;

    *ret = (struct str){ 0 };
    *ret_refresh = false;
    pthread_mutex_lock(&cache.lock);
    struct cached_answer *e = upstream_cache_find(key);
    if (e) {
        int64_t age = clock_steady_ms() - e->at;

        found = age < FRESH_MS ? CACHED_FRESH : age < OLD_MS ? CACHED_OLD : CACHED_TOO_OLD;
        *ret = str_dup(a, str_slice(e->body, e->size));
        *ret_refresh = found == CACHED_OLD && !e->refreshing;
        e->refreshing = e->refreshing || *ret_refresh;
    }
    pthread_mutex_unlock(&cache.lock);
    return found;
}

void cache_put(struct str key, struct str body)
{
    struct cached_answer *e = mem_new(sizeof *e), *old;

    *e = (struct cached_answer){ .hash = hash_str(key),
                                 .key = upstream_cache_copy(key),
                                 .body = upstream_cache_copy(body),
                                 .size = body.n,
                                 .at = clock_steady_ms() };
    pthread_mutex_lock(&cache.lock);
    if (!cache.order.next)
        links_init(&cache.order);
    old = map_get(&cache.entries, e->hash);
    if (old)
        upstream_cache_drop(old);
    while (cache.entries.count &&
           (cache.entries.count >= MOST_ENTRIES || cache.bytes + e->size > MOST_BYTES))
        upstream_cache_drop(container_of(cache.order.next, struct cached_answer, link));
    map_put(&cache.entries, e->hash, e);
    links_append(&cache.order, &e->link);
    cache.bytes += e->size;
    pthread_mutex_unlock(&cache.lock);
}

void cache_give_up(struct str key)
{
    pthread_mutex_lock(&cache.lock);
    struct cached_answer *e = upstream_cache_find(key);
    if (e)
        e->refreshing = false;
    pthread_mutex_unlock(&cache.lock);
}

bool breaker_allows(void)
{
    pthread_mutex_lock(&cache.lock);
    bool allows = cache.failures < BREAK_AFTER || clock_steady_ms() >= cache.broken_until;
    pthread_mutex_unlock(&cache.lock);
    return allows;
}

void breaker_note(bool success)
{
    pthread_mutex_lock(&cache.lock);
    cache.failures = success ? 0 : cache.failures + 1;
    if (cache.failures >= BREAK_AFTER)
        cache.broken_until = clock_steady_ms() + BREAK_MS;
    pthread_mutex_unlock(&cache.lock);
}

void gifs_forget(void)
{
    pthread_mutex_lock(&cache.lock);
    while (cache.order.next && !links_empty(&cache.order))
        upstream_cache_drop(container_of(cache.order.next, struct cached_answer, link));
    map_clear(&cache.entries);
    cache.failures = 0;
    pthread_mutex_unlock(&cache.lock);
}
