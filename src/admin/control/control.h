/* control.h - what an operator asks a running server.
 *
 * A socket in the data folder: whoever may open files there may ask, and nobody else can
 * reach it. A question is a line of one word and perhaps more; the
 * answer is text, ended by closing. */
#ifndef ADMIN_CONTROL_CONTROL_H
#define ADMIN_CONTROL_CONTROL_H

#include "base/buf.h"
#include "base/errors.h"

struct control;

struct control_row {
    const char *word; /* NULL ends a list */
    /* Writes the answer to the word and what follows it; on a thread of its own. uid: the
     * machine's user who asks. */
    void (*answer)(void *arg, unsigned uid, struct str rest, struct buf *out);
};

/* Listens; logs and returns an error when that cannot be. The rows outlive it. node: of a
 * server that may share the folder with others; else -1. */
enum err control_open(const char *folder, int node, const struct control_row *rows, void *arg,
                      struct control **ret);
/* Waits for an answer that is under way. Accepts NULL. */
void control_close(struct control *c);

/* The other side: asks the server that runs on this folder, or one of those that share it.
 * ERR_UNAVAILABLE: none does. ERR_FORBIDDEN: the folder is somebody else's. ERR_OVERLOADED: no
 * answer came in time. */
enum err control_ask(const char *folder, const char *question, struct buf *out);
/* The same of all of them; the answers follow one another. */
enum err control_ask_all(const char *folder, const char *question, struct buf *out);
/* One of them, and so many seconds for the answer; 0: as long as it takes. */
enum err control_ask_within(const char *folder, const char *question, int64_t seconds,
                            struct buf *out);

#endif
