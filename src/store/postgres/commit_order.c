/* commit_order.c - calls committed functions in commit order, although workers commit concurrently.
 *
 * The worker whose COMMIT was answered first may be scheduled last. So a work item is appended to a
 * list before its COMMIT is sent, and finished when all items before it are answered.
 *
 * Where the order can be observed, the list order is the commit order: assume that T2 saw or
 * overwrote rows of T1. PostgreSQL allows that only after T1 has committed, because T2's snapshot
 * is newer or T2 waited for a row lock of T1. So T2 sent its COMMIT after T1's COMMIT had arrived,
 * and is behind T1 in the list. The order of independent transactions does not matter.
 *
 * No worker blocks. A worker whose item is not at the head leaves the item in the list and
 * continues with the queue; the worker whose item is at the head finishes all answered items behind
 * it. An unanswered COMMIT blocks the list until its connection times out. */
#include "base/mem.h"
#include "store/postgres/postgres.h"

void postgres_commit_order_init(struct postgres_commit_order *l)
{
    pthread_mutex_init(&l->lock, NULL);
    linked_list_init(&l->works);
    l->finishing = false;
}

void postgres_commit_order_clear(struct postgres_commit_order *l)
{
    pthread_mutex_destroy(&l->lock);
}

void postgres_commit_order_add_work_item(struct postgres_commit_order *l, struct work_item *w)
{
    w->in_commit_order = true;
    w->answered = false;
    pthread_mutex_lock(&l->lock);
    linked_list_append(&l->works, &w->commit_link);
    pthread_mutex_unlock(&l->lock);
}

/* If the first item's COMMIT was acknowledged, removes and returns the item, otherwise NULL. */
static struct work_item *remove_first_committed(struct postgres_commit_order *l)
{
    if (linked_list_is_empty(&l->works))
        return NULL;
    struct work_item *w = container_of(l->works.next, struct work_item, commit_link);
    if (!w->answered)
        return NULL;
    linked_list_remove(&w->commit_link);
    w->in_commit_order = false;
    return w;
}

/* Finishes all acknowledged items at the head of the list. Call it with the lock held; the lock is
 * released during each work_item_call_callbacks. Only one OS thread at a time finishes items; this
 * thread also finishes items whose COMMIT is acknowledged meanwhile. */
static void finish_committed_work_items(struct postgres_commit_order *l, struct store *s)
{
    struct work_item *w;

    if (l->finishing)
        return;
    l->finishing = true;
    while ((w = remove_first_committed(l))) {
        pthread_mutex_unlock(&l->lock);
        work_item_call_callbacks(s, w, OK);
        pthread_mutex_lock(&l->lock);
    }
    l->finishing = false;
}

void postgres_commit_order_remove_work_item(struct postgres_commit_order *l, struct store *s,
                                            struct work_item *w)
{
    w->in_commit_order = false;
    pthread_mutex_lock(&l->lock);
    linked_list_remove(&w->commit_link);
    finish_committed_work_items(l, s);
    pthread_mutex_unlock(&l->lock);
}

void postgres_commit_order_finish_work_item(struct postgres_commit_order *l, struct store *s,
                                            struct work_item *w)
{
    pthread_mutex_lock(&l->lock);
    w->answered = true;
    finish_committed_work_items(l, s);
    pthread_mutex_unlock(&l->lock);
}
