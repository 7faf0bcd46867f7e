/* view.h - a loop's cached roles, channels and overwrites of a guild, to compute permissions. */
#ifndef GATEWAY_VIEWS_VIEW_H
#define GATEWAY_VIEWS_VIEW_H

#include "base/map.h"
#include "base/test_build.h"
#include "model/events/events.h"
#include "model/guild.h"
#include "model/permissions/rights.h"

struct known_positions;
struct seat;

enum { SMALL_GUILD = 250 }; /* in guilds up to this size, members get each other's presences */

/* The permission overwrites of a channel. */
struct place_rule {
    snowflake id;
    int64_t type;
    uint32_t count;
    /* Cached id of the channel's member list, derived from all overwrites; "" if not computed. */
    char list_id[12];
    bool list_everybody; /* value of the parameter `everybody` that list_id was computed with */
    struct overwrite overwrites[];
};

struct role_rule {
    snowflake id;
    uint64_t permissions;
};

/* Permission data of a guild: read from the store once, then updated by events. */
struct guild_view {
    snowflake guild_id, owner_id;
    int64_t member_count;
    uint32_t version;
    struct role_rule *roles;
    uint32_t role_count, role_cap;
    struct map channels; /* channel id -> struct place_rule; without threads */
    /* Log positions that the view's snapshot included; usually NULL. */
    struct known_positions *known;
    struct guild_view *next; /* next view in the loop's list of unused views */
    size_t freed;            /* progress of view_free_some */
};

struct guild_view *view_new(const struct guild *g, const struct list *channels);
void view_free(struct guild_view *v);
/* Frees up to `most` channels of the view. Returns true when the whole view is freed. */
bool view_free_some(struct guild_view *v, unsigned most);
#if TEST_BUILD
/* Logs whether the view equals the rows that were read. Call it only while no event is pending
 * whose commit the read saw. */
void view_watch(const struct guild_view *v, const struct guild *g, const struct list *channels);
#else
static inline void view_watch(const struct guild_view *v, const struct guild *g,
                              const struct list *channels)
{
    (void)v, (void)g, (void)channels;
}
#endif
uint64_t view_role(const struct guild_view *v, snowflake id); /* 0: unknown role */
void view_set_role(struct guild_view *v, snowflake id, uint64_t permissions);
void view_drop_role(struct guild_view *v, snowflake id);
/* Removes the overwrites of a deleted role. Discord sends no CHANNEL_UPDATE events for them. */
void view_drop_overwrites(struct guild_view *v, snowflake id);
void view_set_channel(struct guild_view *v, snowflake id, int64_t type,
                      const struct overwrite *list, size_t count);
void view_drop_channel(struct guild_view *v, snowflake id);
/* Returns the permissions of the subscribed session in a channel, or in the guild if channel_id
 * is 0. An unknown channel gives no permissions. */
uint64_t seat_rights(struct seat *seat, snowflake channel_id);
/* Returns the permissions in the channel of an event. The view has no threads, because a guild
 * may have any number of them: the event of a thread carries the thread's parent, type and
 * members. */
uint64_t seat_rights_for(struct seat *seat, const struct subject *to);
/* Whether the session is a recipient of an event sent with to_granters: by its account, or by a
 * role together with MANAGE_ROLES. */
bool seat_may_grant(struct seat *seat, const struct subject *to);

#endif
