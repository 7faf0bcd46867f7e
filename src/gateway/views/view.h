/* view.h - a guild as far as rights go, and what a seat in it lets its session see. */
#ifndef GATEWAY_VIEWS_VIEW_H
#define GATEWAY_VIEWS_VIEW_H

#include "base/map.h"
#include "base/test_build.h"
#include "model/events/events.h"
#include "model/guild.h"
#include "model/permissions/rights.h"

struct known_positions;
struct seat;

enum { SMALL_GUILD = 250 }; /* members who are told of each other's presence */

/* What a channel lets whom do. */
struct place_rule {
    snowflake id;
    int64_t type;
    uint32_t count;
    /* The name of its member list, as far as it was asked for: made of all overwrites. */
    char list_id[12];
    bool list_everybody; /* what @everyone might do then */
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
    struct map channels;           /* struct place_rule; without threads */
    struct known_positions *known; /* what it was made with; mostly NULL */
    struct guild_view *next;       /* of those that nobody needs any more, … */
    size_t freed;                  /* … and how far that is done */
};

struct guild_view *view_new(const struct guild *g, const struct list *channels);
void view_free(struct guild_view *v);
/* So many channels of it at most; true: all is gone. */
bool view_free_some(struct guild_view *v, unsigned most);
#if TEST_BUILD
/* Logs whether the view is equal to what was read. Only while no event is pending that the read
 * saw. */
void view_watch(const struct guild_view *v, const struct guild *g, const struct list *channels);
#else
static inline void view_watch(const struct guild_view *v, const struct guild *g,
                              const struct list *channels)
{
    (void)v, (void)g, (void)channels;
}
#endif
uint64_t view_role(const struct guild_view *v, snowflake id); /* 0: there is none */
void view_set_role(struct guild_view *v, snowflake id, uint64_t permissions);
void view_drop_role(struct guild_view *v, snowflake id);
/* What channels say of a role goes with it, which no event tells. */
void view_drop_overwrites(struct guild_view *v, snowflake id);
void view_set_channel(struct guild_view *v, snowflake id, int64_t type,
                      const struct overwrite *list, size_t count);
void view_drop_channel(struct guild_view *v, snowflake id);
/* What the seat's session may do, in a channel (0: in the guild). Nothing in a channel
 * that is not there. */
uint64_t seat_rights(struct seat *seat, snowflake channel_id);
/* The same where an event happens. A thread is not in the view, as a guild may have any
 * number of them: the event says what its rights come from. */
uint64_t seat_rights_for(struct seat *seat, const struct subject *to);
/* Whether the seat's session is among the subject's people: to_granters. */
bool seat_may_grant(struct seat *seat, const struct subject *to);

#endif
