/* pins.c - pinned messages. */
#include <stdio.h>
#include <stdlib.h>

#include "apps.h"
#include "base/buf.h"
#include "guilds.h"
#include "channel_events.h"
#include "test_guild.h"

#define MESSAGES "/channels/%s/messages"

static void pinning_and_unpinning_are_in_the_audit_log(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);
    test_guild_add(&v, bob);
    const char *id = say_text(bob, v.channel, "x");

    expect_status(client_put(ada, NULL, "/channels/%s/pins/%s", v.channel, id), 204);
    expect_status(client_put(ada, NULL, "/channels/%s/pins/%s", v.channel, id), 204);
    expect_status(client_delete(ada, MESSAGES "/pins/%s", v.channel, id), 204);
    expect_status(client_delete(ada, MESSAGES "/pins/%s", v.channel, id), 204);
    struct answer a = client_get(ada, "/guilds/%s/audit-logs?target_id=%s", v.id, bob->id);
    expect_json(a,
                "{'audit_log_entries': [{'action_type': 75, 'user_id': '%s', 'target_id': '%s', "
                "'options': {'channel_id': '%s', 'message_id': '%s'}}, {'action_type': 74, "
                "'options': {'channel_id': '%s', 'message_id': '%s'}}], 'users': [{}, {'id': "
                "'%s'}]}",
                ada->id, bob->id, v.channel, id, v.channel, id, bob->id);
    a = client_get(ada, "/guilds/%s/audit-logs?target_id=%s", v.id, ada->id);
    expect_json(a, "{'audit_log_entries': []}");
    expect_invalid(client_get(ada, "/guilds/%s/audit-logs?target_id=x", v.id), "target_id",
                   "NUMBER_TYPE_COERCE");
}

static void newer_pin_routes_list_pins_with_timestamps(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);
    test_guild_add(&v, bob);
    const char *one = say_text(bob, v.channel, "one"), *two = say_text(bob, v.channel, "two");

    test_guild_take_right(&v, PERMISSION(PIN_MESSAGES));
    expect_error(client_put(bob, NULL, MESSAGES "/pins/%s", v.channel, one), 403, 50013);
    expect_status(client_put(ada, NULL, MESSAGES "/pins/%s", v.channel, two), 204);
    world_wait(w, 1);
    expect_status(client_put(ada, NULL, MESSAGES "/pins/%s", v.channel, one), 204);
    struct answer a = client_get(bob, MESSAGES "/pins", v.channel);
    expect_json(a,
                "{'items': [{'message': {'id': '%s', 'pinned': true}}, {'message': {'id': '%s'}}], "
                "'has_more': false}",
                one, two);
    const char *at = answer_text(a, "items.0.pinned_at");
    a = client_get(bob, MESSAGES "/pins?limit=1", v.channel);
    expect_json(a, "{'items': [{'message': {'id': '%s'}}], 'has_more': true}", one);
    a = client_get(bob, MESSAGES "/pins?before=%.26sZ", v.channel, at);
    expect_json(a, "{'items': [{'message': {'id': '%s'}}], 'has_more': false}", two);
    expect_invalid(client_get(bob, MESSAGES "/pins?limit=0", v.channel), "limit",
                   "NUMBER_TYPE_MIN");
    expect_invalid(client_get(bob, MESSAGES "/pins?limit=51", v.channel), "limit",
                   "NUMBER_TYPE_MAX");
    expect_invalid(client_get(bob, MESSAGES "/pins?before=x", v.channel), "before",
                   "DATE_TIME_TYPE_PARSE");
    expect_status(client_delete(ada, MESSAGES "/pins/%s", v.channel, one), 204);
    expect_json(client_get(bob, MESSAGES "/pins", v.channel),
                "{'items': [{'message': {'id': '%s'}}]}", two);
}

static void messages_can_be_pinned_and_unpinned(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);
    test_guild_add(&v, bob);
    const char *id = say_text(bob, v.channel, "keep this");
    struct channel_events room = world_channel_events(w, v.channel);

    test_guild_take_right(&v, PERMISSION(PIN_MESSAGES));
    expect_error(client_put(bob, NULL, "/channels/%s/pins/%s", v.channel, id), 403, 50013);
    expect_status(client_put(ada, NULL, "/channels/%s/pins/%s", v.channel, id), 204);
    expect_channel_event(&room, "MESSAGE_UPDATE", "{'id': '%s', 'pinned': true}", id);
    expect_channel_event(&room, "CHANNEL_PINS_UPDATE", "{'channel_id': '%s', 'guild_id': '%s'}",
                         v.channel, v.id);
    expect_channel_event(&room, "MESSAGE_CREATE",
                         "{'type': 6, 'author': {'id': '%s'}, 'message_reference': {'message_id': "
                         "'%s'}}",
                         ada->id, id);
    expect_status(client_put(ada, NULL, "/channels/%s/pins/%s", v.channel, id), 204);
    expect_channel_silence(&room);
    expect_json(client_get(bob, "/channels/%s/pins", v.channel), "[{'id': '%s', 'pinned': true}]",
                id);
    expect_status(client_delete(ada, "/channels/%s/pins/%s", v.channel, id), 204);
    expect_channel_event(&room, "MESSAGE_UPDATE", "{'id': '%s', 'pinned': false}", id);
    expect_channel_event(&room, "CHANNEL_PINS_UPDATE", "{}");
    expect(client_get(bob, "/channels/%s/pins", v.channel).json->count == 0);
    for (int i = 1; i <= 250; i++)
        world_sql(w,
                  "insert into messages (id, channel_id, author_id, pinned) values (%d, %s, %s, 1)",
                  i, v.channel, ada->id);
    expect_error(client_put(ada, NULL, "/channels/%s/pins/%s", v.channel, id), 400, 30003);
    world_sql(w, "delete from messages where id = 1");
    expect_status(client_put(ada, NULL, "/channels/%s/pins/%s", v.channel, id), 204);
}

const struct test pins_tests[] = {
    TEST(pinning_and_unpinning_are_in_the_audit_log),
    TEST(newer_pin_routes_list_pins_with_timestamps),
    TEST(messages_can_be_pinned_and_unpinned),
    { 0 },
};
