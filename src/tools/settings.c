/* settings.c - reads the settings of a command from arguments, environment and file. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/program.h"

static const char *running_command; /* its name, or NULL */

void set_command_of_usage_errors(const char *name)
{
    running_command = name;
}

static int print_reference_to_help(void)
{
    fprintf(stderr, "Try 'guildhall help%s%s'.\n", running_command ? " " : "",
            running_command ? running_command : "");
    return 2;
}

int print_usage_error(const char *problem)
{
    fprintf(stderr, "guildhall: %s\n", problem);
    return print_reference_to_help();
}

int print_usage_forms(const char *forms)
{
    fprintf(stderr, "guildhall: usage: %s\n", forms);
    return print_reference_to_help();
}

static size_t count_option_rows(const struct option_row *rows)
{
    size_t n = 0;

    while (rows && rows[n].name)
        n++;
    return n;
}

#define PACKAGE_DATA_FOLDER "/var/lib/guildhall"

static bool is_existing_folder(const char *path)
{
    struct stat s;

    return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

/* If there is no folder "data" but the data folder of the package exists, makes this the
 * default. */
static void set_default_to_package_data_folder(struct option_row *rows)
{
    if (is_existing_folder("data") || !is_existing_folder(PACKAGE_DATA_FOLDER))
        return;
    for (; rows->name; rows++)
        if (strcmp(rows->name, "data") == 0)
            rows->fallback = PACKAGE_DATA_FOLDER;
}

static const struct option_row *join_server_and_command_options(const struct program_command *c,
                                                                struct arena *arena)
{
    size_t first = count_option_rows(config_option_rows), second = count_option_rows(c->options);
    struct option_row *all = arena_array(arena, struct option_row, first + second + 1);

    memcpy(all, config_option_rows, first * sizeof *all);
    if (!c->makes_data)
        set_default_to_package_data_folder(all);
    if (second)
        memcpy(all + first, c->options, second * sizeof *all);
    return all;
}

/* Names of GUILDHALL_… variables that are not options. They belong to tests or to the project's
 * scripts, or a container host sets them for a service named "guildhall". */
static const char *const unrelated_variable_names[] = { "BINARY", "BUILT",  "TEST_*", "SERVICE_*",
                                                        "PORT",   "PORT_*", NULL };

/* Rejects unknown GUILDHALL_… variables. A shell may export options of several commands, so options
 * of all commands are known. */
static bool check_environment_variable_names(const struct program_command *commands,
                                             struct arena *arena, const char **ret_problem)
{
    const struct option_row *lists[64] = { config_option_rows };
    size_t n = 1;

    for (const struct program_command *c = commands; c->name; c++)
        if (c->options && n + 1 < sizeof lists / sizeof *lists)
            lists[n++] = c->options;
    return options_check_environment_spelling(lists, unrelated_variable_names,
                                              config_option_source.prefix, arena, ret_problem);
}

/* Returns 1 if the help names a single argument. Returns 0 if it names several, which may be any
 * number. */
static size_t count_arguments_of_command(const struct program_command *c)
{
    return *c->arguments && !strchr(c->arguments, ' ') && !strstr(c->arguments, "…");
}

bool read_settings_of_command(const struct program_command *c, struct arena *arena, char **argv,
                              struct command_settings *ret, char **rest, const char **ret_problem)
{
    struct option_source source = config_option_source;

    ret->argv = argv;
    source.file = option_read_value_before_other_options("config", &source, argv);
    source.command_follows = c->command_follows;
    source.no_arguments = !*c->arguments || c->command_follows;
    source.max_arguments = count_arguments_of_command(c);
    if (!check_environment_variable_names(ret->commands, arena, ret_problem) ||
        !options_read(join_server_and_command_options(c, arena), &source, arena, argv + 1, ret,
                      rest, ret_problem))
        return false;
    config_apply_as_discord_option(&ret->config, arena);
    return true;
}

bool reread_settings(const struct command_settings *s, struct arena *arena,
                     struct command_settings *ret, const char **ret_problem)
{
    const struct program_command *c = s->commands;
    size_t count = 0;

    while (s->argv[count])
        count++;
    while (strcmp(c->name, s->argv[0]) != 0)
        c++;
    *ret = (struct command_settings){ .commands = s->commands };
    return read_settings_of_command(c, arena, s->argv, ret, arena_array(arena, char *, count + 1),
                                    ret_problem);
}
