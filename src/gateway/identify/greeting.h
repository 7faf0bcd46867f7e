/* greeting.h - a client that has said who it is and waits for our answer.
 *
 * This folder is how a session begins: identify.c ends the greeting (and resume/ does, for RESUME),
 * ready.c sends READY, guilds.c has the guilds that arrive after it, revoke.c ends sessions with
 * their credential. A client that is being greeted has a socket in the state PEER_ASKING. */
#ifndef GATEWAY_IDENTIFY_GREETING_H
#define GATEWAY_IDENTIFY_GREETING_H

#include "api/auth/auth.h"
#include "gateway/sessions/hub.h"
#include "gateway/sessions/peer.h"

/* The first look: who the token belongs to. */
struct greeting {
    struct load load;
    struct link link;  /* in the hub's list, from the beginning to greeting_end */
    struct peer *peer; /* NULL: the socket is gone */
    struct credential credential;
    struct caller caller;
    char token[320];
    bool bot_only; /* the token came with "Bot " in front */
    enum err verdict;
    bool revoked;                      /* the token was good, but has ended since */
    void (*known)(struct greeting *g); /* goes on; owns the greeting */
    void (*drop)(struct greeting *g);  /* nobody is known: frees it, and what it is part of */
    /* Asked for as well when the caller is a bot. */
    snowflake application_id;
    int64_t application_flags;
    int64_t starts;     /* sessions begun today, as far as the store knows */
    struct list guilds; /* ids, in the look's arena */
    bool wants_guilds;
    /* More to read in the same transaction, once the credential is good; or NULL. */
    enum err (*read_more)(struct greeting *g, struct tx *tx);
};

/* Reads the token; false: it can be nobody's. */
bool greeting_init(struct greeting *g, struct peer *p, struct str token);
/* Looks, then calls known; with a bad token closes 4004 instead. */
void greeting_begin(struct greeting *g);
/* The peer, no longer waiting; NULL when its socket is gone. */
struct peer *greeting_end(struct greeting *g);

void handle_identify(struct peer *p, int op, struct str raw, const void *d);

/* The session is now that of the greeting's token: it ends with it. */
void session_bind(struct session *s, const struct greeting *g);

#endif
