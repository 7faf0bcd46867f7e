/* saved_messages.c - messages that a user has saved. */
#include <string.h>

#include "channel_events.h"
#include "channels.h"
#include "gateway_conn.h"
#include "test_guild.h"
#include "waits.h"

#define SAVED "/users/@me/saved-messages"

static void saved_messages_are_private_and_listed_last_saved_first(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);
    test_guild_add(&v, bob);
    const char *one = say_text(ada, v.channel, "one"), *two = say_text(ada, v.channel, "two");
    client_connect(bob);
    struct channel_events room = world_channel_events(w, v.channel);

    expect_json(client_get(bob, SAVED), "{'results': []}");
    expect_json(client_put(bob, NULL, SAVED "/%s/%s", v.channel, one),
                "{'message': {'id': '%s', 'content': 'one'}, 'save_data': {'channel_id': '%s', "
                "'message_id': '%s', 'guild_id': '%s', 'due_at': null, 'notes': ''}}",
                one, v.channel, one, v.id);
    expect_event(bob, "SAVED_MESSAGE_CREATE",
                 "{'message': {'id': '%s'}, 'save_data': {'message_id': '%s'}}", one, one);
    expect_status(
        client_put(bob, "{'due_at': '2030-01-02T03:04:05+00:00'}", SAVED "/%s/%s", v.channel, two),
        200);
    expect_event(bob, "SAVED_MESSAGE_CREATE", "{'message': {'id': '%s'}}", two);
    expect_json(client_get(bob, SAVED),
                "{'results': [{'message': {'content': 'two'}, 'save_data': {'due_at': "
                "'2030-01-02T03:04:05+00:00'}}, {'message': {'content': 'one'}}]}");
    /* A second save changes the reminder and adds no entry. */
    expect_status(client_put(bob, "{'due_at': null}", SAVED "/%s/%s", v.channel, two), 200);
    expect_event(bob, "SAVED_MESSAGE_CREATE", "{'save_data': {'due_at': null}}");
    expect(world_number(w, "select count(*) from saved_messages") == 2);
    /* Nobody else sees it. */
    expect_json(client_get(ada, SAVED), "{'results': []}");
    expect_channel_silence(&room);
    expect_status(client_delete(ada, SAVED "/%s/%s", v.channel, one), 204);
    expect_silence(bob);

    expect_status(client_delete(bob, SAVED "/%s/%s", v.channel, one), 204);
    expect_event(bob, "SAVED_MESSAGE_DELETE", "{'channel_id': '%s', 'message_id': '%s'}", v.channel,
                 one);
    expect_status(client_delete(bob, SAVED "/%s/%s", v.channel, one), 204);
    expect_silence(bob);
    expect_json(client_get(bob, SAVED), "{'results': [{'message': {'id': '%s'}}]}", two);
}

static void saved_messages_are_shown_only_while_the_user_may_read_them(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);
    test_guild_add(&v, bob);
    const char *one = say_text(ada, v.channel, "secret");

    expect_status(client_put(bob, NULL, SAVED "/%s/%s", v.channel, one), 200);
    test_guild_take_right(&v, PERMISSION(READ_MESSAGE_HISTORY));
    struct answer a = client_get(bob, SAVED);
    expect_json(a, "{'results': [{'message': null, 'save_data': {'message_id': '%s'}}]}", one);
    expect(!strstr(a.body.p, "secret"));
    expect_error(client_put(bob, NULL, SAVED "/%s/%s", v.channel, one), 403, 50013);
    test_guild_take_right(&v, PERMISSION(VIEW_CHANNEL));
    expect_json(client_get(bob, SAVED), "{'results': [{'message': null}]}");
    expect_error(client_put(bob, NULL, SAVED "/%s/%s", v.channel, one), 403, 50001);
    /* The entry can be removed without access to the channel. */
    expect_status(client_delete(bob, SAVED "/%s/%s", v.channel, one), 204);
    expect_json(client_get(bob, SAVED), "{'results': []}");
}

static void saved_messages_go_with_message_channel_or_account(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);
    test_guild_add(&v, bob);
    const char *one = say_text(ada, v.channel, "one"), *two = say_text(ada, v.channel, "two");

    expect_status(client_put(bob, NULL, SAVED "/%s/%s", v.channel, one), 200);
    expect_status(client_delete(ada, "/channels/%s/messages/%s", v.channel, one), 204);
    expect_json(client_get(bob, SAVED), "{'results': [{'message': null}]}");
    /* The next save deletes the entry of the deleted message. */
    expect_status(client_put(bob, NULL, SAVED "/%s/%s", v.channel, two), 200);
    expect(world_number(w, "select count(*) from saved_messages") == 1);
    expect_status(client_delete(ada, "/channels/%s", v.channel), 200);
    world_settle(w);
    expect(world_number(w, "select count(*) from saved_messages") == 0);
}

static void unknown_or_too_many_saved_messages_are_refused(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    const char *one = say_text(ada, v.channel, "one");

    for (int i = 1; i <= 200; i++) {
        world_sql(w, "insert into messages (id, channel_id, author_id) values (%d, %s, %s)", i,
                  v.channel, ada->id);
        world_sql(w,
                  "insert into saved_messages (user_id, message_id, channel_id, saved_at) values "
                  "(%s, %d, %s, %d)",
                  ada->id, i, v.channel, i);
    }
    expect_invalid(client_put(ada, NULL, SAVED "/%s/%s", v.channel, one), "message_id",
                   "SAVED_MESSAGES_MAX");
    expect_status(client_put(ada, NULL, SAVED "/%s/200", v.channel), 200); /* is saved already */
    expect_status(client_delete(ada, SAVED "/%s/1", v.channel), 204);
    expect_status(client_put(ada, NULL, SAVED "/%s/%s", v.channel, one), 200);
    expect_error(client_put(ada, NULL, SAVED "/%s/5000", v.channel), 404, 10008);
    expect_error(client_put(ada, NULL, SAVED "/5/%s", one), 404, 10003);
    expect_invalid(client_put(ada, "{'due_at': 'soon'}", SAVED "/%s/%s", v.channel, one), "due_at",
                   "DATE_TIME_TYPE_PARSE");
    expect_error(client_get(world_bot(w, "robot"), SAVED), 403, 20001);
}

const struct test saved_messages_tests[] = {
    TEST(saved_messages_are_private_and_listed_last_saved_first),
    TEST(saved_messages_are_shown_only_while_the_user_may_read_them),
    TEST(saved_messages_go_with_message_channel_or_account),
    TEST(unknown_or_too_many_saved_messages_are_refused),
    { 0 },
};
