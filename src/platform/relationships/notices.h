/* notices.h - what people are to look at because somebody else did something. */
#ifndef PLATFORM_RELATIONSHIPS_NOTICES_H
#define PLATFORM_RELATIONSHIPS_NOTICES_H

#include "platform/accounts/accounts.h"

enum notice {
    NOTICE_FRIEND_REQUEST,
    NOTICE_FRIEND,
    NOTICE_GAME_FRIEND,
    NOTICE_SUGGESTION,
};

/* NOTIFICATION_CENTER_ITEM_CREATE to one account, about another. Nothing is kept. */
void notice_show(struct call *call, enum notice notice, snowflake to, const struct user *about);

#endif
