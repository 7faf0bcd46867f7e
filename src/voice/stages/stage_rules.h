/* stage_rules.h - speaker states on a stage, as in Discord's documentation: audience (suppressed),
 * hand raised (suppressed, with the time of the request), invited (not suppressed, with the time of
 * the invitation), speaker (not suppressed). */
#ifndef VOICE_STAGE_RULES_H
#define VOICE_STAGE_RULES_H

#include "model/voice_state.h"

/* A change that a user requests for his own voice state on a stage. */
struct stage_voice_state_request {
    struct opt_bool suppress;
    struct opt_int request_to_speak_timestamp;
};

/* Returns the permissions that the user's request needs, given his current voice state. */
uint64_t stage_request_needed_permissions(const struct voice_state *s,
                                          const struct stage_voice_state_request *request);
/* Returns whether the time of a request to speak is now or later, with a small clock skew. */
bool stage_request_to_speak_time_is_valid(int64_t at, int64_t now);
void stage_voice_state_request_apply(struct voice_state *s,
                                     const struct stage_voice_state_request *request, int64_t now);
/* Applies a moderator's change to a member: a user is invited to speak, a bot just speaks. */
void stage_apply_moderator_suppress_change(struct voice_state *s, bool suppress, bool bot,
                                           int64_t now);

#endif
