/* manual.c - `guildhall manual`: manual pages, generated from commands and options. */
#include <stdio.h>
#include <string.h>

#include "base/error_causes.h"
#include "server/guildhall.h"
#include "admin/operator_commands/operator_commands.h"
#include "tools/program.h"

/* --- roff ----------------------------------------------------------------------------- */

/* Appends text for roff. Escapes hyphens, so that readers can copy them, and a dot at the start of
 * a line, which would be a roff request. */
static void append_roff_text(struct buf *out, const char *text)
{
    if (*text == '.' || *text == '\'')
        buf_add_lit(out, "\\&");
    for (; *text; text++) {
        if (*text == '\\')
            buf_add_lit(out, "\\e");
        else if (*text == '-')
            buf_add_lit(out, "\\-");
        else
            buf_add_char(out, *text);
    }
}

static void append_roff_font(struct buf *out, char font, const char *text)
{
    buf_printf(out, "\\f%c", font);
    append_roff_text(out, text);
    buf_add_lit(out, "\\fR");
}

static void append_roff_sentence(struct buf *out, const char *text)
{
    append_roff_text(out, text);
    buf_add_lit(out, ".\n");
}

static void append_roff_head(struct buf *out, const char *name, int section, const char *does)
{
    buf_printf(out, ".TH %s %d \"\" \"guildhall %s\" \"Guildhall\"\n.SH NAME\n", name, section,
               GUILDHALL_VERSION);
    append_roff_text(out, name);
    buf_printf(out, " \\- %s\n", does);
}

/* --- guildhall(1) --------------------------------------------------------------------- */

static void append_manual_verbs(struct buf *out, const char *noun)
{
    for (const struct operator_command_row *row = operator_command_rows; row->noun; row++) {
        if (!operator_command_is_listed(row, noun))
            continue;
        buf_add_lit(out, ".TP\n");
        append_roff_font(out, 'B', noun);
        buf_add_char(out, ' ');
        append_roff_font(out, 'B', row->verb);
        buf_add_char(out, ' ');
        append_roff_font(out, 'I', row->arguments ? row->arguments : "");
        buf_add_char(out, '\n');
        append_roff_sentence(out, row->help);
    }
}

static void append_manual_examples(struct buf *out, const char *examples)
{
    struct str rest = str_of(examples);
    char line[160];

    while (rest.n) {
        struct str example = str_cut(&rest, '\n');

        snprintf(line, sizeof line, "guildhall %.*s", STR_ARGS(example));
        buf_add_lit(out, ".br\n");
        append_roff_font(out, 'I', line);
        buf_add_char(out, '\n');
    }
}

static void append_manual_commands(struct buf *out)
{
    buf_add_lit(out, ".SH COMMANDS\n");
    for (const struct program_command *c = program_commands; c->name; c++) {
        buf_add_lit(out, ".TP\n");
        append_roff_font(out, 'B', c->name);
        buf_add_char(out, ' ');
        append_roff_font(out, 'I', c->arguments);
        buf_add_char(out, '\n');
        append_roff_sentence(out, c->help);
        append_manual_examples(out, c->examples);
        append_manual_verbs(out, c->name);
    }
}

static void append_manual_options(struct buf *out, const struct option_row *rows,
                                  const char *dashes)
{
    for (; rows->name; rows++) {
        buf_printf(out, ".TP\n\\fB%s", dashes);
        append_roff_text(out, rows->name);
        buf_printf(out, "\\fR%s", *dashes ? " " : " = ");
        append_roff_font(out, 'I', option_get_value_placeholder(rows));
        buf_add_char(out, '\n');
        append_roff_sentence(out, rows->help);
        if (rows->fallback) {
            buf_add_lit(out, "Default: ");
            append_roff_font(out, 'B', rows->fallback);
            buf_add_lit(out, ".\n");
        }
    }
}

/* Describes each option once for all commands that share it. Such options are adjacent in the
 * table. */
static void append_manual_command_options(struct buf *out)
{
    for (const struct program_command *c = program_commands; c->name; c++) {
        if (!c->options || (c > program_commands && c[-1].options == c->options))
            continue;
        buf_add_lit(out, ".SS \"Of ");
        for (const struct program_command *d = c; d->options == c->options; d++)
            buf_printf(out, "%s%s", d == c ? "" : ", ", d->name);
        buf_add_lit(out, "\"\n");
        append_manual_options(out, c->options, "\\-\\-");
    }
}

static void append_program_manual(struct buf *out)
{
    append_roff_head(out, "guildhall", 1, "chat server that is wire\\-compatible with Discord");
    buf_add_lit(
        out,
        ".SH SYNOPSIS\n.B guildhall\n.I COMMAND\n.RI [ options ]\n.SH DESCRIPTION\nOne program "
        "that serves the REST API, the gateway and voice to existing client libraries. It stores "
        "its data in a folder, or in PostgreSQL.\n.PP\nOptions can be set as flags, as "
        "GUILDHALL_NAME in the environment, and in a file (see\n.BR guildhall.conf (5));\nflags "
        "override the environment, and the environment overrides the file.\n");
    append_manual_commands(out);
    buf_add_lit(out, ".SH OPTIONS\n");
    append_manual_options(out, config_option_rows, "\\-\\-");
    append_manual_command_options(out);
    buf_add_lit(
        out,
        ".SH EXIT STATUS\n0: success; 1: failure; 2: invalid command line.\n.SH FILES\n.TP\n.I "
        "/etc/guildhall/guildhall.conf\nOptions of the service.\n.TP\n.I /var/lib/guildhall\n"
        "Data folder of the service: rows, files, keys.\n.SH SEE ALSO\n.BR guildhall.conf (5)\n");
}

/* --- guildhall.conf(5) ---------------------------------------------------------------- */

static void append_configuration_manual(struct buf *out)
{
    append_roff_head(out, "guildhall.conf", 5, "configuration of guildhall");
    buf_add_lit(
        out,
        ".SH DESCRIPTION\nLines of the form\n.IR \"name = value\" .\nA line that starts with a "
        "semicolon is a comment; sections in brackets have no meaning. Every option is optional. "
        "The environment (GUILDHALL_NAME) and flags (\\-\\-name) override the file. If a name is "
        "unknown or a value is invalid, the server does not start and prints the number of the "
        "line.\n.SH OPTIONS\n");
    append_manual_options(out, config_option_rows + 1, ""); /* all options except --config */
    buf_add_lit(out, ".SH SEE ALSO\n.BR guildhall (1)\n");
}

/* --- docs/CONFIGURATION.md ------------------------------------------------------------ */

/* Escapes '|', which would end a cell of a Markdown table. */
static void append_markdown_cell(struct buf *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '|')
            buf_add_char(out, '\\');
        buf_add_char(out, *text);
    }
}

static void append_configuration_markdown(struct buf *out)
{
    buf_add_lit(
        out, "# Configuration\n\nThis page lists every option of the server, for operators. It is "
             "generated from the program's own table.\n\nAn option is a flag (`--listen "
             "0.0.0.0:8080`), an environment variable (`GUILDHALL_LISTEN=0.0.0.0:8080`) or a line "
             "of the file that `--config` names (`listen = 0.0.0.0:8080`). Flags take precedence "
             "over the environment, and the environment over the file. The files `*.conf` in the "
             "folder `FILE.d` are read after the file, in the order of their names. Nothing has to "
             "be configured on a laptop.\n\n`guildhall sample-config` prints a file with every "
             "option. `guildhall reload` applies the options that are marked with \"yes\"; the "
             "others need a restart.\n\n"
             "| Option | Meaning | Default | Reload |\n|---|---|---|---|\n");
    for (const struct option_row *row = config_option_rows; row->name; row++) {
        buf_printf(out, "| `--%s ", row->name);
        append_markdown_cell(out, option_get_value_placeholder(row));
        buf_add_lit(out, "` | ");
        append_markdown_cell(out, row->help);
        buf_add_lit(out, " | ");
        if (row->fallback)
            buf_printf(out, "`%s`", row->fallback);
        buf_printf(out, " | %s |\n", row->reloadable ? "yes" : "");
    }
}

int run_command_manual(const struct command_settings *s, char **arguments)
{
    bool conf = arguments[0] && strcmp(arguments[0], "conf") == 0;
    bool markdown = arguments[0] && strcmp(arguments[0], "options") == 0;
    bool errors = arguments[0] && strcmp(arguments[0], "errors") == 0;
    struct buf out;

    (void)s;
    if (arguments[0] && ((!conf && !markdown && !errors) || arguments[1]))
        return print_usage_error("manual accepts no argument, conf, options or errors");
    buf_init(&out, SIZE_MAX);
    if (conf)
        append_configuration_manual(&out);
    else if (markdown)
        append_configuration_markdown(&out);
    else if (errors)
        write_error_reference(&out);
    else
        append_program_manual(&out);
    print_and_free_buf(&out);
    return 0;
}
