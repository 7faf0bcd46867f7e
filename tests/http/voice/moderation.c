/* moderation.c - muting, moving and disconnecting in voice, and effects of permissions, time-
 * outs, the AFK channel and regions. */
#include "test_voice.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"

#define MEMBER "/guilds/%s/members/%s"

static void expect_status_of_member_patch(struct client *by, const struct test_voice *h,
                                          const struct client *whom, const char *body, int status)
{
    expect_status(client_patch(by, body, MEMBER, h->guild, whom->id), status);
}

static void muting_and_deafening_requires_permission_and_persists(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct client *mod =
        test_voice_member(&h, "mod", PERMISSION(MUTE_MEMBERS) | PERMISSION(DEAFEN_MEMBERS));

    expect_status_of_member_patch(mod, &h, h.bob, "{'mute': true}", 400);
    join_voice(&h, h.bob, h.voice, h.ada, mod, NULL);
    expect_json(client_patch(mod, "{'mute': true}", MEMBER, h.guild, h.bob->id), "{'mute': true}");
    expect_event(h.bob, "GUILD_MEMBER_UPDATE", "{'mute': true}");
    expect_event(h.bob, "VOICE_STATE_UPDATE", "{'mute': true, 'deaf': false, 'self_mute': false}");
    expect_json(client_patch(mod, "{'deaf': true}", MEMBER, h.guild, h.bob->id), "{'deaf': true}");
    expect_event(h.bob, "GUILD_MEMBER_UPDATE", "{'deaf': true}");
    expect_event(h.bob, "VOICE_STATE_UPDATE", "{'mute': true, 'deaf': true}");
    /* The same value again changes nothing. */
    expect_status_of_member_patch(mod, &h, h.bob, "{'deaf': true}", 200);
    /* Mute and deaf stay with the member. */
    leave_voice(&h, h.bob, NULL);
    ask_voice(h.bob, h.guild, h.other, "");
    expect_event(h.bob, "VOICE_STATE_UPDATE", "{'mute': true, 'deaf': true}");
    expect_json(client_get(mod, "/guilds/%s/voice-states/%s", h.guild, h.bob->id),
                "{'mute': true, 'deaf': true, 'member': {'mute': true}}");
    leave_voice(&h, h.bob, NULL);
}

static void voice_event_contains_all_effects_of_one_member_change(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    const char *role = make_role(h.ada, h.guild, "{'name': 'r', 'permissions': '0'}");
    const char *deny =
        TEXT(w, "{'type': 0, 'deny': '%llu'}", BITS(PERMISSION(SPEAK) | PERMISSION(STREAM)));

    expect_status(client_put(h.ada, deny, "/channels/%s/permissions/%s", h.voice, role), 204);
    ask_voice(h.bob, h.guild, h.voice, ", 'self_video': true");
    expect_voice(h.bob, "VOICE_STATE_UPDATE", "{'suppress': false, 'self_video': true}");
    expect_voice(h.bob, "VOICE_SERVER_UPDATE", "{}");
    expect_status_of_member_patch(h.ada, &h, h.bob,
                                  TEXT(w, "{'mute': true, 'roles': ['%s']}", role), 200);
    expect_voice(h.bob, "VOICE_STATE_UPDATE", "{'suppress': true, 'self_video': false}");
    expect_voice(h.bob, "VOICE_STATE_UPDATE",
                 "{'mute': true, 'suppress': true, 'self_video': false}");
}

static void voice_moderation_requires_permissions_in_the_channel(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    static const char *const bodies[] = { "{'mute': true}", "{'deaf': true}",
                                          "{'channel_id': null}" };
    static const uint64_t perms[] = { PERMISSION(MUTE_MEMBERS), PERMISSION(DEAFEN_MEMBERS),
                                      PERMISSION(MOVE_MEMBERS) };
    struct client *all = test_voice_member(&h, "all", perms[0] | perms[1] | perms[2]);
    char name[16];

    join_voice(&h, h.bob, h.voice, NULL);
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "mod%d", i);
        struct client *lacks =
            test_voice_member(&h, name, (perms[0] | perms[1] | perms[2]) & ~perms[i]);

        expect_error(client_patch(lacks, bodies[i], MEMBER, h.guild, h.bob->id), 403, 50013);
    }
    /* A channel overwrite can deny them. */
    world_sql(w,
              "insert into overwrites (channel_id, target_id, type, deny) values (%s, %s, 1, %llu)",
              h.voice, all->id, BITS(perms[0] | perms[1] | perms[2]));
    for (int i = 0; i < 3; i++)
        expect_error(client_patch(all, bodies[i], MEMBER, h.guild, h.bob->id), 403, 50013);
    world_sql(w, "delete from overwrites where channel_id = %s", h.voice);
    /* The target channel requires CONNECT and MOVE_MEMBERS of the moderator. */
    const char *body = TEXT(w, "{'channel_id': '%s'}", h.other);
    const uint64_t needed[] = { PERMISSION(CONNECT), PERMISSION(MOVE_MEMBERS) };
    for (int i = 0; i < 2; i++) {
        world_sql(w,
                  "insert into overwrites (channel_id, target_id, type, deny) "
                  "values (%s, %s, 1, %llu)",
                  h.other, all->id, BITS(needed[i]));
        struct answer a = client_patch(all, body, MEMBER, h.guild, h.bob->id);
        expect_error(a, 403, 50013);
        expect(str_is(answer_header(a, "X-Guildhall-Cause"),
                      i ? "missing MOVE_MEMBERS" : "missing CONNECT"));
        world_sql(w, "delete from overwrites where channel_id = %s", h.other);
    }
    expect_status(client_patch(all, body, MEMBER, h.guild, h.bob->id), 200);
}

static void member_can_be_moved_to_a_full_or_hidden_voice_channel(struct world *w)
{
    struct test_voice h = world_test_voice(w);

    join_voice(&h, h.bob, h.voice, h.ada, NULL);
    /* A moved member needs neither CONNECT nor a free slot. */
    world_sql(w, "update channels set user_limit = 1 where id = %s", h.other);
    world_sql(w,
              "insert into overwrites (channel_id, target_id, type, deny) values (%s, %s, 1, %llu)",
              h.other, h.bob->id, BITS(PERMISSION(VIEW_CHANNEL)));
    join_voice(&h, h.ada, h.other, h.bob, NULL);
    expect_status_of_member_patch(h.ada, &h, h.bob, TEXT(w, "{'channel_id': '%s'}", h.other), 200);
    expect_event(h.bob, "VOICE_STATE_UPDATE", "{'user_id': '%s', 'channel_id': '%s'}", h.bob->id,
                 h.other);
    expect_event(h.bob, "VOICE_SERVER_UPDATE", "{'guild_id': '%s'}", h.guild);
    expect_event(h.ada, "VOICE_STATE_UPDATE", "{'channel_id': '%s'}", h.other);
    expect_event(h.ada, "GUILD_AUDIT_LOG_ENTRY_CREATE",
                 "{'action_type': 26, 'options': {'channel_id': '%s', 'count': '1'}}", h.other);
    /* A move to the same channel changes nothing. */
    expect_status_of_member_patch(h.ada, &h, h.bob, TEXT(w, "{'channel_id': '%s'}", h.other), 200);
    expect_status_of_member_patch(h.ada, &h, h.bob, "{'channel_id': null}", 200);
    expect_event(h.bob, "VOICE_STATE_UPDATE", "{'channel_id': null}");
    expect_event(h.ada, "VOICE_STATE_UPDATE", "{'user_id': '%s', 'channel_id': null}", h.bob->id);
    expect_event(h.ada, "GUILD_AUDIT_LOG_ENTRY_CREATE",
                 "{'action_type': 27, 'options': {'count': '1'}}");
    expect_error(client_patch(h.ada, "{'channel_id': null}", MEMBER, h.guild, h.bob->id), 400,
                 40032);
}

static int64_t whole_number(const struct dom *d)
{
    return strtoll(d->text.p, NULL, 10);
}

/* Channel limits apply to a moved member after the move. */
static void moving_a_member_applies_the_new_channels_camera_limit(struct world *w)
{
    struct test_voice h = world_test_voice(w);

    ask_voice(h.bob, h.guild, h.voice, ", 'self_video': true");
    int64_t since = whole_number(dom_at(next_voice(h.bob), "d.connected_at"));
    expect_voice(h.bob, "VOICE_SERVER_UPDATE", "{}");
    world_wait(w, 10);
    fill_with_cameras(&h, h.other, 24);
    expect_status_of_member_patch(h.ada, &h, h.bob, TEXT(w, "{'channel_id': '%s'}", h.other), 200);
    const struct dom *moved = next_voice(h.bob);
    expect(dom_at(moved, "d.self_video")->truth);
    expect(whole_number(dom_at(moved, "d.connected_at")) >= since + 10);
    expect_voice(h.bob, "VOICE_SERVER_UPDATE", "{}");
    /* Cameras exceed the limit by one. */
    world_sql(w, "update voice_states set channel_id = %s where session_id = 'x'", h.voice);
    ask_voice(h.ada, h.guild, h.voice, ", 'self_video': true");
    expect_voice(h.bob, "VOICE_STATE_UPDATE", "{'user_id': '%s', 'self_video': true}", h.ada->id);
    expect_status_of_member_patch(h.ada, &h, h.bob, TEXT(w, "{'channel_id': '%s'}", h.voice), 200);
    expect_voice(h.bob, "VOICE_STATE_UPDATE", "{'channel_id': '%s', 'self_video': false}", h.voice);
}

/* --- permissions ---------------------------------------------------------------------- */

static void members_without_speak_permission_are_suppressed(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    const char *overwrite = "/channels/%s/permissions/%s";
    const char *speak = TEXT(w, "{'type': 0, 'deny': '%llu'}", BITS(PERMISSION(SPEAK)));
    const char *role = make_role(h.ada, h.guild, "{'name': 'r', 'permissions': '0'}");

    ask_voice(h.bob, h.guild, h.voice, "");
    expect_voice(h.bob, "VOICE_STATE_UPDATE", "{'suppress': false}");
    expect_voice(h.bob, "VOICE_SERVER_UPDATE", "{}");
    expect_status(client_put(h.ada, speak, overwrite, h.voice, h.guild), 204);
    expect_voice(h.bob, "VOICE_STATE_UPDATE", "{'suppress': true}");
    expect_status(client_delete(h.ada, overwrite, h.voice, h.guild), 204);
    expect_voice(h.bob, "VOICE_STATE_UPDATE", "{'suppress': false}");
    /* By a role. */
    const char *deny = TEXT(w, "{'type': 0, 'deny': '%llu'}", BITS(PERMISSION(SPEAK)));
    expect_status(client_put(h.ada, deny, overwrite, h.voice, role), 204);
    expect_status(client_put(h.ada, "{}", MEMBER "/roles/%s", h.guild, h.bob->id, role), 204);
    expect_voice(h.bob, "VOICE_STATE_UPDATE", "{'suppress': true}");
    expect_status(client_delete(h.ada, "/guilds/%s/roles/%s", h.guild, role), 204);
    expect_voice(h.bob, "VOICE_STATE_UPDATE", "{'suppress': false}");
    /* By @everyone. */
    uint64_t perms = PERMISSION(VIEW_CHANNEL) | PERMISSION(CONNECT);
    expect_status(client_patch(h.ada, TEXT(w, "{'permissions': '%llu'}", BITS(perms)),
                               "/guilds/%s/roles/%s", h.guild, h.guild),
                  200);
    expect_voice(h.bob, "VOICE_STATE_UPDATE", "{'suppress': true}");
    /* Also on joining. */
    struct client *cleo = test_voice_member(&h, "cleo", 0);
    ask_voice(cleo, h.guild, h.voice, "");
    expect_voice(cleo, "VOICE_STATE_UPDATE", "{'suppress': true}");
}

static void put_member_into_timeout(const struct test_voice *h, const struct client *whom,
                                    int64_t seconds)
{
    time_t until = (time_t)(clock_s() + seconds);
    char text[64];

    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", gmtime(&until));
    expect_status_of_member_patch(
        h->ada, h, whom, TEXT(h->world, "{'communication_disabled_until': '%s'}", text), 200);
}

static void time_out_suppresses_a_voice_member_until_its_end(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct answer a;

    join_voice(&h, h.bob, h.voice, NULL);
    world_sql(w, "update members set timed_out_until = 1 where user_id = %s", h.bob->id);
    world_wait(w, 1);
    a = client_get(h.ada, "/guilds/%s", h.guild);
    expect_status(a, 200);
    put_member_into_timeout(&h, h.bob, 120);
    expect_voice(h.bob, "VOICE_STATE_UPDATE", "{'suppress': true}");
    world_wait(w, 125);
    expect_voice(h.bob, "VOICE_STATE_UPDATE", "{'suppress': false}");
}

/* A later time-out does not replace the one in another guild. */
static void time_outs_in_two_guilds_end_separately(struct world *w)
{
    struct test_voice h = world_test_voice(w), more = another_test_voice(&h);
    struct client *bot = world_bot(w, "robot");

    put_member(more.guild, bot);
    put_member(h.guild, bot);
    client_connect(bot);
    join_voice(&h, bot, h.voice, NULL);
    join_voice(&more, bot, more.voice, NULL);
    put_member_into_timeout(&h, bot, 20);
    expect_voice(bot, "VOICE_STATE_UPDATE", "{'guild_id': '%s', 'suppress': true}", h.guild);
    put_member_into_timeout(&more, bot, 40);
    expect_voice(bot, "VOICE_STATE_UPDATE", "{'guild_id': '%s', 'suppress': true}", more.guild);
    world_wait(w, 22);
    expect_voice(bot, "VOICE_STATE_UPDATE", "{'guild_id': '%s', 'suppress': false}", h.guild);
    expect_voice_silence(bot);
    world_wait(w, 20);
    expect_voice(bot, "VOICE_STATE_UPDATE", "{'guild_id': '%s', 'suppress': false}", more.guild);
}

static void losing_the_stream_permission_turns_the_camera_off(struct world *w)
{
    struct test_voice h = world_test_voice(w);

    ask_voice(h.bob, h.guild, h.voice, ", 'self_video': true");
    expect_voice(h.bob, "VOICE_STATE_UPDATE", "{'self_video': true}");
    expect_status(client_put(h.ada,
                             TEXT(w, "{'type': 1, 'deny': '%llu'}", BITS(PERMISSION(STREAM))),
                             "/channels/%s/permissions/%s", h.voice, h.bob->id),
                  204);
    next_voice(h.bob);
    expect_voice(h.bob, "VOICE_STATE_UPDATE", "{'self_video': false}");
}

/* --- the AFK channel ------------------------------------------------------------------ */

static void idle_members_are_moved_to_the_afk_channel(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct client *bot = test_voice_bot(&h, "robot");
    const struct dom *m;

    join_voice(&h, h.bob, h.voice, bot, NULL);
    join_voice(&h, bot, h.voice, NULL);
    expect_status(client_patch(h.ada,
                               TEXT(w, "{'afk_channel_id': '%s', 'afk_timeout': 60}", h.other),
                               "/guilds/%s", h.guild),
                  200);
    world_wait(w, 50);
    /* A change counts as activity. */
    ask_voice(h.bob, h.guild, h.voice, ", 'self_mute': true");
    do
        m = next_voice(h.bob);
    while (!dom_at(m, "d.self_mute") || !dom_at(m, "d.self_mute")->truth);
    world_wait(w, 50);
    expect_voice(h.bob, "VOICE_SERVER_UPDATE", "{}");
    expect_voice_silence(h.bob);
    expect(world_number(w, "select count(*) from voice_states where channel_id = %s", h.voice) ==
           2);
    world_wait(w, 11);
    expect_voice(h.bob, "VOICE_STATE_UPDATE", "{'channel_id': '%s', 'suppress': true}", h.other);
    expect_voice(h.bob, "VOICE_SERVER_UPDATE", "{'guild_id': '%s'}", h.guild);
    expect(world_number(w, "select count(*) from voice_states where channel_id = %s", h.voice) ==
           1);
}

static void members_with_a_camera_are_not_moved_to_the_afk_channel(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_voice plain = { .world = w, .ada = ada, .bob = bob };
    struct test_voice h = another_test_voice(&plain);

    world_sql(w, "update guilds set afk_channel_id = %s, afk_timeout = 60 where id = %s", h.other,
              h.guild);
    client_connect(bob);
    ask_voice(bob, h.guild, h.voice, ", 'self_video': true");
    expect_voice(bob, "VOICE_STATE_UPDATE", "{'channel_id': '%s'}", h.voice);
    expect_voice(bob, "VOICE_SERVER_UPDATE", "{'guild_id': '%s'}", h.guild);
    world_wait(w, 65);
    expect_voice_silence(bob);
    ask_voice(bob, h.guild, h.voice, "");
    expect_voice(bob, "VOICE_STATE_UPDATE", "{'self_video': false}");
    expect_voice(bob, "VOICE_SERVER_UPDATE", "{}");
    conn_send(bob->gate,
              "{'op': 1, 'd': null}"); /* otherwise the connection is closed in the meantime */
    world_wait(w, 61);
    expect_voice(bob, "VOICE_STATE_UPDATE", "{'channel_id': '%s'}", h.other);
}

static void configure_several_voice_regions(struct config *config)
{
    config->voice_regions = "eu,us";
    config->voice_vip_regions = "vip";
    config->voice_endpoint = "{region}.example";
}

static void changing_rtc_region_sends_voice_server_update(struct world *w)
{
    struct test_voice h = world_test_voice(w);

    join_voice(&h, h.bob, h.voice, NULL);
    expect_invalid(client_patch(h.ada, "{'rtc_region': 'vip'}", "/channels/%s", h.voice),
                   "rtc_region", "BASE_TYPE_CHOICES");
    expect_status(client_patch(h.ada, "{'rtc_region': 'us'}", "/channels/%s", h.voice), 200);
    expect_event(h.bob, "CHANNEL_UPDATE", "{'rtc_region': 'us'}");
    expect_event(h.bob, "VOICE_SERVER_UPDATE", "{'endpoint': 'us.example'}");
    world_sql(w, "update guilds set features = '[\"VIP_REGIONS\"]' where id = %s", h.guild);
    expect_status(client_patch(h.ada, "{'rtc_region': 'vip'}", "/channels/%s", h.voice), 200);
    expect_event(h.bob, "CHANNEL_UPDATE", "{'rtc_region': 'vip'}");
    expect_event(h.bob, "VOICE_SERVER_UPDATE", "{'endpoint': 'vip.example'}");
    /* null is automatic: the room may stay. */
    expect_status(client_patch(h.ada, "{'rtc_region': null}", "/channels/%s", h.voice), 200);
    expect_event(h.bob, "CHANNEL_UPDATE", "{'rtc_region': null}");
    expect_quiet(h.bob->gate);
}

static void unknown_stored_region_is_replaced_by_an_existing_one(struct world *w)
{
    struct test_voice h = world_test_voice(w);

    world_sql(w, "update channels set rtc_region = 'moon' where id = %s", h.voice);
    ask_voice(h.bob, h.guild, h.voice, ", 'preferred_region': 'us'");
    expect_voice(h.bob, "VOICE_STATE_UPDATE", "{}");
    expect_voice(h.bob, "VOICE_SERVER_UPDATE", "{'endpoint': 'us.example'}");
}

const struct test voice_moderation_tests[] = {
    TEST(muting_and_deafening_requires_permission_and_persists),
    TEST(voice_event_contains_all_effects_of_one_member_change),
    TEST(voice_moderation_requires_permissions_in_the_channel),
    TEST(member_can_be_moved_to_a_full_or_hidden_voice_channel),
    TEST(moving_a_member_applies_the_new_channels_camera_limit),
    TEST(members_without_speak_permission_are_suppressed),
    TEST(time_out_suppresses_a_voice_member_until_its_end),
    TEST(time_outs_in_two_guilds_end_separately),
    TEST(losing_the_stream_permission_turns_the_camera_off),
    TEST(idle_members_are_moved_to_the_afk_channel),
    TEST(members_with_a_camera_are_not_moved_to_the_afk_channel),
    TEST_WITH(changing_rtc_region_sends_voice_server_update, configure_several_voice_regions),
    TEST_WITH(unknown_stored_region_is_replaced_by_an_existing_one,
              configure_several_voice_regions),
    { 0 },
};
