/* suggestion_routes.c - routes that list and dismiss friend suggestions. */
#include "api/deletion.h"
#include "platform/relationships/internal.h"

/* GET /friend-suggestions */
static enum err list_friend_suggestions(struct call *call)
{
    struct list list;
    enum err e = friend_suggestions_read(call->tx, call->caller->id, &list);

    return e ? e : call_reply_with_object(call, &list);
}

/* DELETE /friend-suggestions/{user.id} */
static enum err remove_friend_suggestion(struct call *call)
{
    return friend_suggestion_dismiss(call, call->caller->id, call->target.user->id);
}

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/friend-suggestions",
        .name = "list_friend_suggestions",
        .doc = "Users whom the caller may know, best score first.",
        .auth = AUTH_USER,
        .reply = &type_friend_suggestions,
        .handle = list_friend_suggestions,
    },
    {
        .method = DELETE,
        .path = "/friend-suggestions/{user.id}",
        .name = "remove_friend_suggestion",
        .doc = "Dismiss a suggestion for 180 days.",
        .auth = AUTH_USER,
        .fires = (const enum event[]){ EVENT_FRIEND_SUGGESTION_DELETE, EVENT_NONE },
        .handle = remove_friend_suggestion,
    },
    { 0 },
};

const struct domain friend_suggestions_domain = {
    .name = "Friend suggestions",
    .doc = "Users whom the caller may know.",
    .routes = routes,
    .jobs = suggestion_jobs,
    .hooks =
        &(const struct hook_listeners){ .settings_changed = friend_suggestions_on_settings_change },
    .deletions =
        (const struct deletion_rule[]){
            { DELETE_OF(WITH_ACCOUNT, "friend_suggestions", "user_id", "suggested_id") },
            { DELETE_OF(WITH_ACCOUNT, "friend_suggestions", "suggested_id", "user_id") },
            { DELETE_OF(WITH_ACCOUNT, "dismissed_suggestions", "user_id", "suggested_id") },
            { 0 } },
};
