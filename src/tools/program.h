/* program.h - what the program can be told, as rows: help, manual and completion follow. */
#ifndef TOOLS_PROGRAM_H
#define TOOLS_PROGRAM_H

#include "tools/tools.h"

struct program_command {
    const char *name, *arguments, *help;
    int (*run)(const struct settings *s, char **arguments);
    const struct option_row *options; /* its own, or NULL */
    bool makes_data; /* it may make the data folder: it never takes the package's by default */
};

/* Ended by a row without a name. */
extern const struct program_command program_commands[];

/* NULL when there is none; --help, -h and --version are commands too. */
const struct program_command *program_find(const char *name);

/* The command whose name is nearest to one that is wrong; NULL when none is near. */
const char *program_nearest(const char *name);

/* What one command is told and does; all: with the options of the server. */
int program_help(const struct program_command *c, bool all);

int tool_help(const struct settings *s, char **arguments);
int tool_manual(const struct settings *s, char **arguments);
int tool_completion(const struct settings *s, char **arguments);

/* Reads what stands behind the command's name, the environment and the file. ret->commands is set:
 * options of other commands may stand in the environment. rest: the arguments, as many as argv has
 * at most. */
bool command_settings_read(const struct program_command *c, struct arena *arena, char **argv,
                           struct settings *ret, char **rest, const char **ret_problem);

/* Writes it to the standard output, and frees it. */
void program_print(struct buf *out);

#endif
