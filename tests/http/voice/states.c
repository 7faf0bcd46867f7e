/* states.c - GET and PATCH …/voice-states: reading states, and speaking on stages. */
#include "test_voice.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "waits.h"

#define OWN   "/guilds/%s/voice-states/@me"
#define STATE "/guilds/%s/voice-states/%s"

/* Returns a timestamp so many seconds from now. */
static const char *timestamp_after(struct world *w, int64_t seconds)
{
    time_t at = (time_t)(clock_s() + seconds);
    char text[64];

    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", gmtime(&at));
    return TEXT(w, "%s", text);
}

static const char *write_speak_request(struct world *w, int64_t seconds)
{
    return TEXT(w, "{'request_to_speak_timestamp': '%s'}", timestamp_after(w, seconds));
}

static const char *write_suppress(const struct test_voice *h, const char *channel,
                                  const char *suppress)
{
    return TEXT(h->world, "{'channel_id': '%s', 'suppress': %s}", channel, suppress);
}

/* Expects bob's next voice state. */
static void expect_voice_state_on_stage(const struct test_voice *h, bool suppress, bool asks)
{
    const struct dom *d = dom_at(next_voice(h->bob), "d");

    expect(str_is(dom_at(d, "user_id")->text, h->bob->id));
    expect(dom_at(d, "suppress")->truth == suppress);
    expect((dom_at(d, "request_to_speak_timestamp")->kind == JSON_STRING) == asks);
}

/* Creates a voice guild with bob on the stage. */
static struct test_voice create_stage_with_bob(struct world *w)
{
    struct test_voice h = world_test_voice(w);

    ask_voice(h.bob, h.guild, h.stage, "");
    expect_voice_state_on_stage(&h, true, false);
    expect_voice(h.bob, "VOICE_SERVER_UPDATE", "{}");
    return h;
}

static void set_stage_suppression_of_bob(const struct test_voice *h, const char *suppress)
{
    expect_status(
        client_patch(h->ada, write_suppress(h, h->stage, suppress), STATE, h->guild, h->bob->id),
        204);
}

static void modify_own_voice_state_with_status(const struct test_voice *h, const char *body)
{
    expect_status(client_patch(h->bob, body, OWN, h->guild), 204);
}

/* --- GET ------------------------------------------------------------------------------ */

static void reading_voice_states_requires_view_of_the_channel(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct client *eve = world_client(w, "eve"), *bot = test_voice_bot(&h, "robot");

    expect_error(client_get(h.bob, OWN, h.guild), 404, 10065);
    expect_error(client_get(h.ada, STATE, h.guild, h.bob->id), 404, 10065);
    join_voice(&h, h.bob, h.voice, NULL);
    expect_json(client_get(h.bob, OWN, h.guild),
                "{'guild_id': '%s', 'channel_id': '%s', 'user_id': '%s', 'session_id': '%s', "
                "'member': {'user': {'id': '%s'}}, 'suppress': false}",
                h.guild, h.voice, h.bob->id, conn_id(h.bob->gate), h.bob->id);
    expect_json(client_get(h.ada, STATE, h.guild, h.bob->id), "{'channel_id': '%s'}", h.voice);
    expect_json(client_get(bot, STATE, h.guild, h.bob->id), "{'channel_id': '%s'}", h.voice);
    expect_error(client_get(h.ada, OWN, h.guild), 404, 10065);
    expect_error(client_get(h.ada, STATE, h.guild, eve->id), 404, 10007);
    expect_error(client_get(eve, STATE, h.guild, h.bob->id), 403, 50001);
    expect_error(client_get(eve, OWN, "5"), 404, 10004);
    /* A member who cannot view the channel does not see its voice states. */
    world_sql(w,
              "insert into overwrites (channel_id, target_id, type, deny) values (%s, %s, 0, %llu)",
              h.voice, h.guild, BITS(PERMISSION(VIEW_CHANNEL)));
    expect_error(client_get(bot, STATE, h.guild, h.bob->id), 404, 10065);
    expect_status(client_get(h.bob, OWN, h.guild), 200);
    expect_status(client_get(h.ada, STATE, h.guild, h.bob->id), 200);
}

/* --- PATCH @me ------------------------------------------------------------------------ */

static void stage_audience_can_request_to_speak(struct world *w)
{
    struct test_voice h = create_stage_with_bob(w);

    modify_own_voice_state_with_status(&h, write_speak_request(w, 0));
    expect_voice_state_on_stage(&h, true, true);
    modify_own_voice_state_with_status(&h, "{'request_to_speak_timestamp': null}");
    expect_voice_state_on_stage(&h, true, false);
    /* A future time is stored as given; a slightly earlier one counts as now. */
    expect_status(client_patch(h.bob, write_speak_request(w, 3600), OWN, h.guild), 204);
    const struct dom *d = dom_at(next_voice(h.bob), "d.request_to_speak_timestamp");
    expect(strncmp(d->text.p, timestamp_after(w, 3600), 16) == 0);
    expect(strncmp(d->text.p + d->text.n - 6, "+00:00", 6) == 0);
    modify_own_voice_state_with_status(&h, write_speak_request(w, -58));
    d = dom_at(next_voice(h.bob), "d.request_to_speak_timestamp");
    expect(strncmp(d->text.p, timestamp_after(w, -30), 16) >= 0);
    expect_invalid(client_patch(h.bob, write_speak_request(w, -62), OWN, h.guild),
                   "request_to_speak_timestamp", "DATE_TIME_TYPE_IN_PAST");
    expect_invalid(client_patch(h.bob, "{'request_to_speak_timestamp': 'soon'}", OWN, h.guild),
                   "request_to_speak_timestamp", "DATE_TIME_TYPE_PARSE");
    expect_invalid(client_patch(h.bob, "{'suppress': 'no'}", OWN, h.guild), "suppress",
                   "BOOLEAN_TYPE_CONVERT");
    expect_invalid(client_patch(h.bob, "{'channel_id': []}", OWN, h.guild), "channel_id",
                   "NUMBER_TYPE_COERCE");
    /* silent changes the state without a notification. */
    modify_own_voice_state_with_status(
        &h, TEXT(w, "{'silent': true, 'request_to_speak_timestamp': null, 'channel_id': '%s'}",
                 h.stage));
    expect_voice_state_on_stage(&h, true, false);
    modify_own_voice_state_with_status(&h, "{}");
    modify_own_voice_state_with_status(&h, "{'unknown': 7}");
    expect_quiet(h.bob->gate);
}

static void request_to_speak_requires_the_permission(struct world *w)
{
    struct test_voice h = create_stage_with_bob(w);

    world_sql(w,
              "insert into overwrites (channel_id, target_id, type, deny) values (%s, %s, 0, %llu)",
              h.stage, h.guild, BITS(PERMISSION(REQUEST_TO_SPEAK)));
    expect_error(client_patch(h.bob, write_speak_request(w, 0), OWN, h.guild), 403, 50013);
    /* A PATCH without changes still sends the state. */
    modify_own_voice_state_with_status(&h, "{'request_to_speak_timestamp': null}");
    expect_voice_state_on_stage(&h, true, false);
}

static void unsuppressing_oneself_on_a_stage_requires_mute_members(struct world *w)
{
    struct test_voice h = create_stage_with_bob(w);

    expect_error(client_patch(h.bob, "{'suppress': false}", OWN, h.guild), 403, 50013);
    modify_own_voice_state_with_status(&h, "{'suppress': true}");
    expect_voice_state_on_stage(&h, true, false);
    struct client *mod = test_voice_member(&h, "mod", PERMISSION(MUTE_MEMBERS));
    ask_voice(mod, h.guild, h.stage, "");
    expect_voice(mod, "VOICE_STATE_UPDATE", "{'suppress': true}");
    expect_voice(mod, "VOICE_SERVER_UPDATE", "{}");
    expect_status(client_patch(mod, write_speak_request(w, 0), OWN, h.guild), 204);
    expect_voice(mod, "VOICE_STATE_UPDATE", "{'suppress': true}");
    expect_status(client_patch(mod, "{'suppress': false}", OWN, h.guild), 204);
    expect_voice(mod, "VOICE_STATE_UPDATE",
                 "{'suppress': false, 'request_to_speak_timestamp': null}");
    expect_status(client_patch(mod, "{'suppress': true}", OWN, h.guild), 204);
    expect_voice(mod, "VOICE_STATE_UPDATE",
                 "{'suppress': true, 'request_to_speak_timestamp': null}");
}

static void invited_stage_member_can_accept_without_permissions(struct world *w)
{
    struct test_voice h = create_stage_with_bob(w);

    set_stage_suppression_of_bob(&h, "false");
    expect_voice_state_on_stage(&h, false, true);
    modify_own_voice_state_with_status(&h,
                                       "{'suppress': false, 'request_to_speak_timestamp': null}");
    expect_voice_state_on_stage(&h, false, false);
    modify_own_voice_state_with_status(&h, "{'suppress': true}");
    expect_voice_state_on_stage(&h, true, false);
    set_stage_suppression_of_bob(&h, "false");
    expect_voice_state_on_stage(&h, false, true);
    /* The invitation can be declined. */
    modify_own_voice_state_with_status(&h,
                                       "{'suppress': true, 'request_to_speak_timestamp': null}");
    expect_voice_state_on_stage(&h, true, false);
    /* After leaving the stage the member is audience again. */
    set_stage_suppression_of_bob(&h, "false");
    expect_voice_state_on_stage(&h, false, true);
    leave_voice(&h, h.bob, NULL);
    ask_voice(h.bob, h.guild, h.stage, "");
    expect_voice_state_on_stage(&h, true, false);
}

static void own_voice_state_patch_requires_being_on_the_stage(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    const char *body = TEXT(w, "{'channel_id': '%s', 'suppress': true}", h.stage);

    expect_error(client_patch(h.bob, "{}", OWN, h.guild), 404, 10065);
    expect_error(client_patch(h.bob, body, OWN, h.guild), 404, 10065);
    join_voice(&h, h.bob, h.voice, NULL);
    expect_error(client_patch(h.bob, "{'suppress': true}", OWN, h.guild), 400, 50024);
    expect_error(client_patch(h.bob, body, OWN, h.guild), 404, 10065);
    expect_error(client_patch(h.bob, "{'channel_id': '5'}", OWN, h.guild), 404, 10003);
    expect_error(client_patch(h.bob, TEXT(w, "{'channel_id': '%s'}", h.voice), OWN, h.guild), 400,
                 50024);
    struct test_voice elsewhere = another_test_voice(&h);
    expect_error(
        client_patch(h.bob, TEXT(w, "{'channel_id': '%s'}", elsewhere.stage), OWN, h.guild), 404,
        10003);
    struct client *eve = world_client(w, "eve");
    expect_error(client_patch(eve, "{}", OWN, h.guild), 403, 50001);
}

static void member_without_view_can_still_leave_the_speakers(struct world *w)
{
    struct test_voice h = create_stage_with_bob(w);
    const char *there = TEXT(w, "{'channel_id': '%s', 'suppress': true}", h.stage);

    set_stage_suppression_of_bob(&h, "false");
    expect_voice_state_on_stage(&h, false, true);
    world_sql(w,
              "insert into overwrites (channel_id, target_id, type, deny) values (%s, %s, 0, %llu)",
              h.stage, h.guild, BITS(PERMISSION(VIEW_CHANNEL)));
    expect_error(client_patch(h.bob, write_speak_request(w, 0), OWN, h.guild), 403, 50013);
    modify_own_voice_state_with_status(&h, "{'request_to_speak_timestamp': null}");
    expect_voice_state_on_stage(&h, false, false);
    modify_own_voice_state_with_status(&h, there);
    expect_voice_state_on_stage(&h, true, false);
    expect_error(client_patch(h.bob, "{'suppress': false}", OWN, h.guild), 403, 50013);
    /* A member who is not there gets 50001. */
    struct client *cleo = test_voice_member(&h, "cleo", 0);
    expect_error(client_patch(cleo, there, OWN, h.guild), 403, 50001);
}

/* --- PATCH of another user's state ---------------------------------------------------- */

static void stage_moderators_can_invite_and_suppress_members(struct world *w)
{
    struct test_voice h = create_stage_with_bob(w);

    modify_own_voice_state_with_status(&h, write_speak_request(w, 0));
    expect_voice_state_on_stage(&h, true, true);
    set_stage_suppression_of_bob(&h, "false");
    expect_voice_state_on_stage(&h, false, true);
    /* Invited members and speakers can be invited again. */
    set_stage_suppression_of_bob(&h, "false");
    expect_voice_state_on_stage(&h, false, true);
    modify_own_voice_state_with_status(&h, "{'request_to_speak_timestamp': null}");
    expect_voice_state_on_stage(&h, false, false);
    set_stage_suppression_of_bob(&h, "false");
    expect_voice_state_on_stage(&h, false, true);
    set_stage_suppression_of_bob(&h, "true");
    expect_voice_state_on_stage(&h, true, false);
    modify_own_voice_state_with_status(&h, write_speak_request(w, 0));
    expect_voice_state_on_stage(&h, true, true);
    set_stage_suppression_of_bob(&h, "true");
    expect_voice_state_on_stage(&h, true, false);
    expect_status(
        client_patch(h.ada, TEXT(w, "{'channel_id': '%s'}", h.stage), STATE, h.guild, h.bob->id),
        204);
    expect_quiet(h.bob->gate);
}

static void unsuppressed_bots_speak_on_a_stage_without_accepting(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct client *bot = test_voice_bot(&h, "robot");

    join_voice(&h, bot, h.stage, NULL);
    expect_status(
        client_patch(h.ada, write_suppress(&h, h.stage, "false"), STATE, h.guild, bot->id), 204);
    expect_voice(bot, "VOICE_STATE_UPDATE",
                 "{'suppress': false, 'request_to_speak_timestamp': null}");
}

static void moderating_a_stage_requires_mute_members_there(struct world *w)
{
    struct test_voice h = create_stage_with_bob(w);
    struct client *mod = test_voice_member(&h, "mod", PERMISSION(MUTE_MEMBERS));
    struct client *cleo = test_voice_member(&h, "cleo", 0), *eve = world_client(w, "eve");
    const char *body = write_suppress(&h, h.stage, "false");

    expect_error(client_patch(cleo, body, STATE, h.guild, h.bob->id), 403, 50013);
    expect_error(client_patch(cleo, write_suppress(&h, h.stage, "true"), STATE, h.guild, h.bob->id),
                 403, 50013);
    expect_invalid(client_patch(mod, "{'suppress': true}", STATE, h.guild, h.bob->id), "channel_id",
                   "BASE_TYPE_REQUIRED");
    expect_invalid(client_patch(mod, TEXT(w, "{'channel_id': '%s', 'suppress': 1}", h.stage), STATE,
                                h.guild, h.bob->id),
                   "suppress", "BOOLEAN_TYPE_CONVERT");
    expect_error(client_patch(mod, body, STATE, h.guild, eve->id), 404, 10007);
    expect_error(client_patch(mod, body, STATE, h.guild, cleo->id), 404, 10065);
    expect_error(client_patch(mod, write_suppress(&h, "5", "true"), STATE, h.guild, h.bob->id), 404,
                 10003);
    expect_error(client_patch(mod, write_suppress(&h, h.voice, "true"), STATE, h.guild, h.bob->id),
                 400, 50024);
    expect_error(client_patch(eve, body, STATE, h.guild, h.bob->id), 403, 50001);
    ask_voice(h.bob, h.guild, h.voice, "");
    expect_voice(h.bob, "VOICE_STATE_UPDATE", "{'channel_id': '%s'}", h.voice);
    expect_error(client_patch(mod, body, STATE, h.guild, h.bob->id), 404, 10065);
}

/* --- a stage without speakers --------------------------------------------------------- */

static bool stage_is_open(struct world *w)
{
    return world_number(w, "select count(*) from stage_instances") == 1;
}

static void stage_without_speakers_is_closed_after_five_minutes(struct world *w)
{
    struct test_voice h = create_stage_with_bob(w);

    expect_status(client_post(h.ada, TEXT(w, "{'channel_id': '%s', 'topic': 't'}", h.stage),
                              "/stage-instances"),
                  200);
    world_wait(w, 200);
    /* Bob speaks. */
    set_stage_suppression_of_bob(&h, "false");
    modify_own_voice_state_with_status(&h, "{'request_to_speak_timestamp': null}");
    world_wait(w, 400);
    world_settle(w);
    expect(stage_is_open(w));
    set_stage_suppression_of_bob(&h, "true");
    world_wait(w, 290);
    world_settle(w);
    expect(stage_is_open(w));
    world_wait(w, 11);
    world_settle(w);
    expect(!stage_is_open(w));
    expect(
        str_is(dom_at(world_last_event(w, "STAGE_INSTANCE_DELETE"), "channel_id")->text, h.stage));
}

static void stage_closes_five_minutes_after_its_last_speaker_left(struct world *w)
{
    struct test_voice h = create_stage_with_bob(w);

    set_stage_suppression_of_bob(&h, "false");
    modify_own_voice_state_with_status(&h, "{'request_to_speak_timestamp': null}");
    expect_status(client_post(h.ada, TEXT(w, "{'channel_id': '%s', 'topic': 't'}", h.stage),
                              "/stage-instances"),
                  200);
    expect(world_number(w, "select count(*) from stage_instances where silent_since is null") == 1);
    ask_voice(h.bob, h.guild, h.voice, "");
    expect_soon(world_number(w, "select count(*) from stage_instances where silent_since is not "
                                "null") == 1);
    world_wait(w, 301);
    world_settle(w);
    expect(!stage_is_open(w));
}

const struct test voice_states_tests[] = {
    TEST(reading_voice_states_requires_view_of_the_channel),
    TEST(stage_audience_can_request_to_speak),
    TEST(request_to_speak_requires_the_permission),
    TEST(unsuppressing_oneself_on_a_stage_requires_mute_members),
    TEST(invited_stage_member_can_accept_without_permissions),
    TEST(own_voice_state_patch_requires_being_on_the_stage),
    TEST(member_without_view_can_still_leave_the_speakers),
    TEST(stage_moderators_can_invite_and_suppress_members),
    TEST(unsuppressed_bots_speak_on_a_stage_without_accepting),
    TEST(moderating_a_stage_requires_mute_members_there),
    TEST(stage_without_speakers_is_closed_after_five_minutes),
    TEST(stage_closes_five_minutes_after_its_last_speaker_left),
    { 0 },
};
