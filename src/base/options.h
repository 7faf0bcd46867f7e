/* options.h - configuration options, described by rows.
 *
 * The same rows define the flags (--name value), the environment variables (PREFIX_NAME), the INI
 * file (name = value), the help and the sample file. Flags override the environment, the
 * environment overrides the file, the file overrides the defaults. */
#ifndef BASE_OPTIONS_H
#define BASE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

enum option_kind {
    OPTION_TEXT,   /* the value is a string; NULL if the option is not set */
    OPTION_INT,    /* the value is an int64_t between min and max */
    OPTION_SWITCH, /* the value is a bool: on or off; a flag without a value means on */
    OPTION_CHOICE, /* the value is a string, one of `choices`; a flag without a value means "on", if
                    * that is a choice */
};

struct option_row {
    const char *name; /* NULL ends the list */
    enum option_kind kind;
    size_t offset; /* offset of the option's member in the struct that options_read fills */
    const char *fallback;
    int64_t min, max;
    const char *choices;
    const char *value; /* placeholder of the value in the help, such as "HOST:PORT" */
    const char *help;
    bool reloadable; /* whether the option can be changed while the program runs */
};

struct option_source {
    const char *program; /* "guildhall" */
    const char *prefix;  /* for environment variables: "GUILDHALL_" */
    const char *file;    /* path FILE of the INI file, or NULL; after it, FILE.d/NAME.conf are read,
                          * ordered by name */
    bool no_arguments;   /* the program takes no arguments; so a word after the flag of a switch is
                          * the value of that switch */
    /* Maximum number of arguments; 0: any number. If there are more, a word after the flag of a
     * switch was probably meant as its value. */
    size_t max_arguments;
    bool command_follows; /* "--" ends the options: "--" and the words after it are arguments of a
                           * command */
};

/* Reads all options into the struct `target`. argv starts after the command. Arguments that are not
 * flags are stored in rest, which ends with NULL. On errors, returns false, and a sentence in
 * *ret_problem. */
bool options_read(const struct option_row *rows, const struct option_source *source,
                  struct arena *arena, char **argv, void *target, char **rest,
                  const char **ret_problem);

/* Returns the value of one flag or environment variable before the other options are read. Used for
 * the path of the INI file. */
const char *option_read_value_before_other_options(const char *name,
                                                   const struct option_source *source, char **argv);

/* Returns the name of the most similar option of the lists, or NULL. `lists` ends with NULL. */
const char *option_find_most_similar(const struct option_row *const *lists, struct str name);

/* Checks the environment for misspelled options, which would be ignored silently. Returns false and
 * a sentence if a variable starts with the prefix but is not an option of the lists. `others` lists
 * further allowed names without the prefix; an asterisk at the end of a name matches any suffix. */
bool options_check_environment_spelling(const struct option_row *const *lists,
                                        const char *const *others, const char *prefix,
                                        struct arena *arena, const char **ret_problem);

/* Returns true if the option has the same value in the structs a and b. */
bool option_values_are_equal(const struct option_row *row, const void *a, const void *b);

/* Returns the placeholder of the option's value in the help: "HOST:PORT", "on|off". */
const char *option_get_value_placeholder(const struct option_row *row);
/* Writes the name of the environment variable of an option: PREFIX_NAME. */
void option_format_variable_name(const char *prefix, const char *name, char *out, size_t max);

void options_append_help(const struct option_row *rows, struct buf *out);
/* Appends one help entry without a line end: `written` (the syntax of the flag), then its
 * description. */
void options_append_help_entry(struct buf *out, const char *written, const char *does);
void options_append_sample_file(const struct option_row *rows, const struct option_source *source,
                                struct buf *out);

#endif
