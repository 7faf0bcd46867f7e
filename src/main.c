/* main.c - the command line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guildhall.h"
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

/* The server's options and the command's own, as one list. */
static const struct option_row *rows_of(const struct program_command *c, struct arena *arena)
{
    size_t first = count_rows(config_rows), second = count_rows(c->options);
    struct option_row *all = arena_array(arena, struct option_row, first + second + 1);

    memcpy(all, config_rows, first * sizeof *all);
    if (second)
        memcpy(all + first, c->options, second * sizeof *all);
    return all;
}

int main(int argc, char **argv)
{
    const struct program_command *c = argc > 1 ? program_find(argv[1]) : program_find("help");
    struct option_source source = config_source;
    struct settings settings = { 0 };
    const char *problem;

    if (!c)
        return usage("there is no such command");
    if (argc > 2 && (strcmp(argv[2], "--help") == 0 || strcmp(argv[2], "-h") == 0))
        c = program_find("help");
    if (c->run == tool_help)
        return tool_help(NULL, NULL);

    struct arena *arena = arena_new();
    char **rest = arena_array(arena, char *, (size_t)argc + 1);
    source.file = options_peek("config", &source, argv + 1);
    int status = 1;
    if (options_read(rows_of(c, arena), &source, arena, argc > 2 ? argv + 2 : argv + argc,
                     &settings, rest, &problem)) {
        guildhall_init(&settings.config);
        status = c->run(&settings, rest);
    } else {
        fprintf(stderr, "guildhall: %s\n", problem);
    }
    arena_free(arena);
    return status;
}
