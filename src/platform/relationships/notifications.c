/* notifications.c - notification center items about actions of other users. */
#include "platform/relationships/notifications.h"

#include "model/notification.h"

static const struct {
    const char *type, *body; /* the notification text is a user name and this body */
} notices[] = {
    [NOTIFICATION_FRIEND_REQUEST] = { "friend_request_pending", " wants to be your friend" },
    [NOTIFICATION_FRIEND_ACCEPTED] = { "friend_request_accepted", " is your friend now" },
    [NOTIFICATION_GAME_FRIEND] = { "game_friend_request_accepted",
                                   " is your friend in a game now" },
    [NOTIFICATION_SUGGESTION] = { "friend_suggestion_created", " may be somebody you know" },
};

void emit_notification_center_item(struct call *call, enum notification_kind notice, snowflake to,
                                   const struct user *about)
{
    const char *type = notices[notice].type;
    unsigned long long id = about->id;
    struct str name =
        about->global_name.given == GIVEN ? about->global_name.value : about->username;
    struct notification n = {
        .id = snowflake_new(),
        .type = str_of(type),
        .body = STR_CONCAT(call->arena, name, str_of(notices[notice].body)),
        .bundle_id = str_printf(call->arena, "%s-%llu", type, id),
        .deeplink = str_printf(call->arena, "/users/%llu", id),
        .other_user = about,
    };

    call_emit_event(call, EVENT_NOTIFICATION_CENTER_ITEM_CREATE, audience_of_user(to),
                    &notification_schema, &n);
}
