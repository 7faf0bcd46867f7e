/* program.c - the table of the program's commands, and commands that print documents. */
#include "tools/program.h"

#include <stdio.h>
#include <string.h>

#include "server/guildhall.h"

void program_print(struct buf *out)
{
    fwrite(out->p, 1, out->n, stdout);
    buf_clear(out);
}

/* --- generated documents -------------------------------------------------------------- */

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
    program_print(&out);
    return 0;
}

static int run_reference(const struct settings *s, char **arguments)
{
    struct buf out;

    (void)s, (void)arguments;
    buf_init(&out, SIZE_MAX);
    api_reference(guildhall_domains, &out);
    program_print(&out);
    return 0;
}

static int sample_config(const struct settings *s, char **arguments)
{
    struct buf out;

    (void)s, (void)arguments;
    buf_init(&out, SIZE_MAX);
    options_sample(config_rows, &config_source, &out);
    program_print(&out);
    return 0;
}

static int run_version(const struct settings *s, char **arguments)
{
    (void)s, (void)arguments;
    puts("guildhall " GUILDHALL_VERSION);
    return 0;
}

const struct program_command program_commands[] = {
    { "serve", "", "Run the server", tool_serve, NULL, .makes_data = true },
    { "demo", "", "Run the server with a small world to try", tool_demo, NULL, .makes_data = true },
    { "reload", "", "Have the server that runs read its configuration again", tool_reload, NULL },
    { "import", "FILE", "Read a world file", tool_import, import_rows, .makes_data = true },
    { "export", "[FILE]", "Write the world as a file", tool_export, NULL },
    { "seed", "", "Make a large random world", tool_seed, seed_rows, .makes_data = true },
    { "gifs", "import FILE [FOLDER]", "Read GIFs from JSON or CSV, files from FOLDER", tool_gifs,
      NULL },
    { "invoke", "\"/COMMAND OPTION:VALUE\"", "Use an app's command and show its answer",
      tool_invoke, invoke_rows },
    { "say", "\"TEXT\"", "Write a message as somebody, and wait for an answer", tool_say,
      act_rows },
    { "react", "EMOJI", "Put an emoji under a message as somebody", tool_react, act_rows },
    { "join", "CODE|GUILD", "Join a guild as somebody", tool_join, act_rows },
    { "leave", "GUILD", "Leave a guild as somebody", tool_leave, act_rows },
    { "user", "VERB …", "Accounts: list, show, add, passwd, disable, enable, delete, premium",
      tool_order, order_options },
    { "guild", "VERB …", "Guilds: list, show, owner, delete", tool_order, order_options },
    { "app", "VERB …", "Applications: list, show, token", tool_order, order_options },
    { "token", "revoke NAME", "End every token and session of an account", tool_order,
      order_options },
    { "invite", "VERB …", "Codes to register with: create, list, revoke", tool_order,
      order_options },
    { "message", "VERB …", "Messages: show, delete, purge, purging", tool_order, order_options },
    { "file", "VERB …", "Files of messages: show, delete", tool_order, order_options },
    { "report", "VERB …", "Reported messages: list, show, close", tool_order, order_options },
    { "ban", "VERB …", "Banned address ranges: list, add, lift", tool_order, order_options },
    { "stats", "", "How much there is on the server that runs", tool_order, order_options },
    { "log", "", "What the operator changed, by whom and when", tool_order, order_options },
    { "sessions", "[VERB WHO]", "Who is connected; voice, drop, reconnect, invalidate, resumable",
      tool_sessions, sessions_rows },
    { "watch", "", "Follow the calls and events of the server that runs", tool_watch, watch_rows },
    { "health", "", "How the server that runs did in the last hour", tool_health, health_rows },
    { "clock", "[+15m|reset]", "Let time pass on the demo or test server that runs", tool_clock,
      clock_rows },
    { "fault", "['METHOD /PATH'|clear]", "Let the next calls fail, on such a server", tool_fault,
      fault_rows },
    { "console-key", "", "Print what opens the console of the server that runs", tool_console_key,
      NULL },
    { "nodes", "", "List the servers that share a PostgreSQL", tool_nodes, NULL },
    { "platform", "VERB …", "Accounts of the local platforms, and who subscribes", tool_platform,
      NULL },
    { "check", "[FILE]", "Look whether the database and its files, or a backup, are sound",
      tool_check, NULL },
    { "backup", "FILE|-", "Save rows, files and keys, also while the server runs", tool_backup,
      backup_rows },
    { "snapshot", "[NAME]", "Keep the world of the server that runs by name, or list those kept",
      tool_snapshot, snapshot_rows },
    { "restore", "NAME|FILE|-", "Bring a snapshot back, or a backup into an empty data folder",
      tool_restore, restore_rows, .makes_data = true },
    { "move", "", "Take the world to PostgreSQL, or from there into a folder", tool_move, move_rows,
      .makes_data = true },
    { "openapi", "", "Print the OpenAPI document", run_openapi, NULL },
    { "reference", "", "Print docs/reference.md", run_reference, NULL },
    { "sample-config", "", "Print a configuration file with every option", sample_config, NULL },
    { "manual", "[conf|options]",
      "Print the manual page of the program or its configuration, or docs/CONFIGURATION.md",
      tool_manual, NULL },
    { "completion", "bash|zsh|fish", "Print what a shell completes commands and options with",
      tool_completion, NULL },
    { "version", "", "Print the version", run_version, NULL },
    { "help", "[COMMAND]", "Print this, or what one command is told", tool_help, NULL },
    { 0 },
};

const struct program_command *program_find(const char *name)
{
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        name = "help";
    if (strcmp(name, "--version") == 0)
        name = "version";
    for (const struct program_command *c = program_commands; c->name; c++)
        if (strcmp(c->name, name) == 0)
            return c;
    return NULL;
}

const char *program_nearest(const char *name)
{
    struct option_row names[64] = { 0 };
    const struct option_row *lists[] = { names, NULL };
    size_t n = 0;

    for (const struct program_command *c = program_commands; c->name; c++)
        if (n + 1 < sizeof names / sizeof *names)
            names[n++].name = c->name;
    return option_nearest(lists, str_of(name));
}
