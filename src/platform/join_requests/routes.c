/* routes.c - route table of membership forms and join requests. */
#include "api/deletion.h"
#include "platform/join_requests/internal.h"

static const struct path_resolver resolvers[] = {
    { .name = "request.id", .field = "request_id", .doc = "A join request." },
    { 0 },
};

#define REQUESTS "/guilds/{guild.id}/requests"

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/guilds/{guild.id}/member-verification",
        .name = "get_member_verification",
        .doc = "The membership form of a guild; users who are not members need an invite code.",
        .auth = AUTH_USER,
        .visitors = require_invite_to_read_member_form,
        .query = &member_form_query_schema,
        .reply = &member_form_reply,
        .handle = get_member_form,
    },
    {
        .method = PATCH,
        .path = "/guilds/{guild.id}/member-verification",
        .name = "modify_member_verification",
        .doc = "Change the membership form. While it is enabled, new members are pending until "
               "they respond; when it is disabled, pending members are admitted.",
        .auth = AUTH_USER,
        .needs = PERMISSION(MANAGE_GUILD),
        .body = &member_form_patch_body,
        .reply = &member_form_reply,
        .status = 200,
        .fires = (const enum event[]){ EVENT_GUILD_UPDATE, ADMISSION_EVENTS, EVENT_NONE },
        .handle = modify_member_form,
    },
    {
        .method = GET,
        .path = REQUESTS,
        .name = "list_join_requests",
        .doc = "The join requests of a guild, newest first.",
        .auth = AUTH_USER | AUTH_BOT,
        .needs = PERMISSION(KICK_MEMBERS),
        .query = &join_requests_query_schema,
        .reply = &join_requests_reply,
        .background = true,
        .handle = list_join_requests,
    },
    {
        .method = PUT,
        .path = REQUESTS "/@me",
        .name = "put_own_join_request",
        .doc = "Submit the form. If it has only rules, accepting them admits the member at once.",
        .auth = AUTH_USER,
        .body = &join_request_submission_body,
        .reply = &join_request_reply,
        .status = 201,
        .fires = (const enum event[]){ ADMISSION_EVENTS, EVENT_GUILD_JOIN_REQUEST_CREATE,
                                       EVENT_GUILD_JOIN_REQUEST_UPDATE, EVENT_NONE },
        .allowed_when_restricted = true,
        .handle = put_current_user_join_request,
    },
    {
        .method = DELETE,
        .path = REQUESTS "/@me",
        .name = "delete_own_join_request",
        .doc = "Withdraw the caller's join request.",
        .auth = AUTH_USER,
        .fires = (const enum event[]){ EVENT_GUILD_JOIN_REQUEST_DELETE, EVENT_NONE },
        .allowed_when_restricted = true,
        .handle = delete_current_user_join_request,
    },
    {
        .method = PATCH,
        .path = REQUESTS "/{request.id}",
        .name = "review_join_request",
        .doc = "Approve or reject a join request. A rejected member stays pending and may submit "
               "the form again.",
        .auth = AUTH_USER | AUTH_BOT,
        .needs = PERMISSION(KICK_MEMBERS),
        .body = &join_request_review_body,
        .reply = &join_request_reply,
        .status = 200,
        .fires =
            (const enum event[]){ ADMISSION_EVENTS, EVENT_GUILD_JOIN_REQUEST_UPDATE, EVENT_NONE },
        .handle = review_join_request,
    },
    { 0 },
};

const struct domain join_requests_domain = {
    .name = "Join requests",
    .doc = "Membership forms of guilds, and join requests.",
    .routes = routes,
    .world = &join_requests_world,
    .resolvers = resolvers,
    .jobs = (const struct job_kind *const[]){ &pending_admission_job, NULL },
    .hooks = &(const struct hook_listeners){ .member_left = join_request_on_member_left },
    .deletions =
        (const struct deletion_rule[]){
            { DELETE_WHERE(WITH_GUILD, "join_requests", "id", "guild_id = $1") }, { 0 } },
};
