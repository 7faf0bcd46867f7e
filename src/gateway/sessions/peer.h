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
    /* Delay after the upgrade: some clients drop bytes that arrive with the upgrade response. */
    HELLO_MS = 100,
    OVERDUE_MS = HEARTBEAT_MS * 3 / 2, /* after this time without a heartbeat, op 1 is sent */
    DEAD_MS = HEARTBEAT_MS / 2,        /* after that op 1, the socket is closed */
    STRANGER_MS = 60 * 1000,           /* an unauthenticated socket without heartbeats is closed */
    STRANGER_LONGEST_MS = 15 * 60 * 1000,
    INVALIDATED_MS = 10 * 1000, /* after op 9 without IDENTIFY, the socket is closed */

    STRANGER_WAITING = 16 * 1024, /* limit of unsent bytes of an unauthenticated socket */
    MAX_QUEUED = 64 * 1024,       /* limit of unsent bytes; more events wait in the replay buffer */
};

enum peer_state {
    PEER_STRANGER, /* no IDENTIFY or RESUME was received */
    PEER_ASKING,   /* IDENTIFY or RESUME is in progress */
    PEER_KNOWN,    /* the socket has a session */
};

struct peer {
    struct link link; /* in the list of its loop */
    struct hub *hub;
    struct websocket *ws;
    const struct dialect *dialect;
    struct session *session; /* only in state PEER_KNOWN */
    /* In state PEER_ASKING: address of the request's pointer to this socket; or NULL. */
    struct peer **asking;
    struct deadline deadline; /* for the timer of the current state (struct hub_timers) */
    struct zstd *zstd;
    struct packing *packing; /* long dispatch in progress, or NULL; later dispatches wait */
    struct late_op *late;    /* messages that wait while the thread pool uses the zstd stream */
    int64_t since_ms;
    uint64_t turn;                  /* number in the order of accepted connections */
    uint32_t window_ms;             /* start of the rate limit window in ms, modulo 2^32 */
    unsigned short payloads, beats; /* messages received in the window */
    unsigned char state;
    bool greeted;   /* HELLO was sent */
    bool streaming; /* a message was sent */
    bool lent;      /* the thread pool uses the zstd stream (packing.h) */
    bool compress;  /* each message is a complete zlib stream */
    bool closing;
    bool counted;     /* counted among the unauthenticated sockets of its address */
    bool invalidated; /* op 9 was sent: the client has to identify again */
};

/* Callbacks of gateway WebSockets. */
void peer_open(struct websocket *ws, void *arg); /* arg: struct dialect */
void peer_message(struct websocket *ws, enum ws_opcode opcode, struct str payload);
void peer_closed(struct websocket *ws, int code);
void peer_shutdown(struct websocket *ws);
void peer_drained(struct websocket *ws);

void peer_close(struct peer *p, enum close_code code, const char *reason);
/* Attaches a session to the socket; heartbeats are required from now on. */
void peer_become(struct peer *p, struct session *s);
void peer_become_stranger(struct peer *p);
/* Closes the socket in 10 s if the client does not identify: some clients ignore op 9 after
 * READY. */
void peer_invalidate_soon(struct peer *p);
void peer_identified(struct peer *p); /* called for IDENTIFY and RESUME */
void peer_beat(struct peer *p);
void peer_hello_due(struct deadline *d);
void peer_expired_stranger(struct deadline *d);
void peer_expired_overdue(struct deadline *d);
void peer_expired_dead(struct deadline *d);
void peer_expired_invalidated(struct deadline *d);

enum opcode_flags {
    OP_STRANGERS = 1, /* allowed before IDENTIFY */
    OP_USERS = 2,     /* ignored from bots */
    OP_BEAT = 4,      /* counts as a heartbeat */
};

struct opcode_row {
    int op;
    const char *name;
    unsigned flags;
    const struct type *type; /* schema of "d"; NULL: "d" is not decoded */
    void (*handle)(struct peer *p, int op, struct str raw, const void *d);
};

#endif
