/* help.c - `guildhall help`: lists all commands and options, or the options of one command. */
#include <stdio.h>
#include <string.h>

#include "server/guildhall.h"
#include "admin/operator_commands/operator_commands.h"
#include "tools/program.h"

static void append_command_help(struct buf *out, const struct program_command *c)
{
    char call[64];

    snprintf(call, sizeof call, "%s %s", c->name, c->arguments);
    options_append_help_entry(out, call, c->help);
    buf_add_char(out, '\n');
}

static void append_server_options_help(struct buf *out)
{
    buf_add_lit(out,
                "\nServer options; also as GUILDHALL_NAME in the environment, or in the file of "
                "--config\n");
    options_append_help(config_option_rows, out);
}

static void append_help_of_operator_verbs(struct buf *out, const char *noun)
{
    bool first = true;

    for (const struct operator_command_row *row = operator_command_rows; row->noun; row++) {
        char call[64];

        if (!operator_command_is_listed(row, noun))
            continue;
        if (first)
            buf_add_lit(out, "\nVerbs\n");
        first = false;
        snprintf(call, sizeof call, "%s %s", row->verb, row->arguments ? row->arguments : "");
        options_append_help_entry(out, call, row->help);
        buf_add_char(out, '\n');
    }
}

static void append_examples(struct buf *out, const char *lines)
{
    struct str rest = str_of(lines);

    buf_add_lit(out, "\nExamples\n");
    while (rest.n) {
        struct str line = str_cut(&rest, '\n');

        buf_printf(out, "  guildhall %.*s\n", STR_ARGS(line));
    }
}

static int print_help_of_all_commands(void)
{
    struct buf out;

    buf_init(&out, SIZE_MAX);
    buf_add_lit(&out, "guildhall COMMAND [options]\n\nCommands\n");
    for (const struct program_command *c = program_commands; c->name; c++)
        append_command_help(&out, c);
    append_server_options_help(&out);
    for (const struct program_command *c = program_commands; c->name; c++) {
        if (c->options && (c == program_commands || c[-1].options != c->options)) {
            buf_printf(&out, "\nOptions of %s%s\n", c->name,
                       c[1].options == c->options ? " and the like" : "");
            options_append_help(c->options, &out);
        }
    }
    print_and_free_buf(&out);
    return 0;
}

int print_command_help(const struct program_command *c, bool all)
{
    struct buf out;

    buf_init(&out, SIZE_MAX);
    if (c->command_follows)
        buf_printf(&out, "guildhall %s [options] %s\n%s.\n", c->name, c->arguments, c->help);
    else
        buf_printf(&out, "guildhall %s%s%s [options]\n%s.\n", c->name, *c->arguments ? " " : "",
                   c->arguments, c->help);
    append_help_of_operator_verbs(&out, c->name);
    append_examples(&out, c->examples);
    if (c->options) {
        buf_add_lit(&out, "\nOptions of this command; also as GUILDHALL_NAME in the environment\n");
        options_append_help(c->options, &out);
    }
    /* Print the server's options only for serve and demo; other commands use few of them. */
    if (all || c->run == run_command_serve || c->run == run_command_demo)
        append_server_options_help(&out);
    else
        buf_printf(
            &out,
            "\nUse --data DIR or --store URL to select the server. For all options: guildhall %s "
            "--help-all\n",
            c->name);
    print_and_free_buf(&out);
    return 0;
}

int print_unknown_command(const char *name)
{
    const char *meant = find_similar_command_name(name);
    char problem[256];

    snprintf(problem, sizeof problem, "there is no command '%.64s'%s%s%s", name,
             meant ? "; did you mean " : "", meant ? meant : "", meant ? "?" : "");
    return print_usage_error(problem);
}

int run_command_help(const struct command_settings *s, char **arguments)
{
    const struct program_command *c =
        arguments && arguments[0] ? program_find_command(arguments[0]) : NULL;

    (void)s;
    if (arguments && arguments[0] && !c)
        return print_unknown_command(arguments[0]);
    return c && c->run != run_command_help ? print_command_help(c, false)
                                           : print_help_of_all_commands();
}
