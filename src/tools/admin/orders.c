/* orders.c - `guildhall user`, `guild`, `app` and so on: operator commands for a running server. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/utf8.h"
#include "admin/control/control.h"
#include "json/write.h"
#include "admin/orders/orders.h"
#include "tools/tools.h"

#define AT(member) .offset = offsetof(struct settings, member)

const struct option_row order_options[] = {
    { "json", OPTION_SWITCH, AT(json), .fallback = "off",
      .help = "Print one line of JSON per row instead of a table" },
    { "yes", OPTION_SWITCH, AT(yes), .fallback = "off",
      .help = "Do not ask for confirmation of irreversible commands" },
    { "wait", OPTION_INT, AT(order_wait), .fallback = "60", .min = 1, .max = 86400,
      .help = "Seconds to wait for the server's response" },
    { "limit", OPTION_INT, AT(limit), .fallback = "100", .min = 1, .max = 1000000000,
      .help = "Lists: maximum number of rows" },
    { "after", OPTION_TEXT, AT(after), .fallback = "0", .value = "ID",
      .help = "Lists: only rows after this id" },
    { 0 },
};

enum { MOST_QUESTION = 2048 };

/* --- output --------------------------------------------------------------------------- */

int order_cells(struct str *answer, struct str cells[MOST_COLUMNS])
{
    struct str line = str_cut(answer, '\n');
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
        order_cells(&rows, cells);
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

/* Returns false for characters that move a terminal's cursor or change the text direction. */
static bool is_shown(uint32_t cp)
{
    return cp >= 0x20 && !(cp >= 0x7f && cp < 0xa0) && cp != 0x200e && cp != 0x200f &&
           !(cp >= 0x202a && cp <= 0x202e) && !(cp >= 0x2066 && cp <= 0x2069);
}

static void print_cell(struct str cell)
{
    while (cell.n) {
        uint32_t cp;
        size_t n = utf8_decode(cell, &cp);

        if (n && is_shown(cp))
            fwrite(cell.p, 1, n, stdout);
        else
            putchar('?');
        cell = str_from(cell, n ? n : 1);
    }
}

/* State of a table: the maximum width of each column so far, and whether the header was printed. */
struct table {
    int widths[MOST_COLUMNS];
    bool begun;
};

static void table_widen(struct table *t, const struct str *cells, int count, size_t skip)
{
    for (int i = 0; i < count; i++) {
        int width = (int)utf8_length(str_from(cells[i], skip));

        if (width > t->widths[i])
            t->widths[i] = width;
    }
}

static void print_line(const struct table *t, const struct str *cells, int count, size_t skip)
{
    for (int i = 0; i < count; i++) {
        struct str cell = str_from(cells[i], skip);

        print_cell(cell);
        if (i + 1 < count)
            printf("%*s", t->widths[i] - (int)utf8_length(cell) + 2, "");
    }
    putchar('\n');
}

static void print_list(struct table *t, const struct str *names, int count, struct str rows)
{
    struct str cells[MOST_COLUMNS];

    table_widen(t, names, count, 1);
    for (struct str rest = rows; rest.n;) {
        order_cells(&rest, cells);
        table_widen(t, cells, count, 0);
    }
    if (!t->begun)
        print_line(t, names, count, 1);
    t->begun = true;
    while (rows.n) {
        order_cells(&rows, cells);
        print_line(t, cells, count, 0);
    }
}

static void print_facts(const struct str *names, int count, struct str rows)
{
    struct str cells[MOST_COLUMNS];
    int width = 0;

    for (int i = 0; i < count; i++)
        if ((int)names[i].n - 1 > width)
            width = (int)names[i].n - 1;
    order_cells(&rows, cells);
    for (int i = 0; i < count; i++) {
        printf("%-*.*s  ", width, STR_FMT(str_from(names[i], 1)));
        print_cell(cells[i]);
        putchar('\n');
    }
}

static void print_answer(const struct settings *s, struct table *list, struct str answer)
{
    struct str names[MOST_COLUMNS];
    int count = order_cells(&answer, names);

    if (s->json)
        print_json(names, count, answer);
    else if (list)
        print_list(list, names, count, answer);
    else
        print_facts(names, count, answer);
}

void order_print(const struct settings *s, struct str answer)
{
    print_answer(s, NULL, answer);
}

/* --- requests ------------------------------------------------------------------------- */

int order_ask(const struct settings *s, const struct order_question *q, struct arena *arena,
              struct str *ret)
{
    struct buf out;
    char *end;
    struct str line = str_printf(arena, "operate%s %s", q->as_json ? "-json" : "", q->words);

    buf_init(&out, SIZE_MAX);
    enum err e = control_ask_within(s->config.data, str_dupz(arena, line), q->seconds, &out);
    const char *answer = str_dupz(arena, buf_str(&out));
    buf_clear(&out);
    if (e)
        return e == ERR_UNAVAILABLE ? -1 : no_server(s->config.data, e);
    *ret = str_of(answer);
    if (str_is(str_cut(ret, '\n'), "ok"))
        return 0;
    bool refused = strncmp(answer, "error ", 6) == 0;
    long status = refused ? strtol(answer + 6, &end, 10) : 1;
    fprintf(stderr, "guildhall: %s", refused ? end + 1 : "the server sent no response\n");
    return (int)status;
}

int order_ask_running(const struct settings *s, const struct order_question *q, struct arena *arena,
                      struct str *ret)
{
    int status = order_ask(s, q, arena, ret);

    return status < 0 ? no_server(s->config.data, ERR_UNAVAILABLE) : status > 1 ? 3 : status;
}

/* Sends a command; returns the exit status; -1: no server. Lists set ret_rows and the last id. */
static int give_order(const struct settings *s, const char *question, struct table *list,
                      int64_t *ret_rows, char last[32])
{
    struct arena *arena = arena_new();
    struct str answer;
    int status =
        order_ask(s, &(struct order_question){ question, s->order_wait, false }, arena, &answer);

    if (!status) {
        print_answer(s, list, answer);
        for (*ret_rows = -1; answer.n; ++*ret_rows) {
            struct str line = str_cut(&answer, '\n'), id = str_cut(&line, '\t');

            snprintf(last, 32, "%.*s", STR_FMT(id));
        }
    }
    arena_free(arena);
    return status > 1 ? 1 : status;
}

static int give_list(const struct settings *s, const struct order_row *row)
{
    char question[MOST_QUESTION], last[32];
    struct table table = { 0 };
    int64_t left = s->limit, rows;
    uint64_t after;
    int status;

    if (!str_to_u64(str_of(s->after), &after))
        return usage("--after must be an id");
    snprintf(last, sizeof last, "%.31s", s->after);
    do {
        int64_t page = left < ORDER_PAGE ? left : ORDER_PAGE;

        snprintf(question, sizeof question, "%s\t%s\t%s\t%lld", row->noun,
                 row->verb ? row->verb : "", last, (long long)page);
        rows = 0;
        status = give_order(s, question, &table, &rows, last);
        left -= rows;
        if (status || rows < page)
            return status;
    } while (left > 0);
    fprintf(stderr, "guildhall: there may be more rows; continue with --after %s\n", last);
    return 0;
}

/* --- prompts -------------------------------------------------------------------------- */

static int ask_whether_meant(const struct settings *s, const struct order_row *row, char **words)
{
    char answer[16] = "";

    if (!row->is_final || s->yes)
        return 0;
    if (!isatty(STDIN_FILENO))
        return usage("this command cannot be undone; add --yes to confirm it");
    fprintf(stderr, "%s %s %s cannot be undone. Type yes to continue: ", row->noun, row->verb,
            words[0]);
    if (fgets(answer, sizeof answer, stdin) && strcmp(answer, "yes\n") == 0)
        return 0;
    fprintf(stderr, "guildhall: cancelled; nothing was changed\n");
    return 2;
}

/* Reads a line from standard input; a terminal does not echo it. */
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

/* --- command line --------------------------------------------------------------------- */

static int how_to_order(const char *noun)
{
    fprintf(stderr, "guildhall: the forms of %s are\n", noun);
    for (const struct order_row *r = operator_rows; r->noun; r++)
        if (strcmp(r->noun, noun) == 0)
            fprintf(stderr, "  %s %s %-18s %s\n", noun, r->verb ? r->verb : "", r->arguments,
                    r->help);
    return 2;
}

/* Checks the arguments. NULL if they are valid, "" if their number is wrong, else the problem. */
static const char *find_word_problem(const struct order_row *row, char **words)
{
    int count = 0;

    for (; words[count]; count++) {
        if (!*words[count])
            return "an argument is empty";
        if (strpbrk(words[count], "\t\r\n"))
            return "an argument contains a tab or a line break";
    }
    count += row->has_secret;
    return count < row->least || count > row->most ? "" : NULL;
}

static bool question_add(char *question, const char *word)
{
    size_t n = strlen(question);

    return (size_t)snprintf(question + n, MOST_QUESTION - n, "\t%s", word) < MOST_QUESTION - n;
}

/* Joins noun, verb and arguments; reads the password if the command needs one. */
static const char *make_question(const struct order_row *row, char **words, char *question)
{
    char secret[256] = "";

    snprintf(question, MOST_QUESTION, "%s\t%s", row->noun, row->verb ? row->verb : "");
    for (; *words; words++)
        if (!question_add(question, *words))
            return "the command is too long";
    if (!row->has_secret)
        return NULL;
    if (!read_secret(secret, sizeof secret) || !*secret)
        return "no password was entered";
    return !strchr(secret, '\t') && question_add(question, secret)
               ? NULL
               : "the password must not contain a tab and must not be longer than 255 characters";
}

/* Runs an operator command and returns the exit status; -1: no server runs. */
static int order_from_words(const struct settings *s, const char *noun, char **arguments)
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
    const char *problem = find_word_problem(row, words);
    if (problem)
        return *problem ? usage(problem) : how_to_order(noun);
    int status = ask_whether_meant(s, row, words);
    if (status)
        return status;
    problem = make_question(row, words, question);
    return problem ? usage(problem) : give_order(s, question, NULL, &rows, last);
}

/* Runs an operator command. `user add` also works while no server runs, for the first account. */
int tool_order(const struct settings *s, char **arguments)
{
    const char *noun = s->argv[0];
    int status = order_from_words(s, noun, arguments);

    if (status >= 0)
        return status;
    if (strcmp(noun, "user") == 0 && strcmp(arguments[0], "add") == 0)
        return add_user(s, arguments + 1);
    return no_server(s->config.data, ERR_UNAVAILABLE);
}
