/* orders.h - what the operator of a running server may order, by the control socket.
 *
 * An order is a noun, a verb and words. It runs like a handler, in one transaction, with a line
 * in the operator's log when it changes something; what it finds comes back as a small table.
 * Lists come a page at a time. The command line reads the same rows (tools/admin/orders.c).
 *
 * Begin reading with orders.c; users.c, guilds.c, applications.c and service.c have the orders.
 * It may use everything below the tools. */
#ifndef ADMIN_ORDERS_ORDERS_H
#define ADMIN_ORDERS_ORDERS_H

#include "api/api.h"
#include "store/store.h"

enum { ORDER_WORDS = 6, ORDER_PAGE = 100 };

struct order;

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
    enum err (*run)(struct call *call, struct order *order);
};

extern const struct order_row operator_rows[];

/* Notes in the operator's log what a user of the machine has changed. */
enum err operator_note(struct tx *tx, unsigned uid, struct str command);

const struct order_row *order_row_find(struct str noun, struct str verb);

/* Carries out a question: noun, verb and words with a tab between them. Waits for the store:
 * never on a loop. The answer is "ok" or "error" and a sentence, a line with the names of
 * the columns, and a line for each row. */
void operator_answer(struct api *api, struct loop *loop, unsigned uid, struct str question,
                     struct buf *out);

#endif
