/* access.c - path resolvers of applications, and access levels of users (reader, developer,
 * owner). */
#include "platform/applications/internal.h"

/* Resolves {application.id} of a path. The field .admit of the route checks the caller's access. */
enum err resolve_application(struct call *call)
{
    struct application *a = call->target.application = arena_alloc(call->arena, sizeof *a);

    return application_find(call->tx, call_get_path_id(call, "application.id"), a);
}

enum err resolve_caller_application(struct call *call)
{
    struct application *a = call->target.application = arena_alloc(call->arena, sizeof *a);

    return application_find(call->tx, call->caller->application_id, a);
}

enum err application_read_access_level(struct tx *tx, const struct application *a,
                                       const struct caller *caller, enum team_access_level *ret)
{
    struct team team;

    *ret = TEAM_ACCESS_NONE;
    if (caller->kind != CALLER_USER) {
        *ret = caller->application_id == a->id ? TEAM_ACCESS_DEVELOPER : TEAM_ACCESS_NONE;
        return OK;
    }
    if (!a->team_id) {
        *ret = caller->id == a->owner_id ? TEAM_ACCESS_OWNER : TEAM_ACCESS_NONE;
        return OK;
    }
    enum err e = team_find(tx, a->team_id, &team);
    if (!e)
        *ret = team_access_level_of_user(&team, caller->id);
    return e;
}

static enum err require_application_access_level(struct call *call, enum team_access_level least)
{
    enum team_access_level level;
    enum err e =
        application_read_access_level(call->tx, call->target.application, call->caller, &level);

    if (e || level >= least)
        return e;
    if (call->caller->kind == CALLER_BOT)
        call_set_refusal_cause(
            call,
            "the path names the application %llu, but the token belongs to the bot of "
            "%llu; use the id of the bot's own application",
            (unsigned long long)call->target.application->id,
            (unsigned long long)call->caller->application_id);
    return ERR_APPLICATION_NOT_YOURS;
}

enum err require_application_reader(struct call *call)
{
    return require_application_access_level(call, TEAM_ACCESS_READER);
}

enum err require_application_developer(struct call *call)
{
    return require_application_access_level(call, TEAM_ACCESS_DEVELOPER);
}

enum err require_application_owner(struct call *call)
{
    return require_application_access_level(call, TEAM_ACCESS_OWNER);
}

enum err require_token_of_application(struct call *call)
{
    return call->caller->application_id == call->target.application->id ? OK
                                                                        : ERR_APPLICATION_NOT_YOURS;
}
