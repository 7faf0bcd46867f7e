/* private_messages.c - messages in direct channels, and who may send them. */
#include <stdio.h>
#include <stdlib.h>

#include "apps.h"
#include "base/buf.h"
#include "guilds.h"
#include "channel_events.h"
#include "test_guild.h"

#define MESSAGES "/channels/%s/messages"
#define MESSAGE  "/channels/%s/messages/%s"

static const char *open_direct_channel(struct world *w, struct client *a, struct client *b)
{
    char body[100];

    (void)w;
    snprintf(body, sizeof body, "{'recipient_id': '%s'}", b->id);
    struct answer answer = client_post(a, body, "/users/@me/channels");
    expect_status(answer, 200);
    return answer_text(answer, "id");
}

static void first_message_opens_the_direct_channel_for_the_recipient(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *eve = world_client(w, "eve");
    befriend(ada, bob);
    const char *dm = open_direct_channel(w, ada, bob);
    struct channel_events room = world_channel_events(w, dm);

    expect_event(ada, "CHANNEL_CREATE", "{'id': '%s'}", dm);
    expect_silence(bob);
    struct answer a = client_post(ada, "{'content': 'psst @everyone'}", MESSAGES, dm);
    expect_status(a, 200);
    expect_json(a, "{'mention_everyone': false}");
    expect_event(bob, "CHANNEL_CREATE",
                 "{'id': '%s', 'type': 1, 'recipients': [{'id': '%s'}], 'last_message_id': '%s'}",
                 dm, ada->id, answer_text(a, "id"));
    expect_channel_event(&room, "MESSAGE_CREATE",
                         "{'content': 'psst @everyone', 'channel_type': 1}");
    expect_status(client_post(bob, "{'content': 'yes?'}", MESSAGES, dm), 200);
    expect_silence(ada);
    expect_silence(bob);
    expect_error(client_post(eve, "{'content': 'x'}", MESSAGES, dm), 403, 50001);
    /* Permissions exist only in guilds: nobody can delete the other's messages. */
    expect_error(client_delete(bob, MESSAGE, dm, answer_text(a, "id")), 403, 50003);
    expect_error(client_post(bob, "{'messages': ['1', '2']}", MESSAGES "/bulk-delete", dm), 403,
                 50003);
    expect_error(client_patch(bob, "{'flags': 4}", MESSAGE, dm, answer_text(a, "id")), 403, 50005);
    expect_status(client_post(bob, NULL, "/channels/%s/typing", dm), 204);
    expect_status(client_delete(ada, MESSAGE, dm, answer_text(a, "id")), 204);
}

static void block_prevents_direct_messages_in_both_directions(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    const char *dm = open_direct_channel(w, ada, bob);

    befriend(ada, bob);
    say_text(ada, dm, "hi");
    world_sql(w, "update relationships set type = 2 where user_id = %s", bob->id);
    discard_received(w);
    expect_error(client_post(ada, "{'content': 'hi'}", MESSAGES, dm), 403, 50007);
    expect_error(client_post(bob, "{'content': 'hi'}", MESSAGES, dm), 403, 50007);
    expect_error(client_post(ada, NULL, "/channels/%s/typing", dm), 403, 50007);
    expect_error(client_post(bob, NULL, "/channels/%s/typing", dm), 403, 50007);
    expect_nothing_received(w);
    world_sql(w, "update relationships set type = 1");
    say_text(ada, dm, "hi");
}

static void delete_guild_memberships_of_user(const struct client *c)
{
    world_sql(c->world, "delete from members where user_id = %s", c->id);
}

static void direct_message_needs_friend_shared_guild_or_prior_reply(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);
    const char *dm = open_direct_channel(w, ada, bob);

    discard_received(w);
    expect_error(client_post(ada, "{'content': 'hi'}", MESSAGES, dm), 403, 50007);
    expect_error(client_post(ada, NULL, "/channels/%s/typing", dm), 403, 50007);
    expect_nothing_received(w);
    test_guild_add(&v, bob);
    say_text(ada, dm, "hi");
    expect_status(client_post(ada, NULL, "/channels/%s/typing", dm), 204);
    delete_guild_memberships_of_user(bob);
    /* The sender's own messages are no reply. */
    expect_error(client_post(ada, "{'content': 'hi'}", MESSAGES, dm), 403, 50007);
    say_text(bob, dm, "yes?");
    say_text(ada, dm, "hi");
}

static void reply_allows_direct_messages_for_100_messages(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    const char *dm = open_direct_channel(w, ada, bob);

    world_sql(w, "insert into messages (id, channel_id, author_id) values (1, %s, %s)", dm,
              bob->id);
    for (int i = 2; i <= 100; i++)
        world_sql(w, "insert into messages (id, channel_id, author_id) values (%d, %s, %s)", i, dm,
                  ada->id);
    say_text(ada, dm, "hi");
    expect_error(client_post(ada, "{'content': 'hi'}", MESSAGES, dm), 403, 50007);
}

static void deleted_shared_guild_no_longer_allows_direct_messages(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);
    const char *dm = open_direct_channel(w, ada, bob);

    test_guild_add(&v, bob);
    say_text(ada, dm, "hi");
    world_sql(w, "update guilds set removed = 1");
    expect_error(client_post(ada, "{'content': 'hi'}", MESSAGES, dm), 403, 50007);
}

static void bot_can_reply_to_direct_messages_without_a_shared_guild(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *helper = world_bot(w, "helper");
    struct test_guild v = world_test_guild(w, ada);
    const char *dm = open_direct_channel(w, helper, ada);

    expect_error(client_post(helper, "{'content': 'hi'}", MESSAGES, dm), 403, 50278);
    expect_error(client_post(helper, NULL, "/channels/%s/typing", dm), 403, 50278);
    expect_error(client_post(ada, "{'content': 'hi'}", MESSAGES, dm), 403, 50007);
    test_guild_add(&v, helper);
    say_text(ada, dm, "help");
    delete_guild_memberships_of_user(helper);
    say_text(helper, dm, "hi");
    expect_status(client_post(helper, NULL, "/channels/%s/typing", dm), 204);
}

static void bot_can_message_users_it_shares_a_guild_with(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *helper = world_bot(w, "helper");
    struct test_guild v = world_test_guild(w, ada);
    test_guild_add(&v, helper);
    const char *dm = open_direct_channel(w, helper, ada);

    say_text(helper, dm, "hi");
    world_sql(w, "delete from members where user_id = %s", helper->id);
    expect_error(client_post(helper, "{'content': 'hi'}", MESSAGES, dm), 403, 50278);
    say_text(ada, dm, "hi");
}

/* --- settings of the recipient -------------------------------------------------------- */

static const char *dm_between(struct client *from, struct client *to)
{
    return answer_text(
        client_post(from, str_printf(world_arena(from->world), "{'recipient_id': '%s'}", to->id).p,
                    "/users/@me/channels"),
        "id");
}

static void restricted_guilds_setting_blocks_messages_of_its_members(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *robot = world_bot(w, "robot");
    struct test_guild v = world_test_guild(w, ada);

    test_guild_add(&v, bob);
    test_guild_add(&v, robot);
    const char *dm = dm_between(bob, ada), *with_bot = dm_between(robot, ada);
    expect_status(client_patch(ada,
                               str_printf(world_arena(w), "{'restricted_guilds': ['%s']}", v.id).p,
                               "/users/@me/settings"),
                  200);
    expect_error(client_post(bob, "{'content': 'x'}", "/channels/%s/messages", dm), 403, 50007);
    expect_error(client_post(robot, "{'content': 'x'}", "/channels/%s/messages", with_bot), 403,
                 50278);
    /* The other direction is allowed, and the recipient may then reply. */
    expect_status(client_post(ada, "{'content': 'x'}", "/channels/%s/messages", dm), 200);
    expect_status(client_post(bob, "{'content': 'x'}", "/channels/%s/messages", dm), 200);
}

static void default_guilds_restricted_applies_to_joined_guilds(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);
    const char *code =
        answer_text(client_post(ada, "{}", "/channels/%s/invites", v.channel), "code");

    expect_status(client_patch(bob, "{'default_guilds_restricted': true}", "/users/@me/settings"),
                  200);
    expect_event(bob, "USER_SETTINGS_UPDATE", "{'default_guilds_restricted': true}");
    expect_status(client_post(bob, "{}", "/invites/%s", code), 200);
    expect_event(bob, "USER_SETTINGS_UPDATE", "{'restricted_guilds': ['%s']}", v.id);
    expect_json(client_get(bob, "/users/@me/settings"), "{'restricted_guilds': ['%s']}", v.id);
    expect_error(
        client_post(ada, "{'content': 'x'}", "/channels/%s/messages", dm_between(ada, bob)), 403,
        50007);
}

const struct test private_messages_tests[] = {
    TEST(first_message_opens_the_direct_channel_for_the_recipient),
    TEST(block_prevents_direct_messages_in_both_directions),
    TEST(direct_message_needs_friend_shared_guild_or_prior_reply),
    TEST(reply_allows_direct_messages_for_100_messages),
    TEST(deleted_shared_guild_no_longer_allows_direct_messages),
    TEST(bot_can_reply_to_direct_messages_without_a_shared_guild),
    TEST(bot_can_message_users_it_shares_a_guild_with),
    TEST(restricted_guilds_setting_blocks_messages_of_its_members),
    TEST(default_guilds_restricted_applies_to_joined_guilds),
    { 0 },
};
