/* routes.c - reads, deletes and leaves guilds; route table of the folder. */
#include "platform/guilds/internal.h"

#include "api/deletion.h"
#include "gateway/gateway.h"
#include "platform/guilds/deletion.h"

static enum err get_guild(struct call *call)
{
    const struct guild_get_query *in = call->query;
    struct guild *g = call->target.guild;
    enum err e = guild_read_roles_emojis_and_other_lists(call, g);

    if (e)
        return e;
    if (in->with_counts) {
        g->approximate_member_count = opt_int_present(g->member_count);
        g->approximate_presence_count = opt_int_present(
            gateway_online_member_count(api_get_options(call->api)->gateway, g->id));
    }
    return call_reply_with_object(call, g);
}

/* Handles DELETE /guilds/{guild.id} and POST /guilds/{guild.id}/delete. */
static enum err delete_guild(struct call *call)
{
    if (!call->target.member_access->input.owner)
        return call_get_not_guild_owner_error(call);
    return guild_delete(call, call->target.guild->id);
}

static const struct route routes[] = {
    {
        .method = POST,
        .path = "/guilds",
        .name = "create_guild",
        .doc = "Create a guild. By default it has @everyone, a text channel and a voice channel.",
        .auth = AUTH_USER,
        .body = &guild_create_body,
        .max_body = BODY_MAX_WITH_IMAGES(1),
        .reply = &type_guild,
        .status = 201,
        .fires = (const enum event[]){ EVENT_GUILD_CREATE, EVENT_NONE },
        .prepare = validate_guild_create_request,
        .handle = create_guild,
    },
    {
        .method = GET,
        .path = "/guilds/{guild.id}",
        .name = "get_guild",
        .doc = "A guild that the caller is in.",
        .auth = AUTH_USER | AUTH_BOT,
        .query = &guild_query_schema,
        .reply = &type_guild,
        .handle = get_guild,
    },
    {
        .method = PATCH,
        .path = "/guilds/{guild.id}",
        .name = "modify_guild",
        .doc = "Change a guild. Only the owner can transfer it.",
        .auth = AUTH_USER | AUTH_BOT,
        .needs = PERMISSION(MANAGE_GUILD),
        .body = &guild_patch_body,
        .max_body = BODY_MAX_WITH_IMAGES(5),
        .reply = &type_guild,
        .fires = (const enum event[]){ EVENT_GUILD_UPDATE, EVENT_VOICE_STATE_UPDATE,
                                       EVENT_GUILD_AUDIT_LOG_ENTRY_CREATE, EVENT_NONE },
        .prepare = schedule_storing_guild_pictures,
        .handle = modify_guild,
    },
    {
        .method = DELETE,
        .path = "/guilds/{guild.id}",
        .name = "delete_guild",
        .doc = "Delete a guild and everything in it. Only for its owner.",
        .auth = AUTH_USER | AUTH_BOT,
        .fires = (const enum event[]){ EVENT_GUILD_DELETE, EVENT_NONE },
        .handle = delete_guild,
    },
    {
        .method = POST,
        .path = "/guilds/{guild.id}/delete",
        .name = "delete_guild_by_post",
        .doc = "Same as DELETE /guilds/{guild.id}.",
        .auth = AUTH_USER | AUTH_BOT,
        .fires = (const enum event[]){ EVENT_GUILD_DELETE, EVENT_NONE },
        .handle = delete_guild,
    },
    {
        .method = GET,
        .path = "/guilds/{guild.id}/preview",
        .name = "get_guild_preview",
        .doc = "The preview of a guild that the caller is in, or of a discoverable guild.",
        .auth = AUTH_USER | AUTH_BOT,
        .visitors = require_discoverable_guild,
        .reply = &guild_preview_reply,
        .handle = get_guild_preview,
    },
    {
        .method = GET,
        .path = "/guilds/{guild.id}/basic",
        .name = "get_basic_guild",
        .doc = "The basic fields of such a guild.",
        .auth = AUTH_USER | AUTH_BOT,
        .visitors = require_discoverable_guild,
        .reply = &basic_guild_reply,
        .handle = get_basic_guild,
    },
    {
        .method = GET,
        .path = "/users/@me/guilds",
        .name = "list_own_guilds",
        .doc = "The caller's guilds, oldest first.",
        .auth = AUTH_USER | AUTH_BOT | AUTH_BEARER,
        .scope = "guilds",
        .query = &user_guilds_query_schema,
        .reply = &user_guilds_reply,
        .handle = list_current_user_guilds,
    },
    {
        .method = GET,
        .path = "/guilds/{guild.id}/audit-logs",
        .name = "get_guild_audit_log",
        .doc = "The audit log of a guild, newest first; with after, oldest first.",
        .auth = AUTH_USER | AUTH_BOT,
        .needs = PERMISSION(VIEW_AUDIT_LOG),
        .query = &audit_log_query_schema,
        .reply = &audit_log_reply,
        .background = true,
        .before_standby = call_read_nothing_but_path_objects,
        .handle = get_guild_audit_log,
    },
    { 0 },
};

const struct domain guilds_domain = {
    .name = "Guilds",
    .doc = "Guilds, and the guilds of the caller.",
    .routes = routes,
    .world = &guilds_world,
    .jobs = (const struct job_kind *const[]){ &guild_deletion_job, &role_deletion_job,
                                              &message_orphans_job, NULL },
    .deletions = guild_deletions,
};
