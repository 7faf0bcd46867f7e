/* state_ends.c - voice states that end with their session, member, channel, guild or process. */
#include "test_voice.h"
#include "waits.h"

#include <string.h>
#include <unistd.h>

static void closing_a_session_ends_its_voice_state(struct world *w)
{
    struct test_voice h = world_test_voice(w);

    join_voice(&h, h.bob, h.voice, h.ada, NULL);
    conn_close(h.bob->gate, 1000);
    expect_event(h.ada, "VOICE_STATE_UPDATE", "{'user_id': '%s', 'channel_id': null}", h.bob->id);
    /* A bot leaves voice in every guild. */
    struct client *bot = test_voice_bot(&h, "robot");
    join_voice(&h, bot, h.voice, h.ada, NULL);
    conn_close(bot->gate, 1001);
    expect_event(h.ada, "VOICE_STATE_UPDATE", "{'user_id': '%s', 'channel_id': null}", bot->id);
}

static void session_without_socket_keeps_its_voice_for_three_minutes(struct world *w)
{
    struct test_voice h = world_test_voice(w);

    join_voice(&h, h.bob, h.voice, h.ada, NULL);
    char id[64];
    snprintf(id, sizeof id, "%s", conn_id(h.bob->gate));
    uint64_t seq = conn_seq(h.bob->gate);
    conn_lose(h.bob->gate);
    world_wait(w, 150);
    struct gateway_conn *back = conn_open(h.bob, "v=10");
    expect_op(back, 10);
    conn_resume(back, id, seq);
    const struct dom *m = conn_read(back, 60000);
    expect(m && str_is(dom_at(m, "t")->text, "RESUMED"));
    expect(world_number(w, "select count(*) from voice_states") == 1);
    expect_op(h.ada->gate, 1); /* is ada still connected? */
    expect_quiet(h.ada->gate);
    conn_lose(back);
    world_wait(w, 185);
    expect_soon(world_number(w, "select count(*) from voice_states") == 0);
    world_settle(w);
    const struct dom *event = world_last_event(w, "VOICE_STATE_UPDATE");
    expect(dom_at(event, "channel_id")->kind == JSON_NULL);
    expect(str_is(dom_at(event, "user_id")->text, h.bob->id));
}

static void leaving_a_guild_ends_the_members_voice_state(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct client *cleo = test_voice_member(&h, "cleo", 0), *dan = test_voice_member(&h, "dan", 0);

    join_voice(&h, h.bob, h.voice, h.ada, cleo, dan, NULL);
    join_voice(&h, cleo, h.voice, h.ada, h.bob, dan, NULL);
    join_voice(&h, dan, h.voice, h.ada, h.bob, cleo, NULL);
    expect_status(client_delete(h.ada, "/guilds/%s/members/%s", h.guild, h.bob->id), 204);
    expect_event(h.ada, "VOICE_STATE_UPDATE", "{'user_id': '%s', 'channel_id': null}", h.bob->id);
    expect_event(h.ada, "GUILD_MEMBER_REMOVE", "{}");
    expect_event(h.bob, "VOICE_STATE_UPDATE", "{'channel_id': null}");
    expect_event(h.bob, "GUILD_DELETE", "{}");
    expect_event(h.ada, "GUILD_AUDIT_LOG_ENTRY_CREATE", "{}");
    expect_status(client_put(h.ada, "{}", "/guilds/%s/bans/%s", h.guild, cleo->id), 204);
    expect_voice(h.ada, "VOICE_STATE_UPDATE", "{'user_id': '%s', 'channel_id': null}", cleo->id);
    expect_status(client_delete(dan, "/users/@me/guilds/%s", h.guild), 204);
    expect_voice(h.ada, "VOICE_STATE_UPDATE", "{'user_id': '%s', 'channel_id': null}", dan->id);
    expect(world_number(w, "select count(*) from voice_states") == 0);
}

static void deleting_a_channel_ends_its_voice_states(struct world *w)
{
    struct test_voice h = world_test_voice(w);

    join_voice(&h, h.bob, h.voice, h.ada, NULL);
    join_voice(&h, h.ada, h.voice, h.bob, NULL);
    expect_status(client_delete(h.ada, "/channels/%s", h.voice), 200);
    struct client *first = strcmp(h.ada->id, h.bob->id) < 0 ? h.ada : h.bob;
    struct client *last = first == h.ada ? h.bob : h.ada;
    expect_event(h.bob, "VOICE_STATE_UPDATE", "{'user_id': '%s', 'channel_id': null}", first->id);
    expect_event(h.bob, "VOICE_STATE_UPDATE", "{'user_id': '%s', 'channel_id': null}", last->id);
    expect_event(h.bob, "CHANNEL_DELETE", "{}");
    expect(world_number(w, "select count(*) from voice_states") == 0);
}

static void deleting_a_guild_ends_its_voice_states(struct world *w)
{
    struct test_voice h = world_test_voice(w);

    join_voice(&h, h.bob, h.voice, h.ada, NULL);
    expect_status(client_delete(h.ada, "/guilds/%s", h.guild), 204);
    expect_event(h.bob, "GUILD_DELETE", "{}");
    expect(world_number(w, "select count(*) from voice_states") == 0);
}

/* --- processes ------------------------------------------------------------------------ */

/* Puts bob into voice as if another process had his session. */
static void insert_voice_state_of_another_process(const struct test_voice *h, int node)
{
    join_voice(h, h->bob, h->voice, NULL);
    world_sql(h->world, "update voice_states set node = %d", node);
}

/* A session of a restarted process may be resumed: until then its voice state stays. */
static void voice_state_survives_a_restart_until_the_session_expires(struct world *w)
{
    struct test_voice h = world_test_voice(w);

    insert_voice_state_of_another_process(&h, 0);
    world_restart(w);
    expect_status(client_get(h.ada, "/guilds/%s/voice-states/%s", h.guild, h.bob->id), 200);
    client_connect(h.ada);
    world_wait(w, 170);
    sleep(2);
    expect(world_number(w, "select count(*) from voice_states") == 1);
    world_wait(w, 20);
    expect_soon(world_number(w, "select count(*) from voice_states") == 0);
    world_settle(w);
    const struct dom *event = world_last_event(w, "VOICE_STATE_UPDATE");
    expect(dom_at(event, "channel_id")->kind == JSON_NULL);
    expect(str_is(dom_at(event, "user_id")->text, h.bob->id));
}

/* After several restarts the time counts from the first one. */
static void second_restart_does_not_extend_the_voice_states_time(struct world *w)
{
    struct test_voice h = world_test_voice(w);

    insert_voice_state_of_another_process(&h, 0);
    world_restart(w);
    world_wait(w, 100);
    world_restart(w);
    world_wait(w, 100);
    expect_soon(world_number(w, "select count(*) from voice_states") == 0);
}

static struct gateway_conn *open_resumed_gateway(struct client *c, const char *id, uint64_t seq)
{
    struct gateway_conn *back = conn_open(c, "v=10");

    expect_op(back, 10);
    conn_resume(back, id, seq);
    return back;
}

static const struct dom *read_until_dispatch(struct gateway_conn *g, const char *name)
{
    for (;;) {
        const struct dom *m = conn_read(g, 60000);

        expect(m);
        const struct dom *t = dom_at(m, "t");
        if (t && t->kind == JSON_STRING && str_is(t->text, name))
            return m;
    }
}

/* After SIGTERM the session is resumed and gets its voice server again. */
static void resumed_session_gets_its_voice_server_again(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    char id[64];

    join_voice(&h, h.bob, h.voice, NULL);
    snprintf(id, sizeof id, "%s", conn_id(h.bob->gate));
    uint64_t seq = conn_seq(h.bob->gate);
    world_restart(w);
    struct gateway_conn *back = open_resumed_gateway(h.bob, id, seq);
    read_until_dispatch(back, "RESUMED");
    const struct dom *m = read_until_dispatch(back, "VOICE_SERVER_UPDATE");
    expect(str_is(dom_at(m, "d.guild_id")->text, h.guild));
    expect(world_number(w, "select count(*) from voice_states where node = 0 and held_until = 0") ==
           1);
    /* The voice state ends with its session again. */
    conn_close(back, 1000);
    expect_soon(world_number(w, "select count(*) from voice_states") == 0);
}

/* A bot whose session is lost identifies again; its attempt to resume shows that it was in
 * voice. */
static void bot_that_identifies_after_a_failed_resume_keeps_its_voice(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct client *bot = test_voice_bot(&h, "robot");

    join_voice(&h, bot, h.voice, NULL);
    world_restart(w);
    struct gateway_conn *lost = open_resumed_gateway(bot, "0123456789abcdef0123456789abcdef", 1);
    expect_op(lost, 9);
    conn_close(lost, 1000);
    client_connect(h.ada);
    client_connect(bot);
    expect_event(h.ada, "VOICE_STATE_UPDATE",
                 "{'user_id': '%s', 'channel_id': '%s', 'session_id': '%s'}", bot->id, h.voice,
                 conn_id(bot->gate));
    expect_voice(bot, "VOICE_STATE_UPDATE", "{'channel_id': '%s', 'session_id': '%s'}", h.voice,
                 conn_id(bot->gate));
    expect_voice(bot, "VOICE_SERVER_UPDATE", "{'guild_id': '%s'}", h.guild);
    conn_close(bot->gate, 1000);
    expect_soon(world_number(w, "select count(*) from voice_states") == 0);
}

/* A newly started bot is in no voice channel. */
static void newly_started_bot_does_not_keep_an_old_voice_state(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct client *bot = test_voice_bot(&h, "robot");

    join_voice(&h, bot, h.voice, NULL);
    world_restart(w);
    client_connect(bot);
    world_settle(w);
    expect(world_number(w, "select count(*) from voice_states where node = -1") == 1);
    world_wait(w, 190);
    expect_soon(world_number(w, "select count(*) from voice_states") == 0);
}

/* With several processes on one store, each cleans up after dead ones. */
static void voice_states_of_a_dead_process_are_cleared_by_others(struct world *w)
{
    struct test_voice h = world_test_voice(w);

    if (strcmp(store_engine_name(guildhall_get_store(world_server(w))), "sqlite") == 0)
        return;
    world_sql(w, "insert into voice_nodes (node, expires_at) values (78, %lld)",
              (long long)1 << 60);
    insert_voice_state_of_another_process(&h, 78);
    expect_event(h.ada, "VOICE_STATE_UPDATE", "{}");
    sleep(2);
    expect_quiet(h.ada->gate);
    expect(world_number(w, "select count(*) from voice_states") == 1);
    expect(world_number(w, "select count(*) from voice_nodes where node = 0") == 1);
    world_sql(w, "update voice_nodes set expires_at = 1 where node = 78");
    expect_event(h.ada, "VOICE_STATE_UPDATE", "{'user_id': '%s', 'channel_id': null}", h.bob->id);
    expect(world_number(w, "select count(*) from voice_states") == 0);
}

const struct test voice_state_ends_tests[] = {
    TEST(closing_a_session_ends_its_voice_state),
    TEST(session_without_socket_keeps_its_voice_for_three_minutes),
    TEST(leaving_a_guild_ends_the_members_voice_state),
    TEST(deleting_a_channel_ends_its_voice_states),
    TEST(deleting_a_guild_ends_its_voice_states),
    TEST(voice_state_survives_a_restart_until_the_session_expires),
    TEST(second_restart_does_not_extend_the_voice_states_time),
    TEST(resumed_session_gets_its_voice_server_again),
    TEST(bot_that_identifies_after_a_failed_resume_keeps_its_voice),
    TEST(newly_started_bot_does_not_keep_an_old_voice_state),
    TEST(voice_states_of_a_dead_process_are_cleared_by_others),
    { 0 },
};
