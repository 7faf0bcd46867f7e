/* restart.c - sessions resume after a server restart. */
#include <stdio.h>

#include "channels.h"
#include "gateway_conn.h"
#include "guilds.h"

static const char *const PLAIN = "v=10&encoding=json";

/* A client's data for RESUME. */
struct resume_state {
    struct client *client;
    char id[64];
    uint64_t seq;
};

static struct resume_state lose_socket(struct client *c, struct gateway_conn *g)
{
    struct resume_state m = { .client = c, .seq = conn_seq(g) };

    snprintf(m.id, sizeof m.id, "%s", conn_id(g));
    conn_lose(g);
    return m;
}

static struct gateway_conn *resume_session(const struct resume_state *m)
{
    struct gateway_conn *g = conn_open(m->client, PLAIN);

    expect_op(g, 10);
    conn_resume(g, m->id, m->seq);
    return g;
}

static void send_message(struct client *c, const char *channel, const char *text)
{
    expect_status(
        client_post(c, TEXT(c->world, "{'content': '%s'}", text), "/channels/%s/messages", channel),
        200);
}

struct restart_guild {
    struct client *ada, *bob;
    const char *guild, *channel;
};

static struct restart_guild create_restart_guild(struct world *w)
{
    struct restart_guild h = { .ada = world_client(w, "ada"), .bob = world_client(w, "bob") };

    h.guild = found_guild(h.ada, "Hall");
    h.channel = make_channel(h.ada, h.guild, "{'name': 'open'}");
    put_member(h.guild, h.bob);
    return h;
}

/* Events before, during and after the restart arrive once, in order, with consecutive numbers. */
static void events_around_a_restart_are_delivered_once_after_resume(struct world *w)
{
    struct restart_guild h = create_restart_guild(w);
    struct gateway_conn *g = conn_session(h.bob, PLAIN, "");

    send_message(h.ada, h.channel, "read");
    expect_dispatch(g, "MESSAGE_CREATE", "{'content': 'read'}");
    send_message(h.ada, h.channel, "sent");
    struct resume_state bob = lose_socket(h.bob, g);
    send_message(h.ada, h.channel, "away");
    world_restart(w);
    send_message(h.ada, h.channel, "started");
    g = resume_session(&bob);
    expect_dispatch(g, "MESSAGE_CREATE", "{'content': 'sent'}");
    expect_dispatch(g, "MESSAGE_CREATE", "{'content': 'away'}");
    expect_dispatch(g, "MESSAGE_CREATE", "{'content': 'started'}");
    expect_dispatch(g, "RESUMED", "{}");
    send_message(h.ada, h.channel, "live");
    expect_dispatch(g, "MESSAGE_CREATE", "{'content': 'live'}");
    expect_quiet(g);
    /* Afterwards it can be resumed like any session. */
    bob = lose_socket(h.bob, g);
    send_message(h.ada, h.channel, "again");
    g = resume_session(&bob);
    expect_dispatch(g, "MESSAGE_CREATE", "{'content': 'again'}");
    expect_dispatch(g, "RESUMED", "{}");
}

static void session_can_be_resumed_after_several_restarts(struct world *w)
{
    struct restart_guild h = create_restart_guild(w);
    struct gateway_conn *g = conn_session(h.bob, PLAIN, "");

    for (int i = 0; i < 3; i++) {
        struct resume_state bob = lose_socket(h.bob, g);

        world_restart(w);
        send_message(h.ada, h.channel, TEXT(w, "%d", i));
        g = resume_session(&bob);
        expect_dispatch(g, "MESSAGE_CREATE", "{'content': '%d'}", i);
        expect_dispatch(g, "RESUMED", "{}");
    }
}

/* The resumed session has no message content, and the intents and shards of the bot. */
static void bot_session_keeps_its_intents_after_a_restart(struct world *w)
{
    struct restart_guild h = create_restart_guild(w);
    struct client *robot = world_bot(w, "robot");

    put_member(h.guild, robot);
    struct gateway_conn *g = conn_session(robot, PLAIN, "'intents': 513");
    expect_dispatch(g, "GUILD_CREATE", "{'id': '%s'}", h.guild);
    expect_quiet(g); /* wait for all replies, after which the session can be suspended */
    send_message(h.ada, h.channel, "before");
    struct resume_state bot = lose_socket(robot, g);
    world_restart(w);
    send_message(h.ada, h.channel, "after");
    expect_status(client_post(h.ada, "{}", "/channels/%s/typing", h.channel), 204);
    g = resume_session(&bot);
    expect_dispatch(g, "MESSAGE_CREATE", "{'content': '', 'author': {'id': '%s'}}", h.ada->id);
    expect_dispatch(g, "MESSAGE_CREATE", "{'content': '', 'author': {'id': '%s'}}", h.ada->id);
    expect_dispatch(g, "RESUMED", "{}");
}

static void channel_hidden_during_a_restart_is_deleted_on_resume(struct world *w)
{
    struct restart_guild h = create_restart_guild(w);
    const char *secret = make_channel(h.ada, h.guild, "{'name': 'secret'}");
    struct resume_state bob = lose_socket(h.bob, conn_session(h.bob, PLAIN, ""));

    world_restart(w);
    expect_status(client_put(h.ada, "{'type': 0, 'deny': '1024'}", "/channels/%s/permissions/%s",
                             secret, h.guild),
                  204);
    send_message(h.ada, secret, "hidden");
    send_message(h.ada, h.channel, "open");
    struct gateway_conn *g = resume_session(&bob);
    expect_dispatch(g, "CHANNEL_DELETE", "{'id': '%s'}", secret);
    expect_dispatch(g, "MESSAGE_CREATE", "{'content': 'open'}");
    expect_dispatch(g, "RESUMED", "{}");
}

static void resume_after_restart_requires_the_sessions_user_and_sequence(struct world *w)
{
    struct restart_guild h = create_restart_guild(w);
    struct resume_state bob = lose_socket(h.bob, conn_session(h.bob, PLAIN, "")), ada = bob;

    world_restart(w);
    ada.client = h.ada;
    expect_op(resume_session(&ada), 9);
    bob.seq += 7;
    expect_close(resume_session(&bob), 4007);
    bob.seq -= 7;
    expect_dispatch(resume_session(&bob), "RESUMED", "{}");
}

static void resume_200_seconds_after_a_restart_is_invalid(struct world *w)
{
    struct restart_guild h = create_restart_guild(w);
    struct resume_state bob = lose_socket(h.bob, conn_session(h.bob, PLAIN, ""));

    world_restart(w);
    world_wait(w, 200);
    expect_op(resume_session(&bob), 9);
}

/* The second server sent events that this session never received. */
static void session_not_resumed_between_two_restarts_is_invalid(struct world *w)
{
    struct restart_guild h = create_restart_guild(w);
    struct resume_state bob = lose_socket(h.bob, conn_session(h.bob, PLAIN, ""));

    world_restart(w);
    struct resume_state ada = lose_socket(h.ada, conn_session(h.ada, PLAIN, ""));
    world_restart(w);
    expect_op(resume_session(&bob), 9);
    expect_dispatch(resume_session(&ada), "RESUMED", "{}");
    world_restart(w);
    expect_op(resume_session(&bob), 9);
}

static void resume_with_a_revoked_token_closes_with_4004(struct world *w)
{
    struct restart_guild h = create_restart_guild(w);
    struct resume_state bob = lose_socket(h.bob, conn_session(h.bob, PLAIN, ""));

    world_restart(w);
    expect_status(client_post(h.bob, "{}", "/auth/logout"), 204);
    expect_close(resume_session(&bob), 4004);
}

static void configure_four_event_loops(struct config *c)
{
    c->loops = 4;
}

const struct test gateway_restart_tests[] = {
    TEST_WITH(events_around_a_restart_are_delivered_once_after_resume, configure_four_event_loops),
    TEST_WITH(session_can_be_resumed_after_several_restarts, configure_four_event_loops),
    TEST(bot_session_keeps_its_intents_after_a_restart),
    TEST(channel_hidden_during_a_restart_is_deleted_on_resume),
    TEST(resume_after_restart_requires_the_sessions_user_and_sequence),
    TEST(resume_200_seconds_after_a_restart_is_invalid),
    TEST(session_not_resumed_between_two_restarts_is_invalid),
    TEST(resume_with_a_revoked_token_closes_with_4004),
    { 0 },
};
