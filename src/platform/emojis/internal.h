/* internal.h - declarations that the files of emojis/ share. */
#ifndef PLATFORM_EMOJIS_INTERNAL_H
#define PLATFORM_EMOJIS_INTERNAL_H

#include "platform/emojis/emojis.h"

enum err guild_emojis_emit_update(struct call *call, snowflake guild_id);

/* --- roles.c -------------------------------------------------------------------------- */

/* Returns the roles of a body without duplicates and without @everyone. Adds a form error for each
 * role that the guild does not have; in this case returns ERR_INVALID_FORM_BODY. */
enum err emoji_validate_roles(struct call *call, const struct list *given, struct list *ret);
bool emoji_roles_equal(const struct list *a, const struct list *b);
/* Removes a deleted role from every emoji of its guild. */
enum err emojis_remove_role(struct call *call, const struct role *role);

#endif
