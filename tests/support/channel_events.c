/* channel_events.c - expects the events of one channel, and uploads files to it. */
#include "channel_events.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "internal.h"

static size_t count_events_so_far(struct world *w)
{
    size_t n = 0;

    pthread_mutex_lock(&w->lock);
    for (const struct arrivals *h = w->arrivals; h; h = h->next)
        n++;
    pthread_mutex_unlock(&w->lock);
    return n;
}

struct channel_events world_channel_events(struct world *w, const char *channel_id)
{
    struct channel_events r = { .world = w, .arrivals = count_events_so_far(w) };

    snprintf(r.id, sizeof r.id, "%s", channel_id);
    return r;
}

static bool is_for(const struct arrivals *h, snowflake channel)
{
    return (h->to.kind == AUDIENCE_CHANNEL && h->to.id == channel) ||
           (h->to.kind == AUDIENCE_GUILD && h->to.channel_id == channel && h->to.any_of == 0);
}

static const struct arrivals *next_channel_event(void *of)
{
    struct channel_events *r = of;
    struct world *w = r->world;
    snowflake channel = strtoull(r->id, NULL, 10);
    const struct arrivals *found = NULL;
    size_t i = 0;

    pthread_mutex_lock(&w->lock);
    for (const struct arrivals *h = w->arrivals; h && !found; h = h->next, i++)
        if (i >= r->arrivals && is_for(h, channel))
            found = h;
    if (found)
        r->arrivals = i;
    pthread_mutex_unlock(&w->lock);
    return found;
}

void expect_channel_event_at(const char *file, int line, struct channel_events *r,
                             const char *event, const char *fmt, ...)
{
    struct arena *a = world_arena(r->world);
    const struct arrivals *h = received_soon(next_channel_event, r);
    struct str where;
    va_list args;

    if (!h)
        fail_test(file, line, "the channel got no event, expected %s", event);
    if (strcmp(get_name_of_event_type(h->event), event) != 0)
        fail_test(file, line, "the channel got %s, expected %s", get_name_of_event_type(h->event),
                  event);
    va_start(args, fmt);
    const struct dom *expected = parse_expected(a, fmt, args);
    va_end(args);
    if (!dom_contains(dom_parse(a, str_of(h->payload)), expected, a, &where))
        fail_test(file, line, "%s: %s in %s", event, where.p, h->payload);
}

void expect_channel_silence_at(const char *file, int line, struct channel_events *r)
{
    const struct arrivals *h = next_channel_event(r);

    if (h)
        fail_test(file, line, "the channel got an unexpected %s", get_name_of_event_type(h->event));
}

static void add_part(struct buf *out, const char *name, const char *filename, struct str bytes)
{
    buf_printf(out, "--frontier\r\nContent-Disposition: form-data; name=\"%s\"", name);
    if (filename)
        buf_printf(out, "; filename=\"%s\"\r\nContent-Type: application/octet-stream", filename);
    buf_add_lit(out, "\r\n\r\n");
    buf_add_str(out, bytes);
    buf_add_lit(out, "\r\n");
}

struct answer client_upload(struct client *c, const char *method, const char *json,
                            const struct upload *uploads, const char *path, ...)
{
    struct arena *a = world_arena(c->world);
    struct buf out;
    char tail[1000];
    va_list args;

    va_start(args, path);
    vsnprintf(tail, sizeof tail, path, args);
    va_end(args);
    buf_init(&out, 128 * 1024 * 1024);
    if (json) {
        char *text = str_dup_cstring(a, str_of(json));

        for (char *p = text; *p; p++)
            *p = *p == '\'' ? '"' : *p;
        add_part(&out, "payload_json", NULL, str_of(text));
    }
    for (; uploads->name; uploads++)
        add_part(&out, uploads->name, uploads->filename, uploads->bytes);
    buf_add_lit(&out, "--frontier--\r\n");
    struct answer answer = client_request(
        c, method, str_printf(a, "/api/v10%s", tail).p,
        "Content-Type: multipart/form-data; boundary=frontier\r\n", buf_as_str(&out));
    buf_clear(&out);
    return answer;
}

const char *say_text(struct client *c, const char *channel, const char *text)
{
    char body[300];

    snprintf(body, sizeof body, "{'content': '%s'}", text);
    struct answer a = client_post(c, body, "/channels/%s/messages", channel);
    expect_status(a, 200);
    return answer_text(a, "id");
}
