/* calls.c - calls in direct channels and groups. */
#include "test_voice.h"

#include <string.h>

#define CALL "/channels/%s/call"

/* Ada, bob and cleo, connected, with a direct channel and a group. */
struct call_users {
    struct client *ada, *bob, *cleo;
    const char *dm, *group;
};

static struct call_users create_call_users(struct world *w)
{
    struct call_users p = { world_client(w, "ada"), world_client(w, "bob"), world_client(w, "cleo"),
                            NULL, NULL };
    struct client *all[] = { p.ada, p.bob, p.cleo };

    make_friends(p.ada, p.bob);
    make_friends(p.ada, p.cleo);
    p.dm = answer_text(
        client_post(p.ada, TEXT(w, "{'recipient_id': '%s'}", p.bob->id), "/users/@me/channels"),
        "id");
    p.group = answer_text(
        client_post(p.ada, TEXT(w, "{'recipients': ['%s', '%s']}", p.bob->id, p.cleo->id),
                    "/users/@me/channels"),
        "id");
    world_sql(w, "update recipients set closed = 0");
    for (int i = 0; i < 3; i++)
        client_connect(all[i]);
    return p;
}

static void start_call(const struct call_users *p, const char *channel)
{
    ask_voice(p->ada, NULL, channel, "");
    expect_event(p->ada, "MESSAGE_CREATE", "{'type': 3, 'channel_id': '%s'}", channel);
    expect_event(p->ada, "CALL_CREATE", "{'channel_id': '%s'}", channel);
    expect_event(p->ada, "VOICE_STATE_UPDATE", "{'channel_id': '%s'}", channel);
    expect_event(p->ada, "VOICE_SERVER_UPDATE", "{}");
}

static void expect_events_of_started_call(struct client *c, const char *channel)
{
    expect_event(c, "MESSAGE_CREATE", "{'type': 3}");
    expect_event(c, "CALL_CREATE", "{'channel_id': '%s'}", channel);
    expect_event(c, "VOICE_STATE_UPDATE", "{'channel_id': '%s'}", channel);
}

static void call_starts_with_the_first_and_ends_with_the_last_user(struct world *w)
{
    struct call_users p = create_call_users(w);

    ask_voice(p.ada, NULL, p.dm, ", 'self_mute': true");
    const struct dom *d =
        expect_dispatch(p.ada->gate, "MESSAGE_CREATE",
                        "{'type': 3, 'channel_id': '%s', 'author': {'id': '%s'}, "
                        "'call': {'participants': ['%s'], 'ended_timestamp': null}}",
                        p.dm, p.ada->id, p.ada->id);
    const char *message = TEXT(w, "%.*s", STR_ARGS(dom_at(d, "id")->text));
    expect_event(p.ada, "CALL_CREATE",
                 "{'channel_id': '%s', 'message_id': '%s', 'region': 'main', 'ringing': [], "
                 "'voice_states': []}",
                 p.dm, message);
    d = expect_dispatch(p.ada->gate, "VOICE_STATE_UPDATE",
                        "{'guild_id': null, 'channel_id': '%s', 'user_id': '%s', "
                        "'self_mute': true, 'suppress': false}",
                        p.dm, p.ada->id);
    expect(!dom_at(d, "member"));
    expect_event(p.ada, "VOICE_SERVER_UPDATE", "{'guild_id': null, 'channel_id': '%s'}", p.dm);
    expect_events_of_started_call(p.bob, p.dm);
    ask_voice(p.bob, NULL, p.dm, "");
    expect_event(p.bob, "VOICE_STATE_UPDATE", "{'user_id': '%s'}", p.bob->id);
    expect_event(p.bob, "VOICE_SERVER_UPDATE", "{'channel_id': '%s'}", p.dm);
    expect_event(p.ada, "VOICE_STATE_UPDATE", "{'user_id': '%s'}", p.bob->id);
    ask_voice(p.ada, NULL, NULL, "");
    expect_event(p.bob, "VOICE_STATE_UPDATE", "{'user_id': '%s', 'channel_id': null}", p.ada->id);
    conn_close(p.bob->gate, 1000);
    expect_event(p.ada, "VOICE_STATE_UPDATE", "{'user_id': '%s', 'channel_id': null}", p.ada->id);
    expect_event(p.ada, "VOICE_STATE_UPDATE", "{'user_id': '%s', 'channel_id': null}", p.bob->id);
    expect_event(p.ada, "CALL_DELETE", "{'channel_id': '%s'}", p.dm);
    d = expect_dispatch(p.ada->gate, "MESSAGE_UPDATE",
                        "{'id': '%s', 'call': {'participants': ['%s', '%s']}}", message, p.ada->id,
                        p.bob->id);
    expect(dom_at(d, "call.ended_timestamp")->kind == JSON_STRING);
    expect_quiet(p.cleo->gate);
    expect_json(client_get(p.ada, "/channels/%s/messages/%s", p.dm, message),
                "{'type': 3, 'call': {}}");
    expect(world_number(w, "select count(*) from calls") == 0);
}

static void only_user_recipients_can_join_a_call(struct world *w)
{
    struct call_users p = create_call_users(w);
    struct client *bot = world_bot(w, "robot");
    const char *with_bot = answer_text(
        client_post(p.ada, TEXT(w, "{'recipient_id': '%s'}", bot->id), "/users/@me/channels"),
        "id");

    client_connect(bot);
    ask_voice(p.cleo, NULL, p.dm, "");
    ask_voice(p.cleo, p.dm, p.dm, "");
    ask_voice(bot, NULL, with_bot, "");
    expect_quiet(p.cleo->gate);
    ask_voice(p.cleo, NULL, p.group, "");
    expect_event(p.cleo, "MESSAGE_CREATE", "{'channel_id': '%s'}", p.group);
    expect_quiet(bot->gate);
    expect(world_number(w, "select count(*) from calls where channel_id = %s", p.dm) == 0);
}

static void call_connect_payload_returns_the_call_to_recipients_only(struct world *w)
{
    struct call_users p = create_call_users(w);

    conn_send(p.ada->gate, "{'op': 13, 'd': {'channel_id': '%s'}}", p.dm);
    expect_quiet(p.ada->gate);
    start_call(&p, p.dm);
    expect_events_of_started_call(p.bob, p.dm);
    conn_send(p.cleo->gate, "{'op': 13, 'd': {'channel_id': '%s'}}", p.dm);
    conn_send(p.bob->gate, "{'op': 13, 'd': {'channel_id': '%s'}}", p.dm);
    expect_event(p.bob, "CALL_CREATE",
                 "{'channel_id': '%s', 'ringing': [], 'voice_states': [{'user_id': '%s', "
                 "'channel_id': '%s'}]}",
                 p.dm, p.ada->id, p.dm);
    expect_quiet(p.ada->gate);
    expect_quiet(p.cleo->gate);
    conn_send(p.bob->gate, "{'op': 13, 'd': {}}");
    expect_close(p.bob->gate, 4002);
}

static void call_rings_until_a_recipient_joins_or_a_minute_passes(struct world *w)
{
    struct call_users p = create_call_users(w);

    expect_error(client_post(p.ada, "{}", CALL "/ring", p.group), 404, 10003);
    start_call(&p, p.group);
    expect_events_of_started_call(p.bob, p.group);
    expect_events_of_started_call(p.cleo, p.group);
    expect_status(client_post(p.ada, "{}", CALL "/ring", p.group), 204);
    const char *low = strcmp(p.bob->id, p.cleo->id) < 0 ? p.bob->id : p.cleo->id;
    const char *high = low == p.bob->id ? p.cleo->id : p.bob->id;
    expect_event(p.cleo, "CALL_UPDATE", "{'channel_id': '%s', 'ringing': ['%s', '%s']}", p.group,
                 low, high);
    expect_event(p.bob, "CALL_UPDATE", "{}");
    ask_voice(p.bob, NULL, p.group, "");
    expect_event(p.cleo, "CALL_UPDATE", "{'ringing': ['%s']}", p.cleo->id);
    expect_event(p.cleo, "VOICE_STATE_UPDATE", "{'user_id': '%s'}", p.bob->id);
    expect_status(client_post(p.cleo, "{}", CALL "/stop-ringing", p.group), 204);
    expect_event(p.cleo, "CALL_UPDATE", "{'ringing': []}");
    /* Nobody is being rung any more. */
    expect_status(client_post(p.cleo, "{}", CALL "/stop-ringing", p.group), 204);
    expect_quiet(p.cleo->gate);
    /* Users in the call are not rung; recipients must be in the channel. */
    expect_status(client_post(p.ada, TEXT(w, "{'recipients': ['%s', '%s']}", p.bob->id, p.cleo->id),
                              CALL "/ring", p.group),
                  204);
    expect_event(p.cleo, "CALL_UPDATE", "{'ringing': ['%s']}", p.cleo->id);
    expect_invalid(client_post(p.ada, "{'recipients': ['5']}", CALL "/ring", p.group), "recipients",
                   "BASE_TYPE_CHOICES");
    expect_invalid(client_post(p.ada, "{'recipients': 5}", CALL "/stop-ringing", p.group),
                   "recipients", "LIST_TYPE_CONVERT");
    /* Nobody joins. */
    world_wait(w, 61);
    expect_event(p.cleo, "CALL_UPDATE", "{'ringing': []}");
}

static void configure_several_voice_regions(struct config *config)
{
    config->voice_regions = "eu,us";
    config->voice_vip_regions = "vip";
}

static void recipients_can_move_a_call_to_another_region(struct world *w)
{
    struct call_users p = create_call_users(w);

    expect_error(client_patch(p.ada, "{'region': 'us'}", CALL, p.dm), 404, 10003);
    start_call(&p, p.dm);
    expect_events_of_started_call(p.bob, p.dm);
    expect_invalid(client_patch(p.ada, "{'region': 'moon'}", CALL, p.dm), "region",
                   "BASE_TYPE_CHOICES");
    expect_invalid(client_patch(p.ada, "{'region': 'vip'}", CALL, p.dm), "region",
                   "BASE_TYPE_CHOICES");
    expect_status(client_patch(p.bob, "{'region': 'us'}", CALL, p.dm), 204);
    expect_event(p.ada, "CALL_UPDATE", "{'region': 'us'}");
    expect_event(p.ada, "VOICE_SERVER_UPDATE", "{'channel_id': '%s'}", p.dm);
    expect_event(p.bob, "CALL_UPDATE", "{'region': 'us'}");
    expect_status(client_patch(p.bob, "{'region': 'us'}", CALL, p.dm), 204);
    expect_status(client_patch(p.bob, "{}", CALL, p.dm), 204);
    expect_quiet(p.bob->gate);
    ask_voice(p.bob, NULL, p.dm, "");
    expect_event(p.bob, "VOICE_STATE_UPDATE", "{}");
    expect(world_number(w, "select count(*) from voice_states where region = 'us'") == 2);
}

static void call_routes_refuse_guild_channels_and_non_recipients(struct world *w)
{
    const char *g = found_guild(world_client(w, "ada"), "Hall");
    const char *voice = make_channel(world_client(w, "ada"), g, "{'name': 'v', 'type': 2}");
    struct call_users p = create_call_users(w);

    expect_json(client_get(p.ada, CALL, p.dm), "{'ringable': true}");
    expect_error(client_get(p.ada, CALL, voice), 400, 50024);
    expect_error(client_post(p.ada, "{}", CALL "/ring", voice), 400, 50024);
    expect_error(client_post(p.ada, "{}", CALL "/stop-ringing", voice), 400, 50024);
    expect_error(client_patch(p.ada, "{}", CALL, voice), 400, 50024);
    expect_error(client_get(p.cleo, CALL, p.dm), 403, 50001);
    expect_error(client_post(p.cleo, "{}", CALL "/ring", p.dm), 403, 50001);
    expect_error(client_post(p.ada, "{}", CALL "/stop-ringing", p.dm), 404, 10003);
    expect_error(client_get(p.ada, CALL, "5"), 404, 10003);
    /* A blocked user cannot ring. */
    start_call(&p, p.dm);
    world_sql(w, "update relationships set type = 2 where user_id = %s and target_id = %s",
              p.bob->id, p.ada->id);
    expect_json(client_get(p.ada, CALL, p.dm), "{'ringable': false}");
    expect_error(client_post(p.ada, "{}", CALL "/ring", p.dm), 403, 50007);
}

static void users_who_are_not_friends_cannot_call_each_other(struct world *w)
{
    struct call_users p = create_call_users(w);
    const char *dm = answer_text(
        client_post(p.bob, TEXT(w, "{'recipient_id': '%s'}", p.cleo->id), "/users/@me/channels"),
        "id");

    expect_json(client_get(p.bob, CALL, dm), "{'ringable': false}");
    expect_event(p.bob, "CHANNEL_CREATE", "{'id': '%s'}", dm);
    ask_voice(p.bob, NULL, dm, "");
    expect_quiet(p.bob->gate);
    expect(world_number(w, "select count(*) from calls") == 0);
    make_friends(p.bob, p.cleo);
    expect_json(client_get(p.bob, CALL, dm), "{'ringable': true}");
}

static void insert_block_between_users(const struct client *by, const struct client *whom)
{
    world_sql(by->world, "update relationships set type = 2 where user_id = %s and target_id = %s",
              by->id, whom->id);
}

static void block_prevents_starting_a_call(struct world *w)
{
    struct call_users p = create_call_users(w);

    insert_block_between_users(p.bob, p.ada);
    /* Neither user can start one; blocks have no effect in groups. */
    ask_voice(p.ada, NULL, p.dm, "");
    start_call(&p, p.group);
    expect_events_of_started_call(p.bob, p.group);
    ask_voice(p.bob, NULL, p.dm, "");
    ask_voice(p.bob, NULL, p.group, "");
    expect_event(p.bob, "VOICE_STATE_UPDATE", "{'user_id': '%s', 'channel_id': '%s'}", p.bob->id,
                 p.group);
    expect_event(p.bob, "VOICE_SERVER_UPDATE", "{}");
    expect_json(client_get(p.bob, "/channels/%s/messages", p.dm), "[]");
}

static void block_during_a_call_does_not_end_it(struct world *w)
{
    struct call_users p = create_call_users(w);

    start_call(&p, p.dm);
    expect_events_of_started_call(p.bob, p.dm);
    insert_block_between_users(p.bob, p.ada);
    ask_voice(p.ada, NULL, p.dm, ", 'self_mute': true");
    expect_event(p.ada, "VOICE_STATE_UPDATE", "{'self_mute': true, 'channel_id': '%s'}", p.dm);
}

static void leaving_a_group_leaves_its_call(struct world *w)
{
    struct call_users p = create_call_users(w);

    start_call(&p, p.group);
    expect_events_of_started_call(p.bob, p.group);
    expect_status(client_delete(p.ada, "/channels/%s", p.group), 200);
    expect_event(p.bob, "VOICE_STATE_UPDATE", "{'user_id': '%s', 'channel_id': null}", p.ada->id);
    expect_event(p.bob, "CALL_DELETE", "{'channel_id': '%s'}", p.group);
    expect_event(p.bob, "MESSAGE_UPDATE", "{'type': 3}");
    expect_event(p.bob, "CHANNEL_RECIPIENT_REMOVE", "{}");
    expect(world_number(w, "select count(*) from voice_states") == 0);
}

static void user_who_left_a_group_is_not_rung(struct world *w)
{
    struct call_users p = create_call_users(w);

    start_call(&p, p.group);
    expect_status(client_post(p.ada, "{}", CALL "/ring", p.group), 204);
    expect_status(client_delete(p.bob, "/channels/%s", p.group), 200);
    conn_send(p.ada->gate, "{'op': 13, 'd': {'channel_id': '%s'}}", p.group);
    const struct dom *d;
    do
        d = conn_read(p.ada->gate, 60000);
    while (d && (!dom_at(d, "t") || !str_is(dom_at(d, "t")->text, "CALL_CREATE")));
    expect(d && !dom_at(d, "d.ringing.1"));
    expect(str_is(dom_at(d, "d.ringing.0")->text, p.cleo->id));
}

static void joining_a_guild_channel_leaves_the_call(struct world *w)
{
    struct call_users p = create_call_users(w);
    struct test_voice h = { .world = w, .ada = p.ada, .bob = p.bob };

    start_call(&p, p.dm);
    h = another_test_voice(&h);
    ask_voice(p.ada, h.guild, h.voice, "");
    expect_voice(p.ada, "VOICE_STATE_UPDATE", "{'guild_id': null, 'channel_id': null}");
    expect_voice(p.ada, "VOICE_STATE_UPDATE", "{'guild_id': '%s', 'channel_id': '%s'}", h.guild,
                 h.voice);
    expect(world_number(w, "select count(*) from calls") == 0);
    /* Joining the call of another private channel leaves the first call, too. */
    ask_voice(p.bob, NULL, p.dm, "");
    ask_voice(p.bob, NULL, p.group, "");
    for (int i = 0; i < 50 && world_number(w, "select count(*) from calls where channel_id = %s",
                                           p.group) == 0;
         i++)
        next_voice(p.bob);
    expect(world_number(w, "select count(*) from calls") == 1);
}

const struct test voice_calls_tests[] = {
    TEST(call_starts_with_the_first_and_ends_with_the_last_user),
    TEST(only_user_recipients_can_join_a_call),
    TEST(call_connect_payload_returns_the_call_to_recipients_only),
    TEST(call_rings_until_a_recipient_joins_or_a_minute_passes),
    TEST_WITH(recipients_can_move_a_call_to_another_region, configure_several_voice_regions),
    TEST(call_routes_refuse_guild_channels_and_non_recipients),
    TEST(users_who_are_not_friends_cannot_call_each_other),
    TEST(block_prevents_starting_a_call),
    TEST(block_during_a_call_does_not_end_it),
    TEST(leaving_a_group_leaves_its_call),
    TEST(user_who_left_a_group_is_not_rung),
    TEST(joining_a_guild_channel_leaves_the_call),
    { 0 },
};
