/* fault.c - `guildhall fault`: injects faults into responses and gateway events, to test how a bot
 * reacts. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "json/write.h"
#include "model/fields/types.h"
#include "tools/admin/console.h"

#define FAULT_OFFSET(member) .offset = offsetof(struct command_settings, console.member)

const struct option_row fault_option_rows[] = {
    { "status", OPTION_INT, FAULT_OFFSET(fault_status), .fallback = "0", .min = 0, .max = 599,
      .help = "Status to respond with: 500, 502, 429, …" },
    { "times", OPTION_INT, FAULT_OFFSET(times), .fallback = "1", .min = 0, .max = 1000000,
      .help = "Number of requests; 0: all, until fault clear" },
    { "delay", OPTION_TEXT, FAULT_OFFSET(delay), .value = "3s",
      .help = "Delay before the response" },
    { "retry-after", OPTION_TEXT, FAULT_OFFSET(retry_after), .value = "2s",
      .help = "Retry-After of a 429" },
    { "drop", OPTION_SWITCH, FAULT_OFFSET(drop), .fallback = "off",
      .help = "Close the connection without a response" },
    { "json", OPTION_SWITCH, FAULT_OFFSET(json), .fallback = "off",
      .help = "Print the server's response as JSON" },
    { 0 },
};

static const char FAULT_USAGE[] =
    "fault 'POST /channels/*/messages' --status 500 --times 2 --delay 3s, "
    "fault events --delay 3s, fault, or fault clear";

static bool parse_optional_duration(const char *text, int64_t *ret_ms)
{
    *ret_ms = 0;
    return !text || parse_duration(text, ret_ms);
}

/* Formats the operator command; `what` is 'POST /path', '/path', or 'events' for gateway events. */
static bool format_fault_command(const struct console_options *o, const char *what, struct buf *out)
{
    struct json_writer j = json_writer_to_buf(out);
    struct str path = str_of(what);
    bool events = strcmp(what, "events") == 0;
    struct str method = *what == '/' || events ? STR("") : str_cut(&path, ' ');
    int64_t delay, retry;

    if ((!events && !str_starts_with(path, STR("/"))) ||
        !parse_optional_duration(o->delay, &delay) ||
        !parse_optional_duration(o->retry_after, &retry))
        return false;
    json_begin_object(&j);
    json_write_name(&j, "method");
    json_write_text(&j, method);
    json_write_name(&j, "path");
    json_write_text(&j, path);
    json_write_name(&j, "status");
    json_write_int(&j, o->fault_status);
    json_write_name(&j, "times");
    json_write_int(&j, o->times);
    json_write_name(&j, "delay_ms");
    json_write_int(&j, delay);
    json_write_name(&j, "retry_after_ms");
    json_write_int(&j, retry);
    json_write_name(&j, "drop");
    json_write_bool(&j, o->drop);
    json_end_object(&j);
    return true;
}

/* --- output ---------------------------------------------------------------------------- */

static void print_if_nonzero(const char *before, struct str number, const char *after)
{
    if (!str_is(number, "0"))
        printf("%s%.*s%s", before, STR_ARGS(number), after);
}

static void print_fault_list(struct str reply)
{
    struct str f[MAX_REPLY_COLUMNS];

    parse_operator_reply_row(&reply, f); /* skip the column names */
    while (reply.n) {
        parse_operator_reply_row(&reply, f);
        printf("%.*s: %.*s%s%.*s", STR_ARGS(f[0]), STR_ARGS(f[1]), f[1].n ? " " : "",
               STR_ARGS(f[2]));
        print_if_nonzero(", after ", f[4], " ms");
        print_if_nonzero(", ", f[3], "");
        if (str_is(f[7], "yes"))
            printf(", connection closed");
        print_if_nonzero(", ", f[6], " left");
        printf(", applied %.*s times\n", STR_ARGS(f[8]));
    }
}

int run_command_fault(const struct command_settings *s, char **arguments)
{
    const char *what = arguments[0];
    bool clears = what && strcmp(what, "clear") == 0;
    struct str reply;
    struct buf command;

    buf_init(&command, 4096);
    buf_add_str(&command, !what    ? STR("fault")
                          : clears ? STR("fault\tclear")
                                   : STR("fault\tadd\t"));
    if (what && (arguments[1] || (!clears && !format_fault_command(&s->console, what, &command)))) {
        buf_clear(&command);
        return print_usage_forms(FAULT_USAGE);
    }
    struct arena *arena = arena_new();
    struct operator_request q = { str_dup_cstring(arena, buf_as_str(&command)),
                                  OPERATOR_REPLY_TIMEOUT_S, s->console.json };
    int status = send_operator_command_or_print_error(s, &q, arena, &reply);
    if (!status && s->console.json && reply.n)
        printf("%.*s\n", STR_ARGS(reply));
    else if (!status)
        print_fault_list(reply);
    buf_clear(&command);
    arena_free(arena);
    return status;
}
