/* forwards.c - forwarded messages with snapshots of the originals. */
#include "gateway_conn.h"
#include "guilds.h"
#include "channel_events.h"
#include "test_guild.h"

#define MESSAGES "/channels/%s/messages"
#define MESSAGE  MESSAGES "/%s"

static struct answer forward_message(struct client *c, const char *from, const char *message,
                                     const char *to)
{
    return client_post(c,
                       TEXT(c->world,
                            "{'message_reference': {'type': 1, 'message_id': '%s', "
                            "'channel_id': '%s'}}",
                            message, from),
                       MESSAGES, to);
}

static void forwarded_message_contains_a_snapshot_of_the_original(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bot = world_bot(w, "robot");
    struct test_guild v = world_test_guild(w, ada), other = world_test_guild(w, ada);

    test_guild_add(&other, bot);
    const char *said =
        answer_text(client_post(ada, "{'content': 'hello <@1>'}", MESSAGES, v.channel), "id");
    struct channel_events room = world_channel_events(w, other.channel);
    struct answer a = forward_message(ada, v.channel, said, other.channel);
    const char *shown =
        TEXT(w,
             "{'type': 0, 'content': '', 'flags': 16384, 'message_reference': {'type': 1, "
             "'channel_id': '%s', 'message_id': '%s', 'guild_id': '%s'}, 'message_snapshots': "
             "[{'message': {'type': 0, 'content': 'hello <@1>', 'embeds': [], 'attachments': [], "
             "'mentions': [], 'mention_roles': [], 'components': [], 'flags': 0, "
             "'edited_timestamp': null}}], 'mentions': []}",
             v.channel, said, v.id);

    expect_json(a, "%s", shown);
    expect_absent(a, "referenced_message");
    expect_absent(a, "message_snapshots.0.message.id");
    expect_absent(a, "message_snapshots.0.message.author");
    expect_absent(a, "message_snapshots.0.message.channel_id");
    expect_channel_event(&room, "MESSAGE_CREATE", "%s", shown);
    /* Changes of the original do not change the snapshot. */
    client_patch(ada, "{'content': 'new'}", MESSAGE, v.channel, said);
    expect_json(client_get(ada, MESSAGE, other.channel, answer_text(a, "id")), "%s", shown);
    client_delete(ada, MESSAGE, v.channel, said);
    expect_json(client_get(ada, MESSAGE, other.channel, answer_text(a, "id")), "%s", shown);
    /* Forwarding a forward copies its snapshot, without nesting. */
    a = forward_message(ada, other.channel, answer_text(a, "id"), v.channel);
    expect_json(a, "{'message_snapshots': [{'message': {'content': 'hello <@1>', 'flags': 0}}]}");
    /* A forward may have content of its own. */
    const char *both =
        TEXT(w,
             "{'content': 'look', 'message_reference': {'type': 1, 'message_id': '%s', "
             "'channel_id': '%s'}}",
             answer_text(a, "id"), v.channel);
    expect_json(client_post(ada, both, MESSAGES, other.channel),
                "{'content': 'look', 'message_snapshots': [{}]}");
}

static void attachments_are_deleted_with_their_last_forward(struct world *w)
{
    static const struct upload files[] = { { "files[0]", "a.txt", STR_INIT("one") },
                                           { "files[1]", "b.txt", STR_INIT("two") },
                                           { 0 } };
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada), other = world_test_guild(w, ada);
    struct answer said = client_upload(ada, "POST", "{'content': 'x'}", files, MESSAGES, v.channel);
    struct answer a = forward_message(ada, v.channel, answer_text(said, "id"), other.channel);

    expect_json(a, "{'attachments': [], 'message_snapshots': [{'message': {'attachments': "
                   "[{'filename': 'a.txt', 'size': 3}, {'filename': 'b.txt'}]}}]}");
    const char *only =
        TEXT(w,
             "{'message_reference': {'type': 1, 'message_id': '%s', 'channel_id': "
             "'%s', 'forward_only': {'attachment_ids': ['%s']}}}",
             answer_text(said, "id"), v.channel, answer_text(said, "attachments.1.id"));
    struct answer part = client_post(ada, only, MESSAGES, other.channel);
    expect_json(part, "{'message_snapshots': [{'message': {'attachments': [{'filename': "
                      "'b.txt'}]}}]}");
    expect_invalid(client_post(ada,
                               TEXT(w,
                                    "{'message_reference': {'type': 1, 'message_id': '%s', "
                                    "'channel_id': '%s', 'forward_only': {'embed_indices': [0]}}}",
                                    answer_text(said, "id"), v.channel),
                               MESSAGES, other.channel),
                   "message_reference", "FORWARD_PARTS_UNKNOWN");
    /* An edit keeps the snapshot's attachments. */
    expect_json(
        client_patch(ada, "{'content': 'look'}", MESSAGE, other.channel, answer_text(a, "id")),
        "{'content': 'look', 'attachments': [], 'message_snapshots': [{'message': "
        "{'attachments': [{}, {}]}}]}");
    expect_status(client_delete(ada, MESSAGE, v.channel, answer_text(said, "id")), 204);
    expect(world_number(w, "select count(*) from files where gone = 0") == 2);
    struct str url =
        str_of(answer_text(client_get(ada, MESSAGE, other.channel, answer_text(a, "id")),
                           "message_snapshots.0.message.attachments.0.url"));
    str_cut(&url, '/'), str_cut(&url, '/'), str_cut(&url, '/');
    struct answer file = client_request(
        world_anonymous(w), "GET", TEXT(w, "/%.*s", (int)url.n, url.p), NULL, (struct str){ 0 });
    expect_status(file, 200);
    expect(str_is(file.body, "one"));
    expect_status(client_post(ada,
                              TEXT(w, "{'messages': ['%s', '%s']}", answer_text(a, "id"),
                                   answer_text(part, "id")),
                              MESSAGES "/bulk-delete", other.channel),
                  204);
    expect(world_number(w, "select count(*) from files where gone = 0") == 0);
}

static void forwarding_requires_access_to_the_original(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada), other = world_test_guild(w, ada);

    test_guild_add(&other, bob);
    const char *said = answer_text(client_post(ada, "{'content': 'x'}", MESSAGES, v.channel), "id");
    expect_error(forward_message(bob, v.channel, said, other.channel), 404, 10008);
    expect_error(forward_message(ada, other.channel, said, other.channel), 404, 10008);
    test_guild_add(&v, bob);
    expect_status(forward_message(bob, v.channel, said, other.channel), 200);
    world_sql(w, "update roles set permissions = %llu where id = %s",
              BITS(PERMISSION(VIEW_CHANNEL)), v.id);
    expect_error(forward_message(bob, v.channel, said, other.channel), 403, 160009);
    expect_invalid(
        client_post(ada, TEXT(w, "{'message_reference': {'type': 1, 'message_id': '%s'}}", said),
                    MESSAGES, other.channel),
        "message_reference", "FORWARD_CHANNEL_REQUIRED");
    const char *poll = answer_text(
        client_post(ada,
                    "{'poll': {'question': {'text': 'x'}, 'answers': [{'poll_media': {'text': "
                    "'y'}}]}}",
                    MESSAGES, v.channel),
        "id");
    expect_invalid(forward_message(ada, v.channel, poll, other.channel), "message_reference",
                   "FORWARD_NOT_POSSIBLE");
    expect_status(client_put(ada, NULL, "/channels/%s/pins/%s", v.channel, said), 204);
    const char *pinned = answer_text(client_get(ada, MESSAGES "?limit=1", v.channel), "0.id");
    expect_invalid(forward_message(ada, v.channel, pinned, other.channel), "message_reference",
                   "FORWARD_NOT_POSSIBLE");
    expect_status(client_patch(ada, "{'nsfw': true}", "/channels/%s", v.channel), 200);
    expect_error(forward_message(ada, v.channel, said, other.channel), 403, 160010);
    expect_status(client_patch(ada, "{'nsfw': true}", "/channels/%s", other.channel), 200);
    expect_status(forward_message(ada, v.channel, said, other.channel), 200);
}

static void snapshot_content_requires_the_message_content_intent(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bot = world_bot(w, "robot");
    struct test_guild v = world_test_guild(w, ada);

    test_guild_add(&v, bot);
    const char *said =
        answer_text(client_post(ada, "{'content': 'secret'}", MESSAGES, v.channel), "id");
    struct gateway_conn *g = conn_session(bot, "v=10&encoding=json", "'intents': 512");
    expect_status(forward_message(ada, v.channel, said, v.channel), 200);
    expect_dispatch(g, "MESSAGE_CREATE",
                    "{'content': '', 'message_snapshots': [{'message': {'content': '', 'type': 0, "
                    "'attachments': []}}]}");
}

const struct test forwards_tests[] = {
    TEST(forwarded_message_contains_a_snapshot_of_the_original),
    TEST(attachments_are_deleted_with_their_last_forward),
    TEST(forwarding_requires_access_to_the_original),
    TEST(snapshot_content_requires_the_message_content_intent),
    { 0 },
};
