/* notices.h - notification center items about actions of other users. */
#ifndef PLATFORM_RELATIONSHIPS_NOTICES_H
#define PLATFORM_RELATIONSHIPS_NOTICES_H

#include "platform/accounts/accounts.h"

enum notice {
    NOTICE_FRIEND_REQUEST,
    NOTICE_FRIEND,
    NOTICE_GAME_FRIEND,
    NOTICE_SUGGESTION,
};

/* Emits NOTIFICATION_CENTER_ITEM_CREATE to one account, about another. Stores nothing. */
void notice_show(struct call *call, enum notice notice, snowflake to, const struct user *about);

#endif
