/* options.h - what an operator can set, as rows.
 *
 * The same rows feed the flags (--name value), the environment (PREFIX_NAME), an
 * INI file (name = value), the help and the sample file. Flags win over the
 * environment, the environment over the file, the file over the defaults. */
#ifndef BASE_OPTIONS_H
#define BASE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

enum option_kind {
    OPTION_TEXT,   /* const char *; NULL when unset */
    OPTION_INT,    /* int64_t between min and max */
    OPTION_SWITCH, /* bool: on or off; a flag alone means on */
    OPTION_CHOICE, /* const char *: one of choices, "auto|text|json"; a flag alone: "on", if it is
                    */
};

struct option_row {
    const char *name; /* NULL ends the list */
    enum option_kind kind;
    size_t offset; /* of the member in the struct that is filled */
    const char *fallback;
    int64_t min, max;
    const char *choices;
    const char *value; /* what the help calls the value: "HOST:PORT" */
    const char *help;
    bool reloads; /* it can change while the program runs */
};

struct option_source {
    const char *program; /* "guildhall" */
    const char *prefix;  /* of environment variables: "GUILDHALL_" */
    const char *file;    /* INI file, or NULL; then the files FILE.d/NAME.conf, by name */
    bool no_arguments;   /* a word behind a switch is its value, for there are no arguments */
};

/* Fills target. argv holds what follows the command; arguments that are not flags
 * are gathered in rest (NULL ends it). False with a sentence in *ret_problem. */
bool options_read(const struct option_row *rows, const struct option_source *source,
                  struct arena *arena, char **argv, void *target, char **rest,
                  const char **ret_problem);

/* The value of one flag or variable before all are read: where the file is. */
const char *options_peek(const char *name, const struct option_source *source, char **argv);

/* The option whose name is nearest to one that is wrong; NULL when none is near. The lists end
 * with NULL. */
const char *option_nearest(const struct option_row *const *lists, struct str name);

/* False with a sentence when the environment has a variable that begins with the prefix and is
 * an option in none of the lists: a mistyped name would else do nothing, silently. `others` are
 * names of other programs, without the prefix; one that ends with * stands for all that begin so.
 */
bool options_check_environment(const struct option_row *const *lists, const char *const *others,
                               const char *prefix, struct arena *arena, const char **ret_problem);

/* Whether two targets have the same value of it. */
bool option_same(const struct option_row *row, const void *a, const void *b);

/* What stands for a value of it: "HOST:PORT", "on|off". */
const char *option_value_word(const struct option_row *row);
/* PREFIX_NAME of an option. */
void option_variable(const char *prefix, const char *name, char *out, size_t max);

void options_help(const struct option_row *rows, struct buf *out);
/* One line of it, without its end: what to write, and what it does. */
void help_line(struct buf *out, const char *written, const char *does);
void options_sample(const struct option_row *rows, const struct option_source *source,
                    struct buf *out);

#endif
