/* queue.c - FIFO queue of work items for the threads of the store. */
#include <time.h>

#include "store/internal.h"

void init_condition_with_monotonic_clock(pthread_cond_t *c)
{
    pthread_condattr_t attr;

    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(c, &attr);
    pthread_condattr_destroy(&attr);
}

void work_queue_init(struct work_queue *q)
{
    *q = (struct work_queue){ .last = &q->first };
    pthread_mutex_init(&q->lock, NULL);
    init_condition_with_monotonic_clock(&q->filled);
}

void work_queue_clear(struct work_queue *q)
{
    pthread_cond_destroy(&q->filled);
    pthread_mutex_destroy(&q->lock);
}

/* Releases the lock, then wakes a sleeping thread; in the other order, that thread would wait for
 * the lock. Busy threads check the queue when they finish, so most pushes need no system call. */
static void unlock_queue_and_wake_thread(struct work_queue *q)
{
    bool wake = q->sleepers > 0;

    pthread_mutex_unlock(&q->lock);
    if (wake)
        pthread_cond_signal(&q->filled);
}

void work_queue_push(struct work_queue *q, struct work_item *w)
{
    w->next = NULL;
    pthread_mutex_lock(&q->lock);
    *q->last = w;
    q->last = &w->next;
    unlock_queue_and_wake_thread(q);
}

void work_queue_push_front(struct work_queue *q, struct work_item *first, struct work_item *last)
{
    pthread_mutex_lock(&q->lock);
    last->next = q->first;
    if (!q->first)
        q->last = &last->next;
    q->first = first;
    pthread_mutex_unlock(&q->lock);
    pthread_cond_broadcast(&q->filled);
}

struct timespec timespec_after_ms(int64_t ms)
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

static void wait_until_queue_has_items(struct work_queue *q, int64_t timeout_ms)
{
    struct timespec until = timespec_after_ms(timeout_ms < 0 ? 0 : timeout_ms);
    int timed_out = 0;

    q->sleepers++;
    while (!q->first && !q->closed && !timed_out)
        timed_out = timeout_ms < 0 ? pthread_cond_wait(&q->filled, &q->lock)
                                   : pthread_cond_timedwait(&q->filled, &q->lock, &until);
    q->sleepers--;
}

/* Removes the work items before `end` from the queue and returns the first of them. */
static struct work_item *detach_work_items_before(struct work_queue *q, struct work_item **end)
{
    struct work_item *first = q->first;

    q->first = *end;
    if (!q->first)
        q->last = &q->first;
    if (first)
        *end = NULL;
    return first;
}

struct work_item *work_queue_pop_batch(struct work_queue *q, unsigned max, int64_t timeout_ms)
{
    pthread_mutex_lock(&q->lock);
    if (!q->first)
        wait_until_queue_has_items(q, timeout_ms);

    struct work_item **end = &q->first;
    while (*end && max--)
        end = &(*end)->next;
    struct work_item *first = detach_work_items_before(q, end);
    pthread_mutex_unlock(&q->lock);
    return first;
}

bool work_item_can_share_transaction(const struct work_item *w)
{
    return w->mode == STORE_APPEND && w->may_share && w->owner && !w->by_itself;
}

static bool work_items_include_owner(const struct work_item *first, const struct work_item *end,
                                     uint64_t owner)
{
    for (; first != end; first = first->next)
        if (first->owner == owner)
            return true;
    return false;
}

struct work_item *work_queue_pop_items_of_one_commit(struct work_queue *q, unsigned max,
                                                     int64_t timeout_ms)
{
    pthread_mutex_lock(&q->lock);
    if (!q->first)
        wait_until_queue_has_items(q, timeout_ms);

    struct work_item **end = &q->first;
    if (*end && work_item_can_share_transaction(*end))
        while (*end && max-- && work_item_can_share_transaction(*end) &&
               !work_items_include_owner(q->first, *end, (*end)->owner))
            end = &(*end)->next;
    else if (*end)
        end = &(*end)->next;
    struct work_item *first = detach_work_items_before(q, end);
    pthread_mutex_unlock(&q->lock);
    return first;
}

void work_queue_close(struct work_queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->closed = true;
    pthread_cond_broadcast(&q->filled);
    pthread_mutex_unlock(&q->lock);
}

bool work_queue_is_closed(struct work_queue *q)
{
    pthread_mutex_lock(&q->lock);
    bool closed = q->closed;
    pthread_mutex_unlock(&q->lock);
    return closed;
}
