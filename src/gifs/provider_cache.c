/* provider_cache.c - caches responses of the GIF provider; circuit breaker. */
#include "gifs/internal.h"

#include <pthread.h>

#include "base/cache.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/mem.h"

enum { CREDENTIALS_FRESH_MS = 5 * 60 * 1000, OLD_MS = 60 * 60 * 1000 };
enum { BREAK_AFTER = 5, BREAK_MS = 30 * 1000 };

struct cached_response {
    struct cache_entry entry;
    int64_t at;
    bool refreshing;
    size_t key_n, body_n;
    char bytes[]; /* the key, then the body */
};

static bool cached_response_has_key(const struct cache_entry *entry, const void *key)
{
    const struct cached_response *e = (const struct cached_response *)entry;

    return str_eq(str_slice(e->bytes, e->key_n), *(const struct str *)key);
}

static struct cache_kind answers = {
    .name = "gif answers",
    .entries = 512,
    .bytes = 16 * 1024 * 1024,
    .matches = cached_response_has_key,
};
static struct {
    pthread_mutex_t lock;
    struct cache answers;
    int failures;
    int64_t broken_until;
} provider_cache = { .lock = PTHREAD_MUTEX_INITIALIZER, .answers.kind = &answers };

enum cached_gif_response_age gif_provider_cache_find(struct str key, struct arena *a,
                                                     struct str *ret, bool *ret_refresh)
{
    enum cached_gif_response_age found = CACHED_NOT;

    *ret = (struct str){ 0 };
    *ret_refresh = false;
    pthread_mutex_lock(&provider_cache.lock);
    struct cached_response *e = cache_find(&provider_cache.answers, hash_str(key), &key);
    if (e) {
        int64_t age = clock_steady_ms() - e->at;

        found = age < CREDENTIALS_FRESH_MS ? CACHED_FRESH
                : age < OLD_MS             ? CACHED_OLD
                                           : CACHED_TOO_OLD;
        *ret = str_dup(a, str_slice(e->bytes + e->key_n, e->body_n));
        *ret_refresh = found == CACHED_OLD && !e->refreshing;
        e->refreshing = e->refreshing || *ret_refresh;
    }
    pthread_mutex_unlock(&provider_cache.lock);
    return found;
}

void gif_provider_cache_store(struct str key, struct str body)
{
    struct cached_response *e = mem_new(sizeof *e + key.n + body.n);

    e->at = clock_steady_ms();
    e->key_n = key.n;
    e->body_n = body.n;
    memcpy(e->bytes, key.p, key.n);
    if (body.n)
        memcpy(e->bytes + key.n, body.p, body.n);
    pthread_mutex_lock(&provider_cache.lock);
    cache_insert(&provider_cache.answers, hash_str(key), sizeof *e + key.n + body.n, &e->entry);
    pthread_mutex_unlock(&provider_cache.lock);
}

void gif_provider_cache_record_failed_refresh(struct str key)
{
    pthread_mutex_lock(&provider_cache.lock);
    struct cached_response *e = cache_find(&provider_cache.answers, hash_str(key), &key);
    if (e)
        e->refreshing = false;
    pthread_mutex_unlock(&provider_cache.lock);
}

bool gif_provider_circuit_breaker_allows_request(void)
{
    pthread_mutex_lock(&provider_cache.lock);
    bool allows =
        provider_cache.failures < BREAK_AFTER || clock_steady_ms() >= provider_cache.broken_until;
    pthread_mutex_unlock(&provider_cache.lock);
    return allows;
}

void gif_provider_circuit_breaker_record_result(bool success)
{
    pthread_mutex_lock(&provider_cache.lock);
    provider_cache.failures = success ? 0 : provider_cache.failures + 1;
    if (provider_cache.failures >= BREAK_AFTER)
        provider_cache.broken_until = clock_steady_ms() + BREAK_MS;
    pthread_mutex_unlock(&provider_cache.lock);
}

void gifs_clear_provider_cache(void)
{
    pthread_mutex_lock(&provider_cache.lock);
    cache_clear(&provider_cache.answers);
    provider_cache.failures = 0;
    pthread_mutex_unlock(&provider_cache.lock);
}
