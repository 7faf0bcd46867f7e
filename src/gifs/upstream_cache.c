/* upstream_cache.c - caches answers of the GIF provider; circuit breaker. */
#include "gifs/internal.h"

#include <pthread.h>

#include "base/cache.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/mem.h"

enum { FRESH_MS = 5 * 60 * 1000, OLD_MS = 60 * 60 * 1000 };
enum { BREAK_AFTER = 5, BREAK_MS = 30 * 1000 };

struct cached_answer {
    struct cache_entry entry;
    int64_t at;
    bool refreshing;
    size_t key_n, body_n;
    char bytes[]; /* the key, then the body */
};

static bool cached_answer_is(const struct cache_entry *entry, const void *key)
{
    const struct cached_answer *e = (const struct cached_answer *)entry;

    return str_eq(str_slice(e->bytes, e->key_n), *(const struct str *)key);
}

static struct cache_kind answers = {
    .name = "gif answers",
    .entries = 512,
    .bytes = 16 * 1024 * 1024,
    .is = cached_answer_is,
};
static struct {
    pthread_mutex_t lock;
    struct cache answers;
    int failures;
    int64_t broken_until;
} upstream = { .lock = PTHREAD_MUTEX_INITIALIZER, .answers.kind = &answers };

enum cached upstream_cache_find(struct str key, struct arena *a, struct str *ret, bool *ret_refresh)
{
    enum cached found = CACHED_NOT;

    *ret = (struct str){ 0 };
    *ret_refresh = false;
    pthread_mutex_lock(&upstream.lock);
    struct cached_answer *e = cache_find(&upstream.answers, hash_str(key), &key);
    if (e) {
        int64_t age = clock_steady_ms() - e->at;

        found = age < FRESH_MS ? CACHED_FRESH : age < OLD_MS ? CACHED_OLD : CACHED_TOO_OLD;
        *ret = str_dup(a, str_slice(e->bytes + e->key_n, e->body_n));
        *ret_refresh = found == CACHED_OLD && !e->refreshing;
        e->refreshing = e->refreshing || *ret_refresh;
    }
    pthread_mutex_unlock(&upstream.lock);
    return found;
}

void upstream_cache_put(struct str key, struct str body)
{
    struct cached_answer *e = mem_new(sizeof *e + key.n + body.n);

    e->at = clock_steady_ms();
    e->key_n = key.n;
    e->body_n = body.n;
    memcpy(e->bytes, key.p, key.n);
    if (body.n)
        memcpy(e->bytes + key.n, body.p, body.n);
    pthread_mutex_lock(&upstream.lock);
    cache_put(&upstream.answers, hash_str(key), sizeof *e + key.n + body.n, &e->entry);
    pthread_mutex_unlock(&upstream.lock);
}

void upstream_cache_give_up(struct str key)
{
    pthread_mutex_lock(&upstream.lock);
    struct cached_answer *e = cache_find(&upstream.answers, hash_str(key), &key);
    if (e)
        e->refreshing = false;
    pthread_mutex_unlock(&upstream.lock);
}

bool breaker_allows(void)
{
    pthread_mutex_lock(&upstream.lock);
    bool allows = upstream.failures < BREAK_AFTER || clock_steady_ms() >= upstream.broken_until;
    pthread_mutex_unlock(&upstream.lock);
    return allows;
}

void breaker_note(bool success)
{
    pthread_mutex_lock(&upstream.lock);
    upstream.failures = success ? 0 : upstream.failures + 1;
    if (upstream.failures >= BREAK_AFTER)
        upstream.broken_until = clock_steady_ms() + BREAK_MS;
    pthread_mutex_unlock(&upstream.lock);
}

void gifs_forget(void)
{
    pthread_mutex_lock(&upstream.lock);
    cache_clear(&upstream.answers);
    upstream.failures = 0;
    pthread_mutex_unlock(&upstream.lock);
}
