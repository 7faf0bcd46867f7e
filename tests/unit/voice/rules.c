/* rules.c - tests the decision tables of voice state updates (opcode 4) and of stage channels. */
#include "unit/unit.h"

#include "model/permissions/permissions.h"
#include "voice/rules.h"
#include "voice/stages/stage_rules.h"

/* --- op 4 ----------------------------------------------------------------------------- */

#define HERE .present = true, .same_guild = true, .same_channel = true

static void voice_state_update_outcome_matches_the_decision_table(void **unused)
{
    static const struct {
        struct voice_request_conditions facts;
        enum voice_request_outcome outcome;
    } rows[] = {
        /* 1: not connected, or connected in another session */
        { { .leaves = true }, VOICE_OUTCOME_IGNORE },
        { { .leaves = true, .present = true }, VOICE_OUTCOME_IGNORE },
        /* 2 */
        { { .leaves = true, .present = true, .own_session = true }, VOICE_OUTCOME_LEAVE },
        /* 3 and 4 */
        { { .open = false }, VOICE_OUTCOME_IGNORE },
        { { HERE, .own_session = true, .open = false }, VOICE_OUTCOME_IGNORE },
        /* 5 */
        { { .open = true, .full = true }, VOICE_OUTCOME_IGNORE },
        { { .open = true, .full = true, .present = true, .same_guild = true, .own_session = true },
          VOICE_OUTCOME_IGNORE },
        { { HERE, .own_session = true, .on_this_node = true, .open = true, .full = true,
            .live = true },
          VOICE_OUTCOME_CHANGE_FLAGS },
        { { HERE, .open = true, .full = true }, VOICE_OUTCOME_TAKE_OVER },
        /* 7 and 8 */
        { { HERE, .own_session = true, .on_this_node = true, .open = true, .live = true },
          VOICE_OUTCOME_CHANGE_FLAGS },
        { { HERE, .own_session = true, .on_this_node = true, .open = true }, VOICE_OUTCOME_REJOIN },
        /* 9, and a session that continues on another node */
        { { HERE, .own_session = true, .open = true, .live = true }, VOICE_OUTCOME_TAKE_OVER },
        { { HERE, .own_session = true, .open = true }, VOICE_OUTCOME_TAKE_OVER },
        { { HERE, .open = true, .live = true }, VOICE_OUTCOME_TAKE_OVER },
        { { .present = true, .same_guild = true, .open = true }, VOICE_OUTCOME_TAKE_OVER },
        /* 10 */
        { { .present = true, .same_guild = true, .own_session = true, .open = true },
          VOICE_OUTCOME_MOVE },
        /* 11 */
        { { .open = true }, VOICE_OUTCOME_JOIN },
        { { .present = true, .own_session = true, .open = true }, VOICE_OUTCOME_JOIN },
        { { .present = true, .open = true }, VOICE_OUTCOME_JOIN },
    };

    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(decide_voice_request_outcome(&rows[i].facts), rows[i].outcome);
}

/* --- stages --------------------------------------------------------------------------- */

enum { NOW = 1000000000 };

static struct voice_state state(bool suppress, int64_t asked)
{
    return (struct voice_state){
        .suppress = suppress,
        .request_to_speak_timestamp = { asked ? GIVEN : GIVEN_NULL, asked },
    };
}

static void expect_voice_state_on_stage(const struct voice_state *s, bool suppress, int64_t asked)
{
    assert_int_equal(s->suppress, suppress);
    assert_int_equal(s->request_to_speak_timestamp.given == GIVEN, asked != 0);
    assert_int_equal(s->request_to_speak_timestamp.value, asked);
}

#define SUPPRESS(v) .suppress = { GIVEN, (v) }
#define ASK(v)      .request_to_speak_timestamp = { (v) ? GIVEN : GIVEN_NULL, (v) }

static void stage_requests_require_their_permissions(void **unused)
{
    const uint64_t mute = PERMISSION(MUTE_MEMBERS), ask = PERMISSION(REQUEST_TO_SPEAK);
    const struct voice_state audience = state(true, 0), invited = state(false, 5);

    (void)unused;
    assert_int_equal(stage_request_needed_permissions(
                         &audience, &(struct stage_voice_state_request){ SUPPRESS(false) }),
                     mute);
    assert_int_equal(stage_request_needed_permissions(
                         &audience, &(struct stage_voice_state_request){ SUPPRESS(true) }),
                     0);
    assert_int_equal(stage_request_needed_permissions(
                         &audience, &(struct stage_voice_state_request){ ASK(NOW) }),
                     ask);
    assert_int_equal(
        stage_request_needed_permissions(&audience, &(struct stage_voice_state_request){ ASK(0) }),
        0);
    assert_int_equal(
        stage_request_needed_permissions(
            &audience, &(struct stage_voice_state_request){ SUPPRESS(false), ASK(NOW) }),
        mute | ask);
    assert_int_equal(stage_request_needed_permissions(
                         &invited, &(struct stage_voice_state_request){ SUPPRESS(false), ASK(0) }),
                     0);
    assert_int_equal(
        stage_request_needed_permissions(&invited, &(struct stage_voice_state_request){ 0 }), 0);
}

static void stage_requests_change_the_voice_state(void **unused)
{
    struct voice_state s = state(true, 0);

    (void)unused;
    stage_voice_state_request_apply(&s, &(struct stage_voice_state_request){ 0 }, NOW);
    expect_voice_state_on_stage(&s, true, 0);
    stage_voice_state_request_apply(&s, &(struct stage_voice_state_request){ SUPPRESS(true) }, NOW);
    expect_voice_state_on_stage(&s, true, 0);
    /* Request to speak, and withdraw the request. */
    stage_voice_state_request_apply(&s, &(struct stage_voice_state_request){ ASK(NOW - 5) }, NOW);
    expect_voice_state_on_stage(&s, true, NOW);
    stage_voice_state_request_apply(&s, &(struct stage_voice_state_request){ ASK(NOW + 5) }, NOW);
    expect_voice_state_on_stage(&s, true, NOW + 5);
    stage_voice_state_request_apply(&s, &(struct stage_voice_state_request){ ASK(0) }, NOW);
    expect_voice_state_on_stage(&s, true, 0);
    /* Become a speaker, with and without a request. */
    s = state(true, 7);
    stage_voice_state_request_apply(&s, &(struct stage_voice_state_request){ SUPPRESS(false) },
                                    NOW);
    expect_voice_state_on_stage(&s, false, 0);
    stage_voice_state_request_apply(&s, &(struct stage_voice_state_request){ SUPPRESS(false) },
                                    NOW);
    expect_voice_state_on_stage(&s, false, 0);
    /* Accept an invitation. */
    s = state(false, 7);
    stage_voice_state_request_apply(&s, &(struct stage_voice_state_request){ SUPPRESS(false) },
                                    NOW);
    expect_voice_state_on_stage(&s, false, 7);
    stage_voice_state_request_apply(
        &s, &(struct stage_voice_state_request){ SUPPRESS(false), ASK(0) }, NOW);
    expect_voice_state_on_stage(&s, false, 0);
    /* Decline an invitation, or return to the audience. */
    s = state(false, 7);
    stage_voice_state_request_apply(&s, &(struct stage_voice_state_request){ SUPPRESS(true) }, NOW);
    expect_voice_state_on_stage(&s, true, 0);
    s = state(true, 7);
    stage_voice_state_request_apply(&s, &(struct stage_voice_state_request){ SUPPRESS(true) }, NOW);
    expect_voice_state_on_stage(&s, true, 0);
}

static void stage_moderators_change_the_voice_state(void **unused)
{
    struct voice_state s = state(true, 0);

    (void)unused;
    stage_apply_moderator_suppress_change(&s, false, false, NOW);
    expect_voice_state_on_stage(&s, false, NOW);
    stage_apply_moderator_suppress_change(&s, false, false, NOW + 1);
    expect_voice_state_on_stage(&s, false, NOW + 1);
    stage_apply_moderator_suppress_change(&s, true, false, NOW);
    expect_voice_state_on_stage(&s, true, 0);
    stage_apply_moderator_suppress_change(&s, true, false, NOW);
    expect_voice_state_on_stage(&s, true, 0);
    s = state(true, 7);
    stage_apply_moderator_suppress_change(&s, false, true, NOW);
    expect_voice_state_on_stage(&s, false, 0);
    /* A speaker gets an invitation too; a bot does not. */
    s = state(false, 0);
    stage_apply_moderator_suppress_change(&s, false, false, NOW);
    expect_voice_state_on_stage(&s, false, NOW);
    s = state(false, 0);
    stage_apply_moderator_suppress_change(&s, false, true, NOW);
    expect_voice_state_on_stage(&s, false, 0);
}

static void request_to_speak_time_may_be_a_minute_old(void **unused)
{
    (void)unused;
    assert_true(stage_request_to_speak_time_is_valid(NOW, NOW));
    assert_true(stage_request_to_speak_time_is_valid(NOW + 1, NOW));
    assert_true(stage_request_to_speak_time_is_valid(NOW - 60 * 1000000, NOW));
    assert_false(stage_request_to_speak_time_is_valid(NOW - 60 * 1000000 - 1, NOW));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(voice_state_update_outcome_matches_the_decision_table),
        cmocka_unit_test(stage_requests_require_their_permissions),
        cmocka_unit_test(stage_requests_change_the_voice_state),
        cmocka_unit_test(stage_moderators_change_the_voice_state),
        cmocka_unit_test(request_to_speak_time_may_be_a_minute_old),
    };
    return cmocka_run_group_tests_name("voice/rules", tests, NULL, NULL);
}
