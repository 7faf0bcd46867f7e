/* main.c - the command line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "server/guildhall.h"
#include "tools/program.h"

int usage(const char *problem)
{
    fprintf(stderr, "guildhall: %s\nTry 'guildhall help'.\n", problem);
    return 2;
}

static size_t count_rows(const struct option_row *rows)
{
    size_t n = 0;

    while (rows && rows[n].name)
        n++;
    return n;
}

#define PACKAGE_DATA "/var/lib/guildhall"

static bool is_folder(const char *path)
{
    struct stat s;

    return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

/* Where the package is installed, its server is the one that commands are for. */
static void use_package_data(struct option_row *rows)
{
    if (is_folder("data") || !is_folder(PACKAGE_DATA))
        return;
    for (; rows->name; rows++)
        if (strcmp(rows->name, "data") == 0)
            rows->fallback = PACKAGE_DATA;
}

/* The server's options and the command's own, as one list. */
static const struct option_row *rows_of(const struct program_command *c, struct arena *arena)
{
    size_t first = count_rows(config_rows), second = count_rows(c->options);
    struct option_row *all = arena_array(arena, struct option_row, first + second + 1);

    memcpy(all, config_rows, first * sizeof *all);
    if (!c->makes_data)
        use_package_data(all);
    if (second)
        memcpy(all + first, c->options, second * sizeof *all);
    return all;
}

/* GUILDHALL_ names of others: of the test helpers, of the project's scripts, and those that a
 * container host derives from a service called "guildhall". */
static const char *const names_of_others[] = { "BINARY", "BUILT",  "TEST_*", "SERVICE_*",
                                               "PORT",   "PORT_*", NULL };

/* An option of another command is none of this one's, but it is no mistake: a shell that uses
 * several has them all in its environment. */
static bool check_environment(struct arena *arena, const char **ret_problem)
{
    const struct option_row *lists[64] = { config_rows };
    size_t n = 1;

    for (const struct program_command *c = program_commands; c->name; c++)
        if (c->options && n + 1 < sizeof lists / sizeof *lists)
            lists[n++] = c->options;
    return options_check_environment(lists, names_of_others, config_source.prefix, arena,
                                     ret_problem);
}

/* `guildhall seed --help`, with whatever stands between; -1: it was not. */
static int asked_for_help(const struct program_command *c, char **words)
{
    if (*words && strcmp(*words, "-h") == 0)
        return program_help(c, false);
    for (; *words; words++) {
        if (strcmp(*words, "--help") == 0)
            return program_help(c, false);
        if (strcmp(*words, "--help-all") == 0)
            return program_help(c, true);
    }
    return -1;
}

/* What follows the command's name. */
static bool settings_read(const struct program_command *c, struct arena *arena, char **argv,
                          struct settings *ret, char **rest, const char **ret_problem)
{
    struct option_source source = config_source;

    ret->argv = argv;
    source.file = options_peek("config", &source, argv);
    source.no_arguments = !*c->arguments;
    return check_environment(arena, ret_problem) &&
           options_read(rows_of(c, arena), &source, arena, argv + 1, ret, rest, ret_problem);
}

bool settings_again(const struct settings *s, struct arena *arena, struct settings *ret,
                    const char **ret_problem)
{
    size_t count = 0;

    while (s->argv[count])
        count++;
    *ret = (struct settings){ 0 };
    return settings_read(program_find(s->argv[0]), arena, s->argv, ret,
                         arena_array(arena, char *, count + 1), ret_problem);
}

static int no_such_command(const char *name)
{
    const char *meant = program_nearest(name);
    char problem[256];

    if (!meant)
        return usage("there is no such command");
    snprintf(problem, sizeof problem, "there is no command '%.64s'; did you mean %s?", name, meant);
    return usage(problem);
}

int main(int argc, char **argv)
{
    const struct program_command *c = argc > 1 ? program_find(argv[1]) : program_find("help");
    struct settings settings = { 0 };
    const char *problem;

    if (!c)
        return no_such_command(argv[1]);
    char **words = argc > 2 ? argv + 2 : argv + argc;
    if (c->run == tool_help)
        return tool_help(NULL, words);
    int status = asked_for_help(c, words);
    if (status >= 0)
        return status;

    struct arena *arena = arena_new();
    char **rest = arena_array(arena, char *, (size_t)argc + 1);
    status = 2;
    if (settings_read(c, arena, argv + (argc > 1), &settings, rest, &problem)) {
        guildhall_init(&settings.config);
        status = c->run(&settings, rest);
    } else {
        fprintf(stderr, "guildhall: %s\n", problem);
    }
    arena_free(arena);
    return status;
}
