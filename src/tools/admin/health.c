/* health.c - `guildhall health`: statistics of the running server for the last hour. */
#include <stddef.h>
#include <stdio.h>

#include "json/schema.h"
#include "model/fields/types.h"
#include "tools/tools.h"

const struct option_row health_rows[] = {
    { "json", OPTION_SWITCH, .offset = offsetof(struct settings, console.json), .fallback = "off",
      .help = "Print the server's response as JSON" },
    { 0 },
};

struct told_minute {
    struct str at;
    double seconds, longest_turn_ms;
    int64_t calls, events, sessions, connections, writes, commits, sent_bytes, memory_bytes;
};
struct told_group {
    struct str name;
    int64_t calls;
    struct opt_real p50_ms, p99_ms; /* null: above the highest bucket */
};
struct told_health {
    struct list minutes, groups;
};

static const struct type told_real = { .kind = KIND_REAL };
static const struct field minute_fields[] = {
    { FIELD(struct told_minute, at), .type = &type_text },
    { FIELD(struct told_minute, seconds), .type = &told_real },
    { FIELD(struct told_minute, longest_turn_ms), .type = &told_real },
    { FIELD(struct told_minute, calls), .type = &type_int },
    { FIELD(struct told_minute, events), .type = &type_int },
    { FIELD(struct told_minute, sessions), .type = &type_int },
    { FIELD(struct told_minute, connections), .type = &type_int },
    { FIELD(struct told_minute, writes), .type = &type_int },
    { FIELD(struct told_minute, commits), .type = &type_int },
    { FIELD(struct told_minute, sent_bytes), .type = &type_int },
    { FIELD(struct told_minute, memory_bytes), .type = &type_int },
    { 0 },
};
static const struct schema minute_schema = { .size = sizeof(struct told_minute),
                                             .fields = minute_fields };
static const struct type type_minute = { .kind = KIND_OBJECT, .schema = &minute_schema };
static const struct type type_minutes = { .kind = KIND_ARRAY, .of = &type_minute };
static const struct field group_fields[] = {
    { FIELD(struct told_group, name), .type = &type_text },
    { FIELD(struct told_group, calls), .type = &type_int },
    { FIELD(struct told_group, p50_ms), .type = &told_real, .flags = NULLABLE },
    { FIELD(struct told_group, p99_ms), .type = &told_real, .flags = NULLABLE },
    { 0 },
};
static const struct schema group_schema = { .size = sizeof(struct told_group),
                                            .fields = group_fields };
static const struct type type_group = { .kind = KIND_OBJECT, .schema = &group_schema };
static const struct type type_groups = { .kind = KIND_ARRAY, .of = &type_group };
static const struct field health_fields[] = {
    { FIELD(struct told_health, minutes), .type = &type_minutes },
    { FIELD(struct told_health, groups), .type = &type_groups },
    { 0 },
};
static const struct schema health_schema = { .size = sizeof(struct told_health),
                                             .fields = health_fields };
static const struct type type_health = { .kind = KIND_OBJECT, .schema = &health_schema };

static void print_minute(const struct told_minute *m)
{
    double s = m->seconds > 0 ? m->seconds : 1;

    printf("%.16s %9.1f %9.1f %9lld %9lld %9.1f %9.1f %9.1f\n", m->at.n >= 16 ? m->at.p : "",
           (double)m->calls / s, (double)m->events / s, (long long)m->sessions,
           (long long)m->connections, m->commits ? (double)m->writes / (double)m->commits : 0,
           m->longest_turn_ms, (double)m->memory_bytes / 1048576);
}

static void print_bound(struct opt_real ms)
{
    if (ms.given == GIVEN)
        printf(" %9.1f", ms.value);
    else
        printf(" %9s", "more");
}

static bool print_health(struct str body, struct arena *arena)
{
    struct form form = { .arena = arena };
    void *read;

    if (schema_decode(&type_health, body, &form, &read))
        return false;
    const struct told_health *told = read;
    const struct told_minute *minutes = told->minutes.items;
    const struct told_group *groups = told->groups.items;
    printf("%-16s %9s %9s %9s %9s %9s %9s %9s\n", "minute", "calls/s", "events/s", "sessions",
           "sockets", "w/sync", "turn ms", "MiB");
    for (size_t i = 0; i < told->minutes.count; i++)
        print_minute(&minutes[i]);
    printf("\n%-40s %9s %9s %9s\n", "calls about", "calls", "p50 ms", "p99 ms");
    for (size_t i = 0; i < told->groups.count; i++) {
        printf("%-40.*s %9lld", STR_FMT(groups[i].name), (long long)groups[i].calls);
        print_bound(groups[i].p50_ms);
        print_bound(groups[i].p99_ms);
        putchar('\n');
    }
    return true;
}

int tool_health(const struct settings *s, char **arguments)
{
    struct order_question q = { "health", ORDER_ANSWER_S, true };
    struct str answer;

    if (*arguments)
        return usage("health accepts only options");
    struct arena *arena = arena_new();
    int status = order_ask_running(s, &q, arena, &answer);
    if (!status && s->console.json)
        printf("%.*s\n", STR_FMT(answer));
    else if (!status && !print_health(answer, arena))
        status = 1;
    arena_free(arena);
    return status;
}
