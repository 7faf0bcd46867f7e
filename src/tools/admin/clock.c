/* clock.c - `guildhall clock`: moves the clock of a test server. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "json/schema.h"
#include "model/fields/types.h"
#include "tools/admin/console.h"

const struct option_row clock_option_rows[] = {
    { "json", OPTION_SWITCH, .offset = offsetof(struct command_settings, console.json),
      .fallback = "off", .help = "Print the server's response as JSON" },
    { 0 },
};

static void print_clock_reply(struct str reply)
{
    struct str cells[MAX_REPLY_COLUMNS];
    int64_t ms = 0;

    parse_operator_reply_row(&reply, cells);
    parse_operator_reply_row(&reply, cells);
    str_to_i64(cells[1], &ms);
    printf("%.*s, %lld s ahead of the machine's clock\n", STR_ARGS(cells[0]),
           (long long)(ms / 1000));
}

/* Formats the operator command for the argument "+15m" or "reset". If there is no argument, the
 * command shows the time. */
static bool format_clock_command(const char *word, char out[64])
{
    int64_t ms;

    if (!word)
        return snprintf(out, 64, "clock") > 0;
    if (strcmp(word, "reset") == 0)
        return snprintf(out, 64, "clock\tmove\t{\"reset\":true}") > 0;
    return *word == '+' && parse_duration(word + 1, &ms) &&
           snprintf(out, 64, "clock\tmove\t{\"advance_ms\":%lld}", (long long)ms) > 0;
}

int run_command_clock(const struct command_settings *s, char **arguments)
{
    char command[64];
    struct str reply;

    if (!format_clock_command(arguments[0], command) || (arguments[0] && arguments[1]))
        return print_usage_forms("clock, clock +15m (ms, s, m, h or d) or clock reset");
    struct arena *arena = arena_new();
    struct operator_request q = { command, OPERATOR_REPLY_TIMEOUT_S, s->console.json };
    int status = send_operator_command_or_print_error(s, &q, arena, &reply);
    if (!status && s->console.json)
        printf("%.*s\n", STR_ARGS(reply));
    else if (!status)
        print_clock_reply(reply);
    arena_free(arena);
    return status;
}
