/* routes.c - route table of integrations, and the other tables of the domain. */
#include "integrations/internal.h"

#include "api/deletion.h"
#include "api/hooks.h"
#include "model/fields/rows.h"
#include "platform/guilds/guilds.h"
#include "platform/channels/channels.h"

/* Resolves {integration.id} in the guild of the path. If the path has a private channel, the
 * handler reads the integration. */
static enum err resolve_integration(struct call *call)
{
    if (!call->target.guild)
        return OK;
    struct integration_row *i = arena_alloc(call->arena, sizeof *i);
    enum err e = read_integration(call->tx, call_get_path_id(call, "integration.id"), i);

    if (!e && i->guild_id != call->target.guild->id)
        e = ERR_UNKNOWN_INTEGRATION;
    call->target.integration = i;
    return e;
}

static const char METADATA[] = "select role_connections_metadata from applications where id = $1";

static enum err read_role_connection_metadata(struct tx *tx, snowflake application_id,
                                              struct integration *ret)
{
    struct rows row;
    bool found;
    enum err e = tx_one(tx, METADATA, BIND(v_id(application_id)), &row, &found);

    if (!e && found)
        ret->role_connections_metadata =
            (struct opt_list){ GIVEN, json_column_decode_list(tx_arena(tx),
                                                              &type_role_connections_metadata,
                                                              row_text(&row, 0)) };
    return e;
}

/* Reads the user who added the integration. Reads none if the account of this user was deleted. */
static enum err read_user_who_added_integration(struct tx *tx, snowflake id,
                                                struct integration *ret)
{
    struct user *user = arena_alloc(tx_arena(tx), sizeof *user);
    enum err e = id ? user_find(tx, id, user) : ERR_UNKNOWN_USER;

    if (!e)
        ret->user = user;
    return e == ERR_UNKNOWN_USER ? OK : e;
}

static enum err list_integrations(struct call *call)
{
    const struct integrations_query *q = call->query;
    bool described = q->include_role_connections_metadata;
    struct list rows, integrations = { 0 };
    enum err e =
        read_integrations_of_guild(call->tx, call->target.guild->id, q->has_commands, &rows);

    for (size_t n = 0; n < rows.count && !e; n++) {
        const struct integration_row *row = (const struct integration_row *)rows.items + n;
        struct integration *i = list_append(call->arena, &integrations, sizeof *i);

        e = read_application_and_build_integration(call->tx, row, i);
        if (!e)
            e = read_user_who_added_integration(call->tx, row->user_id, i);
        if (!e && described && row->application_id)
            e = read_role_connection_metadata(call->tx, row->application_id, i);
    }
    if (e)
        return e;
    return call_reply_with_object_of_type(
        call, described ? &type_integrations_with_metadata : &type_integrations, &integrations);
}

static const struct path_resolver resolvers[] = {
    {
        .name = "integration.id",
        .field = "integration_id",
        .doc = "An integration of the guild or the private channel.",
        .resolve = resolve_integration,
    },
    {
        .name = "integration.any",
        .field = "integration_id",
        .is_text = true,
        .doc = "An integration of a platform, or " PARTNERS_INTEGRATION_ID ".",
    },
    { 0 },
};

#define CHANGED EVENT_GUILD_INTEGRATIONS_UPDATE, EVENT_INTEGRATION_UPDATE
#define AUDITED EVENT_GUILD_AUDIT_LOG_ENTRY_CREATE

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/guilds/{guild.id}/integrations",
        .name = "list_integrations",
        .doc = "The integrations of a guild, the oldest first, at most 50.",
        .auth = AUTH_USER | AUTH_BOT,
        .needs = PERMISSION(MANAGE_GUILD),
        .query = &integrations_query_schema,
        .reply = &type_integrations_with_metadata,
        .handle = list_integrations,
    },
    {
        .method = POST,
        .path = "/guilds/{guild.id}/integrations",
        .name = "create_integration",
        .doc = "Follow an account of another platform that the caller has connected. A first "
               "sync begins at once.",
        .auth = AUTH_USER,
        .needs = PERMISSION(MANAGE_GUILD),
        .body = &integration_create_body,
        .status = 204,
        .fires = (const enum event[]){ EVENT_GUILD_ROLE_CREATE, EVENT_GUILD_INTEGRATIONS_UPDATE,
                                       EVENT_INTEGRATION_CREATE, EVENT_INTEGRATION_UPDATE, AUDITED,
                                       EVENT_NONE },
        .prepare = prepare_create_integration,
        .handle = create_integration,
    },
    {
        .method = POST,
        .path = "/guilds/{guild.id}/integrations/{integration.id}/sync",
        .name = "sync_integration",
        .doc = "Start a sync now. Events are sent when it starts and ends.",
        .auth = AUTH_USER | AUTH_BOT,
        .needs = PERMISSION(MANAGE_GUILD),
        .status = 204,
        .fires = (const enum event[]){ CHANGED, AUDITED, EVENT_NONE },
        .handle = sync_integration,
    },
    {
        .method = PATCH,
        .path = "/guilds/{guild.id}/integrations/{integration.id}",
        .name = "modify_integration",
        .doc = "Set what happens when a subscription ends.",
        .auth = AUTH_USER | AUTH_BOT,
        .needs = PERMISSION(MANAGE_GUILD),
        .body = &integration_patch_body,
        .status = 204,
        .fires = (const enum event[]){ CHANGED, AUDITED, EVENT_NONE },
        .handle = modify_integration,
    },
    {
        .method = DELETE,
        .path = "/guilds/{guild.id}/integrations/{integration.id}",
        .name = "delete_integration",
        .doc = "Delete an integration with its webhooks, commands, bot and roles.",
        .auth = AUTH_USER | AUTH_BOT,
        .needs = PERMISSION(MANAGE_GUILD),
        .status = 204,
        .fires = (const enum event[]){ UNINSTALL_EVENTS, AUDITED, EVENT_NONE },
        .handle = delete_integration,
    },
    {
        .method = POST,
        .path = "/guilds/{guild.id}/migrate-command-scope",
        .name = "migrate_command_scope",
        .doc = "Give every app that has a bot in the guild the scope applications.commands.",
        .auth = AUTH_USER,
        .needs = PERMISSION(MANAGE_GUILD),
        .reply = &migrated_reply,
        .fires = (const enum event[]){ CHANGED, EVENT_GUILD_APPLICATION_COMMAND_INDEX_UPDATE,
                                       EVENT_NONE },
        .handle = migrate_command_scope,
    },
    {
        .method = GET,
        .path = "/users/@me/guilds/integration-application-ids",
        .name = "list_application_ids",
        .doc = "The apps in each of the caller's guilds.",
        .auth = AUTH_USER,
        .reply = &application_ids_reply,
        .handle = list_application_ids,
    },
    {
        .method = GET,
        .path = "/channels/{channel.id}/integrations",
        .name = "list_channel_integrations",
        .doc = "The apps in a private channel.",
        .auth = AUTH_USER,
        .reply = &type_integrations,
        .admit = require_private_channel,
        .handle = list_channel_integrations,
    },
    {
        .method = DELETE,
        .path = "/channels/{channel.id}/integrations/{integration.id}",
        .name = "delete_channel_integration",
        .doc = "Remove an app from a group DM. Allowed: the group's owner, the user who added the "
               "app, and the owner of the app that manages the group.",
        .auth = AUTH_USER,
        .status = 204,
        .fires = (const enum event[]){ EVENT_INTEGRATION_DELETE, EVENT_NONE },
        .admit = require_private_channel,
        .handle = delete_channel_integration,
    },
    {
        .method = POST,
        .path = "/integrations/{integration.any}/join",
        .name = "join_integration",
        .doc = "Join the guild of an integration that one of the caller's connections lists.",
        .auth = AUTH_USER,
        .status = 204,
        .fires = (const enum event[]){ EVENT_GUILD_CREATE, EVENT_GUILD_MEMBER_ADD,
                                       EVENT_USER_SETTINGS_UPDATE, AUTOMOD_EVENTS,
                                       EVENT_GUILD_MEMBER_UPDATE, EVENT_NONE },
        .prepare = prepare_join_integration,
        .handle = join_integration,
    },
    { 0 },
};

static const struct job_kind *const jobs[] = { &sync_job, &subscription_expiry_job,
                                               &friend_sync_job, &integration_removal_job, NULL };

#define INTEGRATIONS "select id from integrations where guild_id = $1"

const struct domain integrations_domain = {
    .name = "Integrations",
    .doc = "Apps, and accounts of other platforms, in guilds and private channels.",
    .routes = routes,
    .world = &integrations_world,
    .resolvers = resolvers,
    .jobs = jobs,
    .hooks = &(const struct hook_listeners){ .audit_log_fill = audit_log_reply_add_integrations,
                                             .guild_deleted = mark_guild_integrations_removed },
    .deletions =
        (const struct deletion_rule[]){
            { DELETE_WHERE(WITH_GUILD, "integration_subscribers", "integration_id, subscriber_id",
                           "integration_id in (" INTEGRATIONS ")") },
            { DELETE_WHERE(WITH_GUILD, "integration_members", "integration_id, user_id",
                           "integration_id in (" INTEGRATIONS ")") },
            { 0 } },
};
