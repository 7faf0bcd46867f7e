/* read_states.c - acknowledging messages, read states in READY, and mention counts. */
#include "channels.h"
#include "gateway_conn.h"
#include "channel_events.h"
#include "test_guild.h"

#define ACK "/channels/%s/messages/%s/ack"

static const char *send_message(struct client *c, const char *channel, const char *content)
{
    struct answer a = client_post(c, TEXT(c->world, "{'content': '%s'}", content),
                                  "/channels/%s/messages", channel);

    expect_status(a, 200);
    return answer_text(a, "id");
}

/* Expects this READY for a new session. */
static void expect_ready_of_new_session(struct client *c, const char *capabilities,
                                        const char *json)
{
    struct gateway_conn *g = conn_open(c, "v=9&encoding=json");

    expect_op(g, 10);
    conn_identify(g, TEXT(c->world, "'capabilities': %s", capabilities));
    expect_dispatch(g, "READY", "%s", json);
    conn_close(g, 1000);
}

/* --- acknowledging -------------------------------------------------------------------- */

static void acknowledging_a_message_is_sent_only_to_the_same_account(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);

    test_guild_add(&v, bob);
    const char *m = send_message(ada, v.channel, "one"), *n = send_message(ada, v.channel, "two");
    client_connect(bob);
    struct channel_events room = world_channel_events(w, v.channel);
    expect_json(client_post(bob, NULL, ACK, v.channel, n), "{'token': null}");
    expect_event(bob, "MESSAGE_ACK", "{'channel_id': '%s', 'message_id': '%s', 'version': 1}",
                 v.channel, n);
    expect_channel_silence(&room);
    /* Without `manual` the read state does not go back. */
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
    expect_ready_of_new_session(
        bob, "4",
        TEXT(w,
             "{'read_state': {'entries': [{'id': '%s', 'last_message_id': '%s', "
             "'mention_count': 3, 'flags': 1, 'last_viewed': 7}], 'partial': false, "
             "'version': 2}}",
             v.channel, m));
}

static void acknowledged_message_need_not_exist(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);

    client_connect(ada);
    expect_status(client_post(ada, "{}", ACK, v.channel, "9000000000000000000"), 200);
    expect_event(ada, "MESSAGE_ACK", "{'message_id': '9000000000000000000', 'version': 1}");
}

static void acknowledging_requires_access_to_the_channel(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *eve = world_client(w, "eve");
    struct test_guild v = world_test_guild(w, ada);
    const char *m = send_message(ada, v.channel, "one");

    expect_error(client_post(eve, "{}", ACK, v.channel, m), 403, 50001);
    expect_error(client_post(ada, "{}", ACK, "1", m), 404, 10003);
    expect_invalid(client_post(ada, "{'mention_count': 'many'}", ACK, v.channel, m),
                   "mention_count", "NUMBER_TYPE_COERCE");
    expect_error(client_post(world_bot(w, "robot"), "{}", ACK, v.channel, m), 403, 20001);
    expect(world_number(w, "select count(*) from read_states where user_id = %s", eve->id) == 0);
}

static void acknowledging_pins_sends_an_event_only_if_there_are_pins(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct test_guild v = world_test_guild(w, ada);
    const char *m = send_message(ada, v.channel, "one");

    expect_status(client_post(ada, NULL, "/channels/%s/pins/ack", v.channel), 204);
    expect_silence(ada);
    client_put(ada, NULL, "/channels/%s/pins/%s", v.channel, m);
    client_connect(ada);
    expect_status(client_post(ada, NULL, "/channels/%s/pins/ack", v.channel), 204);
    expect_event(ada, "CHANNEL_PINS_ACK", "{'channel_id': '%s', 'version': 1}", v.channel);
}

static void acknowledging_a_guild_covers_all_visible_channels(struct world *w)
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
    const char *m = send_message(ada, v.channel, "one");
    send_message(ada, other, "two");
    send_message(ada, secret, "three");
    client_post(bob, "{}", ACK, v.channel, m);
    expect_status(client_post(bob, NULL, "/guilds/%s/ack", v.id), 204);
    expect(world_number(w, "select count(*) from read_states where user_id = %s", bob->id) == 2);
    expect(world_number(w, "select version from read_versions where user_id = %s", bob->id) == 2);
    expect_status(client_post(bob, NULL, "/guilds/%s/ack", v.id), 204);
    expect(world_number(w, "select version from read_versions where user_id = %s", bob->id) == 2);
}

static void guild_and_user_features_have_read_states(struct world *w)
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
    /* Clients without the capability do not get them. */
    expect_ready_of_new_session(ada, "0", "{'read_state': []}");
    expect_ready_of_new_session(
        ada, "128",
        TEXT(w,
             "{'read_state': [{'id': '%s', 'read_state_type': 1, 'last_acked_id': '77', "
             "'badge_count': 0}, {'id': '%s', 'read_state_type': 2, 'last_acked_id': "
             "'78'}]}",
             v.id, ada->id));
}

static void read_states_can_be_acknowledged_in_bulk_and_deleted(struct world *w)
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
    /* Read states can be deleted, also of deleted channels. */
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

/* --- effects of messages -------------------------------------------------------------- */

static void own_messages_are_read_and_mentions_are_counted(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob"),
                  *eve = world_client(w, "eve");
    struct test_guild v = world_test_guild(w, ada);
    const char *role = test_guild_role(&v, 1, 0);

    test_guild_add(&v, bob);
    test_guild_add(&v, eve);
    test_guild_give(&v, bob, role);
    send_message(ada, v.channel, TEXT(w, "<@%s>", bob->id));
    send_message(ada, v.channel, "@everyone");
    send_message(ada, v.channel, TEXT(w, "<@&%s>", role));
    send_message(ada, v.channel, TEXT(w, "@everyone and <@%s>", bob->id));
    const char *last = send_message(ada, v.channel, "quiet");
    expect_ready_of_new_session(
        bob, "0",
        TEXT(w,
             "{'read_state': [{'id': '%s', 'last_message_id': '0', 'mention_count': "
             "4}]}",
             v.channel));
    expect_ready_of_new_session(
        eve, "0", TEXT(w, "{'read_state': [{'id': '%s', 'mention_count': 2}]}", v.channel));
    expect_ready_of_new_session(
        ada, "0",
        TEXT(w,
             "{'read_state': [{'id': '%s', 'last_message_id': '%s', 'mention_count': "
             "0}]}",
             v.channel, last));
    client_post(bob, "{}", ACK, v.channel, last);
    expect_ready_of_new_session(bob, "0", TEXT(w, "{'read_state': [{'mention_count': 0}]}%s", ""));
    /* A mention creates no row. */
    expect(world_number(w, "select count(*) from read_states where user_id = %s", eve->id) == 0);
    /* Leaving a guild deletes its read states. */
    expect_status(client_delete(bob, "/users/@me/guilds/%s", v.id), 204);
    expect(world_number(w, "select count(*) from read_states where user_id = %s", bob->id) == 0);
}

static void all_messages_of_private_channels_count_as_mentions(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");

    make_friends(ada, bob);
    const char *dm = answer_text(
        client_post(ada, TEXT(w, "{'recipient_id': '%s'}", bob->id), "/users/@me/channels"), "id");
    send_message(ada, dm, "one");
    const char *m = send_message(ada, dm, "two");
    expect_ready_of_new_session(bob, "0",
                                TEXT(w, "{'read_state': [{'id': '%s', 'mention_count': 2}]}", dm));
    client_post(bob, "{}", ACK, dm, m);
    send_message(ada, dm, "three");
    expect_ready_of_new_session(
        bob, "0",
        TEXT(w,
             "{'read_state': [{'id': '%s', 'last_message_id': '%s', 'mention_count': "
             "1}]}",
             dm, m));
    send_message(bob, dm, "four");
    expect_ready_of_new_session(bob, "0", "{'read_state': [{'mention_count': 0}]}");
}

static void mentions_by_blocked_users_are_not_counted(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);

    test_guild_add(&v, bob);
    expect_status(client_put(bob, "{'type': 2}", "/users/@me/relationships/%s", ada->id), 204);
    send_message(ada, v.channel, TEXT(w, "<@%s>", bob->id));
    expect_ready_of_new_session(bob, "0", "{'read_state': []}");
    expect_json(client_get(bob, "/users/@me/mentions"), "[]");
}

/* --- recent mentions ------------------------------------------------------------------ */

static void recent_mentions_of_a_week_are_listed(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bob = world_client(w, "bob");
    struct test_guild v = world_test_guild(w, ada);
    const char *secret = make_channel(ada, v.id, "{'name': 'secret'}");
    const char *role = test_guild_role(&v, 1, 0);

    test_guild_add(&v, bob);
    test_guild_give(&v, bob, role);
    const char *named = send_message(ada, v.channel, TEXT(w, "named <@%s>", bob->id));
    const char *hidden = send_message(ada, secret, TEXT(w, "hidden <@%s>", bob->id));
    const char *by_role = send_message(ada, v.channel, TEXT(w, "role <@&%s>", role));
    const char *all = send_message(ada, v.channel, "@everyone");
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
    TEST(acknowledging_a_message_is_sent_only_to_the_same_account),
    TEST(acknowledged_message_need_not_exist),
    TEST(acknowledging_requires_access_to_the_channel),
    TEST(acknowledging_pins_sends_an_event_only_if_there_are_pins),
    TEST(acknowledging_a_guild_covers_all_visible_channels),
    TEST(guild_and_user_features_have_read_states),
    TEST(read_states_can_be_acknowledged_in_bulk_and_deleted),
    TEST(own_messages_are_read_and_mentions_are_counted),
    TEST(all_messages_of_private_channels_count_as_mentions),
    TEST(mentions_by_blocked_users_are_not_counted),
    TEST(recent_mentions_of_a_week_are_listed),
    { 0 },
};
