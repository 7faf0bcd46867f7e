/* topics.h - subjects of a loop, the sessions that listen to them, and what these may see. */
#ifndef GATEWAY_TOPICS_H
#define GATEWAY_TOPICS_H

#include "base/map.h"
#include "gateway/gateway.h"
#include "model/rights.h"

struct hub;

enum { SMALL_GUILD = 250 }; /* members who are told of each other's presence */

struct seat {
    struct session *session;
    struct topic *topic;
    uint32_t index;   /* in the topic */
    uint32_t version; /* of the view that base was worked out from; 0: not yet */
    uint64_t base;
    int64_t timed_out_until; /* microseconds */
    int64_t listed_ms;       /* when all members were last asked for */
    uint32_t role_count;
    uint32_t place; /* in the session's list */
    snowflake *roles;
};

/* What a channel lets whom do. */
struct place_rule {
    snowflake id;
    int64_t type;
    uint32_t count;
    struct overwrite overwrites[];
};

struct role_rule {
    snowflake id;
    uint64_t permissions;
};

/* A guild, as far as rights go. Kept up to date by the events themselves. */
struct guild_view {
    snowflake guild_id, owner_id;
    int64_t member_count;
    uint32_t version;
    struct role_rule *roles;
    uint32_t role_count, role_cap;
    struct map channels;     /* struct place_rule; without threads */
    struct guild_view *next; /* of those that nobody needs any more, … */
    size_t freed;            /* … and how far that is done */
};

struct topic {
    enum subject_kind kind;
    snowflake id;
    struct seat **seats;
    uint32_t count, cap;
    uint32_t told;           /* of an event that is at hand: the first ones of the seats */
    struct guild_view *view; /* guilds */
};

struct topic *topic_find(struct hub *h, enum subject_kind kind, snowflake id);
struct seat *seat_take(struct session *s, enum subject_kind kind, snowflake id); /* or the old */
struct seat *seat_find(const struct session *s, enum subject_kind kind, snowflake id);
void seat_leave(struct seat *seat);
void seat_set_roles(struct seat *seat, const snowflake *ids, size_t count, int64_t timed_out_until);
void seat_drop_role(struct seat *seat, snowflake role_id);
void topics_free(struct hub *h);

struct guild_view *view_new(const struct guild *g, const struct list *channels);
void view_free(struct guild_view *v);
/* So many channels of it at most; true: all is gone. */
bool view_free_some(struct guild_view *v, unsigned most);
uint64_t view_role(const struct guild_view *v, snowflake id); /* 0: there is none */
void view_set_role(struct guild_view *v, snowflake id, uint64_t permissions);
void view_drop_role(struct guild_view *v, snowflake id);
void view_set_channel(struct guild_view *v, snowflake id, int64_t type,
                      const struct overwrite *list, size_t count);
void view_drop_channel(struct guild_view *v, snowflake id);
/* What the seat's session may do, in a channel (0: in the guild). Nothing in a channel
 * that is not there. */
uint64_t seat_rights(struct seat *seat, snowflake channel_id);
/* The same where an event happens. A thread is not in the view, as a guild may have any
 * number of them: the event says what its rights come from. */
uint64_t seat_rights_for(struct seat *seat, const struct subject *to);

#endif
