/* bus_local.c - the bus of one process: a message to each loop. */
#include "base/mem.h"
#include "gateway/fanout/bus.h"
#include "gateway/sessions/hub.h"
#include "gateway/sessions/registry.h"
#include "gateway/wire/news.h"

/* Numbered and posted under one lock, so that every loop sees the same order. */
void publish(struct gateway *g, struct news *n)
{
    pthread_mutex_lock(&g->publishing);
    n->number = ++g->published;
    for (unsigned i = 0; i < g->hub_count; i++) {
        struct parcel *p = mem_new(sizeof *p);

        p->post.run = hub_receive;
        p->hub = g->hubs[i];
        p->news = news_ref(n);
        loop_post(g->hubs[i]->loop, &p->post);
    }
    pthread_mutex_unlock(&g->publishing);
    news_unref(n);
}

/* Sessions do not listen to each private channel of their account, as there may be a
 * hundred thousand: what happens there comes to them as people. */
void gateway_announce(struct gateway *g, const struct announcement *list)
{
    for (; list; list = list->next) {
        const snowflake *people = list->people.items;

        if (list->to.kind != SUBJECT_CHANNEL)
            publish(g, news_announced(list, list->to));
        for (size_t i = 0; i < list->people.count; i++)
            publish(g, news_announced(list, to_person_in(list->to.id, people[i])));
    }
}
