/* clock.c - `guildhall clock`: lets time pass on a server that is there for tests. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "json/schema.h"
#include "model/fields/types.h"
#include "tools/admin/console.h"

const struct option_row clock_rows[] = {
    { "json", OPTION_SWITCH, .offset = offsetof(struct settings, console.json), .fallback = "off",
      .help = "Print what the server answered" },
    { 0 },
};

struct clock_told {
    struct str now;
    int64_t moved_ms;
};
static const struct field clock_told_fields[] = {
    { FIELD(struct clock_told, now), .type = &type_text },
    { FIELD(struct clock_told, moved_ms), .type = &type_int },
    { 0 },
};
static const struct schema clock_told_schema = { .size = sizeof(struct clock_told),
                                                 .fields = clock_told_fields };
static const struct type type_clock_told = { .kind = KIND_OBJECT, .schema = &clock_told_schema };

static void print_clock(const struct wire_answer *a, struct arena *arena)
{
    struct form form = { .arena = arena };
    void *read;

    if (schema_decode(&type_clock_told, a->body, &form, &read))
        return;
    const struct clock_told *t = read;
    printf("%.*s, %lld s after the machine's time\n", STR_FMT(t->now),
           (long long)(t->moved_ms / 1000));
}

/* "+15m" or "reset" as the body of the call; p == NULL: only to be looked at. */
static bool clock_order(const char *word, struct arena *arena, struct str *ret)
{
    int64_t ms;

    *ret = (struct str){ 0 };
    if (!word)
        return true;
    if (strcmp(word, "reset") == 0) {
        *ret = STR("{\"reset\":true}");
        return true;
    }
    if (*word != '+' || !read_duration(word + 1, &ms))
        return false;
    *ret = str_printf(arena, "{\"advance_ms\":%lld}", (long long)ms);
    return true;
}

int tool_clock(const struct settings *s, char **arguments)
{
    struct arena *arena = arena_new();
    struct str body;
    int status = 2;

    if (!clock_order(arguments[0], arena, &body) || (arguments[0] && arguments[1])) {
        usage("clock, clock +15m (ms, s, m, h or d) or clock reset");
    } else {
        struct wire_answer a =
            console_call(&s->config, arena, body.p ? "POST" : "GET", "/console/clock", body);

        status = console_status(&a);
        if (!status && s->console.json)
            printf("%.*s\n", STR_FMT(a.body));
        else if (!status)
            print_clock(&a, arena);
    }
    arena_free(arena);
    return status;
}
