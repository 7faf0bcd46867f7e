/* control.h - the control socket: operator commands for a running server.
 *
 * A Unix socket in the data folder, accessible to whoever may open files there. A request is one
 * line: a word and arguments. The reply is text, ended by closing the connection. The folder uses
 * base/ only. Start with control_serve (server) and ask_servers (client) in control.c. */
#ifndef ADMIN_CONTROL_CONTROL_H
#define ADMIN_CONTROL_CONTROL_H

#include "base/buf.h"
#include "base/errors.h"

struct control;

struct control_row {
    const char *word; /* NULL ends a list */
    /* Writes the reply to a request; runs on the control thread. uid: user id of the client. */
    void (*write_reply)(void *arg, unsigned uid, struct str rest, struct buf *out);
};

/* Starts listening; logs and returns an error on failure. rows must stay valid. node: number of a
 * server that shares the folder with others; else -1. */
enum err control_open(const char *folder, int node, const struct control_row *rows, void *arg,
                      struct control **ret);
/* Waits for a running request. Accepts NULL. */
void control_close(struct control *c);

/* Client side: sends a request to the server that runs on this folder, or to one of those that
 * share it. ERR_UNAVAILABLE: no server runs. ERR_FORBIDDEN: no access to the folder.
 * ERR_OVERLOADED: timeout. */
enum err control_request(const char *folder, const char *question, struct buf *out);
/* Sends a request to all servers that share the folder and concatenates the replies. */
enum err control_request_all(const char *folder, const char *question, struct buf *out);
/* Sends a request like control_request, with a timeout in seconds; 0: none. */
enum err control_request_with_timeout(const char *folder, const char *question, int64_t seconds,
                                      struct buf *out);

#endif
