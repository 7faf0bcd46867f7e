/* main.c - the command line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guildhall.h"
#include "tools/tools.h"

struct program_command {
    const char *name, *arguments, *help;
    int (*run)(const struct settings *s, char **arguments);
    const struct option_row *options; /* its own, or NULL */
};

static const struct program_command *all_commands(void);

static void print_command(struct buf *out)
{
    fwrite(out->p, 1, out->n, stdout);
    buf_clear(out);
}

int usage(const char *problem)
{
    fprintf(stderr, "guildhall: %s\nTry 'guildhall help'.\n", problem);
    return 2;
}

/* --- derived documents ---------------------------------------------------------------- */

static int run_openapi(const struct settings *s, char **arguments)
{
    struct buf text, out;

    (void)s, (void)arguments;
    buf_init(&text, SIZE_MAX);
    buf_init(&out, SIZE_MAX);
    api_openapi(guildhall_domains, GUILDHALL_VERSION, &text);
    json_indent(buf_str(&text), &out);
    buf_add_char(&out, '\n');
    buf_clear(&text);
    print_command(&out);
    return 0;
}

static int run_reference(const struct settings *s, char **arguments)
{
    struct buf out;

    (void)s, (void)arguments;
    buf_init(&out, SIZE_MAX);
    api_reference(guildhall_domains, &out);
    print_command(&out);
    return 0;
}

static int sample_config(const struct settings *s, char **arguments)
{
    struct buf out;

    (void)s, (void)arguments;
    buf_init(&out, SIZE_MAX);
    options_sample(config_rows, &config_source, &out);
    print_command(&out);
    return 0;
}

static int run_version(const struct settings *s, char **arguments)
{
    (void)s, (void)arguments;
    puts("guildhall " GUILDHALL_VERSION);
    return 0;
}

static int run_help(const struct settings *s, char **arguments)
{
    struct buf out;

    (void)s, (void)arguments;
    buf_init(&out, SIZE_MAX);
    buf_add_lit(&out, "guildhall COMMAND [options]\n\nCommands\n");
    for (const struct program_command *c = all_commands(); c->name; c++) {
        char call[64];

        snprintf(call, sizeof call, "%s %s", c->name, c->arguments);
        help_line(&out, call, c->help);
        buf_add_lit(&out, "\n");
    }
    buf_add_lit(
        &out, "\nOptions; also as GUILDHALL_NAME in the environment, or in the file of --config\n");
    options_help(config_rows, &out);
    for (const struct program_command *c = all_commands(); c->name; c++) {
        if (c->options && (c == all_commands() || c[-1].options != c->options)) {
            buf_printf(&out, "\nOptions of %s%s\n", c->name,
                       c[1].options == c->options ? " and the like" : "");
            options_help(c->options, &out);
        }
    }
    print_command(&out);
    return 0;
}

static const struct program_command commands[] = {
    { "serve", "", "Run the server", tool_serve, NULL },
    { "demo", "", "Run the server with a small world to try", tool_demo, NULL },
    { "import", "FILE", "Read a world file", tool_import, import_rows },
    { "export", "[FILE]", "Write the world as a file", tool_export, NULL },
    { "seed", "", "Make a large random world", tool_seed, seed_rows },
    { "gifs", "import FILE [FOLDER]", "Read GIFs from JSON or CSV, files from FOLDER", tool_gifs,
      NULL },
    { "invoke", "\"/COMMAND OPTION:VALUE\"", "Use an app's command and show its answer",
      tool_invoke, invoke_rows },
    { "user", "VERB …", "Accounts: list, show, add, passwd, disable, enable, delete, premium",
      tool_user, order_options },
    { "guild", "VERB …", "Guilds: list, show, owner, delete", tool_guild, order_options },
    { "app", "VERB …", "Applications: list, show, token", tool_app, order_options },
    { "token", "revoke NAME", "End every token and session of an account", tool_token,
      order_options },
    { "invite", "create [USES [DAYS]]", "Make a code to register with", tool_invite,
      order_options },
    { "stats", "", "How much there is on the server that runs", tool_stats, order_options },
    { "log", "", "What the operator changed, by whom and when", tool_log, order_options },
    { "sessions", "", "List who is connected to the server that runs", tool_sessions,
      sessions_rows },
    { "platform", "VERB …", "Accounts of the local platforms, and who subscribes", tool_platform,
      NULL },
    { "check", "[FILE]", "Look whether the database, or a backup, is sound", tool_check, NULL },
    { "backup", "FILE", "Save rows, files and keys, also while the server runs", tool_backup,
      NULL },
    { "restore", "FILE", "Bring a backup back, into an empty data folder", tool_restore, NULL },
    { "openapi", "", "Print the OpenAPI document", run_openapi, NULL },
    { "reference", "", "Print docs/reference.md", run_reference, NULL },
    { "sample-config", "", "Print a configuration file with every option", sample_config, NULL },
    { "version", "", "Print the version", run_version, NULL },
    { "help", "", "Print this", run_help, NULL },
    { 0 },
};

static const struct program_command *all_commands(void)
{
    return commands;
}

static const struct program_command *find_command(const char *name)
{
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        name = "help";
    if (strcmp(name, "--version") == 0)
        name = "version";
    for (const struct program_command *c = all_commands(); c->name; c++)
        if (strcmp(c->name, name) == 0)
            return c;
    return NULL;
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
    const struct program_command *c = argc > 1 ? find_command(argv[1]) : find_command("help");
    struct option_source source = config_source;
    struct settings settings = { 0 };
    const char *problem;

    if (!c)
        return usage("there is no such command");
    if (argc > 2 && (strcmp(argv[2], "--help") == 0 || strcmp(argv[2], "-h") == 0))
        c = find_command("help");
    if (c->run == run_help)
        return run_help(NULL, NULL);

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
