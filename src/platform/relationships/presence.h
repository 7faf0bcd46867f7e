/* presence.h - whether somebody is there, told by calls. */
#ifndef PLATFORM_RELATIONSHIPS_PRESENCE_H
#define PLATFORM_RELATIONSHIPS_PRESENCE_H

#include "platform/accounts/accounts.h"

/* PRESENCE_UPDATE to one account: how `user` looks, and whether they are there now. */
void presence_show(struct call *call, snowflake to, const struct user *user);
/* Whether there is anything to show: they are there and want to be seen. */
bool presence_is_online(const struct call *call, snowflake user_id);

#endif
