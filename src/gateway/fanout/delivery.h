/* delivery.h - delivery of one event to the sessions of a loop. */
#ifndef GATEWAY_FANOUT_DELIVERY_H
#define GATEWAY_FANOUT_DELIVERY_H

#include "gateway/wire/news.h"

struct hub;
struct seat;
struct session;
struct topic;

struct delivery {
    struct hub *hub;
    struct news *news; /* NULL: no event is in progress */
    const struct event_info *info;
    const struct facts *facts;       /* facts of the event */
    struct topic *topic;             /* its subscribers; NULL: none, or none left */
    struct sight_report *sight;      /* NULL: the event cannot change who views a channel */
    struct changed_channel *changed; /* NULL: the channel's viewers are unchanged */
    bool crowd; /* many recipients and no other event queued: write to sockets at once */
};

struct delivery delivery_of(struct hub *h, struct news *n);
/* Whether the session receives the event, without the checks that need its seat. */
bool delivery_receives(const struct delivery *d, const struct session *s);
/* A guild that takes long to read is announced to an account only by its id; each session then
 * reads the rest itself. */
bool delivery_is_read_later(const struct delivery *d);
/* Whether the snapshot of the seat already included the event: then it is not sent and has no
 * effect. Always false for EVENT_FLEETING, which the store does not have. */
bool delivery_is_known(const struct delivery *d, struct seat *seat);
/* Sends the event if the seat's session may receive it; the caller has checked
 * delivery_is_known. */
void delivery_give(const struct delivery *d, struct seat *seat);

#endif
