/* peer.h - a gateway socket, before and after it has a session. */
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
    HELLO_MS = 100, /* after the upgrade: some clients drop bytes that come with its response */
    OVERDUE_MS = HEARTBEAT_MS * 3 / 2, /* without a heartbeat: send op 1 */
    DEAD_MS = HEARTBEAT_MS / 2,        /* after that op 1: close */
    STRANGER_MS = 60 * 1000,           /* unauthenticated and no heartbeat: close */
    STRANGER_LONGEST_MS = 15 * 60 * 1000,
    INVALIDATED_MS = 10 * 1000, /* after op 9 without IDENTIFY: close */

    STRANGER_WAITING = 16 * 1024, /* unsent bytes of an unauthenticated socket */
    MAX_QUEUED = 64 * 1024,       /* unsent bytes of a socket; more wait in the replay buffer */
};

enum peer_state {
    PEER_STRANGER, /* unauthenticated */
    PEER_ASKING,   /* IDENTIFY or RESUME is in progress */
    PEER_KNOWN,    /* has a session */
};

struct peer {
    struct link link; /* in the hub's list */
    struct hub *hub;
    struct websocket *ws;
    const struct dialect *dialect;
    struct session *session;  /* PEER_KNOWN */
    struct peer **asking;     /* PEER_ASKING: the request's pointer to this peer; or NULL */
    struct deadline deadline; /* for hello, stranger, overdue, dead or invalidated */
    struct zstd *zstd;
    struct packing *packing; /* a long dispatch in progress, or NULL; later ones wait */
    struct late_op *late;    /* messages that wait while the zstd stream is lent */
    int64_t since_ms;
    uint64_t turn;                  /* number in the order of accepted connections */
    uint32_t window_ms;             /* start of the rate limit window, modulo 2^32 */
    unsigned short payloads, beats; /* in the window */
    unsigned char state;
    bool greeted;   /* HELLO was sent */
    bool streaming; /* a message was sent */
    bool lent;      /* the pool uses its zstd stream: packing.h */
    bool compress;  /* each payload is a zlib stream of its own */
    bool closing;
    bool counted;     /* among the unauthenticated sockets of its address */
    bool invalidated; /* got op 9: it has to identify again */
};

/* Callbacks of every gateway WebSocket. */
void peer_open(struct websocket *ws, void *arg); /* struct dialect */
void peer_message(struct websocket *ws, enum ws_opcode opcode, struct str payload);
void peer_closed(struct websocket *ws, int code);
void peer_shutdown(struct websocket *ws);
void peer_drained(struct websocket *ws);

void peer_close(struct peer *p, enum close_code code, const char *reason);
/* The peer has a session now: heartbeats are required from here on. */
void peer_become(struct peer *p, struct session *s);
void peer_become_stranger(struct peer *p);
/* Closes the socket in 10 s if it does not identify: some clients ignore op 9 after READY. */
void peer_invalidate_soon(struct peer *p);
void peer_identified(struct peer *p); /* an IDENTIFY or RESUME arrived */
void peer_beat(struct peer *p);
void peer_hello_due(struct deadline *d);
void peer_expired_stranger(struct deadline *d);
void peer_expired_overdue(struct deadline *d);
void peer_expired_dead(struct deadline *d);
void peer_expired_invalidated(struct deadline *d);

/* --- opcodes that clients may send ---------------------------------------------------- */

enum opcode_flags {
    OP_STRANGERS = 1, /* allowed before IDENTIFY */
    OP_USERS = 2,     /* ignored from bots */
    OP_BEAT = 4,      /* counts as a heartbeat */
};

struct opcode_row {
    int op;
    const char *name;
    unsigned flags;
    const struct type *type; /* schema of d; NULL: not decoded */
    void (*handle)(struct peer *p, int op, struct str raw, const void *d);
};

#endif
