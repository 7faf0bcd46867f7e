/* bus_local.c - the bus of one process: a message to each loop. */
#include "base/mem.h"
#include "gateway/internal.h"

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

void gateway_announce(struct gateway *g, const struct announcement *list)
{
    for (; list; list = list->next) {
        struct news *n = news_new(list->event, list->to, list->payload);

        n->guild_id = list->guild_id;
        publish(g, n);
    }
}
