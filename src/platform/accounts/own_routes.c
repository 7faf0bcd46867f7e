/* own_routes.c - the rows of sessions, settings, notes and profiles. */
#include "platform/accounts/internal.h"

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/auth/sessions",
        .name = "get_sessions",
        .doc = "Where the caller is logged in.",
        .auth = AUTH_USER,
        .reply = &session_list_reply,
        .handle = get_sessions,
    },
    {
        .method = POST,
        .path = "/auth/sessions/logout",
        .name = "log_out_sessions",
        .doc = "End sessions by the hashes that the list gives; those that are none are ignored.",
        .auth = AUTH_USER,
        .body = &session_logout_body,
        .handle = log_out_sessions,
    },
    {
        .method = GET,
        .path = "/users/@me/settings",
        .name = "get_settings",
        .doc = "The caller's settings.",
        .auth = AUTH_USER,
        .reply = &type_user_settings,
        .handle = get_settings,
    },
    {
        .method = PATCH,
        .path = "/users/@me/settings",
        .name = "modify_settings",
        .doc = "Change settings; null brings a default back.",
        .auth = AUTH_USER,
        .body = &type_user_settings,
        .reply = &type_user_settings,
        .fires = (const enum event[]){ EVENT_USER_SETTINGS_UPDATE, EVENT_FRIEND_SUGGESTION_DELETE,
                                       EVENT_NONE },
        .handle = modify_settings,
    },
    {
        .method = GET,
        .path = "/users/@me/notes/{user.id}",
        .name = "get_note",
        .doc = "What the caller wrote down about somebody.",
        .auth = AUTH_USER,
        .reply = &note_reply,
        .handle = get_note,
    },
    {
        .method = PUT,
        .path = "/users/@me/notes/{user.id}",
        .name = "put_note",
        .doc = "Write down something about somebody.",
        .auth = AUTH_USER,
        .body = &note_body,
        .fires = (const enum event[]){ EVENT_USER_NOTE_UPDATE, EVENT_NONE },
        .handle = put_note,
    },
    { 0 },
};

const struct domain own_domain = {
    .name = "One's own",
    .doc = "Sessions, settings and notes.",
    .routes = routes,
};
