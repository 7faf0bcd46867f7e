/* notification.h - items of an account's notification center. */
#ifndef MODEL_NOTIFICATION_H
#define MODEL_NOTIFICATION_H

#include "model/user.h"

struct notification {
    snowflake id;
    struct str type; /* "go_live_push", "friend_request_pending" */
    struct str body, bundle_id, deeplink;
    bool acked, completed, disable_action;
    const struct user *other_user;
    struct opt_id guild_id;
    struct str icon_url, icon_name, item_enum, message_id, message_channel_id, message, callout,
        application, guild_scheduled_event_id; /* all of these are always null */
};

extern const struct schema notification_schema;

#endif
