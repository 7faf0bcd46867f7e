/* presence.h - whether somebody is there, told by calls. */
#ifndef PLATFORM_PRESENCE_H
#define PLATFORM_PRESENCE_H

#include "platform/platform.h"

/* PRESENCE_UPDATE to one account: how `user` looks, and whether they are there now. */
void presence_show(struct call *call, snowflake to, const struct user *user);
/* The same, but nothing when they are not there. */
void presence_show_online(struct call *call, snowflake to, const struct user *user);

#endif
