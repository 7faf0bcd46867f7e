/* log_page_cache.c - decoded pages of the event log, which sessions that resume share. */
#include "gateway/resume/log_page_cache.h"

#include <pthread.h>

#include "base/mem.h"

enum {
    /* Pages with 20,480 log positions; a session misses at most MISSED_POSITIONS_MAX. */
    CACHED_PAGES_MAX = 160,
    UNUSED_PAGE_MS = 30 * 1000,
};

struct log_page_cache {
    pthread_mutex_t lock;
    struct event_log_page *pages[CACHED_PAGES_MAX];
    size_t count;
};

struct event_log_page *event_log_page_new(int64_t number, int64_t after, int64_t last)
{
    struct event_log_page *p = mem_new(sizeof *p);

    p->number = number;
    p->after = after;
    p->last = last;
    return p;
}

void event_log_page_add_event(struct event_log_page *p, struct gateway_event *n)
{
    if (p->count == p->cap) {
        p->cap = p->cap ? p->cap * 2 : 64;
        p->events = mem_resize(p->events, p->cap * sizeof *p->events);
    }
    p->events[p->count++] = n;
}

void event_log_page_free(struct event_log_page *p)
{
    for (size_t i = 0; p && i < p->count; i++)
        gateway_event_unref(p->events[i]);
    if (p)
        mem_free(p->events);
    mem_free(p);
}

struct log_page_cache *event_log_page_cache_new(void)
{
    struct log_page_cache *c = mem_new(sizeof *c);

    pthread_mutex_init(&c->lock, NULL);
    return c;
}

void event_log_page_cache_free(struct log_page_cache *c)
{
    for (size_t i = 0; c && i < c->count; i++)
        event_log_page_free(c->pages[i]);
    if (c)
        pthread_mutex_destroy(&c->lock);
    mem_free(c);
}

static struct event_log_page **find_page(struct log_page_cache *c, int64_t number)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->pages[i]->number == number)
            return &c->pages[i];
    return NULL;
}

bool event_log_page_cache_visit_events(struct log_page_cache *c, int64_t number, int64_t last,
                                       int64_t now_ms,
                                       void (*take)(void *arg, struct gateway_event *n), void *arg)
{
    pthread_mutex_lock(&c->lock);
    struct event_log_page **found = find_page(c, number);
    if (found && (*found)->last < last)
        found = NULL;
    for (size_t i = 0; found && i < (*found)->count; i++)
        take(arg, (*found)->events[i]);
    if (found)
        (*found)->used_ms = now_ms;
    pthread_mutex_unlock(&c->lock);
    return found;
}

static struct event_log_page **least_recently_used_page(struct log_page_cache *c)
{
    struct event_log_page **least = &c->pages[0];

    for (size_t i = 1; i < c->count; i++)
        if (c->pages[i]->used_ms < (*least)->used_ms)
            least = &c->pages[i];
    return least;
}

int64_t event_log_page_cache_last_position(struct log_page_cache *c, int64_t number)
{
    pthread_mutex_lock(&c->lock);
    struct event_log_page **found = find_page(c, number);
    int64_t last = found ? (*found)->last : 0;
    pthread_mutex_unlock(&c->lock);
    return last;
}

static void append_page(struct event_log_page *to, struct event_log_page *p)
{
    for (size_t i = 0; i < p->count; i++)
        event_log_page_add_event(to, p->events[i]);
    p->count = 0; /* the references have moved */
    to->last = p->last;
    to->used_ms = p->used_ms;
}

static bool is_whole_page(const struct event_log_page *p)
{
    return p->after < p->number * LOG_PAGE_POSITIONS || p->after == 0;
}

/* Puts the page into a slot and returns the page that it replaces, or NULL. */
static struct event_log_page *insert_whole_page(struct log_page_cache *c, struct event_log_page *p)
{
    struct event_log_page **slot = find_page(c, p->number), *replaced;

    if (!slot && c->count < CACHED_PAGES_MAX)
        slot = &c->pages[c->count++];
    else if (!slot)
        slot = least_recently_used_page(c);
    replaced = *slot;
    *slot = p;
    return replaced;
}

void event_log_page_cache_insert(struct log_page_cache *c, struct event_log_page *p, int64_t now_ms)
{
    struct event_log_page *unused = p;

    p->used_ms = now_ms;
    pthread_mutex_lock(&c->lock);
    /* Another thread may have put the same page into the cache meanwhile: keep the longer one. */
    struct event_log_page **cached = find_page(c, p->number);
    if (cached && (*cached)->last == p->after)
        append_page(*cached, p);
    else if (is_whole_page(p) && !(cached && (*cached)->last >= p->last))
        unused = insert_whole_page(c, p);
    pthread_mutex_unlock(&c->lock);
    event_log_page_free(unused);
}

void event_log_page_cache_evict_unused(struct log_page_cache *c, int64_t now_ms)
{
    if (!c)
        return;
    pthread_mutex_lock(&c->lock);
    for (size_t i = c->count; i-- > 0;)
        if (now_ms - c->pages[i]->used_ms > UNUSED_PAGE_MS) {
            event_log_page_free(c->pages[i]);
            c->pages[i] = c->pages[--c->count];
            c->pages[c->count] = NULL;
        }
    pthread_mutex_unlock(&c->lock);
}
