/* routes.c - route table of membership forms and join requests. */
#include "api/deletion.h"
#include "platform/join_requests/internal.h"

static const struct resolver resolvers[] = {
    { .name = "request.id", .field = "request_id", .doc = "A request to join." },
    { 0 },
};

#define REQUESTS "/guilds/{guild.id}/requests"

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/guilds/{guild.id}/member-verification",
        .name = "get_member_verification",
        .doc = "What newcomers of a guild are asked; who is not in it shows an invite.",
        .auth = AUTH_USER,
        .visitors = may_see_member_form,
        .query = &member_form_query_schema,
        .reply = &member_form_reply,
        .handle = get_member_form,
    },
    {
        .method = PATCH,
        .path = "/guilds/{guild.id}/member-verification",
        .name = "modify_member_verification",
        .doc = "Change what newcomers are asked. While it is on, people who join may do nothing "
               "before they have answered; when it goes off, those who wait come in.",
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
        .doc = "Who answered the form, the newest first.",
        .auth = AUTH_USER | AUTH_BOT,
        .needs = PERMISSION(KICK_MEMBERS),
        .query = &join_requests_query_schema,
        .reply = &join_requests_reply,
        .aside = true,
        .handle = list_join_requests,
    },
    {
        .method = PUT,
        .path = REQUESTS "/@me",
        .name = "put_own_join_request",
        .doc = "Answer the form. Where it has nothing but rules, who accepts them is in at once.",
        .auth = AUTH_USER,
        .body = &join_request_draft_body,
        .reply = &join_request_reply,
        .status = 201,
        .fires = (const enum event[]){ ADMISSION_EVENTS, EVENT_GUILD_JOIN_REQUEST_CREATE,
                                       EVENT_GUILD_JOIN_REQUEST_UPDATE, EVENT_NONE },
        .quiet = true,
        .handle = put_own_join_request,
    },
    {
        .method = DELETE,
        .path = REQUESTS "/@me",
        .name = "delete_own_join_request",
        .doc = "Take back what one answered.",
        .auth = AUTH_USER,
        .fires = (const enum event[]){ EVENT_GUILD_JOIN_REQUEST_DELETE, EVENT_NONE },
        .quiet = true,
        .handle = delete_own_join_request,
    },
    {
        .method = PATCH,
        .path = REQUESTS "/{request.id}",
        .name = "review_join_request",
        .doc = "Let somebody in who waits, or refuse them: they stay pending, and may answer "
               "anew.",
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
    .doc = "What newcomers of a guild are asked, and who lets them in.",
    .routes = routes,
    .world = &join_requests_world,
    .resolvers = resolvers,
    .jobs = (const struct job_kind *const[]){ &pending_admission, NULL },
    .hooks = &(const struct hooks){ .member_left = join_request_goes },
    .deletions =
        (const struct deletion_rule[]){
            { DELETE_WHERE(WITH_GUILD, "join_requests", "id", "guild_id = $1") }, { 0 } },
};
