/* announcement_channels.c - announcement channels: following and crossposting. */
#include "guilds.h"
#include "channel_events.h"
#include "test_guild.h"
#include "waits.h"

#define MESSAGES  "/channels/%s/messages"
#define MESSAGE   MESSAGES "/%s"
#define CROSSPOST MESSAGE "/crosspost"
#define FOLLOWERS "/channels/%s/followers"

/* Ada's guild with an announcement channel, bob's guild with a channel that follows it. */
struct announcement_test {
    struct client *ada, *bob;
    struct test_guild source, target;
    const char *webhook;
    struct channel_events room; /* bob's channel */
};

static struct answer follow_channel(struct announcement_test *p, struct client *c)
{
    return client_post(c, TEXT(p->source.world, "{'webhook_channel_id': '%s'}", p->target.channel),
                       FOLLOWERS, p->source.channel);
}

static struct announcement_test create_announcement_test(struct world *w)
{
    struct announcement_test p = { .ada = world_client(w, "ada"), .bob = world_client(w, "bob") };

    p.source = world_test_guild(w, p.ada);
    p.target = world_test_guild(w, p.bob);
    test_guild_add(&p.source, p.bob);
    world_sql(w, "update channels set type = 5 where id = %s", p.source.channel);
    p.room = world_channel_events(w, p.target.channel);
    return p;
}

static const char *send_message(struct announcement_test *p, const char *text)
{
    return answer_text(client_post(p->ada, TEXT(p->source.world, "{'content': '%s'}", text),
                                   MESSAGES, p->source.channel),
                       "id");
}

/* Waits until a job has produced this count. */
static void wait_for_sql_count(struct world *w, int64_t number, const char *sql)
{
    expect_soon(world_number(w, "%s", sql) == number);
}

static void following_a_channel_creates_a_webhook_and_message(struct world *w)
{
    struct announcement_test p = create_announcement_test(w);
    struct answer a = follow_channel(&p, p.bob);
    const char *name = answer_text(client_get(p.bob, "/guilds/%s", p.source.id), "name");
    const char *channel = answer_text(client_get(p.bob, "/channels/%s", p.source.channel), "name");
    const char *hook = answer_text(a, "webhook_id");

    expect_json(a, "{'channel_id': '%s'}", p.source.channel);
    expect_channel_event(&p.room, "MESSAGE_CREATE",
                         "{'type': 12, 'author': {'id': '%s'}, 'content': '%s #%s', "
                         "'message_reference': {'channel_id': '%s', 'guild_id': '%s', 'type': 0}}",
                         p.bob->id, name, channel, p.source.channel, p.source.id);
    a = client_get(p.bob, "/webhooks/%s", hook);
    expect_json(a,
                "{'type': 2, 'name': '%s #%s', 'application_id': null, 'source_guild': {'id': "
                "'%s', 'name': '%s', 'icon': null}, 'source_channel': {'id': '%s', 'name': "
                "'%s'}}",
                name, channel, p.source.id, name, p.source.channel, channel);
    expect_absent(a, "token");
    expect_absent(a, "url");
    expect_json(client_get(p.bob, "/guilds/%s/audit-logs", p.target.id),
                "{'audit_log_entries': [{'action_type': 50, 'target_id': '%s'}]}", hook);
    /* A second request changes nothing. */
    expect_json(follow_channel(&p, p.bob), "{'webhook_id': '%s'}", hook);
    expect_channel_silence(&p.room);
    expect_error(client_post(world_anonymous(w), "{'content': 'x'}", "/webhooks/%s/%s", hook, "x"),
                 401, 50027);
}

static void following_requires_view_of_source_and_manage_webhooks(struct world *w)
{
    struct announcement_test p = create_announcement_test(w);
    struct client *eve = world_client(w, "eve");

    expect_error(follow_channel(&p, eve), 403, 50001);
    test_guild_add(&p.source, eve);
    expect_error(follow_channel(&p, eve), 403, 50001);
    test_guild_add(&p.target, eve);
    expect_error(follow_channel(&p, eve), 403, 50013);
    expect_error(client_post(p.bob, "{'webhook_channel_id': '5'}", FOLLOWERS, p.source.channel),
                 404, 10003);
    expect_error(client_post(p.bob, TEXT(w, "{'webhook_channel_id': '%s'}", p.source.channel),
                             FOLLOWERS, p.target.channel),
                 400, 50024);
    world_sql(w, "update channels set type = 2 where id = %s", p.target.channel);
    expect_error(follow_channel(&p, p.bob), 400, 50024);
}

static void crossposted_message_is_copied_to_followers(struct world *w)
{
    struct announcement_test p = create_announcement_test(w);
    const char *hook = answer_text(follow_channel(&p, p.bob), "webhook_id");
    const char *m = send_message(&p, "hello");

    expect_channel_event(&p.room, "MESSAGE_CREATE", "{'type': 12}");
    expect_error(client_post(p.bob, NULL, CROSSPOST, p.source.channel, m), 403, 50013);
    expect_json(client_post(p.ada, NULL, CROSSPOST, p.source.channel, m), "{'flags': 1}");
    wait_for_sql_count(w, 1, "select count(*) from crossposts");
    expect_channel_event(
        &p.room, "MESSAGE_CREATE",
        "{'type': 0, 'content': 'hello', 'flags': 2, 'webhook_id': '%s', 'author': "
        "{'id': '%s', 'bot': true, 'discriminator': '0000'}, 'message_reference': "
        "{'type': 0, 'channel_id': '%s', 'message_id': '%s', 'guild_id': '%s'}}",
        hook, hook, p.source.channel, m, p.source.id);
    world_settle(w);
    expect_channel_silence(&p.room);
    expect_error(client_post(p.ada, NULL, CROSSPOST, p.source.channel, m), 400, 40033);
    /* Edits and deletions are applied to the copies. */
    expect_status(client_patch(p.ada, "{'content': 'new'}", MESSAGE, p.source.channel, m), 200);
    wait_for_sql_count(w, 2, "select count(*) from messages where content = 'new'");
    expect_channel_event(&p.room, "MESSAGE_UPDATE", "{'content': 'new', 'flags': 2}");
    expect_status(client_delete(p.ada, MESSAGE, p.source.channel, m), 204);
    wait_for_sql_count(w, 0, "select count(*) from crossposts");
    expect_channel_event(&p.room, "MESSAGE_UPDATE", "{'content': '', 'embeds': [], 'flags': 10}");
    expect_channel_silence(&p.room);
}

static void polls_and_plain_channel_messages_cannot_be_crossposted(struct world *w)
{
    struct announcement_test p = create_announcement_test(w);
    const char *elsewhere =
        answer_text(client_post(p.bob, "{'content': 'x'}", MESSAGES, p.target.channel), "id");
    const char *poll = answer_text(
        client_post(p.ada,
                    "{'poll': {'question': {'text': 'x'}, 'answers': [{'poll_media': {'text': "
                    "'y'}}]}}",
                    MESSAGES, p.source.channel),
        "id");

    expect_error(client_post(p.bob, NULL, CROSSPOST, p.target.channel, elsewhere), 400, 50024);
    expect_error(client_post(p.ada, NULL, CROSSPOST, p.source.channel, poll), 400, 50068);
}

/* Many followers get copies step by step, each once, with shared files. */
static void each_of_many_following_channels_gets_one_crosspost(struct world *w)
{
    static const struct upload files[] = { { "files[0]", "a.txt", STR_INIT("one") }, { 0 } };
    enum { MANY = 45 };
    struct announcement_test p = create_announcement_test(w);

    follow_channel(&p, p.bob);
    for (int i = 0; i < MANY - 1; i++)
        world_sql(w,
                  "insert into webhooks (id, guild_id, channel_id, name, salt, source_channel_id, "
                  "source_guild_id) select id + %d, guild_id, channel_id, name, salt, "
                  "source_channel_id, source_guild_id from webhooks order by id limit 1",
                  i + 1);
    const char *m = answer_text(
        client_upload(p.ada, "POST", "{'content': 'x'}", files, MESSAGES, p.source.channel), "id");
    expect_status(client_post(p.ada, NULL, CROSSPOST, p.source.channel, m), 200);
    wait_for_sql_count(w, MANY, "select count(*) from crossposts");
    expect(world_number(w, "select count(*) from attachments") == MANY + 1);
    expect(world_number(w, "select count(*) from files") == 1);
    expect_status(client_delete(p.ada, MESSAGE, p.source.channel, m), 204);
    wait_for_sql_count(w, 0, "select count(*) from crossposts");
    wait_for_sql_count(w, 0, "select count(*) from files where gone = 0");
}

const struct test announcement_channels_tests[] = {
    TEST(following_a_channel_creates_a_webhook_and_message),
    TEST(following_requires_view_of_source_and_manage_webhooks),
    TEST(crossposted_message_is_copied_to_followers),
    TEST(polls_and_plain_channel_messages_cannot_be_crossposted),
    TEST(each_of_many_following_channels_gets_one_crosspost),
    { 0 },
};
