/* tools.h - the commands of the program.
 *
 * One file per command. Subfolders: invoke/ acts as a user, admin/ uses a running server, wire/ is
 * an API client, seeds/ creates random data, replay/ plays the server of a recording. Tools may use
 * every folder; only main.c uses them. They own no tables. Start with the table in program.c. */
#ifndef TOOLS_TOOLS_H
#define TOOLS_TOOLS_H

#include "server/config.h"
#include "tools/seeds/seeds.h"
#include "platform/worlds/worlds.h"

/* Options of invoke, say, react, join and leave. A text that is not set is NULL. */
struct invoke_options {
    const char *url, *as, *token, *channel, *app, *user, *message, *press, *fill, *by, *expect;
    bool complete, json;
    int64_t follow_ups, wait;
};

/* Options of watch, fault, sessions, record and replay. */
struct console_options {
    const char *kind, *user, *route, *method, *status, *event, *session, *text;
    int64_t after, count, seconds; /* after -1 means only new records */
    int64_t fault_status, times, code;
    int64_t speed; /* replay */
    const char *delay, *retry_after;
    bool drop, json;
};

/* Options of copy-guild and export-guild. A text that is not set is NULL. */
struct copy_options {
    const char *from, *token_file, *guild, *archive, *cdn, *people, *send_claims;
    const char *post_back_token_file;
    int64_t max_file_mib, requests_per_second, connections, read_again_days;
    bool reaction_users, files, dry_run, follow;
};

struct program_command;

/* The options of the server and of the command that runs. */
struct command_settings {
    struct config config;                   /* first member: config_option_rows has its offsets */
    const struct program_command *commands; /* all commands (tools/program.h) */
    /* Parsed arguments; the first is the name of the command. */
    char **argv;
    struct seed_options seed;
    const char *tokens; /* import: "off", "on" or "env" */
    const char *move_to, *move_to_data, *move_to_blobs;
    int64_t backup_keep;      /* backup: number of files to retain */
    bool even_if_damaged;     /* backup: save a damaged database, too */
    bool salvage;             /* restore: restore the undamaged files of a damaged backup */
    bool backup_force;        /* backup: overwrite an existing file */
    int64_t token_count;      /* seed: number of tokens to print */
    bool json;                /* sessions and operator commands: JSON output */
    bool temporary;           /* serve: stop at the end of standard input, then delete the data */
    bool yes;                 /* operator commands: do not ask for confirmation */
    int64_t operator_timeout; /* operator commands: timeout in seconds */
    int64_t limit;            /* lists: maximum number of rows */
    const char *after;        /* lists: only rows after this id */
    struct invoke_options invoke;
    struct console_options console;
    struct copy_options copy;
};

extern const struct option_row import_option_rows[], seed_option_rows[], sessions_option_rows[],
    invoke_option_rows[], operator_command_option_rows[], watch_option_rows[], health_option_rows[],
    clock_option_rows[], fault_option_rows[], act_option_rows[], move_option_rows[],
    backup_option_rows[], restore_option_rows[], snapshot_option_rows[], why_option_rows[],
    serve_option_rows[], record_option_rows[], replay_option_rows[], copy_guild_option_rows[],
    export_guild_option_rows[];

/* The commands. Each returns the exit status. `arguments` are the words after the name of the
 * command, then NULL. */
int run_command_serve(const struct command_settings *s, char **arguments);
int run_command_reload(const struct command_settings *s, char **arguments);
int run_command_demo(const struct command_settings *s, char **arguments);
int run_command_import(const struct command_settings *s, char **arguments);
int run_command_export(const struct command_settings *s, char **arguments);
int run_command_copy_guild(const struct command_settings *s, char **arguments);
int run_command_export_guild(const struct command_settings *s, char **arguments);
int run_command_seed(const struct command_settings *s, char **arguments);
int run_command_sessions(const struct command_settings *s, char **arguments);
int run_command_watch(const struct command_settings *s, char **arguments);
int run_command_record(const struct command_settings *s, char **arguments);
int run_command_replay(const struct command_settings *s, char **arguments);
int run_command_why(const struct command_settings *s, char **arguments);
int run_command_health(const struct command_settings *s, char **arguments);
int run_command_clock(const struct command_settings *s, char **arguments);
int run_command_fault(const struct command_settings *s, char **arguments);
int run_command_console_key(const struct command_settings *s, char **arguments);
int run_command_nodes(const struct command_settings *s, char **arguments);
int run_command_platform(const struct command_settings *s, char **arguments);
int run_command_gifs(const struct command_settings *s, char **arguments);
int run_any_operator_command(const struct command_settings *s,
                             char **arguments); /* runs all operator commands */
int run_command_check(const struct command_settings *s, char **arguments);
int run_command_backup(const struct command_settings *s, char **arguments);
int run_command_restore(const struct command_settings *s, char **arguments);
int run_command_move(const struct command_settings *s, char **arguments);
int run_command_snapshot(const struct command_settings *s, char **arguments);
/* Makes the running server restore a snapshot, and waits for the end of the restore. */
int tool_restore_snapshot_on_running_server(const struct command_settings *s, const char *name);
int run_command_invoke(const struct command_settings *s, char **arguments);
int run_command_say(const struct command_settings *s, char **arguments);
int run_command_react(const struct command_settings *s, char **arguments);
int run_command_join(const struct command_settings *s, char **arguments);
int run_command_leave(const struct command_settings *s, char **arguments);

/* Adds an account while no server runs. Prints the same output as "user add". */
int add_user_without_server(const struct command_settings *s, char **words);
/* A request to the running server: noun, verb and arguments, separated by tabs. */
struct operator_request {
    const char *words;
    int64_t seconds; /* timeout; 0 means none */
    bool as_json;    /* The reply is the JSON of the console route. */
};
/* Sends an operator command. On success returns 0; ret is a line of column names and one line per
 * row, or JSON. If no server runs, returns -1. Otherwise prints an error and returns 1 or the HTTP
 * status. */
int send_operator_command(const struct command_settings *s, const struct operator_request *q,
                          struct arena *arena, struct str *ret);
/* Sends an operator command. Returns the exit status: 3 if the command was refused, 1 if no server
 * runs. */
int send_operator_command_or_print_error(const struct command_settings *s,
                                         const struct operator_request *q, struct arena *arena,
                                         struct str *ret);
/* parse_operator_reply_row removes the first line from the reply, splits it into cells, and returns
 * their number. */
enum { MAX_REPLY_COLUMNS = 16, OPERATOR_REPLY_TIMEOUT_S = 60 };
int parse_operator_reply_row(struct str *reply, struct str cells[MAX_REPLY_COLUMNS]);
/* Prints a reply, which is a line of tab-separated column names and one line of cells per row. */
void print_operator_reply_rows(const struct command_settings *s, struct str reply);

/* Prints why the server on this folder cannot be reached. `e` is the error of
 * control_socket_send_request. Returns the exit status. */
int print_server_unreachable(const char *folder, enum err e);

/* Opens the store for writing while no server runs. If the caller is root, switches to the user who
 * owns the folder, so that the server can open new files later. */
enum err open_store_as_data_folder_owner(const struct config *config, struct store **ret);

/* Imports a world file. Prints errors to stderr. */
enum err import_world_file_text(const struct config *config, struct store *store, struct str text,
                                bool tokens, struct world_file_progress *progress,
                                struct arena *arena, struct world_file_import_report *ret);

/* Reads a whole file; "-" means standard input. Prints errors to stderr. */
bool read_file_or_stdin(const char *path, struct buf *out);

/* Prints what is wrong with the command line, and which help to read. Returns the exit status 2. */
int print_usage_error(const char *problem);
/* Prints the possible forms of a command that was called with wrong arguments, such as "backup
 * FILE, or backup -". */
int print_usage_forms(const char *forms);
/* After this call, usage errors refer to the help of this command. */
void set_command_of_usage_errors(const char *name);
/* Reads the settings again from the command line, the environment and the configuration file. */
bool reread_settings(const struct command_settings *s, struct arena *arena,
                     struct command_settings *ret, const char **ret_problem);

#endif
