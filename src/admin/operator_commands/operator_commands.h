/* operator_commands.h - operator commands for a running server.
 *
 * A command is a noun, a verb and arguments. It has one row in operator_command_rows and one
 * function, which outputs rows. A command runs like a handler in one transaction and, if it changes
 * data, inserts a row into operator_log, the only table of admin/. A command that must block uses
 * run_blocking. The control socket (control/) outputs text, the routes below /console
 * (console/command_routes.c) JSON. The command line reads the same table of commands
 * (tools/admin/operator_command.c).
 *
 * Start with the table in operator_commands.c; the other files have the functions, by noun. The
 * changes themselves are implemented by the domains (platform/accounts/operator.h); this folder
 * parses arguments and formats rows. admin/ may use everything below server/. */
#ifndef ADMIN_OPERATOR_COMMANDS_OPERATOR_COMMANDS_H
#define ADMIN_OPERATOR_COMMANDS_OPERATOR_COMMANDS_H

#include <string.h>

#include "api/api.h"
#include "store/store.h"

enum { OPERATOR_ARGUMENTS_MAX = 6, OPERATOR_PAGE_MAX = 100 };

struct running_operator_command;
struct relay;

struct operator_command_row {
    /* Name of the command; noun is NULL at the end of the list, verb is NULL if the noun alone is a
     * command. */
    const char *noun, *verb;
    const char *arguments, *help;
    int least, most; /* minimum and maximum number of arguments */
    /* Whether the command lists rows. Then its first two arguments are the id after which to start,
     * and the limit. */
    bool is_list;
    bool writes; /* whether the command changes data, so that the operator log records it */
    /* Whether the operator log omits the command, because copy-guild --follow repeats it often. */
    bool is_frequent;
    bool is_final;   /* whether the command line asks before, as the command cannot be undone */
    bool has_secret; /* the last argument is a password, which is hashed and never logged */
    /* Column names, separated by tabs. The first character of each is its type: & id, $ text, #
     * number, ? boolean, @ time. */
    const char *columns;
    /* Query to run if `run` is NULL. $1 is the id; in a list $1 is `after` and $2 is the limit. */
    struct sql query;
    const char *unknown; /* error sentence for an unknown id */
    bool is_array;       /* whether JSON output is always an array */
    bool for_tests;      /* whether the command is only allowed in a demo or with --workbench on */
    const struct type *body; /* type of the last argument, which is JSON */
    /* Runs before `run`, on a thread that may block; may be NULL. */
    enum err (*run_blocking)(struct running_operator_command *order);
    enum err (*run)(struct call *call,
                    struct running_operator_command *order); /* one transaction */
};

extern const struct operator_command_row operator_command_rows[];

/* Records a change in the operator log; uid is the system user who made it. */
enum err operator_log_insert_entry(struct tx *tx, unsigned uid, struct str command);

const struct operator_command_row *operator_command_row_find(struct str noun, struct str verb);

/* Returns whether help, manual and completion of the command line list the command. Rows without a
 * help text belong to commands with a syntax of their own. */
static inline bool operator_command_is_listed(const struct operator_command_row *row,
                                              const char *noun)
{
    return row->verb && row->help && strcmp(row->noun, noun) == 0;
}

struct operator_command_environment {
    struct api *api;
    struct loop *loop;
    struct relay *relay; /* voice relay; NULL if this server has none */
};

/* Runs a request: noun, verb and arguments, separated by tabs. Blocks, so do not call this function
 * on an event loop. On success the reply is "ok", then a line of column names, then a line per row;
 * with as_json it is the JSON of the console route. On failure the reply is "error", the HTTP
 * status of the route, and a sentence. */
void operator_command_run(const struct operator_command_environment *server, unsigned uid,
                          struct str question, bool as_json, struct buf *out);

#endif
