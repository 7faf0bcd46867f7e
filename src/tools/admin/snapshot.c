/* snapshot.c - `guildhall snapshot` and `restore NAME`: makes, lists and restores snapshots. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "admin/control/control.h"
#include "tools/tools.h"

/* RESTORE_TIMEOUT_S is long, because a restore reads and writes the whole database. */
enum { RESTORE_TIMEOUT_S = 600, POLL_INTERVAL_US = 2 * 1000, MAX_REPLY_BYTES = 1024 * 1024 };

/* Runs a snapshot command with a name, and prints the sentence that the server returns. */
static int run_snapshot_command(const struct command_settings *s, const char *verb,
                                const char *name)
{
    struct arena *arena = arena_new();
    struct str reply, cells[MAX_REPLY_COLUMNS];
    struct str command = str_printf(arena, "snapshot\t%s\t%s", verb, name);
    int status = send_operator_command_or_print_error(
        s, &(struct operator_request){ str_dup_cstring(arena, command) }, arena, &reply);

    if (!status) {
        parse_operator_reply_row(&reply, cells);
        parse_operator_reply_row(&reply, cells);
        printf("%.*s\n", STR_ARGS(cells[0]));
    }
    arena_free(arena);
    return status;
}

const struct option_row snapshot_option_rows[] = {
    { "json", OPTION_SWITCH, .offset = offsetof(struct command_settings, console.json),
      .fallback = "off", .help = "Print the list as JSON" },
    { 0 },
};

static int print_snapshot_list(const struct command_settings *s)
{
    struct arena *arena = arena_new();
    struct str reply, cells[MAX_REPLY_COLUMNS];
    struct operator_request q = { "snapshot", OPERATOR_REPLY_TIMEOUT_S, s->console.json };
    int status = send_operator_command_or_print_error(s, &q, arena, &reply);

    if (!status && q.as_json) {
        printf("%.*s\n", STR_ARGS(reply));
        reply.n = 0;
    } else if (!status) {
        parse_operator_reply_row(&reply, cells); /* skip the column names */
        if (!reply.n)
            puts("there are no snapshots");
    }
    while (!status && reply.n) {
        parse_operator_reply_row(&reply, cells);
        printf("%-32.*s %12.*s bytes  %.19s\n", STR_ARGS(cells[0]), STR_ARGS(cells[1]),
               str_dup_cstring(arena, cells[2]));
    }
    arena_free(arena);
    return status;
}

/* Returns whether a snapshot name can be sent: a tab or a line break would end the argument in the
 * request. */
static bool is_valid_snapshot_argument(const char *name)
{
    return strlen(name) < 256 && !strpbrk(name, "\t\r\n");
}

int run_command_snapshot(const struct command_settings *s, char **arguments)
{
    if (!arguments[0])
        return print_snapshot_list(s);
    if (arguments[1] || !is_valid_snapshot_argument(arguments[0]))
        return print_usage_forms("snapshot [NAME]");
    return run_snapshot_command(s, "make", arguments[0]);
}

/* Reads how many restores were requested and how many of them succeeded. Returns false if no server
 * responds. */
static bool read_restore_counts(const struct command_settings *s, int *tried, int *restored)
{
    struct buf out;
    char text[64] = "";

    buf_init(&out, MAX_REPLY_BYTES);
    if (control_socket_send_request(s->config.data, "operate snapshot\trestored", &out) == OK)
        snprintf(text, sizeof text, "%.*s", STR_ARGS(buf_as_str(&out)));
    buf_clear(&out);
    return sscanf(text, "ok #tried #restored %d %d", tried, restored) == 2;
}

int tool_restore_snapshot_on_running_server(const struct command_settings *s, const char *name)
{
    int tried, restored, now_tried = 0, now_restored = 0;

    if (!is_valid_snapshot_argument(name))
        return print_usage_forms("restore NAME");
    if (!read_restore_counts(s, &tried, &restored))
        return print_server_unreachable(s->config.data, ERR_UNAVAILABLE);
    int status = run_snapshot_command(s, "restore", name);
    int64_t until = clock_monotonic_ns() + RESTORE_TIMEOUT_S * INT64_C(1000000000);
    while (!status && (!read_restore_counts(s, &now_tried, &now_restored) || now_tried == tried)) {
        if (clock_monotonic_ns() > until) {
            fprintf(stderr,
                    "guildhall: the server has not restarted yet; its log contains the reason\n");
            return 1;
        }
        usleep(POLL_INTERVAL_US);
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
