/* program.c - the table of the program's commands, and commands that print documents. */
#include "tools/program.h"

#include <stdio.h>
#include <string.h>

#include "server/guildhall.h"
#include "tools/version.h"

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
    api_write_openapi_document(guildhall_domains, GUILDHALL_VERSION, &text);
    json_indent(buf_as_str(&text), &out);
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
    api_write_reference_page(guildhall_domains, &out);
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

const struct program_command program_commands[] = {
    { "serve", "[-- COMMAND …]", "Run the server", run_command_serve, serve_option_rows,
      .makes_data = true,
      .examples =
          "serve --data /var/lib/guildhall --listen 0.0.0.0:8080\nserve --workbench on --rate-limits off\nserve --as-discord -- node bot.js",
      .command_follows = true },
    { "demo", "", "Run the server with a small example world", run_command_demo, NULL,
      .makes_data = true, .examples = "demo\ndemo --listen 127.0.0.1:9000" },
    { "reload", "", "Make the running server read its configuration again", run_command_reload,
      NULL, .examples = "reload --data /var/lib/guildhall" },
    { "import", "FILE", "Import a world file", run_command_import, import_option_rows,
      .makes_data = true, .examples = "import world.json\nimport world.json --tokens env" },
    { "export", "[FILE]", "Export the world to a file", run_command_export, NULL,
      .examples = "export world.json" },
    { "copy-guild", "[FILE.json…|PACKAGE]",
      "Copy a guild from another server, an archive, exports of its channels, or a data package",
      run_command_copy_guild, copy_guild_option_rows, .makes_data = true,
      .examples =
          "copy-guild --from https://discord.com/api/v10 --token-file bot.token --guild 81384788765712384\ncopy-guild --from archive --data /var/lib/guildhall" },
    { "export-guild", "FOLDER", "Read a guild of a server into an archive, with a bot's token",
      run_command_export_guild, export_guild_option_rows,
      .examples =
          "export-guild archive --from http://127.0.0.1:8080 --token-file bot.token --guild 81384788765712384" },
    { "seed", "", "Create a large random world", run_command_seed, seed_option_rows,
      .makes_data = true, .examples = "seed --data /tmp/large --users 1000" },
    { "gifs", "import FILE [FOLDER]", "Import GIFs listed in a JSON or CSV file", run_command_gifs,
      NULL, .examples = "gifs import gifs.json" },
    { "invoke", "\"/COMMAND OPTION:VALUE\"",
      "Run a command of an app as a user and print the response", run_command_invoke,
      invoke_option_rows,
      .examples =
          "invoke --as ada --channel general \"/weather city:Oslo\"\ninvoke --as ada --channel general /vote --press yes" },
    { "say", "\"TEXT\"", "Send a message as a user, and wait for a reply", run_command_say,
      act_option_rows, .examples = "say \"!ping\" --as ada --channel general --expect pong" },
    { "react", "EMOJI", "Add a reaction to a message as a user", run_command_react, act_option_rows,
      .examples = "react 👍 --as bob --channel general" },
    { "join", "CODE|GUILD", "Join a guild as a user", run_command_join, act_option_rows,
      .examples = "join \"The Workshop\" --as fay --by ada" },
    { "leave", "GUILD", "Leave a guild as a user", run_command_leave, act_option_rows,
      .examples = "leave \"The Workshop\" --as fay" },
    { "user", "VERB …",
      "Accounts: list, show, add, passwd, disable, enable, delete, export, premium and others",
      run_any_operator_command, operator_command_option_rows,
      .examples = "user list\nuser add bob\nuser passwd bob" },
    { "guild", "VERB …", "Guilds: list, show, owner, delete", run_any_operator_command,
      operator_command_option_rows, .examples = "guild list\nguild owner 1572381641102327808 bob" },
    { "app", "VERB …", "Applications: list, show, token", run_any_operator_command,
      operator_command_option_rows, .examples = "app list\napp token 1572381641102327808 --yes" },
    { "token", "revoke NAME", "Revoke all tokens and sessions of an account",
      run_any_operator_command, operator_command_option_rows, .examples = "token revoke bob" },
    { "invite", "VERB …", "Registration codes: create, list, revoke", run_any_operator_command,
      operator_command_option_rows, .examples = "invite create 5 7\ninvite list" },
    { "message", "VERB …", "Messages: show, delete, purge, purging", run_any_operator_command,
      operator_command_option_rows,
      .examples = "message show https://chat.example/channels/1/2/3\nmessage purge bob --yes" },
    { "file", "VERB …", "Attachments of messages: show, delete", run_any_operator_command,
      operator_command_option_rows,
      .examples = "file show https://chat.example/attachments/1/2/cat.png" },
    { "report", "VERB …", "Reported messages: list, show, close", run_any_operator_command,
      operator_command_option_rows,
      .examples = "report list\nreport close 1572381641102327808 \"not spam\"" },
    { "ban", "VERB …", "Banned address ranges: list, add, lift", run_any_operator_command,
      operator_command_option_rows, .examples = "ban add 192.0.2.0/24 \"spam\"\nban list" },
    { "announcement", "VERB …", "Announcement to everybody: show, set, clear",
      run_any_operator_command, operator_command_option_rows,
      .examples = "announcement set \"Maintenance on Sunday at noon\" 3\nannouncement clear" },
    { "stats", "",
      "Print the numbers of accounts, guilds, messages and files of the running server",
      run_any_operator_command, operator_command_option_rows, .examples = "stats\nstats --json" },
    { "log", "", "Print the operator log: what was changed, by whom and when",
      run_any_operator_command, operator_command_option_rows, .examples = "log --limit 20" },
    { "sessions", "[VERB WHO]",
      "List connected sessions; voice, drop, reconnect, invalidate, resumable",
      run_command_sessions, sessions_option_rows,
      .examples = "sessions\nsessions reconnect helper" },
    { "watch", "", "Print requests and events of the running server as they happen",
      run_command_watch, watch_option_rows,
      .examples = "watch --user helper --status error\nwatch --after 0 --seconds 1 --json" },
    { "record", "FILE", "Save the recorded calls and events of a bot to a file", run_command_record,
      record_option_rows,
      .examples = "record bug.jsonl --user helper\nrecord bug.jsonl --user helper --seconds 60" },
    { "replay", "FILE", "Replay a recording to a bot and compare its calls", run_command_replay,
      replay_option_rows,
      .examples = "replay bug.jsonl\nreplay bug.jsonl --listen 127.0.0.1:9000 --speed 10" },
    { "why", "NAME PERMISSION [in CHANNEL] | NAME MESSAGE-LINK",
      "Explain step by step why an account has a permission, or received a message",
      run_command_why, why_option_rows,
      .examples =
          "why ada \"Send Messages\" in general\nwhy helper VIEW_CHANNEL in Home/general\nwhy helper https://chat.example/channels/1/2/3" },
    { "health", "", "Print statistics of the running server for the last hour", run_command_health,
      health_option_rows, .examples = "health\nhealth --json" },
    { "clock", "[+15m|reset]", "Move the clock of a running demo or test server", run_command_clock,
      clock_option_rows, .examples = "clock +15m\nclock reset" },
    { "fault", "['METHOD /PATH'|clear]",
      "Make the next requests to a running demo or test server fail", run_command_fault,
      fault_option_rows,
      .examples = "fault 'POST /channels/*/messages' --status 500 --times 2\nfault clear" },
    { "console-key", "", "Print the key of the running server's console", run_command_console_key,
      NULL, .examples = "console-key --data /var/lib/guildhall" },
    { "nodes", "", "List the nodes of a cluster", run_command_nodes, NULL, .examples = "nodes" },
    { "platform", "VERB …", "Accounts and subscriptions of the local platforms",
      run_command_platform, NULL, .examples = "platform --help" },
    { "check", "[FILE]", "Check the database and its files, or a backup, for damage",
      run_command_check, NULL, .examples = "check\ncheck backup.guildhall" },
    { "backup", "FILE|-", "Back up rows, files and keys, also while the server runs",
      run_command_backup, backup_option_rows,
      .examples =
          "backup backup.guildhall\nbackup /var/backups/guildhall --keep 14\nbackup - | ssh host \"cat >backup\"" },
    { "snapshot", "[NAME]", "Save a snapshot of the running server, or list the snapshots",
      run_command_snapshot, snapshot_option_rows, .examples = "snapshot fresh\nsnapshot" },
    { "restore", "NAME|FILE|-", "Restore a snapshot, or a backup into an empty data folder",
      run_command_restore, restore_option_rows, .makes_data = true,
      .examples = "restore fresh\nrestore backup.guildhall --data /var/lib/guildhall" },
    { "move", "", "Move the database to PostgreSQL or into a folder, or files to object storage",
      run_command_move, move_option_rows, .makes_data = true,
      .examples = "move --to postgresql:///guildhall" },
    { "openapi", "", "Print the OpenAPI document", print_openapi, NULL,
      .examples = "openapi >openapi.json" },
    { "reference", "", "Print docs/reference.md", print_reference, NULL,
      .examples = "reference >reference.md" },
    { "sample-config", "", "Print a configuration file with every option", print_sample_config,
      NULL, .examples = "sample-config >guildhall.conf" },
    { "manual", "[conf|options|errors]",
      "Print the manual page of the program or its configuration, docs/CONFIGURATION.md or "
      "docs/errors.md",
      run_command_manual, NULL, .examples = "manual | man -l -\nmanual errors >errors.md" },
    { "completion", "bash|zsh|fish", "Print the completion script for a shell",
      run_command_completion, NULL,
      .examples = "completion bash >/etc/bash_completion.d/guildhall" },
    { "version", "", "Print version, commit, type and libraries of this program",
      run_command_version, version_option_rows, .examples = "version\nversion --json" },
    { "help", "[COMMAND]", "Print this list, or the help of one command", run_command_help, NULL,
      .examples = "help invoke" },
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
