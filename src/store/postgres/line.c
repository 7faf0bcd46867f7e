/* line.c - calls committed functions in commit order, although workers commit concurrently.
 *
 * The worker whose COMMIT was answered first may be scheduled last. So a work item is appended to a
 * list before its COMMIT is sent, and finished when all items before it are answered.
 *
 * Where the order can be observed, the list order is the commit order: assume that T2 saw or
 * overwrote rows of T1. PostgreSQL allows that only after T1 has committed, because T2's snapshot
 * is newer or T2 waited for a row lock of T1. So T2 sent its COMMIT after T1's COMMIT had arrived,
 * and is behind T1 in the list. The order of independent transactions does not matter.
 *
 * No worker waits for its turn. A worker whose item is not at the head leaves it in the list and
 * takes the next one from the queue; the worker whose item is at the head finishes all answered
 * items behind it. An unanswered COMMIT blocks the list until its connection times out. */
#include "base/mem.h"
#include "store/postgres/postgres.h"

void commit_line_init(struct commit_line *l)
{
    pthread_mutex_init(&l->lock, NULL);
    links_init(&l->works);
    l->announcing = false;
}

void commit_line_clear(struct commit_line *l)
{
    pthread_mutex_destroy(&l->lock);
}

void commit_line_enter(struct commit_line *l, struct work *w)
{
    w->in_line = true;
    w->answered = false;
    pthread_mutex_lock(&l->lock);
    links_append(&l->works, &w->line);
    pthread_mutex_unlock(&l->lock);
}

/* Removes the first item if its COMMIT was acknowledged; otherwise returns NULL. */
static struct work *take_answered(struct commit_line *l)
{
    if (links_empty(&l->works))
        return NULL;
    struct work *w = container_of(l->works.next, struct work, line);
    if (!w->answered)
        return NULL;
    link_remove(&w->line);
    w->in_line = false;
    return w;
}

/* Finishes all acknowledged items at the head of the list. Call it with the lock held; the lock is
 * released during each work_finish. Only one thread does this at a time, and it also handles items
 * that are acknowledged meanwhile. */
static void announce_answered(struct commit_line *l, struct store *s)
{
    struct work *w;

    if (l->announcing)
        return;
    l->announcing = true;
    while ((w = take_answered(l))) {
        pthread_mutex_unlock(&l->lock);
        work_finish(s, w, OK);
        pthread_mutex_lock(&l->lock);
    }
    l->announcing = false;
}

void commit_line_leave(struct commit_line *l, struct store *s, struct work *w)
{
    w->in_line = false;
    pthread_mutex_lock(&l->lock);
    link_remove(&w->line);
    announce_answered(l, s);
    pthread_mutex_unlock(&l->lock);
}

void commit_line_finish(struct commit_line *l, struct store *s, struct work *w)
{
    pthread_mutex_lock(&l->lock);
    w->answered = true;
    announce_answered(l, s);
    pthread_mutex_unlock(&l->lock);
}
