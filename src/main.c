/* main.c - the entry point: finds the command and reads its options. */
#include <stdio.h>
#include <string.h>

#include "server/guildhall.h"
#include "tools/program.h"

/* Prints the help if the arguments contain --help, --help-all or a first -h; else returns -1. */
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
    struct settings settings = { .commands = program_commands };
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
    if (command_settings_read(c, arena, argv + (argc > 1), &settings, rest, &problem)) {
        guildhall_init(&settings.config);
        status = c->run(&settings, rest);
    } else {
        fprintf(stderr, "guildhall: %s\n", problem);
    }
    arena_free(arena);
    return status;
}
