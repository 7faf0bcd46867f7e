/* snapshot.c - `guildhall snapshot` and `restore NAME`: the world kept by name, and back. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "admin/control/control.h"
#include "tools/admin/console.h"

/* A restore reads and writes all there is. */
enum { PATIENCE_S = 600, LOOK_US = 20 * 1000, LONGEST_ANSWER = 1024 * 1024 };

/* Prints what the server answers; 0, or the status to end with. */
static int ask_and_print(const struct settings *s, const char *question)
{
    struct buf out;

    buf_init(&out, LONGEST_ANSWER);
    enum err e = control_ask_within(s->config.data, question, 0, &out);
    bool refused = !e && str_starts(buf_str(&out), STR("error"));
    if (e)
        no_server(s->config.data, e);
    else
        fprintf(refused ? stderr : stdout, "%s%.*s", refused ? "guildhall: " : "",
                STR_FMT(refused ? str_from(buf_str(&out), 7) : buf_str(&out)));
    buf_clear(&out);
    return e ? 1 : refused ? 3 : 0;
}

static bool question_of(const char *word, const char *name, char out[256])
{
    /* A line, and a name that is refused anyway is not cut into one that is not. */
    return !strpbrk(name, "\r\n") && snprintf(out, 256, "%s %s", word, name) < 256;
}

const struct option_row snapshot_rows[] = {
    { "json", OPTION_SWITCH, .offset = offsetof(struct settings, console.json), .fallback = "off",
      .help = "Print the list as the server has it" },
    { 0 },
};

static int print_list(const struct settings *s)
{
    struct arena *arena = arena_new();
    struct wire_answer a =
        console_call(&s->config, arena, "GET", "/console/snapshots", (struct str){ 0 });
    int status = console_status(&a);

    if (!status)
        printf("%.*s\n", STR_FMT(a.body));
    arena_free(arena);
    return status;
}

int tool_snapshot(const struct settings *s, char **arguments)
{
    char question[256];

    if (!arguments[0])
        return s->console.json ? print_list(s) : ask_and_print(s, "snapshots");
    if (arguments[1] || !question_of("snapshot", arguments[0], question))
        return usage("snapshot [NAME]");
    return ask_and_print(s, question);
}

/* How often the server was asked, and how often it restored; false while none answers. */
static bool read_counts(const struct settings *s, int *tried, int *restored)
{
    struct buf out;
    char text[32] = "";

    buf_init(&out, LONGEST_ANSWER);
    if (control_ask(s->config.data, "restored", &out) == OK)
        snprintf(text, sizeof text, "%.*s", STR_FMT(buf_str(&out)));
    buf_clear(&out);
    return sscanf(text, "%d %d", tried, restored) == 2;
}

int snapshot_restore(const struct settings *s, const char *name)
{
    int tried, restored, now_tried = 0, now_restored = 0;
    char question[256];

    if (!question_of("restore", name, question))
        return usage("restore NAME");
    if (!read_counts(s, &tried, &restored))
        return ask_and_print(s, "restored");
    int status = ask_and_print(s, question);
    int64_t until = clock_mono() + PATIENCE_S * INT64_C(1000000000);
    while (!status && (!read_counts(s, &now_tried, &now_restored) || now_tried == tried)) {
        if (clock_mono() > until) {
            fprintf(stderr, "guildhall: the server is not back yet; its log says why\n");
            return 1;
        }
        usleep(LOOK_US);
    }
    if (!status && now_restored == restored) {
        fprintf(stderr, "guildhall: it could not be restored, and all is as it was; the server's "
                        "log says why\n");
        status = 1;
    }
    if (!status)
        printf("restored '%s'\n", name);
    return status;
}
