/* stage_rules.c - changes of a user's speaker state on a stage. */
#include "voice/stages/stage_rules.h"

#include "model/permissions/permissions.h"

#define CLOCK_SKEW_US (INT64_C(60) * 1000000)

static const struct opt_int no_time = { GIVEN_NULL, 0 };

static bool change_makes_member_a_speaker(const struct voice_state *s,
                                          const struct stage_voice_state_request *request)
{
    return s->suppress && request->suppress.given == GIVEN && !request->suppress.value;
}

/* Returns the permissions that a request for the own voice state needs. An invited user needs none
 * to accept, because he is already not suppressed. */
uint64_t stage_request_needed_permissions(const struct voice_state *s,
                                          const struct stage_voice_state_request *request)
{
    uint64_t needs = change_makes_member_a_speaker(s, request) ? PERMISSION(MUTE_MEMBERS) : 0;

    if (request->request_to_speak_timestamp.given == GIVEN)
        needs |= PERMISSION(REQUEST_TO_SPEAK);
    return needs;
}

bool stage_request_to_speak_time_is_valid(int64_t at, int64_t now)
{
    return at >= now - CLOCK_SKEW_US;
}

void stage_voice_state_request_apply(struct voice_state *s,
                                     const struct stage_voice_state_request *request, int64_t now)
{
    const struct opt_int *at = &request->request_to_speak_timestamp;

    /* The user's request to speak ends when he speaks or returns to the audience. */
    if (request->suppress.given == GIVEN &&
        (request->suppress.value || change_makes_member_a_speaker(s, request))) {
        s->suppress = request->suppress.value;
        s->request_to_speak_timestamp = no_time;
    }
    if (at->given == GIVEN_NULL)
        s->request_to_speak_timestamp = no_time;
    else if (at->given == GIVEN)
        s->request_to_speak_timestamp =
            (struct opt_int){ GIVEN, at->value < now ? now : at->value };
}

/* Applies a moderator's change. A user whom the moderator unsuppresses gets an invitation with the
 * current time, even if he was a speaker before. A bot gets no invitation. */
void stage_apply_moderator_suppress_change(struct voice_state *s, bool suppress, bool bot,
                                           int64_t now)
{
    s->suppress = suppress;
    s->request_to_speak_timestamp = suppress || bot ? no_time : (struct opt_int){ GIVEN, now };
}
