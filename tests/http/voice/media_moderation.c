/* media_moderation.c - moderation takes effect on voice media at once. */
#include "voice_client.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/timestamp.h"
#include "streams.h"

#define MEMBER "/guilds/%s/members/%s"

static void configure_two_local_regions(struct config *config)
{
    with_relay(config);
    config->voice_regions = "eu:Europe,us:America";
}

static void expect_audio_received_in_both_directions(struct voice_client *a, struct voice_client *b)
{
    voice_client_say(a, "a");
    expect_audio(b, a, "a");
    voice_client_say(b, "b");
    expect_audio(a, b, "b");
}

static void expect_no_audio_is_received(struct voice_client *p, struct voice_client *by)
{
    voice_client_say(p, "unheard");
    expect_deaf(by);
}

static void expect_audio_is_received_by_listener(struct voice_client *p, struct voice_client *by)
{
    voice_client_say(p, "again");
    expect_audio(by, p, "again");
}

/* --- leaving -------------------------------------------------------------------------- */

static void kick_member(const struct test_voice *h, struct client *c)
{
    expect_status(client_delete(h->ada, MEMBER, h->guild, c->id), 204);
}

static void ban_member(const struct test_voice *h, struct client *c)
{
    expect_status(client_put(h->ada, "{}", "/guilds/%s/bans/%s", h->guild, c->id), 204);
}

static void leave_guild(const struct test_voice *h, struct client *c)
{
    expect_status(client_delete(c, "/users/@me/guilds/%s", h->guild), 204);
}

static void disconnect_member_from_voice(const struct test_voice *h, struct client *c)
{
    expect_status(client_patch(h->ada, "{'channel_id': null}", MEMBER, h->guild, c->id), 200);
}

static void close_gateway_session_of_member(const struct test_voice *h, struct client *c)
{
    (void)h;
    conn_close(c->gate, 1000);
}

static void join_from_another_session(const struct test_voice *h, struct client *c)
{
    ask_voice_by(c, conn_session(c, "v=10", ""), h->guild, h->voice);
}

static void delete_voice_channel(const struct test_voice *h, struct client *c)
{
    (void)c;
    expect_status(client_delete(h->ada, "/channels/%s", h->voice), 200);
}

static void voice_media_is_cut_for_members_who_left_by_any_means(struct world *w)
{
    static const struct {
        const char *name;
        void (*end)(const struct test_voice *h, struct client *c);
    } rows[] = {
        { "carl", kick_member },
        { "cleo", ban_member },
        { "carol", leave_guild },
        { "cyril", disconnect_member_from_voice },
        { "clara", close_gateway_session_of_member },
        { "conny", join_from_another_session },
        { "chris", delete_voice_channel }, /* last, because it removes everyone */
    };
    struct test_voice h = world_test_voice(w);
    struct voice_client ada = voice_client_call(&h, h.ada, h.voice, VOICE_CLIENT_AES);

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct client *c = test_voice_member(&h, rows[i].name, 0);
        struct voice_client p = voice_client_call(&h, c, h.voice, VOICE_CLIENT_CHACHA);

        expect_audio_received_in_both_directions(&ada, &p);
        rows[i].end(&h, c);
        expect_cut(&p, 4014);
        expect_no_audio_is_received(&p, &ada);
        expect_no_audio_is_received(&ada, &p);
        voice_client_hang_up(&p);
    }
    expect_cut(&ada, 4014);
    voice_client_hang_up(&ada);
}

/* --- muting --------------------------------------------------------------------------- */

static void put_member_into_timeout(const struct test_voice *h, const struct client *c,
                                    const char *until)
{
    expect_status(client_patch(h->ada,
                               TEXT(h->world, "{'communication_disabled_until': %s}", until),
                               MEMBER, h->guild, c->id),
                  200);
}

static const char *time_in_an_hour(struct world *w)
{
    char text[TIMESTAMP_TEXT_SIZE];

    timestamp_format(clock_us() + INT64_C(3600) * 1000000, text);
    return TEXT(w, "'%s'", text);
}

static void time_out_mutes_voice_media_at_once(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct voice_client ada = voice_client_call(&h, h.ada, h.voice, VOICE_CLIENT_AES),
                        bob = voice_client_call(&h, h.bob, h.voice, VOICE_CLIENT_AES);

    expect_audio_received_in_both_directions(&ada, &bob);
    put_member_into_timeout(&h, h.bob, time_in_an_hour(w));
    expect_no_audio_is_received(&bob, &ada);
    put_member_into_timeout(&h, h.bob, "null");
    expect_audio_is_received_by_listener(&bob, &ada);
    voice_client_hang_up(&ada);
    voice_client_hang_up(&bob);
}

static void afk_channel_forwards_no_voice_media(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct voice_client ada = voice_client_call(&h, h.ada, h.voice, VOICE_CLIENT_AES),
                        bob = voice_client_call(&h, h.bob, h.voice, VOICE_CLIENT_AES);
    const char *afk = TEXT(w, "{'afk_channel_id': '%s'}", h.voice);

    expect_audio_received_in_both_directions(&ada, &bob);
    expect_status(client_patch(h.ada, afk, "/guilds/%s", h.guild), 200);
    expect_no_audio_is_received(&bob, &ada);
    expect_no_audio_is_received(&ada, &bob);
    expect_status(client_patch(h.ada, "{'afk_channel_id': null}", "/guilds/%s", h.guild), 200);
    expect_audio_is_received_by_listener(&bob, &ada);
    voice_client_hang_up(&ada);
    voice_client_hang_up(&bob);
}

static void set_stage_suppression_of_member(const struct test_voice *h, struct client *by,
                                            const char *who, bool suppressed)
{
    expect_status(client_patch(by,
                               TEXT(h->world, "{'channel_id': '%s', 'suppress': %s%s}", h->stage,
                                    suppressed ? "true" : "false",
                                    by == h->ada ? "" : ", 'request_to_speak_timestamp': null"),
                               "/guilds/%s/voice-states/%s", h->guild, who),
                  204);
}

static void expect_video_not_seen(struct voice_client *p, struct voice_client *by)
{
    voice_client_show(p, p->ssrc + 1, VOICE_CLIENT_VIDEO, "hidden");
    expect_no_audio_is_received(p, by);
}

static void invited_stage_speaker_is_received_only_after_accepting(struct world *w)
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
    expect_video_not_seen(&bob, &ada);
    set_stage_suppression_of_member(&h, h.ada, h.bob->id, false);
    expect_video_not_seen(&bob, &ada);
    set_stage_suppression_of_member(&h, h.bob, "@me", false);
    voice_client_show(&bob, bob.ssrc + 1, VOICE_CLIENT_VIDEO, "seen");
    expect_seen(&ada, bob.ssrc + 1, "seen");
    expect_audio_is_received_by_listener(&bob, &ada);
    set_stage_suppression_of_member(&h, h.ada, h.bob->id, true);
    expect_video_not_seen(&bob, &ada);
    voice_client_hang_up(&ada);
    voice_client_hang_up(&bob);
}

/* After a time-out the member returns as audience. */
static void time_out_ends_speaking_on_a_stage(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct voice_client ada = voice_client_call(&h, h.ada, h.stage, VOICE_CLIENT_AES),
                        bob = voice_client_call(&h, h.bob, h.stage, VOICE_CLIENT_AES);

    set_stage_suppression_of_member(&h, h.ada, h.bob->id, false);
    set_stage_suppression_of_member(&h, h.bob, "@me", false);
    expect_audio_is_received_by_listener(&bob, &ada);
    put_member_into_timeout(&h, h.bob, time_in_an_hour(w));
    expect_no_audio_is_received(&bob, &ada);
    expect_json(client_get(h.ada, "/guilds/%s/voice-states/%s", h.guild, h.bob->id),
                "{'suppress': true, 'request_to_speak_timestamp': null}");
    expect_error(client_patch(h.ada, TEXT(w, "{'channel_id': '%s', 'suppress': false}", h.stage),
                              "/guilds/%s/voice-states/%s", h.guild, h.bob->id),
                 403, 50013);
    put_member_into_timeout(&h, h.bob, "null");
    expect_no_audio_is_received(&bob, &ada);
    set_stage_suppression_of_member(&h, h.ada, h.bob->id, false);
    /* An earlier invitation has no effect. */
    put_member_into_timeout(&h, h.bob, time_in_an_hour(w));
    expect_error(client_patch(h.bob, TEXT(w, "{'channel_id': '%s', 'suppress': false}", h.stage),
                              "/guilds/%s/voice-states/@me", h.guild),
                 403, 50013);
    put_member_into_timeout(&h, h.bob, "null");
    set_stage_suppression_of_member(&h, h.ada, h.bob->id, false);
    /* Also before the time-out's end has been processed. */
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
    set_stage_suppression_of_member(&h, h.bob, "@me", false);
    expect_audio_is_received_by_listener(&bob, &ada);
    voice_client_hang_up(&ada);
    voice_client_hang_up(&bob);
}

/* --- moving rooms --------------------------------------------------------------------- */

/* Reconnects with the next token from VOICE_SERVER_UPDATE. */
static void voice_client_reconnect(struct voice_client *p)
{
    const struct dom *m;

    do
        m = next_voice(p->client);
    while (!str_is(dom_at(m, "t")->text, "VOICE_SERVER_UPDATE"));
    p->token = str_dup_cstring(world_arena(p->client->world), dom_at(m, "d.token")->text);
    voice_client_hang_up(p);
    voice_client_dial(p, 8);
    voice_client_connect(p, VOICE_CLIENT_AES);
    p->counter = 0;
}

/* A member muted before is still muted afterwards. */
static void region_change_moves_all_participants_and_keeps_mutes(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct voice_client ada = voice_client_call(&h, h.ada, h.voice, VOICE_CLIENT_AES),
                        bob = voice_client_call(&h, h.bob, h.voice, VOICE_CLIENT_AES);

    expect_audio_received_in_both_directions(&ada, &bob);
    expect_status(client_patch(h.ada, "{'mute': true}", MEMBER, h.guild, h.bob->id), 200);
    expect_status(client_patch(h.ada, "{'rtc_region': 'us'}", "/channels/%s", h.voice), 200);
    expect_cut(&ada, 4014);
    expect_cut(&bob, 4014);
    voice_client_dial(&bob, 8);
    expect_close(bob.gate, 4004);
    voice_client_reconnect(&ada);
    voice_client_reconnect(&bob);
    expect_no_audio_is_received(&bob, &ada);
    voice_client_say(&ada, "there");
    expect_audio(&bob, &ada, "there");
    expect_status(client_patch(h.ada, "{'mute': false}", MEMBER, h.guild, h.bob->id), 200);
    expect_audio_is_received_by_listener(&bob, &ada);
    voice_client_hang_up(&ada);
    voice_client_hang_up(&bob);
}

/* --- channel size --------------------------------------------------------------------- */

/* The limit does not depend on user_limit and permissions. */
static void voice_channel_is_limited_to_10000_participants(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct client *filler = world_client(w, "crowd");

    join_voice(&h, h.bob, h.other, h.ada, NULL);
    world_sql(w,
              "with recursive n (i) as (select 1 union all select i + 1 from n where i < 10000) "
              "insert into voice_states (guild_id, user_id, channel_id, session_id, "
              "session_number, node, region, salt, connected_at, active_at) "
              "select i, %s, %s, 'x', 1, 0, 'main', '', 1, 1 from n",
              filler->id, h.voice);
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

const struct test voice_media_moderation_tests[] = {
    TEST_WITH(voice_media_is_cut_for_members_who_left_by_any_means, with_relay),
    TEST_WITH(time_out_mutes_voice_media_at_once, with_relay),
    TEST_WITH(afk_channel_forwards_no_voice_media, with_relay),
    TEST_WITH(invited_stage_speaker_is_received_only_after_accepting, with_relay),
    TEST_WITH(time_out_ends_speaking_on_a_stage, with_relay),
    TEST_WITH(region_change_moves_all_participants_and_keeps_mutes, configure_two_local_regions),
    TEST(voice_channel_is_limited_to_10000_participants),
    { 0 },
};
