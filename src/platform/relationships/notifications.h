/* notifications.h - notification center items about actions of other users. */
#ifndef PLATFORM_RELATIONSHIPS_NOTIFICATIONS_H
#define PLATFORM_RELATIONSHIPS_NOTIFICATIONS_H

#include "platform/accounts/accounts.h"

enum notification_kind {
    NOTIFICATION_FRIEND_REQUEST,
    NOTIFICATION_FRIEND_ACCEPTED,
    NOTIFICATION_GAME_FRIEND,
    NOTIFICATION_SUGGESTION,
};

/* Emits NOTIFICATION_CENTER_ITEM_CREATE about a user to `to`. The item is not stored. */
void emit_notification_center_item(struct call *call, enum notification_kind notice, snowflake to,
                                   const struct user *about);

#endif
