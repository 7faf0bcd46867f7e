/* help.c - `guildhall help`: lists all commands and options, or those of one command. */
#include <stdio.h>
#include <string.h>

#include "server/guildhall.h"
#include "admin/orders/orders.h"
#include "tools/program.h"

static void help_command(struct buf *out, const struct program_command *c)
{
    char call[64];

    snprintf(call, sizeof call, "%s %s", c->name, c->arguments);
    help_line(out, call, c->help);
    buf_add_char(out, '\n');
}

static void help_general_options(struct buf *out)
{
    buf_add_lit(out,
                "\nServer options; also as GUILDHALL_NAME in the environment, or in the file of "
                "--config\n");
    options_help(config_rows, out);
}

static void help_verbs(struct buf *out, const char *noun)
{
    bool first = true;

    for (const struct order_row *row = operator_rows; row->noun; row++) {
        char call[64];

        if (!order_is_verb(row, noun))
            continue;
        if (first)
            buf_add_lit(out, "\nVerbs\n");
        first = false;
        snprintf(call, sizeof call, "%s %s", row->verb, row->arguments ? row->arguments : "");
        help_line(out, call, row->help);
        buf_add_char(out, '\n');
    }
}

static int help_all(void)
{
    struct buf out;

    buf_init(&out, SIZE_MAX);
    buf_add_lit(&out, "guildhall COMMAND [options]\n\nCommands\n");
    for (const struct program_command *c = program_commands; c->name; c++)
        help_command(&out, c);
    help_general_options(&out);
    for (const struct program_command *c = program_commands; c->name; c++) {
        if (c->options && (c == program_commands || c[-1].options != c->options)) {
            buf_printf(&out, "\nOptions of %s%s\n", c->name,
                       c[1].options == c->options ? " and the like" : "");
            options_help(c->options, &out);
        }
    }
    program_print(&out);
    return 0;
}

int program_help(const struct program_command *c, bool all)
{
    struct buf out;

    buf_init(&out, SIZE_MAX);
    buf_printf(&out, "guildhall %s%s%s [options]\n%s.\n", c->name, *c->arguments ? " " : "",
               c->arguments, c->help);
    help_verbs(&out, c->name);
    if (c->options) {
        buf_add_lit(&out, "\nOptions of this command; also as GUILDHALL_NAME in the environment\n");
        options_help(c->options, &out);
    }
    /* Print the server's options only for serve and demo; other commands need few of them. */
    if (all || c->run == tool_serve || c->run == tool_demo)
        help_general_options(&out);
    else
        buf_printf(
            &out,
            "\nUse --data DIR or --store URL to select the server. For all options: guildhall %s "
            "--help-all\n",
            c->name);
    program_print(&out);
    return 0;
}

int tool_help(const struct settings *s, char **arguments)
{
    const struct program_command *c = arguments && arguments[0] ? program_find(arguments[0]) : NULL;

    (void)s;
    if (arguments && arguments[0] && !c)
        return usage("there is no such command");
    return c && c->run != tool_help ? program_help(c, false) : help_all();
}
