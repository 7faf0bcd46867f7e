/* options.c - reads configuration options from flags, environment and INI files. */
#include "base/options.h"

#include <glob.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/utf8.h"

enum { LONGEST_LINE = 64 * 1024 };

struct reading {
    const struct option_row *rows;
    struct arena *arena;
    char *target;
    const char *problem;
    bool no_arguments;
};

static void option_say(struct reading *r, struct str sentence)
{
    if (!r->problem)
        r->problem = sentence.p;
}

static const struct option_row *option_find(const struct option_row *rows, struct str name)
{
    for (; rows->name; rows++)
        if (str_is(name, rows->name))
            return rows;
    return NULL;
}

static bool is_choice(const char *choices, struct str value)
{
    struct str rest = str_of(choices);

    while (rest.n)
        if (str_eq(str_cut(&rest, '|'), value))
            return true;
    return false;
}

static bool read_switch(struct str s, bool *ret)
{
    *ret = str_is(s, "on") || str_is(s, "true") || str_is(s, "yes") || str_is(s, "1");
    return *ret || str_is(s, "off") || str_is(s, "false") || str_is(s, "no") || str_is(s, "0");
}

/* Stores one value or reports why it is invalid. `from` is what the operator wrote: "--loops",
 * "GUILDHALL_LOOPS", "guildhall.conf: loops". */
static void option_set(struct reading *r, const struct option_row *row, const char *from,
                       const char *value)
{
    void *place = r->target + row->offset;
    struct str text = str_trim(str_of(value));
    int64_t number;
    bool on;

    switch (row->kind) {
    case OPTION_TEXT:
        /* An empty value for an option with a default is an error: a script's variable may be
         * unset. */
        if (text.n || !row->fallback)
            *(const char **)place = text.n ? str_dupz(r->arena, text) : NULL;
        else
            option_say(r, str_printf(r->arena, "%s must not be empty", from));
        break;
    case OPTION_CHOICE:
        if (is_choice(row->choices, text))
            *(const char **)place = str_dupz(r->arena, text);
        else if (is_choice(row->choices, STR("on")) && is_choice(row->choices, STR("off")) &&
                 read_switch(text, &on)) /* some choice options were switches in earlier versions */
            *(const char **)place = on ? "on" : "off";
        else
            option_say(r, str_printf(r->arena, "%s must be one of %s, not '%s'", from, row->choices,
                                     value));
        break;
    case OPTION_INT:
        if (str_to_i64(text, &number) && number >= row->min && number <= row->max)
            *(int64_t *)place = number;
        else
            option_say(r, str_printf(r->arena, "%s must be a number from %lld to %lld, not '%s'",
                                     from, (long long)row->min, (long long)row->max, value));
        break;
    case OPTION_SWITCH:
        if (read_switch(text, &on))
            *(bool *)place = on;
        else
            option_say(r, str_printf(r->arena, "%s must be on or off, not '%s'", from, value));
        break;
    }
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

bool option_same(const struct option_row *row, const void *a, const void *b)
{
    const void *x = (const char *)a + row->offset, *y = (const char *)b + row->offset;

    switch (row->kind) {
    case OPTION_TEXT:
    case OPTION_CHOICE:
        return same_text(*(const char *const *)x, *(const char *const *)y);
    case OPTION_INT:
        return *(const int64_t *)x == *(const int64_t *)y;
    case OPTION_SWITCH:
        return *(const bool *)x == *(const bool *)y;
    }
    return true;
}

static int on_ini_line(void *user, const char *section, const char *name, const char *value)
{
    struct reading *r = user;
    const struct option_row *row = option_find(r->rows, str_of(name));

    (void)section; /* sections of the INI file have no meaning */
    if (row)
        option_set(r, row, name, value);
    else
        option_say(r, str_printf(r->arena, "there is no option '%s'", name));
    return r->problem == NULL;
}

static void read_file(struct reading *r, const char *file)
{
    /* Configures the INI parser: long lines, no continuation lines, stop at the first error. */
    ini_use_stack = false;
    ini_allow_realloc = true;
    ini_max_line = LONGEST_LINE;
    ini_allow_multiline = false;
    ini_stop_on_first_error = true;
    int line = ini_parse(file, on_ini_line, r);

    if (line < 0)
        option_say(r, str_printf(r->arena, "cannot read the configuration file '%s'", file));
    else if (r->problem)
        r->problem = str_printf(r->arena, "%s, line %d: %s", file, line, r->problem).p;
    else if (line > 0)
        option_say(r,
                   str_printf(r->arena, "%s, line %d: not of the form 'name = value'", file, line));
}

/* Reads FILE.d/*.conf, which packages and operators add without editing the file. */
static void read_drop_ins(struct reading *r, const char *file)
{
    glob_t found;

    if (glob(str_printf(r->arena, "%s.d/*.conf", file).p, 0, NULL, &found) != 0)
        return;
    for (size_t i = 0; i < found.gl_pathc && !r->problem; i++)
        read_file(r, str_dupz(r->arena, str_of(found.gl_pathv[i])));
    globfree(&found);
}

void option_variable(const char *prefix, const char *name, char *out, size_t max)
{
    size_t n = (size_t)snprintf(out, max, "%s%s", prefix, name);

    for (size_t i = strlen(prefix); i < n && i < max; i++)
        out[i] =
            out[i] == '-' ? '_' : (char)(out[i] >= 'a' && out[i] <= 'z' ? out[i] - 32 : out[i]);
}

static void read_environment(struct reading *r, const char *prefix)
{
    char variable[128];

    for (const struct option_row *row = r->rows; row->name; row++) {
        option_variable(prefix, row->name, variable, sizeof variable);
        const char *value = getenv(variable);

        if (value)
            option_set(r, row, variable, value);
    }
}

static void option_say_unknown(struct reading *r, struct str name)
{
    const struct option_row *lists[] = { r->rows, NULL };
    const char *meant = option_nearest(lists, name);

    option_say(r, meant ? str_printf(r->arena, "there is no option '--%.*s'; did you mean --%s?",
                                     STR_FMT(name), meant)
                        : str_printf(r->arena, "there is no option '--%.*s'", STR_FMT(name)));
}

/* Parses one flag at *argv; returns the number of arguments it used. */
static int read_flag(struct reading *r, char **argv)
{
    struct str rest = str_of(argv[0] + 2);
    bool joined = memchr(rest.p, '=', rest.n) != NULL;
    struct str name = str_cut(&rest, '=');
    const struct option_row *row = option_find(r->rows, name);

    if (!row) {
        option_say_unknown(r, name);
        return 1;
    }
    if (joined) {
        option_set(r, row, argv[0], rest.p);
        return 1;
    }
    bool has_value = argv[1] && strncmp(argv[1], "--", 2) != 0;
    bool on;
    bool is_value = has_value && r->no_arguments;
    bool alone = row->kind == OPTION_SWITCH
                     ? !is_value && !(has_value && read_switch(str_of(argv[1]), &on))
                     : row->kind == OPTION_CHOICE && is_choice(row->choices, STR("on")) &&
                           !is_value && !(has_value && is_choice(row->choices, str_of(argv[1])));
    if (alone) {
        option_set(r, row, argv[0], "on");
        return 1;
    }
    if (!has_value) {
        option_say(r, str_printf(r->arena, "%s needs a value: %s", argv[0],
                                 row->value ? row->value : "…"));
        return 1;
    }
    option_set(r, row, argv[0], argv[1]);
    return 2;
}

static void read_flags(struct reading *r, char **argv, char **rest)
{
    while (*argv && !r->problem) {
        if (strncmp(*argv, "--", 2) == 0)
            argv += read_flag(r, argv);
        else
            *rest++ = *argv++;
    }
    *rest = NULL;
}

bool options_read(const struct option_row *rows, const struct option_source *source,
                  struct arena *arena, char **argv, void *target, char **rest,
                  const char **ret_problem)
{
    struct reading r = {
        .rows = rows, .arena = arena, .target = target, .no_arguments = source->no_arguments
    };

    for (const struct option_row *row = rows; row->name; row++)
        if (row->fallback)
            option_set(&r, row, row->name, row->fallback);
    if (source->file)
        read_file(&r, source->file);
    if (source->file && !r.problem)
        read_drop_ins(&r, source->file);
    if (!r.problem)
        read_environment(&r, source->prefix);
    if (!r.problem)
        read_flags(&r, argv, rest);
    *ret_problem = r.problem;
    return r.problem == NULL;
}

const char *options_peek(const char *name, const struct option_source *source, char **argv)
{
    char variable[128];
    size_t n = strlen(name);

    for (; *argv; argv++) {
        if (strncmp(*argv, "--", 2) != 0 || strncmp(*argv + 2, name, n) != 0)
            continue;
        if ((*argv)[2 + n] == '=')
            return *argv + 3 + n;
        if ((*argv)[2 + n] == '\0' && argv[1])
            return argv[1];
    }
    option_variable(source->prefix, name, variable, sizeof variable);
    return getenv(variable);
}

/* --- help and sample file ------------------------------------------------------------- */

const char *option_value_word(const struct option_row *row)
{
    if (row->choices)
        return row->choices;
    if (row->value)
        return row->value;
    return row->kind == OPTION_SWITCH ? "on|off" : row->kind == OPTION_INT ? "N" : "TEXT";
}

void help_line(struct buf *out, const char *written, const char *does)
{
    size_t length = utf8_length(str_of(written));

    buf_printf(out, "  %s%*s %s", written, length < 34 ? (int)(34 - length) : 0, "", does);
}

void options_help(const struct option_row *rows, struct buf *out)
{
    for (; rows->name; rows++) {
        char flag[128];

        snprintf(flag, sizeof flag, "--%s %s", rows->name, option_value_word(rows));
        help_line(out, flag, rows->help);
        if (rows->fallback)
            buf_printf(out, " (%s)", rows->fallback);
        buf_add_char(out, '\n');
    }
}

void options_sample(const struct option_row *rows, const struct option_source *source,
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
        option_variable(source->prefix, rows->name, variable, sizeof variable);
        buf_printf(out, "\n; %s\n; %s, %s\n;%s = %s\n", rows->help, option_value_word(rows),
                   variable, rows->name, rows->fallback ? rows->fallback : "");
    }
}
