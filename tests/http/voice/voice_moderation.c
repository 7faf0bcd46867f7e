/* voice_moderation.c - who silences, moves and disconnects whom, and what changes by
 * itself: rights, timeouts, the AFK channel, regions. */
#include "test_voice.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"

#define MEMBER "/guilds/%s/members/%s"

static void patch_status(struct client *by, const struct test_voice *h, const struct client *whom,
                         const char *body, int status)
{
    expect_status(client_patch(by, body, MEMBER, h->guild, whom->id), status);
}

static void moderators_mute_and_deafen_in_voice(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct client *mod =
        test_voice_member(&h, "mod", PERMISSION(MUTE_MEMBERS) | PERMISSION(DEAFEN_MEMBERS));

    patch_status(mod, &h, h.bob, "{'mute': true}", 400);
    join_voice(&h, h.bob, h.voice, h.ada, mod, NULL);
    expect_json(client_patch(mod, "{'mute': true}", MEMBER, h.guild, h.bob->id), "{'mute': true}");
    expect_event(h.bob, "GUILD_MEMBER_UPDATE", "{'mute': true}");
    expect_event(h.bob, "VOICE_STATE_UPDATE", "{'mute': true, 'deaf': false, 'self_mute': false}");
    expect_json(client_patch(mod, "{'deaf': true}", MEMBER, h.guild, h.bob->id), "{'deaf': true}");
    expect_event(h.bob, "GUILD_MEMBER_UPDATE", "{'deaf': true}");
    expect_event(h.bob, "VOICE_STATE_UPDATE", "{'mute': true, 'deaf': true}");
    /* The same again is nothing new. */
    patch_status(mod, &h, h.bob, "{'deaf': true}", 200);
    /* It stays with the member. */
    leave_voice(&h, h.bob, NULL);
    ask_voice(h.bob, h.guild, h.other, "");
    expect_event(h.bob, "VOICE_STATE_UPDATE", "{'mute': true, 'deaf': true}");
    expect_json(client_get(mod, "/guilds/%s/voice-states/%s", h.guild, h.bob->id),
                "{'mute': true, 'deaf': true, 'member': {'mute': true}}");
    leave_voice(&h, h.bob, NULL);
}

static void muting_tells_what_the_same_change_did_to_rights(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    const char *role = make_role(h.ada, h.guild, "{'name': 'r', 'permissions': '0'}");
    const char *deny =
        TEXT(w, "{'type': 0, 'deny': '%llu'}", BITS(PERMISSION(SPEAK) | PERMISSION(STREAM)));

    expect_status(client_put(h.ada, deny, "/channels/%s/permissions/%s", h.voice, role), 204);
    ask_voice(h.bob, h.guild, h.voice, ", 'self_video': true");
    expect_voice(h.bob, "VOICE_STATE_UPDATE", "{'suppress': false, 'self_video': true}");
    expect_voice(h.bob, "VOICE_SERVER_UPDATE", "{}");
    patch_status(h.ada, &h, h.bob, TEXT(w, "{'mute': true, 'roles': ['%s']}", role), 200);
    expect_voice(h.bob, "VOICE_STATE_UPDATE", "{'suppress': true, 'self_video': false}");
    expect_voice(h.bob, "VOICE_STATE_UPDATE",
                 "{'mute': true, 'suppress': true, 'self_video': false}");
}

static void moderation_in_voice_takes_rights_there(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    static const char *const bodies[] = { "{'mute': true}", "{'deaf': true}",
                                          "{'channel_id': null}" };
    static const uint64_t rights[] = { PERMISSION(MUTE_MEMBERS), PERMISSION(DEAFEN_MEMBERS),
                                       PERMISSION(MOVE_MEMBERS) };
    struct client *all = test_voice_member(&h, "all", rights[0] | rights[1] | rights[2]);
    char name[16];

    join_voice(&h, h.bob, h.voice, NULL);
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "mod%d", i);
        struct client *lacks =
            test_voice_member(&h, name, (rights[0] | rights[1] | rights[2]) & ~rights[i]);

        expect_error(client_patch(lacks, bodies[i], MEMBER, h.guild, h.bob->id), 403, 50013);
    }
    /* A channel can take them away. */
    world_sql(w,
              "insert into overwrites (channel_id, target_id, type, deny) values (%s, %s, 1, %llu)",
              h.voice, all->id, BITS(rights[0] | rights[1] | rights[2]));
    for (int i = 0; i < 3; i++)
        expect_error(client_patch(all, bodies[i], MEMBER, h.guild, h.bob->id), 403, 50013);
    world_sql(w, "delete from overwrites where channel_id = %s", h.voice);
    /* Where one moves to takes CONNECT and MOVE_MEMBERS, of the mover. */
    const char *body = TEXT(w, "{'channel_id': '%s'}", h.other);
    const uint64_t needed[] = { PERMISSION(CONNECT), PERMISSION(MOVE_MEMBERS) };
    for (int i = 0; i < 2; i++) {
        world_sql(w,
                  "insert into overwrites (channel_id, target_id, type, deny) "
                  "values (%s, %s, 1, %llu)",
                  h.other, all->id, BITS(needed[i]));
        expect_error(client_patch(all, body, MEMBER, h.guild, h.bob->id), 403, 50013);
        world_sql(w, "delete from overwrites where channel_id = %s", h.other);
    }
    expect_status(client_patch(all, body, MEMBER, h.guild, h.bob->id), 200);
}

static void members_are_moved_in_voice(struct world *w)
{
    struct test_voice h = world_test_voice(w);

    join_voice(&h, h.bob, h.voice, h.ada, NULL);
    /* Neither its own CONNECT nor a full channel keeps somebody out who is moved. */
    world_sql(w, "update channels set user_limit = 1 where id = %s", h.other);
    world_sql(w,
              "insert into overwrites (channel_id, target_id, type, deny) values (%s, %s, 1, %llu)",
              h.other, h.bob->id, BITS(PERMISSION(VIEW_CHANNEL)));
    join_voice(&h, h.ada, h.other, h.bob, NULL);
    patch_status(h.ada, &h, h.bob, TEXT(w, "{'channel_id': '%s'}", h.other), 200);
    expect_event(h.bob, "VOICE_STATE_UPDATE", "{'user_id': '%s', 'channel_id': '%s'}", h.bob->id,
                 h.other);
    expect_event(h.bob, "VOICE_SERVER_UPDATE", "{'guild_id': '%s'}", h.guild);
    expect_event(h.ada, "VOICE_STATE_UPDATE", "{'channel_id': '%s'}", h.other);
    expect_event(h.ada, "GUILD_AUDIT_LOG_ENTRY_CREATE",
                 "{'action_type': 26, 'options': {'channel_id': '%s', 'count': '1'}}", h.other);
    /* To where it is already is nothing. */
    patch_status(h.ada, &h, h.bob, TEXT(w, "{'channel_id': '%s'}", h.other), 200);
    patch_status(h.ada, &h, h.bob, "{'channel_id': null}", 200);
    expect_event(h.bob, "VOICE_STATE_UPDATE", "{'channel_id': null}");
    expect_event(h.ada, "VOICE_STATE_UPDATE", "{'user_id': '%s', 'channel_id': null}", h.bob->id);
    expect_event(h.ada, "GUILD_AUDIT_LOG_ENTRY_CREATE",
                 "{'action_type': 27, 'options': {'count': '1'}}");
    expect_error(client_patch(h.ada, "{'channel_id': null}", MEMBER, h.guild, h.bob->id), 400,
                 40032);
}

static int64_t whole(const struct dom *d)
{
    return strtoll(d->text.p, NULL, 10);
}

/* The door is open to who is moved; what holds inside holds for it, too. */
static void moving_counts_cameras_and_time_anew(struct world *w)
{
    struct test_voice h = world_test_voice(w);

    ask_voice(h.bob, h.guild, h.voice, ", 'self_video': true");
    int64_t since = whole(dom_at(next_voice(h.bob), "d.connected_at"));
    expect_voice(h.bob, "VOICE_SERVER_UPDATE", "{}");
    world_wait(w, 10);
    fill_with_cameras(&h, h.other, 24);
    patch_status(h.ada, &h, h.bob, TEXT(w, "{'channel_id': '%s'}", h.other), 200);
    const struct dom *moved = next_voice(h.bob);
    expect(dom_at(moved, "d.self_video")->truth);
    expect(whole(dom_at(moved, "d.connected_at")) >= since + 10);
    expect_voice(h.bob, "VOICE_SERVER_UPDATE", "{}");
    /* One more than there is room for. */
    world_sql(w, "update voice_states set channel_id = %s where session_id = 'x'", h.voice);
    ask_voice(h.ada, h.guild, h.voice, ", 'self_video': true");
    expect_voice(h.bob, "VOICE_STATE_UPDATE", "{'user_id': '%s', 'self_video': true}", h.ada->id);
    patch_status(h.ada, &h, h.bob, TEXT(w, "{'channel_id': '%s'}", h.voice), 200);
    expect_voice(h.bob, "VOICE_STATE_UPDATE", "{'channel_id': '%s', 'self_video': false}", h.voice);
}

/* --- what follows rights -------------------------------------------------------------- */

static void who_may_not_speak_is_suppressed_in_voice(struct world *w)
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
    /* By a role of its own. */
    const char *deny = TEXT(w, "{'type': 0, 'deny': '%llu'}", BITS(PERMISSION(SPEAK)));
    expect_status(client_put(h.ada, deny, overwrite, h.voice, role), 204);
    expect_status(client_put(h.ada, "{}", MEMBER "/roles/%s", h.guild, h.bob->id, role), 204);
    expect_voice(h.bob, "VOICE_STATE_UPDATE", "{'suppress': true}");
    expect_status(client_delete(h.ada, "/guilds/%s/roles/%s", h.guild, role), 204);
    expect_voice(h.bob, "VOICE_STATE_UPDATE", "{'suppress': false}");
    /* By what everybody may do. */
    uint64_t rights = PERMISSION(VIEW_CHANNEL) | PERMISSION(CONNECT);
    expect_status(client_patch(h.ada, TEXT(w, "{'permissions': '%llu'}", BITS(rights)),
                               "/guilds/%s/roles/%s", h.guild, h.guild),
                  200);
    expect_voice(h.bob, "VOICE_STATE_UPDATE", "{'suppress': true}");
    /* On joining, too. */
    struct client *cleo = test_voice_member(&h, "cleo", 0);
    ask_voice(cleo, h.guild, h.voice, "");
    expect_voice(cleo, "VOICE_STATE_UPDATE", "{'suppress': true}");
}

static void time_out(const struct test_voice *h, const struct client *whom, int64_t seconds)
{
    time_t until = (time_t)(clock_s() + seconds);
    char text[64];

    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", gmtime(&until));
    patch_status(h->ada, h, whom, TEXT(h->world, "{'communication_disabled_until': '%s'}", text),
                 200);
}

static void a_timeout_silences_in_voice_until_it_ends(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct answer a;

    join_voice(&h, h.bob, h.voice, NULL);
    world_sql(w, "update members set timed_out_until = 1 where user_id = %s", h.bob->id);
    world_wait(w, 1);
    a = client_get(h.ada, "/guilds/%s", h.guild);
    expect_status(a, 200);
    time_out(&h, h.bob, 120);
    expect_voice(h.bob, "VOICE_STATE_UPDATE", "{'suppress': true}");
    world_wait(w, 125);
    expect_voice(h.bob, "VOICE_STATE_UPDATE", "{'suppress': false}");
}

/* The later one does not take the place of the other, whichever guild has it. */
static void timeouts_in_two_guilds_end_each_at_its_time(struct world *w)
{
    struct test_voice h = world_test_voice(w), more = another_test_voice(&h);
    struct client *bot = world_bot(w, "robot");

    put_member(more.guild, bot);
    put_member(h.guild, bot);
    client_connect(bot);
    join_voice(&h, bot, h.voice, NULL);
    join_voice(&more, bot, more.voice, NULL);
    time_out(&h, bot, 20);
    expect_voice(bot, "VOICE_STATE_UPDATE", "{'guild_id': '%s', 'suppress': true}", h.guild);
    time_out(&more, bot, 40);
    expect_voice(bot, "VOICE_STATE_UPDATE", "{'guild_id': '%s', 'suppress': true}", more.guild);
    world_wait(w, 22);
    expect_voice(bot, "VOICE_STATE_UPDATE", "{'guild_id': '%s', 'suppress': false}", h.guild);
    expect_voice_silence(bot);
    world_wait(w, 20);
    expect_voice(bot, "VOICE_STATE_UPDATE", "{'guild_id': '%s', 'suppress': false}", more.guild);
}

static void the_camera_goes_with_the_right_to_stream(struct world *w)
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

static void who_is_idle_goes_to_the_afk_channel(struct world *w)
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
    /* A change counts as a sign of life. */
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

static void who_shows_a_camera_is_not_away(struct world *w)
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
    conn_send(bob->gate, "{'op': 1, 'd': null}"); /* else the socket is cut meanwhile */
    world_wait(w, 61);
    expect_voice(bob, "VOICE_STATE_UPDATE", "{'channel_id': '%s'}", h.other);
}

static void with_regions(struct config *config)
{
    config->voice_regions = "eu,us";
    config->voice_vip_regions = "vip";
    config->voice_endpoint = "{region}.example";
}

static void a_channel_moves_to_another_region_with_its_voice(struct world *w)
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
    /* Automatic means that it may stay. */
    expect_status(client_patch(h.ada, "{'rtc_region': null}", "/channels/%s", h.voice), 200);
    expect_event(h.bob, "CHANNEL_UPDATE", "{'rtc_region': null}");
    expect_quiet(h.bob->gate);
}

static void a_region_that_is_gone_hosts_nobody(struct world *w)
{
    struct test_voice h = world_test_voice(w);

    world_sql(w, "update channels set rtc_region = 'moon' where id = %s", h.voice);
    ask_voice(h.bob, h.guild, h.voice, ", 'preferred_region': 'us'");
    expect_voice(h.bob, "VOICE_STATE_UPDATE", "{}");
    expect_voice(h.bob, "VOICE_SERVER_UPDATE", "{'endpoint': 'us.example'}");
}

const struct test voice_moderation_tests[] = {
    TEST(moderators_mute_and_deafen_in_voice),
    TEST(muting_tells_what_the_same_change_did_to_rights),
    TEST(moderation_in_voice_takes_rights_there),
    TEST(members_are_moved_in_voice),
    TEST(moving_counts_cameras_and_time_anew),
    TEST(who_may_not_speak_is_suppressed_in_voice),
    TEST(a_timeout_silences_in_voice_until_it_ends),
    TEST(timeouts_in_two_guilds_end_each_at_its_time),
    TEST(the_camera_goes_with_the_right_to_stream),
    TEST(who_is_idle_goes_to_the_afk_channel),
    TEST(who_shows_a_camera_is_not_away),
    TEST_WITH(a_channel_moves_to_another_region_with_its_voice, with_regions),
    TEST_WITH(a_region_that_is_gone_hosts_nobody, with_regions),
    { 0 },
};
