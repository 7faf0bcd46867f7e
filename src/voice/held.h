/* held.h - voice states from before a restart, held until their gateway sessions resume. */
#ifndef VOICE_HELD_H
#define VOICE_HELD_H

#include "base/map.h"
#include "voice/internal.h"

/* Accounts whose RESUME was refused recently. The caller holds the lock. */
void refusals_note(struct map *refusals, snowflake user_id);
bool refusals_have(const struct map *refusals, snowflake user_id);
void refusals_forget(struct map *refusals, bool all); /* expired entries, or all */

/* The session takes back its states, or the account's state in a guild. Call on a loop after
 * opening the session's queue; voice_line_settle is called when done. */
void voice_return_resumed(struct voice *v, struct api *api, const struct gateway_caller *who);
void voice_return_begun(struct voice *v, struct api *api, const struct gateway_caller *who,
                        snowflake guild_id);

#endif
