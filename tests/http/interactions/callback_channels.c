/* callback_channels.c - responses in private channels and threads. */
#include "test_interaction.h"

#include <stdio.h>

#include "channels.h"
#include "gateway_conn.h"

#define MESSAGES "/channels/%s/messages"
#define FIRST    "/webhooks/%s/%s/messages/@original", ask.application, ask.token

static void response_in_a_direct_channel_is_visible_to_both(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    const char *channel = talk_to(s.ada, s.bot->id);
    struct test_interaction ask = INTERACTION(&s, .channel = channel, .guild = "",
                                              .owners = TEXT(w, "{\"1\":\"%s\"}", s.ada->id));
    struct channel_events room = world_channel_events(w, channel);

    interaction_answered(&ask, "{'type': 4, 'data': {'content': 'Hello'}}");
    expect_channel_event(&room, "MESSAGE_CREATE",
                         "{'content': 'Hello', 'type': 20, 'channel_id': '%s', 'channel_type': 1}",
                         channel);
    const struct dom *event = world_last_event(w, "MESSAGE_CREATE");
    expect(!dom_at(event, "guild_id") && !dom_at(event, "interaction.member"));
    expect_channel_silence(&s.room);
    expect_json(client_get(s.ada, MESSAGES, channel), "[{'content': 'Hello'}]");
    /* Ephemerality is never forced outside guilds. */
    expect(!dom_at(event, "interaction_metadata.ephemerality_reason"));
    struct answer a = client_post(ask.app, "{'content': 'x', 'flags': 64}", FOLLOW);
    expect_json(a, "{'flags': 64, 'message_reference': {'channel_id': '%s'}}", channel);
    expect_absent(a, "message_reference.guild_id");
}

static void response_in_a_channel_without_the_bot_reaches_recipients(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    const char *channel = talk_to(s.ada, s.bob->id);
    struct test_interaction ask = INTERACTION(&s, .channel = channel, .guild = "",
                                              .owners = TEXT(w, "{\"1\":\"%s\"}", s.ada->id));
    struct channel_events room = world_channel_events(w, channel);

    interaction_answered(&ask, "{'type': 4, 'data': {'content': 'Hello'}}");
    expect_channel_event(&room, "MESSAGE_CREATE", "{'author': {'id': '%s'}}", s.application);
    expect_json(client_get(s.bob, MESSAGES, channel), "[{'content': 'Hello'}]");
    expect_error(client_get(s.bot, MESSAGES, channel), 403, 50001);
}

static void response_unarchives_a_thread(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    struct answer t = client_post(s.ada, "{'name': 'Thread', 'type': 11}", "/channels/%s/threads",
                                  s.test_guild.channel);
    const char *thread = answer_text(t, "id");
    struct test_interaction ask = INTERACTION(&s, .channel = thread);

    expect_status(client_patch(s.ada, "{'archived': true}", "/channels/%s", thread), 200);
    struct channel_events room = world_channel_events(w, thread);
    interaction_answered(&ask, "{'type': 4, 'data': {'content': 'Hello'}}");
    expect_channel_event(&room, "THREAD_UPDATE", "{'thread_metadata': {'archived': false}}");
    expect_channel_event(&room, "THREAD_MEMBERS_UPDATE", "{'id': '%s'}", thread);
    expect_channel_event(&room, "MESSAGE_CREATE", "{'channel_id': '%s', 'guild_id': '%s'}", thread,
                         s.test_guild.id);
}

static void response_in_a_deleted_channel_is_404_10003(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    struct test_interaction ask = INTERACTION(&s);

    expect_status(client_delete(s.ada, "/channels/%s", s.test_guild.channel), 200);
    expect_error(interaction_answer(&ask, "", "{'type': 4, 'data': {'content': 'x'}}"), 404, 10003);
}

/* --- over the gateway ----------------------------------------------------------------- */

#define INTENT_MESSAGES        "'intents': 512"
#define INTENT_DIRECT_MESSAGES "'intents': 4096"

/* Each session receives only the events meant for it. */
static void interaction_events_go_only_to_the_sessions_concerned(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    struct gateway_conn *ada = conn_session(s.ada, "v=9&encoding=json", ""),
                        *bob = conn_session(s.bob, "v=9&encoding=json", ""),
                        *guilds = conn_session(s.bot, "v=10&encoding=json", INTENT_MESSAGES),
                        *direct_ones =
                            conn_session(s.bot, "v=10&encoding=json", INTENT_DIRECT_MESSAGES);
    struct test_interaction plain = INTERACTION(&s, .nonce = "\"n\""),
                            secret = INTERACTION(&s, .nonce = "\"m\"");

    interaction_answered(&plain, "{'type': 4, 'data': {'content': 'For all'}}");
    expect_dispatch(ada, "INTERACTION_SUCCESS", "{'id': '%s', 'nonce': 'n'}", plain.id);
    expect_dispatch(ada, "MESSAGE_CREATE", "{'content': 'For all', 'nonce': 'n'}");
    expect_dispatch(bob, "MESSAGE_CREATE", "{'content': 'For all'}");
    expect_dispatch(guilds, "MESSAGE_CREATE", "{'content': 'For all'}");
    interaction_answered(&secret, "{'type': 4, 'data': {'content': 'For you', 'flags': 64}}");
    expect_dispatch(ada, "INTERACTION_SUCCESS", "{'nonce': 'm'}");
    expect_dispatch(ada, "MESSAGE_CREATE", "{'content': 'For you', 'nonce': 'm', 'flags': 64}");
    expect_dispatch(direct_ones, "MESSAGE_CREATE", "{'content': 'For you'}");
    expect_quiet(ada);
    expect_quiet(bob);
    expect_quiet(guilds);
    expect_quiet(direct_ones);
}

/* The block happens between the command and its response. */
static void response_is_ephemeral_after_the_recipient_blocked_the_user(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    const char *channel = talk_to(s.ada, s.bob->id);
    const char *owners = TEXT(w, "{\"1\":\"%s\"}", s.ada->id);
    struct test_interaction ask =
        INTERACTION(&s, .channel = channel, .guild = "", .owners = owners);
    struct channel_events room = world_channel_events(w, channel);

    world_sql(w, "insert into relationships (user_id, target_id, type) values (%s, %s, 2)",
              s.bob->id, s.ada->id);
    interaction_answered(&ask, "{'type': 4, 'data': {'content': 'Hello'}}");
    expect_json(client_post(ask.app, "{'content': 'more'}", FOLLOW),
                "{'flags': 64, 'interaction_metadata': {'ephemerality_reason': 10}}");
    expect_channel_silence(&room);
    expect_json(client_get(s.bob, MESSAGES, channel), "[]");
}

/* The deferral was visible to both recipients. */
static void deferred_response_cannot_be_completed_after_a_block(struct world *w)
{
    struct test_bot s = world_test_bot(w);
    const char *channel = talk_to(s.ada, s.bob->id);
    const char *owners = TEXT(w, "{\"1\":\"%s\"}", s.ada->id);
    struct test_interaction ask =
        INTERACTION(&s, .channel = channel, .guild = "", .owners = owners);

    make_friends(s.ada, s.bob);
    interaction_answered(&ask, "{'type': 5}");
    expect_status(client_put(s.bob, "{'type': 2}", "/users/@me/relationships/%s", s.ada->id), 204);
    struct channel_events room = world_channel_events(w, channel);
    expect_error(client_post(ask.app, "{'content': 'late'}", FOLLOW), 403, 50007);
    expect_error(client_patch(ask.app, "{'content': 'late'}", FIRST), 403, 50007);
    expect_channel_silence(&room);
    expect_status(client_delete(s.bob, "/users/@me/relationships/%s", s.ada->id), 204);
    make_friends(s.ada, s.bob);
    expect_status(client_patch(ask.app, "{'content': 'now'}", FIRST), 200);
    expect_json(client_get(s.bob, MESSAGES, channel), "[{'content': 'now'}]");
}

const struct test callback_channels_tests[] = {
    TEST(deferred_response_cannot_be_completed_after_a_block),
    TEST(response_is_ephemeral_after_the_recipient_blocked_the_user),
    TEST(response_in_a_direct_channel_is_visible_to_both),
    TEST(response_in_a_channel_without_the_bot_reaches_recipients),
    TEST(response_unarchives_a_thread),
    TEST(response_in_a_deleted_channel_is_404_10003),
    TEST(interaction_events_go_only_to_the_sessions_concerned),
    { 0 },
};
