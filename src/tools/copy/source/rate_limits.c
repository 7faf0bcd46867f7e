/* rate_limits.c - rate limit buckets, and the limit for all requests together. */
#include "tools/copy/source/rate_limits.h"

#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"

static const int64_t SECOND = 1000000000;
enum { INVALID_LIMIT = 8000, INVALID_WINDOW_S = 600, MAX_KEY = 300 };

struct rate_limit_bucket {
    char key[MAX_KEY];
    bool is_known;     /* .remaining is valid until .reset */
    int64_t remaining; /* number of requests that may still be sent before the time .reset */
    int64_t reset;     /* monotonic nanoseconds */
    int64_t pending;   /* requests without a response */
};

struct rate_limits {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct map routes;  /* hash of a route to its bucket */
    struct map buckets; /* hash of a bucket's key to the bucket; this map owns the buckets */
    int64_t interval, next_slot, blocked_until;
    int64_t invalid_count, invalid_since;
};

struct rate_limits *client_rate_limits_new(int64_t requests_per_second)
{
    struct rate_limits *l = mem_new(sizeof *l);
    pthread_condattr_t attributes;

    pthread_mutex_init(&l->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&l->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    map_init(&l->routes);
    map_init(&l->buckets);
    l->interval = SECOND / requests_per_second;
    return l;
}

void client_rate_limits_free(struct rate_limits *l)
{
    struct rate_limit_bucket *b;
    size_t at = 0;

    if (!l)
        return;
    while ((b = map_next_value(&l->buckets, &at)))
        mem_free(b);
    map_clear(&l->buckets);
    map_clear(&l->routes);
    pthread_cond_destroy(&l->changed);
    pthread_mutex_destroy(&l->lock);
    mem_free(l);
}

/* Waits for a change, at most until a time of the monotonic clock. */
static void wait_for_rate_limit_change(struct rate_limits *l, int64_t until)
{
    struct timespec at = { .tv_sec = (time_t)(until / SECOND), .tv_nsec = (long)(until % SECOND) };

    pthread_cond_timedwait(&l->changed, &l->lock, &at);
}

static bool path_segment_is_id(struct str s)
{
    uint64_t id;

    return s.n > 0 && str_to_u64(s, &id);
}

/* Writes the route of a request: its path without query, ids and emoji. Only the id of the channel,
 * guild or webhook at the beginning of the path stays in the route; *ret_major is set to this
 * id. */
static void format_route(char out[MAX_KEY], const char *method, struct str path,
                         struct str *ret_major)
{
    struct str rest = str_cut(&path, '?'), before = { 0 };
    int n = snprintf(out, MAX_KEY, "%s", method);
    size_t position = 0;

    *ret_major = (struct str){ 0 };
    for (str_cut(&rest, '/'); rest.n && n < MAX_KEY - 1; position++) {
        struct str segment = str_cut(&rest, '/');
        bool is_major = position == 1 && path_segment_is_id(segment),
             is_emoji = str_is(before, "reactions");

        if (is_major)
            *ret_major = segment;
        n += path_segment_is_id(segment) && !is_major ? snprintf(out + n, MAX_KEY - (size_t)n, "/*")
             : is_emoji                               ? snprintf(out + n, MAX_KEY - (size_t)n, "/*")
                        : snprintf(out + n, MAX_KEY - (size_t)n, "/%.*s", STR_ARGS(segment));
        before = segment;
    }
}

static struct rate_limit_bucket *find_or_add_bucket(struct rate_limits *l, const char *key)
{
    uint64_t hash = hash_str(str_of(key));
    struct rate_limit_bucket *b = map_find_value(&l->buckets, hash);

    if (b)
        return b;
    b = mem_new(sizeof *b);
    snprintf(b->key, sizeof b->key, "%s", key);
    map_set_value(&l->buckets, hash, b);
    return b;
}

/* Returns 0 if a request may be sent now, else the time at which to look again. */
static int64_t find_waiting_time(struct rate_limits *l, struct rate_limit_bucket *b, int64_t now)
{
    if (l->blocked_until > now)
        return l->blocked_until;
    if (now - l->invalid_since >= INVALID_WINDOW_S * SECOND) {
        l->invalid_since = now;
        l->invalid_count = 0;
    }
    if (l->invalid_count >= INVALID_LIMIT)
        return l->invalid_since + INVALID_WINDOW_S * SECOND;
    if (b->is_known && now >= b->reset)
        b->is_known = false;
    if (b->is_known)
        return b->remaining > 0 ? 0 : b->reset;
    return b->pending ? now + SECOND : 0;
}

struct rate_limit_bucket *client_rate_limits_wait_for_request(struct rate_limits *l,
                                                              const char *method, struct str path)
{
    struct rate_limit_bucket *b;
    char route[MAX_KEY];
    struct str major;
    int64_t until, now;

    format_route(route, method, path, &major);
    pthread_mutex_lock(&l->lock);
    for (;;) {
        b = map_find_value(&l->routes, hash_str(str_of(route)));
        if (!b) {
            b = find_or_add_bucket(l, route);
            map_set_value(&l->routes, hash_str(str_of(route)), b);
        }
        now = clock_monotonic_ns();
        until = find_waiting_time(l, b, now);
        if (!until)
            break;
        wait_for_rate_limit_change(l, until);
    }
    b->remaining--;
    b->pending++;
    int64_t slot = l->next_slot > now ? l->next_slot : now;
    l->next_slot = slot + l->interval;
    pthread_mutex_unlock(&l->lock);
    while ((now = clock_monotonic_ns()) < slot)
        nanosleep(&(struct timespec){ .tv_nsec = (long)(slot - now) % SECOND }, NULL);
    return b;
}

static void record_rate_limit_refusal(struct rate_limits *l, struct rate_limit_bucket *b,
                                      const struct rate_limit_response_headers *reply, int64_t now)
{
    double seconds = reply->retry_after >= 0 ? reply->retry_after : 1;
    int64_t until = now + (int64_t)(seconds * 1e9) + SECOND / 100;

    if (reply->global) {
        l->blocked_until = until > l->blocked_until ? until : l->blocked_until;
        return;
    }
    b->is_known = true;
    b->remaining = 0;
    b->reset = until;
}

void client_rate_limits_record_response(struct rate_limits *l, struct rate_limit_bucket *b,
                                        const char *method, struct str path,
                                        const struct rate_limit_response_headers *reply)
{
    char route[MAX_KEY], key[MAX_KEY];
    int64_t now = clock_monotonic_ns();
    struct str major;

    format_route(route, method, path, &major);
    pthread_mutex_lock(&l->lock);
    b->pending--;
    if (reply->bucket[0]) {
        /* Routes with the same bucket share its limit. Each channel or guild has a bucket of its
         * own. */
        snprintf(key, sizeof key, "%s:%.*s", reply->bucket, STR_ARGS(major));
        b = find_or_add_bucket(l, key);
        map_set_value(&l->routes, hash_str(str_of(route)), b);
    }
    l->invalid_count += reply->status == 401 || reply->status == 403 || reply->status == 429;
    if (reply->status == 429)
        record_rate_limit_refusal(l, b, reply, now);
    else if (reply->remaining >= 0 && reply->reset_after >= 0) {
        int64_t reset = now + (int64_t)(reply->reset_after * 1e9), left = reply->remaining;

        /* The response does not count requests that were sent after the server wrote it, so
         * subtract those. */
        left -= b->pending;
        b->remaining = b->is_known && b->remaining < left ? b->remaining : left;
        b->reset = b->is_known && b->reset > reset ? b->reset : reset;
        b->is_known = true;
    } else if (reply->status && !reply->bucket[0]) {
        /* The route has no limit of its own. */
        b->is_known = true;
        b->remaining = INT64_MAX / 2;
        b->reset = now + SECOND;
    }
    pthread_cond_broadcast(&l->changed);
    pthread_mutex_unlock(&l->lock);
}
