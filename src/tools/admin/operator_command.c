/* operator_command.c - `guildhall user`, `guild`, `app`, …: operator commands for a running
 * server. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/utf8.h"
#include "admin/control/control.h"
#include "json/write.h"
#include "admin/operator_commands/operator_commands.h"
#include "tools/tools.h"

#define OPERATOR_OFFSET(member) .offset = offsetof(struct command_settings, member)

const struct option_row operator_command_option_rows[] = {
    { "json", OPTION_SWITCH, OPERATOR_OFFSET(json), .fallback = "off",
      .help = "Print one line of JSON per row instead of a table" },
    { "yes", OPTION_SWITCH, OPERATOR_OFFSET(yes), .fallback = "off",
      .help = "Do not ask for confirmation of irreversible commands" },
    { "wait", OPTION_INT, OPERATOR_OFFSET(operator_timeout), .fallback = "60", .min = 1,
      .max = 86400, .help = "Seconds to wait for the server's response" },
    { "limit", OPTION_INT, OPERATOR_OFFSET(limit), .fallback = "100", .min = 1, .max = 1000000000,
      .help = "Lists: maximum number of rows" },
    { "after", OPTION_TEXT, OPERATOR_OFFSET(after), .fallback = "0", .value = "ID",
      .help = "Lists: only rows after this id" },
    { 0 },
};

enum { MAX_REQUEST_BYTES = 2048 };

/* --- output --------------------------------------------------------------------------- */

int parse_operator_reply_row(struct str *reply, struct str cells[MAX_REPLY_COLUMNS])
{
    struct str line = str_cut(reply, '\n');
    int n = 0;

    do
        cells[n++] = str_cut(&line, '\t');
    while (line.n && n < MAX_REPLY_COLUMNS);
    for (int i = n; i < MAX_REPLY_COLUMNS; i++)
        cells[i] = STR("");
    return n;
}

static void print_rows_as_json(const struct str *names, int count, struct str rows)
{
    while (rows.n) {
        struct str cells[MAX_REPLY_COLUMNS];
        struct buf out;
        struct json_writer j = json_writer_to_buf(&out);

        buf_init(&out, SIZE_MAX);
        parse_operator_reply_row(&rows, cells);
        json_begin_object(&j);
        for (int i = 0; i < count; i++) {
            json_write_key(&j, str_skip_bytes(names[i], 1));
            if (names[i].p[0] == '#')
                json_write_raw(&j, cells[i]);
            else if (names[i].p[0] == '?')
                json_write_bool(&j, str_is(cells[i], "yes"));
            else
                json_write_text(&j, cells[i]);
        }
        json_end_object(&j);
        printf("%.*s\n", STR_ARGS(buf_as_str(&out)));
        buf_clear(&out);
    }
}

/* Returns whether a character may be printed. Characters that move the terminal's cursor or change
 * the text direction must not be printed. */
static bool is_printable_character(uint32_t cp)
{
    return cp >= 0x20 && !(cp >= 0x7f && cp < 0xa0) && cp != 0x200e && cp != 0x200f &&
           !(cp >= 0x202a && cp <= 0x202e) && !(cp >= 0x2066 && cp <= 0x2069);
}

static void print_text_without_control_characters(struct str cell)
{
    while (cell.n) {
        uint32_t cp;
        size_t n = utf8_decode(cell, &cp);

        if (n && is_printable_character(cp))
            fwrite(cell.p, 1, n, stdout);
        else
            putchar('?');
        cell = str_skip_bytes(cell, n ? n : 1);
    }
}

/* Layout of a printed table: maximum width of each column so far, and whether the table has a
 * header. */
struct table_layout {
    int widths[MAX_REPLY_COLUMNS];
    bool begun;
};

static void update_column_widths(struct table_layout *t, const struct str *cells, int count,
                                 size_t skip)
{
    for (int i = 0; i < count; i++) {
        int width = (int)utf8_length(str_skip_bytes(cells[i], skip));

        if (width > t->widths[i])
            t->widths[i] = width;
    }
}

static void print_table_line(const struct table_layout *t, const struct str *cells, int count,
                             size_t skip)
{
    for (int i = 0; i < count; i++) {
        struct str cell = str_skip_bytes(cells[i], skip);

        print_text_without_control_characters(cell);
        if (i + 1 < count)
            printf("%*s", t->widths[i] - (int)utf8_length(cell) + 2, "");
    }
    putchar('\n');
}

static void print_rows_as_table(struct table_layout *t, const struct str *names, int count,
                                struct str rows)
{
    struct str cells[MAX_REPLY_COLUMNS];

    update_column_widths(t, names, count, 1);
    for (struct str rest = rows; rest.n;) {
        parse_operator_reply_row(&rest, cells);
        update_column_widths(t, cells, count, 0);
    }
    if (!t->begun)
        print_table_line(t, names, count, 1);
    t->begun = true;
    while (rows.n) {
        parse_operator_reply_row(&rows, cells);
        print_table_line(t, cells, count, 0);
    }
}

static void print_row_as_name_value_lines(const struct str *names, int count, struct str rows)
{
    struct str cells[MAX_REPLY_COLUMNS];
    int width = 0;

    for (int i = 0; i < count; i++)
        if ((int)names[i].n - 1 > width)
            width = (int)names[i].n - 1;
    parse_operator_reply_row(&rows, cells);
    for (int i = 0; i < count; i++) {
        printf("%-*.*s  ", width, STR_ARGS(str_skip_bytes(names[i], 1)));
        print_text_without_control_characters(cells[i]);
        putchar('\n');
    }
}

static void print_operator_reply(const struct command_settings *s, struct table_layout *list,
                                 struct str reply)
{
    struct str names[MAX_REPLY_COLUMNS];
    int count = parse_operator_reply_row(&reply, names);

    if (s->json)
        print_rows_as_json(names, count, reply);
    else if (list)
        print_rows_as_table(list, names, count, reply);
    else
        print_row_as_name_value_lines(names, count, reply);
}

void print_operator_reply_rows(const struct command_settings *s, struct str reply)
{
    print_operator_reply(s, NULL, reply);
}

/* --- requests ------------------------------------------------------------------------- */

int send_operator_command(const struct command_settings *s, const struct operator_request *q,
                          struct arena *arena, struct str *ret)
{
    struct buf out;
    char *end;
    struct str line = str_printf(arena, "operate%s %s", q->as_json ? "-json" : "", q->words);

    buf_init(&out, SIZE_MAX);
    enum err e = control_socket_send_request_with_timeout(
        s->config.data, str_dup_cstring(arena, line), q->seconds, &out);
    const char *reply = str_dup_cstring(arena, buf_as_str(&out));
    buf_clear(&out);
    if (e)
        return e == ERR_UNAVAILABLE ? -1 : print_server_unreachable(s->config.data, e);
    *ret = str_of(reply);
    if (str_is(str_cut(ret, '\n'), "ok"))
        return 0;
    bool refused = strncmp(reply, "error ", 6) == 0;
    long status = refused ? strtol(reply + 6, &end, 10) : 1;
    fprintf(stderr, "guildhall: %s", refused ? end + 1 : "the server sent no response\n");
    return (int)status;
}

int send_operator_command_or_print_error(const struct command_settings *s,
                                         const struct operator_request *q, struct arena *arena,
                                         struct str *ret)
{
    int status = send_operator_command(s, q, arena, ret);

    return status < 0   ? print_server_unreachable(s->config.data, ERR_UNAVAILABLE)
           : status > 1 ? 3
                        : status;
}

/* Sends a command and prints the reply. Returns the exit status, or -1 if no server runs. */
static int send_and_print_command(const struct command_settings *s, const char *request,
                                  struct table_layout *list, int64_t *ret_rows, char last[32])
{
    struct arena *arena = arena_new();
    struct str reply;
    int status = send_operator_command(
        s, &(struct operator_request){ request, s->operator_timeout, false }, arena, &reply);

    if (!status) {
        print_operator_reply(s, list, reply);
        for (*ret_rows = -1; reply.n; ++*ret_rows) {
            struct str line = str_cut(&reply, '\n'), id = str_cut(&line, '\t');

            snprintf(last, 32, "%.*s", STR_ARGS(id));
        }
    }
    arena_free(arena);
    return status > 1 ? 1 : status;
}

static int send_and_print_list(const struct command_settings *s,
                               const struct operator_command_row *row)
{
    char request[MAX_REQUEST_BYTES], last[32];
    struct table_layout table = { 0 };
    int64_t left = s->limit, rows;
    uint64_t after;
    int status;

    if (!str_to_u64(str_of(s->after), &after))
        return print_usage_error("--after must be an id");
    snprintf(last, sizeof last, "%.31s", s->after);
    do {
        int64_t page = left < OPERATOR_PAGE_MAX ? left : OPERATOR_PAGE_MAX;

        snprintf(request, sizeof request, "%s\t%s\t%s\t%lld", row->noun, row->verb ? row->verb : "",
                 last, (long long)page);
        rows = 0;
        status = send_and_print_command(s, request, &table, &rows, last);
        left -= rows;
        if (status || rows < page)
            return status;
    } while (left > 0);
    fprintf(stderr, "guildhall: there may be more rows; continue with --after %s\n", last);
    return 0;
}

/* --- prompts -------------------------------------------------------------------------- */

static int confirm_irreversible_command(const struct command_settings *s,
                                        const struct operator_command_row *row, char **words)
{
    char reply[16] = "";

    if (!row->is_final || s->yes)
        return 0;
    if (!isatty(STDIN_FILENO))
        return print_usage_error("this command cannot be undone; add --yes to confirm it");
    fprintf(stderr, "%s %s %s cannot be undone. Type yes to continue: ", row->noun, row->verb,
            words[0]);
    if (fgets(reply, sizeof reply, stdin) && strcmp(reply, "yes\n") == 0)
        return 0;
    fprintf(stderr, "guildhall: cancelled; nothing was changed\n");
    return 2;
}

static bool read_line_without_echo(char *out, size_t size)
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

static void print_operator_command_syntax(const struct operator_command_row *r)
{
    char form[80];

    snprintf(form, sizeof form, "%s %s %s", r->noun, r->verb ? r->verb : "", r->arguments);
    fprintf(stderr, "  %-36s %s\n", form, r->help ? r->help : "");
}

static int print_operator_usage(const char *noun)
{
    fprintf(stderr, "guildhall: the forms of %s are\n", noun);
    for (const struct operator_command_row *r = operator_command_rows; r->noun; r++)
        if (r->help && strcmp(r->noun, noun) == 0)
            print_operator_command_syntax(r);
    return 2;
}

static const char *find_similar_verb(const char *noun, const char *verb)
{
    struct option_row names[32] = { 0 };
    const struct option_row *lists[] = { names, NULL };
    size_t n = 0;

    for (const struct operator_command_row *r = operator_command_rows; r->noun; r++)
        if (operator_command_is_listed(r, noun) && n + 1 < sizeof names / sizeof *names)
            names[n++].name = r->verb;
    return option_find_most_similar(lists, str_of(verb));
}

static int print_unknown_verb(const char *noun, const char *verb)
{
    const char *meant = find_similar_verb(noun, verb);

    if (meant)
        fprintf(stderr, "guildhall: there is no command '%s %.64s'; did you mean '%s %s'?\n", noun,
                verb, noun, meant);
    else if (*verb)
        fprintf(stderr, "guildhall: there is no command '%s %.64s'\n", noun, verb);
    return print_operator_usage(noun);
}

/* Prints the usage of a command that has too few or too many arguments. */
static int print_wrong_argument_count(const struct operator_command_row *row, char **words)
{
    int count = 0;

    while (words[count])
        count++;
    bool too_few = count + row->has_secret < row->least;
    fprintf(stderr, "guildhall: %s; the form is\n",
            too_few ? "an argument is missing" : "there are too many arguments");
    print_operator_command_syntax(row);
    return 2;
}

/* Checks the arguments. Returns NULL if they are valid, "" if their number is wrong, and otherwise
 * an error text. */
static const char *check_operator_arguments(const struct operator_command_row *row, char **words)
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

static bool append_request_word(char *request, const char *word)
{
    size_t n = strlen(request);

    return (size_t)snprintf(request + n, MAX_REQUEST_BYTES - n, "\t%s", word) <
           MAX_REQUEST_BYTES - n;
}

/* Joins noun, verb and arguments to a request. If the command needs a password, reads it first. */
static const char *format_operator_request(const struct operator_command_row *row, char **words,
                                           char *request)
{
    char secret[256] = "";

    snprintf(request, MAX_REQUEST_BYTES, "%s\t%s", row->noun, row->verb ? row->verb : "");
    for (; *words; words++)
        if (!append_request_word(request, *words))
            return "the command is too long";
    if (!row->has_secret)
        return NULL;
    if (!read_line_without_echo(secret, sizeof secret) || !*secret)
        return "no password was entered";
    return !strchr(secret, '\t') && append_request_word(request, secret)
               ? NULL
               : "the password must not contain a tab and must not be longer than 255 characters";
}

/* Runs an operator command and returns the exit status, or -1 if no server runs. */
static int run_operator_command(const struct command_settings *s, const char *noun,
                                char **arguments)
{
    const char *verb = arguments[0] ? arguments[0] : "";
    const struct operator_command_row *row = operator_command_row_find(str_of(noun), str_of(verb));
    char request[MAX_REQUEST_BYTES], last[32];
    int64_t rows;

    if (!row)
        return print_unknown_verb(noun, verb);
    char **words = row->verb ? arguments + 1 : arguments;
    if (row->is_list)
        return words[0] ? print_wrong_argument_count(row, words) : send_and_print_list(s, row);
    const char *problem = check_operator_arguments(row, words);
    if (problem)
        return *problem ? print_usage_error(problem) : print_wrong_argument_count(row, words);
    int status = confirm_irreversible_command(s, row, words);
    if (status)
        return status;
    problem = format_operator_request(row, words, request);
    return problem ? print_usage_error(problem)
                   : send_and_print_command(s, request, NULL, &rows, last);
}

/* Runs an operator command. `user add` also works without a running server, to add the first
 * account. */
int run_any_operator_command(const struct command_settings *s, char **arguments)
{
    const char *noun = s->argv[0];
    int status = run_operator_command(s, noun, arguments);

    if (status >= 0)
        return status;
    if (strcmp(noun, "user") == 0 && strcmp(arguments[0], "add") == 0)
        return add_user_without_server(s, arguments + 1);
    return print_server_unreachable(s->config.data, ERR_UNAVAILABLE);
}
