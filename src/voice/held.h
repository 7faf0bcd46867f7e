/* held.h - voice states from before a restart, which wait until their gateway sessions resume. */
#ifndef VOICE_HELD_H
#define VOICE_HELD_H

#include "base/map.h"
#include "voice/internal.h"

/* Set of accounts whose RESUME was refused recently. The caller holds the lock. */
void refusals_note(struct map *refusals, snowflake user_id);
bool refusals_have(const struct map *refusals, snowflake user_id);
void refusals_forget(struct map *refusals, bool all); /* removes expired entries, or all */

/* Restore the voice states of a resumed session, or the account's state in a guild. Call them on a
 * loop after opening the session's queue; voice_line_settle is called at the end. */
void voice_return_resumed(struct voice *v, struct api *api, const struct gateway_caller *who);
void voice_return_begun(struct voice *v, struct api *api, const struct gateway_caller *who,
                        snowflake guild_id);

#endif
