/* line.c - commits are announced in their order, whoever hears of them first.
 *
 * Several workers commit at the same time, and the one that was answered first may
 * be the last to run again. So a work takes its place in line before its COMMIT is
 * sent, and is announced when all before it were answered.
 *
 * That is the order of the commits wherever somebody could tell: let T2 have seen or
 * overwritten what T1 wrote. PostgreSQL allows that only once T1 is committed, be it
 * that T2's snapshot is younger or that T2 waited for a row that T1 held. So T2 sent
 * its COMMIT after T1's had arrived, and stands behind it. Two works of which neither
 * met the other may stand either way.
 *
 * Nobody waits for its turn: who is answered too early leaves its work in line and
 * takes the next one from the queue; who is answered at the head of the line announces
 * what stands ready behind it. A commit that is never answered holds up the line until
 * its connection is given up, which the time-outs of connections see to. */
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

/* The first in line, taken out; NULL when it has no answer yet. */
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

/* Called and returns with the lock held, and lets go of it while it announces: the
 * others go on. There is one who announces; what gets ready meanwhile is its too. */
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
