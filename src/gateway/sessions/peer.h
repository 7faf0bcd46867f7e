/* peer.h - a socket and how it is spoken to. */
#ifndef GATEWAY_SESSIONS_PEER_H
#define GATEWAY_SESSIONS_PEER_H

#include "base/links.h"
#include "gateway/wire/protocol.h"
#include "json/schema.h"
#include "net/loop.h"
#include "net/http/server.h"

struct dialect;
struct hub;
struct late_op;
struct packing;
struct session;
struct zstd;

enum {
    HEARTBEAT_MS = 41250,
    HELLO_MS = 100, /* after the upgrade: some clients drop what they read with its answer */
    OVERDUE_MS = HEARTBEAT_MS * 3 / 2, /* without a heartbeat: ask for one */
    DEAD_MS = HEARTBEAT_MS / 2,        /* after asking */
    STRANGER_MS = 60 * 1000,           /* without a heartbeat and without a name */
    STRANGER_LONGEST_MS = 15 * 60 * 1000,
    INVALIDATED_MS = 10 * 1000, /* after its session was taken away */

    STRANGER_WAITING = 16 * 1024, /* unsent bytes for one that has not identified */
    MAX_QUEUED = 64 * 1024,       /* bytes at a socket; more wait among what is kept */
};

enum peer_state {
    PEER_STRANGER, /* has not said who it is */
    PEER_ASKING,   /* has, and waits for us */
    PEER_KNOWN,    /* has a session */
};

struct peer {
    struct link link; /* in the hub's list */
    struct hub *hub;
    struct websocket *ws;
    const struct dialect *dialect;
    struct session *session;  /* PEER_KNOWN */
    struct peer **asking;     /* PEER_ASKING: who waits refers to it there; or NULL */
    struct deadline deadline; /* hello, stranger, overdue, dead or invalidated: one at a time */
    struct zstd *zstd;
    struct packing *packing; /* of a long dispatch, which later ones wait for; or NULL */
    struct late_op *late;    /* waits for the stream */
    int64_t since_ms;
    uint64_t turn;                  /* among all sockets, in the order they were greeted */
    uint32_t window_ms;             /* when it began, modulo 2^32 */
    unsigned short payloads, beats; /* in the window */
    unsigned char state;
    bool greeted;   /* HELLO was sent */
    bool streaming; /* something was sent */
    bool lent;      /* its zstd stream is used on the pool: packing.h */
    bool compress;  /* payloads, one by one */
    bool closing;
    bool counted;     /* among its address's strangers */
    bool invalidated; /* its session was taken away: it has to say again who it is */
};

/* handler of every gateway socket */
void peer_open(struct websocket *ws, void *arg); /* struct dialect */
void peer_message(struct websocket *ws, enum ws_opcode opcode, struct str payload);
void peer_closed(struct websocket *ws, int code);
void peer_shutdown(struct websocket *ws);
void peer_drained(struct websocket *ws);

void peer_close(struct peer *p, enum close_code code, const char *reason);
/* The peer has a session now: heartbeats count from here. */
void peer_become(struct peer *p, struct session *s);
void peer_become_stranger(struct peer *p);
/* Some clients pass over an invalid session once they are ready; none does a close. */
void peer_invalidate_soon(struct peer *p);
void peer_identified(struct peer *p); /* it says who it is */
void peer_beat(struct peer *p);
void peer_hello_due(struct deadline *d);
void peer_expired_stranger(struct deadline *d);
void peer_expired_overdue(struct deadline *d);
void peer_expired_dead(struct deadline *d);
void peer_expired_invalidated(struct deadline *d);

/* --- what it may send ----------------------------------------------------------------- */

enum opcode_flags {
    OP_STRANGERS = 1, /* also before it has said who it is */
    OP_USERS = 2,     /* bots: ignored */
    OP_BEAT = 4,      /* counts as a heartbeat */
};

struct opcode_row {
    int op;
    const char *name;
    unsigned flags;
    const struct type *type; /* of d; NULL: anything */
    void (*handle)(struct peer *p, int op, struct str raw, const void *d);
};

#endif
