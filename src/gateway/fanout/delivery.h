/* delivery.h - one event on its way to the sessions of a loop. */
#ifndef GATEWAY_FANOUT_DELIVERY_H
#define GATEWAY_FANOUT_DELIVERY_H

#include "gateway/wire/news.h"

struct hub;
struct seat;
struct session;
struct topic;

struct delivery {
    struct hub *hub;
    struct news *news; /* NULL: no event is at hand */
    const struct event_info *info;
    const struct facts *facts;       /* the news' own */
    struct topic *topic;             /* who listens; NULL: nobody, or nobody any more */
    struct sight_report *sight;      /* NULL: it shows and hides no channels */
    struct changed_channel *changed; /* NULL: everybody sees it who saw it before */
    bool crowd;                      /* it is for many, and nothing else waits to leave with it */
};

struct delivery delivery_of(struct hub *h, struct news *n);
/* Whether the session hears of it, as far as its seat does not matter. */
bool delivery_receives(const struct delivery *d, const struct session *s);
/* A guild that takes long to read is announced to an account by its id alone; each session then
 * reads the rest for itself. */
bool delivery_is_read_later(const struct delivery *d);
/* Whether who sits there was shown what came of it: then nothing of it is told, and it moves
 * nobody. Fleeting ones are shown nowhere. */
bool delivery_is_known(const struct delivery *d, struct seat *seat);
/* Tells it to who sits there, who may have it and does not know it. */
void delivery_give(const struct delivery *d, struct seat *seat);

#endif
