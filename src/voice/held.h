/* held.h - voice states that a restart has left, until their sessions are back. */
#ifndef VOICE_HELD_H
#define VOICE_HELD_H

#include "base/map.h"
#include "voice/internal.h"

/* Accounts whose RESUME was refused not long ago. The caller locks. */
void refusals_note(struct map *refusals, snowflake user_id);
bool refusals_have(const struct map *refusals, snowflake user_id);
void refusals_forget(struct map *refusals, bool all); /* what is too old, or all */

/* The session takes back its states, or the account's state in a guild. On a loop; the session has
 * a line, which is settled when it is done. */
void voice_return_resumed(struct voice *v, struct api *api, const struct gateway_caller *who);
void voice_return_begun(struct voice *v, struct api *api, const struct gateway_caller *who,
                        snowflake guild_id);

#endif
