/* test_voice.c - a guild with voice channels, and users who connect to them. */
#include "test_voice.h"

#include <stdarg.h>

#include "base/str.h"
#include "internal.h"
#include "waits.h"

static struct test_voice fill(struct test_voice h)
{
    h.guild = found_guild(h.ada, "Hall");
    h.voice = make_channel(h.ada, h.guild, "{'name': 'voice', 'type': 2}");
    h.other = make_channel(h.ada, h.guild, "{'name': 'other', 'type': 2}");
    h.stage = make_channel(h.ada, h.guild, "{'name': 'stage', 'type': 13}");
    put_member(h.guild, h.bob);
    return h;
}

struct test_voice world_test_voice(struct world *w)
{
    struct test_voice h = fill((struct test_voice){
        .world = w, .ada = world_client(w, "ada"), .bob = world_client(w, "bob") });

    client_connect(h.ada);
    client_connect(h.bob);
    return h;
}

struct test_voice another_test_voice(const struct test_voice *h)
{
    return fill((struct test_voice){ .world = h->world, .ada = h->ada, .bob = h->bob });
}

struct client *test_voice_member(const struct test_voice *h, const char *name, uint64_t perms)
{
    struct client *c = world_client(h->world, name);
    struct test_guild v = { .world = h->world };

    snprintf(v.id, sizeof v.id, "%s", h->guild);
    test_guild_add_with(&v, c, 1, perms);
    client_connect(c);
    return c;
}

struct client *test_voice_bot(const struct test_voice *h, const char *name)
{
    struct client *c = world_bot(h->world, name);

    put_member(h->guild, c);
    client_connect(c);
    return c;
}

void fill_with_cameras(const struct test_voice *h, const char *channel, int count)
{
    char name[16];

    for (int i = 0; i < count; i++) {
        snprintf(name, sizeof name, "cam%d", i);
        struct client *c = world_client(h->world, name);
        put_member(h->guild, c);
        world_sql(h->world,
                  "insert into voice_states (guild_id, user_id, channel_id, session_id, "
                  "session_number, node, region, salt, self_video, connected_at, active_at) "
                  "values (%s, %s, %s, 'x', 1, 0, 'main', '', 1, 1, 1)",
                  h->guild, c->id, channel);
    }
}

static const char *quoted(struct world *w, const char *id)
{
    return id ? str_printf(world_arena(w), "'%s'", id).p : "null";
}

static void send_voice_state_request(struct world *w, struct gateway_conn *g, const char *guild,
                                     const char *channel, const char *more)
{
    conn_send(g, "{'op': 4, 'd': {'guild_id': %s, 'channel_id': %s%s}}", quoted(w, guild),
              quoted(w, channel), more);
}

void ask_voice(struct client *c, const char *guild, const char *channel, const char *more)
{
    send_voice_state_request(c->world, c->gate, guild, channel, more);
}

void ask_voice_by(struct client *c, struct gateway_conn *g, const char *guild, const char *channel)
{
    send_voice_state_request(c->world, g, guild, channel, "");
}

static void expect_voice_state_update(struct client *to, const struct client *about,
                                      const char *guild, const char *channel)
{
    expect_event(to, "VOICE_STATE_UPDATE", "{'guild_id': '%s', 'user_id': '%s', 'channel_id': %s}",
                 guild, about->id, quoted(to->world, channel));
}

void join_voice(const struct test_voice *h, struct client *c, const char *channel, ...)
{
    va_list others;

    ask_voice(c, h->guild, channel, "");
    expect_voice_state_update(c, c, h->guild, channel);
    expect_server(c);
    va_start(others, channel);
    for (struct client *o; (o = va_arg(others, struct client *));)
        expect_voice_state_update(o, c, h->guild, channel);
    va_end(others);
}

void expect_server(struct client *c)
{
    expect_event(c, "VOICE_SERVER_UPDATE", "{}");
}

static const struct dom *read_voice(struct client *c, int wait_ms)
{
    for (const struct dom *m; (m = conn_read(c->gate, wait_ms));) {
        const struct dom *t = dom_at(m, "t");

        if (!t || t->kind != JSON_STRING)
            continue;
        conn_count(c->gate, m);
        if (str_starts_with(t->text, STR("VOICE_")))
            return m;
    }
    return NULL;
}

const struct dom *next_voice(struct client *c)
{
    const struct dom *m = read_voice(c, 60000);

    if (!m)
        fail_test(__FILE__, __LINE__, "%s got no voice event", c->name);
    return m;
}

void await_self_mute(struct client *c)
{
    for (const struct dom *m; (m = next_voice(c));) {
        const struct dom *mute = dom_at(m, "d.self_mute");

        if (mute && mute->truth)
            return;
    }
}

/* A repeated VOICE_SERVER_UPDATE is sent at most once per second, so it may or may not have
 * arrived before the client leaves. */
static void expect_left(const struct test_voice *h, struct client *c)
{
    struct arena *a = world_arena(c->world);
    struct str left = str_printf(a,
                                 "{\"guild_id\": \"%s\", \"user_id\": \"%s\", "
                                 "\"channel_id\": null}",
                                 h->guild, c->id);
    const struct dom *m = next_voice(c);
    struct str where;

    while (str_is(dom_at(m, "t")->text, "VOICE_SERVER_UPDATE"))
        m = next_voice(c);
    if (!str_is(dom_at(m, "t")->text, "VOICE_STATE_UPDATE") ||
        !dom_contains(dom_at(m, "d"), dom_parse(a, left), a, &where))
        fail_test(__FILE__, __LINE__, "%s got %.*s before the leave event", c->name,
                  STR_ARGS(dom_at(m, "t")->text));
}

void leave_voice(const struct test_voice *h, struct client *c, ...)
{
    va_list others;

    ask_voice(c, h->guild, NULL, "");
    expect_left(h, c);
    va_start(others, c);
    for (struct client *o; (o = va_arg(others, struct client *));)
        expect_voice_state_update(o, c, h->guild, NULL);
    va_end(others);
}

void expect_voice_at(const char *file, int line, struct client *c, const char *event,
                     const char *fmt, ...)
{
    const struct dom *m = next_voice(c);
    struct str where;
    va_list args;

    if (!str_is(dom_at(m, "t")->text, event))
        fail_test(file, line, "%s got %.*s, expected %s", c->name, STR_ARGS(dom_at(m, "t")->text),
                  event);
    va_start(args, fmt);
    const struct dom *expected = parse_expected(world_arena(c->world), fmt, args);
    va_end(args);
    if (!dom_contains(dom_at(m, "d"), expected, world_arena(c->world), &where))
        fail_test(file, line, "%s: %s", event, where.p);
}

static void expect_no_voice_event(struct client *c)
{
    const struct dom *m;

    conn_send(c->gate, "{'op':1,'d':null}");
    while ((m = conn_read(c->gate, 60000)) && !str_is(dom_at(m, "op")->text, "11")) {
        const struct dom *t = dom_at(m, "t");

        if (!t || t->kind != JSON_STRING)
            continue;
        conn_count(c->gate, m);
        if (str_starts_with(t->text, STR("VOICE_")))
            fail_test(__FILE__, __LINE__, "%s got an unexpected %.*s", c->name, STR_ARGS(t->text));
    }
    if (!m)
        fail_test(__FILE__, __LINE__, "the heartbeat of %s is not acknowledged", c->name);
}

/* The client's messages were processed, and the resulting events delivered. */
void expect_voice_silence(struct client *c)
{
    expect_no_voice_event(c);
    world_settle(c->world);
    expect_no_voice_event(c);
}

void expect_no_voice(struct client *c, int wait_ms)
{
    const struct dom *m = read_voice(c, wait_ms);

    if (m)
        fail_test(__FILE__, __LINE__, "%s got an unexpected %.*s", c->name,
                  STR_ARGS(dom_at(m, "t")->text));
}
