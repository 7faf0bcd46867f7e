/* guild_view.h - a loop's cached roles, channels and overwrites of a guild, for permissions. */
#ifndef GATEWAY_SUBSCRIPTIONS_GUILD_VIEW_H
#define GATEWAY_SUBSCRIPTIONS_GUILD_VIEW_H

#include "base/map.h"
#include "base/test_build.h"
#include "model/events/events.h"
#include "model/guild.h"
#include "model/permissions/member_permissions.h"

struct snapshot_positions;
struct topic_subscription;

enum {
    SMALL_GUILD_MEMBERS = 250
}; /* maximum size of guilds in which all members get each other's presences */

struct channel_overwrites {
    snowflake id;
    int64_t type;
    uint32_t count;
    /* Cached id of the channel's member list, computed from its overwrites; "" if not computed. */
    char list_id[12];
    /* Value of the parameter `everybody` when compute_member_list_id computed list_id. */
    bool list_everybody;
    struct overwrite overwrites[];
};

struct role_permissions {
    snowflake id;
    uint64_t permissions;
};

/* Permission data of a guild: read from the store once, then updated by events. */
struct guild_view {
    snowflake guild_id, owner_id;
    int64_t member_count;
    uint32_t version;
    struct role_permissions *roles;
    uint32_t role_count, role_cap;
    /* Channel id -> struct channel_overwrites; Discord threads are not included. */
    struct map channels;
    /* Event log positions whose changes were already in the store when the view was read; usually
     * NULL. */
    struct snapshot_positions *snapshot_positions;
    struct guild_view *next; /* next view in the loop's list of unused views */
    size_t freed;            /* number of channels freed by guild_view_free_channel_batch */
};

struct guild_view *guild_view_new(const struct guild *g, const struct list *channels);
void guild_view_free(struct guild_view *v);
/* Frees up to `most` channels of an unused view. Returns true when the whole view was freed. */
bool guild_view_free_channel_batch(struct guild_view *v, unsigned most);
#if TEST_BUILD
/* Compares the view with rows that were read from the store, and logs the result. Must not be
 * called while events are pending whose commits the read has seen. */
void guild_view_log_differences_from_store(const struct guild_view *v, const struct guild *g,
                                           const struct list *channels);
#else
static inline void guild_view_log_differences_from_store(const struct guild_view *v,
                                                         const struct guild *g,
                                                         const struct list *channels)
{
    (void)v, (void)g, (void)channels;
}
#endif
uint64_t guild_view_role_permissions(const struct guild_view *v,
                                     snowflake id); /* 0 if the role is unknown */
void guild_view_set_role(struct guild_view *v, snowflake id, uint64_t permissions);
void guild_view_remove_role(struct guild_view *v, snowflake id);
/* Removes the overwrites of a deleted role from all channels of the view. Discord sends no
 * CHANNEL_UPDATE for these changes. */
void guild_view_remove_overwrites_of_role(struct guild_view *v, snowflake id);
void guild_view_set_channel(struct guild_view *v, snowflake id, int64_t type,
                            const struct overwrite *list, size_t count);
void guild_view_remove_channel(struct guild_view *v, snowflake id);
/* Returns the permissions of the subscribed session in a channel, or in the guild if channel_id is
 * 0. Returns no permissions for an unknown channel. */
uint64_t subscription_permissions(struct topic_subscription *seat, snowflake channel_id);
/* Returns the session's permissions in the channel of an event. If the channel is a Discord thread,
 * its parent, type and members are taken from the event: the view has no threads, because a guild
 * may have any number of them. */
uint64_t subscription_event_permissions(struct topic_subscription *seat, const struct audience *to);
/* Returns whether the session is a recipient of an event that was sent with
 * audience_limit_to_role_granters: either the event lists the account, or the account has
 * MANAGE_ROLES and one of the event's roles. */
bool subscription_receives_role_granter_event(struct topic_subscription *seat,
                                              const struct audience *to);

#endif
