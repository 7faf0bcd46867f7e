/* fault.c - `guildhall fault`: calls that go wrong, to see what a bot does then. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "json/write.h"
#include "tools/console.h"

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
    { 0 },
};

static const char HOW[] = "fault 'POST /channels/*/messages' --status 500 --times 2 --delay 3s, "
                          "fault, or fault clear";

static bool read_optional(const char *text, int64_t *ret_ms)
{
    *ret_ms = 0;
    return !text || read_duration(text, ret_ms);
}

/* 'POST /path' or '/path'. */
static bool write_order(const struct console_options *o, const char *what, struct buf *out)
{
    struct json j = json_to(out);
    struct str path = str_of(what);
    struct str method = *what == '/' ? STR("") : str_cut(&path, ' ');
    int64_t delay, retry;

    if (!str_starts(path, STR("/")) || !read_optional(o->delay, &delay) ||
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

    if (!status && a.body.n)
        printf("%.*s\n", STR_FMT(a.body));
    arena_free(arena);
    return status;
}
