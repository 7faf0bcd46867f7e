/* stage_rules.h - who may be heard on a stage: the interface's table.
 *
 *   audience      suppressed
 *   hand raised   suppressed, with the time of the request
 *   invited       not suppressed, with the time of the invitation
 *   speaker       not suppressed */
#ifndef VOICE_STAGE_RULES_H
#define VOICE_STAGE_RULES_H

#include "model/voice_state.h"

/* What somebody asks for themselves. */
struct stage_request {
    struct opt_bool suppress;
    struct opt_int request_to_speak_timestamp;
};

/* Rights that the request takes, given where they stand. */
uint64_t stage_request_needs(const struct voice_state *s, const struct stage_request *request);
/* Whether a moment counts as present or to come; clocks differ a little. */
bool stage_moment_counts(int64_t at, int64_t now);
void stage_request_apply(struct voice_state *s, const struct stage_request *request, int64_t now);
/* What a moderator asks for somebody else. People are invited, bots speak at once. */
void stage_order_apply(struct voice_state *s, bool suppress, bool bot, int64_t now);

#endif
