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

static int64_t position_of_event(const struct gateway_event *n)
{
    return (int64_t)(n->number >> EVENT_NUMBER_BITS);
}

static bool session_needs_event_in_range(const struct session_interest *interest,
                                         const struct gateway_event *n, int64_t after, int64_t last)
{
    return position_of_event(n) > after && position_of_event(n) <= last &&
           session_interest_includes(interest, n);
}

/* Finds the parts of the unread entries that the session needs. Returns whether there are any. */
static bool find_unread_parts(const struct event_log_page *p, int64_t after, int64_t last,
                              const struct session_interest *interest, struct log_part_set *ret)
{
    bool found = false;

    *ret = (struct log_part_set){ 0 };
    for (size_t i = 0; i < p->count; i++) {
        const struct gateway_event *n = p->events[i];

        if (!event_is_unread_log_entry(n) ||
            !session_needs_event_in_range(interest, n, after, last))
            continue;
        session_interest_add_parts_of_entry(interest, n, ret);
        found = true;
    }
    return found;
}

void event_log_page_visit_events(const struct event_log_page *p, int64_t after, int64_t last,
                                 const struct session_interest *interest,
                                 void (*take)(void *arg, struct gateway_event *n), void *arg)
{
    for (size_t i = 0; i < p->count; i++)
        if (!event_is_unread_log_entry(p->events[i]) &&
            session_needs_event_in_range(interest, p->events[i], after, last))
            take(arg, p->events[i]);
}

enum log_page_visit event_log_page_cache_visit_events(
    struct log_page_cache *c, int64_t number, int64_t after, int64_t last,
    const struct session_interest *interest, int64_t now_ms,
    void (*take)(void *arg, struct gateway_event *n), void *arg, struct log_part_set *ret_unread)
{
    enum log_page_visit visit = LOG_PAGE_MISSING;

    pthread_mutex_lock(&c->lock);
    struct event_log_page **found = find_page(c, number);
    if (found && (*found)->last >= last) {
        (*found)->used_ms = now_ms;
        visit = find_unread_parts(*found, after, last, interest, ret_unread) ? LOG_PAGE_INCOMPLETE
                                                                             : LOG_PAGE_VISITED;
    }
    if (visit == LOG_PAGE_VISITED)
        event_log_page_visit_events(*found, after, last, interest, take, arg);
    pthread_mutex_unlock(&c->lock);
    return visit;
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

/* Returns the index behind the events of the position of event i. */
static size_t end_of_position(const struct event_log_page *p, size_t i)
{
    int64_t position = position_of_event(p->events[i]);

    while (i < p->count && position_of_event(p->events[i]) == position)
        i++;
    return i;
}

static int64_t position_at(const struct event_log_page *p, size_t i)
{
    return i < p->count ? position_of_event(p->events[i]) : INT64_MAX;
}

/* Adds a reference to the events from `begin` to `end`. */
static void copy_events(struct event_log_page *to, const struct event_log_page *from, size_t begin,
                        size_t end)
{
    for (size_t i = begin; i < end; i++)
        event_log_page_add_event(to, gateway_event_ref(from->events[i]));
}

/* Creates a page with the positions of both. Where `old` has an unread entry, the events of `new`
 * are used. */
static struct event_log_page *merge_pages(const struct event_log_page *old,
                                          const struct event_log_page *new)
{
    struct event_log_page *ret =
        event_log_page_new(old->number, old->after, new->last > old->last ? new->last : old->last);
    size_t i = 0, k = 0;

    ret->used_ms = new->used_ms;
    while (i < old->count || k < new->count) {
        int64_t at = position_at(old, i), other = position_at(new, k);
        size_t i_end = at <= other ? end_of_position(old, i) : i;
        size_t k_end = other <= at ? end_of_position(new, k) : k;

        if (at <= other && !(at == other && event_is_unread_log_entry(old->events[i])))
            copy_events(ret, old, i, i_end);
        else
            copy_events(ret, new, k, k_end);
        i = i_end;
        k = k_end;
    }
    return ret;
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
    struct event_log_page **cached = find_page(c, p->number);
    if (cached && (*cached)->last >= p->after) {
        struct event_log_page *old = *cached;

        *cached = merge_pages(old, p);
        event_log_page_free(old);
    } else if (is_whole_page(p))
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
