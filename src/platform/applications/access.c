/* access.c - path resolvers and access levels (reader, developer, owner) of applications. */
#include "platform/applications/internal.h"

/* Resolves {application.id} to an existing application. The route's .admit checks access. */
enum err resolve_application(struct call *call)
{
    struct application *a = call->target.application = arena_alloc(call->arena, sizeof *a);

    return application_find(call->tx, call_id(call, "application.id"), a);
}

enum err resolve_own_application(struct call *call)
{
    struct application *a = call->target.application = arena_alloc(call->arena, sizeof *a);

    return application_find(call->tx, call->caller->application_id, a);
}

enum err application_level(struct tx *tx, const struct application *a, const struct caller *caller,
                           enum maker_level *ret)
{
    struct team team;

    *ret = MAKER_NOBODY;
    if (caller->kind != CALLER_USER) {
        *ret = caller->application_id == a->id ? MAKER_DEVELOPER : MAKER_NOBODY;
        return OK;
    }
    if (!a->team_id) {
        *ret = caller->id == a->owner_id ? MAKER_OWNER : MAKER_NOBODY;
        return OK;
    }
    enum err e = team_find(tx, a->team_id, &team);
    if (!e)
        *ret = team_level(&team, caller->id);
    return e;
}

static enum err check_level(struct call *call, enum maker_level least)
{
    enum maker_level level;
    enum err e = application_level(call->tx, call->target.application, call->caller, &level);

    return e || level >= least ? e : ERR_APPLICATION_NOT_YOURS;
}

enum err application_readable(struct call *call)
{
    return check_level(call, MAKER_READER);
}

enum err application_modifiable(struct call *call)
{
    return check_level(call, MAKER_DEVELOPER);
}

enum err application_owned(struct call *call)
{
    return check_level(call, MAKER_OWNER);
}

enum err application_of_caller(struct call *call)
{
    return call->caller->application_id == call->target.application->id ? OK
                                                                        : ERR_APPLICATION_NOT_YOURS;
}
