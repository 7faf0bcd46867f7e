/* topics.h - subjects of a loop, the sessions that listen to them, and what these may see.
 *
 * This folder knows sessions by their pointer only. A session has a list of its seats, a loop
 * has its topics; a seat stands in both. */
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
    uint32_t index;                /* in the topic */
    uint32_t place;                /* in the session's list */
    snowflake user_id;             /* whose session it is */
    struct known_positions *known; /* what it was set up with; mostly NULL */
    /* The rest is of seats in guilds; the others end here: SEAT_ELSEWHERE. */
    uint32_t version; /* of the view that base was worked out from; 0: not yet */
    uint32_t role_count;
    uint64_t base;
    int64_t restrained_until; /* member_restrained_until */
    int64_t listed_ms;        /* when all members were last asked for */
    snowflake *roles;
};

enum { SEAT_ELSEWHERE = offsetof(struct seat, version) };

/* It was taken with a look that has seen so much. */
void seat_know(struct seat *seat, struct known_positions *known);

/* Of one session. */
struct seats {
    struct session *session;
    snowflake user_id;
    struct topics *topics; /* of the loop where the session is */
    struct seat **items;   /* with room for the next power of two, at least two */
    struct map *map;       /* of all of them, once they are many; else NULL */
    uint32_t count;
    bool seen; /* others see the session: it counts in its guilds' crowds */
};

struct topic {
    enum subject_kind kind;
    snowflake id;
    struct seat **seats;
    struct seat *one; /* the room of seats while there is one: of most accounts */
    uint32_t count, cap;
    uint32_t told;           /* of an event that is at hand: the first ones of the seats */
    struct guild_view *view; /* guilds */
};

/* Of one loop. */
struct topics {
    struct map map;
    struct topic **at_hand; /* set to NULL when that topic goes: who is telling it an event */
    struct loop *loop;
    struct crowds *crowds; /* of the process; NULL: nobody counts */
    /* A session is in another guild now, or in one less; or NULL. */
    void (*moved)(struct session *s);
    struct guild_view *old; /* of guilds that nobody here is in any more, freed in steps */
    struct post post;
    bool posted, closing;
};

void topics_init(struct topics *all, struct loop *loop);
/* The loop is about to end: from now on views are freed at once. */
void topics_close(struct topics *all);
void topics_clear(struct topics *all);
struct topic *topic_find(const struct topics *all, enum subject_kind kind, snowflake id);

struct seat *seat_take(struct seats *own, enum subject_kind kind, snowflake id); /* or the old */
struct seat *seat_find(const struct seats *own, enum subject_kind kind, snowflake id);
void seat_leave(struct seats *own, struct seat *seat);
void seats_clear(struct seats *own); /* leaves all */
/* Others see the session from now on, or do not. */
void seats_show(struct seats *own, bool seen);
void seat_set_roles(struct seat *seat, const snowflake *ids, size_t count,
                    int64_t restrained_until);
void seat_drop_role(struct seat *seat, snowflake role_id);

#endif
