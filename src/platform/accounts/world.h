/* world.h - accounts in world files, for the parts that make some. */
#ifndef PLATFORM_ACCOUNTS_WORLD_H
#define PLATFORM_ACCOUNTS_WORLD_H

#include "platform/worlds/file.h"

/* The account is verified, and speaks English. */
enum err world_add_user(struct importing *im, snowflake id, struct str username, bool bot);

#endif
