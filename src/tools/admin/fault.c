/* fault.c - `guildhall fault`: calls that go wrong, to see what a bot does then. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "json/schema.h"
#include "json/write.h"
#include "model/fields/types.h"
#include "tools/admin/console.h"

#define AT(member) .offset = offsetof(struct settings, console.member)

const struct option_row fault_rows[] = {
    { "status", OPTION_INT, AT(fault_status), .fallback = "0", .min = 0, .max = 599,
      .help = "Answer with it instead: 500, 502, 429, …" },
    { "times", OPTION_INT, AT(times), .fallback = "1", .min = 0, .max = 1000000,
      .help = "How many calls; 0: all, until fault clear" },
    { "delay", OPTION_TEXT, AT(delay), .value = "3s", .help = "Wait so long before" },
    { "retry-after", OPTION_TEXT, AT(retry_after), .value = "2s", .help = "What a 429 says" },
    { "drop", OPTION_SWITCH, AT(drop), .fallback = "off",
      .help = "End the connection without an answer" },
    { "json", OPTION_SWITCH, AT(json), .fallback = "off",
      .help = "Print what the server answered" },
    { 0 },
};

static const char HOW[] = "fault 'POST /channels/*/messages' --status 500 --times 2 --delay 3s, "
                          "fault events --delay 3s, fault, or fault clear";

static bool read_optional(const char *text, int64_t *ret_ms)
{
    *ret_ms = 0;
    return !text || read_duration(text, ret_ms);
}

/* 'POST /path' or '/path'; 'events' is what sessions are told. */
static bool write_order(const struct console_options *o, const char *what, struct buf *out)
{
    struct json j = json_to(out);
    struct str path = str_of(what);
    bool events = strcmp(what, "events") == 0;
    struct str method = *what == '/' || events ? STR("") : str_cut(&path, ' ');
    int64_t delay, retry;

    if ((!events && !str_starts(path, STR("/"))) || !read_optional(o->delay, &delay) ||
        !read_optional(o->retry_after, &retry))
        return false;
    json_object(&j);
    json_name(&j, "method");
    json_text(&j, method);
    json_name(&j, "path");
    json_text(&j, path);
    json_name(&j, "status");
    json_int(&j, o->fault_status);
    json_name(&j, "times");
    json_int(&j, o->times);
    json_name(&j, "delay_ms");
    json_int(&j, delay);
    json_name(&j, "retry_after_ms");
    json_int(&j, retry);
    json_name(&j, "drop");
    json_bool(&j, o->drop);
    json_object_end(&j);
    return true;
}

/* --- what there is --------------------------------------------------------------------- */

struct told_fault {
    struct str method, path;
    int64_t id, status, delay_ms, times, hits;
    bool drop;
};
static const struct type told_flag = { .kind = KIND_BOOL };
static const struct field told_fault_fields[] = {
    { FIELD(struct told_fault, id), .type = &type_int },
    { FIELD(struct told_fault, method), .type = &type_text },
    { FIELD(struct told_fault, path), .type = &type_text },
    { FIELD(struct told_fault, status), .type = &type_int },
    { FIELD(struct told_fault, delay_ms), .type = &type_int },
    { FIELD(struct told_fault, times), .type = &type_int },
    { FIELD(struct told_fault, hits), .type = &type_int },
    { FIELD(struct told_fault, drop), .type = &told_flag },
    { 0 },
};
static const struct schema told_fault_schema = { .size = sizeof(struct told_fault),
                                                 .fields = told_fault_fields };
static const struct type type_told_fault = { .kind = KIND_OBJECT, .schema = &told_fault_schema };
static const struct type type_told_faults = { .kind = KIND_ARRAY, .of = &type_told_fault };

static void print_fault(const struct told_fault *f)
{
    printf("%lld: %.*s%s%.*s", (long long)f->id, STR_FMT(f->method), f->method.n ? " " : "",
           STR_FMT(f->path));
    if (f->delay_ms)
        printf(", after %lld ms", (long long)f->delay_ms);
    if (f->status)
        printf(", %lld", (long long)f->status);
    if (f->drop)
        printf(", cut off");
    if (f->times)
        printf(", %lld left", (long long)f->times);
    printf(", met %lld\n", (long long)f->hits);
}

/* The one that was made, or all of them. */
static void print_faults(struct str body, bool one, struct arena *arena)
{
    struct form form = { .arena = arena };
    void *read;

    if (schema_decode(one ? &type_told_fault : &type_told_faults, body, &form, &read))
        return;
    const struct list *all = read;
    const struct told_fault *first = one ? read : all->items;
    for (size_t i = 0; i < (one ? 1 : all->count); i++)
        print_fault(&first[i]);
}

/* What the words ask of the console; false: nothing that there is. */
static bool ask_console(const struct settings *s, const char *what, struct arena *arena,
                        struct wire_answer *ret)
{
    struct buf body;
    bool written = true;

    buf_init(&body, 4096);
    if (!what)
        *ret = console_call(&s->config, arena, "GET", "/console/faults", (struct str){ 0 });
    else if (strcmp(what, "clear") == 0)
        *ret = console_call(&s->config, arena, "DELETE", "/console/faults", (struct str){ 0 });
    else if ((written = write_order(&s->console, what, &body)))
        *ret = console_call(&s->config, arena, "POST", "/console/faults", buf_str(&body));
    buf_clear(&body);
    return written;
}

int tool_fault(const struct settings *s, char **arguments)
{
    const char *what = arguments[0];
    struct arena *arena = arena_new();
    struct wire_answer a = { 0 };
    bool asked = !(what && arguments[1]) && ask_console(s, what, arena, &a);
    int status = asked ? console_status(&a) : usage(HOW);

    if (!status && a.body.n && s->console.json)
        printf("%.*s\n", STR_FMT(a.body));
    else if (!status && a.body.n)
        print_faults(a.body, what != NULL, arena);
    arena_free(arena);
    return status;
}
