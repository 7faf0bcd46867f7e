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
    const struct facts *facts;
    struct topic *topic; /* topic of the event's audience; NULL: no subscribers, or none left */
    struct sight_report *sight; /* NULL: the event cannot change which channels members can view */
    struct changed_channel *changed; /* NULL: the channel's viewers are unchanged */
    bool crowd; /* many recipients and no other event queued: write to sockets immediately */
};

struct delivery delivery_of(struct hub *h, struct news *n);
/* Returns whether the session receives the event, without the checks that need its subscription. */
bool delivery_receives(const struct delivery *d, const struct session *s);
/* A guild that takes long to read is announced to an account only by its id; each session then
 * reads the guild itself. */
bool delivery_is_read_later(const struct delivery *d);
/* Returns whether the session's snapshot already included the event: then the event is not sent
 * and has no effect. Always false for EVENT_FLEETING, because such events are not stored. */
bool delivery_is_known(const struct delivery *d, struct seat *seat);
/* Sends the event if the subscribed session may receive it. The caller has checked
 * delivery_is_known. */
void delivery_give(const struct delivery *d, struct seat *seat);

#endif
