/* invites.h - invites to guilds, groups and friendships. The folder owns the table invites and
 * manages vanity codes. The code of an invite that grants roles is secret, because everybody who
 * knows it gets the roles (rules.c). The folder may use webhooks/ and the folders below it. Start
 * with routes.c. */
#ifndef PLATFORM_INVITES_INVITES_H
#define PLATFORM_INVITES_INVITES_H

#include "model/invite.h"
#include "platform/accounts/accounts.h"

/* Finds an invite, with the objects to which it refers. Returns ERR_UNKNOWN_INVITE if the code is
 * unknown or the invite has expired. */
enum err invite_find(struct tx *tx, struct str code, struct invite *ret);

/* Adds the account to the invite's guild or group, or to the inviter's friends. Counts the use and
 * emits the events. Sets invite->new_member if the account was not in the guild or group before. */
enum err invite_accept(struct call *call, struct invite *invite, snowflake user_id);

/* Finds the code of a channel's invite that has neither expiry nor use limit. ret->p is NULL if
 * there is none. */
enum err permanent_invite_find(struct tx *tx, snowflake channel_id, struct str *ret);
/* If the channel has no invite without expiry and use limit, creates one for the caller. */
enum err permanent_invite_create(struct call *call, const struct channel *c);

extern const struct domain invites_domain;
extern const struct world_file_fields invites_world;

#endif
