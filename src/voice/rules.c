/* rules.c - decision table for op 4. */
#include "voice/rules.h"

static enum voice_outcome decide_leave(const struct voice_facts *f)
{
    return f->present && f->own ? VOICE_LEAVES : VOICE_IGNORED;
}

enum voice_outcome voice_decide(const struct voice_facts *f)
{
    if (f->leaves)
        return decide_leave(f);
    if (!f->open || (f->full && !f->same_channel))
        return VOICE_IGNORED;
    if (f->same_channel && f->own && f->here)
        return f->live ? VOICE_CHANGES : VOICE_REJOINS;
    if (!f->same_place)
        return VOICE_JOINS;
    return f->own && !f->same_channel ? VOICE_MOVES : VOICE_TAKES_OVER;
}
