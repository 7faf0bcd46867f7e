/* system_messages.c - join messages of guilds. */
#include <stdio.h>

#include "guilds.h"
#include "apps.h"
#include "test_guild.h"

static const char *create_invite(struct client *c, const char *guild)
{
    struct answer a = client_get(c, "/guilds/%s", guild);

    a = client_post(c, "{'unique': true}", "/channels/%s/invites",
                    answer_text(a, "system_channel_id"));
    expect_status(a, 200);
    return answer_text(a, "code");
}

static void joining_a_guild_sends_a_join_message_once(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    const char *guild = found_guild(ada, "Home"), *code = create_invite(ada, guild);
    const char *lobby = answer_text(client_get(ada, "/guilds/%s", guild), "system_channel_id");

    discard_received(w);
    expect_status(client_post(bob, "{}", "/invites/%s", code), 200);
    expect_received(w, audience_of_guild(id_of(guild)), "GUILD_MEMBER_ADD",
                    "{'user': {'id': '%s'}}", bob->id);
    expect_received(
        w, system_viewers(w, guild), "MESSAGE_CREATE",
        "{'type': 7, 'content': '', 'channel_id': '%s', 'guild_id': '%s', 'mentions': [], "
        "'author': {'id': '%s'}, 'member': {'roles': []}}",
        lobby, guild, bob->id);
    expect_nothing_received(w);
    /* A second join of the same member sends no message. */
    expect_status(client_post(bob, "{}", "/invites/%s", code), 200);
    expect_nothing_received(w);

    struct answer a = client_get(ada, "/channels/%s/messages", lobby);
    expect_json(a, "[{'type': 7, 'author': {'id': '%s'}}]", bob->id);
    const char *id = answer_text(a, "0.id");
    expect_json(client_get(ada, "/channels/%s", lobby), "{'last_message_id': '%s'}", id);
    /* A reply is allowed; nobody can edit the message; the new member may delete it. */
    a = client_post(ada,
                    TEXT(w, "{'content': 'hi', 'message_reference': {'message_id': '%s'}}", id),
                    "/channels/%s/messages", lobby);
    expect_json(a, "{'type': 19, 'referenced_message': {'id': '%s'}}", id);
    expect_error(client_patch(bob, "{'content': 'x'}", "/channels/%s/messages/%s", lobby, id), 403,
                 50021);
    expect_status(client_delete(bob, "/channels/%s/messages/%s", lobby, id), 204);
}

static void system_channel_flags_disable_join_messages(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    const char *guild = found_guild(ada, "Home"), *code = create_invite(ada, guild);
    const char *lobby = answer_text(client_get(ada, "/guilds/%s", guild), "system_channel_id");
    static const char *const quiet[] = {
        "{'system_channel_flags': 1}",
        "{'system_channel_flags': 0, 'system_channel_id': null}",
    };

    for (int i = 0; i < 2; i++) {
        expect_status(client_patch(ada, quiet[i], "/guilds/%s", guild), 200);
        expect_status(client_post(world_client(w, i ? "cleo" : "bob"), "{}", "/invites/%s", code),
                      200);
        expect(client_get(ada, "/channels/%s/messages", lobby).json->count == 0);
    }
    /* Other flags have no effect. */
    expect_status(
        client_patch(ada, TEXT(w, "{'system_channel_flags': 30, 'system_channel_id': '%s'}", lobby),
                     "/guilds/%s", guild),
        200);
    expect_status(client_post(world_client(w, "dan"), "{}", "/invites/%s", code), 200);
    expect(client_get(ada, "/channels/%s/messages", lobby).json->count == 1);
    /* A deleted system channel does not prevent joining. */
    world_sql(w, "update guilds set system_channel_id = 77 where id = %s", guild);
    expect_status(client_post(world_client(w, "eve"), "{}", "/invites/%s", code), 200);
}

const struct test system_messages_tests[] = {
    TEST(joining_a_guild_sends_a_join_message_once),
    TEST(system_channel_flags_disable_join_messages),
    { 0 },
};
