/* routes.c - routes that read applications, reset bot tokens and secrets, transfer and delete. */
#include "api/deletion.h"
#include "platform/applications/internal.h"

static enum err read_application_details(struct call *call, struct application *a)
{
    struct application_install_counts counts;
    enum err e = application_count_installations(call->tx, a->id, &counts);

    if (e)
        return e;
    application_set_install_counts(a, &counts);
    return application_read_owner_and_team(call->tx, a);
}

static enum err list_applications(struct call *call)
{
    const struct application_list_query *q = call->query;
    struct list list;
    enum err e =
        applications_list_of_owner(call->tx, call->caller->id, q->with_team_applications, &list);

    for (size_t i = 0; i < list.count && !e; i++)
        e = read_application_details(call, (struct application *)list.items + i);
    return e ? e : call_reply_with_object(call, &list);
}

static enum err get_application(struct call *call)
{
    enum err e = read_application_details(call, call->target.application);

    return e ? e : call_reply_with_object(call, call->target.application);
}

/* Handles GET /applications/@me and /oauth2/applications/@me. */
static enum err get_current_application(struct call *call)
{
    enum err e = resolve_caller_application(call);

    return e ? e : get_application(call);
}

static enum err get_public_application(struct call *call)
{
    return call_reply_with_object(call, call->target.application);
}

/* Creates a missing bot. Only applications of world files can lack one; all others are created with
 * a bot. */
static enum err create_bot(struct call *call)
{
    struct application *a = call->target.application;
    struct bot_token_reply out = { .token = { .given = GIVEN_NULL } };

    if (a->bot_id)
        return call_reply_with_object(call, &out);
    enum err e = application_add_bot(call->tx, a);
    if (!e)
        e = application_reset_bot_token(call->tx, api_get_options(call->api)->auth, a,
                                        &out.token.value);
    out.token.given = GIVEN;
    return e ? e : call_reply_with_object(call, &out);
}

static enum err reset_bot_token(struct call *call)
{
    const struct application *a = call->target.application;
    struct bot_token_reply out = { .token = { .given = GIVEN } };
    enum err e = application_reset_bot_token(call->tx, api_get_options(call->api)->auth, a,
                                             &out.token.value);

    if (e)
        return e;
    call_revoke_account_tokens(call, a->bot_id);
    return call_reply_with_object(call, &out);
}

static enum err reset_secret(struct call *call)
{
    struct client_secret_reply out;
    enum err e = application_reset_client_secret(call->tx, api_get_options(call->api)->auth,
                                                 call->target.application, &out.secret);

    return e ? e : call_reply_with_object(call, &out);
}

/* Transfers an application to a team. The owner of the application must be an admin of that
 * team. */
static enum err transfer_application(struct call *call)
{
    const struct application_transfer *in = call->body;
    struct application *a = call->target.application;
    struct team team;

    enum err e = team_find(call->tx, in->team_id, &team);
    if (e)
        return e;
    enum team_access_level level = team_access_level_of_user(&team, call->caller->id);
    if (level < TEAM_ACCESS_ADMIN)
        return level == TEAM_ACCESS_NONE ? ERR_MISSING_ACCESS : ERR_MISSING_PERMISSIONS;
    if (a->team_id != team.id)
        e = check_application_limit(call, 0, team.id);
    if (e)
        return e;
    a->team_id = team.id;
    e = application_update(call->tx, a);
    if (!e)
        e = application_find(call->tx, a->id, a);
    return e ? e : get_application(call);
}

/* GET /applications/detectable and the like: always empty, because no application of this server
 * has the names of programs by which clients detect a running game. */
static enum err list_detectable_applications(struct call *call)
{
    return call_reply_with_object(call, &(struct list){ 0 });
}

#define DETECTABLE_ROUTE(path_, name_)                                                          \
    {                                                                                           \
        .method = GET, .path = (path_), .name = (name_),                                        \
        .doc = "Programs that clients detect while they run: always empty, because no program " \
               "is registered here.",                                                           \
        .auth = AUTH_OPEN, .store = ROUTE_STORE_NONE, .reply = &type_always_empty_list,         \
        .handle = list_detectable_applications,                                                 \
    }

static const struct path_resolver resolvers[] = {
    {
        .name = "application.id",
        .field = "application_id",
        .doc = "An application.",
        .resolve = resolve_application,
    },
    { 0 },
};

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/applications",
        .name = "list_applications",
        .doc = "The caller's applications, and optionally those of its teams.",
        .auth = AUTH_USER,
        .query = &application_query_schema,
        .reply = &type_applications,
        .handle = list_applications,
    },
    {
        .method = POST,
        .path = "/applications",
        .name = "create_application",
        .doc = "Create an application and its bot, which has the same id.",
        .auth = AUTH_USER,
        .body = &application_body,
        .max_body = BODY_MAX_WITH_IMAGES(1),
        .reply = &type_application,
        .status = 201,
        .prepare = schedule_storing_new_application_icon,
        .handle = create_application,
    },
    DETECTABLE_ROUTE("/applications/detectable", "list_detectable_applications"),
    DETECTABLE_ROUTE("/applications/non-games/detectable", "list_detectable_non_games"),
    DETECTABLE_ROUTE("/games/detectable", "list_detectable_games"),
    {
        .method = GET,
        .path = "/applications/@me",
        .name = "get_own_application",
        .doc = "The application of the calling bot.",
        .auth = AUTH_BOT,
        .reply = &type_application,
        .handle = get_current_application,
    },
    {
        .method = PATCH,
        .path = "/applications/@me",
        .name = "modify_own_application",
        .doc = "Change the application of the calling bot, except its name.",
        .auth = AUTH_BOT,
        .body = &current_application_patch_body,
        .max_body = BODY_MAX_WITH_IMAGES(1),
        .reply = &type_application,
        .prepare = schedule_current_application_patch_checks,
        .handle = modify_current_application,
    },
    {
        .method = GET,
        .path = "/oauth2/applications/@me",
        .name = "get_own_oauth2_application",
        .doc = "The application of the calling bot.",
        .auth = AUTH_BOT,
        .reply = &type_application,
        .handle = get_current_application,
    },
    {
        .method = GET,
        .path = "/applications/{application.id}",
        .name = "get_application",
        .doc = "An application, for its developers and its bot.",
        .auth = AUTH_USER | AUTH_BOT,
        .reply = &type_application,
        .admit = require_application_reader,
        .handle = get_application,
    },
    {
        .method = PATCH,
        .path = "/applications/{application.id}",
        .name = "modify_application",
        .doc = "Change an application; for its owner, developers of its team, and its bot.",
        .auth = AUTH_USER | AUTH_BOT,
        .body = &application_patch_body,
        .max_body = BODY_MAX_WITH_IMAGES(1),
        .reply = &type_application,
        .prepare = schedule_application_patch_checks,
        .admit = require_application_developer,
        .handle = modify_application,
    },
    {
        .method = GET,
        .path = "/applications/{application.id}/public",
        .name = "get_public_application",
        .doc = "The public fields of an application.",
        .auth = AUTH_USER,
        .reply = &type_public_application,
        .handle = get_public_application,
    },
    {
        .method = POST,
        .path = "/applications/{application.id}/bot",
        .name = "create_bot",
        .doc = "Create the bot of an application. If there is one already, the token is null.",
        .auth = AUTH_USER,
        .reply = &bot_token_reply,
        .admit = require_application_developer,
        .handle = create_bot,
    },
    {
        .method = POST,
        .path = "/applications/{application.id}/bot/reset",
        .name = "reset_bot_token",
        .doc = "Issue a new bot token and revoke the previous one.",
        .auth = AUTH_USER,
        .reply = &bot_token_reply,
        .admit = require_application_developer,
        .handle = reset_bot_token,
    },
    {
        .method = POST,
        .path = "/applications/{application.id}/reset",
        .name = "reset_secret",
        .doc = "Issue a new client secret and revoke the previous one.",
        .auth = AUTH_USER,
        .reply = &secret_reply,
        .admit = require_application_developer,
        .handle = reset_secret,
    },
    {
        .method = POST,
        .path = "/applications/{application.id}/delete",
        .name = "delete_application",
        .doc = "Delete an application with its installations and tokens; only for its owner.",
        .auth = AUTH_USER,
        .fires = (const enum event[]){ UNINSTALL_EVENTS, EVENT_USER_APPLICATION_REMOVE,
                                       EVENT_GAME_RELATIONSHIP_REMOVE, EVENT_NONE },
        .admit = require_application_owner,
        .handle = delete_application,
    },
    {
        .method = POST,
        .path = "/applications/{application.id}/attachment",
        .name = "create_application_attachment",
        .doc = "Upload a file (form part `file`) that is served for one day without a message.",
        .auth = AUTH_BOT | AUTH_BEARER,
        .scope = "identify",
        .body_kinds = BODY_PARTS,
        .reply = &application_attachment_reply,
        .status = 200,
        .prepare = validate_application_attachment,
        .admit = require_application_developer,
        .handle = create_application_attachment,
    },
    {
        .method = POST,
        .path = "/applications/{application.id}/transfer",
        .name = "transfer_application",
        .doc = "Transfer an application to a team; only for its owner, who must be an admin of "
               "the team.",
        .auth = AUTH_USER,
        .body = &application_transfer_body,
        .reply = &type_application,
        .admit = require_application_owner,
        .handle = transfer_application,
    },
    { 0 },
};

const struct domain applications_domain = {
    .name = "Applications",
    .doc = "Applications that use the API, and their bots.",
    .routes = routes,
    .world = &applications_world,
    .resolvers = resolvers,
    .hooks =
        &(const struct hook_listeners){ .member_leaving = application_uninstall_before_bot_leaves,
                                        .member_left = application_remove_bot_scope_after_leave },
    .jobs = (const struct job_kind *const[]){ &application_deletion_job, NULL },
    .deletions = application_deletions,
};
