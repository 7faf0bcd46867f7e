/* authentication.h - authentication of a client that sent IDENTIFY or RESUME.
 *
 * Folder identify/ starts sessions: identify.c checks IDENTIFY (resume/ handles RESUME), ready.c
 * sends READY, guilds.c sends the guilds that follow READY, revoke.c ends sessions whose credential
 * was revoked. During authentication the socket is in the state SOCKET_AUTHENTICATING. */
#ifndef GATEWAY_IDENTIFY_AUTHENTICATION_H
#define GATEWAY_IDENTIFY_AUTHENTICATION_H

#include "api/auth/auth.h"
#include "gateway/sessions/gateway_loop.h"
#include "gateway/sessions/gateway_socket.h"

/* Authentication of a socket: a store read that finds the account of the token. */
struct gateway_authentication {
    struct session_store_read store_read;
    struct list_link
        link; /* link in gateway_loop.authentications, until gateway_authentication_end */
    struct gateway_socket *socket; /* NULL if the socket is closed */
    struct parsed_credential credential;
    struct caller caller;
    char token[320];
    bool bot_only; /* the token had the prefix "Bot " */
    enum err result;
    bool revoked; /* the credential was revoked during the store read */
    void (*on_authenticated)(
        struct gateway_authentication *g); /* called after success; owns the struct */
    void (*on_failed)(struct gateway_authentication
                          *g); /* called after a failure; frees the struct that contains g */
    /* The following fields are read from the store for bots. For users only `guilds` is read. */
    snowflake application_id;
    int64_t application_flags;
    int64_t starts;     /* number of sessions that the bot started today, according to the store */
    struct list guilds; /* guild ids, in the arena of the store read */
    bool wants_guilds;
    /* Reads further data in the same transaction if the credential is valid. May be NULL. */
    enum err (*read_more)(struct gateway_authentication *g, struct tx *tx);
};

/* Parses the token. Returns false if the token is malformed or the client's address is banned. */
bool gateway_authentication_init(struct gateway_authentication *g, struct gateway_socket *p,
                                 struct str token);
/* Reads the account from the store and calls on_authenticated. If the token is invalid, closes the
 * socket with code 4004. */
void gateway_authentication_begin(struct gateway_authentication *g);
/* Ends the authentication. Returns the socket, or NULL if the socket is closed. */
struct gateway_socket *gateway_authentication_end(struct gateway_authentication *g);

void handle_identify_opcode(struct gateway_socket *p, int op, struct str raw, const void *d);

/* Binds the session to the credential: the session ends when the credential is revoked. */
void session_set_credential(struct session *s, const struct gateway_authentication *g);

#endif
