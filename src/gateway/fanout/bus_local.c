/* bus_local.c - numbers events and posts them to every loop of the process. */
#include <unistd.h>

#include "base/planted.h"
#include "gateway/fanout/bus.h"
#include "gateway/sessions/hub.h"
#include "gateway/sessions/registry.h"
#include "gateway/wire/news.h"

/* Loops without subscribers get the events too: the event number of a loop is its progress,
 * which sessions that move between loops or nodes rely on. */
static void batch_post(const struct gateway *g, struct news_batch *b)
{
    /* After the last post the loops own the batch and may free it. */
    unsigned loops = b->loops;

    for (unsigned i = 0; i < loops; i++) {
        struct parcel *p = &b->parcels[i];

        if (i && fault_planted(PLANTED_LATE_LOOPS))
            usleep(1000);
        p->post.run = hub_receive;
        p->hub = g->hubs[i];
        loop_post(g->hubs[i]->loop, &p->post);
    }
}

/* Numbers and posts the events with the lock held, so that every loop sees the same order.
 * Numbers begin after `before` or the last number given, whichever is larger. */
static void batch_publish(struct gateway *g, struct news_batch *b, uint64_t before)
{
    pthread_mutex_lock(&g->publishing);
    if (b->count && before > g->published)
        g->published = before;
    for (size_t i = 0; i < b->count; i++)
        b->news[i]->number = ++g->published;
    /* The gateway may have started or stopped its loops since the batch was created. */
    if (!b->count || !b->loops || b->loops != g->hub_count)
        news_batch_free(b);
    else
        batch_post(g, b);
    pthread_mutex_unlock(&g->publishing);
}

void publish(struct gateway *g, struct news *n)
{
    struct news_batch *b = news_batch_new(g->hub_count, 1);

    news_batch_add(b, n);
    batch_publish(g, b, 0);
}

/* Sessions do not subscribe to the private channels of their account, of which there may be a
 * hundred thousand. Events of a private channel are sent to each recipient's account. */
void news_each(const struct announcement *list, void (*take)(void *arg, struct news *n), void *arg)
{
    for (; list; list = list->next) {
        const snowflake *people = list->people.items;

        if (list->to.kind != SUBJECT_CHANNEL)
            take(arg, news_announced(list, list->to));
        for (size_t i = 0; i < list->people.count; i++)
            take(arg, news_announced(list, to_person_in(list->to.id, people[i])));
    }
}

/* Returns an upper bound of the number of events that news_each creates. */
static size_t news_count(const struct announcement *list)
{
    size_t count = 0;

    for (; list; list = list->next)
        count += 1 + list->people.count;
    return count;
}

static void batch_take(void *arg, struct news *n)
{
    news_batch_add(arg, n);
}

/* All events of a log position get their numbers together, the same on every node. A position
 * without events uses no number, because store reads wait for the event with the last number. */
void gateway_announce_at(struct gateway *g, int64_t position, const struct announcement *list)
{
    if (!list)
        return;
    struct news_batch *b = news_batch_new(g->hub_count, news_count(list));

    news_each(list, batch_take, b);
    batch_publish(g, b, (uint64_t)position << NUMBERS_OF_POSITION);
}

void gateway_announce(struct gateway *g, const struct announcement *list)
{
    gateway_announce_at(g, 0, list);
}
