/* current_user_routes.c - route table for the caller's sessions, settings, notes and profile. */
#include "platform/accounts/internal.h"

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/auth/sessions",
        .name = "get_sessions",
        .doc = "The caller's login sessions.",
        .auth = AUTH_USER,
        .reply = &session_list_reply,
        .handle = get_login_sessions,
    },
    {
        .method = POST,
        .path = "/auth/sessions/logout",
        .name = "log_out_sessions",
        .doc = "End sessions by their id_hash. Unknown hashes are ignored. Needs a proof of "
               "identity: the header X-Discord-MFA-Authorization, or the password or a code of the "
               "second factor in the body.",
        .auth = AUTH_USER,
        .body = &session_logout_body,
        .prepare = require_proof_to_end_login_sessions,
        .handle = log_out_login_sessions,
    },
    {
        .method = GET,
        .path = "/users/@me/settings",
        .name = "get_settings",
        .doc = "The caller's settings.",
        .auth = AUTH_USER,
        .reply = &type_user_settings,
        .handle = get_user_settings,
    },
    {
        .method = PATCH,
        .path = "/users/@me/settings",
        .name = "modify_settings",
        .doc = "Change settings; null resets a setting to its default.",
        .auth = AUTH_USER,
        .body = &type_user_settings,
        .reply = &type_user_settings,
        .fires = (const enum event[]){ EVENT_USER_SETTINGS_UPDATE, EVENT_FRIEND_SUGGESTION_DELETE,
                                       EVENT_NONE },
        .handle = modify_user_settings,
    },
    {
        .method = GET,
        .path = "/users/@me/notes/{user.id}",
        .name = "get_note",
        .doc = "The caller's note about a user.",
        .auth = AUTH_USER,
        .reply = &note_reply,
        .handle = get_note,
    },
    {
        .method = PUT,
        .path = "/users/@me/notes/{user.id}",
        .name = "put_note",
        .doc = "Set the caller's note about a user.",
        .auth = AUTH_USER,
        .body = &note_body,
        .fires = (const enum event[]){ EVENT_USER_NOTE_UPDATE, EVENT_NONE },
        .handle = put_note,
    },
    {
        .method = PATCH,
        .path = "/users/@me/profile",
        .name = "modify_own_profile",
        .doc = "Change the caller's profile.",
        .auth = AUTH_USER,
        .body = &current_user_profile_body,
        .max_body = BODY_MAX_WITH_IMAGES(1),
        .reply = &current_user_profile_reply,
        .fires = (const enum event[]){ EVENT_USER_UPDATE, EVENT_NONE },
        .prepare = schedule_storing_profile_banner,
        .handle = modify_current_user_profile,
    },
    { 0 },
};

const struct domain current_user_domain = {
    .name = "One's own",
    .doc = "Sessions, settings, notes and profile of the caller.",
    .routes = routes,
};
