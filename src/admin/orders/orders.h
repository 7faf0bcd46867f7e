/* orders.h - operator commands: what the operator of a running server may order.
 *
 * An order is a noun, a verb and words. It has one row in operator_rows and one function, which
 * answers rows. It runs like a handler, in one transaction, with a line in the operator's log when
 * it changes something; an order that has to wait has gather instead. There are two entrances: the
 * control socket (control/) prints the rows as text, the routes below /console (console/orders.c)
 * as JSON. The command line reads the same table (tools/admin/orders.c).
 *
 * Begin reading with the table in orders.c; the other files have the functions, by noun. What an
 * order does to an account is the account domain's (platform/accounts/operator.h): only the words
 * and the answer are here. admin/ may use everything below server/. */
#ifndef ADMIN_ORDERS_ORDERS_H
#define ADMIN_ORDERS_ORDERS_H

#include <string.h>

#include "api/api.h"
#include "store/store.h"

enum { ORDER_WORDS = 6, ORDER_PAGE = 100 };

struct order;
struct relay;

struct order_row {
    const char *noun, *verb; /* noun NULL ends a list; verb NULL: the noun alone */
    const char *arguments, *help;
    int least, most; /* words after the verb */
    bool is_list;    /* has two words before its own: after which id, and how many */
    bool writes;     /* and is noted in the log */
    bool is_final;   /* cannot be undone: people are asked whether they mean it */
    bool has_secret; /* its last word is a password, which is hashed and never noted */
    /* Its rows: names with a tab between them. The first character says what a column holds:
     * & an id, $ text, # a number, ? yes or no, @ a time. */
    const char *columns;
    struct sql query;    /* without run: $1 is the id, or of a list after which id, $2 the limit */
    const char *unknown; /* the sentence for an id that does not exist */
    bool is_array;       /* its rows are an array in JSON, even if there is one */
    bool for_tests;      /* only on servers that are there for tests: a demo, or --workbench on */
    const struct type *body; /* of the last argument, which is JSON; the body of a route */
    /* Does what has to wait, on a thread that may; run, if there is one, follows. */
    enum err (*gather)(struct order *order);
    enum err (*run)(struct call *call, struct order *order); /* in one transaction */
};

extern const struct order_row operator_rows[];

/* Notes in the operator's log what a user of the machine has changed. */
enum err operator_note(struct tx *tx, unsigned uid, struct str command);

const struct order_row *order_row_find(struct str noun, struct str verb);

/* Is it a verb of the command line, for help, manual and completion? Orders without help are sent
 * by commands that have words of their own. */
static inline bool order_is_verb(const struct order_row *row, const char *noun)
{
    return row->verb && row->help && strcmp(row->noun, noun) == 0;
}

struct order_server {
    struct api *api;
    struct loop *loop;
    struct relay *relay; /* NULL: this server carries no voice */
};

/* Carries out a question: noun, verb and words with a tab between them. Waits for the store:
 * never on a loop. The answer is "ok", a line with the names of the columns and a line for each
 * row, or with as_json what a route would answer; or "error", the status that a route would answer
 * with, and a sentence. */
void operator_answer(const struct order_server *server, unsigned uid, struct str question,
                     bool as_json, struct buf *out);

#endif
