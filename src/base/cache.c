/* cache.c - LRU cache bounded by entries, bytes and idle time. */
#include "base/cache.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "base/mem.h"

/* Maximum number of idle entries that one cache_insert frees, so that no call takes long. */
enum { MAX_IDLE_EVICTIONS_PER_PUT = 8 };

static pthread_mutex_t kinds_lock = PTHREAD_MUTEX_INITIALIZER;
static struct cache_kind *kinds;

/* Adds without an atomic addition: only one thread at a time writes the statistics of a cache. */
static void cache_counter_add(_Atomic uint64_t *figure, uint64_t n)
{
    atomic_store_explicit(figure, atomic_load_explicit(figure, memory_order_relaxed) + n,
                          memory_order_relaxed);
}

static void cache_stats_add_to_sum(struct cache_stats *to, const struct cache *c)
{
    to->hits += atomic_load_explicit(&c->stats.hits, memory_order_relaxed);
    to->misses += atomic_load_explicit(&c->stats.misses, memory_order_relaxed);
    to->evictions += atomic_load_explicit(&c->stats.evictions, memory_order_relaxed);
    to->entries += atomic_load_explicit(&c->stats.entries, memory_order_relaxed);
    to->bytes += atomic_load_explicit(&c->stats.bytes, memory_order_relaxed);
}

static void cache_register(struct cache *c)
{
    struct cache_kind *k = c->kind;

    linked_list_init(&c->order);
    pthread_mutex_lock(&kinds_lock);
    if (!k->open.next) {
        linked_list_init(&k->open);
        k->next = kinds;
        kinds = k;
    }
    linked_list_append(&k->open, &c->in_kind);
    pthread_mutex_unlock(&kinds_lock);
}

void cache_visit_kind_stats(void (*each)(const char *name, const struct cache_stats *s, void *arg),
                            void *arg)
{
    pthread_mutex_lock(&kinds_lock);
    for (struct cache_kind *k = kinds; k; k = k->next) {
        struct cache_stats sum = k->closed;

        for (struct list_link *l = k->open.next; l != &k->open; l = l->next)
            cache_stats_add_to_sum(&sum, container_of(l, struct cache, in_kind));
        if (k->name)
            each(k->name, &sum, arg);
    }
    pthread_mutex_unlock(&kinds_lock);
}

void cache_remove(struct cache *c, struct cache_entry *e)
{
    map_remove_value(&c->entries, e->hash);
    linked_list_remove(&e->link);
    cache_counter_add(&c->stats.entries, -UINT64_C(1));
    cache_counter_add(&c->stats.bytes, -(uint64_t)e->bytes);
}

static void cache_remove_and_free(struct cache *c, struct cache_entry *e)
{
    cache_remove(c, e);
    if (c->kind->free)
        c->kind->free(e);
    else
        mem_free(e);
}

static bool cache_entry_is_idle(const struct cache *c, const struct cache_entry *e, int64_t now)
{
    return c->kind->idle_ms && now - e->used_at > c->kind->idle_ms;
}

void *cache_find(struct cache *c, uint64_t hash, const void *key)
{
    const struct cache_kind *k = c->kind;
    struct cache_entry *e = map_find_value(&c->entries, hash);
    int64_t now = e && k->idle_ms ? clock_steady_ms() : 0;

    if (!e || cache_entry_is_idle(c, e, now) || (k->matches && !k->matches(e, key))) {
        cache_counter_add(&c->stats.misses, 1);
        return NULL;
    }
    e->used_at = now;
    if (e->link.next != &c->order) {
        linked_list_remove(&e->link);
        linked_list_append(&c->order, &e->link);
    }
    cache_counter_add(&c->stats.hits, 1);
    return e;
}

static bool cache_is_over_limit(const struct cache *c)
{
    const struct cache_kind *k = c->kind;

    return (k->entries && c->entries.count > k->entries) || (k->bytes && c->stats.bytes > k->bytes);
}

void cache_insert(struct cache *c, uint64_t hash, size_t bytes, struct cache_entry *e)
{
    struct cache_entry *before = map_find_value(&c->entries, hash), *oldest;
    int64_t now = c->kind->idle_ms ? clock_steady_ms() : 0;

    if (!c->order.next)
        cache_register(c);
    if (before)
        cache_remove_and_free(c, before);
    *e = (struct cache_entry){ .hash = hash, .bytes = bytes, .used_at = now };
    map_set_value(&c->entries, hash, e);
    linked_list_append(&c->order, &e->link);
    cache_counter_add(&c->stats.entries, 1);
    cache_counter_add(&c->stats.bytes, bytes);
    for (int idle = 0; c->entries.count > 1; idle++) {
        oldest = container_of(c->order.next, struct cache_entry, link);
        if (!cache_is_over_limit(c) &&
            (idle >= MAX_IDLE_EVICTIONS_PER_PUT || !cache_entry_is_idle(c, oldest, now)))
            return;
        cache_remove_and_free(c, oldest);
        cache_counter_add(&c->stats.evictions, 1);
    }
}

void cache_evict_if(struct cache *c, bool (*matches)(const struct cache_entry *e, const void *arg),
                    const void *arg)
{
    for (struct list_link *l = c->order.next, *next; l && l != &c->order; l = next) {
        struct cache_entry *e = container_of(l, struct cache_entry, link);

        next = l->next;
        if (matches(e, arg))
            cache_remove_and_free(c, e);
    }
}

void cache_clear(struct cache *c)
{
    while (c->order.next && !linked_list_is_empty(&c->order))
        cache_remove_and_free(c, container_of(c->order.next, struct cache_entry, link));
    pthread_mutex_lock(&kinds_lock);
    cache_stats_add_to_sum(&c->kind->closed, c);
    linked_list_remove(&c->in_kind);
    pthread_mutex_unlock(&kinds_lock);
    map_clear(&c->entries);
    *c = (struct cache){ .kind = c->kind };
}

struct thread_cache {
    struct cache cache;
    struct thread_cache *next;
};

static pthread_once_t thread_caches_once = PTHREAD_ONCE_INIT;
static pthread_key_t thread_caches_key;

static void thread_caches_free(void *arg)
{
    for (struct thread_cache *t = arg, *next; t; t = next) {
        next = t->next;
        cache_clear(&t->cache);
        mem_free(t);
    }
}

static void thread_caches_create_key(void)
{
    pthread_key_create(&thread_caches_key, thread_caches_free);
}

struct cache *cache_get_for_thread(struct cache_kind *kind)
{
    pthread_once(&thread_caches_once, thread_caches_create_key);
    struct thread_cache *first = pthread_getspecific(thread_caches_key), *t = first;
    while (t && t->cache.kind != kind)
        t = t->next;
    if (!t) {
        t = mem_new(sizeof *t);
        *t = (struct thread_cache){ .cache.kind = kind, .next = first };
        pthread_setspecific(thread_caches_key, t);
    }
    return &t->cache;
}
