/* health.c - samples statistics of the server once per minute and shows the last hour. */
#include <pthread.h>

#include "api/monitoring/durations.h"
#include "base/clock.h"
#include "base/hold.h"
#include "base/mem.h"
#include "net/http/server.h"
#include "admin/console/figures.h"
#include "admin/console/internal.h"
#include "admin/orders/internal.h"

enum { MINUTE_MS = 60 * 1000, DURATIONS = DURATION_BOUNDS + 1 };

struct health {
    struct api *api;
    struct loop *loop;
    uv_timer_t timer;
    size_t groups;
    pthread_mutex_t lock; /* protects the fields below */
    struct figures *figures;
    struct figure_sample sample; /* the counts array is reused */
};

/* Reads all counters. over: the minute ends, so the longest loop iteration is reset. Needs the
 * lock. */
static const struct figure_sample *health_look(struct health *h, bool over)
{
    const struct api_options *o = api_options(h->api);
    struct server *server = api_server(h->api);
    struct server_stats net = { 0 };
    struct gateway_stats gateway = { 0 };
    struct store_stats store = { 0 };
    struct figure_sample *s = &h->sample;
    size_t memory = 0;

    if (server)
        server_stats(server, &net);
    if (o->gateway)
        gateway_stats(o->gateway, &gateway);
    store_stats(o->store, &store);
    uv_resident_set_memory(&memory);
    for (size_t i = 0; i < h->groups; i++)
        durations_counts(api_durations(h->api), i, s->counts + i * DURATIONS);
    *s = (struct figure_sample){ .mono_ns = clock_mono(),
                                 .at_us = clock_us(),
                                 .calls = net.requests,
                                 .events = gateway.delivered,
                                 .writes = store.writes,
                                 .commits = store.commits,
                                 .sent_bytes = net.bytes_out,
                                 .sessions = gateway.sessions,
                                 .connections = net.open,
                                 .memory_bytes = memory,
                                 .longest_turn_ns = hold_recent(over),
                                 .counts = s->counts };
    return s;
}

static void health_note(struct health *h)
{
    pthread_mutex_lock(&h->lock);
    figures_add(h->figures, health_look(h, true));
    pthread_mutex_unlock(&h->lock);
}

static void health_tick(uv_timer_t *timer)
{
    health_note(timer->data);
}

static void health_begin(struct loop *loop, void *arg)
{
    struct health *h = arg;

    uv_timer_init(loop_uv(loop), &h->timer);
    h->timer.data = h;
    uv_timer_start(&h->timer, health_tick, MINUTE_MS, MINUTE_MS);
}

struct health *health_start(struct api *api, struct loop *loop)
{
    struct health *h = mem_new(sizeof *h);

    h->api = api;
    h->loop = loop;
    h->groups = durations_groups(api_durations(api));
    h->figures = figures_new(h->groups, DURATIONS);
    h->sample.counts = mem_new(h->groups * DURATIONS * sizeof *h->sample.counts);
    pthread_mutex_init(&h->lock, NULL);
    health_note(h);
    loop_call(loop, health_begin, h);
    return h;
}

static void health_end(struct loop *loop, void *arg)
{
    struct health *h = arg;

    (void)loop;
    uv_close((uv_handle_t *)&h->timer, NULL);
}

void health_stop(struct health *h)
{
    if (h)
        loop_call(h->loop, health_end, h);
}

void health_free(struct health *h)
{
    if (!h)
        return;
    pthread_mutex_destroy(&h->lock);
    figures_free(h->figures);
    mem_free(h->sample.counts);
    mem_free(h);
}

static void write_count(struct json *j, const char *name, uint64_t n)
{
    json_key(j, str_of(name));
    json_int(j, (int64_t)n);
}

/* Writes null if the value is above the last bucket. */
static void write_quantile(struct json *j, const uint32_t *counts, double part)
{
    int64_t us = figure_quantile(counts, duration_bounds_us, DURATION_BOUNDS, part);

    if (us < 0)
        json_null(j);
    else
        json_real(j, (double)us / 1000);
}

/* Writes a number with three decimal places. */
static void write_thousandths(struct json *j, const char *name, int64_t thousandths)
{
    json_key(j, str_of(name));
    json_real(j, (double)thousandths / 1000);
}

static void write_minute(struct json *j, const struct figure_minute *m)
{
    json_object(j);
    json_name(j, "at");
    json_time(j, m->at_us);
    write_thousandths(j, "seconds", m->ns / 1000000);
    write_count(j, "calls", m->calls);
    write_count(j, "events", m->events);
    write_count(j, "sessions", m->sessions);
    write_count(j, "connections", m->connections);
    write_count(j, "writes", m->writes);
    write_count(j, "commits", m->commits);
    write_count(j, "sent_bytes", m->sent_bytes);
    write_count(j, "memory_bytes", m->memory_bytes);
    write_thousandths(j, "longest_turn_ms", m->longest_turn_ns / 1000);
    json_object_end(j);
}

static uint64_t calls_of(const uint32_t *counts)
{
    uint64_t n = 0;

    for (size_t i = 0; i < DURATIONS; i++)
        n += counts[i];
    return n;
}

/* Writes an array with a value per minute: the quantile, or the number of calls if part is 0. */
static void write_line(struct json *j, const char *name, const struct figure_minute *minutes,
                       size_t n, size_t group, double part)
{
    json_key(j, str_of(name));
    json_array(j);
    for (size_t i = 0; i < n; i++) {
        const uint32_t *counts = minutes[i].counts + group * DURATIONS;

        if (part > 0)
            write_quantile(j, counts, part);
        else
            json_int(j, (int64_t)calls_of(counts));
    }
    json_array_end(j);
}

static void write_group(struct json *j, const struct health *h, const struct figure_minute *minutes,
                        size_t n, size_t group)
{
    uint32_t whole[DURATIONS] = { 0 };

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < DURATIONS; k++)
            whole[k] += minutes[i].counts[group * DURATIONS + k];
    if (!calls_of(whole))
        return;
    json_object(j);
    json_name(j, "name");
    json_text(j, str_of(durations_name(api_durations(h->api), group)));
    write_count(j, "calls", calls_of(whole));
    json_name(j, "p50_ms");
    write_quantile(j, whole, 0.5);
    json_name(j, "p99_ms");
    write_quantile(j, whole, 0.99);
    json_name(j, "minutes");
    json_object(j);
    write_line(j, "calls", minutes, n, group, 0);
    write_line(j, "p50_ms", minutes, n, group, 0.5);
    write_line(j, "p99_ms", minutes, n, group, 0.99);
    json_object_end(j);
    json_object_end(j);
}

/* Writes the statistics of the last hour as JSON. */
enum err order_health(struct call *call, struct order *o)
{
    struct health *h = workbench_of(call)->health;
    struct figure_minute *minutes =
        arena_array(call->arena, struct figure_minute, FIGURE_MINUTES + 1);
    struct json j = json_to(&o->out);

    pthread_mutex_lock(&h->lock);
    size_t n = figures_read(h->figures, health_look(h, false), minutes);
    json_object(&j);
    json_name(&j, "minutes");
    json_array(&j);
    for (size_t i = 0; i < n; i++)
        write_minute(&j, &minutes[i]);
    json_array_end(&j);
    json_name(&j, "groups");
    json_array(&j);
    for (size_t i = 0; i < h->groups; i++)
        write_group(&j, h, minutes, n, i);
    json_array_end(&j);
    json_object_end(&j);
    pthread_mutex_unlock(&h->lock);
    return OK;
}
