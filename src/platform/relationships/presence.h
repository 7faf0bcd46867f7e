/* presence.h - emits presence updates of users from API handlers. */
#ifndef PLATFORM_RELATIONSHIPS_PRESENCE_H
#define PLATFORM_RELATIONSHIPS_PRESENCE_H

#include "platform/accounts/accounts.h"

/* Emits PRESENCE_UPDATE with the user object and the current status to the account `to`. */
void emit_presence_update(struct call *call, snowflake to, const struct user *user);
/* Returns whether the user is online and not invisible. */
bool presence_is_online(const struct call *call, snowflake user_id);

#endif
