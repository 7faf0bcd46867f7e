/* topics.h - the subjects of a loop, the sessions that subscribe to them, their roles.
 *
 * Folder views/: subscriptions and cached permissions. It uses wire/ and model/, and knows a
 * session only by its pointer. A seat is the subscription of a session to a topic; it is in the
 * topic's list and in the session's list. view.h has the permissions of a guild. */
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
    uint32_t index;                /* in the topic's list */
    uint32_t place;                /* in the session's list */
    snowflake user_id;             /* account of the session */
    struct known_positions *known; /* events that its snapshot included; usually NULL */
    /* Only seats in guilds have the following members; others end here: SEAT_ELSEWHERE. */
    uint32_t version; /* version of the view that base is from; 0: none */
    uint32_t role_count;
    uint64_t base;
    int64_t restrained_until; /* member_restrained_until */
    int64_t listed_ms;        /* when the session last requested all members */
    snowflake *roles;
};

enum { SEAT_ELSEWHERE = offsetof(struct seat, version) };

/* The session was set up from a snapshot that included these positions. */
void seat_know(struct seat *seat, struct known_positions *known);

/* The seats of one session. */
struct seats {
    struct session *session;
    snowflake user_id;
    struct topics *topics; /* topics of the session's loop */
    struct seat **items;   /* capacity: a power of two, at least two */
    struct map *map;       /* index once there are more than FEW_SEATS; else NULL */
    uint32_t count;
    bool seen; /* the session is visible: it counts as online in its guilds */
};

struct topic {
    enum subject_kind kind;
    snowflake id;
    struct seat **seats;
    struct seat *one; /* storage for a single seat, as most accounts have */
    uint32_t count, cap;
    uint32_t told;           /* seats, from the first on, that already got the current event */
    struct guild_view *view; /* guilds */
};

/* The topics of one loop. */
struct topics {
    struct map map;
    struct topic **at_hand; /* set to NULL if that topic is freed during its delivery */
    struct loop *loop;
    struct crowds *crowds; /* online counts of the process; or NULL */
    /* Called when a session enters or leaves a guild; or NULL. */
    void (*moved)(struct session *s);
    struct guild_view *old; /* views of guilds without sessions here, freed in steps */
    struct post post;
    bool posted, closing;
};

void topics_init(struct topics *all, struct loop *loop);
/* The loop is about to stop: from now on views are freed at once. */
void topics_close(struct topics *all);
void topics_clear(struct topics *all);
struct topic *topic_find(const struct topics *all, enum subject_kind kind, snowflake id);

struct seat *seat_take(struct seats *own, enum subject_kind kind, snowflake id); /* or existing */
struct seat *seat_find(const struct seats *own, enum subject_kind kind, snowflake id);
void seat_leave(struct seats *own, struct seat *seat);
void seats_clear(struct seats *own); /* leaves all */
/* The session becomes visible or invisible to others. */
void seats_show(struct seats *own, bool seen);
void seat_set_roles(struct seat *seat, const snowflake *ids, size_t count,
                    int64_t restrained_until);
void seat_drop_role(struct seat *seat, snowflake role_id);

#endif
