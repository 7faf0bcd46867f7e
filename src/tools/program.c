/* program.c - the table of the program's commands, and commands that print documents. */
#include "tools/program.h"

#include <stdio.h>
#include <string.h>

#include "server/guildhall.h"

void print_and_free_buf(struct buf *out)
{
    fwrite(out->p, 1, out->n, stdout);
    buf_clear(out);
}

/* --- generated documents -------------------------------------------------------------- */

static int print_openapi(const struct command_settings *s, char **arguments)
{
    struct buf text, out;

    (void)s, (void)arguments;
    buf_init(&text, SIZE_MAX);
    buf_init(&out, SIZE_MAX);
    api_write_openapi(guildhall_domains, GUILDHALL_VERSION, &text);
    json_indent(buf_str(&text), &out);
    buf_add_char(&out, '\n');
    buf_clear(&text);
    print_and_free_buf(&out);
    return 0;
}

static int print_reference(const struct command_settings *s, char **arguments)
{
    struct buf out;

    (void)s, (void)arguments;
    buf_init(&out, SIZE_MAX);
    api_write_reference(guildhall_domains, &out);
    print_and_free_buf(&out);
    return 0;
}

static int print_sample_config(const struct command_settings *s, char **arguments)
{
    struct buf out;

    (void)s, (void)arguments;
    buf_init(&out, SIZE_MAX);
    options_append_sample_file(config_option_rows, &config_option_source, &out);
    print_and_free_buf(&out);
    return 0;
}

static int print_version(const struct command_settings *s, char **arguments)
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
    { "import", "FILE", "Import a world file", tool_import, import_option_rows,
      .makes_data = true },
    { "export", "[FILE]", "Export the world to a file", tool_export, NULL },
    { "seed", "", "Create a large random world", tool_seed, seed_option_rows, .makes_data = true },
    { "gifs", "import FILE [FOLDER]", "Import GIFs listed in a JSON or CSV file", tool_gifs, NULL },
    { "invoke", "\"/COMMAND OPTION:VALUE\"",
      "Run a command of an app as a user and print the response", tool_invoke, invoke_option_rows },
    { "say", "\"TEXT\"", "Send a message as a user, and wait for a reply", tool_say,
      act_option_rows },
    { "react", "EMOJI", "Add a reaction to a message as a user", tool_react, act_option_rows },
    { "join", "CODE|GUILD", "Join a guild as a user", tool_join, act_option_rows },
    { "leave", "GUILD", "Leave a guild as a user", tool_leave, act_option_rows },
    { "user", "VERB …", "Accounts: list, show, add, passwd, disable, enable, delete, premium",
      tool_operator_command, operator_command_option_rows },
    { "guild", "VERB …", "Guilds: list, show, owner, delete", tool_operator_command,
      operator_command_option_rows },
    { "app", "VERB …", "Applications: list, show, token", tool_operator_command,
      operator_command_option_rows },
    { "token", "revoke NAME", "Revoke all tokens and sessions of an account", tool_operator_command,
      operator_command_option_rows },
    { "invite", "VERB …", "Registration codes: create, list, revoke", tool_operator_command,
      operator_command_option_rows },
    { "message", "VERB …", "Messages: show, delete, purge, purging", tool_operator_command,
      operator_command_option_rows },
    { "file", "VERB …", "Attachments of messages: show, delete", tool_operator_command,
      operator_command_option_rows },
    { "report", "VERB …", "Reported messages: list, show, close", tool_operator_command,
      operator_command_option_rows },
    { "ban", "VERB …", "Banned address ranges: list, add, lift", tool_operator_command,
      operator_command_option_rows },
    { "announcement", "VERB …", "Announcement to everybody: show, set, clear",
      tool_operator_command, operator_command_option_rows },
    { "stats", "",
      "Print the numbers of accounts, guilds, messages and files of the running server",
      tool_operator_command, operator_command_option_rows },
    { "log", "", "Print the operator log: what was changed, by whom and when",
      tool_operator_command, operator_command_option_rows },
    { "sessions", "[VERB WHO]",
      "List connected sessions; voice, drop, reconnect, invalidate, resumable", tool_sessions,
      sessions_option_rows },
    { "watch", "", "Print requests and events of the running server as they happen", tool_watch,
      watch_option_rows },
    { "health", "", "Print statistics of the running server for the last hour", tool_health,
      health_option_rows },
    { "clock", "[+15m|reset]", "Move the clock of a running demo or test server", tool_clock,
      clock_option_rows },
    { "fault", "['METHOD /PATH'|clear]",
      "Make the next requests to a running demo or test server fail", tool_fault,
      fault_option_rows },
    { "console-key", "", "Print the key of the running server's console", tool_console_key, NULL },
    { "nodes", "", "List the nodes of a cluster", tool_nodes, NULL },
    { "platform", "VERB …", "Accounts and subscriptions of the local platforms", tool_platform,
      NULL },
    { "check", "[FILE]", "Check the database and its files, or a backup, for damage", tool_check,
      NULL },
    { "backup", "FILE|-", "Back up rows, files and keys, also while the server runs", tool_backup,
      backup_option_rows },
    { "snapshot", "[NAME]", "Save a snapshot of the running server, or list the snapshots",
      tool_snapshot, snapshot_option_rows },
    { "restore", "NAME|FILE|-", "Restore a snapshot, or a backup into an empty data folder",
      tool_restore, restore_option_rows, .makes_data = true },
    { "move", "", "Move the database to PostgreSQL, or from there into a folder", tool_move,
      move_option_rows, .makes_data = true },
    { "openapi", "", "Print the OpenAPI document", print_openapi, NULL },
    { "reference", "", "Print docs/reference.md", print_reference, NULL },
    { "sample-config", "", "Print a configuration file with every option", print_sample_config,
      NULL },
    { "manual", "[conf|options]",
      "Print the manual page of the program or its configuration, or docs/CONFIGURATION.md",
      tool_manual, NULL },
    { "completion", "bash|zsh|fish", "Print the completion script for a shell", tool_completion,
      NULL },
    { "version", "", "Print the version", print_version, NULL },
    { "help", "[COMMAND]", "Print this list, or the help of one command", tool_help, NULL },
    { 0 },
};

const struct program_command *program_find_command(const char *name)
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

const char *find_similar_command_name(const char *name)
{
    struct option_row names[64] = { 0 };
    const struct option_row *lists[] = { names, NULL };
    size_t n = 0;

    for (const struct program_command *c = program_commands; c->name; c++)
        if (n + 1 < sizeof names / sizeof *names)
            names[n++].name = c->name;
    return option_find_most_similar(lists, str_of(name));
}
