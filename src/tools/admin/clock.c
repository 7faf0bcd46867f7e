/* clock.c - `guildhall clock`: moves the clock of a test server. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "json/schema.h"
#include "model/fields/types.h"
#include "tools/admin/console.h"

const struct option_row clock_rows[] = {
    { "json", OPTION_SWITCH, .offset = offsetof(struct settings, console.json), .fallback = "off",
      .help = "Print the server's response as JSON" },
    { 0 },
};

static void print_clock(struct str answer)
{
    struct str cells[MOST_COLUMNS];
    int64_t ms = 0;

    order_cells(&answer, cells);
    order_cells(&answer, cells);
    str_to_i64(cells[1], &ms);
    printf("%.*s, %lld s ahead of the machine's clock\n", STR_FMT(cells[0]),
           (long long)(ms / 1000));
}

/* Formats "+15m" or "reset" as an operator command; without an argument, shows the clock. */
static bool write_clock_order(const char *word, char out[64])
{
    int64_t ms;

    if (!word)
        return snprintf(out, 64, "clock") > 0;
    if (strcmp(word, "reset") == 0)
        return snprintf(out, 64, "clock\tmove\t{\"reset\":true}") > 0;
    return *word == '+' && read_duration(word + 1, &ms) &&
           snprintf(out, 64, "clock\tmove\t{\"advance_ms\":%lld}", (long long)ms) > 0;
}

int tool_clock(const struct settings *s, char **arguments)
{
    char order[64];
    struct str answer;

    if (!write_clock_order(arguments[0], order) || (arguments[0] && arguments[1]))
        return usage("clock, clock +15m (ms, s, m, h or d) or clock reset");
    struct arena *arena = arena_new();
    struct order_question q = { order, ORDER_ANSWER_S, s->console.json };
    int status = order_ask_running(s, &q, arena, &answer);
    if (!status && s->console.json)
        printf("%.*s\n", STR_FMT(answer));
    else if (!status)
        print_clock(answer);
    arena_free(arena);
    return status;
}
