/* queue.c - FIFO queue of work items for the threads of the store. */
#include <time.h>

#include "store/internal.h"

void wait_init(pthread_cond_t *c)
{
    pthread_condattr_t attr;

    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(c, &attr);
    pthread_condattr_destroy(&attr);
}

void queue_init(struct queue *q)
{
    *q = (struct queue){ .last = &q->first };
    pthread_mutex_init(&q->lock, NULL);
    wait_init(&q->filled);
}

void queue_clear(struct queue *q)
{
    pthread_cond_destroy(&q->filled);
    pthread_mutex_destroy(&q->lock);
}

/* Releases the lock before it wakes a sleeping thread, which would otherwise wait for the lock.
 * Busy threads check the queue when they finish, so most pushes need no system call. */
static void unlock_and_wake(struct queue *q)
{
    bool wake = q->sleepers > 0;

    pthread_mutex_unlock(&q->lock);
    if (wake)
        pthread_cond_signal(&q->filled);
}

void queue_push(struct queue *q, struct work *w)
{
    w->next = NULL;
    pthread_mutex_lock(&q->lock);
    *q->last = w;
    q->last = &w->next;
    unlock_and_wake(q);
}

void queue_push_back(struct queue *q, struct work *first, struct work *last)
{
    pthread_mutex_lock(&q->lock);
    last->next = q->first;
    if (!q->first)
        q->last = &last->next;
    q->first = first;
    pthread_mutex_unlock(&q->lock);
    pthread_cond_broadcast(&q->filled);
}

struct timespec wait_deadline(int64_t ms)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += (time_t)(ms / 1000);
    t.tv_nsec += (long)(ms % 1000) * 1000000;
    if (t.tv_nsec >= 1000000000) {
        t.tv_sec++;
        t.tv_nsec -= 1000000000;
    }
    return t;
}

static void wait_filled(struct queue *q, int64_t patience_ms)
{
    struct timespec until = wait_deadline(patience_ms < 0 ? 0 : patience_ms);
    int timed_out = 0;

    q->sleepers++;
    while (!q->first && !q->closed && !timed_out)
        timed_out = patience_ms < 0 ? pthread_cond_wait(&q->filled, &q->lock)
                                    : pthread_cond_timedwait(&q->filled, &q->lock, &until);
    q->sleepers--;
}

/* Removes the work items before *end from the queue and returns the first one. */
static struct work *queue_cut(struct queue *q, struct work **end)
{
    struct work *first = q->first;

    q->first = *end;
    if (!q->first)
        q->last = &q->first;
    if (first)
        *end = NULL;
    return first;
}

struct work *queue_take(struct queue *q, unsigned max, int64_t patience_ms)
{
    pthread_mutex_lock(&q->lock);
    if (!q->first)
        wait_filled(q, patience_ms);

    struct work **end = &q->first;
    while (*end && max--)
        end = &(*end)->next;
    struct work *first = queue_cut(q, end);
    pthread_mutex_unlock(&q->lock);
    return first;
}

static bool can_share(const struct work *w)
{
    return w->mode == STORE_APPEND && w->prefetch && w->owner && !w->by_itself;
}

static bool has_owner(const struct work *first, const struct work *end, uint64_t owner)
{
    for (; first != end; first = first->next)
        if (first->owner == owner)
            return true;
    return false;
}

struct work *queue_take_alike(struct queue *q, unsigned max, int64_t patience_ms)
{
    pthread_mutex_lock(&q->lock);
    if (!q->first)
        wait_filled(q, patience_ms);

    struct work **end = &q->first;
    if (*end && can_share(*end))
        while (*end && max-- && can_share(*end) && !has_owner(q->first, *end, (*end)->owner))
            end = &(*end)->next;
    else if (*end)
        end = &(*end)->next;
    struct work *first = queue_cut(q, end);
    pthread_mutex_unlock(&q->lock);
    return first;
}

void queue_close(struct queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->closed = true;
    pthread_cond_broadcast(&q->filled);
    pthread_mutex_unlock(&q->lock);
}

bool queue_closed(struct queue *q)
{
    pthread_mutex_lock(&q->lock);
    bool closed = q->closed;
    pthread_mutex_unlock(&q->lock);
    return closed;
}
