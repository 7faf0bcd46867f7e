/* carried_moderation.c - whatever takes somebody the word, or the place, does so for media at
 * once. */
#include "voice_client.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/timestamp.h"
#include "streams.h"

#define MEMBER "/guilds/%s/members/%s"

static void with_two_regions_here(struct config *config)
{
    with_relay(config);
    config->voice_regions = "eu:Europe,us:America";
}

static void expect_pair(struct voice_client *a, struct voice_client *b)
{
    voice_client_say(a, "a");
    expect_heard(b, a, "a");
    voice_client_say(b, "b");
    expect_heard(a, b, "b");
}

static void expect_unheard(struct voice_client *p, struct voice_client *by)
{
    voice_client_say(p, "unheard");
    expect_deaf(by);
}

static void expect_heard_again(struct voice_client *p, struct voice_client *by)
{
    voice_client_say(p, "again");
    expect_heard(by, p, "again");
}

/* --- who is gone ---------------------------------------------------------------------- */

static void is_kicked(const struct test_voice *h, struct client *c)
{
    expect_status(client_delete(h->ada, MEMBER, h->guild, c->id), 204);
}

static void is_banned(const struct test_voice *h, struct client *c)
{
    expect_status(client_put(h->ada, "{}", "/guilds/%s/bans/%s", h->guild, c->id), 204);
}

static void leaves_the_guild(const struct test_voice *h, struct client *c)
{
    expect_status(client_delete(c, "/users/@me/guilds/%s", h->guild), 204);
}

static void is_disconnected(const struct test_voice *h, struct client *c)
{
    expect_status(client_patch(h->ada, "{'channel_id': null}", MEMBER, h->guild, c->id), 200);
}

static void ends_its_session(const struct test_voice *h, struct client *c)
{
    (void)h;
    conn_close(c->gate, 1000);
}

static void joins_from_elsewhere(const struct test_voice *h, struct client *c)
{
    ask_voice_by(c, conn_session(c, "v=10", ""), h->guild, h->voice);
}

static void its_channel_goes(const struct test_voice *h, struct client *c)
{
    (void)c;
    expect_status(client_delete(h->ada, "/channels/%s", h->voice), 200);
}

static void who_is_gone_is_cut_off_however_it_went(struct world *w)
{
    static const struct {
        const char *name;
        void (*end)(const struct test_voice *h, struct client *c);
    } rows[] = {
        { "carl", is_kicked },         { "cleo", is_banned },
        { "carol", leaves_the_guild }, { "cyril", is_disconnected },
        { "clara", ends_its_session }, { "conny", joins_from_elsewhere },
        { "chris", its_channel_goes }, /* the last one, for all go with it */
    };
    struct test_voice h = world_test_voice(w);
    struct voice_client ada = voice_client_call(&h, h.ada, h.voice, VOICE_CLIENT_AES);

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct client *c = test_voice_member(&h, rows[i].name, 0);
        struct voice_client p = voice_client_call(&h, c, h.voice, VOICE_CLIENT_CHACHA);

        expect_pair(&ada, &p);
        rows[i].end(&h, c);
        expect_cut(&p, 4014);
        expect_unheard(&p, &ada);
        expect_unheard(&ada, &p);
        voice_client_hang_up(&p);
    }
    expect_cut(&ada, 4014);
    voice_client_hang_up(&ada);
}

/* --- who may not be heard ------------------------------------------------------------- */

static void time_out(const struct test_voice *h, const struct client *c, const char *until)
{
    expect_status(client_patch(h->ada,
                               TEXT(h->world, "{'communication_disabled_until': %s}", until),
                               MEMBER, h->guild, c->id),
                  200);
}

static const char *in_an_hour(struct world *w)
{
    char text[TIMESTAMP_TEXT];

    timestamp_format(clock_us() + INT64_C(3600) * 1000000, text);
    return TEXT(w, "'%s'", text);
}

static void a_timeout_takes_the_word_at_once(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct voice_client ada = voice_client_call(&h, h.ada, h.voice, VOICE_CLIENT_AES),
                        bob = voice_client_call(&h, h.bob, h.voice, VOICE_CLIENT_AES);

    expect_pair(&ada, &bob);
    time_out(&h, h.bob, in_an_hour(w));
    expect_unheard(&bob, &ada);
    time_out(&h, h.bob, "null");
    expect_heard_again(&bob, &ada);
    voice_client_hang_up(&ada);
    voice_client_hang_up(&bob);
}

static void the_afk_channel_is_silent(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct voice_client ada = voice_client_call(&h, h.ada, h.voice, VOICE_CLIENT_AES),
                        bob = voice_client_call(&h, h.bob, h.voice, VOICE_CLIENT_AES);
    const char *afk = TEXT(w, "{'afk_channel_id': '%s'}", h.voice);

    expect_pair(&ada, &bob);
    expect_status(client_patch(h.ada, afk, "/guilds/%s", h.guild), 200);
    expect_unheard(&bob, &ada);
    expect_unheard(&ada, &bob);
    expect_status(client_patch(h.ada, "{'afk_channel_id': null}", "/guilds/%s", h.guild), 200);
    expect_heard_again(&bob, &ada);
    voice_client_hang_up(&ada);
    voice_client_hang_up(&bob);
}

static void suppress(const struct test_voice *h, struct client *by, const char *who,
                     bool suppressed)
{
    expect_status(client_patch(by,
                               TEXT(h->world, "{'channel_id': '%s', 'suppress': %s%s}", h->stage,
                                    suppressed ? "true" : "false",
                                    by == h->ada ? "" : ", 'request_to_speak_timestamp': null"),
                               "/guilds/%s/voice-states/%s", h->guild, who),
                  204);
}

static void expect_hidden(struct voice_client *p, struct voice_client *by)
{
    voice_client_show(p, p->ssrc + 1, VOICE_CLIENT_VIDEO, "hidden");
    expect_unheard(p, by);
}

static void on_a_stage_who_was_invited_has_to_accept(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct voice_client ada = voice_client_call(&h, h.ada, h.stage, VOICE_CLIENT_AES),
                        bob = voice_client_join_with(&h, h.bob, h.stage, ", 'self_video': true");

    bob.more = ", 'video': true";
    voice_client_dial(&bob, 8);
    voice_client_connect(&bob, VOICE_CLIENT_AES);
    voice_client_shows(&bob, "[]");
    voice_client_flush(&bob);
    voice_client_wants(&ada, "{'any': 100}");
    expect_hidden(&bob, &ada);
    suppress(&h, h.ada, h.bob->id, false);
    expect_hidden(&bob, &ada);
    suppress(&h, h.bob, "@me", false);
    voice_client_show(&bob, bob.ssrc + 1, VOICE_CLIENT_VIDEO, "seen");
    expect_seen(&ada, bob.ssrc + 1, "seen");
    expect_heard_again(&bob, &ada);
    suppress(&h, h.ada, h.bob->id, true);
    expect_hidden(&bob, &ada);
    voice_client_hang_up(&ada);
    voice_client_hang_up(&bob);
}

/* Who has been timed out comes back as one of the audience. */
static void a_timeout_ends_a_speech_on_a_stage(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct voice_client ada = voice_client_call(&h, h.ada, h.stage, VOICE_CLIENT_AES),
                        bob = voice_client_call(&h, h.bob, h.stage, VOICE_CLIENT_AES);

    suppress(&h, h.ada, h.bob->id, false);
    suppress(&h, h.bob, "@me", false);
    expect_heard_again(&bob, &ada);
    time_out(&h, h.bob, in_an_hour(w));
    expect_unheard(&bob, &ada);
    expect_json(client_get(h.ada, "/guilds/%s/voice-states/%s", h.guild, h.bob->id),
                "{'suppress': true, 'request_to_speak_timestamp': null}");
    expect_error(client_patch(h.ada, TEXT(w, "{'channel_id': '%s', 'suppress': false}", h.stage),
                              "/guilds/%s/voice-states/%s", h.guild, h.bob->id),
                 403, 50013);
    time_out(&h, h.bob, "null");
    expect_unheard(&bob, &ada);
    suppress(&h, h.ada, h.bob->id, false);
    /* Nor does an invitation from before help. */
    time_out(&h, h.bob, in_an_hour(w));
    expect_error(client_patch(h.bob, TEXT(w, "{'channel_id': '%s', 'suppress': false}", h.stage),
                              "/guilds/%s/voice-states/@me", h.guild),
                 403, 50013);
    time_out(&h, h.bob, "null");
    suppress(&h, h.ada, h.bob->id, false);
    /* Not even while nobody has looked at that again. */
    world_sql(w, "update members set timed_out_until = %lld where user_id = %s",
              (long long)clock_us() + 3600 * INT64_C(1000000), h.bob->id);
    expect_error(client_patch(h.bob,
                              TEXT(w,
                                   "{'channel_id': '%s', 'suppress': false, "
                                   "'request_to_speak_timestamp': null}",
                                   h.stage),
                              "/guilds/%s/voice-states/@me", h.guild),
                 403, 50013);
    world_sql(w, "update members set timed_out_until = null where user_id = %s", h.bob->id);
    suppress(&h, h.bob, "@me", false);
    expect_heard_again(&bob, &ada);
    voice_client_hang_up(&ada);
    voice_client_hang_up(&bob);
}

/* --- rooms that move ------------------------------------------------------------------ */

/* The next token that it is told. */
static void voice_client_follow(struct voice_client *p)
{
    const struct dom *m;

    do
        m = next_voice(p->client);
    while (!str_is(dom_at(m, "t")->text, "VOICE_SERVER_UPDATE"));
    p->token = str_dupz(world_arena(p->client->world), dom_at(m, "d.token")->text);
    voice_client_hang_up(p);
    voice_client_dial(p, 8);
    voice_client_connect(p, VOICE_CLIENT_AES);
    p->counter = 0;
}

/* Who was muted before is so afterwards, too. */
static void a_room_goes_to_another_region_with_all_who_are_there(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct voice_client ada = voice_client_call(&h, h.ada, h.voice, VOICE_CLIENT_AES),
                        bob = voice_client_call(&h, h.bob, h.voice, VOICE_CLIENT_AES);

    expect_pair(&ada, &bob);
    expect_status(client_patch(h.ada, "{'mute': true}", MEMBER, h.guild, h.bob->id), 200);
    expect_status(client_patch(h.ada, "{'rtc_region': 'us'}", "/channels/%s", h.voice), 200);
    expect_cut(&ada, 4014);
    expect_cut(&bob, 4014);
    voice_client_dial(&bob, 8);
    expect_close(bob.gate, 4004);
    voice_client_follow(&ada);
    voice_client_follow(&bob);
    expect_unheard(&bob, &ada);
    voice_client_say(&ada, "there");
    expect_heard(&bob, &ada, "there");
    expect_status(client_patch(h.ada, "{'mute': false}", MEMBER, h.guild, h.bob->id), 200);
    expect_heard_again(&bob, &ada);
    voice_client_hang_up(&ada);
    voice_client_hang_up(&bob);
}

/* --- how many ------------------------------------------------------------------------- */

/* However many a channel takes, and whatever somebody may do there. */
static void a_channel_holds_ten_thousand(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct client *crowd = world_client(w, "crowd");

    join_voice(&h, h.bob, h.other, h.ada, NULL);
    world_sql(w,
              "with recursive n (i) as (select 1 union all select i + 1 from n where i < 10000) "
              "insert into voice_states (guild_id, user_id, channel_id, session_id, "
              "session_number, node, region, salt, connected_at, active_at) "
              "select i, %s, %s, 'x', 1, 0, 'main', '', 1, 1 from n",
              crowd->id, h.voice);
    ask_voice(h.ada, h.guild, h.voice, "");
    ask_voice(h.bob, h.guild, h.voice, "");
    expect_voice_silence(h.ada);
    expect_voice_silence(h.bob);
    expect_error(client_patch(h.ada, TEXT(w, "{'channel_id': '%s'}", h.voice),
                              "/guilds/%s/members/%s", h.guild, h.bob->id),
                 400, 30019);
    world_sql(w, "delete from voice_states where guild_id = %d", 1);
    ask_voice(h.bob, h.guild, h.voice, "");
    expect_voice(h.bob, "VOICE_STATE_UPDATE", "{'channel_id': '%s'}", h.voice);
}

const struct test carried_moderation_tests[] = {
    TEST_WITH(who_is_gone_is_cut_off_however_it_went, with_relay),
    TEST_WITH(a_timeout_takes_the_word_at_once, with_relay),
    TEST_WITH(the_afk_channel_is_silent, with_relay),
    TEST_WITH(on_a_stage_who_was_invited_has_to_accept, with_relay),
    TEST_WITH(a_timeout_ends_a_speech_on_a_stage, with_relay),
    TEST_WITH(a_room_goes_to_another_region_with_all_who_are_there, with_two_regions_here),
    TEST(a_channel_holds_ten_thousand),
    { 0 },
};
