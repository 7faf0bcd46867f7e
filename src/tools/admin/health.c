/* health.c - `guildhall health`: statistics of the running server for the last hour. */
#include <stddef.h>
#include <stdio.h>

#include "json/schema.h"
#include "model/fields/types.h"
#include "tools/tools.h"

const struct option_row health_option_rows[] = {
    { "json", OPTION_SWITCH, .offset = offsetof(struct command_settings, console.json),
      .fallback = "off", .help = "Print the server's response as JSON" },
    { 0 },
};

struct health_minute {
    struct str at;
    double seconds, longest_turn_ms;
    int64_t calls, events, sessions, connections, writes, commits, sent_bytes, memory_bytes;
};
struct health_route_group {
    struct str name;
    int64_t calls;
    /* Quantiles of the call durations; null if above the highest bucket of the histogram. */
    struct opt_real p50_ms, p99_ms;
};
struct health_report {
    struct list minutes, groups;
};

static const struct type type_real = { .kind = KIND_REAL };
static const struct field minute_fields[] = {
    { FIELD(struct health_minute, at), .type = &type_text },
    { FIELD(struct health_minute, seconds), .type = &type_real },
    { FIELD(struct health_minute, longest_turn_ms), .type = &type_real },
    { FIELD(struct health_minute, calls), .type = &type_int },
    { FIELD(struct health_minute, events), .type = &type_int },
    { FIELD(struct health_minute, sessions), .type = &type_int },
    { FIELD(struct health_minute, connections), .type = &type_int },
    { FIELD(struct health_minute, writes), .type = &type_int },
    { FIELD(struct health_minute, commits), .type = &type_int },
    { FIELD(struct health_minute, sent_bytes), .type = &type_int },
    { FIELD(struct health_minute, memory_bytes), .type = &type_int },
    { 0 },
};
static const struct schema minute_schema = { .size = sizeof(struct health_minute),
                                             .fields = minute_fields };
static const struct type type_minute = { .kind = KIND_OBJECT, .schema = &minute_schema };
static const struct type type_minutes = { .kind = KIND_ARRAY, .of = &type_minute };
static const struct field group_fields[] = {
    { FIELD(struct health_route_group, name), .type = &type_text },
    { FIELD(struct health_route_group, calls), .type = &type_int },
    { FIELD(struct health_route_group, p50_ms), .type = &type_real, .flags = NULLABLE },
    { FIELD(struct health_route_group, p99_ms), .type = &type_real, .flags = NULLABLE },
    { 0 },
};
static const struct schema group_schema = { .size = sizeof(struct health_route_group),
                                            .fields = group_fields };
static const struct type type_group = { .kind = KIND_OBJECT, .schema = &group_schema };
static const struct type type_groups = { .kind = KIND_ARRAY, .of = &type_group };
static const struct field health_fields[] = {
    { FIELD(struct health_report, minutes), .type = &type_minutes },
    { FIELD(struct health_report, groups), .type = &type_groups },
    { 0 },
};
static const struct schema health_schema = { .size = sizeof(struct health_report),
                                             .fields = health_fields };
static const struct type type_health = { .kind = KIND_OBJECT, .schema = &health_schema };

static void print_health_minute(const struct health_minute *m)
{
    double s = m->seconds > 0 ? m->seconds : 1;

    printf("%.16s %9.1f %9.1f %9lld %9lld %9.1f %9.1f %9.1f\n", m->at.n >= 16 ? m->at.p : "",
           (double)m->calls / s, (double)m->events / s, (long long)m->sessions,
           (long long)m->connections, m->commits ? (double)m->writes / (double)m->commits : 0,
           m->longest_turn_ms, (double)m->memory_bytes / 1048576);
}

static void print_latency(struct opt_real ms)
{
    if (ms.given == GIVEN)
        printf(" %9.1f", ms.value);
    else
        printf(" %9s", "more");
}

static bool print_health_report(struct str body, struct arena *arena)
{
    struct form form = { .arena = arena };
    void *read;

    if (schema_decode(&type_health, body, &form, &read))
        return false;
    const struct health_report *report = read;
    const struct health_minute *minutes = report->minutes.items;
    const struct health_route_group *groups = report->groups.items;
    printf("%-16s %9s %9s %9s %9s %9s %9s %9s\n", "minute", "calls/s", "events/s", "sessions",
           "sockets", "w/sync", "turn ms", "MiB");
    for (size_t i = 0; i < report->minutes.count; i++)
        print_health_minute(&minutes[i]);
    printf("\n%-40s %9s %9s %9s\n", "calls about", "calls", "p50 ms", "p99 ms");
    for (size_t i = 0; i < report->groups.count; i++) {
        printf("%-40.*s %9lld", STR_ARGS(groups[i].name), (long long)groups[i].calls);
        print_latency(groups[i].p50_ms);
        print_latency(groups[i].p99_ms);
        putchar('\n');
    }
    return true;
}

int run_command_health(const struct command_settings *s, char **arguments)
{
    struct operator_request q = { "health", OPERATOR_REPLY_TIMEOUT_S, true };
    struct str reply;

    (void)arguments;
    struct arena *arena = arena_new();
    int status = send_operator_command_or_print_error(s, &q, arena, &reply);
    if (!status && s->console.json)
        printf("%.*s\n", STR_ARGS(reply));
    else if (!status && !print_health_report(reply, arena))
        status = 1;
    arena_free(arena);
    return status;
}
