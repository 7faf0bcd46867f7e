/* effects.c - voice channel effects and call sounds: who may send them, and who gets them. */
#include "test_voice.h"

#include <stdio.h>

#include "model/permissions/permissions.h"

#define HEART "\xe2\x9d\xa4\xef\xb8\x8f"
#define FLAG_OF_TAGS                                                                           \
    "\xf0\x9f\x8f\xb4\xf3\xa0\x81\xa7\xf3\xa0\x81\xa2\xf3\xa0\x81\xa5\xf3\xa0\x81\xae\xf3\xa0" \
    "\x81\xa7\xf3\xa0\x81\xbf"
#define EFFECTS "/channels/%s/voice-channel-effects"
#define SOUNDS  "/channels/%s/custom-call-sounds"

/* Ada and bob in one voice channel. */
static struct test_voice join_ada_and_bob(struct world *w)
{
    struct test_voice h = world_test_voice(w);

    join_voice(&h, h.ada, h.voice, h.bob, NULL);
    join_voice(&h, h.bob, h.voice, h.ada, NULL);
    return h;
}

/* --- effects -------------------------------------------------------------------------- */

static void voice_effect_is_sent_to_viewers_of_the_channel(struct world *w)
{
    struct test_voice h = join_ada_and_bob(w);
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

static void voice_effect_is_not_sent_to_users_or_bots_without_view(struct world *w)
{
    struct test_voice h = join_ada_and_bob(w);
    struct client *without_view[] = { test_voice_bot(&h, "mole"),
                                      test_voice_member(&h, "cleo", 0) };
    const char *hidden = TEXT(w, "{'type': 1, 'deny': '%llu'}", BITS(PERMISSION(VIEW_CHANNEL)));

    for (int i = 0; i < 2; i++)
        expect_status(
            client_put(h.ada, hidden, "/channels/%s/permissions/%s", h.voice, without_view[i]->id),
            204);
    expect_status(client_post(h.bob, "{'emoji_name': '" HEART "'}", EFFECTS, h.voice), 204);
    expect_voice(h.ada, "VOICE_CHANNEL_EFFECT_SEND", "{'user_id': '%s'}", h.bob->id);
    for (int i = 0; i < 2; i++)
        expect_voice_silence(without_view[i]);
}

static void voice_effect_requires_the_sender_in_the_channel(struct world *w)
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

static void muted_or_suppressed_members_cannot_send_voice_effects(struct world *w)
{
    struct test_voice h = join_ada_and_bob(w);
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

static void voice_effects_require_the_connect_permission(struct world *w)
{
    struct test_voice h = join_ada_and_bob(w);
    char overwrite[200];

    snprintf(overwrite, sizeof overwrite, "{'type': 1, 'deny': '%llu'}",
             (unsigned long long)PERMISSION(CONNECT));
    expect_status(client_put(h.ada, overwrite, "/channels/%s/permissions/%s", h.voice, h.bob->id),
                  204);
    expect_error(client_post(h.bob, "{'emoji_name': '" HEART "'}", EFFECTS, h.voice), 403, 50001);
}

static void invalid_voice_effect_animations_are_refused(struct world *w)
{
    struct test_voice h = join_ada_and_bob(w);
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

static void configure_premium_required(struct config *c)
{
    c->everybody_is_premium = false;
}

static void premium_animations_require_a_premium_account(struct world *w)
{
    struct test_voice h = join_ada_and_bob(w);
    const char *body = "{'emoji_name': '" HEART "', 'animation_type': 0}";

    expect_error(client_post(h.bob, body, EFFECTS, h.voice), 403, 20015);
    expect_error(client_post(h.bob, "{'animation_type': 0}", SOUNDS, h.voice), 403, 20015);
    expect_status(client_post(h.bob, "{'emoji_name': '" HEART "'}", EFFECTS, h.voice), 204);
    world_sql(w, "update users set premium_type = 2 where id = %s", h.bob->id);
    expect_status(client_post(h.bob, body, EFFECTS, h.voice), 204);
}

static void voice_effect_accepts_only_a_single_unicode_emoji(struct world *w)
{
    struct test_voice h = join_ada_and_bob(w);
    static const char *const good[] = {
        "\xf0\x9f\x98\x80",                             /* a face */
        "\xe2\x9d\xa4",                                 /* a heart without its variation selector */
        "\xf0\x9f\x91\x8d\xf0\x9f\x8f\xbd",             /* a thumb with a skin tone */
        "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x9a\x80", /* a joined sequence */
        "\xf0\x9f\x87\xab\xf0\x9f\x87\xb7",             /* a flag */
        "1\xef\xb8\x8f\xe2\x83\xa3",                    /* a keycap */
        FLAG_OF_TAGS,                                   /* a flag of tag characters */
    };
    static const char *const bad[] = {
        "",
        "x",
        "1",
        ":heart:",
        "\xf0\x9f\x98\x80\xf0\x9f\x98\x80", /* two emojis */
        "\xf0\x9f\x98\x80x",
        "\xf0\x9f\x87\xab",             /* half a flag */
        "\xf0\x9f\x91\xa9\xe2\x80\x8d", /* a joiner at the end */
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

static void custom_emoji_of_an_effect_gets_its_stored_name(struct world *w)
{
    struct test_voice h = join_ada_and_bob(w);
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

/* The rules of reactions apply: the emoji must be of the sender's guilds and roles. */
static void voice_effect_requires_access_to_its_emoji_and_sound(struct world *w)
{
    struct test_voice h = join_ada_and_bob(w);
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

static void bots_can_send_effects_but_no_call_sounds(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct client *bot = test_voice_bot(&h, "helper");

    join_voice(&h, bot, h.voice, NULL);
    expect_status(client_post(bot, "{'emoji_name': '" HEART "'}", EFFECTS, h.voice), 204);
    expect_error(client_post(bot, "{}", SOUNDS, h.voice), 403, 20001);
}

static void configure_enabled_rate_limits(struct config *c)
{
    c->rate_limits = true;
}

static void effects_and_call_sounds_share_20_per_10_seconds(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    for (int i = 0; i < 10; i++) {
        expect_status(client_post(ada, "{}", EFFECTS, "123"), 404);
        expect_status(client_post(ada, "{}", SOUNDS, "123"), 404);
    }
    expect_status(client_post(ada, "{}", EFFECTS, "123"), 429);
}

/* --- call sounds ---------------------------------------------------------------------- */

static void set_custom_call_sound_of_user(struct client *c, const char *sound)
{
    expect_status(
        client_patch(c, str_printf(world_arena(c->world), "{'custom_call_sound': %s}", sound).p,
                     "/users/@me/settings"),
        200);
}

static void call_sound_animations_have_the_same_ranges(struct world *w)
{
    struct test_voice h = join_ada_and_bob(w);

    expect_invalid(client_post(h.bob, "{'animation_type': 0, 'animation_id': 21}", SOUNDS, h.voice),
                   "animation_id", "NUMBER_TYPE_MAX");
    expect_invalid(client_post(h.bob, "{'animation_type': 1, 'animation_id': 1}", SOUNDS, h.voice),
                   "animation_id", "NUMBER_TYPE_MAX");
    set_custom_call_sound_of_user(h.bob, "{'sound_id': 4}");
    expect_status(client_post(h.bob, "{'animation_type': 0, 'animation_id': 20}", SOUNDS, h.voice),
                  204);
}

static void call_sound_is_the_one_in_the_senders_settings(struct world *w)
{
    struct test_voice h = join_ada_and_bob(w);

    expect_error(client_post(h.bob, "{}", SOUNDS, h.voice), 404, 10097);
    set_custom_call_sound_of_user(h.bob, "{'sound_id': 4}");
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
    set_custom_call_sound_of_user(h.bob, "{'sound_id': 7}");
    expect_error(client_post(h.bob, "{}", SOUNDS, h.voice), 404, 10097);
    set_custom_call_sound_of_user(h.bob, "null");
    expect_error(client_post(h.bob, "{}", SOUNDS, h.voice), 404, 10097);
    expect_invalid(client_post(h.bob, "{'animation_id': 1}", SOUNDS, h.voice), "animation_id",
                   "NUMBER_TYPE_MAX");
}

static void call_sounds_of_other_guilds_require_permission(struct world *w)
{
    struct test_voice h = join_ada_and_bob(w);
    struct test_voice elsewhere = another_test_voice(&h);
    char overwrite[200];

    world_sql(w, "insert into sounds (id, guild_id, name, volume) values (9001, %s, 'moo', 0.5)",
              elsewhere.guild);
    set_custom_call_sound_of_user(h.bob, "{'sound_id': '9001', 'guild_id': '1'}");
    expect_status(client_post(h.bob, "{}", SOUNDS, h.voice), 204);
    expect_voice(h.bob, "VOICE_CHANNEL_EFFECT_SEND",
                 "{'sound_id': '9001', 'sound_volume': 0.5, 'emoji': null}");
    static const uint64_t perms[] = { PERMISSION(USE_EXTERNAL_SOUNDS), PERMISSION(USE_SOUNDBOARD),
                                      PERMISSION(SPEAK) };
    for (size_t i = 0; i < 3; i++) {
        snprintf(overwrite, sizeof overwrite, "{'type': 1, 'deny': '%llu'}",
                 (unsigned long long)perms[i]);
        expect_status(
            client_put(h.ada, overwrite, "/channels/%s/permissions/%s", h.voice, h.bob->id), 204);
        world_sql(w, "update voice_states set suppress = 0 where user_id = %s", h.bob->id);
        expect_error(client_post(h.bob, "{}", SOUNDS, h.voice), 403, 50013);
    }
}

const struct test voice_effects_tests[] = {
    TEST(voice_effect_is_sent_to_viewers_of_the_channel),
    TEST(voice_effect_is_not_sent_to_users_or_bots_without_view),
    TEST(voice_effect_requires_the_sender_in_the_channel),
    TEST(muted_or_suppressed_members_cannot_send_voice_effects),
    TEST(voice_effects_require_the_connect_permission),
    TEST(invalid_voice_effect_animations_are_refused),
    TEST_WITH(premium_animations_require_a_premium_account, configure_premium_required),
    TEST(voice_effect_accepts_only_a_single_unicode_emoji),
    TEST(custom_emoji_of_an_effect_gets_its_stored_name),
    TEST(voice_effect_requires_access_to_its_emoji_and_sound),
    TEST(bots_can_send_effects_but_no_call_sounds),
    TEST_WITH(effects_and_call_sounds_share_20_per_10_seconds, configure_enabled_rate_limits),
    TEST(call_sound_animations_have_the_same_ranges),
    TEST(call_sound_is_the_one_in_the_senders_settings),
    TEST(call_sounds_of_other_guilds_require_permission),
    { 0 },
};
