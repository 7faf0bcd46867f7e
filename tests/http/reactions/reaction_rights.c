/* reaction_rights.c - who may react to what, and with which emoji. */
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

static const char *say(struct client *c, const char *channel)
{
    return answer_text(client_post(c, "{'content': 'hello'}", MESSAGES, channel), "id");
}

static void everyone_loses(struct test_guild *v, uint64_t right)
{
    world_sql(v->world, "update roles set permissions = permissions & ~%lld where id = %s",
              (long long)right, v->id);
}

static void a_new_emoji_needs_a_right_and_joining_none(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *eve = world_client(w, "eve");
    struct test_guild v = world_test_guild(w, ada);
    const char *m = say(ada, v.channel);

    test_guild_add(&v, bob);
    everyone_loses(&v, PERMISSION(ADD_REACTIONS));
    expect_error(client_put(bob, NULL, OWN, v.channel, m, THUMB), 403, 50013);
    expect_status(client_put(ada, NULL, OWN, v.channel, m, THUMB), 204);
    expect_status(client_put(bob, NULL, OWN, v.channel, m, THUMB), 204);
    /* Once nobody uses it any more, it is a new one again. */
    client_delete(ada, OWN, v.channel, m, THUMB);
    client_delete(bob, OWN, v.channel, m, THUMB);
    expect_error(client_put(bob, NULL, OWN, v.channel, m, THUMB), 403, 50013);
    expect_error(client_put(eve, NULL, OWN, v.channel, m, THUMB), 403, 50001);
    expect_error(client_put(ada, NULL, OWN, v.channel, "1", THUMB), 404, 10008);
    expect_error(client_put(ada, NULL, OWN, "1", m, THUMB), 404, 10003);
    everyone_loses(&v, PERMISSION(READ_MESSAGE_HISTORY));
    client_put(ada, NULL, OWN, v.channel, m, THUMB);
    expect_error(client_put(bob, NULL, OWN, v.channel, m, THUMB), 403, 50013);
    /* The right comes before the name. */
    expect_error(client_put(bob, NULL, OWN, v.channel, m, "x"), 403, 50013);
    expect_error(client_delete(bob, OWN, v.channel, m, THUMB), 403, 50013);
    expect_error(client_get(bob, REACTIONS "/%s", v.channel, m, THUMB), 403, 50013);
}

static void who_is_timed_out_does_not_react(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);
    const char *m = say(ada, v.channel);

    test_guild_add(&v, bob);
    client_put(ada, NULL, OWN, v.channel, m, THUMB);
    world_sql(w, "update members set timed_out_until = 9000000000000000 where user_id = %s",
              bob->id);
    expect_error(client_put(bob, NULL, OWN, v.channel, m, THUMB), 403, 50013);
    expect_error(client_put(bob, NULL, OWN, v.channel, m, FIRE), 403, 50013);
}

static void archived_threads_take_no_reactions(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    const char *thread = answer_text(
        client_post(ada, "{'name': 't', 'type': 11}", "/channels/%s/threads", v.channel), "id");
    const char *m = say(ada, thread);
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

static void a_message_has_at_most_20_emoji(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);
    const char *m = say(ada, v.channel);

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

static void a_block_holds_for_reactions(struct world *w)
{
    struct people p = world_people(w);
    struct test_guild v = world_test_guild(w, p.ada);
    const char *m = say(p.ada, v.channel);

    test_guild_add(&v, p.bob);
    const char *bobs = say(p.bob, v.channel);
    block_user(p.ada, p.bob);
    expect_error(client_put(p.bob, NULL, OWN, v.channel, m, THUMB), 403, 90001);
    client_put(p.ada, NULL, OWN, v.channel, m, THUMB);
    expect_error(client_put(p.bob, NULL, OWN, v.channel, m, THUMB), 403, 90001);
    /* Who blocks is free to react. */
    expect_status(client_put(p.ada, NULL, OWN, v.channel, bobs, THUMB), 204);
}

static void reactions_in_direct_channels_are_their_peoples(struct world *w)
{
    struct people p = world_people(w);

    make_friends(p.ada, p.bob);
    struct answer a =
        client_post(p.ada, TEXT(w, "{'recipient_id': '%s'}", p.bob->id), "/users/@me/channels");
    const char *channel = answer_text(a, "id"), *m = say(p.ada, channel);
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

static void custom_emoji_are_for_those_who_may_use_them(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada),
                      other = world_test_guild(w, world_client(w, "eve"));
    const char *role = test_guild_role(&v, 1, 0), *m = say(ada, v.channel);

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
    everyone_loses(&v, PERMISSION(USE_EXTERNAL_EMOJIS));
    expect_error(client_put(bob, NULL, OWN, v.channel, m, "there:73"), 400, 10014);
    world_sql(w, "update roles set permissions = permissions | 262144 where id = %s", v.id);
    expect_status(client_put(bob, NULL, OWN, v.channel, m, "there:73"), 204);
}

static void an_applications_emoji_is_its_bots(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    const char *app = make_application(ada, "Helper"), *m = say(ada, v.channel);
    struct client *bot = application_bot(ada, app);

    test_guild_add(&v, bot);
    everyone_loses(&v, PERMISSION(USE_EXTERNAL_EMOJIS));
    world_sql(w, "insert into application_emojis (id, application_id, name) values (75, %s, 'own')",
              app);
    expect_error(client_put(ada, NULL, OWN, v.channel, m, "own:75"), 400, 10014);
    expect_status(client_put(bot, NULL, OWN, v.channel, m, "own:75"), 204);
    expect_status(client_put(ada, NULL, OWN, v.channel, m, "own:75"), 204);
    expect_error(client_put(bot, NULL, OWN "?type=1", v.channel, m, THUMB), 403, 90002);
}

static void bursts_are_counted_apart(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);
    const char *m = say(ada, v.channel);
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

static void premium_counts(struct config *config)
{
    config->everybody_is_premium = false;
}

static void four_in_a_second_are_enough(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    const char *m = say(ada, v.channel);

    for (int i = 0; i < 2; i++) {
        expect_status(client_put(ada, NULL, OWN, v.channel, m, THUMB), 204);
        expect_status(client_delete(ada, OWN, v.channel, m, THUMB), 204);
    }
    expect_status(client_put(ada, NULL, OWN, v.channel, m, THUMB), 429);
    world_wait(w, 1);
    expect_status(client_put(ada, NULL, OWN, v.channel, m, THUMB), 204);
}

static void with_limits(struct config *config)
{
    config->rate_limits = true;
}

const struct test reaction_rights_tests[] = {
    TEST(a_new_emoji_needs_a_right_and_joining_none),
    TEST(who_is_timed_out_does_not_react),
    TEST(archived_threads_take_no_reactions),
    TEST(a_message_has_at_most_20_emoji),
    TEST(a_block_holds_for_reactions),
    TEST(reactions_in_direct_channels_are_their_peoples),
    TEST(custom_emoji_are_for_those_who_may_use_them),
    TEST(an_applications_emoji_is_its_bots),
    TEST_WITH(bursts_are_counted_apart, premium_counts),
    TEST_WITH(four_in_a_second_are_enough, with_limits),
    { 0 },
};
