/* fair_queue.c - round-robin queues of long reads: one queue per owner. An owner with a thousand
 * long reads delays others by one read at most. A read that exceeds SHORT_READ_LIMIT_MS is aborted
 * and restarts with READ_PRIORITY_LONG, which has a thread of its own, so that other reads do not
 * wait until it is finished. */
#include "base/clock.h"
#include "base/mem.h"
#include "store/internal.h"

/* Waiting reads of one owner. Freed when the queue becomes empty. */
struct owner_queue {
    struct list_link round_robin;
    uint64_t owner;
    struct work_item *first, **last;
};

void fair_queue_init(struct fair_queue *l)
{
    *l = (struct fair_queue){ 0 };
    pthread_mutex_init(&l->lock, NULL);
    init_condition_with_monotonic_clock(&l->filled);
    for (int i = 0; i < READ_PRIORITY_COUNT; i++) {
        linked_list_init(&l->by_priority[i].round_robin);
        map_init(&l->by_priority[i].by_owner);
    }
}

void fair_queue_clear(struct fair_queue *l)
{
    for (int i = 0; i < READ_PRIORITY_COUNT; i++)
        map_clear(&l->by_priority[i].by_owner);
    pthread_cond_destroy(&l->filled);
    pthread_mutex_destroy(&l->lock);
}

/* Returns the queue of an owner. Owner 0 (the server itself) gets a new queue for each read. */
static struct owner_queue *owner_queue_get_or_create(struct fair_queue_priority *k, uint64_t owner)
{
    struct owner_queue *worker = owner ? map_find_value(&k->by_owner, owner) : NULL;

    if (worker)
        return worker;
    worker = mem_new(sizeof *worker);
    worker->owner = owner;
    worker->last = &worker->first;
    linked_list_append(&k->round_robin, &worker->round_robin);
    if (owner)
        map_set_value(&k->by_owner, owner, worker);
    return worker;
}

static void owner_queue_push(struct fair_queue_priority *k, struct work_item *w)
{
    struct owner_queue *worker = owner_queue_get_or_create(k, w->owner);

    w->next = NULL;
    *worker->last = w;
    worker->last = &w->next;
}

/* Removes and returns the oldest read of the owner at the head of the queue, and moves this owner
 * to the end. Returns NULL if no read waits. */
static struct work_item *pop_read_of_next_owner(struct fair_queue_priority *k)
{
    if (linked_list_is_empty(&k->round_robin))
        return NULL;

    struct owner_queue *worker = container_of(k->round_robin.next, struct owner_queue, round_robin);
    struct work_item *w = worker->first;

    worker->first = w->next;
    linked_list_remove(&worker->round_robin);
    if (worker->first) {
        linked_list_append(&k->round_robin, &worker->round_robin);
        return w;
    }
    if (worker->owner)
        map_remove_value(&k->by_owner, worker->owner);
    mem_free(worker);
    return w;
}

static enum read_priority get_priority_of_read(const struct work_item *w)
{
    return w->urgent ? READ_PRIORITY_URGENT : w->is_long ? READ_PRIORITY_LONG : READ_PRIORITY_NEW;
}

bool fair_queue_push(struct fair_queue *l, struct work_item *w)
{
    enum read_priority kind = get_priority_of_read(w);

    pthread_mutex_lock(&l->lock);
    bool open = !l->closed, wake = l->sleepers > 0;

    if (open)
        owner_queue_push(&l->by_priority[kind], w);
    pthread_mutex_unlock(&l->lock);
    if (wake && kind == READ_PRIORITY_LONG)
        /* wake all waiting threads, because the one that is woken first may not run long reads */
        pthread_cond_broadcast(&l->filled);
    else if (wake)
        pthread_cond_signal(&l->filled);
    return open;
}

static struct work_item *pop_read_by_priority(struct fair_queue *l, bool runs_long)
{
    struct work_item *w = pop_read_of_next_owner(&l->by_priority[READ_PRIORITY_URGENT]);

    if (!w && runs_long)
        w = pop_read_of_next_owner(&l->by_priority[READ_PRIORITY_LONG]);
    return w ? w : pop_read_of_next_owner(&l->by_priority[READ_PRIORITY_NEW]);
}

struct work_item *fair_queue_pop(struct fair_queue *l, bool runs_long, int64_t timeout_ms)
{
    struct timespec until = timespec_after_ms(timeout_ms < 0 ? 0 : timeout_ms);
    struct work_item *w;
    int timed_out = 0;

    pthread_mutex_lock(&l->lock);
    l->sleepers++;
    while (!(w = pop_read_by_priority(l, runs_long)) && !l->closed && !timed_out)
        timed_out = timeout_ms < 0 ? pthread_cond_wait(&l->filled, &l->lock)
                                   : pthread_cond_timedwait(&l->filled, &l->lock, &until);
    l->sleepers--;
    pthread_mutex_unlock(&l->lock);
    return w;
}

void fair_queue_close(struct fair_queue *l)
{
    pthread_mutex_lock(&l->lock);
    l->closed = true;
    pthread_cond_broadcast(&l->filled);
    pthread_mutex_unlock(&l->lock);
}

bool fair_queue_is_closed(struct fair_queue *l)
{
    pthread_mutex_lock(&l->lock);
    bool closed = l->closed;
    pthread_mutex_unlock(&l->lock);
    return closed;
}
