/* program.h - the table of commands, from which help, manual and completion are generated. */
#ifndef TOOLS_PROGRAM_H
#define TOOLS_PROGRAM_H

#include "tools/tools.h"

struct program_command {
    const char *name, *arguments, *help;
    int (*run)(const struct command_settings *s, char **arguments);
    const struct option_row *options; /* additional options, or NULL */
    /* Whether the command creates the data folder; then the default is not the data folder of the
     * installed package. */
    bool makes_data;
    const char *examples; /* lines of shell, for the help */
    bool command_follows; /* whether the words after "--" are a command to run */
};

/* The table of commands; its last row has no name. */
extern const struct program_command program_commands[];

/* Finds a command by name. Returns NULL if there is none. --help, -h and --version count as
 * commands. */
const struct program_command *program_find_command(const char *name);

/* Returns the most similar command name, for error messages; NULL if none is similar. */
const char *find_similar_command_name(const char *name);

/* Prints that there is no such command, and the most similar name. Returns the exit status. */
int print_unknown_command(const char *name);

/* Prints the help of one command. If `all` is set, also prints the server's options. */
int print_command_help(const struct program_command *c, bool all);

int run_command_help(const struct command_settings *s, char **arguments);
int run_command_manual(const struct command_settings *s, char **arguments);
int run_command_completion(const struct command_settings *s, char **arguments);

/* Reads settings from arguments, environment and configuration file. The caller sets ret->commands,
 * because the environment may contain options of other commands. `rest` gets the arguments that are
 * not options. */
bool read_settings_of_command(const struct program_command *c, struct arena *arena, char **argv,
                              struct command_settings *ret, char **rest, const char **ret_problem);

void print_and_free_buf(struct buf *out);

#endif
