/* cache.c - LRU cache bounded by entries, bytes and idle time. */
#include "base/cache.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "base/mem.h"

/* Maximum of idle entries that one put frees, so that no put takes long. */
enum { IDLE_A_PUT = 8 };

/* --- statistics ----------------------------------------------------------------------- */

static pthread_mutex_t kinds_lock = PTHREAD_MUTEX_INITIALIZER;
static struct cache_kind *kinds;

/* Only one thread at a time writes the statistics of a cache, so no atomic addition is needed. */
static void stat_add(_Atomic uint64_t *figure, uint64_t n)
{
    atomic_store_explicit(figure, atomic_load_explicit(figure, memory_order_relaxed) + n,
                          memory_order_relaxed);
}

static void stats_sum(struct cache_stats *to, const struct cache *c)
{
    to->hits += atomic_load_explicit(&c->stats.hits, memory_order_relaxed);
    to->misses += atomic_load_explicit(&c->stats.misses, memory_order_relaxed);
    to->evictions += atomic_load_explicit(&c->stats.evictions, memory_order_relaxed);
    to->entries += atomic_load_explicit(&c->stats.entries, memory_order_relaxed);
    to->bytes += atomic_load_explicit(&c->stats.bytes, memory_order_relaxed);
}

static void cache_open(struct cache *c)
{
    struct cache_kind *k = c->kind;

    links_init(&c->order);
    pthread_mutex_lock(&kinds_lock);
    if (!k->open.next) {
        links_init(&k->open);
        k->next = kinds;
        kinds = k;
    }
    links_append(&k->open, &c->in_kind);
    pthread_mutex_unlock(&kinds_lock);
}

void cache_each_kind(void (*each)(const char *name, const struct cache_stats *s, void *arg),
                     void *arg)
{
    pthread_mutex_lock(&kinds_lock);
    for (struct cache_kind *k = kinds; k; k = k->next) {
        struct cache_stats sum = k->closed;

        for (struct link *l = k->open.next; l != &k->open; l = l->next)
            stats_sum(&sum, container_of(l, struct cache, in_kind));
        if (k->name)
            each(k->name, &sum, arg);
    }
    pthread_mutex_unlock(&kinds_lock);
}

/* --- entries -------------------------------------------------------------------------- */

void cache_take(struct cache *c, struct cache_entry *e)
{
    map_remove(&c->entries, e->hash);
    link_remove(&e->link);
    stat_add(&c->stats.entries, -UINT64_C(1));
    stat_add(&c->stats.bytes, -(uint64_t)e->bytes);
}

static void cache_drop(struct cache *c, struct cache_entry *e)
{
    cache_take(c, e);
    if (c->kind->free)
        c->kind->free(e);
    else
        mem_free(e);
}

static bool is_idle(const struct cache *c, const struct cache_entry *e, int64_t now)
{
    return c->kind->idle_ms && now - e->used_at > c->kind->idle_ms;
}

void *cache_find(struct cache *c, uint64_t hash, const void *key)
{
    const struct cache_kind *k = c->kind;
    struct cache_entry *e = map_get(&c->entries, hash);
    int64_t now = e && k->idle_ms ? clock_steady_ms() : 0;

    if (!e || is_idle(c, e, now) || (k->is && !k->is(e, key))) {
        stat_add(&c->stats.misses, 1);
        return NULL;
    }
    e->used_at = now;
    if (e->link.next != &c->order) {
        link_remove(&e->link);
        links_append(&c->order, &e->link);
    }
    stat_add(&c->stats.hits, 1);
    return e;
}

static bool is_over(const struct cache *c)
{
    const struct cache_kind *k = c->kind;

    return (k->entries && c->entries.count > k->entries) || (k->bytes && c->stats.bytes > k->bytes);
}

void cache_put(struct cache *c, uint64_t hash, size_t bytes, struct cache_entry *e)
{
    struct cache_entry *before = map_get(&c->entries, hash), *oldest;
    int64_t now = c->kind->idle_ms ? clock_steady_ms() : 0;

    if (!c->order.next)
        cache_open(c);
    if (before)
        cache_drop(c, before);
    *e = (struct cache_entry){ .hash = hash, .bytes = bytes, .used_at = now };
    map_put(&c->entries, hash, e);
    links_append(&c->order, &e->link);
    stat_add(&c->stats.entries, 1);
    stat_add(&c->stats.bytes, bytes);
    for (int idle = 0; c->entries.count > 1; idle++) {
        oldest = container_of(c->order.next, struct cache_entry, link);
        if (!is_over(c) && (idle >= IDLE_A_PUT || !is_idle(c, oldest, now)))
            return;
        cache_drop(c, oldest);
        stat_add(&c->stats.evictions, 1);
    }
}

void cache_drop_if(struct cache *c, bool (*matches)(const struct cache_entry *e, const void *arg),
                   const void *arg)
{
    for (struct link *l = c->order.next, *next; l && l != &c->order; l = next) {
        struct cache_entry *e = container_of(l, struct cache_entry, link);

        next = l->next;
        if (matches(e, arg))
            cache_drop(c, e);
    }
}

void cache_clear(struct cache *c)
{
    while (c->order.next && !links_empty(&c->order))
        cache_drop(c, container_of(c->order.next, struct cache_entry, link));
    pthread_mutex_lock(&kinds_lock);
    stats_sum(&c->kind->closed, c);
    link_remove(&c->in_kind);
    pthread_mutex_unlock(&kinds_lock);
    map_clear(&c->entries);
    *c = (struct cache){ .kind = c->kind };
}

/* --- per-thread caches ---------------------------------------------------------------- */

struct thread_cache {
    struct cache cache;
    struct thread_cache *next;
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t of_thread;

static void thread_caches_free(void *arg)
{
    for (struct thread_cache *t = arg, *next; t; t = next) {
        next = t->next;
        cache_clear(&t->cache);
        mem_free(t);
    }
}

static void thread_caches_begin(void)
{
    pthread_key_create(&of_thread, thread_caches_free);
}

struct cache *cache_of_thread(struct cache_kind *kind)
{
    pthread_once(&once, thread_caches_begin);
    struct thread_cache *first = pthread_getspecific(of_thread), *t = first;
    while (t && t->cache.kind != kind)
        t = t->next;
    if (!t) {
        t = mem_new(sizeof *t);
        *t = (struct thread_cache){ .cache.kind = kind, .next = first };
        pthread_setspecific(of_thread, t);
    }
    return &t->cache;
}
