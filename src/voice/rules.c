/* rules.c - decision table for op 4 (voice state update). */
#include "voice/rules.h"

static enum voice_request_outcome decide_leave_outcome(const struct voice_request_conditions *f)
{
    return f->present && f->own_session ? VOICE_OUTCOME_LEAVE : VOICE_OUTCOME_IGNORE;
}

enum voice_request_outcome decide_voice_request_outcome(const struct voice_request_conditions *f)
{
    if (f->leaves)
        return decide_leave_outcome(f);
    if (!f->open || (f->full && !f->same_channel))
        return VOICE_OUTCOME_IGNORE;
    if (f->same_channel && f->own_session && f->on_this_node)
        return f->live ? VOICE_OUTCOME_CHANGE_FLAGS : VOICE_OUTCOME_REJOIN;
    if (!f->same_guild)
        return VOICE_OUTCOME_JOIN;
    return f->own_session && !f->same_channel ? VOICE_OUTCOME_MOVE : VOICE_OUTCOME_TAKE_OVER;
}
