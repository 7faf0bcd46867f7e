/* path_resolvers.c - path resolvers and access checks of the command routes. */
#include "commands/internal.h"

#include "platform/applications/applications.h"
#include "platform/members/members.h"

static enum err resolve_guild_with_app(struct call *call, snowflake guild_id)
{
    struct guild *g = call->target.guild = arena_alloc(call->arena, sizeof *g);
    unsigned installed = 0;

    enum err e = guild_find(call->tx, guild_id, g);
    if (!e)
        e = read_whether_app_is_in_guild(call->tx, call->target.application->id, guild_id,
                                         &installed);
    if (e || installed)
        return e;
    call_set_refusal_cause(call,
                           "the application is not installed in this server with the scope "
                           "applications.commands; install it with /oauth2/authorize?client_id=%llu"
                           "&scope=bot+applications.commands",
                           (unsigned long long)call->target.application->id);
    return ERR_MISSING_ACCESS;
}

/* Resolves a guild for the developers of an app, who register commands and need not be members of
 * the guild. Checks their access to the app first, so that other users cannot find out where the
 * app is installed. */
static enum err resolve_guild_as_developer(struct call *call, snowflake guild_id)
{
    enum err e = require_application_developer(call);

    return e ? e : resolve_guild_with_app(call, guild_id);
}

/* Resolves a guild for the permission routes, which its members and the app's bot may call. */
static enum err resolve_guild_as_member(struct call *call, snowflake guild_id)
{
    const struct caller *c = call->caller;
    struct member_access *s;
    enum err e = OK;

    if (c->application_id && c->application_id != call->target.application->id)
        return ERR_APPLICATION_NOT_YOURS;
    if (c->kind != CALLER_BOT) {
        s = call->target.member_access = arena_alloc(call->arena, sizeof *s);
        e = member_access_find(call->tx, guild_id, c->id, s);
        call->target.permissions = s->permissions;
    }
    return e ? e : resolve_guild_with_app(call, guild_id);
}

/* Returns whether the route reads or changes command permissions. All command routes share one
 * resolver, but permission routes need another access check. */
static bool is_permission_route(const struct route *r)
{
    static const char end[] = "/permissions";
    size_t n = strlen(r->path);

    return n >= sizeof end - 1 && strcmp(r->path + n - (sizeof end - 1), end) == 0;
}

enum err resolve_guild_that_has_application(struct call *call)
{
    snowflake id = call_get_path_id(call, "app_guild.id");

    return is_permission_route(call->route) ? resolve_guild_as_member(call, id)
                                            : resolve_guild_as_developer(call, id);
}

/* Resolves a command. Permission routes also accept a global command, or the application id, which
 * stands for all commands of the application. */
enum err resolve_command(struct call *call)
{
    snowflake id = call_get_path_id(call, "command.id");
    snowflake guild_id = call->target.guild ? call->target.guild->id : 0;
    bool permissions = is_permission_route(call->route);
    struct command *k;

    if (permissions && id == call->target.application->id)
        return OK;
    k = call->target.command = arena_alloc(call->arena, sizeof *k);
    enum err e = read_command_columns(call->tx, call->target.application->id, id, k);
    if (e || k->guild_id.value == guild_id || (permissions && !k->guild_id.value))
        return e;
    return ERR_UNKNOWN_COMMAND;
}

static const char DIRECT_CHANNEL[] =
    "select 1 from direct_channels where low_id = $1 and high_id = $2";

/* Checks who may list an application's commands. Users who have a DM channel with its bot may list
 * its global commands. */
enum err check_caller_may_list_commands(struct call *call)
{
    const struct application *a = call->target.application;
    snowflake me = call->caller->id;
    bool found;

    enum err e = require_application_developer(call);
    if (e != ERR_APPLICATION_NOT_YOURS || call->caller->kind != CALLER_USER || !a->bot_id)
        return e;
    e = tx_exists(
        call->tx, DIRECT_CHANNEL,
        BIND(v_id(me < a->bot_id ? me : a->bot_id), v_id(me < a->bot_id ? a->bot_id : me)), &found);
    return e || found ? e : ERR_APPLICATION_NOT_YOURS;
}
