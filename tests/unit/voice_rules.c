/* voice_rules.c - the decision table of op 4, and the table of stages, row by row. */
#include "unit.h"

#include "model/permissions/permissions.h"
#include "voice/rules.h"
#include "voice/stages/stage_rules.h"

/* --- op 4 ----------------------------------------------------------------------------- */

#define HERE .present = true, .same_place = true, .same_channel = true

static void every_row_leads_where_it_says(void **unused)
{
    static const struct {
        struct voice_facts facts;
        enum voice_outcome outcome;
    } rows[] = {
        /* 1: nothing to leave, or another session's */
        { { .leaves = true }, VOICE_IGNORED },
        { { .leaves = true, .present = true }, VOICE_IGNORED },
        /* 2 */
        { { .leaves = true, .present = true, .own = true }, VOICE_LEAVES },
        /* 3 and 4 */
        { { .open = false }, VOICE_IGNORED },
        { { HERE, .own = true, .open = false }, VOICE_IGNORED },
        /* 5 */
        { { .open = true, .full = true }, VOICE_IGNORED },
        { { .open = true, .full = true, .present = true, .same_place = true, .own = true },
          VOICE_IGNORED },
        { { HERE, .own = true, .here = true, .open = true, .full = true, .live = true },
          VOICE_CHANGES },
        { { HERE, .open = true, .full = true }, VOICE_TAKES_OVER },
        /* 7 and 8 */
        { { HERE, .own = true, .here = true, .open = true, .live = true }, VOICE_CHANGES },
        { { HERE, .own = true, .here = true, .open = true }, VOICE_REJOINS },
        /* 9, and a session that goes on at another server */
        { { HERE, .own = true, .open = true, .live = true }, VOICE_TAKES_OVER },
        { { HERE, .own = true, .open = true }, VOICE_TAKES_OVER },
        { { HERE, .open = true, .live = true }, VOICE_TAKES_OVER },
        { { .present = true, .same_place = true, .open = true }, VOICE_TAKES_OVER },
        /* 10 */
        { { .present = true, .same_place = true, .own = true, .open = true }, VOICE_MOVES },
        /* 11 */
        { { .open = true }, VOICE_JOINS },
        { { .present = true, .own = true, .open = true }, VOICE_JOINS },
        { { .present = true, .open = true }, VOICE_JOINS },
    };

    (void)unused;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(voice_decide(&rows[i].facts), rows[i].outcome);
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

static void expect_state(const struct voice_state *s, bool suppress, int64_t asked)
{
    assert_int_equal(s->suppress, suppress);
    assert_int_equal(s->request_to_speak_timestamp.given == GIVEN, asked != 0);
    assert_int_equal(s->request_to_speak_timestamp.value, asked);
}

#define SUPPRESS(v) .suppress = { GIVEN, (v) }
#define ASK(v)      .request_to_speak_timestamp = { (v) ? GIVEN : GIVEN_NULL, (v) }

static void wishes_take_their_rights(void **unused)
{
    const uint64_t mute = PERMISSION(MUTE_MEMBERS), ask = PERMISSION(REQUEST_TO_SPEAK);
    const struct voice_state audience = state(true, 0), invited = state(false, 5);

    (void)unused;
    assert_int_equal(stage_request_needs(&audience, &(struct stage_request){ SUPPRESS(false) }),
                     mute);
    assert_int_equal(stage_request_needs(&audience, &(struct stage_request){ SUPPRESS(true) }), 0);
    assert_int_equal(stage_request_needs(&audience, &(struct stage_request){ ASK(NOW) }), ask);
    assert_int_equal(stage_request_needs(&audience, &(struct stage_request){ ASK(0) }), 0);
    assert_int_equal(
        stage_request_needs(&audience, &(struct stage_request){ SUPPRESS(false), ASK(NOW) }),
        mute | ask);
    assert_int_equal(
        stage_request_needs(&invited, &(struct stage_request){ SUPPRESS(false), ASK(0) }), 0);
    assert_int_equal(stage_request_needs(&invited, &(struct stage_request){ 0 }), 0);
}

static void wishes_lead_from_state_to_state(void **unused)
{
    struct voice_state s = state(true, 0);

    (void)unused;
    stage_request_apply(&s, &(struct stage_request){ 0 }, NOW);
    expect_state(&s, true, 0);
    stage_request_apply(&s, &(struct stage_request){ SUPPRESS(true) }, NOW);
    expect_state(&s, true, 0);
    /* Raise the hand, lower it. */
    stage_request_apply(&s, &(struct stage_request){ ASK(NOW - 5) }, NOW);
    expect_state(&s, true, NOW);
    stage_request_apply(&s, &(struct stage_request){ ASK(NOW + 5) }, NOW);
    expect_state(&s, true, NOW + 5);
    stage_request_apply(&s, &(struct stage_request){ ASK(0) }, NOW);
    expect_state(&s, true, 0);
    /* Speak, with and without a hand that was raised. */
    s = state(true, 7);
    stage_request_apply(&s, &(struct stage_request){ SUPPRESS(false) }, NOW);
    expect_state(&s, false, 0);
    stage_request_apply(&s, &(struct stage_request){ SUPPRESS(false) }, NOW);
    expect_state(&s, false, 0);
    /* Accept. */
    s = state(false, 7);
    stage_request_apply(&s, &(struct stage_request){ SUPPRESS(false) }, NOW);
    expect_state(&s, false, 7);
    stage_request_apply(&s, &(struct stage_request){ SUPPRESS(false), ASK(0) }, NOW);
    expect_state(&s, false, 0);
    /* Decline, or go back. */
    s = state(false, 7);
    stage_request_apply(&s, &(struct stage_request){ SUPPRESS(true) }, NOW);
    expect_state(&s, true, 0);
    s = state(true, 7);
    stage_request_apply(&s, &(struct stage_request){ SUPPRESS(true) }, NOW);
    expect_state(&s, true, 0);
}

static void moderators_lead_from_state_to_state(void **unused)
{
    struct voice_state s = state(true, 0);

    (void)unused;
    stage_order_apply(&s, false, false, NOW);
    expect_state(&s, false, NOW);
    stage_order_apply(&s, false, false, NOW + 1);
    expect_state(&s, false, NOW + 1);
    stage_order_apply(&s, true, false, NOW);
    expect_state(&s, true, 0);
    stage_order_apply(&s, true, false, NOW);
    expect_state(&s, true, 0);
    s = state(true, 7);
    stage_order_apply(&s, false, true, NOW);
    expect_state(&s, false, 0);
    /* A speaker is asked as well; a bot is not. */
    s = state(false, 0);
    stage_order_apply(&s, false, false, NOW);
    expect_state(&s, false, NOW);
    s = state(false, 0);
    stage_order_apply(&s, false, true, NOW);
    expect_state(&s, false, 0);
}

static void a_minute_ago_counts_as_now(void **unused)
{
    (void)unused;
    assert_true(stage_moment_counts(NOW, NOW));
    assert_true(stage_moment_counts(NOW + 1, NOW));
    assert_true(stage_moment_counts(NOW - 60 * 1000000, NOW));
    assert_false(stage_moment_counts(NOW - 60 * 1000000 - 1, NOW));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_leads_where_it_says),
        cmocka_unit_test(wishes_take_their_rights),
        cmocka_unit_test(wishes_lead_from_state_to_state),
        cmocka_unit_test(moderators_lead_from_state_to_state),
        cmocka_unit_test(a_minute_ago_counts_as_now),
    };
    return cmocka_run_group_tests_name("voice/rules", tests, NULL, NULL);
}
