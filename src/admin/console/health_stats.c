/* health_stats.c - samples statistics of the server once per minute and shows the last hour. */
#include <pthread.h>

#include "api/monitoring/durations.h"
#include "base/clock.h"
#include "base/stall_meter.h"
#include "base/mem.h"
#include "net/http/server.h"
#include "admin/console/minute_stats.h"
#include "admin/console/internal.h"
#include "admin/operator_commands/internal.h"

enum { MINUTE_MS = 60 * 1000, DURATIONS = DURATION_BOUNDS + 1 };

struct health {
    struct api *api;
    struct loop *loop;
    uv_timer_t timer;
    size_t groups;
    pthread_mutex_t lock; /* protects the following members */
    struct minute_stats *figures;
    struct minute_stats_sample sample; /* last sample; the memory of its counts is reused */
};

/* Reads all counters. If `over` is set, the minute has ended: also resets the longest loop
 * iteration. The caller holds the lock. */
static const struct minute_stats_sample *health_read_counters(struct health *h, bool over)
{
    const struct api_options *o = api_get_options(h->api);
    struct http_server *server = api_get_http_server(h->api);
    struct http_server_stats net = { 0 };
    struct gateway_stats gateway = { 0 };
    struct store_stats store = { 0 };
    struct minute_stats_sample *s = &h->sample;
    size_t memory = 0;

    if (server)
        http_server_read_stats(server, &net);
    if (o->gateway)
        gateway_read_stats(o->gateway, &gateway);
    store_read_stats(o->store, &store);
    uv_resident_set_memory(&memory);
    for (size_t i = 0; i < h->groups; i++)
        call_durations_read_histogram(api_get_call_durations(h->api), i, s->counts + i * DURATIONS);
    *s = (struct minute_stats_sample){ .mono_ns = clock_monotonic_ns(),
                                       .at_us = clock_us(),
                                       .calls = net.requests,
                                       .events = gateway.delivered,
                                       .writes = store.writes,
                                       .commits = store.commits,
                                       .sent_bytes = net.bytes_out,
                                       .sessions = gateway.sessions,
                                       .connections = net.open,
                                       .memory_bytes = memory,
                                       .longest_iteration_ns = stall_longest_part_ns(over),
                                       .counts = s->counts };
    return s;
}

static void health_add_sample(struct health *h)
{
    pthread_mutex_lock(&h->lock);
    minute_stats_add_sample(h->figures, health_read_counters(h, true));
    pthread_mutex_unlock(&h->lock);
}

static void on_health_timer(uv_timer_t *timer)
{
    health_add_sample(timer->data);
}

static void health_start_timer(struct loop *loop, void *arg)
{
    struct health *h = arg;

    uv_timer_init(loop_get_uv_loop(loop), &h->timer);
    h->timer.data = h;
    uv_timer_start(&h->timer, on_health_timer, MINUTE_MS, MINUTE_MS);
}

struct health *health_stats_start_sampling(struct api *api, struct loop *loop)
{
    struct health *h = mem_new(sizeof *h);

    h->api = api;
    h->loop = loop;
    h->groups = call_durations_get_domain_count(api_get_call_durations(api));
    h->figures = minute_stats_new(h->groups, DURATIONS);
    h->sample.counts = mem_new(h->groups * DURATIONS * sizeof *h->sample.counts);
    pthread_mutex_init(&h->lock, NULL);
    health_add_sample(h);
    loop_run_function_and_wait(loop, health_start_timer, h);
    return h;
}

static void health_stop_timer(struct loop *loop, void *arg)
{
    struct health *h = arg;

    (void)loop;
    uv_close((uv_handle_t *)&h->timer, NULL);
}

void health_stats_stop_sampling(struct health *h)
{
    if (h)
        loop_run_function_and_wait(h->loop, health_stop_timer, h);
}

void health_stats_free(struct health *h)
{
    if (!h)
        return;
    pthread_mutex_destroy(&h->lock);
    minute_stats_free(h->figures);
    mem_free(h->sample.counts);
    mem_free(h);
}

static void write_count_json(struct json_writer *j, const char *name, uint64_t n)
{
    json_write_key(j, str_of(name));
    json_write_int(j, (int64_t)n);
}

/* Writes a quantile of the call durations as JSON. Writes null if the quantile is above the last
 * bound of the histogram. `part` is a fraction such as 0.99. */
static void write_quantile_json(struct json_writer *j, const uint32_t *counts, double part)
{
    int64_t us = duration_quantile(counts, duration_bounds_us, DURATION_BOUNDS, part);

    if (us < 0)
        json_write_null(j);
    else
        json_write_real(j, (double)us / 1000);
}

/* Writes thousandths as a number with three decimal places. */
static void write_thousandths_json(struct json_writer *j, const char *name, int64_t thousandths)
{
    json_write_key(j, str_of(name));
    json_write_real(j, (double)thousandths / 1000);
}

static void write_minute_json(struct json_writer *j, const struct one_minute_stats *m)
{
    json_begin_object(j);
    json_write_name(j, "at");
    json_write_time(j, m->at_us);
    write_thousandths_json(j, "seconds", m->ns / 1000000);
    write_count_json(j, "calls", m->calls);
    write_count_json(j, "events", m->events);
    write_count_json(j, "sessions", m->sessions);
    write_count_json(j, "connections", m->connections);
    write_count_json(j, "writes", m->writes);
    write_count_json(j, "commits", m->commits);
    write_count_json(j, "sent_bytes", m->sent_bytes);
    write_count_json(j, "memory_bytes", m->memory_bytes);
    write_thousandths_json(j, "longest_turn_ms", m->longest_iteration_ns / 1000);
    json_end_object(j);
}

static uint64_t sum_calls(const uint32_t *counts)
{
    uint64_t n = 0;

    for (size_t i = 0; i < DURATIONS; i++)
        n += counts[i];
    return n;
}

/* Writes an array with one value per minute. If `part` is 0, the value is the number of calls;
 * otherwise it is the quantile `part` of the call durations. */
static void write_minute_values_json(struct json_writer *j, const char *name,
                                     const struct one_minute_stats *minutes, size_t n, size_t group,
                                     double part)
{
    json_write_key(j, str_of(name));
    json_begin_array(j);
    for (size_t i = 0; i < n; i++) {
        const uint32_t *counts = minutes[i].counts + group * DURATIONS;

        if (part > 0)
            write_quantile_json(j, counts, part);
        else
            json_write_int(j, (int64_t)sum_calls(counts));
    }
    json_end_array(j);
}

static void write_route_group_json(struct json_writer *j, const struct health *h,
                                   const struct one_minute_stats *minutes, size_t n, size_t group)
{
    uint32_t whole[DURATIONS] = { 0 };

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < DURATIONS; k++)
            whole[k] += minutes[i].counts[group * DURATIONS + k];
    if (!sum_calls(whole))
        return;
    json_begin_object(j);
    json_write_name(j, "name");
    json_write_text(j,
                    str_of(call_durations_get_domain_name(api_get_call_durations(h->api), group)));
    write_count_json(j, "calls", sum_calls(whole));
    json_write_name(j, "p50_ms");
    write_quantile_json(j, whole, 0.5);
    json_write_name(j, "p99_ms");
    write_quantile_json(j, whole, 0.99);
    json_write_name(j, "minutes");
    json_begin_object(j);
    write_minute_values_json(j, "calls", minutes, n, group, 0);
    write_minute_values_json(j, "p50_ms", minutes, n, group, 0.5);
    write_minute_values_json(j, "p99_ms", minutes, n, group, 0.99);
    json_end_object(j);
    json_end_object(j);
}

/* Writes the statistics of the last hour as JSON. */
enum err operator_health_show(struct call *call, struct running_operator_command *o)
{
    struct health *h = call_get_workbench(call)->health;
    struct one_minute_stats *minutes =
        arena_array(call->arena, struct one_minute_stats, STATS_MINUTES + 1);
    struct json_writer j = json_writer_to_buf(&o->out);

    pthread_mutex_lock(&h->lock);
    size_t n = minute_stats_read(h->figures, health_read_counters(h, false), minutes);
    json_begin_object(&j);
    json_write_name(&j, "minutes");
    json_begin_array(&j);
    for (size_t i = 0; i < n; i++)
        write_minute_json(&j, &minutes[i]);
    json_end_array(&j);
    json_write_name(&j, "groups");
    json_begin_array(&j);
    for (size_t i = 0; i < h->groups; i++)
        write_route_group_json(&j, h, minutes, n, i);
    json_end_array(&j);
    json_end_object(&j);
    pthread_mutex_unlock(&h->lock);
    return OK;
}
