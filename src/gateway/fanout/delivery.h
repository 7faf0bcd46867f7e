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
    struct gateway_event *event; /* event that is being delivered, or NULL */
    const struct event_type_properties *info;
    const struct event_routing *routing;
    /* topic of the event's audience; NULL if the audience has no subscribers */
    struct topic *topic;
    struct visibility_changes
        /* sends channels that members gain or lose; NULL if the event cannot change this */
        *visibility;
    /* The changed channel of a CHANNEL_UPDATE; NULL if its viewers stay the same. */
    struct changed_channel *changed;
    /* Write to each socket immediately, because the event has many recipients and none is queued.
     */
    bool write_at_once;
};

struct event_delivery event_delivery_new(struct gateway_loop *h, struct gateway_event *n);
/* Returns whether the session may receive the event, without the check of its permissions in the
 * guild: checks all other conditions, such as intents and shard. */
bool session_receives_event(const struct event_delivery *d, const struct session *s);
/* Returns whether the session must not get this GUILD_CREATE, but read the guild itself. This is so
 * if the event has only the guild's id, or if the session needs Spacebar's form of the guild. */
bool session_must_read_guild_from_store(const struct event_delivery *d, const struct session *s);
/* Returns whether the subscribed session was set up from a snapshot of the store that already had
 * the event's change. Such an event is neither sent to the session nor applied. The result is
 * always false for EVENT_FLEETING, which is not stored. */
bool subscription_snapshot_includes_event(const struct event_delivery *d,
                                          struct topic_subscription *seat);
/* Sends the event if the subscribed session may receive it. The caller has checked
 * subscription_snapshot_includes_event. */
void deliver_event_to_subscription(const struct event_delivery *d, struct topic_subscription *seat);

#endif
