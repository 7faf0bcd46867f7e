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
    { "demo", "", "Run the server with a small example world", tool_demo, NULL,
      .makes_data = true },
    { "reload", "", "Make the running server read its configuration again", tool_reload, NULL },
    { "import", "FILE", "Import a world file", tool_import, import_rows, .makes_data = true },
    { "export", "[FILE]", "Export the world to a file", tool_export, NULL },
    { "seed", "", "Create a large random world", tool_seed, seed_rows, .makes_data = true },
    { "gifs", "import FILE [FOLDER]", "Import GIFs listed in a JSON or CSV file", tool_gifs, NULL },
    { "invoke", "\"/COMMAND OPTION:VALUE\"",
      "Run a command of an app as a user and print the response", tool_invoke, invoke_rows },
    { "say", "\"TEXT\"", "Send a message as a user, and wait for a reply", tool_say, act_rows },
    { "react", "EMOJI", "Add a reaction to a message as a user", tool_react, act_rows },
    { "join", "CODE|GUILD", "Join a guild as a user", tool_join, act_rows },
    { "leave", "GUILD", "Leave a guild as a user", tool_leave, act_rows },
    { "user", "VERB …", "Accounts: list, show, add, passwd, disable, enable, delete, premium",
      tool_order, order_options },
    { "guild", "VERB …", "Guilds: list, show, owner, delete", tool_order, order_options },
    { "app", "VERB …", "Applications: list, show, token", tool_order, order_options },
    { "token", "revoke NAME", "Revoke all tokens and sessions of an account", tool_order,
      order_options },
    { "invite", "VERB …", "Registration codes: create, list, revoke", tool_order, order_options },
    { "message", "VERB …", "Messages: show, delete, purge, purging", tool_order, order_options },
    { "file", "VERB …", "Attachments of messages: show, delete", tool_order, order_options },
    { "report", "VERB …", "Reported messages: list, show, close", tool_order, order_options },
    { "ban", "VERB …", "Banned address ranges: list, add, lift", tool_order, order_options },
    { "stats", "",
      "Print the numbers of accounts, guilds, messages and files of the running server", tool_order,
      order_options },
    { "log", "", "Print the operator log: what was changed, by whom and when", tool_order,
      order_options },
    { "sessions", "[VERB WHO]",
      "List connected sessions; voice, drop, reconnect, invalidate, resumable", tool_sessions,
      sessions_rows },
    { "watch", "", "Print requests and events of the running server as they happen", tool_watch,
      watch_rows },
    { "health", "", "Print statistics of the running server for the last hour", tool_health,
      health_rows },
    { "clock", "[+15m|reset]", "Move the clock of a running demo or test server", tool_clock,
      clock_rows },
    { "fault", "['METHOD /PATH'|clear]",
      "Make the next requests to a running demo or test server fail", tool_fault, fault_rows },
    { "console-key", "", "Print the key of the running server's console", tool_console_key, NULL },
    { "nodes", "", "List the nodes of a cluster", tool_nodes, NULL },
    { "platform", "VERB …", "Accounts and subscriptions of the local platforms", tool_platform,
      NULL },
    { "check", "[FILE]", "Check the database and its files, or a backup, for damage", tool_check,
      NULL },
    { "backup", "FILE|-", "Back up rows, files and keys, also while the server runs", tool_backup,
      backup_rows },
    { "snapshot", "[NAME]", "Save a snapshot of the running server, or list the snapshots",
      tool_snapshot, snapshot_rows },
    { "restore", "NAME|FILE|-", "Restore a snapshot, or a backup into an empty data folder",
      tool_restore, restore_rows, .makes_data = true },
    { "move", "", "Move the database to PostgreSQL, or from there into a folder", tool_move,
      move_rows, .makes_data = true },
    { "openapi", "", "Print the OpenAPI document", run_openapi, NULL },
    { "reference", "", "Print docs/reference.md", run_reference, NULL },
    { "sample-config", "", "Print a configuration file with every option", sample_config, NULL },
    { "manual", "[conf|options]",
      "Print the manual page of the program or its configuration, or docs/CONFIGURATION.md",
      tool_manual, NULL },
    { "completion", "bash|zsh|fish", "Print the completion script for a shell", tool_completion,
      NULL },
    { "version", "", "Print the version", run_version, NULL },
    { "help", "[COMMAND]", "Print this list, or the help of one command", tool_help, NULL },
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
