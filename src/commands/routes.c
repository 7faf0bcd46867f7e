/* routes.c - route table of application commands. */
#include "commands/internal.h"

#include "commands/index/index_invalidation.h"
#include "commands/permissions/permission_deletion.h"
#include "api/deletion.h"
#include "platform/applications/applications.h"

#define UPDATE_SCOPE      "applications.commands.update"
#define PERMISSIONS_SCOPE "applications.commands.permissions.update"

/* Maximum size of a bulk overwrite's body in bytes: a hundred commands in all languages. */
enum { LARGEST_BULK = 8 * 1024 * 1024 };

/* Rate limit per caller for all guilds together; the limits of the routes count per guild. It is
 * per caller, not per application, so that callers without access to the application cannot exhaust
 * it. */
static const struct rate_limit limit_writes = {
    .name = "command-writes", .count = 60, .window_s = 10, .strict = true
};

enum err count_command_write_against_rate_limit(struct call *call)
{
    const snowflake *id = &call->caller->id;

    return call_count_against_rate_limit(call, &limit_writes,
                                         str_slice((const char *)id, sizeof *id));
}

static const enum event registered[] = { EVENT_GUILD_APPLICATION_COMMAND_INDEX_UPDATE, EVENT_NONE };
static const enum event renamed[] = { EVENT_GUILD_APPLICATION_COMMAND_INDEX_UPDATE,
                                      EVENT_APPLICATION_COMMAND_PERMISSIONS_UPDATE, EVENT_NONE };

static const struct path_resolver resolvers[] = {
    {
        .name = "app_guild.id",
        .field = "guild_id",
        .major = true,
        .doc = "A guild that the application is installed in.",
        .resolve = resolve_guild_that_has_application,
    },
    {
        .name = "command.id",
        .field = "command_id",
        .doc = "A command of the application, in the path's guild where there is one. Permissions "
               "are also those of global commands, and of the application itself.",
        .resolve = resolve_command,
    },
    { 0 },
};

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/applications/{application.id}/commands",
        .name = "list_commands",
        .doc =
            "An application's global commands; for developers, and users with a DM with its bot.",
        .auth = AUTH_USER | AUTH_BOT | AUTH_BEARER,
        .scope = UPDATE_SCOPE,
        .query = &commands_query_schema,
        .reply = &type_commands,
        .measured = true,
        .admit = check_caller_may_list_commands,
        .handle = list_commands,
    },
    {
        .method = POST,
        .path = "/applications/{application.id}/commands",
        .name = "create_command",
        .doc = "Create a global command, or replace the one with that name and type (200).",
        .auth = AUTH_USER | AUTH_BOT | AUTH_BEARER,
        .scope = UPDATE_SCOPE,
        .body = &command_body,
        .reply = &type_command,
        .fires = registered,
        .admit = require_application_developer,
        .prepare = prepare_create_command,
        .handle = create_command,
    },
    {
        .method = PUT,
        .path = "/applications/{application.id}/commands",
        .name = "overwrite_commands",
        .doc = "Replace all global commands; a command that exists already keeps its id.",
        .auth = AUTH_BOT | AUTH_BEARER,
        .scope = UPDATE_SCOPE,
        .body = &commands_body,
        .max_body = LARGEST_BULK,
        .reply = &type_commands,
        .fires = renamed,
        .before_decode = reply_if_bulk_overwrite_body_is_cached,
        .admit = require_application_developer,
        .prepare = prepare_bulk_overwrite_of_commands,
        .handle = overwrite_commands,
    },
    {
        .method = GET,
        .path = "/applications/{application.id}/commands/{command.id}",
        .name = "get_command",
        .doc = "A global command.",
        .auth = AUTH_USER | AUTH_BOT | AUTH_BEARER,
        .scope = UPDATE_SCOPE,
        .reply = &type_command,
        .measured = true,
        .admit = require_application_developer,
        .handle = get_command,
    },
    {
        .method = PATCH,
        .path = "/applications/{application.id}/commands/{command.id}",
        .name = "modify_command",
        .doc = "Modify a global command. A new name deletes its permissions.",
        .auth = AUTH_USER | AUTH_BOT | AUTH_BEARER,
        .scope = UPDATE_SCOPE,
        .body = &command_patch_body,
        .reply = &type_command,
        .fires = renamed,
        .admit = require_application_developer,
        .prepare = prepare_modify_command,
        .handle = modify_command,
    },
    {
        .method = DELETE,
        .path = "/applications/{application.id}/commands/{command.id}",
        .name = "delete_command",
        .doc = "Delete a global command, with its permissions in all guilds.",
        .auth = AUTH_USER | AUTH_BOT | AUTH_BEARER,
        .scope = UPDATE_SCOPE,
        .fires = registered,
        .admit = require_application_developer,
        .prepare = count_command_write_against_rate_limit,
        .handle = delete_command,
    },
    {
        .method = GET,
        .path = "/applications/{application.id}/guilds/{app_guild.id}/commands",
        .name = "list_guild_commands",
        .doc = "An application's commands in a guild, without global ones.",
        .auth = AUTH_USER | AUTH_BOT | AUTH_BEARER,
        .scope = UPDATE_SCOPE,
        .query = &commands_query_schema,
        .reply = &type_commands,
        .measured = true,
        .handle = list_commands,
    },
    {
        .method = POST,
        .path = "/applications/{application.id}/guilds/{app_guild.id}/commands",
        .name = "create_guild_command",
        .doc = "Create a guild command, or replace the one with that name and type (200).",
        .auth = AUTH_USER | AUTH_BOT | AUTH_BEARER,
        .scope = UPDATE_SCOPE,
        .body = &guild_command_body,
        .reply = &type_command,
        .fires = registered,
        .prepare = prepare_create_command,
        .handle = create_command,
    },
    {
        .method = PUT,
        .path = "/applications/{application.id}/guilds/{app_guild.id}/commands",
        .name = "overwrite_guild_commands",
        .doc = "Replace all commands of a guild; a command that exists already keeps its id.",
        .auth = AUTH_BOT | AUTH_BEARER,
        .scope = UPDATE_SCOPE,
        .body = &guild_commands_body,
        .max_body = LARGEST_BULK,
        .reply = &type_commands,
        .fires = renamed,
        .before_decode = reply_if_guild_overwrite_body_is_cached,
        .prepare = prepare_bulk_overwrite_of_commands,
        .handle = overwrite_commands,
    },
    {
        .method = GET,
        .path = "/applications/{application.id}/guilds/{app_guild.id}/commands/{command.id}",
        .name = "get_guild_command",
        .doc = "A command in a guild.",
        .auth = AUTH_USER | AUTH_BOT | AUTH_BEARER,
        .scope = UPDATE_SCOPE,
        .reply = &type_command,
        .measured = true,
        .handle = get_command,
    },
    {
        .method = PATCH,
        .path = "/applications/{application.id}/guilds/{app_guild.id}/commands/{command.id}",
        .name = "modify_guild_command",
        .doc = "Modify a guild command. A new name deletes its permissions.",
        .auth = AUTH_USER | AUTH_BOT | AUTH_BEARER,
        .scope = UPDATE_SCOPE,
        .body = &guild_command_patch_body,
        .reply = &type_command,
        .fires = renamed,
        .prepare = prepare_modify_command,
        .handle = modify_command,
    },
    {
        .method = DELETE,
        .path = "/applications/{application.id}/guilds/{app_guild.id}/commands/{command.id}",
        .name = "delete_guild_command",
        .doc = "Delete a command in a guild, with its permissions.",
        .auth = AUTH_USER | AUTH_BOT | AUTH_BEARER,
        .scope = UPDATE_SCOPE,
        .fires = registered,
        .prepare = count_command_write_against_rate_limit,
        .handle = delete_command,
    },
    {
        .method = GET,
        .path = "/applications/{application.id}/guilds/{app_guild.id}/commands/permissions",
        .name = "list_command_permissions",
        .doc = "Permissions of all commands of an app in a guild. Users need MANAGE_GUILD.",
        .auth = AUTH_USER | AUTH_BOT | AUTH_BEARER,
        .scope = PERMISSIONS_SCOPE,
        .reply = &type_command_permissions_list,
        .admit = check_caller_may_read_command_permissions,
        .handle = list_command_permissions,
    },
    {
        .method = GET,
        .path =
            "/applications/{application.id}/guilds/{app_guild.id}/commands/{command.id}/permissions",
        .name = "get_command_permissions",
        .doc = "The permissions of a command in a guild. Users need MANAGE_GUILD.",
        .auth = AUTH_USER | AUTH_BOT | AUTH_BEARER,
        .scope = PERMISSIONS_SCOPE,
        .reply = &type_command_permissions,
        .admit = check_caller_may_read_command_permissions,
        .handle = get_command_permissions,
    },
    {
        .method = PUT,
        .path =
            "/applications/{application.id}/guilds/{app_guild.id}/commands/{command.id}/permissions",
        .name = "modify_command_permissions",
        .doc = "Replace the permissions of a command in a guild. The caller must be allowed to use "
               "the command and to manage the roles, members and channels concerned.",
        .auth = AUTH_USER | AUTH_BEARER,
        .scope = PERMISSIONS_SCOPE,
        .needs = PERMISSION(MANAGE_GUILD) | PERMISSION(MANAGE_ROLES),
        .body = &permissions_body,
        .reply = &type_command_permissions,
        .fires = (const enum event[]){ EVENT_GUILD_APPLICATION_COMMAND_INDEX_UPDATE,
                                       EVENT_APPLICATION_COMMAND_PERMISSIONS_UPDATE,
                                       EVENT_GUILD_AUDIT_LOG_ENTRY_CREATE, EVENT_NONE },
        .admit = check_caller_may_modify_command_permissions,
        .handle = modify_command_permissions,
    },
    {
        .method = GET,
        .path = "/guilds/{guild.id}/application-command-index",
        .name = "get_guild_command_index",
        .doc = "Commands that the caller can use in a guild.",
        .auth = AUTH_USER,
        .reply = &command_index_reply,
        .measured = true,
        .handle = get_guild_command_index,
    },
    {
        .method = GET,
        .path = "/users/@me/application-command-index",
        .name = "get_user_command_index",
        .doc = "Commands of the apps on the caller's account.",
        .auth = AUTH_USER,
        .reply = &command_index_reply,
        .measured = true,
        .handle = get_user_command_index,
    },
    {
        .method = GET,
        .path = "/applications/{application.id}/application-command-index",
        .name = "get_application_command_index",
        .doc = "Global commands of an application that the caller has authorized.",
        .auth = AUTH_USER,
        .reply = &command_index_reply,
        .measured = true,
        .handle = get_application_command_index,
    },
    {
        .method = GET,
        .path = "/channels/{channel.id}/application-command-index",
        .name = "get_channel_command_index",
        .doc = "Commands that the caller can use in a private channel.",
        .auth = AUTH_USER,
        .reply = &command_index_reply,
        .measured = true,
        .handle = get_channel_command_index,
    },
    {
        .method = POST,
        .path = "/applications/{application.id}/set-embedded",
        .name = "set_embedded",
        .doc = "Set whether clients can launch an application as an activity. The first time, an "
               "entry point command is created.",
        .auth = AUTH_USER | AUTH_BOT,
        .body = &embedded_body,
        .fires = registered,
        .admit = require_application_developer,
        .handle = set_embedded,
    },
    { 0 },
};

static const struct job_kind *const jobs[] = { &command_index_update_job, &command_uses_job,
                                               &command_index_invalidation_job,
                                               &permission_deletion_job, NULL };

const struct domain commands_domain = {
    .name = "Commands",
    .doc = "Application commands: definitions, permissions, indexes.",
    .routes = routes,
    .world = &commands_world,
    .resolvers = resolvers,
    .jobs = jobs,
    .hooks =
        &(const struct hook_listeners){
            .block_changed = invalidate_command_index_of_blocked_bot,
            .role_deleted = delete_command_permissions_of_role,
            .membership_changes = invalidate_command_indexes_of_member,
            .member_left = delete_command_permissions_of_member,
            .channel_deleted = delete_command_permissions_of_channel,
            .command_index_changed = on_command_index_changed,
            .guild_app_changing = invalidate_command_indexes_of_guild_app,
            .guild_app_left = delete_command_permissions_of_app,
            .guild_app_removed = delete_guild_commands_of_app,
            .account_app_changing = invalidate_command_indexes_of_account,
        },
    .deletions = command_deletions,
};
