/* control.h - the control socket: operator commands for a running server.
 *
 * A Unix socket in the data folder, accessible to every user who may open files there. A request is
 * one line of text: a word and arguments. The reply is text; the server closes the connection at
 * its end. The folder uses base/ only. Start with control_socket_open (server) and
 * control_socket_send_request (client) in control.c. */
#ifndef ADMIN_CONTROL_CONTROL_H
#define ADMIN_CONTROL_CONTROL_H

#include "base/buf.h"
#include "base/errors.h"

struct control;

struct control_socket_command {
    const char *word; /* first word of the request; NULL ends the list */
    /* Writes the reply to a request. Runs on the control thread. uid is the user id of the client;
     * rest is the request after its first word. */
    void (*write_reply)(void *arg, unsigned uid, struct str rest, struct buf *out);
};

/* Starts listening; logs and returns an error on failure. rows must stay valid. node is the number
 * of this server if several servers share the folder, otherwise -1. */
enum err control_socket_open(const char *folder, int node,
                             const struct control_socket_command *rows, void *arg,
                             struct control **ret);
/* Waits for a running request, then stops listening. Accepts NULL. */
void control_socket_close(struct control *c);

/* Sends a request to the server that runs on this data folder. If several servers share the folder,
 * sends it to one of them. Returns ERR_UNAVAILABLE if no server runs, ERR_FORBIDDEN without access
 * to the folder, or ERR_OVERLOADED after a timeout. */
enum err control_socket_send_request(const char *folder, const char *question, struct buf *out);
/* Sends a request to all servers that share the folder and concatenates the replies. */
enum err control_socket_send_request_to_all_servers(const char *folder, const char *question,
                                                    struct buf *out);
/* Sends a request to the server on this data folder, with a timeout in s; 0 means no timeout. */
enum err control_socket_send_request_with_timeout(const char *folder, const char *question,
                                                  int64_t seconds, struct buf *out);

#endif
