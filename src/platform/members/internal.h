/* internal.h - what the files of members/ share. */
#ifndef PLATFORM_MEMBERS_INTERNAL_H
#define PLATFORM_MEMBERS_INTERNAL_H

#include "platform/members/members.h"

/* --- rows.c: the SQL ------------------------------------------------------------ */

/* With roles; announces nothing. */
enum err member_update(struct tx *tx, const struct member *m);
/* ERR_UNKNOWN_MEMBER. */
enum err member_delete(struct tx *tx, snowflake guild_id, snowflake user_id);
/* Makes the stored roles those of m. */
enum err member_store_roles(struct tx *tx, const struct member *m);

#endif
