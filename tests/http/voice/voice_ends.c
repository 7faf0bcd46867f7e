/* voice_ends.c - how voice ends without being left: sessions, members, channels, guilds and
 * processes that are gone. */
#include "test_voice.h"
#include "waits.h"

#include <string.h>
#include <unistd.h>

static void a_session_that_ends_takes_its_voice_along(struct world *w)
{
    struct test_voice h = world_test_voice(w);

    join_voice(&h, h.bob, h.voice, h.ada, NULL);
    conn_close(h.bob->gate, 1000);
    expect_event(h.ada, "VOICE_STATE_UPDATE", "{'user_id': '%s', 'channel_id': null}", h.bob->id);
    /* A bot that leaves does so in every guild. */
    struct client *bot = test_voice_bot(&h, "robot");
    join_voice(&h, bot, h.voice, h.ada, NULL);
    conn_close(bot->gate, 1001);
    expect_event(h.ada, "VOICE_STATE_UPDATE", "{'user_id': '%s', 'channel_id': null}", bot->id);
}

static void a_session_that_is_away_keeps_its_voice_for_three_minutes(struct world *w)
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
    expect_op(h.ada->gate, 1); /* is she still there? */
    expect_quiet(h.ada->gate);
    conn_lose(back);
    world_wait(w, 185);
    expect_soon(world_number(w, "select count(*) from voice_states") == 0);
    world_settle(w);
    const struct dom *told = world_last_event(w, "VOICE_STATE_UPDATE");
    expect(dom_at(told, "channel_id")->kind == JSON_NULL);
    expect(str_is(dom_at(told, "user_id")->text, h.bob->id));
}

static void who_leaves_a_guild_leaves_its_voice(struct world *w)
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

static void a_deleted_channel_empties_its_voice(struct world *w)
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

static void a_deleted_guild_has_no_voice(struct world *w)
{
    struct test_voice h = world_test_voice(w);

    join_voice(&h, h.bob, h.voice, h.ada, NULL);
    expect_status(client_delete(h.ada, "/guilds/%s", h.guild), 204);
    expect_event(h.bob, "GUILD_DELETE", "{}");
    expect(world_number(w, "select count(*) from voice_states") == 0);
}

/* --- processes ------------------------------------------------------------------------ */

/* bob, as if another process held him. */
static void put_ghost(const struct test_voice *h, int node)
{
    join_voice(h, h->bob, h->voice, NULL);
    world_sql(h->world, "update voice_states set node = %d", node);
}

/* The session of a process that was restarted may be resumed: until then everybody sees it. */
static void voice_outlives_the_process_as_long_as_its_session(struct world *w)
{
    struct test_voice h = world_test_voice(w);

    put_ghost(&h, 0);
    world_restart(w);
    expect_status(client_get(h.ada, "/guilds/%s/voice-states/%s", h.guild, h.bob->id), 200);
    client_connect(h.ada);
    world_wait(w, 170);
    sleep(2);
    expect(world_number(w, "select count(*) from voice_states") == 1);
    world_wait(w, 20);
    expect_soon(world_number(w, "select count(*) from voice_states") == 0);
    world_settle(w);
    const struct dom *told = world_last_event(w, "VOICE_STATE_UPDATE");
    expect(dom_at(told, "channel_id")->kind == JSON_NULL);
    expect(str_is(dom_at(told, "user_id")->text, h.bob->id));
}

/* Restarted again and again: the time goes on from the first restart. */
static void a_second_restart_does_not_prolong_the_time(struct world *w)
{
    struct test_voice h = world_test_voice(w);

    put_ghost(&h, 0);
    world_restart(w);
    world_wait(w, 100);
    world_restart(w);
    world_wait(w, 100);
    expect_soon(world_number(w, "select count(*) from voice_states") == 0);
}

static struct gateway_conn *resumed_gate(struct client *c, const char *id, uint64_t seq)
{
    struct gateway_conn *back = conn_open(c, "v=10");

    expect_op(back, 10);
    conn_resume(back, id, seq);
    return back;
}

static const struct dom *await_dispatch(struct gateway_conn *g, const char *name)
{
    for (;;) {
        const struct dom *m = conn_read(g, 60000);

        expect(m);
        const struct dom *t = dom_at(m, "t");
        if (t && t->kind == JSON_STRING && str_is(t->text, name))
            return m;
    }
}

/* After SIGTERM the session goes on, and is told where its voice is now. */
static void a_session_that_is_resumed_has_its_voice_back(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    char id[64];

    join_voice(&h, h.bob, h.voice, NULL);
    snprintf(id, sizeof id, "%s", conn_id(h.bob->gate));
    uint64_t seq = conn_seq(h.bob->gate);
    world_restart(w);
    struct gateway_conn *back = resumed_gate(h.bob, id, seq);
    await_dispatch(back, "RESUMED");
    const struct dom *m = await_dispatch(back, "VOICE_SERVER_UPDATE");
    expect(str_is(dom_at(m, "d.guild_id")->text, h.guild));
    expect(world_number(w, "select count(*) from voice_states where node = 0 and held_until = 0") ==
           1);
    /* From now on it ends with its session. */
    conn_close(back, 1000);
    expect_soon(world_number(w, "select count(*) from voice_states") == 0);
}

/* A bot whose session is gone begins another one; that it has asked for the old one shows that it
 * was in voice all the time. */
static void a_bot_that_begins_again_has_its_voice_back(struct world *w)
{
    struct test_voice h = world_test_voice(w);
    struct client *bot = test_voice_bot(&h, "robot");

    join_voice(&h, bot, h.voice, NULL);
    world_restart(w);
    struct gateway_conn *lost = resumed_gate(bot, "0123456789abcdef0123456789abcdef", 1);
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

/* One that was started anew is in no channel, whatever was before. */
static void a_bot_that_was_started_anew_is_in_no_voice(struct world *w)
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

/* Where several processes share a store, each clears after the others. */
static void voice_of_a_dead_process_is_cleared_by_the_others(struct world *w)
{
    struct test_voice h = world_test_voice(w);

    if (strcmp(store_engine(guildhall_store(world_server(w))), "sqlite") == 0)
        return;
    world_sql(w, "insert into voice_nodes (node, expires_at) values (78, %lld)",
              (long long)1 << 60);
    put_ghost(&h, 78);
    expect_event(h.ada, "VOICE_STATE_UPDATE", "{}");
    sleep(2);
    expect_quiet(h.ada->gate);
    expect(world_number(w, "select count(*) from voice_states") == 1);
    expect(world_number(w, "select count(*) from voice_nodes where node = 0") == 1);
    world_sql(w, "update voice_nodes set expires_at = 1 where node = 78");
    expect_event(h.ada, "VOICE_STATE_UPDATE", "{'user_id': '%s', 'channel_id': null}", h.bob->id);
    expect(world_number(w, "select count(*) from voice_states") == 0);
}

const struct test voice_ends_tests[] = {
    TEST(a_session_that_ends_takes_its_voice_along),
    TEST(a_session_that_is_away_keeps_its_voice_for_three_minutes),
    TEST(who_leaves_a_guild_leaves_its_voice),
    TEST(a_deleted_channel_empties_its_voice),
    TEST(a_deleted_guild_has_no_voice),
    TEST(voice_outlives_the_process_as_long_as_its_session),
    TEST(a_second_restart_does_not_prolong_the_time),
    TEST(a_session_that_is_resumed_has_its_voice_back),
    TEST(a_bot_that_begins_again_has_its_voice_back),
    TEST(a_bot_that_was_started_anew_is_in_no_voice),
    TEST(voice_of_a_dead_process_is_cleared_by_the_others),
    { 0 },
};
