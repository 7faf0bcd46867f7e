/* bus_local.c - the bus of one process: a message to each loop. */
#include "base/mem.h"
#include "gateway/fanout/bus.h"
#include "gateway/sessions/hub.h"
#include "gateway/sessions/registry.h"
#include "gateway/wire/news.h"

/* With the lock, so that every loop sees the same order. */
static void publish_next(struct gateway *g, struct news *n)
{
    n->number = ++g->published;
    for (unsigned i = 0; i < g->hub_count; i++) {
        struct parcel *p = mem_new(sizeof *p);

        p->post.run = hub_receive;
        p->hub = g->hubs[i];
        p->news = news_ref(n);
        loop_post(g->hubs[i]->loop, &p->post);
    }
    news_unref(n);
}

void publish(struct gateway *g, struct news *n)
{
    pthread_mutex_lock(&g->publishing);
    publish_next(g, n);
    pthread_mutex_unlock(&g->publishing);
}

/* Sessions do not listen to each private channel of their account, as there may be a
 * hundred thousand: what happens there comes to them as people. */
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

struct publishing {
    struct gateway *gateway;
    uint64_t first; /* the number before the first */
};

/* A position without news takes no numbers: who waits for all that was published waits for
 * events that come. */
static void publish_taken(void *arg, struct news *n)
{
    const struct publishing *p = arg;

    if (p->first > p->gateway->published)
        p->gateway->published = p->first;
    publish_next(p->gateway, n);
}

/* All of a position get their numbers at once: the same on every server. */
void gateway_announce_at(struct gateway *g, int64_t position, const struct announcement *list)
{
    struct publishing p = { g, (uint64_t)position << NUMBERS_OF_POSITION };

    pthread_mutex_lock(&g->publishing);
    news_each(list, publish_taken, &p);
    pthread_mutex_unlock(&g->publishing);
}

void gateway_announce(struct gateway *g, const struct announcement *list)
{
    gateway_announce_at(g, 0, list);
}
