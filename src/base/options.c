/* options.c - reads configuration options from flags, environment and INI files. */
#include "base/options.h"

#include <glob.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/utf8.h"

enum { MAX_LINE_BYTES = 64 * 1024 };

struct options_reader {
    const struct option_row *rows;
    struct arena *arena;
    char *target;
    const char *problem;
    bool no_arguments, command_follows;
    char **word_after_switch; /* last flag without a value that a word follows; or NULL */
};

static void report_option_error(struct options_reader *r, struct str sentence)
{
    if (!r->problem)
        r->problem = sentence.p;
}

static const struct option_row *find_option_row(const struct option_row *rows, struct str name)
{
    for (; rows->name; rows++)
        if (str_is(name, rows->name))
            return rows;
    return NULL;
}

static bool is_allowed_choice(const char *choices, struct str value)
{
    struct str rest = str_of(choices);

    while (rest.n)
        if (str_eq(str_cut(&rest, '|'), value))
            return true;
    return false;
}

static bool parse_on_or_off(struct str s, bool *ret)
{
    *ret = str_is(s, "on") || str_is(s, "true") || str_is(s, "yes") || str_is(s, "1");
    return *ret || str_is(s, "off") || str_is(s, "false") || str_is(s, "no") || str_is(s, "0");
}

/* Stores the value of one option, or reports why it is invalid. `from` is what the operator wrote:
 * "--loops", "GUILDHALL_LOOPS", "guildhall.conf: loops". */
static void store_option_value(struct options_reader *r, const struct option_row *row,
                               const char *from, const char *value)
{
    void *slot = r->target + row->offset;
    struct str text = str_trim(str_of(value));
    int64_t number;
    bool on;

    switch (row->kind) {
    case OPTION_TEXT:
        /* If an option has a default, an empty value is an error, because the operator's script may
         * have used a variable that was not set. */
        if (text.n || !row->fallback)
            *(const char **)slot = text.n ? str_dup_cstring(r->arena, text) : NULL;
        else
            report_option_error(r, str_printf(r->arena, "%s must not be empty", from));
        break;
    case OPTION_CHOICE:
        if (is_allowed_choice(row->choices, text))
            *(const char **)slot = str_dup_cstring(r->arena, text);
        else if (is_allowed_choice(row->choices, STR("on")) &&
                 is_allowed_choice(row->choices, STR("off")) &&
                 parse_on_or_off(text, &on)) /* some options with choices were on/off switches in
                                              * earlier versions */
            *(const char **)slot = on ? "on" : "off";
        else
            report_option_error(r, str_printf(r->arena, "%s must be one of %s, not '%s'", from,
                                              row->choices, value));
        break;
    case OPTION_INT:
        if (str_to_i64(text, &number) && number >= row->min && number <= row->max)
            *(int64_t *)slot = number;
        else
            report_option_error(
                r, str_printf(r->arena, "%s must be a number from %lld to %lld, not '%s'", from,
                              (long long)row->min, (long long)row->max, value));
        break;
    case OPTION_SWITCH:
        if (parse_on_or_off(text, &on))
            *(bool *)slot = on;
        else
            report_option_error(
                r, str_printf(r->arena, "%s must be on or off, not '%s'", from, value));
        break;
    }
}

static bool texts_are_equal(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

bool option_values_are_equal(const struct option_row *row, const void *a, const void *b)
{
    const void *x = (const char *)a + row->offset, *y = (const char *)b + row->offset;

    switch (row->kind) {
    case OPTION_TEXT:
    case OPTION_CHOICE:
        return texts_are_equal(*(const char *const *)x, *(const char *const *)y);
    case OPTION_INT:
        return *(const int64_t *)x == *(const int64_t *)y;
    case OPTION_SWITCH:
        return *(const bool *)x == *(const bool *)y;
    }
    return true;
}

static int on_ini_entry(void *user, const char *section, const char *name, const char *value)
{
    struct options_reader *r = user;
    const struct option_row *row = find_option_row(r->rows, str_of(name));

    (void)section; /* ignore the sections of the INI file, because they have no meaning */
    if (row)
        store_option_value(r, row, name, value);
    else
        report_option_error(r, str_printf(r->arena, "there is no option '%s'", name));
    return r->problem == NULL;
}

static void read_ini_file(struct options_reader *r, const char *file)
{
    /* Configures the INI parser inih: long lines, no continuations, stop at the first error. */
    ini_use_stack = false;
    ini_allow_realloc = true;
    ini_max_line = MAX_LINE_BYTES;
    ini_allow_multiline = false;
    ini_stop_on_first_error = true;
    int line = ini_parse(file, on_ini_entry, r);

    if (line < 0)
        report_option_error(r,
                            str_printf(r->arena, "cannot read the configuration file '%s'", file));
    else if (r->problem)
        r->problem = str_printf(r->arena, "%s, line %d: %s", file, line, r->problem).p;
    else if (line > 0)
        report_option_error(
            r, str_printf(r->arena, "%s, line %d: not of the form 'name = value'", file, line));
}

/* Reads the .conf files of FILE.d, which packages and operators add instead of editing FILE. */
static void read_drop_in_files(struct options_reader *r, const char *file)
{
    glob_t found;

    if (glob(str_printf(r->arena, "%s.d/*.conf", file).p, 0, NULL, &found) != 0)
        return;
    for (size_t i = 0; i < found.gl_pathc && !r->problem; i++)
        read_ini_file(r, str_dup_cstring(r->arena, str_of(found.gl_pathv[i])));
    globfree(&found);
}

void option_format_variable_name(const char *prefix, const char *name, char *out, size_t max)
{
    size_t n = (size_t)snprintf(out, max, "%s%s", prefix, name);

    for (size_t i = strlen(prefix); i < n && i < max; i++)
        out[i] =
            out[i] == '-' ? '_' : (char)(out[i] >= 'a' && out[i] <= 'z' ? out[i] - 32 : out[i]);
}

static void read_environment_variables(struct options_reader *r, const char *prefix)
{
    char variable[128];

    for (const struct option_row *row = r->rows; row->name; row++) {
        option_format_variable_name(prefix, row->name, variable, sizeof variable);
        const char *value = getenv(variable);

        if (value)
            store_option_value(r, row, variable, value);
    }
}

static void report_unknown_option(struct options_reader *r, struct str name)
{
    const struct option_row *lists[] = { r->rows, NULL };
    const char *meant = option_find_most_similar(lists, name);

    report_option_error(
        r, meant ? str_printf(r->arena, "there is no option '--%.*s'; did you mean --%s?",
                              STR_ARGS(name), meant)
                 : str_printf(r->arena, "there is no option '--%.*s'", STR_ARGS(name)));
}

/* Parses one flag at *argv; returns the number of arguments it used. */
static int parse_command_line_flag(struct options_reader *r, char **argv)
{
    struct str rest = str_of(argv[0] + 2);
    bool joined = memchr(rest.p, '=', rest.n) != NULL;
    struct str name = str_cut(&rest, '=');
    const struct option_row *row = find_option_row(r->rows, name);

    if (!row) {
        report_unknown_option(r, name);
        return 1;
    }
    if (joined) {
        store_option_value(r, row, argv[0], rest.p);
        return 1;
    }
    bool has_value = argv[1] && strncmp(argv[1], "--", 2) != 0;
    bool on;
    bool is_value = has_value && r->no_arguments;
    bool alone = row->kind == OPTION_SWITCH
                     ? !is_value && !(has_value && parse_on_or_off(str_of(argv[1]), &on))
                     : row->kind == OPTION_CHOICE && is_allowed_choice(row->choices, STR("on")) &&
                           !is_value &&
                           !(has_value && is_allowed_choice(row->choices, str_of(argv[1])));
    if (alone) {
        if (has_value)
            r->word_after_switch = argv;
        store_option_value(r, row, argv[0], "on");
        return 1;
    }
    if (!has_value) {
        report_option_error(r, str_printf(r->arena, "%s needs a value: %s", argv[0],
                                          row->value ? row->value : "…"));
        return 1;
    }
    store_option_value(r, row, argv[0], argv[1]);
    return 2;
}

static void parse_command_line_flags(struct options_reader *r, char **argv, char **rest)
{
    while (*argv && !r->problem) {
        if (r->command_follows && strcmp(*argv, "--") == 0)
            while (*argv)
                *rest++ = *argv++;
        else if (strncmp(*argv, "--", 2) == 0)
            argv += parse_command_line_flag(r, argv);
        else
            *rest++ = *argv++;
    }
    *rest = NULL;
}

/* If there are too many arguments, reads a word after the flag of a switch as its value, which
 * reports the allowed values. */
static void report_word_after_switch(struct options_reader *r, char **arguments, size_t max)
{
    char **flag = r->word_after_switch;
    size_t count = 0;

    while (arguments[count])
        count++;
    if (flag && max && count > max)
        store_option_value(r, find_option_row(r->rows, str_of(flag[0] + 2)), flag[0], flag[1]);
}

bool options_read(const struct option_row *rows, const struct option_source *source,
                  struct arena *arena, char **argv, void *target, char **rest,
                  const char **ret_problem)
{
    struct options_reader r = {
        .rows = rows,
        .arena = arena,
        .target = target,
        .no_arguments = source->no_arguments,
        .command_follows = source->command_follows,
    };

    for (const struct option_row *row = rows; row->name; row++)
        if (row->fallback)
            store_option_value(&r, row, row->name, row->fallback);
    if (source->file)
        read_ini_file(&r, source->file);
    if (source->file && !r.problem)
        read_drop_in_files(&r, source->file);
    if (!r.problem)
        read_environment_variables(&r, source->prefix);
    if (!r.problem)
        parse_command_line_flags(&r, argv, rest);
    if (!r.problem)
        report_word_after_switch(&r, rest, source->max_arguments);
    *ret_problem = r.problem;
    return r.problem == NULL;
}

const char *option_read_value_before_other_options(const char *name,
                                                   const struct option_source *source, char **argv)
{
    char variable[128];
    size_t n = strlen(name);

    for (; *argv && strcmp(*argv, "--") != 0; argv++) {
        if (strncmp(*argv, "--", 2) != 0 || strncmp(*argv + 2, name, n) != 0)
            continue;
        if ((*argv)[2 + n] == '=')
            return *argv + 3 + n;
        if ((*argv)[2 + n] == '\0' && argv[1])
            return argv[1];
    }
    option_format_variable_name(source->prefix, name, variable, sizeof variable);
    return getenv(variable);
}

/* --- help and sample file ------------------------------------------------------------- */

const char *option_get_value_placeholder(const struct option_row *row)
{
    if (row->choices)
        return row->choices;
    if (row->value)
        return row->value;
    return row->kind == OPTION_SWITCH ? "on|off" : row->kind == OPTION_INT ? "N" : "TEXT";
}

void options_append_help_entry(struct buf *out, const char *written, const char *does)
{
    size_t length = utf8_length(str_of(written));

    buf_printf(out, "  %s%*s %s", written, length < 34 ? (int)(34 - length) : 0, "", does);
}

void options_append_help(const struct option_row *rows, struct buf *out)
{
    for (; rows->name; rows++) {
        char flag[128];

        snprintf(flag, sizeof flag, "--%s %s", rows->name, option_get_value_placeholder(rows));
        options_append_help_entry(out, flag, rows->help);
        if (rows->fallback)
            buf_printf(out, " (%s)", rows->fallback);
        buf_add_char(out, '\n');
    }
}

void options_append_sample_file(const struct option_row *rows, const struct option_source *source,
                                struct buf *out)
{
    char variable[128];

    buf_printf(
        out,
        "; Configuration of %s. Every line is optional; lines that are commented out show the\n; "
        "default. The environment (%sNAME) and flags (--name) override this file.\n",
        source->program, source->prefix);
    for (; rows->name; rows++) {
        if (strcmp(rows->name, "config") == 0)
            continue;
        option_format_variable_name(source->prefix, rows->name, variable, sizeof variable);
        buf_printf(out, "\n; %s\n; %s, %s\n;%s = %s\n", rows->help,
                   option_get_value_placeholder(rows), variable, rows->name,
                   rows->fallback ? rows->fallback : "");
    }
}
