/* topics.h - topics of a loop: audiences of events and the sessions that subscribe to them.
 *
 * Folder subscriptions/ has subscriptions and cached permissions. It uses wire/ and model/, and
 * knows a session only by its pointer. A subscription (struct topic_subscription) is in the list of
 * its topic and in the list of its session. guild_view.h has the permissions of a guild. */
#ifndef GATEWAY_SUBSCRIPTIONS_TOPICS_H
#define GATEWAY_SUBSCRIPTIONS_TOPICS_H

#include <stddef.h>

#include "base/map.h"
#include "model/events/events.h"
#include "net/loop.h"

struct online_members;
struct guild_view;
struct snapshot_positions;
struct session;

struct topic_subscription {
    struct session *session;
    struct topic *topic;
    uint32_t index;         /* index in the topic's list */
    uint32_t session_index; /* index in the session's list */
    snowflake user_id;      /* account of the session */
    /* Event log positions whose changes were already in the store when the session read it; usually
     * NULL. */
    struct snapshot_positions *snapshot_positions;
    /* The following fields exist only in subscriptions to guilds; other subscriptions are allocated
     * with SUBSCRIPTION_BYTES_OUTSIDE_GUILDS bytes. */
    /* Version of the guild view from which `base` was computed; 0 if not computed. */
    uint32_t version;
    uint32_t role_count;
    uint64_t base;
    int64_t restrained_until; /* member_restricted_until */
    /* time at which the session last requested all members of the guild (op 8), in ms */
    int64_t listed_ms;
    snowflake *roles;
};

enum { SUBSCRIPTION_BYTES_OUTSIDE_GUILDS = offsetof(struct topic_subscription, version) };

/* Sets the event log positions whose changes were already in the store when the session read it. */
void subscription_set_snapshot_positions(struct topic_subscription *seat,
                                         struct snapshot_positions *known);

struct session_subscriptions {
    struct session *session;
    snowflake user_id;
    struct topics *topics;             /* topics of the session's loop */
    struct topic_subscription **items; /* the capacity is a power of two, at least two */
    /* Map from topic to subscription if there are more than LINEAR_SEARCH_MAX subscriptions;
     * otherwise NULL. */
    struct map *map;
    uint32_t count;
    bool visible; /* the session is visible, so its user counts as online in its guilds */
};

struct topic {
    enum audience_kind kind;
    snowflake id;
    struct topic_subscription **subscriptions;
    /* Storage of the array `subscriptions` with one element, as most accounts have one session. */
    struct topic_subscription *one;
    uint32_t count, cap;
    /* Number of subscriptions at the front of the array that already got the current event. */
    uint32_t delivered_count;
    struct guild_view *view; /* permission data of the guild; NULL for other topics */
};

/* The topics of one loop. */
struct topics {
    struct map map;
    /* Address of the pointer to the topic whose event is being delivered. The pointer is set to
     * NULL if that topic is freed. */
    struct topic **delivering;
    struct loop *loop;
    struct online_members *online_members; /* online members of all loops, or NULL */
    /* Called when a session joins or leaves a guild. May be NULL. */
    void (*on_guild_change)(struct session *s, snowflake guild_id);
    /* Called when a topic was created, or is about to be freed. May be NULL. */
    void (*on_topic_change)(struct topics *all, const struct topic *t, bool exists);
    /* unused guild views (no session of this loop is in the guild), which are freed in steps */
    struct guild_view *old;
    struct loop_message post;
    bool posted, closing;
};

void topics_init(struct topics *all, struct loop *loop);
/* Called when the loop is about to stop: from now on guild views are freed immediately. */
void topics_set_loop_is_stopping(struct topics *all);
void topics_clear(struct topics *all);
struct topic *topic_find(const struct topics *all, enum audience_kind kind, snowflake id);

/* Adds a subscription. If the session has already subscribed to the topic, returns the existing
 * subscription. */
struct topic_subscription *session_subscription_add(struct session_subscriptions *own,
                                                    enum audience_kind kind, snowflake id);
struct topic_subscription *session_subscription_find(const struct session_subscriptions *own,
                                                     enum audience_kind kind, snowflake id);
void session_subscription_remove(struct session_subscriptions *own,
                                 struct topic_subscription *seat);
void session_subscriptions_clear(struct session_subscriptions *own); /* removes all subscriptions */
/* Sets whether the user of the session counts as online in the session's guilds. */
void session_set_counts_as_online(struct session_subscriptions *own, bool seen);
void subscription_set_roles(struct topic_subscription *seat, const snowflake *ids, size_t count,
                            int64_t restrained_until);
void subscription_remove_role(struct topic_subscription *seat, snowflake role_id);

#endif
