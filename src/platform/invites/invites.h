/* invites.h - ways into guilds, groups and friendships. */
#ifndef PLATFORM_INVITES_INVITES_H
#define PLATFORM_INVITES_INVITES_H

#include "model/invite.h"
#include "platform/accounts/accounts.h"

/* ERR_UNKNOWN_INVITE, also for one that has expired. With all that it shows. */
enum err invite_find(struct tx *tx, struct str code, struct invite *ret);

/* Lets an account in where the invite leads, counts the use and announces it all;
 * new_member says whether it was not there before. */
enum err invite_accept(struct call *call, struct invite *invite, snowflake user_id);

/* The code of an invite to a channel that neither ends nor runs out; .p is NULL: there is none. */
enum err invite_lasting(struct tx *tx, snowflake channel_id, struct str *ret);
/* The caller makes one where there is none. */
enum err invite_lasting_make(struct call *call, const struct channel *c);

/* A guild's own code. */

extern const struct domain invites_domain;
extern const struct world_parts invites_world;

#endif
