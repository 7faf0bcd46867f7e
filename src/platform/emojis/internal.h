/* internal.h - what the files of emojis/ share. */
#ifndef PLATFORM_EMOJIS_INTERNAL_H
#define PLATFORM_EMOJIS_INTERNAL_H

#include "platform/emojis/emojis.h"

/* Tells a guild what emoji it has. */
enum err emojis_announce(struct call *call, snowflake guild_id);

/* --- roles.c -------------------------------------------------------------------------- */

/* The roles of a body, each once and without @everyone; a problem is noted at those that the
 * guild does not have. ERR_INVALID_FORM_BODY. */
enum err emoji_check_roles(struct call *call, const struct list *given, struct list *ret);
bool emoji_roles_equal(const struct list *a, const struct list *b);
/* A role that is gone leaves every emoji of its guild. */
enum err emojis_forget_role(struct call *call, const struct role *role);

#endif
