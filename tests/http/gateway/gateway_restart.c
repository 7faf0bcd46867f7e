/* gateway_restart.c - sessions that go on when the server was stopped and started again. */
#include <stdio.h>

#include "channels.h"
#include "gateway_conn.h"
#include "guilds.h"

static const char *const PLAIN = "v=10&encoding=json";

/* What a client remembers of its session. */
struct memory {
    struct client *client;
    char id[64];
    uint64_t seq;
};

static struct memory leave(struct client *c, struct gateway_conn *g)
{
    struct memory m = { .client = c, .seq = conn_seq(g) };

    snprintf(m.id, sizeof m.id, "%s", conn_id(g));
    conn_lose(g);
    return m;
}

static struct gateway_conn *come_back(const struct memory *m)
{
    struct gateway_conn *g = conn_open(m->client, PLAIN);

    expect_op(g, 10);
    conn_resume(g, m->id, m->seq);
    return g;
}

static void say(struct client *c, const char *channel, const char *text)
{
    expect_status(
        client_post(c, TEXT(c->world, "{'content': '%s'}", text), "/channels/%s/messages", channel),
        200);
}

struct hall {
    struct client *ada, *bob;
    const char *guild, *channel;
};

static struct hall open_hall(struct world *w)
{
    struct hall h = { .ada = world_client(w, "ada"), .bob = world_client(w, "bob") };

    h.guild = found_guild(h.ada, "Hall");
    h.channel = make_channel(h.ada, h.guild, "{'name': 'open'}");
    put_member(h.guild, h.bob);
    return h;
}

/* Before, in between and after: each once, in order, numbered on. */
static void what_happened_around_a_restart_is_told_once(struct world *w)
{
    struct hall h = open_hall(w);
    struct gateway_conn *g = conn_session(h.bob, PLAIN, "");

    say(h.ada, h.channel, "read");
    expect_dispatch(g, "MESSAGE_CREATE", "{'content': 'read'}");
    say(h.ada, h.channel, "sent");
    struct memory bob = leave(h.bob, g);
    say(h.ada, h.channel, "away");
    world_restart(w);
    say(h.ada, h.channel, "started");
    g = come_back(&bob);
    expect_dispatch(g, "MESSAGE_CREATE", "{'content': 'sent'}");
    expect_dispatch(g, "MESSAGE_CREATE", "{'content': 'away'}");
    expect_dispatch(g, "MESSAGE_CREATE", "{'content': 'started'}");
    expect_dispatch(g, "RESUMED", "{}");
    say(h.ada, h.channel, "live");
    expect_dispatch(g, "MESSAGE_CREATE", "{'content': 'live'}");
    expect_quiet(g);
    /* From then on it is a session like others. */
    bob = leave(h.bob, g);
    say(h.ada, h.channel, "again");
    g = come_back(&bob);
    expect_dispatch(g, "MESSAGE_CREATE", "{'content': 'again'}");
    expect_dispatch(g, "RESUMED", "{}");
}

static void it_goes_on_after_the_next_restart_too(struct world *w)
{
    struct hall h = open_hall(w);
    struct gateway_conn *g = conn_session(h.bob, PLAIN, "");

    for (int i = 0; i < 3; i++) {
        struct memory bob = leave(h.bob, g);

        world_restart(w);
        say(h.ada, h.channel, TEXT(w, "%d", i));
        g = come_back(&bob);
        expect_dispatch(g, "MESSAGE_CREATE", "{'content': '%d'}", i);
        expect_dispatch(g, "RESUMED", "{}");
    }
}

/* Without the content that it was told without; with its intents and shards. */
static void a_bot_goes_on_as_it_was(struct world *w)
{
    struct hall h = open_hall(w);
    struct client *robot = world_bot(w, "robot");

    put_member(h.guild, robot);
    struct gateway_conn *g = conn_session(robot, PLAIN, "'intents': 513");
    expect_dispatch(g, "GUILD_CREATE", "{'id': '%s'}", h.guild);
    expect_quiet(g); /* what it asked for has come: it can be put away */
    say(h.ada, h.channel, "before");
    struct memory bot = leave(robot, g);
    world_restart(w);
    say(h.ada, h.channel, "after");
    expect_status(client_post(h.ada, "{}", "/channels/%s/typing", h.channel), 204);
    g = come_back(&bot);
    expect_dispatch(g, "MESSAGE_CREATE", "{'content': '', 'author': {'id': '%s'}}", h.ada->id);
    expect_dispatch(g, "MESSAGE_CREATE", "{'content': '', 'author': {'id': '%s'}}", h.ada->id);
    expect_dispatch(g, "RESUMED", "{}");
}

static void channels_that_came_and_went_meanwhile_are_told(struct world *w)
{
    struct hall h = open_hall(w);
    const char *secret = make_channel(h.ada, h.guild, "{'name': 'secret'}");
    struct memory bob = leave(h.bob, conn_session(h.bob, PLAIN, ""));

    world_restart(w);
    expect_status(client_put(h.ada, "{'type': 0, 'deny': '1024'}", "/channels/%s/permissions/%s",
                             secret, h.guild),
                  204);
    say(h.ada, secret, "hidden");
    say(h.ada, h.channel, "open");
    struct gateway_conn *g = come_back(&bob);
    expect_dispatch(g, "CHANNEL_DELETE", "{'id': '%s'}", secret);
    expect_dispatch(g, "MESSAGE_CREATE", "{'content': 'open'}");
    expect_dispatch(g, "RESUMED", "{}");
}

static void nobody_else_gets_it(struct world *w)
{
    struct hall h = open_hall(w);
    struct memory bob = leave(h.bob, conn_session(h.bob, PLAIN, "")), ada = bob;

    world_restart(w);
    ada.client = h.ada;
    expect_op(come_back(&ada), 9);
    bob.seq += 7;
    expect_close(come_back(&bob), 4007);
    bob.seq -= 7;
    expect_dispatch(come_back(&bob), "RESUMED", "{}");
}

static void who_comes_back_too_late_begins_anew(struct world *w)
{
    struct hall h = open_hall(w);
    struct memory bob = leave(h.bob, conn_session(h.bob, PLAIN, ""));

    world_restart(w);
    world_wait(w, 200);
    expect_op(come_back(&bob), 9);
}

/* The second server has told others what this session never heard of. */
static void who_missed_two_restarts_begins_anew(struct world *w)
{
    struct hall h = open_hall(w);
    struct memory bob = leave(h.bob, conn_session(h.bob, PLAIN, ""));

    world_restart(w);
    struct memory ada = leave(h.ada, conn_session(h.ada, PLAIN, ""));
    world_restart(w);
    expect_op(come_back(&bob), 9);
    expect_dispatch(come_back(&ada), "RESUMED", "{}");
    world_restart(w);
    expect_op(come_back(&bob), 9);
}

static void one_whose_token_has_ended_does_not_come_back(struct world *w)
{
    struct hall h = open_hall(w);
    struct memory bob = leave(h.bob, conn_session(h.bob, PLAIN, ""));

    world_restart(w);
    expect_status(client_post(h.bob, "{}", "/auth/logout"), 204);
    expect_close(come_back(&bob), 4004);
}

static void four_loops(struct config *c)
{
    c->loops = 4;
}

const struct test gateway_restart_tests[] = {
    TEST_WITH(what_happened_around_a_restart_is_told_once, four_loops),
    TEST_WITH(it_goes_on_after_the_next_restart_too, four_loops),
    TEST(a_bot_goes_on_as_it_was),
    TEST(channels_that_came_and_went_meanwhile_are_told),
    TEST(nobody_else_gets_it),
    TEST(who_comes_back_too_late_begins_anew),
    TEST(who_missed_two_restarts_begins_anew),
    TEST(one_whose_token_has_ended_does_not_come_back),
    { 0 },
};
