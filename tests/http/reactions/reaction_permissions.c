/* reaction_permissions.c - who may react to which messages, and with which emojis. */
#include "apps.h"
#include "channels.h"
#include "people.h"
#include "channel_events.h"
#include "test_guild.h"

#define MESSAGES  "/channels/%s/messages"
#define REACTIONS MESSAGES "/%s/reactions"
#define OWN       REACTIONS "/%s/@me"
#define THUMB     "%F0%9F%91%8D"
#define FIRE      "%F0%9F%94%A5"

static const char *send_message(struct client *c, const char *channel)
{
    return answer_text(client_post(c, "{'content': 'hello'}", MESSAGES, channel), "id");
}

static void remove_everyone_permission(struct test_guild *v, uint64_t right)
{
    world_sql(v->world, "update roles set permissions = permissions & ~%lld where id = %s",
              (long long)right, v->id);
}

static void only_a_new_emoji_requires_add_reactions(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *eve = world_client(w, "eve");
    struct test_guild v = world_test_guild(w, ada);
    const char *m = send_message(ada, v.channel);

    test_guild_add(&v, bob);
    remove_everyone_permission(&v, PERMISSION(ADD_REACTIONS));
    expect_error(client_put(bob, NULL, OWN, v.channel, m, THUMB), 403, 50013);
    expect_status(client_put(ada, NULL, OWN, v.channel, m, THUMB), 204);
    expect_status(client_put(bob, NULL, OWN, v.channel, m, THUMB), 204);
    /* After its last reaction is removed, the emoji is new again. */
    client_delete(ada, OWN, v.channel, m, THUMB);
    client_delete(bob, OWN, v.channel, m, THUMB);
    expect_error(client_put(bob, NULL, OWN, v.channel, m, THUMB), 403, 50013);
    expect_error(client_put(eve, NULL, OWN, v.channel, m, THUMB), 403, 50001);
    expect_error(client_put(ada, NULL, OWN, v.channel, "1", THUMB), 404, 10008);
    expect_error(client_put(ada, NULL, OWN, "1", m, THUMB), 404, 10003);
    remove_everyone_permission(&v, PERMISSION(READ_MESSAGE_HISTORY));
    client_put(ada, NULL, OWN, v.channel, m, THUMB);
    expect_error(client_put(bob, NULL, OWN, v.channel, m, THUMB), 403, 50013);
    /* The permission is checked before the emoji. */
    expect_error(client_put(bob, NULL, OWN, v.channel, m, "x"), 403, 50013);
    expect_error(client_delete(bob, OWN, v.channel, m, THUMB), 403, 50013);
    expect_error(client_get(bob, REACTIONS "/%s", v.channel, m, THUMB), 403, 50013);
}

static void timed_out_members_cannot_react(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);
    const char *m = send_message(ada, v.channel);

    test_guild_add(&v, bob);
    client_put(ada, NULL, OWN, v.channel, m, THUMB);
    world_sql(w, "update members set timed_out_until = 9000000000000000 where user_id = %s",
              bob->id);
    expect_error(client_put(bob, NULL, OWN, v.channel, m, THUMB), 403, 50013);
    expect_error(client_put(bob, NULL, OWN, v.channel, m, FIRE), 403, 50013);
}

static void archived_threads_refuse_reactions(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    const char *thread = answer_text(
        client_post(ada, "{'name': 't', 'type': 11}", "/channels/%s/threads", v.channel), "id");
    const char *m = send_message(ada, thread);
    struct channel_events room = world_channel_events(w, thread);

    expect_status(client_put(ada, NULL, OWN, thread, m, THUMB), 204);
    expect_channel_event(&room, "MESSAGE_REACTION_ADD", "{'guild_id': '%s', 'channel_id': '%s'}",
                         v.id, thread);
    expect_channel_silence(&room);
    expect_status(client_patch(ada, "{'archived': true}", "/channels/%s", thread), 200);
    expect_error(client_put(ada, NULL, OWN, thread, m, FIRE), 400, 50083);
    expect_error(client_put(ada, NULL, OWN, thread, m, "x"), 400, 50083);
    expect_error(client_delete(ada, OWN, thread, m, THUMB), 400, 50083);
}

static void message_is_limited_to_20_different_emojis(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);
    const char *m = send_message(ada, v.channel);

    test_guild_add(&v, bob);
    for (int i = 0; i < 20; i++)
        expect_status(
            client_put(ada, NULL, OWN, v.channel, m, TEXT(w, "%%F0%%9F%%90%%%02X", 0x80 + i)), 204);
    expect_error(client_put(ada, NULL, OWN, v.channel, m, THUMB), 403, 30010);
    expect_status(client_put(bob, NULL, OWN, v.channel, m, "%F0%9F%90%80"), 204);
    expect_status(client_delete(ada, OWN, v.channel, m, "%F0%9F%90%81"), 204);
    expect_status(client_put(ada, NULL, OWN, v.channel, m, THUMB), 204);
    expect_error(client_put(ada, NULL, OWN, v.channel, m, FIRE), 403, 30010);
}

static void blocked_users_cannot_react_to_the_blockers_messages(struct world *w)
{
    struct people p = world_people(w);
    struct test_guild v = world_test_guild(w, p.ada);
    const char *m = send_message(p.ada, v.channel);

    test_guild_add(&v, p.bob);
    const char *bobs = send_message(p.bob, v.channel);
    block_user(p.ada, p.bob);
    expect_error(client_put(p.bob, NULL, OWN, v.channel, m, THUMB), 403, 90001);
    client_put(p.ada, NULL, OWN, v.channel, m, THUMB);
    expect_error(client_put(p.bob, NULL, OWN, v.channel, m, THUMB), 403, 90001);
    /* The blocking user may react. */
    expect_status(client_put(p.ada, NULL, OWN, v.channel, bobs, THUMB), 204);
}

static void direct_channel_reactions_require_being_a_recipient(struct world *w)
{
    struct people p = world_people(w);

    make_friends(p.ada, p.bob);
    struct answer a =
        client_post(p.ada, TEXT(w, "{'recipient_id': '%s'}", p.bob->id), "/users/@me/channels");
    const char *channel = answer_text(a, "id"), *m = send_message(p.ada, channel);
    struct channel_events room = world_channel_events(w, channel);

    expect_status(client_put(p.bob, NULL, OWN, channel, m, THUMB), 204);
    expect_channel_event(&room, "MESSAGE_REACTION_ADD",
                         "{'user_id': '%s', 'channel_id': '%s', 'message_author_id': '%s'}",
                         p.bob->id, channel, p.ada->id);
    expect(!dom_at(world_last_event(w, "MESSAGE_REACTION_ADD"), "guild_id"));
    expect(!dom_at(world_last_event(w, "MESSAGE_REACTION_ADD"), "member"));
    expect_error(client_delete(p.ada, REACTIONS "/%s/%s", channel, m, THUMB, p.bob->id), 403,
                 50003);
    expect_error(client_delete(p.ada, REACTIONS "/%s", channel, m, THUMB), 403, 50003);
    expect_error(client_delete(p.ada, REACTIONS, channel, m), 403, 50003);
    expect_status(client_delete(p.bob, REACTIONS "/%s/%s", channel, m, THUMB, p.bob->id), 204);
    expect_channel_event(&room, "MESSAGE_REACTION_REMOVE", "{'user_id': '%s'}", p.bob->id);
    expect_error(client_put(p.eve, NULL, OWN, channel, m, THUMB), 403, 50001);
}

static void custom_emoji_reaction_requires_access_to_the_emoji(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada),
                      other = world_test_guild(w, world_client(w, "eve"));
    const char *role = test_guild_role(&v, 1, 0), *m = send_message(ada, v.channel);

    test_guild_add(&v, bob);
    world_sql(w,
              "insert into emojis (id, guild_id, name, roles) values (72, %s, 'some', '[\"%s\"]')",
              v.id, role);
    world_sql(w, "insert into emojis (id, guild_id, name) values (73, %s, 'there')", other.id);
    expect_error(client_put(bob, NULL, OWN, v.channel, m, "some:72"), 400, 10014);
    test_guild_give(&v, bob, role);
    expect_status(client_put(bob, NULL, OWN, v.channel, m, "some:72"), 204);
    expect_status(client_put(ada, NULL, OWN, v.channel, m, "some:72"), 204);
    expect_error(client_put(bob, NULL, OWN, v.channel, m, "there:73"), 400, 10014);
    test_guild_add(&other, bob);
    remove_everyone_permission(&v, PERMISSION(USE_EXTERNAL_EMOJIS));
    expect_error(client_put(bob, NULL, OWN, v.channel, m, "there:73"), 400, 10014);
    world_sql(w, "update roles set permissions = permissions | 262144 where id = %s", v.id);
    expect_status(client_put(bob, NULL, OWN, v.channel, m, "there:73"), 204);
}

static void application_emoji_can_be_used_first_only_by_its_bot(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    const char *app = make_application(ada, "Helper"), *m = send_message(ada, v.channel);
    struct client *bot = application_bot(ada, app);

    test_guild_add(&v, bot);
    remove_everyone_permission(&v, PERMISSION(USE_EXTERNAL_EMOJIS));
    world_sql(w, "insert into application_emojis (id, application_id, name) values (75, %s, 'own')",
              app);
    expect_error(client_put(ada, NULL, OWN, v.channel, m, "own:75"), 400, 10014);
    expect_status(client_put(bot, NULL, OWN, v.channel, m, "own:75"), 204);
    expect_status(client_put(ada, NULL, OWN, v.channel, m, "own:75"), 204);
    expect_error(client_put(bot, NULL, OWN "?type=1", v.channel, m, THUMB), 403, 90002);
}

static void burst_reactions_are_counted_separately(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);
    const char *m = send_message(ada, v.channel);
    struct channel_events room = world_channel_events(w, v.channel);

    test_guild_add(&v, bob);
    expect_error(client_put(bob, NULL, OWN "?type=1", v.channel, m, THUMB), 403, 90002);
    world_sql(w, "update users set premium_type = 1 where id = %s", ada->id);
    expect_status(client_put(ada, NULL, OWN "?type=1", v.channel, m, THUMB), 204);
    expect_channel_event(&room, "MESSAGE_REACTION_ADD",
                         "{'burst': true, 'type': 1, 'burst_colors': []}");
    expect_status(client_put(ada, NULL, OWN, v.channel, m, THUMB), 204);
    expect_channel_event(&room, "MESSAGE_REACTION_ADD", "{'burst': false, 'type': 0}");
    expect_json(client_get(ada, MESSAGES, v.channel),
                "[{'reactions': [{'count': 2, 'count_details': {'normal': 1, 'burst': 1}, "
                "'me': true, 'me_burst': true}]}]");
    expect_json(client_get(ada, REACTIONS "/%s?type=1", v.channel, m, THUMB), "[{'id': '%s'}]",
                ada->id);
    expect_status(client_delete(ada, REACTIONS "/%s/1/@me", v.channel, m, THUMB), 204);
    expect_channel_event(&room, "MESSAGE_REACTION_REMOVE", "{'burst': true, 'type': 1}");
    expect_json(client_get(ada, MESSAGES, v.channel),
                "[{'reactions': [{'count': 1, 'me': true, 'me_burst': false}]}]");
}

static void configure_premium_required(struct config *config)
{
    config->everybody_is_premium = false;
}

static void reactions_are_limited_to_four_per_second(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    const char *m = send_message(ada, v.channel);

    for (int i = 0; i < 2; i++) {
        expect_status(client_put(ada, NULL, OWN, v.channel, m, THUMB), 204);
        expect_status(client_delete(ada, OWN, v.channel, m, THUMB), 204);
    }
    expect_status(client_put(ada, NULL, OWN, v.channel, m, THUMB), 429);
    world_wait(w, 1);
    expect_status(client_put(ada, NULL, OWN, v.channel, m, THUMB), 204);
}

static void configure_enabled_rate_limits(struct config *config)
{
    config->rate_limits = true;
}

const struct test reaction_permissions_tests[] = {
    TEST(only_a_new_emoji_requires_add_reactions),
    TEST(timed_out_members_cannot_react),
    TEST(archived_threads_refuse_reactions),
    TEST(message_is_limited_to_20_different_emojis),
    TEST(blocked_users_cannot_react_to_the_blockers_messages),
    TEST(direct_channel_reactions_require_being_a_recipient),
    TEST(custom_emoji_reaction_requires_access_to_the_emoji),
    TEST(application_emoji_can_be_used_first_only_by_its_bot),
    TEST_WITH(burst_reactions_are_counted_separately, configure_premium_required),
    TEST_WITH(reactions_are_limited_to_four_per_second, configure_enabled_rate_limits),
    { 0 },
};
