/* tools.h - what the program can be told to do, beside the server. */
#ifndef TOOLS_TOOLS_H
#define TOOLS_TOOLS_H

#include "server/config.h"
#include "tools/seeds/seeds.h"
#include "platform/worlds/worlds.h"

/* Who uses which command, where, and what happens then; texts are NULL when unset. */
struct invoke_options {
    const char *url, *as, *token, *channel, *app, *user, *message, *press, *fill, *by, *expect;
    bool complete, json;
    int64_t follow_ups, wait;
};

/* watch: what of the traffic; fault: which calls, and how; sessions. */
struct console_options {
    const char *kind, *user, *route, *method, *status, *event, *session, *text;
    int64_t after, count, seconds; /* after -1: from now on */
    int64_t fault_status, times, code;
    const char *delay, *retry_after;
    bool drop, json;
};

struct program_command;

/* What the command line says: the server's options, and those of one command. */
struct settings {
    struct config config;                   /* first: config_rows hold for it */
    const struct program_command *commands; /* all of the program's (tools/program.h) */
    char **argv; /* where they were read from, with the command's name first */
    struct seed_options seed;
    const char *tokens; /* import: off, on, env */
    const char *move_to, *move_to_data;
    int64_t backup_keep;  /* backup: so many files are kept */
    bool even_if_damaged; /* backup: save a damaged database */
    bool salvage;         /* restore: what is whole of a damaged backup */
    bool backup_force;    /* backup: overwrite the file */
    int64_t token_count;  /* seed: how many to print */
    bool json;            /* sessions, orders: as it came */
    bool yes;             /* orders: nobody has to be asked */
    int64_t order_wait;   /* orders: seconds for the answer */
    int64_t limit;        /* lists: so many … */
    const char *after;    /* … behind this id */
    struct invoke_options invoke;
    struct console_options console;
};

extern const struct option_row import_rows[], seed_rows[], sessions_rows[], invoke_rows[],
    order_options[], watch_rows[], health_rows[], clock_rows[], fault_rows[], act_rows[],
    move_rows[], backup_rows[], restore_rows[], snapshot_rows[];

/* Each returns the program's status. What follows the command comes in arguments,
 * ended by NULL. */
int tool_serve(const struct settings *s, char **arguments);
int tool_reload(const struct settings *s, char **arguments);
int tool_demo(const struct settings *s, char **arguments);
int tool_import(const struct settings *s, char **arguments);
int tool_export(const struct settings *s, char **arguments);
int tool_seed(const struct settings *s, char **arguments);
int tool_sessions(const struct settings *s, char **arguments);
int tool_watch(const struct settings *s, char **arguments);
int tool_health(const struct settings *s, char **arguments);
int tool_clock(const struct settings *s, char **arguments);
int tool_fault(const struct settings *s, char **arguments);
int tool_console_key(const struct settings *s, char **arguments);
int tool_nodes(const struct settings *s, char **arguments);
int tool_platform(const struct settings *s, char **arguments);
int tool_gifs(const struct settings *s, char **arguments);
int tool_order(const struct settings *s, char **arguments); /* all of admin/orders/orders.h */
int tool_check(const struct settings *s, char **arguments);
int tool_backup(const struct settings *s, char **arguments);
int tool_restore(const struct settings *s, char **arguments);
int tool_move(const struct settings *s, char **arguments);
int tool_snapshot(const struct settings *s, char **arguments);
/* Has the server that runs bring one back, and waits until it has. */
int snapshot_restore(const struct settings *s, const char *name);
int tool_invoke(const struct settings *s, char **arguments);
int tool_say(const struct settings *s, char **arguments);
int tool_react(const struct settings *s, char **arguments);
int tool_join(const struct settings *s, char **arguments);
int tool_leave(const struct settings *s, char **arguments);

/* Makes an account while no server runs; prints what the order "user add" answers. */
int add_user(const struct settings *s, char **words);
/* An order for the server that runs: noun, verb and words with tabs between them. */
struct order_question {
    const char *words;
    int64_t seconds; /* to wait; 0: for ever */
    bool as_json;    /* the answer is what the console's route would answer */
};
/* 0: ret is the answer: a line with the names of columns and a line for each row, or JSON. -1: no
 * server runs. Else a sentence was printed, and it is 1 or the HTTP status of the refusal. */
int order_ask(const struct settings *s, const struct order_question *q, struct arena *arena,
              struct str *ret);
/* The same; returns the program's status: 3 for a refusal, 1 after a sentence if no server runs. */
int order_ask_running(const struct settings *s, const struct order_question *q, struct arena *arena,
                      struct str *ret);
/* Cuts a line off the answer. Returns how many cells it has; those that are missing are empty. */
enum { MOST_COLUMNS = 16, ORDER_ANSWER_S = 60 };
int order_cells(struct str *answer, struct str cells[MOST_COLUMNS]);
/* Prints a row as the server would have answered it: the names of columns, a tab between them, and
 * a line below. */
void order_print(const struct settings *s, struct str answer);

/* Says on stderr why the server that runs on the folder was not asked (control_ask); the status
 * for it. */
int no_server(const char *folder, enum err e);

/* The store, to write while no server runs. Root acts as the owner of the folder from then on,
 * so that the server can open what is made there. */
enum err tool_open_store(const struct config *config, struct store **ret);

/* Imports a world file; says on stderr why it cannot. */
enum err import_text(const struct config *config, struct store *store, struct str text, bool tokens,
                     struct arena *arena, struct world_report *ret);

/* Reads a whole file, or the standard input for "-"; says on stderr why it cannot. */
bool read_whole_file(const char *path, struct buf *out);

/* Says what is wrong with the command line; returns the status for it. */
int usage(const char *problem);
/* Reads them once more, as the command line, the environment and the file are now. */
bool settings_again(const struct settings *s, struct arena *arena, struct settings *ret,
                    const char **ret_problem);

#endif
