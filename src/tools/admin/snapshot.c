/* snapshot.c - `guildhall snapshot` and `restore NAME`: makes, lists and restores snapshots. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "admin/control/control.h"
#include "tools/tools.h"

/* Long timeout, because a restore reads and writes the whole database. */
enum { PATIENCE_S = 600, LOOK_US = 20 * 1000, LONGEST_ANSWER = 1024 * 1024 };

/* Runs a snapshot command with a name and prints the sentence of the reply. */
static int order_with_name(const struct settings *s, const char *verb, const char *name)
{
    struct arena *arena = arena_new();
    struct str answer, cells[MOST_COLUMNS];
    struct str order = str_printf(arena, "snapshot\t%s\t%s", verb, name);
    int status =
        order_ask_running(s, &(struct order_question){ str_dupz(arena, order) }, arena, &answer);

    if (!status) {
        order_cells(&answer, cells);
        order_cells(&answer, cells);
        printf("%.*s\n", STR_FMT(cells[0]));
    }
    arena_free(arena);
    return status;
}

const struct option_row snapshot_rows[] = {
    { "json", OPTION_SWITCH, .offset = offsetof(struct settings, console.json), .fallback = "off",
      .help = "Print the list as JSON" },
    { 0 },
};

static int print_snapshots(const struct settings *s)
{
    struct arena *arena = arena_new();
    struct str answer, cells[MOST_COLUMNS];
    struct order_question q = { "snapshot", ORDER_ANSWER_S, s->console.json };
    int status = order_ask_running(s, &q, arena, &answer);

    if (!status && q.as_json) {
        printf("%.*s\n", STR_FMT(answer));
        answer.n = 0;
    } else if (!status) {
        order_cells(&answer, cells); /* skip the column names */
        if (!answer.n)
            puts("there are no snapshots");
    }
    while (!status && answer.n) {
        order_cells(&answer, cells);
        printf("%-32.*s %12.*s bytes  %.19s\n", STR_FMT(cells[0]), STR_FMT(cells[1]),
               str_dupz(arena, cells[2]));
    }
    arena_free(arena);
    return status;
}

/* A name must contain no tab or line break, because it is an argument of the request line. */
static bool name_fits_order(const char *name)
{
    return strlen(name) < 256 && !strpbrk(name, "\t\r\n");
}

int tool_snapshot(const struct settings *s, char **arguments)
{
    if (!arguments[0])
        return print_snapshots(s);
    if (arguments[1] || !name_fits_order(arguments[0]))
        return usage("snapshot [NAME]");
    return order_with_name(s, "make", arguments[0]);
}

/* Reads how many restores were tried and how many succeeded; false while no server responds. */
static bool read_counts(const struct settings *s, int *tried, int *restored)
{
    struct buf out;
    char text[64] = "";

    buf_init(&out, LONGEST_ANSWER);
    if (control_ask(s->config.data, "operate snapshot\trestored", &out) == OK)
        snprintf(text, sizeof text, "%.*s", STR_FMT(buf_str(&out)));
    buf_clear(&out);
    return sscanf(text, "ok #tried #restored %d %d", tried, restored) == 2;
}

int snapshot_restore(const struct settings *s, const char *name)
{
    int tried, restored, now_tried = 0, now_restored = 0;

    if (!name_fits_order(name))
        return usage("restore NAME");
    if (!read_counts(s, &tried, &restored))
        return no_server(s->config.data, ERR_UNAVAILABLE);
    int status = order_with_name(s, "restore", name);
    int64_t until = clock_mono() + PATIENCE_S * INT64_C(1000000000);
    while (!status && (!read_counts(s, &now_tried, &now_restored) || now_tried == tried)) {
        if (clock_mono() > until) {
            fprintf(stderr,
                    "guildhall: the server has not restarted yet; its log contains the reason\n");
            return 1;
        }
        usleep(LOOK_US);
    }
    if (!status && now_restored == restored) {
        fprintf(stderr,
                "guildhall: the snapshot could not be restored, and nothing was changed; the "
                "server's log contains the reason\n");
        status = 1;
    }
    if (!status)
        printf("restored '%s'\n", name);
    return status;
}
