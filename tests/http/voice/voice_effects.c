/* voice_effects.c - effects and call sounds: who may send which, and who sees them. */
#include "test_voice.h"

#include <stdio.h>

#include "model/permissions/permissions.h"

#define HEART "\xe2\x9d\xa4\xef\xb8\x8f"
#define FLAG_OF_TAGS                                                                           \
    "\xf0\x9f\x8f\xb4\xf3\xa0\x81\xa7\xf3\xa0\x81\xa2\xf3\xa0\x81\xa5\xf3\xa0\x81\xae\xf3\xa0" \
    "\x81\xa7\xf3\xa0\x81\xbf"
#define EFFECTS "/channels/%s/voice-channel-effects"
#define SOUNDS  "/channels/%s/custom-call-sounds"

/* ada and bob in one channel. */
static struct test_voice together(struct world *w)
{
    struct test_voice h = world_test_voice(w);

    join_voice(&h, h.ada, h.voice, h.bob, NULL);
    join_voice(&h, h.bob, h.voice, h.ada, NULL);
    return h;
}

/* --- effects -------------------------------------------------------------------------- */

static void an_effect_is_seen_by_who_views_the_channel(struct world *w)
{
    struct test_voice h = together(w);
    struct client *bot = test_voice_bot(&h, "helper"), *eve = world_client(w, "eve");

    client_connect(eve);
    expect_status(client_post(h.bob, "{'emoji_name': '" HEART "'}", EFFECTS, h.voice), 204);
    struct client *seers[] = { h.ada, h.bob, bot };
    for (size_t i = 0; i < 3; i++) {
        const struct dom *d = expect_dispatch(
            seers[i]->gate, "VOICE_CHANNEL_EFFECT_SEND",
            "{'channel_id': '%s', 'guild_id': '%s', 'user_id': '%s', 'emoji': {'id': null, 'name': "
            "'" HEART "', 'animated': false}, 'animation_type': 1, 'animation_id': 0}",
            h.voice, h.guild, h.bob->id);
        expect(!dom_at(d, "sound_id") && !dom_at(d, "sound_volume"));
    }
    expect_quiet(eve->gate);
}

static void effects_out_of_sight_are_told_neither_people_nor_bots(struct world *w)
{
    struct test_voice h = together(w);
    struct client *blind[] = { test_voice_bot(&h, "mole"), test_voice_member(&h, "cleo", 0) };
    const char *hidden = TEXT(w, "{'type': 1, 'deny': '%llu'}", BITS(PERMISSION(VIEW_CHANNEL)));

    for (int i = 0; i < 2; i++)
        expect_status(
            client_put(h.ada, hidden, "/channels/%s/permissions/%s", h.voice, blind[i]->id), 204);
    expect_status(client_post(h.bob, "{'emoji_name': '" HEART "'}", EFFECTS, h.voice), 204);
    expect_voice(h.ada, "VOICE_CHANNEL_EFFECT_SEND", "{'user_id': '%s'}", h.bob->id);
    for (int i = 0; i < 2; i++)
        expect_voice_silence(blind[i]);
}

static void an_effect_needs_its_sender_in_the_channel(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    const char *body = "{'emoji_name': '" HEART "'}";

    expect_error(client_post(h.bob, body, EFFECTS, h.voice), 400, 50168);
    join_voice(&h, h.bob, h.other, h.ada, NULL);
    const char *text = make_channel(h.ada, h.guild, "{'name': 'text'}");
    expect_error(client_post(h.bob, body, EFFECTS, h.voice), 400, 50168);
    expect_error(client_post(h.bob, body, SOUNDS, h.voice), 400, 50168);
    expect_error(client_post(h.bob, body, EFFECTS, "123"), 404, 10003);
    expect_error(client_post(h.bob, body, EFFECTS, text), 400, 50024);
    expect_error(client_post(h.bob, body, SOUNDS, text), 400, 50024);
    expect_status(client_post(h.bob, body, EFFECTS, h.other), 204);
}

static void who_is_silenced_sends_no_effects(struct world *w)
{
    struct test_voice h = together(w);
    const char *body = "{'emoji_name': '" HEART "'}";

    world_sql(w, "update members set mute = 1 where user_id = %s", h.bob->id);
    expect_error(client_post(h.bob, body, EFFECTS, h.voice), 403, 50167);
    expect_error(client_post(h.bob, "{}", SOUNDS, h.voice), 403, 50167);
    world_sql(w, "update members set mute = 0, deaf = 1 where user_id = %s", h.bob->id);
    expect_error(client_post(h.bob, body, EFFECTS, h.voice), 403, 50167);
    world_sql(w, "update members set deaf = 0 where user_id = %s", h.bob->id);
    world_sql(w, "update voice_states set suppress = 1 where user_id = %s", h.bob->id);
    expect_error(client_post(h.bob, body, EFFECTS, h.voice), 403, 50167);
    world_sql(w, "update voice_states set suppress = 0 where user_id = %s", h.bob->id);
    expect_status(client_post(h.bob, body, EFFECTS, h.voice), 204);
}

static void who_may_not_connect_sends_no_effects(struct world *w)
{
    struct test_voice h = together(w);
    char overwrite[200];

    snprintf(overwrite, sizeof overwrite, "{'type': 1, 'deny': '%llu'}",
             (unsigned long long)PERMISSION(CONNECT));
    expect_status(client_put(h.ada, overwrite, "/channels/%s/permissions/%s", h.voice, h.bob->id),
                  204);
    expect_error(client_post(h.bob, "{'emoji_name': '" HEART "'}", EFFECTS, h.voice), 403, 50001);
}

static void animations_have_ranges(struct world *w)
{
    struct test_voice h = together(w);
    static const struct {
        const char *body, *path, *code;
    } bad[] = {
        { "{'emoji_name': '" HEART "', 'animation_type': 2}", "animation_type",
          "BASE_TYPE_CHOICES" },
        { "{'emoji_name': '" HEART "', 'animation_type': 'x'}", "animation_type",
          "NUMBER_TYPE_COERCE" },
        { "{'emoji_name': '" HEART "', 'animation_id': 1}", "animation_id", "NUMBER_TYPE_MAX" },
        { "{'emoji_name': '" HEART "', 'animation_type': 1, 'animation_id': 1}", "animation_id",
          "NUMBER_TYPE_MAX" },
        { "{'emoji_name': '" HEART "', 'animation_type': 0, 'animation_id': 21}", "animation_id",
          "NUMBER_TYPE_MAX" },
        { "{'emoji_name': '" HEART "', 'animation_type': 0, 'animation_id': -1}", "animation_id",
          "NUMBER_TYPE_MIN" },
        { "{}", "emoji_name", "BASE_TYPE_REQUIRED" },
        { "{'emoji_id': null, 'emoji_name': null}", "emoji_name", "BASE_TYPE_REQUIRED" },
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        expect_invalid(client_post(h.bob, bad[i].body, EFFECTS, h.voice), bad[i].path, bad[i].code);
    expect_status(client_post(h.bob,
                              "{'emoji_name': '" HEART "', 'animation_type': null, "
                              "'animation_id': null}",
                              EFFECTS, h.voice),
                  204);
    expect_event(h.bob, "VOICE_CHANNEL_EFFECT_SEND", "{'animation_type': 1, 'animation_id': 0}");
    expect_status(client_post(h.bob,
                              "{'emoji_name': '" HEART "', 'animation_type': 0, "
                              "'animation_id': 20}",
                              EFFECTS, h.voice),
                  204);
    expect_event(h.bob, "VOICE_CHANNEL_EFFECT_SEND", "{'animation_type': 0, 'animation_id': 20}");
}

static void with_premium_only(struct config *c)
{
    c->everybody_is_premium = false;
}

static void premium_animations_are_for_premium_accounts(struct world *w)
{
    struct test_voice h = together(w);
    const char *body = "{'emoji_name': '" HEART "', 'animation_type': 0}";

    expect_error(client_post(h.bob, body, EFFECTS, h.voice), 403, 20015);
    expect_error(client_post(h.bob, "{'animation_type': 0}", SOUNDS, h.voice), 403, 20015);
    expect_status(client_post(h.bob, "{'emoji_name': '" HEART "'}", EFFECTS, h.voice), 204);
    world_sql(w, "update users set premium_type = 2 where id = %s", h.bob->id);
    expect_status(client_post(h.bob, body, EFFECTS, h.voice), 204);
}

static void unicode_emoji_are_told_from_text(struct world *w)
{
    struct test_voice h = together(w);
    static const char *const good[] = {
        "\xf0\x9f\x98\x80",                             /* a face */
        "\xe2\x9d\xa4",                                 /* a heart without its mark */
        "\xf0\x9f\x91\x8d\xf0\x9f\x8f\xbd",             /* a thumb with a tone */
        "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x9a\x80", /* somebody who flies */
        "\xf0\x9f\x87\xab\xf0\x9f\x87\xb7",             /* a flag */
        "1\xef\xb8\x8f\xe2\x83\xa3",                    /* a keycap */
        FLAG_OF_TAGS,                                   /* a flag of tags */
    };
    static const char *const bad[] = {
        "",
        "x",
        "1",
        ":heart:",
        "\xf0\x9f\x98\x80\xf0\x9f\x98\x80", /* two */
        "\xf0\x9f\x98\x80x",
        "\xf0\x9f\x87\xab",             /* half a flag */
        "\xf0\x9f\x91\xa9\xe2\x80\x8d", /* joined with nothing */
        "\xe7\x8c\xab",                 /* a letter */
    };

    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        expect_status(client_post(h.bob,
                                  str_printf(world_arena(w), "{'emoji_name': '%s'}", good[i]).p,
                                  EFFECTS, h.voice),
                      204);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        expect_error(client_post(h.bob,
                                 str_printf(world_arena(w), "{'emoji_name': '%s'}", bad[i]).p,
                                 EFFECTS, h.voice),
                     400, 50151);
}

static void custom_emoji_come_from_their_record(struct world *w)
{
    struct test_voice h = together(w);
    struct test_voice elsewhere = another_test_voice(&h);

    world_sql(w, "insert into emojis (id, guild_id, name, animated) values (71, %s, 'wave', 1)",
              h.guild);
    world_sql(w, "insert into emojis (id, guild_id, name) values (72, %s, 'far')", elsewhere.guild);
    expect_status(
        client_post(h.bob, "{'emoji_id': '71', 'emoji_name': '" HEART "'}", EFFECTS, h.voice), 204);
    expect_voice(h.ada, "VOICE_CHANNEL_EFFECT_SEND",
                 "{'emoji': {'id': '71', 'name': 'wave', 'animated': true}}");
    expect_status(client_post(h.bob, "{'emoji_id': '72'}", EFFECTS, h.voice), 204);
    expect_voice(h.ada, "VOICE_CHANNEL_EFFECT_SEND",
                 "{'emoji': {'id': '72', 'name': 'far', 'animated': false}}");
    expect_error(client_post(h.bob, "{'emoji_id': '73'}", EFFECTS, h.voice), 404, 10014);
    char overwrite[200];
    snprintf(overwrite, sizeof overwrite, "{'type': 1, 'deny': '%llu'}",
             (unsigned long long)PERMISSION(USE_EXTERNAL_EMOJIS));
    expect_status(client_put(h.ada, overwrite, "/channels/%s/permissions/%s", h.voice, h.bob->id),
                  204);
    expect_error(client_post(h.bob, "{'emoji_id': '72'}", EFFECTS, h.voice), 404, 10014);
    expect_status(client_post(h.bob, "{'emoji_id': '71'}", EFFECTS, h.voice), 204);
}

/* The rule of reactions: one's guilds, one's roles. */
static void effects_take_emoji_and_sounds_that_one_may_use(struct world *w)
{
    struct test_voice h = together(w);
    struct test_guild far = world_test_guild(w, world_client(w, "eve"));

    world_sql(w, "insert into emojis (id, guild_id, name) values (72, %s, 'far')", far.id);
    world_sql(w,
              "insert into emojis (id, guild_id, name, roles) values (73, %s, 'locked', "
              "'[\"%s\"]')",
              h.guild, far.id);
    world_sql(w, "insert into sounds (id, guild_id, name, volume) values (9001, %s, 'moo', 0.5)",
              far.id);
    expect_status(
        client_patch(h.bob, "{'custom_call_sound': {'sound_id': 9001}}", "/users/@me/settings"),
        200);
    expect_error(client_post(h.bob, "{'emoji_id': '72'}", EFFECTS, h.voice), 404, 10014);
    expect_error(client_post(h.bob, "{'emoji_id': '73'}", EFFECTS, h.voice), 404, 10014);
    expect_error(client_post(h.bob, "{}", SOUNDS, h.voice), 404, 10097);
    test_guild_add(&far, h.bob);
    expect_status(client_post(h.bob, "{'emoji_id': '72'}", EFFECTS, h.voice), 204);
    expect_status(client_post(h.bob, "{}", SOUNDS, h.voice), 204);
}

static void bots_send_effects_but_no_call_sounds(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct client *bot = test_voice_bot(&h, "helper");

    join_voice(&h, bot, h.voice, NULL);
    expect_status(client_post(bot, "{'emoji_name': '" HEART "'}", EFFECTS, h.voice), 204);
    expect_error(client_post(bot, "{}", SOUNDS, h.voice), 403, 20001);
}

static void with_limits(struct config *c)
{
    c->rate_limits = true;
}

static void twenty_effects_in_ten_seconds_are_enough(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    for (int i = 0; i < 10; i++) {
        expect_status(client_post(ada, "{}", EFFECTS, "123"), 404);
        expect_status(client_post(ada, "{}", SOUNDS, "123"), 404);
    }
    expect_status(client_post(ada, "{}", EFFECTS, "123"), 429);
}

/* --- call sounds ---------------------------------------------------------------------- */

static void choose_sound(struct client *c, const char *sound)
{
    expect_status(
        client_patch(c, str_printf(world_arena(c->world), "{'custom_call_sound': %s}", sound).p,
                     "/users/@me/settings"),
        200);
}

static void call_sounds_have_the_same_animations(struct world *w)
{
    struct test_voice h = together(w);

    expect_invalid(client_post(h.bob, "{'animation_type': 0, 'animation_id': 21}", SOUNDS, h.voice),
                   "animation_id", "NUMBER_TYPE_MAX");
    expect_invalid(client_post(h.bob, "{'animation_type': 1, 'animation_id': 1}", SOUNDS, h.voice),
                   "animation_id", "NUMBER_TYPE_MAX");
    choose_sound(h.bob, "{'sound_id': 4}");
    expect_status(client_post(h.bob, "{'animation_type': 0, 'animation_id': 20}", SOUNDS, h.voice),
                  204);
}

static void a_call_sound_is_the_senders_own(struct world *w)
{
    struct test_voice h = together(w);

    expect_error(client_post(h.bob, "{}", SOUNDS, h.voice), 404, 10097);
    choose_sound(h.bob, "{'sound_id': 4}");
    expect_event(h.bob, "USER_SETTINGS_UPDATE", "{'custom_call_sound': {'sound_id': '4'}}");
    expect_status(client_post(h.bob, "{'animation_type': 0, 'animation_id': 7}", SOUNDS, h.voice),
                  204);
    expect_event(h.bob, "VOICE_CHANNEL_EFFECT_SEND", "{'user_id': '%s', 'sound_id': 4}", h.bob->id);
    expect_event(h.ada, "VOICE_CHANNEL_EFFECT_SEND",
                 "{'channel_id': '%s', 'guild_id': '%s', 'user_id': '%s', 'sound_id': 4, "
                 "'sound_volume': 1, 'animation_type': 0, 'animation_id': 7, 'emoji': {'id': null, "
                 "'name': '\xf0\x9f\x91\x8f', 'animated': false}}",
                 h.voice, h.guild, h.bob->id);
    expect_error(client_post(h.ada, "{}", SOUNDS, h.voice), 404, 10097);
    choose_sound(h.bob, "{'sound_id': 7}");
    expect_error(client_post(h.bob, "{}", SOUNDS, h.voice), 404, 10097);
    choose_sound(h.bob, "null");
    expect_error(client_post(h.bob, "{}", SOUNDS, h.voice), 404, 10097);
    expect_invalid(client_post(h.bob, "{'animation_id': 1}", SOUNDS, h.voice), "animation_id",
                   "NUMBER_TYPE_MAX");
}

static void sounds_of_other_guilds_take_a_right(struct world *w)
{
    struct test_voice h = together(w);
    struct test_voice elsewhere = another_test_voice(&h);
    char overwrite[200];

    world_sql(w, "insert into sounds (id, guild_id, name, volume) values (9001, %s, 'moo', 0.5)",
              elsewhere.guild);
    choose_sound(h.bob, "{'sound_id': '9001', 'guild_id': '1'}");
    expect_status(client_post(h.bob, "{}", SOUNDS, h.voice), 204);
    expect_voice(h.bob, "VOICE_CHANNEL_EFFECT_SEND",
                 "{'sound_id': '9001', 'sound_volume': 0.5, 'emoji': null}");
    static const uint64_t rights[] = { PERMISSION(USE_EXTERNAL_SOUNDS), PERMISSION(USE_SOUNDBOARD),
                                       PERMISSION(SPEAK) };
    for (size_t i = 0; i < 3; i++) {
        snprintf(overwrite, sizeof overwrite, "{'type': 1, 'deny': '%llu'}",
                 (unsigned long long)rights[i]);
        expect_status(
            client_put(h.ada, overwrite, "/channels/%s/permissions/%s", h.voice, h.bob->id), 204);
        world_sql(w, "update voice_states set suppress = 0 where user_id = %s", h.bob->id);
        expect_error(client_post(h.bob, "{}", SOUNDS, h.voice), 403, 50013);
    }
}

const struct test voice_effects_tests[] = {
    TEST(an_effect_is_seen_by_who_views_the_channel),
    TEST(effects_out_of_sight_are_told_neither_people_nor_bots),
    TEST(an_effect_needs_its_sender_in_the_channel),
    TEST(who_is_silenced_sends_no_effects),
    TEST(who_may_not_connect_sends_no_effects),
    TEST(animations_have_ranges),
    TEST_WITH(premium_animations_are_for_premium_accounts, with_premium_only),
    TEST(unicode_emoji_are_told_from_text),
    TEST(custom_emoji_come_from_their_record),
    TEST(effects_take_emoji_and_sounds_that_one_may_use),
    TEST(bots_send_effects_but_no_call_sounds),
    TEST_WITH(twenty_effects_in_ten_seconds_are_enough, with_limits),
    TEST(call_sounds_have_the_same_animations),
    TEST(a_call_sound_is_the_senders_own),
    TEST(sounds_of_other_guilds_take_a_right),
    { 0 },
};
