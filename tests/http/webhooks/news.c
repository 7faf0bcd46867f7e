/* news.c - messages that are published to channels which follow theirs. */
#include "guilds.h"
#include "channel_events.h"
#include "test_guild.h"
#include "waits.h"

#define MESSAGES  "/channels/%s/messages"
#define MESSAGE   MESSAGES "/%s"
#define CROSSPOST MESSAGE "/crosspost"
#define FOLLOWERS "/channels/%s/followers"

/* ada's guild with a news channel, bob's with one that follows. */
struct press {
    struct client *ada, *bob;
    struct test_guild source, target;
    const char *webhook;
    struct channel_events room; /* bob's channel */
};

static struct answer follow(struct press *p, struct client *c)
{
    return client_post(c, TEXT(p->source.world, "{'webhook_channel_id': '%s'}", p->target.channel),
                       FOLLOWERS, p->source.channel);
}

static struct press open_press(struct world *w)
{
    struct press p = { .ada = world_client(w, "ada"), .bob = world_client(w, "bob") };

    p.source = world_test_guild(w, p.ada);
    p.target = world_test_guild(w, p.bob);
    test_guild_add(&p.source, p.bob);
    world_sql(w, "update channels set type = 5 where id = %s", p.source.channel);
    p.room = world_channel_events(w, p.target.channel);
    return p;
}

static const char *say(struct press *p, const char *text)
{
    return answer_text(client_post(p->ada, TEXT(p->source.world, "{'content': '%s'}", text),
                                   MESSAGES, p->source.channel),
                       "id");
}

/* Waits, generously, until a job has done it. */
static void expect_number(struct world *w, int64_t number, const char *sql)
{
    expect_soon(world_number(w, "%s", sql) == number);
}

static void a_channel_follows_another(struct world *w)
{
    struct press p = open_press(w);
    struct answer a = follow(&p, p.bob);
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
    /* Once more is nothing new. */
    expect_json(follow(&p, p.bob), "{'webhook_id': '%s'}", hook);
    expect_channel_silence(&p.room);
    expect_error(client_post(world_stranger(w), "{'content': 'x'}", "/webhooks/%s/%s", hook, "x"),
                 401, 50027);
}

static void who_may_follow_what(struct world *w)
{
    struct press p = open_press(w);
    struct client *eve = world_client(w, "eve");

    expect_error(follow(&p, eve), 403, 50001);
    test_guild_add(&p.source, eve);
    expect_error(follow(&p, eve), 403, 50001);
    test_guild_add(&p.target, eve);
    expect_error(follow(&p, eve), 403, 50013);
    expect_error(client_post(p.bob, "{'webhook_channel_id': '5'}", FOLLOWERS, p.source.channel),
                 404, 10003);
    expect_error(client_post(p.bob, TEXT(w, "{'webhook_channel_id': '%s'}", p.source.channel),
                             FOLLOWERS, p.target.channel),
                 400, 50024);
    world_sql(w, "update channels set type = 2 where id = %s", p.target.channel);
    expect_error(follow(&p, p.bob), 400, 50024);
}

static void what_is_published_is_copied(struct world *w)
{
    struct press p = open_press(w);
    const char *hook = answer_text(follow(&p, p.bob), "webhook_id");
    const char *m = say(&p, "hello");

    expect_channel_event(&p.room, "MESSAGE_CREATE", "{'type': 12}");
    expect_error(client_post(p.bob, NULL, CROSSPOST, p.source.channel, m), 403, 50013);
    expect_json(client_post(p.ada, NULL, CROSSPOST, p.source.channel, m), "{'flags': 1}");
    expect_number(w, 1, "select count(*) from crossposts");
    expect_channel_event(
        &p.room, "MESSAGE_CREATE",
        "{'type': 0, 'content': 'hello', 'flags': 2, 'webhook_id': '%s', 'author': "
        "{'id': '%s', 'bot': true, 'discriminator': '0000'}, 'message_reference': "
        "{'type': 0, 'channel_id': '%s', 'message_id': '%s', 'guild_id': '%s'}}",
        hook, hook, p.source.channel, m, p.source.id);
    world_settle(w);
    expect_channel_silence(&p.room);
    expect_error(client_post(p.ada, NULL, CROSSPOST, p.source.channel, m), 400, 40033);
    /* What becomes of it becomes of its copies. */
    expect_status(client_patch(p.ada, "{'content': 'new'}", MESSAGE, p.source.channel, m), 200);
    expect_number(w, 2, "select count(*) from messages where content = 'new'");
    expect_channel_event(&p.room, "MESSAGE_UPDATE", "{'content': 'new', 'flags': 2}");
    expect_status(client_delete(p.ada, MESSAGE, p.source.channel, m), 204);
    expect_number(w, 0, "select count(*) from crossposts");
    expect_channel_event(&p.room, "MESSAGE_UPDATE", "{'content': '', 'embeds': [], 'flags': 10}");
    expect_channel_silence(&p.room);
}

static void what_cannot_be_published(struct world *w)
{
    struct press p = open_press(w);
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

/* Many followers are reached step by step, each once, with files that all of them share. */
static void many_followers_get_a_copy_each(struct world *w)
{
    static const struct upload files[] = { { "files[0]", "a.txt", STR_INIT("one") }, { 0 } };
    enum { MANY = 45 };
    struct press p = open_press(w);

    follow(&p, p.bob);
    for (int i = 0; i < MANY - 1; i++)
        world_sql(w,
                  "insert into webhooks (id, guild_id, channel_id, name, salt, source_channel_id, "
                  "source_guild_id) select id + %d, guild_id, channel_id, name, salt, "
                  "source_channel_id, source_guild_id from webhooks order by id limit 1",
                  i + 1);
    const char *m = answer_text(
        client_upload(p.ada, "POST", "{'content': 'x'}", files, MESSAGES, p.source.channel), "id");
    expect_status(client_post(p.ada, NULL, CROSSPOST, p.source.channel, m), 200);
    expect_number(w, MANY, "select count(*) from crossposts");
    expect(world_number(w, "select count(*) from attachments") == MANY + 1);
    expect(world_number(w, "select count(*) from files") == 1);
    expect_status(client_delete(p.ada, MESSAGE, p.source.channel, m), 204);
    expect_number(w, 0, "select count(*) from crossposts");
    expect_number(w, 0, "select count(*) from files where gone = 0");
}

const struct test news_tests[] = {
    TEST(a_channel_follows_another),      TEST(who_may_follow_what),
    TEST(what_is_published_is_copied),    TEST(what_cannot_be_published),
    TEST(many_followers_get_a_copy_each), { 0 },
};
