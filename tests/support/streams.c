/* streams.c - video streams in voice channels, for tests. */
#include "streams.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "internal.h"

void with_two_regions(struct config *c)
{
    c->voice_regions = "eu:Europe,us:America";
    c->voice_endpoint = "{region}.voice.example";
}

const char *stream_key(const struct test_voice *h, const char *channel, const struct client *owner)
{
    return str_printf(world_arena(h->world), "guild:%s:%s:%s", h->guild, channel, owner->id).p;
}

void ask_stream(struct client *c, const char *guild, const char *channel, const char *more)
{
    if (guild)
        conn_send(c->gate,
                  "{'op': 18, 'd': {'type': 'guild', 'guild_id': '%s', 'channel_id': '%s'%s}}",
                  guild, channel, more);
    else
        conn_send(c->gate,
                  "{'op': 18, 'd': {'type': 'call', 'guild_id': null, 'channel_id': '%s'%s}}",
                  channel, more);
}

void ask_about_stream(struct client *c, int op, const char *key)
{
    conn_send(c->gate, "{'op': %d, 'd': {'stream_key': '%s'}}", op, key);
}

void ask_pause(struct client *c, const char *key, bool paused)
{
    conn_send(c->gate, "{'op': 22, 'd': {'stream_key': '%s', 'paused': %s}}", key,
              paused ? "true" : "false");
}

struct test_voice world_show(struct world *w, const char **ret_key)
{
    struct test_voice h = world_test_voice(w);

    *ret_key = stream_key(&h, h.voice, h.ada);
    join_voice(&h, h.ada, h.voice, h.bob, NULL);
    join_voice(&h, h.bob, h.voice, h.ada, NULL);
    ask_stream(h.ada, h.guild, h.voice, "");
    expect_event(h.ada, "STREAM_CREATE", "{'stream_key': '%s'}", *ret_key);
    expect_event(h.ada, "STREAM_SERVER_UPDATE", "{'stream_key': '%s'}", *ret_key);
    expect_event(h.ada, "VOICE_STATE_UPDATE", "{'self_stream': true}");
    expect_event(h.bob, "VOICE_STATE_UPDATE", "{'self_stream': true}");
    return h;
}

struct test_voice world_audience(struct world *w, const char **ret_key)
{
    struct test_voice h = world_show(w, ret_key);

    ask_about_stream(h.bob, 20, *ret_key);
    expect_event(h.bob, "STREAM_CREATE", "{'viewer_ids': ['%s']}", h.bob->id);
    expect_event(h.bob, "STREAM_SERVER_UPDATE", "{}");
    expect_event(h.bob, "STREAM_UPDATE", "{}");
    expect_event(h.ada, "STREAM_UPDATE", "{'viewer_ids': ['%s']}", h.bob->id);
    return h;
}

static const struct dom *read_stream(struct client *c, int wait_ms)
{
    for (;;) {
        const struct dom *m = conn_read(c->gate, wait_ms);
        const struct dom *t = m ? dom_at(m, "t") : NULL;

        if (!m)
            return NULL;
        if (!t || t->kind != JSON_STRING)
            continue;
        conn_count(c->gate, m);
        if (str_starts_with(t->text, STR("STREAM_")))
            return m;
    }
}

const struct dom *expect_stream_at(const char *file, int line, struct client *c, const char *event,
                                   const char *fmt, ...)
{
    const struct dom *m = read_stream(c, 60000);
    struct str where;
    va_list args;

    if (!m)
        fail_test(file, line, "%s got no stream event", c->name);
    if (!str_is(dom_at(m, "t")->text, event))
        fail_test(file, line, "%s got %.*s, expected %s", c->name, STR_ARGS(dom_at(m, "t")->text),
                  event);
    va_start(args, fmt);
    const struct dom *expected = parse_expected(world_arena(c->world), fmt, args);
    va_end(args);
    if (!dom_contains(dom_at(m, "d"), expected, world_arena(c->world), &where))
        fail_test(file, line, "%s: %s", event, where.p);
    return dom_at(m, "d");
}

void expect_no_stream(struct client *c)
{
    const struct dom *m;

    conn_send(c->gate, "{'op': 1, 'd': null}");
    while ((m = conn_read(c->gate, 60000))) {
        const struct dom *t = dom_at(m, "t");

        if (str_is(dom_at(m, "op")->text, "11"))
            return;
        conn_count(c->gate, m);
        if (str_starts_with(t->text, STR("STREAM_")))
            fail_test(__FILE__, __LINE__, "%s got an unexpected %.*s", c->name, STR_ARGS(t->text));
    }
    fail_test(__FILE__, __LINE__, "no heartbeat was acknowledged");
}
