/* orders.c - `guildhall user`, `guild`, `app` and the like: orders for the server that runs. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "control.h"
#include "json/write.h"
#include "operator/operator.h"
#include "tools/tools.h"

#define AT(member) .offset = offsetof(struct settings, member)

const struct option_row order_options[] = {
    { "json", OPTION_SWITCH, AT(json), .fallback = "off",
      .help = "Print a line of JSON for each instead of a table" },
    { "yes", OPTION_SWITCH, AT(yes), .fallback = "off",
      .help = "Do not ask before what cannot be undone" },
    { "limit", OPTION_INT, AT(limit), .fallback = "100", .min = 1, .max = 1000000000,
      .help = "Lists: so many at most" },
    { "after", OPTION_TEXT, AT(after), .fallback = "0", .value = "ID",
      .help = "Lists: those behind this id" },
    { 0 },
};

enum { MOST_COLUMNS = 16, MOST_QUESTION = 2048 };

/* --- what came back ------------------------------------------------------------------- */

/* Cells of a line; those that are missing are empty. */
static int cut_cells(struct str line, struct str cells[MOST_COLUMNS])
{
    int n = 0;

    do
        cells[n++] = str_cut(&line, '\t');
    while (line.n && n < MOST_COLUMNS);
    for (int i = n; i < MOST_COLUMNS; i++)
        cells[i] = STR("");
    return n;
}

static void print_json(const struct str *names, int count, struct str rows)
{
    while (rows.n) {
        struct str cells[MOST_COLUMNS];
        struct buf out;
        struct json j = json_to(&out);

        buf_init(&out, SIZE_MAX);
        cut_cells(str_cut(&rows, '\n'), cells);
        json_object(&j);
        for (int i = 0; i < count; i++) {
            json_key(&j, str_from(names[i], 1));
            if (names[i].p[0] == '#')
                json_raw(&j, cells[i]);
            else if (names[i].p[0] == '?')
                json_bool(&j, str_is(cells[i], "yes"));
            else
                json_text(&j, cells[i]);
        }
        json_object_end(&j);
        printf("%.*s\n", STR_FMT(buf_str(&out)));
        buf_clear(&out);
    }
}

static void print_line(const struct str *cells, const int *widths, int count, size_t skip)
{
    for (int i = 0; i < count; i++) {
        struct str cell = str_from(cells[i], skip);

        if (i + 1 < count)
            printf("%-*.*s  ", widths[i], STR_FMT(cell));
        else
            printf("%.*s\n", STR_FMT(cell));
    }
}

static void print_list(const struct str *names, int count, struct str rows)
{
    int widths[MOST_COLUMNS] = { 0 };
    struct str cells[MOST_COLUMNS];

    for (int i = 0; i < count; i++)
        widths[i] = (int)names[i].n - 1;
    for (struct str rest = rows; rest.n;) {
        cut_cells(str_cut(&rest, '\n'), cells);
        for (int i = 0; i < count; i++)
            if ((int)cells[i].n > widths[i])
                widths[i] = (int)cells[i].n;
    }
    print_line(names, widths, count, 1);
    while (rows.n) {
        cut_cells(str_cut(&rows, '\n'), cells);
        print_line(cells, widths, count, 0);
    }
}

/* One thing: a line for each of its facts. */
static void print_facts(const struct str *names, int count, struct str rows)
{
    struct str cells[MOST_COLUMNS];
    int width = 0;

    for (int i = 0; i < count; i++)
        if ((int)names[i].n - 1 > width)
            width = (int)names[i].n - 1;
    cut_cells(str_cut(&rows, '\n'), cells);
    for (int i = 0; i < count; i++)
        printf("%-*.*s  %.*s\n", width, STR_FMT(str_from(names[i], 1)), STR_FMT(cells[i]));
}

static void print_answer(const struct settings *s, const struct order_row *row, struct str answer)
{
    struct str names[MOST_COLUMNS];
    int count = cut_cells(str_cut(&answer, '\n'), names);

    if (s->json)
        print_json(names, count, answer);
    else if (row->is_list)
        print_list(names, count, answer);
    else
        print_facts(names, count, answer);
}

/* --- asking --------------------------------------------------------------------------- */

/* The status of the program; -1: no server runs. ret_rows and ret_last are for lists. */
static int give_order(const struct settings *s, const struct order_row *row, const char *question,
                      int64_t *ret_rows, char last[32])
{
    struct buf out;
    int status = 1;

    buf_init(&out, SIZE_MAX);
    if (control_ask(s->config.data, question, &out)) {
        buf_clear(&out);
        return -1;
    }
    struct str answer = buf_str(&out), first = str_cut(&answer, '\n');
    if (str_is(first, "ok")) {
        struct str rest = answer;

        print_answer(s, row, answer);
        for (*ret_rows = -1; rest.n; ++*ret_rows) {
            struct str line = str_cut(&rest, '\n');

            snprintf(last, 32, "%.*s", STR_FMT(str_cut(&line, '\t')));
        }
        status = 0;
    } else {
        fprintf(stderr, "guildhall: %.*s\n",
                STR_FMT(str_starts(first, STR("error ")) ? str_from(first, 6)
                                                         : STR("the server gave no answer")));
    }
    buf_clear(&out);
    return status;
}

static int give_list(const struct settings *s, const struct order_row *row)
{
    char question[MOST_QUESTION], last[32];
    int64_t left = s->limit, rows;
    int status;

    snprintf(last, sizeof last, "%.31s", s->after);
    do {
        int64_t page = left < ORDER_PAGE ? left : ORDER_PAGE;

        snprintf(question, sizeof question, "operate %s\t%s\t%s\t%lld", row->noun,
                 row->verb ? row->verb : "", last, (long long)page);
        rows = 0;
        status = give_order(s, row, question, &rows, last);
        left -= rows;
        if (status || rows < page)
            return status;
    } while (left > 0);
    fprintf(stderr, "guildhall: there may be more; --after %s\n", last);
    return 0;
}

/* --- what is asked of people ---------------------------------------------------------- */

static bool is_meant(const struct settings *s, const struct order_row *row, char **arguments)
{
    char answer[16] = "";

    if (!row->is_final || s->yes)
        return true;
    if (!isatty(STDIN_FILENO)) {
        usage("this cannot be undone; say --yes if you mean it");
        return false;
    }
    fprintf(stderr, "%s %s %s cannot be undone. Type yes to go on: ", row->noun, row->verb,
            arguments[0]);
    return fgets(answer, sizeof answer, stdin) && strcmp(answer, "yes\n") == 0;
}

/* A line of the standard input, which is not shown on a terminal. */
static bool read_secret(char *out, size_t size)
{
    struct termios before, quiet;
    bool terminal = tcgetattr(STDIN_FILENO, &before) == 0;

    if (terminal) {
        quiet = before;
        quiet.c_lflag &= ~(tcflag_t)ECHO;
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet);
        fprintf(stderr, "New password: ");
    }
    bool ok = fgets(out, (int)size, stdin) != NULL;
    if (terminal) {
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
        fprintf(stderr, "\n");
    }
    out[strcspn(out, "\r\n")] = '\0';
    return ok;
}

/* --- the command line ----------------------------------------------------------------- */

static int how_to_order(const char *noun)
{
    fprintf(stderr, "guildhall: %s is one of\n", noun);
    for (const struct order_row *r = operator_rows; r->noun; r++)
        if (strcmp(r->noun, noun) == 0)
            fprintf(stderr, "  %s %s %-18s %s\n", noun, r->verb ? r->verb : "", r->arguments,
                    r->help);
    return 2;
}

static bool make_question(const struct order_row *row, char **words, char *out, size_t size)
{
    size_t n = (size_t)snprintf(out, size, "operate %s\t%s", row->noun, row->verb);
    int count = 0;

    for (; words[count]; count++) {
        if (strpbrk(words[count], "\t\n") || !*words[count])
            return false;
        n += n < size ? (size_t)snprintf(out + n, size - n, "\t%s", words[count]) : 0;
    }
    if (row->has_secret) {
        char secret[256];

        if (!read_secret(secret, sizeof secret) || strchr(secret, '\t') || !*secret)
            return false;
        n += n < size ? (size_t)snprintf(out + n, size - n, "\t%s", secret) : 0;
        count++;
    }
    return n < size && count >= row->least && count <= row->most;
}

int order_from_words(const struct settings *s, const char *noun, char **arguments)
{
    const char *verb = arguments[0] ? arguments[0] : "";
    const struct order_row *row = order_row_find(str_of(noun), str_of(verb));
    char question[MOST_QUESTION], last[32];
    int64_t rows;

    if (!row)
        return how_to_order(noun);
    char **words = row->verb ? arguments + 1 : arguments;
    if (row->is_list)
        return words[0] ? how_to_order(noun) : give_list(s, row);
    if (row->verb && !is_meant(s, row, words))
        return 2;
    if (!row->verb)
        snprintf(question, sizeof question, "operate %s\t", row->noun);
    else if (!make_question(row, words, question, sizeof question))
        return how_to_order(noun);
    return give_order(s, row, question, &rows, last);
}

static int order_running(const struct settings *s, const char *noun, char **arguments)
{
    int status = order_from_words(s, noun, arguments);

    if (status < 0)
        fprintf(stderr, "guildhall: no server runs on '%s'\n", s->config.data);
    return status < 0 ? 1 : status;
}

int tool_guild(const struct settings *s, char **arguments)
{
    return order_running(s, "guild", arguments);
}

int tool_app(const struct settings *s, char **arguments)
{
    return order_running(s, "app", arguments);
}

int tool_token(const struct settings *s, char **arguments)
{
    return order_running(s, "token", arguments);
}

int tool_invite(const struct settings *s, char **arguments)
{
    return order_running(s, "invite", arguments);
}

int tool_stats(const struct settings *s, char **arguments)
{
    return order_running(s, "stats", arguments);
}

int tool_log(const struct settings *s, char **arguments)
{
    return order_running(s, "log", arguments);
}
