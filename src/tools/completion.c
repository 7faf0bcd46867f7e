/* completion.c - `guildhall completion`: shell completion, generated from commands and options. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "admin/operator_commands/operator_commands.h"
#include "tools/program.h"

/* --- properties of a row -------------------------------------------------------------- */

static bool option_takes_file(const struct option_row *row)
{
    return row->value && strcmp(row->value, "FILE") == 0;
}

static bool option_takes_folder(const struct option_row *row)
{
    return row->value && strcmp(row->value, "DIR") == 0;
}

/* Appends the values that an option allows, separated by spaces. Returns false if any value is
 * allowed. */
static bool append_allowed_option_values(struct buf *out, const struct option_row *row)
{
    if (row->kind != OPTION_CHOICE && row->kind != OPTION_SWITCH)
        return false;
    for (const char *p = option_get_value_placeholder(row); *p; p++)
        buf_add_char(out, *p == '|' ? ' ' : *p);
    return true;
}

static void append_shell_escaped(struct buf *out, const char *text, const char *special)
{
    for (; *text; text++) {
        if (strchr(special, *text))
            buf_add_char(out, '\\');
        if (*text == '\'')
            buf_add_lit(out, "'\\''");
        else
            buf_add_char(out, *text);
    }
}

static bool has_operator_verbs(const char *noun)
{
    for (const struct operator_command_row *row = operator_command_rows; row->noun; row++)
        if (operator_command_is_listed(row, noun))
            return true;
    return false;
}

static void append_operator_verbs(struct buf *out, const char *noun)
{
    const char *between = "";

    for (const struct operator_command_row *row = operator_command_rows; row->noun; row++) {
        if (!operator_command_is_listed(row, noun))
            continue;
        buf_printf(out, "%s%s", between, row->verb);
        between = " ";
    }
}

static void append_option_flags(struct buf *out, const struct option_row *rows)
{
    for (; rows && rows->name; rows++)
        buf_printf(out, " --%s", rows->name);
}

/* --- bash ----------------------------------------------------------------------------- */

static void append_bash_option_values(struct buf *out, const struct option_row *rows)
{
    for (; rows && rows->name; rows++) {
        buf_printf(out, "    --%s) ", rows->name);
        if (option_takes_file(rows) || option_takes_folder(rows)) {
            buf_printf(out, "COMPREPLY=($(compgen -%c -- \"$cur\")); ",
                       option_takes_file(rows) ? 'f' : 'd');
        } else if (rows->kind == OPTION_CHOICE || rows->kind == OPTION_SWITCH) {
            buf_add_lit(out, "COMPREPLY=($(compgen -W '");
            append_allowed_option_values(out, rows);
            buf_add_lit(out, "' -- \"$cur\")); ");
        }
        buf_add_lit(out, "return ;;\n");
    }
}

static void write_bash_completion(struct buf *out)
{
    buf_add_lit(out, "# bash completion of guildhall\n_guildhall() {\n"
                     "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} own\n"
                     "  if ((COMP_CWORD == 1)); then\n    COMPREPLY=($(compgen -W '");
    for (const struct program_command *c = program_commands; c->name; c++)
        buf_printf(out, "%s%s", c == program_commands ? "" : " ", c->name);
    buf_add_lit(out, "' -- \"$cur\"))\n    return\n  fi\n  case $prev in\n");
    append_bash_option_values(out, config_option_rows);
    buf_add_lit(out, "  esac\n  case ${COMP_WORDS[1]} in\n");
    for (const struct program_command *c = program_commands; c->name; c++) {
        if (!c->options && !has_operator_verbs(c->name))
            continue;
        buf_printf(out, "  %s)\n    own='", c->name);
        append_option_flags(out, c->options);
        buf_add_lit(out, "'\n    case $prev in\n");
        if (has_operator_verbs(c->name)) {
            buf_printf(out, "    %s) COMPREPLY=($(compgen -W '", c->name);
            append_operator_verbs(out, c->name);
            buf_add_lit(out, "' -- \"$cur\")); return ;;\n");
        }
        append_bash_option_values(out, c->options);
        buf_add_lit(out, "    esac ;;\n");
    }
    buf_add_lit(out, "  esac\n  if [[ $cur == -* ]]; then\n    COMPREPLY=($(compgen -W \"$own");
    append_option_flags(out, config_option_rows);
    buf_add_lit(out, "\" -- \"$cur\"))\n  else\n    COMPREPLY=($(compgen -f -- \"$cur\"))\n  fi\n}"
                     "\ncomplete -F _guildhall guildhall\n");
}

/* --- zsh ------------------------------------------------------------------------------ */

static void append_zsh_options(struct buf *out, const struct option_row *rows)
{
    for (; rows && rows->name; rows++) {
        buf_printf(out, "    '--%s[", rows->name);
        append_shell_escaped(out, rows->help, "[]:\\");
        buf_add_lit(out, "]:");
        append_shell_escaped(out, option_get_value_placeholder(rows), ":\\");
        buf_add_char(out, ':');
        if (option_takes_file(rows) || option_takes_folder(rows)) {
            buf_add_str(out, str_of(option_takes_file(rows) ? "_files" : "_files -/"));
        } else if (rows->kind == OPTION_CHOICE || rows->kind == OPTION_SWITCH) {
            buf_add_char(out, '(');
            append_allowed_option_values(out, rows);
            buf_add_char(out, ')');
        } else {
            buf_add_char(out, ' ');
        }
        buf_add_lit(out, "'\n");
    }
}

static void write_zsh_completion(struct buf *out)
{
    buf_add_lit(out, "#compdef guildhall\n_guildhall() {\n  local -a commands own general\n"
                     "  commands=(\n");
    for (const struct program_command *c = program_commands; c->name; c++) {
        buf_printf(out, "    '%s:", c->name);
        append_shell_escaped(out, c->help, "\\");
        buf_add_lit(out, "'\n");
    }
    buf_add_lit(out, "  )\n  if (( CURRENT == 2 )); then\n    _describe command commands\n    "
                     "return\n  fi\n  general=(\n");
    append_zsh_options(out, config_option_rows);
    buf_add_lit(out, "  )\n  case $words[2] in\n");
    for (const struct program_command *c = program_commands; c->name; c++) {
        if (!c->options && !has_operator_verbs(c->name))
            continue;
        buf_printf(out, "  %s) own=(\n", c->name);
        append_zsh_options(out, c->options);
        if (has_operator_verbs(c->name)) {
            buf_add_lit(out, "    '1:verb:(");
            append_operator_verbs(out, c->name);
            buf_add_lit(out, ")'\n");
        }
        buf_add_lit(out, "    ) ;;\n");
    }
    buf_add_lit(out, "  esac\n  shift words\n  (( CURRENT-- ))\n"
                     "  _arguments $own $general '*:file:_files'\n}\n_guildhall \"$@\"\n");
}

/* --- fish ----------------------------------------------------------------------------- */

static void append_fish_options(struct buf *out, const struct option_row *rows, const char *command)
{
    for (; rows && rows->name; rows++) {
        buf_add_lit(out, "complete -c guildhall");
        if (command)
            buf_printf(out, " -n '__fish_seen_subcommand_from %s'", command);
        buf_printf(out, " -l %s -d '", rows->name);
        append_shell_escaped(out, rows->help, "\\");
        buf_add_lit(out, "'");
        if (rows->kind == OPTION_CHOICE || rows->kind == OPTION_SWITCH) {
            buf_add_lit(out, " -xa '");
            append_allowed_option_values(out, rows);
            buf_add_lit(out, "'");
        } else {
            buf_add_str(
                out, str_of(option_takes_file(rows) || option_takes_folder(rows) ? " -rF" : " -x"));
        }
        buf_add_char(out, '\n');
    }
}

static void write_fish_completion(struct buf *out)
{
    buf_add_lit(out, "# fish completion of guildhall\n");
    for (const struct program_command *c = program_commands; c->name; c++) {
        buf_printf(out, "complete -c guildhall -n __fish_use_subcommand -f -a %s -d '", c->name);
        append_shell_escaped(out, c->help, "\\");
        buf_add_lit(out, "'\n");
        if (has_operator_verbs(c->name)) {
            buf_printf(out, "complete -c guildhall -n '__fish_seen_subcommand_from %s' -f -a '",
                       c->name);
            append_operator_verbs(out, c->name);
            buf_add_lit(out, "'\n");
        }
        append_fish_options(out, c->options, c->name);
    }
    append_fish_options(out, config_option_rows, NULL);
}

int run_command_completion(const struct command_settings *s, char **arguments)
{
    static const struct {
        const char *shell;
        void (*write)(struct buf *out);
    } shells[] = { { "bash", write_bash_completion },
                   { "zsh", write_zsh_completion },
                   { "fish", write_fish_completion } };
    struct buf out;

    (void)s;
    for (size_t i = 0; arguments[0] && !arguments[1] && i < COUNT_OF(shells); i++) {
        if (strcmp(arguments[0], shells[i].shell) != 0)
            continue;
        buf_init(&out, SIZE_MAX);
        shells[i].write(&out);
        print_and_free_buf(&out);
        return 0;
    }
    return print_usage_error("completion needs the name of a shell: bash, zsh or fish");
}
