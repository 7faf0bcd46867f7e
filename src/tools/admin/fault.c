/* fault.c - `guildhall fault`: injects faults into responses, to test how a bot reacts. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "json/write.h"
#include "model/fields/types.h"
#include "tools/admin/console.h"

#define AT(member) .offset = offsetof(struct settings, console.member)

const struct option_row fault_rows[] = {
    { "status", OPTION_INT, AT(fault_status), .fallback = "0", .min = 0, .max = 599,
      .help = "Status to respond with: 500, 502, 429, …" },
    { "times", OPTION_INT, AT(times), .fallback = "1", .min = 0, .max = 1000000,
      .help = "Number of requests; 0: all, until fault clear" },
    { "delay", OPTION_TEXT, AT(delay), .value = "3s", .help = "Delay before the response" },
    { "retry-after", OPTION_TEXT, AT(retry_after), .value = "2s", .help = "Retry-After of a 429" },
    { "drop", OPTION_SWITCH, AT(drop), .fallback = "off",
      .help = "Close the connection without a response" },
    { "json", OPTION_SWITCH, AT(json), .fallback = "off",
      .help = "Print the server's response as JSON" },
    { 0 },
};

static const char HOW[] = "fault 'POST /channels/*/messages' --status 500 --times 2 --delay 3s, "
                          "fault events --delay 3s, fault, or fault clear";

static bool read_optional(const char *text, int64_t *ret_ms)
{
    *ret_ms = 0;
    return !text || read_duration(text, ret_ms);
}

/* Formats an operator command. what: 'POST /path', '/path', or 'events' for gateway events. */
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

/* --- output ---------------------------------------------------------------------------- */

static void print_nonzero(const char *before, struct str number, const char *after)
{
    if (!str_is(number, "0"))
        printf("%s%.*s%s", before, STR_FMT(number), after);
}

static void print_faults(struct str answer)
{
    struct str f[MOST_COLUMNS];

    order_cells(&answer, f); /* skip the column names */
    while (answer.n) {
        order_cells(&answer, f);
        printf("%.*s: %.*s%s%.*s", STR_FMT(f[0]), STR_FMT(f[1]), f[1].n ? " " : "", STR_FMT(f[2]));
        print_nonzero(", after ", f[4], " ms");
        print_nonzero(", ", f[3], "");
        if (str_is(f[7], "yes"))
            printf(", connection closed");
        print_nonzero(", ", f[6], " left");
        printf(", applied %.*s times\n", STR_FMT(f[8]));
    }
}

int tool_fault(const struct settings *s, char **arguments)
{
    const char *what = arguments[0];
    bool clears = what && strcmp(what, "clear") == 0;
    struct str answer;
    struct buf order;

    buf_init(&order, 4096);
    buf_add_str(&order, !what ? STR("fault") : clears ? STR("fault\tclear") : STR("fault\tadd\t"));
    if (what && (arguments[1] || (!clears && !write_order(&s->console, what, &order)))) {
        buf_clear(&order);
        return usage(HOW);
    }
    struct arena *arena = arena_new();
    struct order_question q = { str_dupz(arena, buf_str(&order)), ORDER_ANSWER_S, s->console.json };
    int status = order_ask_running(s, &q, arena, &answer);
    if (!status && s->console.json && answer.n)
        printf("%.*s\n", STR_FMT(answer));
    else if (!status)
        print_faults(answer);
    buf_clear(&order);
    arena_free(arena);
    return status;
}
