/* peer.h - a socket and how it is spoken to. */
#ifndef GATEWAY_PEER_H
#define GATEWAY_PEER_H

#include "base/links.h"
#include "gateway/gateway.h"
#include "gateway/news.h"

enum {
    HEARTBEAT_MS = 41250,
    OVERDUE_MS = HEARTBEAT_MS * 3 / 2, /* without a heartbeat: ask for one */
    DEAD_MS = HEARTBEAT_MS / 2,        /* after asking */
    STRANGER_MS = 60 * 1000,           /* without a heartbeat and without a name */
    STRANGER_LONGEST_MS = 15 * 60 * 1000,
    INVALIDATED_MS = 10 * 1000, /* after its session was taken away */

    MAX_FROM_USER = 15 * 1024,
    MAX_FROM_BOT = 4096,
    MAX_MESSAGE = 16 * 1024,      /* what the websocket itself takes */
    STRANGER_WAITING = 16 * 1024, /* unsent bytes for one that has not identified */
    MAX_QUEUED = 64 * 1024,       /* bytes at a socket; more wait among what is kept */
    MAX_PAYLOAD = 64 * 1024 * 1024,
    MAX_SENT = 4 * MAX_PAYLOAD + 4096, /* as external terms, and what goes around it */
};

enum close_code {
    CLOSE_GOING = 1001,
    CLOSE_UNKNOWN = 4000,
    CLOSE_BAD_OPCODE = 4001,
    CLOSE_BAD_PAYLOAD = 4002,
    CLOSE_NOT_IDENTIFIED = 4003,
    CLOSE_BAD_TOKEN = 4004,
    CLOSE_IDENTIFIED = 4005,
    CLOSE_BAD_SEQUENCE = 4007,
    CLOSE_TOO_MANY = 4008,
    CLOSE_BAD_SHARD = 4010,
    CLOSE_NEEDS_SHARDS = 4011,
    CLOSE_BAD_VERSION = 4012,
    CLOSE_BAD_INTENTS = 4013,
    CLOSE_FORBIDDEN_INTENTS = 4014,
    CLOSE_TOO_MANY_SESSIONS = 4015,
};

enum opcode {
    OP_DISPATCH = 0,
    OP_HEARTBEAT = 1,
    OP_IDENTIFY = 2,
    OP_PRESENCE = 3,
    OP_VOICE_STATE = 4,
    OP_VOICE_PING = 5,
    OP_RESUME = 6,
    OP_RECONNECT = 7,
    OP_REQUEST_MEMBERS = 8,
    OP_INVALID_SESSION = 9,
    OP_HELLO = 10,
    OP_HEARTBEAT_ACK = 11,
    OP_CALL_CONNECT = 13,
    OP_REQUEST_SOUNDS = 31,
    OP_SEARCH_RECENT = 35,
    OP_CHANNEL_STATUSES = 36,
    OP_QOS_HEARTBEAT = 40,
    OP_TIME_SPENT = 41,
    OP_CHANNEL_INFO = 43,
    OP_MAX = 63,
};

enum compression { COMPRESS_NONE, COMPRESS_ZLIB, COMPRESS_ZSTD };

/* How a client wants to be spoken to; clients with the same wishes share one. */
struct dialect {
    struct gateway *gateway;
    struct dialect *next;
    enum close_code fault; /* 0, or why it cannot be spoken */
    int version;
    bool etf;
    enum compression compression;
    size_t host_n;
    char host[]; /* what the client called us */
};

const struct dialect *dialect_find(struct gateway *g, const struct http_request *r);

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
    struct greeting *asking;  /* PEER_ASKING: told when the socket goes */
    struct deadline deadline; /* stranger, overdue, dead or invalidated: one at a time */
    struct zstd *zstd;
    struct packing *packing; /* of a long dispatch, which later ones wait for; or NULL */
    struct late_op *late;    /* waits for the stream */
    int64_t since_ms, window_ms;
    uint64_t turn;                  /* among all sockets, in the order they were greeted */
    unsigned short payloads, beats; /* in the window */
    unsigned char state;
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
void peer_expired_stranger(struct deadline *d);
void peer_expired_overdue(struct deadline *d);
void peer_expired_dead(struct deadline *d);
void peer_expired_invalidated(struct deadline *d);

/* Messages that are not dispatches; d is JSON. */
void send_op(struct peer *p, enum opcode op, struct str d);
/* A dispatch in a form of the news, without NEWS_ETF and NEWS_DEFLATED. */
void send_dispatch(struct peer *p, uint64_t seq, struct news *n, unsigned form);
void zstd_free(struct zstd *z);
void late_free(struct peer *p);

#endif
