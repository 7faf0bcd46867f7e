/* gateway_socket.h - the WebSocket of a gateway client, before and after it has a session. */
#ifndef GATEWAY_SESSIONS_GATEWAY_SOCKET_H
#define GATEWAY_SESSIONS_GATEWAY_SOCKET_H

#include "base/links.h"
#include "gateway/wire/protocol.h"
#include "json/schema.h"
#include "net/loop.h"
#include "net/http/server.h"

struct wire_format;
struct gateway_loop;
struct delayed_op;
struct background_encoding;
struct session;
struct zstd;

enum {
    HEARTBEAT_MS = 41250,
    /* Delay of HELLO after the WebSocket upgrade, because some clients drop bytes that arrive
     * together with the upgrade response. */
    HELLO_MS = 100,
    /* Time without a heartbeat from the client after which the server sends op 1. */
    HEARTBEAT_OVERDUE_MS = HEARTBEAT_MS * 3 / 2,
    /* Time in which the client must answer op 1, in ms; then the server closes the connection. */
    HEARTBEAT_DEAD_MS = HEARTBEAT_MS / 2,
    /* An unauthenticated socket that sends no heartbeats is closed after this time, in ms. */
    UNAUTHENTICATED_MS = 60 * 1000,
    UNAUTHENTICATED_MAX_MS = 15 * 60 * 1000,
    /* A client that does not IDENTIFY within this time after op 9 is disconnected. */
    INVALIDATED_MS = 10 * 1000,

    UNAUTHENTICATED_UNSENT_MAX = 16 * 1024, /* limit of unsent bytes of an unauthenticated socket */
    SOCKET_UNSENT_MAX =
        64 * 1024, /* maximum of unsent bytes of a socket; later events wait in the replay buffer */
};

enum gateway_socket_state {
    SOCKET_UNAUTHENTICATED, /* no IDENTIFY or RESUME was received */
    SOCKET_AUTHENTICATING,  /* IDENTIFY or RESUME is being handled */
    SOCKET_HAS_SESSION,
};

struct caller;

struct gateway_socket {
    struct list_link link; /* link in gateway_loop.peers, the loop's list of sockets */
    struct gateway_loop *gateway_loop;
    struct websocket *ws;
    const struct wire_format *dialect;
    struct session *session; /* NULL unless the state is SOCKET_HAS_SESSION */
    /* In state SOCKET_AUTHENTICATING: address of the pointer authentication.socket, so that the
     * pointer can be set to NULL when the socket closes. NULL in other states. */
    struct gateway_socket **request_socket;
    struct deadline deadline; /* deadline of the current state (struct gateway_loop_timers) */
    struct zstd *zstd;
    /* The long dispatch that the thread pool is encoding, or NULL; later ones wait for it. */
    struct background_encoding *encoding;
    struct delayed_op
        *delayed_ops; /* messages that wait while a thread of the pool uses the zstd stream */
    int64_t since_ms;
    uint64_t connection_number;     /* sequence number of the accepted connection */
    uint32_t window_ms;             /* start of the rate limit window in ms, modulo 2^32 */
    unsigned short payloads, beats; /* messages and heartbeats received in the rate limit window */
    unsigned char state;
    bool hello_sent;
    bool streaming; /* at least one message was sent */
    bool lent;      /* a thread of the pool is using the zstd stream (background_encoding.h) */
    bool compress;  /* client requested "compress": each message is a complete zlib stream */
    bool closing;
    bool counted;     /* the socket is counted among the unauthenticated sockets of its address */
    bool invalidated; /* op 9 was sent after which the client must identify again */
};

/* Callbacks of gateway WebSockets. */
void gateway_socket_on_open(struct websocket *ws, void *arg); /* arg is a struct wire_format */
void gateway_socket_on_message(struct websocket *ws, enum ws_opcode opcode, struct str payload);
void gateway_socket_on_closed(struct websocket *ws, int code);
void gateway_socket_on_shutdown(struct websocket *ws);
void gateway_socket_on_output_sent(struct websocket *ws);

void gateway_socket_close(struct gateway_socket *p, enum gateway_close_code code,
                          const char *reason);
/* Closes a socket that has no session. `caller` and `cause` are for the traffic log. */
void gateway_socket_refuse(struct gateway_socket *p, enum gateway_close_code code,
                           const char *reason, const struct caller *caller, struct str cause);
/* Attaches a session to the socket. From now on the client must send heartbeats. */
void gateway_socket_attach_session(struct gateway_socket *p, struct session *s);
void gateway_socket_detach_session(struct gateway_socket *p);
/* Closes the socket after 10 s without IDENTIFY, because some clients ignore op 9 after READY. */
void gateway_socket_start_reidentify_timeout(struct gateway_socket *p);
void gateway_socket_on_identify(struct gateway_socket *p); /* called for IDENTIFY and RESUME */
void gateway_socket_on_heartbeat(struct gateway_socket *p);
void on_gateway_hello_due(struct deadline *d);
void on_gateway_authentication_timeout(struct deadline *d);
void on_gateway_heartbeat_overdue(struct deadline *d);
void on_gateway_heartbeat_timeout(struct deadline *d);
void on_gateway_reidentify_timeout(struct deadline *d);

enum gateway_opcode_flags {
    OP_BEFORE_IDENTIFY = 1, /* allowed before IDENTIFY */
    OP_NOT_FOR_BOTS = 2,    /* ignored if a bot sends it */
    OP_IS_HEARTBEAT = 4,    /* counts as a heartbeat */
};

struct gateway_opcode_declaration {
    int op;
    const char *name;
    unsigned flags;
    const struct type *type; /* schema of the message's "d"; NULL if "d" is not decoded */
    void (*handle)(struct gateway_socket *p, int op, struct str raw, const void *d);
};

#endif
