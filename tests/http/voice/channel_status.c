/* channel_status.c - voice channel status and start time, and their events. */
#include "test_voice.h"

#include <string.h>

#include "model/permissions/permissions.h"

#define STATUS "/channels/%s/voice-status"
#define SAID   "VOICE_CHANNEL_STATUS_UPDATE"
#define BEGAN  "VOICE_CHANNEL_START_TIME_UPDATE"

static void deny_view_of_voice_channel(const struct test_voice *h, const struct client *from)
{
    expect_status(
        client_put(h->ada,
                   TEXT(h->world, "{'type': 1, 'deny': '%llu'}", BITS(PERMISSION(VIEW_CHANNEL))),
                   "/channels/%s/permissions/%s", h->voice, from->id),
        204);
}

static void voice_channel_status_is_sent_to_viewers_only(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct client *bot = test_voice_bot(&h, "helper"), *mole = test_voice_bot(&h, "mole"),
                  *cleo = test_voice_member(&h, "cleo", 0);

    deny_view_of_voice_channel(&h, mole);
    deny_view_of_voice_channel(&h, cleo);
    expect_status(client_put(h.ada, "{'status': 'chess'}", STATUS, h.voice), 204);
    struct client *seers[] = { h.ada, h.bob, bot };
    for (size_t i = 0; i < 3; i++)
        expect_voice(seers[i], SAID, "{'id': '%s', 'guild_id': '%s', 'status': 'chess'}", h.voice,
                     h.guild);
    expect_voice_silence(mole);
    expect_voice_silence(cleo);
    expect_json(client_get(h.ada, "/guilds/%s/audit-logs?action_type=192", h.guild),
                "{'audit_log_entries': [{'action_type': 192, 'target_id': '%s', 'options': "
                "{'status': 'chess', 'channel_id': '%s'}}]}",
                h.voice, h.voice);

    /* The same status again is no change. */
    expect_status(client_put(h.ada, "{'status': 'chess'}", STATUS, h.voice), 204);
    expect_voice_silence(h.bob);
    expect_status(client_put(h.ada, "{'status': ''}", STATUS, h.voice), 204);
    expect_voice(h.bob, SAID, "{'id': '%s', 'status': null}", h.voice);
    expect_status(client_put(h.ada, "{'status': null}", STATUS, h.voice), 204);
    expect_voice_silence(h.bob);
    expect_json(client_get(h.ada, "/guilds/%s/audit-logs?action_type=193", h.guild),
                "{'audit_log_entries': [{'action_type': 193, 'options': {'channel_id': '%s'}}]}",
                h.voice);
}

static void setting_a_status_requires_permission_and_being_in_voice(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    const char *body = "{'status': 'x'}";
    const char *text = make_channel(h.ada, h.guild, "{'name': 'text'}");
    struct client *cleo = test_voice_member(&h, "cleo", PERMISSION(SET_VOICE_CHANNEL_STATUS));
    char status[520];

    expect_error(client_put(h.bob, body, STATUS, h.voice), 403, 50013);
    expect_error(client_put(cleo, body, STATUS, h.voice), 403, 50013);
    join_voice(&h, cleo, h.other, NULL);
    expect_error(client_put(cleo, body, STATUS, h.voice), 403, 50013);
    expect_status(client_put(cleo, body, STATUS, h.other), 204);
    expect_error(client_put(h.ada, body, STATUS, text), 400, 50024);
    expect_error(client_put(h.ada, body, STATUS, h.stage), 400, 50024);
    memset(status, 'a', sizeof status);
    expect_status(client_put(h.ada, TEXT(w, "{'status': '%.500s'}", status), STATUS, h.voice), 204);
    expect_invalid(client_put(h.ada, TEXT(w, "{'status': '%.501s'}", status), STATUS, h.voice),
                   "status", "BASE_TYPE_MAX_LENGTH");
}

static void voice_start_time_lasts_from_first_join_to_last_leave(struct world *w)
{
    struct test_voice h = world_test_voice(w);

    conn_watch(h.ada->gate, true);
    ask_voice(h.bob, h.guild, h.voice, "");
    expect_voice(h.ada, "VOICE_STATE_UPDATE", "{'user_id': '%s'}", h.bob->id);
    const struct dom *d = next_voice(h.ada);
    expect(str_is(dom_at(d, "t")->text, BEGAN) && str_is(dom_at(d, "d.id")->text, h.voice));
    expect(dom_at(d, "d.voice_start_time")->kind == JSON_NUMBER);
    ask_voice(h.ada, h.guild, h.voice, "");
    expect_voice(h.ada, "VOICE_STATE_UPDATE", "{'user_id': '%s'}", h.ada->id);
    expect_voice(h.ada, "VOICE_SERVER_UPDATE", "{}");
    expect_status(client_put(h.ada, "{'status': 'go'}", STATUS, h.voice), 204);
    expect_voice(h.ada, SAID, "{'status': 'go'}");

    conn_watch(h.ada->gate, false);
    conn_send(h.ada->gate, "{'op':36,'d':{'guild_id':'%s'}}", h.guild);
    d = expect_dispatch(h.ada->gate, "CHANNEL_STATUSES",
                        "{'channels': [{'id': '%s', 'status': 'go'}]}", h.voice);
    expect(!dom_at(d, "channels.0.voice_start_time"));
    conn_send(h.ada->gate, "{'op':43,'d':{'guild_id':'%s','fields':['voice_start_time']}}",
              h.guild);
    d = expect_dispatch(h.ada->gate, "CHANNEL_INFO", "{'channels': [{'id': '%s'}]}", h.voice);
    expect(dom_at(d, "channels.0.voice_start_time")->kind == JSON_NUMBER);
    expect(!dom_at(d, "channels.0.status"));
    conn_watch(h.ada->gate, true);
    expect_status(client_patch(h.ada, TEXT(w, "{'channel_id': '%s'}", h.other),
                               "/guilds/%s/members/%s", h.guild, h.bob->id),
                  200);
    expect_voice(h.ada, "VOICE_STATE_UPDATE", "{'channel_id': '%s'}", h.other);
    expect_voice(h.ada, BEGAN, "{'id': '%s'}", h.other);
    ask_voice(h.ada, h.guild, NULL, "");
    expect_voice(h.ada, "VOICE_STATE_UPDATE", "{'channel_id': null}");
    expect_voice(h.ada, BEGAN, "{'id': '%s', 'voice_start_time': null}", h.voice);
    expect_voice(h.ada, SAID, "{'id': '%s', 'status': null}", h.voice);
    conn_watch(h.ada->gate, false);
    conn_send(h.ada->gate, "{'op':36,'d':{'guild_id':'%s'}}", h.guild);
    expect_event(h.ada, "CHANNEL_STATUSES", "{'guild_id': '%s', 'channels': []}", h.guild);
    expect_status(client_delete(h.ada, "/channels/%s", h.other), 200);
    expect(world_number(w, "select count(*) from voice_rooms") == 0);
}

static void channel_info_omits_hidden_channels(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct client *cleo = test_voice_member(&h, "cleo", 0);

    expect_status(client_put(h.ada, "{'status': 'go'}", STATUS, h.voice), 204);
    expect_voice(cleo, SAID, "{'status': 'go'}");
    conn_send(cleo->gate, "{'op':43,'d':{'guild_id':'%s'}}", h.guild);
    expect_event(cleo, "CHANNEL_INFO", "{'channels': [{'id': '%s', 'status': 'go'}]}", h.voice);
    deny_view_of_voice_channel(&h, cleo);
    expect_event(cleo, "CHANNEL_DELETE", "{'id': '%s'}", h.voice);
    conn_send(cleo->gate, "{'op':43,'d':{'guild_id':'%s'}}", h.guild);
    expect_event(cleo, "CHANNEL_INFO", "{'channels': []}");
}

const struct test voice_channel_status_tests[] = {
    TEST(voice_channel_status_is_sent_to_viewers_only),
    TEST(setting_a_status_requires_permission_and_being_in_voice),
    TEST(voice_start_time_lasts_from_first_join_to_last_leave),
    TEST(channel_info_omits_hidden_channels),
    { 0 },
};
