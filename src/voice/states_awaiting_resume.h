/* states_awaiting_resume.h - voice states from before a restart, which stay until their gateway
 * sessions resume. */
#ifndef VOICE_STATES_AWAITING_RESUME_H
#define VOICE_STATES_AWAITING_RESUME_H

#include "base/map.h"
#include "voice/internal.h"

/* Set of accounts whose RESUME was refused recently. The caller holds the lock. */
void refused_resumes_add_account(struct map *refusals, snowflake user_id);
bool refused_resumes_contain_account(const struct map *refusals, snowflake user_id);
void refused_resumes_remove(struct map *refusals, bool all); /* removes expired entries or all */

/* Restore the voice states of a resumed session, or the account's voice state in a guild, and
 * finally call session_opcodes_on_voice_states_restored. Must be called on an event loop, after the
 * session's opcode queue was created. */
void restore_voice_states_of_resumed_session(struct voice_service *v, struct api *api,
                                             const struct gateway_hook_session *who);
void restore_voice_state_of_new_session(struct voice_service *v, struct api *api,
                                        const struct gateway_hook_session *who, snowflake guild_id);

#endif
