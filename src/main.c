/* main.c - the entry point: finds the command and reads its options. */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "server/guildhall.h"
#include "tools/program.h"

/* Prints the help and returns the exit status if the arguments contain --help or --help-all, or
 * begin with -h; otherwise returns -1. */
static int print_help_if_requested(const struct program_command *c, char **words)
{
    if (*words && strcmp(*words, "-h") == 0)
        return print_command_help(c, false);
    for (; *words && strcmp(*words, "--") != 0; words++) {
        if (strcmp(*words, "--help") == 0)
            return print_command_help(c, false);
        if (strcmp(*words, "--help-all") == 0)
            return print_command_help(c, true);
    }
    return -1;
}

static int print_unexpected_argument(const char *command, const char *argument)
{
    char text[256];

    snprintf(text, sizeof text, "%s accepts only options, not '%.64s'", command, argument);
    return print_usage_error(text);
}

int main(int argc, char **argv)
{
    const struct program_command *c =
        argc > 1 ? program_find_command(argv[1]) : program_find_command("help");
    struct command_settings settings = { .commands = program_commands };
    const char *problem;

    if (!c)
        return print_unknown_command(argv[1]);
    char **words = argc > 2 ? argv + 2 : argv + argc;
    if (c->run == run_command_help)
        return run_command_help(NULL, words);
    int status = print_help_if_requested(c, words);
    if (status >= 0)
        return status;

    struct arena *arena = arena_new();
    char **rest = arena_array(arena, char *, (size_t)argc + 1);
    status = 2;
    set_command_of_usage_errors(c->name);
    if (!read_settings_of_command(c, arena, argv + (argc > 1), &settings, rest, &problem)) {
        fprintf(stderr, "guildhall: %s\n", problem);
    } else if (!*c->arguments && rest[0]) {
        status = print_unexpected_argument(c->name, rest[0]);
    } else {
        guildhall_init(&settings.config);
        if (c->run != run_command_serve && c->run != run_command_demo &&
            strcmp(settings.config.log_format, "json") != 0)
            log_use_sentence_format();
        status = c->run(&settings, rest);
    }
    arena_free(arena);
    return status;
}
