/* greeting.h - authentication of a client that sent IDENTIFY or RESUME.
 *
 * Folder identify/ starts sessions: identify.c checks IDENTIFY (resume/ handles RESUME), ready.c
 * sends READY, guilds.c sends the guilds that follow it, revoke.c ends sessions whose credential
 * was revoked. During authentication the socket is in the state PEER_ASKING. */
#ifndef GATEWAY_IDENTIFY_GREETING_H
#define GATEWAY_IDENTIFY_GREETING_H

#include "api/auth/auth.h"
#include "gateway/sessions/hub.h"
#include "gateway/sessions/peer.h"

/* Authentication of a socket: the first store read, which finds the account of the token. */
struct greeting {
    struct load load;
    struct link link;  /* in the list of its loop until greeting_end */
    struct peer *peer; /* NULL: the socket is closed */
    struct credential credential;
    struct caller caller;
    char token[320];
    bool bot_only; /* the token had the prefix "Bot " */
    enum err verdict;
    bool revoked;                      /* the credential was revoked during the read */
    void (*known)(struct greeting *g); /* called after success; owns the struct */
    void (*drop)(struct greeting *g);  /* called after failure: frees the containing object */
    /* The following members are only read for bots, except the guilds. */
    snowflake application_id;
    int64_t application_flags;
    int64_t starts;     /* sessions started today according to the store */
    struct list guilds; /* guild ids, in the arena of the store read */
    bool wants_guilds;
    /* Reads more in the same transaction if the credential is valid; or NULL. */
    enum err (*read_more)(struct greeting *g, struct tx *tx);
};

/* Parses the token. Returns false if it is malformed or the address is banned. */
bool greeting_init(struct greeting *g, struct peer *p, struct str token);
/* Reads the account, then calls known(); closes the socket with 4004 if the token is invalid. */
void greeting_begin(struct greeting *g);
/* Returns the socket, which leaves PEER_ASKING, or NULL if the socket is closed. */
struct peer *greeting_end(struct greeting *g);

void handle_identify(struct peer *p, int op, struct str raw, const void *d);

/* Binds the session to the credential, so that it ends when the credential is revoked. */
void session_bind(struct session *s, const struct greeting *g);

#endif
