/* sounds.c - soundboard sounds: creating, changing, deleting and playing. */
#include <string.h>

#include "files.h"
#include "gateway_conn.h"
#include "guilds.h"
#include "platform/guilds/guilds.h"
#include "test_guild.h"
#include "test_voice.h"

#define SOUNDS "/guilds/%s/soundboard-sounds"
#define SOUND  SOUNDS "/%s"

static const char *encode_base64(struct world *w, struct str bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *out = arena_alloc(world_arena(w), bytes.n * 4 / 3 + 8), *at = out;

    for (size_t i = 0; i < bytes.n; i += 3) {
        unsigned v = 0;

        for (size_t k = 0; k < 3; k++)
            v = v << 8 | (i + k < bytes.n ? (unsigned char)bytes.p[i + k] : 0);
        for (size_t k = 0; k < 4; k++)
            *at++ = i + k > bytes.n ? '=' : digits[v >> (18 - 6 * k) & 63];
    }
    return out;
}

/* Writes an MP3 of so many frames of 26 ms: MPEG 1, layer III, 128 kbit/s, 44.1 kHz. */
static const char *write_mp3(struct world *w, size_t frames)
{
    char *bytes = arena_alloc(world_arena(w), frames * 417);

    for (size_t i = 0; i < frames; i++)
        memcpy(bytes + i * 417, "\xff\xfb\x90\x00", 4);
    return TEXT(w, "data:audio/mpeg;base64,%s", encode_base64(w, str_slice(bytes, frames * 417)));
}

/* Writes an Ogg Opus file whose last page has this end position. */
static const char *write_ogg(struct world *w, uint64_t samples)
{
    char *bytes = arena_alloc(world_arena(w), 200);

    memcpy(bytes, "OggS", 4);
    bytes[26] = 1;
    memcpy(bytes + 28, "OpusHead", 8);
    memcpy(bytes + 100, "OggS", 4);
    memcpy(bytes + 106, &samples, 8);
    return TEXT(w, "data:audio/ogg;base64,%s", encode_base64(w, str_slice(bytes, 200)));
}

static struct answer create_sound(struct client *c, const char *guild, const char *name,
                                  const char *file)
{
    return client_post(c, TEXT(c->world, "{'name': '%s', 'sound': '%s'}", name, file), SOUNDS,
                       guild);
}

static void sound_can_be_created_changed_and_deleted(struct world *w)
{
    struct server_loop h = world_home(w, PERMISSION(CREATE_EXPRESSIONS));
    struct audience auditors =
        audience_of_members_with_permission(id_of(h.guild), 0, PERMISSION(VIEW_AUDIT_LOG));
    struct answer a = create_sound(h.bob, h.guild, "ding", write_mp3(w, 10));
    const char *id;

    expect_status(a, 201);
    id = answer_text(a, "sound_id");
    expect_json(a,
                "{'name': 'ding', 'volume': 1, 'emoji_id': null, 'emoji_name': null, "
                "'guild_id': '%s', 'available': true, 'user': {'id': '%s'}}",
                h.guild, h.bob->id);
    expect_received(w, auditors, "GUILD_AUDIT_LOG_ENTRY_CREATE", "{'action_type': 130}");
    expect_received(w, audience_of_guild(id_of(h.guild)), "GUILD_SOUNDBOARD_SOUND_CREATE",
                    "{'sound_id': '%s', 'guild_id': '%s', 'user': {'id': '%s'}}", id, h.guild,
                    h.bob->id);
    expect_files(w, "sounds", 1);
    a = client_request(world_anonymous(w), "GET", TEXT(w, "/soundboard-sounds/%s", id), "",
                       STR(""));
    expect_status(a, 200);
    expect(str_is(answer_header(a, "Content-Type"), "audio/mpeg") && a.body.n == 4170);
    expect_json(client_get(h.bob, SOUNDS, h.guild), "{'items': [{'sound_id': '%s'}]}", id);
    expect_json(client_patch(h.bob, "{'volume': 0.5, 'emoji_name': '\xf0\x9f\x94\xa5'}", SOUND,
                             h.guild, id),
                "{'name': 'ding', 'volume': 0.5, 'emoji_name': '\xf0\x9f\x94\xa5'}");
    expect_received(w, auditors, "GUILD_AUDIT_LOG_ENTRY_CREATE", "{'action_type': 131}");
    expect_received(w, audience_of_guild(id_of(h.guild)), "GUILD_SOUNDBOARD_SOUND_UPDATE",
                    "{'volume': 0.5}");
    expect_status(client_delete(h.bob, SOUND, h.guild, id), 204);
    expect_received(w, auditors, "GUILD_AUDIT_LOG_ENTRY_CREATE", "{'action_type': 132}");
    expect_received(w, audience_of_guild(id_of(h.guild)), "GUILD_SOUNDBOARD_SOUND_DELETE",
                    "{'guild_id': '%s', 'sound_id': '%s'}", h.guild, id);
    expect_nothing_received(w);
    expect_error(client_get(h.bob, SOUND, h.guild, id), 404, 10097);
    expect_files(w, "sounds", 0);
}

static void invalid_or_long_sounds_are_refused(struct world *w)
{
    struct server_loop h = world_home(w, 0);

    expect_error(create_sound(h.bob, h.guild, "ding", write_mp3(w, 1)), 403, 50013);
    expect_invalid(create_sound(h.ada, h.guild, "ding", "data:image/png;base64,AAAA"), "sound",
                   "BINARY_TYPE_INVALID");
    expect_invalid(create_sound(h.ada, h.guild, "d", write_mp3(w, 1)), "name",
                   "BASE_TYPE_BAD_LENGTH");
    expect_error(create_sound(h.ada, h.guild, "ding", "data:audio/mpeg;base64,AAAA"), 400, 50192);
    expect_status(create_sound(h.ada, h.guild, "ding", write_mp3(w, 199)), 201); /* 5.198 s */
    expect_error(create_sound(h.ada, h.guild, "ding", write_mp3(w, 200)), 400, 50124);
    expect_status(create_sound(h.ada, h.guild, "ding", write_ogg(w, 48000 * 52 / 10)), 201);
    expect_error(create_sound(h.ada, h.guild, "ding", write_ogg(w, 48000 * 53 / 10)), 400, 50124);
    for (int i = 0; i < 6; i++)
        world_sql(w, "insert into sounds (id, guild_id, name) values (%d, %s, 'x')", 70 + i,
                  h.guild);
    expect_error(create_sound(h.ada, h.guild, "ding", write_mp3(w, 1)), 400, 30045);
    expect_invalid(client_patch(h.ada, "{'emoji_id': '5'}", SOUND, h.guild, "70"), "emoji_id",
                   "BASE_TYPE_CHOICES");
    expect_error(client_patch(h.bob, "{}", SOUND, h.guild, "70"), 403, 50013);
    expect_error(client_delete(h.bob, SOUND, h.guild, "70"), 403, 50013);
    expect_absent(client_get(h.bob, SOUND, h.guild, "70"), "user");
}

static void deleting_an_emoji_removes_it_from_sounds(struct world *w)
{
    struct server_loop h = world_home(w, 0);
    struct audience auditors = audience_of_members_with_permission(id_of(h.guild), 0,
                                                                   PERMISSION(VIEW_AUDIT_LOG)),
                    guild = audience_of_guild(id_of(h.guild));

    for (int i = 0; i < 2; i++)
        world_sql(w, "insert into emojis (id, guild_id, name) values (%d, %s, 'oak')", 50 + i,
                  h.guild);
    for (int i = 0; i < 3; i++)
        world_sql(w, "insert into sounds (id, guild_id, name, emoji_id) values (%d, %s, 'x', %d)",
                  70 + i, h.guild, i < 2 ? 50 : 51);
    expect_status(client_delete(h.ada, "/guilds/%s/emojis/50", h.guild), 204);
    expect_received(w, auditors, "GUILD_AUDIT_LOG_ENTRY_CREATE", "{'action_type': 62}");
    expect_received(
        w, guild, "GUILD_SOUNDBOARD_SOUNDS_UPDATE",
        "{'guild_id': '%s', 'soundboard_sounds': [{'sound_id': '70', 'emoji_id': null}, "
        "{'sound_id': '71', 'emoji_id': null}]}",
        h.guild);
    expect_received(w, guild, "GUILD_EMOJIS_UPDATE", "{}");
    expect_status(client_delete(h.ada, "/guilds/%s/emojis/51", h.guild), 204);
    expect_received(w, auditors, "GUILD_AUDIT_LOG_ENTRY_CREATE", "{'action_type': 62}");
    expect_received(w, guild, "GUILD_SOUNDBOARD_SOUND_UPDATE",
                    "{'sound_id': '72', 'emoji_id': null}");
    expect_received(w, guild, "GUILD_EMOJIS_UPDATE", "{}");
    expect_nothing_received(w);
}

static void six_default_sounds_are_listed_and_served(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct answer a = client_get(ada, "/soundboard-default-sounds");

    expect_json(a, "[{'sound_id': '1', 'name': 'bell', 'volume': 1, 'emoji_id': null, "
                   "'available': true}, {}, {}, {}, {}, {'sound_id': '6'}]");
    expect_absent(a, "0.guild_id");
    a = client_request(world_anonymous(w), "GET", "/soundboard-sounds/1", "", STR(""));
    expect_status(a, 200);
    expect(str_is(answer_header(a, "Content-Type"), "audio/wav") && a.body.n == 1644);
    expect_status(client_request(world_anonymous(w), "GET", "/soundboard-sounds/7", "", STR("")),
                  404);
}

static void sounds_are_in_guild_create_and_sent_on_request(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bot = world_bot(w, "robot");
    struct test_guild v = world_test_guild(w, ada);

    test_guild_add(&v, bot);
    world_sql(w, "insert into sounds (id, guild_id, name) values (70, %s, 'ding')", v.id);
    struct gateway_conn *g = conn_session(bot, "v=10&encoding=json", "'intents': 1");
    expect_dispatch(g, "GUILD_CREATE",
                    "{'soundboard_sounds': [{'sound_id': '70', 'name': 'ding'}]}");
    conn_send(g, "{'op': 31, 'd': {'guild_ids': ['%s', '5']}}", v.id);
    expect_dispatch(g, "SOUNDBOARD_SOUNDS",
                    "{'guild_id': '%s', 'soundboard_sounds': [{'sound_id': '70'}]}", v.id);
    expect_quiet(g);
}

static void playing_a_sound_requires_being_in_the_voice_channel(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct test_guild away = world_test_guild(w, h.bob);
    const char *send = TEXT(w, "/channels/%s/send-soundboard-sound", h.voice);

    world_sql(w, "insert into sounds (id, guild_id, name, volume) values (70, %s, 'a', 0.5)",
              h.guild);
    world_sql(w, "insert into sounds (id, guild_id, name) values (71, %s, 'b')", away.id);
    expect_error(client_post(h.bob, "{'sound_id': '1'}", "%s", send), 400, 50168);
    join_voice(&h, h.bob, h.voice, h.ada, NULL);
    expect_status(client_post(h.bob, "{'sound_id': '1'}", "%s", send), 204);
    expect_event(h.ada, "VOICE_CHANNEL_EFFECT_SEND",
                 "{'channel_id': '%s', 'user_id': '%s', 'sound_id': 1, 'sound_volume': 1}", h.voice,
                 h.bob->id);
    expect_status(client_post(h.bob, "{'sound_id': '70'}", "%s", send), 204);
    expect_event(h.ada, "VOICE_CHANNEL_EFFECT_SEND",
                 "{'sound_id': '70', 'sound_volume': 0.5, 'emoji': null}");
    expect_error(client_post(h.bob, "{'sound_id': '72'}", "%s", send), 404, 10097);
    expect_error(client_post(h.bob, "{'sound_id': '71'}", "%s", send), 404, 10097);
    expect_status(client_post(h.bob,
                              TEXT(w, "{'sound_id': '71', 'source_guild_id': '%s'}", away.id), "%s",
                              send),
                  204);
    expect_event(h.ada, "VOICE_CHANNEL_EFFECT_SEND", "{'sound_id': '71'}");
}

const struct test sounds_tests[] = {
    TEST(playing_a_sound_requires_being_in_the_voice_channel),
    TEST(sound_can_be_created_changed_and_deleted),
    TEST(invalid_or_long_sounds_are_refused),
    TEST(six_default_sounds_are_listed_and_served),
    TEST(deleting_an_emoji_removes_it_from_sounds),
    TEST(sounds_are_in_guild_create_and_sent_on_request),
    { 0 },
};
