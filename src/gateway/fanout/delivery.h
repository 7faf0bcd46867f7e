/* delivery.h - delivery of one event to the sessions of a loop. */
#ifndef GATEWAY_FANOUT_DELIVERY_H
#define GATEWAY_FANOUT_DELIVERY_H

#include "gateway/wire/gateway_event.h"

struct gateway_loop;
struct topic_subscription;
struct session;
struct topic;

struct event_delivery {
    struct gateway_loop *gateway_loop;
    struct gateway_event *event; /* NULL if no event is being delivered */
    const struct event_type_info *info;
    const struct event_routing *routing;
    struct topic *topic; /* topic of the event's audience; NULL if it has no subscribers */
    struct visibility_changes
        *visibility; /* NULL if the event cannot change which channels members can view */
    /* NULL if the event does not change who can view its channel. */
    struct changed_channel *changed;
    /* Send to each socket immediately: the event has many recipients, and no event is queued. */
    bool write_at_once;
};

struct event_delivery event_delivery_new(struct gateway_loop *h, struct gateway_event *n);
/* Returns whether the session receives the event if the permissions of its subscription allow it:
 * checks all other conditions, such as intents and shard. */
bool session_receives_event(const struct event_delivery *d, const struct session *s);
/* Returns whether the session reads the guild itself instead of getting this GUILD_CREATE: if the
 * event has only the guild's id, or if the session needs Spacebar's form of the guild. */
bool session_must_read_guild_from_store(const struct event_delivery *d, const struct session *s);
/* Returns whether the subscribed session was set up from a snapshot of the store that already
 * included the event's change: then the event is neither sent nor applied. Always false for
 * EVENT_FLEETING, which is not stored. */
bool subscription_snapshot_includes_event(const struct event_delivery *d,
                                          struct topic_subscription *seat);
/* Sends the event if the subscribed session may receive it. The caller has checked
 * subscription_snapshot_includes_event. */
void deliver_event_to_subscription(const struct event_delivery *d, struct topic_subscription *seat);

#endif
