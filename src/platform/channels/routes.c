/* routes.c - route table of guild channels and of routes that all channel types share. */
#include "api/deletion.h"
#include "platform/channels/internal.h"

static const struct path_resolver resolvers[] = {
    { .name = "tag.id", .field = "tag_id", .doc = "A tag of the forum." },
    { .name = "overwrite.id", .field = "overwrite_id", .doc = "The id of a role or user." },
    { 0 },
};

#define TAG_EVENTS                                                                          \
    (const enum event[])                                                                    \
    {                                                                                       \
        EVENT_CHANNEL_UPDATE, EVENT_VOICE_STATE_UPDATE, EVENT_GUILD_AUDIT_LOG_ENTRY_CREATE, \
            EVENT_NONE                                                                      \
    }

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/guilds/{guild.id}/channels",
        .name = "list_guild_channels",
        .doc = "The channels of a guild that the caller can view, without threads.",
        .auth = AUTH_USER | AUTH_BOT,
        .query = &channels_query_schema,
        .reply = &type_channels,
        .measured = true,
        .handle = list_guild_channels,
    },
    {
        .method = POST,
        .path = "/guilds/{guild.id}/channels",
        .name = "create_guild_channel",
        .doc = "Create a channel. Without overwrites in the body it gets those of its category. "
               "Overwrites may contain only permissions that the caller has, MANAGE_ROLES only "
               "for administrators.",
        .auth = AUTH_USER | AUTH_BOT,
        .needs = PERMISSION(MANAGE_CHANNELS),
        .body = &channel_create_body,
        .reply = &type_channel,
        .status = 201,
        .fires = (const enum event[]){ EVENT_CHANNEL_CREATE, EVENT_GUILD_AUDIT_LOG_ENTRY_CREATE,
                                       EVENT_NONE },
        .handle = create_guild_channel,
    },
    {
        .method = PATCH,
        .path = "/guilds/{guild.id}/channels",
        .name = "move_guild_channels",
        .doc = "Change the positions of channels. If many channels change, some events follow "
               "after the reply.",
        .auth = AUTH_USER | AUTH_BOT,
        .needs = PERMISSION(MANAGE_CHANNELS),
        .body = &channel_moves_body,
        .fires = (const enum event[]){ EVENT_CHANNEL_UPDATE, EVENT_VOICE_STATE_UPDATE, EVENT_NONE },
        .handle = move_guild_channels,
    },
    {
        .method = GET,
        .path = "/channels/{channel.id}",
        .name = "get_channel",
        .doc = "A channel of any type.",
        .auth = AUTH_USER | AUTH_BOT,
        .reply = &type_channel,
        .handle = get_channel,
    },
    {
        .method = PATCH,
        .path = "/channels/{channel.id}",
        .name = "modify_channel",
        .doc = "Change a channel. Guild channels need MANAGE_CHANNELS, and MANAGE_ROLES for "
               "overwrites; name and topic can change twice in ten minutes. Groups can be "
               "changed by their recipients; only the owner can transfer them. Threads can be "
               "changed by their creator or with MANAGE_THREADS.",
        .auth = AUTH_USER | AUTH_BOT,
        .body = &channel_edit_body,
        .max_body = BODY_MAX_WITH_IMAGES(1),
        .reply = &type_channel,
        .fires = (const enum event[]){ EVENT_CHANNEL_UPDATE, THREAD_MESSAGE_EVENTS, VOICE_EVENTS,
                                       EVENT_GUILD_AUDIT_LOG_ENTRY_CREATE, EVENT_MESSAGE_CREATE,
                                       EVENT_CHANNEL_CREATE, EVENT_NONE },
        .prepare = schedule_storing_group_icon,
        .admit = check_modify_channel_permission,
        .handle = modify_channel,
    },
    {
        .method = DELETE,
        .path = "/channels/{channel.id}",
        .name = "delete_channel",
        .doc = "Delete a guild channel (MANAGE_CHANNELS) or a thread (MANAGE_THREADS), leave a "
               "group, or close a direct channel.",
        .auth = AUTH_USER | AUTH_BOT,
        .query = &leave_query_schema,
        .reply = &type_channel,
        .fires =
            (const enum event[]){ EVENT_CHANNEL_DELETE, EVENT_CHANNEL_UPDATE, EVENT_THREAD_DELETE,
                                  EVENT_CHANNEL_RECIPIENT_REMOVE, EVENT_STAGE_INSTANCE_DELETE,
                                  EVENT_MESSAGE_CREATE, EVENT_GUILD_UPDATE,
                                  EVENT_AUTO_MODERATION_RULE_UPDATE, CALL_LEAVE_EVENTS,
                                  EVENT_GUILD_AUDIT_LOG_ENTRY_CREATE, EVENT_NONE },
        .handle = delete_or_leave_channel,
    },
    {
        .method = PUT,
        .path = "/channels/{channel.id}/permissions/{overwrite.id}",
        .name = "put_overwrite",
        .doc = "Set the overwrite of a role or member in a channel. Only permissions that the "
               "caller has there.",
        .auth = AUTH_USER | AUTH_BOT,
        .needs = PERMISSION(MANAGE_ROLES),
        .body = &overwrite_body,
        .fires = (const enum event[]){ EVENT_CHANNEL_UPDATE, EVENT_VOICE_STATE_UPDATE,
                                       EVENT_GUILD_AUDIT_LOG_ENTRY_CREATE, EVENT_NONE },
        .handle = put_overwrite,
    },
    {
        .method = DELETE,
        .path = "/channels/{channel.id}/permissions/{overwrite.id}",
        .name = "delete_overwrite",
        .doc = "Delete an overwrite.",
        .auth = AUTH_USER | AUTH_BOT,
        .needs = PERMISSION(MANAGE_ROLES),
        .fires = (const enum event[]){ EVENT_CHANNEL_UPDATE, EVENT_VOICE_STATE_UPDATE,
                                       EVENT_GUILD_AUDIT_LOG_ENTRY_CREATE, EVENT_NONE },
        .handle = delete_overwrite,
    },
    {
        .method = POST,
        .path = "/channels/{channel.id}/tags",
        .name = "create_forum_tag",
        .doc = "Add a tag to a forum; needs MANAGE_CHANNELS.",
        .auth = AUTH_USER | AUTH_BOT,
        .body = &forum_tag_body,
        .reply = &type_channel,
        .fires = TAG_EVENTS,
        .handle = create_forum_tag,
    },
    {
        .method = PUT,
        .path = "/channels/{channel.id}/tags/{tag.id}",
        .name = "replace_forum_tag",
        .doc = "Replace a tag of a forum; omitted fields get their defaults.",
        .auth = AUTH_USER | AUTH_BOT,
        .body = &forum_tag_body,
        .reply = &type_channel,
        .fires = TAG_EVENTS,
        .handle = replace_forum_tag,
    },
    {
        .method = DELETE,
        .path = "/channels/{channel.id}/tags/{tag.id}",
        .name = "delete_forum_tag",
        .doc = "Delete a tag of a forum, also from its posts.",
        .auth = AUTH_USER | AUTH_BOT,
        .reply = &type_channel,
        .fires = TAG_EVENTS,
        .handle = delete_forum_tag,
    },
    { 0 },
};

const struct domain channels_domain = {
    .name = "Channels",
    .doc = "Channels of guilds.",
    .routes = routes,
    .world = &channels_world,
    .resolvers = resolvers,
    .jobs = (const struct job_kind *const[]){ &category_sync_job, &channel_updates_job,
                                              &thread_archiving_job, &channel_deletion_job, NULL },
    .hooks = &(const struct hook_listeners){ .guild_created = guild_insert_initial_channels,
                                             .guild_deleted = guild_channels_mark_as_deleted },
    .deletions = channel_deletions,
};
