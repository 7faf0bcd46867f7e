/* world.h - creates accounts for other parts of a world import. */
#ifndef PLATFORM_ACCOUNTS_WORLD_H
#define PLATFORM_ACCOUNTS_WORLD_H

#include "platform/worlds/file.h"

/* Inserts an account that is verified and has the locale en-US. */
enum err world_add_user(struct importing *im, snowflake id, struct str username, bool bot);

#endif
