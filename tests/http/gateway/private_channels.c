/* private_channels.c - events of private channels go to their current recipients. */
#include "gateway_conn.h"
#include "guilds.h"
#include "test_guild.h"
#include "test_voice.h"

static const char *const PLAIN = "v=10&encoding=json";
enum { VERY_MANY = 100000 };

static const char *open_direct_channel(struct client *from, struct client *to)
{
    struct answer a = client_post(from, TEXT(from->world, "{'recipient_id': '%s'}", to->id),
                                  "/users/@me/channels");

    expect_status(a, 200);
    return answer_text(a, "id");
}

static const char *open_group(struct client *from, struct client *one, struct client *two)
{
    struct answer a =
        client_post(from, TEXT(from->world, "{'recipients': ['%s', '%s']}", one->id, two->id),
                    "/users/@me/channels");

    expect_status(a, 200);
    return answer_text(a, "id");
}

static void send_message(struct client *c, const char *channel, const char *text)
{
    expect_status(
        client_post(c, TEXT(c->world, "{'content': '%s'}", text), "/channels/%s/messages", channel),
        200);
}

/* Inserts closed direct channels. */
static void insert_direct_channels(struct world *w, struct client *a, struct client *b)
{
    static const char numbers[] =
        "with recursive n(i) as (select 1 union all select i + 1 from n where i < %d) ";
    char sql[400];

    snprintf(sql, sizeof sql, "%sinsert into channels (id, type) select i, 1 from n", numbers);
    world_sql(w, sql, VERY_MANY);
    for (int i = 0; i < 2; i++) {
        snprintf(sql, sizeof sql,
                 "%sinsert into recipients (channel_id, user_id, closed, since) "
                 "select i, %s, 1, 0 from n",
                 numbers, i ? a->id : b->id);
        world_sql(w, sql, VERY_MANY);
    }
}

static struct gateway_conn *resume_session(struct client *c, struct gateway_conn *g)
{
    struct gateway_conn *next = conn_open(c, PLAIN);

    conn_kill(g);
    expect_op(next, 10);
    conn_resume(next, conn_id(g), conn_seq(g));
    expect_dispatch(next, "RESUMED", "{}");
    return next;
}

/* The test world fails if a loop is blocked. */
static void very_many_direct_channels_do_not_block_the_event_loop(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bot = world_bot(w, "robot");
    struct test_guild v = world_test_guild(w, ada);

    test_guild_add(&v, bot);
    const char *channel = open_direct_channel(ada, bot);
    insert_direct_channels(w, ada, bot);
    for (int i = 0; i < 4; i++) {
        struct gateway_conn *robot = conn_session(bot, PLAIN, "'intents': 4096");
        struct gateway_conn *person = conn_session(ada, PLAIN, "'capabilities': 8192");

        robot = resume_session(bot, robot);
        person = resume_session(ada, person);
        send_message(ada, channel, "hi");
        expect_dispatch(robot, "MESSAGE_CREATE", "{'content': 'hi'}");
        expect_dispatch(person, "MESSAGE_CREATE", "{'content': 'hi'}");
        conn_close(robot, 1000);
        conn_close(person, 1000);
    }
}

/* Only shard 0 receives events of private channels, including new ones. */
static void private_channel_events_go_to_shard_0_only(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bot = world_bot(w, "robot");
    struct test_guild v = world_test_guild(w, ada);

    test_guild_add(&v, bot);
    struct gateway_conn *first = conn_session(bot, PLAIN, "'intents': 4096, 'shard': [0, 2]");
    struct gateway_conn *second = conn_session(bot, PLAIN, "'intents': 4096, 'shard': [1, 2]");
    send_message(ada, open_direct_channel(ada, bot), "hi");
    expect_dispatch(first, "MESSAGE_CREATE", "{'content': 'hi'}");
    expect_quiet(second);
}

static void closed_direct_channel_still_receives_events(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");

    make_friends(ada, bob);
    const char *channel = open_direct_channel(ada, bob);
    struct gateway_conn *g = conn_session(bob, PLAIN, "");
    send_message(ada, channel, "one");
    expect_dispatch(g, "CHANNEL_CREATE", "{'id': '%s'}", channel);
    expect_dispatch(g, "MESSAGE_CREATE", "{'content': 'one'}");
    expect_status(client_delete(bob, "/channels/%s", channel), 200);
    expect_dispatch(g, "CHANNEL_DELETE", "{'id': '%s'}", channel);
    expect_status(client_post(ada, NULL, "/channels/%s/typing", channel), 204);
    expect_dispatch(g, "TYPING_START", "{'channel_id': '%s'}", channel);
    send_message(ada, channel, "two");
    expect_dispatch(g, "CHANNEL_CREATE", "{'id': '%s'}", channel);
    expect_dispatch(g, "MESSAGE_CREATE", "{'content': 'two'}");
}

/* A removed recipient gets the end of its call and of the channel, then nothing. */
static void removed_group_recipient_gets_channel_delete_and_no_more(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *cleo = world_client(w, "cleo");

    make_friends(ada, bob);
    make_friends(ada, cleo);
    const char *group = open_group(ada, bob, cleo);
    struct gateway_conn *b = conn_session(bob, PLAIN, ""), *c = conn_session(cleo, PLAIN, "");
    conn_send(b,
              "{'op':4,'d':{'guild_id':null,'channel_id':'%s','self_mute':false,"
              "'self_deaf':false}}",
              group);
    expect_dispatch(b, "MESSAGE_CREATE", "{'type': 3}");
    expect_dispatch(b, "CALL_CREATE", "{}");
    expect_dispatch(b, "VOICE_STATE_UPDATE", "{'user_id': '%s'}", bob->id);
    expect_dispatch(b, "VOICE_SERVER_UPDATE", "{}");
    expect_status(client_delete(ada, "/channels/%s/recipients/%s", group, bob->id), 204);
    expect_dispatch(b, "VOICE_STATE_UPDATE", "{'user_id': '%s', 'channel_id': null}", bob->id);
    expect_dispatch(b, "CALL_DELETE", "{}");
    expect_dispatch(b, "MESSAGE_UPDATE", "{'type': 3}");
    expect_dispatch(b, "CHANNEL_DELETE", "{'id': '%s'}", group);
    send_message(ada, group, "without him");
    expect_quiet(b);
    expect_dispatch(c, "MESSAGE_CREATE", "{'type': 3}");
    expect_dispatch(c, "CALL_CREATE", "{}");
    expect_dispatch(c, "VOICE_STATE_UPDATE", "{'user_id': '%s'}", bob->id);
    expect_dispatch(c, "VOICE_STATE_UPDATE", "{'user_id': '%s', 'channel_id': null}", bob->id);
    expect_dispatch(c, "CALL_DELETE", "{}");
    expect_dispatch(c, "MESSAGE_UPDATE", "{'type': 3}");
    expect_dispatch(c, "CHANNEL_RECIPIENT_REMOVE", "{'user': {'id': '%s'}}", bob->id);
    expect_dispatch(c, "MESSAGE_CREATE", "{'type': 2}");
    expect_dispatch(c, "MESSAGE_CREATE", "{'content': 'without him'}");
    expect_quiet(c);
    /* Bob is added again. */
    expect_status(client_put(ada, NULL, "/channels/%s/recipients/%s", group, bob->id), 204);
    expect_dispatch(b, "CHANNEL_CREATE", "{'id': '%s'}", group);
    expect_dispatch(b, "MESSAGE_CREATE", "{'type': 1}");
    expect_quiet(b);
}

const struct test gateway_private_channels_tests[] = {
    TEST(very_many_direct_channels_do_not_block_the_event_loop),
    TEST(private_channel_events_go_to_shard_0_only),
    TEST(closed_direct_channel_still_receives_events),
    TEST(removed_group_recipient_gets_channel_delete_and_no_more),
    { 0 },
};
