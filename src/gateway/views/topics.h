/* topics.h - topics of a loop: audiences of events and the sessions that subscribe to them.
 *
 * Folder views/ has subscriptions and cached permissions. It uses wire/ and model/, and knows a
 * session only by its pointer. A subscription (struct seat) is in the list of its topic and in
 * the list of its session. view.h has the permissions of a guild. */
#ifndef GATEWAY_VIEWS_TOPICS_H
#define GATEWAY_VIEWS_TOPICS_H

#include <stddef.h>

#include "base/map.h"
#include "model/events/events.h"
#include "net/loop.h"

struct crowds;
struct guild_view;
struct known_positions;
struct session;

struct seat {
    struct session *session;
    struct topic *topic;
    uint32_t index;    /* index in the topic's list */
    uint32_t place;    /* index in the session's list */
    snowflake user_id; /* account of the session */
    /* Log positions that the session's snapshot included; usually NULL. */
    struct known_positions *known;
    /* Only subscriptions to guilds have the following members; for others SEAT_ELSEWHERE bytes
     * are allocated. */
    /* Version of the guild view that `base` was computed from; 0: not computed. */
    uint32_t version;
    uint32_t role_count;
    uint64_t base;
    int64_t restrained_until; /* member_restrained_until */
    int64_t listed_ms;        /* when the session last requested all members of the guild */
    snowflake *roles;
};

enum { SEAT_ELSEWHERE = offsetof(struct seat, version) };

/* Sets the log positions that the session's snapshot included. */
void seat_know(struct seat *seat, struct known_positions *known);

/* The subscriptions of one session. */
struct seats {
    struct session *session;
    snowflake user_id;
    struct topics *topics; /* topics of the session's loop */
    struct seat **items;   /* capacity: a power of two, at least two */
    struct map *map; /* index by topic if there are more than FEW_SEATS subscriptions; else NULL */
    uint32_t count;
    bool seen; /* the session is visible, so it counts as online in its guilds */
};

struct topic {
    enum subject_kind kind;
    snowflake id;
    struct seat **seats;
    struct seat *one; /* storage for a single subscription: most accounts have one session */
    uint32_t count, cap;
    /* Number of subscriptions, from the first, that already got the current event. */
    uint32_t told;
    struct guild_view *view; /* permission data of the guild; NULL for other topics */
};

/* The topics of one loop. */
struct topics {
    struct map map;
    /* The topic whose event is being delivered; set to NULL if that topic is freed. */
    struct topic **at_hand;
    struct loop *loop;
    struct crowds *crowds; /* online members of all loops; or NULL */
    /* Called when a session joins or leaves a guild; or NULL. */
    void (*moved)(struct session *s);
    struct guild_view *old; /* views of guilds without sessions on this loop, freed in steps */
    struct post post;
    bool posted, closing;
};

void topics_init(struct topics *all, struct loop *loop);
/* Frees guild views immediately from now on, because the loop is about to stop. */
void topics_close(struct topics *all);
void topics_clear(struct topics *all);
struct topic *topic_find(const struct topics *all, enum subject_kind kind, snowflake id);

/* Creates the subscription or returns the existing one. */
struct seat *seat_take(struct seats *own, enum subject_kind kind, snowflake id);
struct seat *seat_find(const struct seats *own, enum subject_kind kind, snowflake id);
void seat_leave(struct seats *own, struct seat *seat);
void seats_clear(struct seats *own); /* removes all subscriptions */
/* Sets whether the session counts as online for other users. */
void seats_show(struct seats *own, bool seen);
void seat_set_roles(struct seat *seat, const snowflake *ids, size_t count,
                    int64_t restrained_until);
void seat_drop_role(struct seat *seat, snowflake role_id);

#endif
