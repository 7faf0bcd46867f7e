/* read_states.c - how far people have read: acks, their events, READY, and what calls them. */
#include "channels.h"
#include "gateway_conn.h"
#include "channel_events.h"
#include "test_guild.h"

#define ACK "/channels/%s/messages/%s/ack"

static const char *say(struct client *c, const char *channel, const char *content)
{
    struct answer a = client_post(c, TEXT(c->world, "{'content': '%s'}", content),
                                  "/channels/%s/messages", channel);

    expect_status(a, 200);
    return answer_text(a, "id");
}

/* What READY of a new session says. */
static void expect_ready(struct client *c, const char *capabilities, const char *json)
{
    struct gateway_conn *g = conn_open(c, "v=9&encoding=json");

    expect_op(g, 10);
    conn_identify(g, TEXT(c->world, "'capabilities': %s", capabilities));
    expect_dispatch(g, "READY", "%s", json);
    conn_close(g, 1000);
}

/* --- acks ----------------------------------------------------------------------------- */

static void an_ack_is_told_to_the_account_alone_and_kept(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);

    test_guild_add(&v, bob);
    const char *m = say(ada, v.channel, "one"), *n = say(ada, v.channel, "two");
    client_connect(bob);
    struct channel_events room = world_channel_events(w, v.channel);
    expect_json(client_post(bob, NULL, ACK, v.channel, n), "{'token': null}");
    expect_event(bob, "MESSAGE_ACK", "{'channel_id': '%s', 'message_id': '%s', 'version': 1}",
                 v.channel, n);
    expect_channel_silence(&room);
    /* Without `manual` nothing goes back. */
    expect_json(client_post(bob, "{'token': 'x'}", ACK, v.channel, m), "{'token': null}");
    expect_silence(bob);
    expect_json(client_post(bob,
                            "{'manual': true, 'mention_count': 3, 'flags': 1, 'last_viewed': 7}",
                            ACK, v.channel, m),
                "{'token': null}");
    expect_event(bob, "MESSAGE_ACK",
                 "{'message_id': '%s', 'version': 2, 'manual': true, 'mention_count': 3, 'flags': "
                 "1, 'last_viewed': 7}",
                 m);
    expect_ready(bob, "4",
                 TEXT(w,
                      "{'read_state': {'entries': [{'id': '%s', 'last_message_id': '%s', "
                      "'mention_count': 3, 'flags': 1, 'last_viewed': 7}], 'partial': false, "
                      "'version': 2}}",
                      v.channel, m));
}

static void what_was_read_last_need_not_be_there(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);

    client_connect(ada);
    expect_status(client_post(ada, "{}", ACK, v.channel, "9000000000000000000"), 200);
    expect_event(ada, "MESSAGE_ACK", "{'message_id': '9000000000000000000', 'version': 1}");
}

static void acks_are_refused_where_nothing_is_seen(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *eve = world_client(w, "eve");
    struct test_guild v = world_test_guild(w, ada);
    const char *m = say(ada, v.channel, "one");

    expect_error(client_post(eve, "{}", ACK, v.channel, m), 403, 50001);
    expect_error(client_post(ada, "{}", ACK, "1", m), 404, 10003);
    expect_invalid(client_post(ada, "{'mention_count': 'many'}", ACK, v.channel, m),
                   "mention_count", "NUMBER_TYPE_COERCE");
    expect_error(client_post(world_bot(w, "robot"), "{}", ACK, v.channel, m), 403, 20001);
    expect(world_number(w, "select count(*) from read_states where user_id = %s", eve->id) == 0);
}

static void pins_are_acknowledged_once_there_are_some(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    const char *m = say(ada, v.channel, "one");

    expect_status(client_post(ada, NULL, "/channels/%s/pins/ack", v.channel), 204);
    expect_silence(ada);
    client_put(ada, NULL, "/channels/%s/pins/%s", v.channel, m);
    client_connect(ada);
    expect_status(client_post(ada, NULL, "/channels/%s/pins/ack", v.channel), 204);
    expect_event(ada, "CHANNEL_PINS_ACK", "{'channel_id': '%s', 'version': 1}", v.channel);
}

static void a_guild_is_read_at_once(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);
    const char *other = make_channel(ada, v.id, "{'name': 'other'}");
    const char *secret = make_channel(
        ada, v.id,
        TEXT(w,
             "{'name': 'secret', 'permission_overwrites': [{'id': '%s', 'type': 0, 'deny': "
             "'1024'}]}",
             v.id));

    test_guild_add(&v, bob);
    const char *m = say(ada, v.channel, "one");
    say(ada, other, "two");
    say(ada, secret, "three");
    client_post(bob, "{}", ACK, v.channel, m);
    expect_status(client_post(bob, NULL, "/guilds/%s/ack", v.id), 204);
    expect(world_number(w, "select count(*) from read_states where user_id = %s", bob->id) == 2);
    expect(world_number(w, "select version from read_versions where user_id = %s", bob->id) == 2);
    expect_status(client_post(bob, NULL, "/guilds/%s/ack", v.id), 204);
    expect(world_number(w, "select version from read_versions where user_id = %s", bob->id) == 2);
}

static void what_is_no_channel_has_states_too(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);

    client_connect(ada);
    expect_json(client_post(ada, "{}", "/guilds/%s/ack/1/77", v.id), "{'token': null}");
    expect_event(ada, "GUILD_FEATURE_ACK",
                 "{'ack_type': 1, 'resource_id': '%s', 'entity_id': '77', 'version': 1}", v.id);
    expect_invalid(client_post(ada, "{}", "/guilds/%s/ack/2/77", v.id), "type",
                   "BASE_TYPE_CHOICES");
    expect_json(client_post(ada, "{}", "/users/@me/2/78/ack"), "{'token': null}");
    expect_event(ada, "USER_NON_CHANNEL_ACK",
                 "{'ack_type': 2, 'resource_id': '%s', 'entity_id': '78', 'version': 2}", ada->id);
    expect_invalid(client_post(ada, "{}", "/users/@me/1/78/ack"), "type", "BASE_TYPE_CHOICES");
    /* Clients that do not know of them do not get them. */
    expect_ready(ada, "0", "{'read_state': []}");
    expect_ready(ada, "128",
                 TEXT(w,
                      "{'read_state': [{'id': '%s', 'read_state_type': 1, 'last_acked_id': '77', "
                      "'badge_count': 0}, {'id': '%s', 'read_state_type': 2, 'last_acked_id': "
                      "'78'}]}",
                      v.id, ada->id));
}

static void many_states_are_acknowledged_together(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada), elsewhere = world_test_guild(w, bob);

    client_connect(ada);
    expect_status(client_post(ada,
                              TEXT(w,
                                   "{'read_states': [{'channel_id': '%s', 'message_id': '50'}, "
                                   "{'channel_id': '%s', 'message_id': '51'}, {'channel_id': '%s', "
                                   "'message_id': '0'}, {'read_state_type': 3, 'channel_id': '%s', "
                                   "'message_id': '52'}]}",
                                   v.channel, elsewhere.channel, v.channel, v.id),
                              "/read-states/ack-bulk"),
                  204);
    expect_event(ada, "MESSAGE_ACK", "{'channel_id': '%s', 'message_id': '50', 'version': 1}",
                 v.channel);
    expect_event(ada, "GUILD_FEATURE_ACK", "{'ack_type': 3, 'entity_id': '52', 'version': 2}");
    expect_silence(ada);
    expect_invalid(client_post(ada, "{'read_states': []}", "/read-states/ack-bulk"), "read_states",
                   "BASE_TYPE_BAD_LENGTH");
    /* And forgotten, also what is gone. */
    expect_status(client_request(ada, "DELETE",
                                 TEXT(w, "/api/v9/channels/%s/messages/ack", v.channel),
                                 "Content-Type: application/json\r\n", STR("{\"version\": 1}")),
                  204);
    expect(world_number(w, "select count(*) from read_states where kind = 0") == 1);
    expect_status(client_request(ada, "DELETE",
                                 TEXT(w, "/api/v9/channels/%s/messages/ack", v.channel),
                                 "Content-Type: application/json\r\n", STR("{\"version\": 2}")),
                  204);
    expect(world_number(w, "select count(*) from read_states where kind = 0") == 0);
}

/* --- what messages change ------------------------------------------------------------- */

static void own_messages_are_read_and_mentions_are_counted(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *eve = world_client(w, "eve");
    struct test_guild v = world_test_guild(w, ada);
    const char *role = test_guild_role(&v, 1, 0);

    test_guild_add(&v, bob);
    test_guild_add(&v, eve);
    test_guild_give(&v, bob, role);
    say(ada, v.channel, TEXT(w, "<@%s>", bob->id));
    say(ada, v.channel, "@everyone");
    say(ada, v.channel, TEXT(w, "<@&%s>", role));
    say(ada, v.channel, TEXT(w, "@everyone and <@%s>", bob->id));
    const char *last = say(ada, v.channel, "quiet");
    expect_ready(bob, "0",
                 TEXT(w,
                      "{'read_state': [{'id': '%s', 'last_message_id': '0', 'mention_count': "
                      "4}]}",
                      v.channel));
    expect_ready(eve, "0",
                 TEXT(w, "{'read_state': [{'id': '%s', 'mention_count': 2}]}", v.channel));
    expect_ready(ada, "0",
                 TEXT(w,
                      "{'read_state': [{'id': '%s', 'last_message_id': '%s', 'mention_count': "
                      "0}]}",
                      v.channel, last));
    client_post(bob, "{}", ACK, v.channel, last);
    expect_ready(bob, "0", TEXT(w, "{'read_state': [{'mention_count': 0}]}%s", ""));
    /* Nobody got a row for being called. */
    expect(world_number(w, "select count(*) from read_states where user_id = %s", eve->id) == 0);
    /* Who leaves takes the states of the guild along. */
    expect_status(client_delete(bob, "/users/@me/guilds/%s", v.id), 204);
    expect(world_number(w, "select count(*) from read_states where user_id = %s", bob->id) == 0);
}

static void messages_of_private_channels_count(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");

    make_friends(ada, bob);
    const char *dm = answer_text(
        client_post(ada, TEXT(w, "{'recipient_id': '%s'}", bob->id), "/users/@me/channels"), "id");
    say(ada, dm, "one");
    const char *m = say(ada, dm, "two");
    expect_ready(bob, "0", TEXT(w, "{'read_state': [{'id': '%s', 'mention_count': 2}]}", dm));
    client_post(bob, "{}", ACK, dm, m);
    say(ada, dm, "three");
    expect_ready(bob, "0",
                 TEXT(w,
                      "{'read_state': [{'id': '%s', 'last_message_id': '%s', 'mention_count': "
                      "1}]}",
                      dm, m));
    say(bob, dm, "four");
    expect_ready(bob, "0", "{'read_state': [{'mention_count': 0}]}");
}

static void those_who_are_blocked_call_nobody(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);

    test_guild_add(&v, bob);
    expect_status(client_put(bob, "{'type': 2}", "/users/@me/relationships/%s", ada->id), 204);
    say(ada, v.channel, TEXT(w, "<@%s>", bob->id));
    expect_ready(bob, "0", "{'read_state': []}");
    expect_json(client_get(bob, "/users/@me/mentions"), "[]");
}

/* --- the inbox ------------------------------------------------------------------------ */

static void mentions_of_a_week_are_listed(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);
    const char *secret = make_channel(ada, v.id, "{'name': 'secret'}");
    const char *role = test_guild_role(&v, 1, 0);

    test_guild_add(&v, bob);
    test_guild_give(&v, bob, role);
    const char *named = say(ada, v.channel, TEXT(w, "named <@%s>", bob->id));
    const char *hidden = say(ada, secret, TEXT(w, "hidden <@%s>", bob->id));
    const char *by_role = say(ada, v.channel, TEXT(w, "role <@&%s>", role));
    const char *all = say(ada, v.channel, "@everyone");
    client_patch(
        ada, TEXT(w, "{'permission_overwrites': [{'id': '%s', 'type': 0, 'deny': '1024'}]}", v.id),
        "/channels/%s", secret);
    expect_json(client_get(bob, "/users/@me/mentions"),
                "[{'id': '%s'}, {'id': '%s'}, {'id': '%s'}]", all, by_role, named);
    expect_json(client_get(bob, "/users/@me/mentions?everyone=false"),
                "[{'id': '%s'}, {'id': '%s'}]", by_role, named);
    expect_json(client_get(bob, "/users/@me/mentions?roles=false&limit=1"), "[{'id': '%s'}]", all);
    expect_json(client_get(bob, "/users/@me/mentions?before=%s", by_role), "[{'id': '%s'}]", named);
    expect_json(client_get(bob, "/users/@me/mentions?guild_id=1"), "[]");
    expect_invalid(client_get(bob, "/users/@me/mentions?limit=101"), "limit", "NUMBER_TYPE_MAX");
    expect_json(client_get(ada, "/users/@me/mentions?everyone=false"), "[]");
    client_connect(bob);
    expect_status(client_delete(bob, "/users/@me/mentions/%s", all), 204);
    expect_event(bob, "RECENT_MENTION_DELETE", "{'message_id': '%s'}", all);
    expect_status(client_delete(bob, "/users/@me/mentions/%s", all), 204);
    expect_silence(bob);
    expect_json(client_get(bob, "/users/@me/mentions"), "[{'id': '%s'}, {'id': '%s'}]", by_role,
                named);
    (void)hidden;
    world_wait(w, 8 * 86400);
    expect_json(client_get(bob, "/users/@me/mentions"), "[]");
}

const struct test read_states_tests[] = {
    TEST(an_ack_is_told_to_the_account_alone_and_kept),
    TEST(what_was_read_last_need_not_be_there),
    TEST(acks_are_refused_where_nothing_is_seen),
    TEST(pins_are_acknowledged_once_there_are_some),
    TEST(a_guild_is_read_at_once),
    TEST(what_is_no_channel_has_states_too),
    TEST(many_states_are_acknowledged_together),
    TEST(own_messages_are_read_and_mentions_are_counted),
    TEST(messages_of_private_channels_count),
    TEST(those_who_are_blocked_call_nobody),
    TEST(mentions_of_a_week_are_listed),
    { 0 },
};
