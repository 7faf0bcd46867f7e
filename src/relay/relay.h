/* relay.h - the voice server: the voice gateway (WebSocket /voice) and the relay of RTP over UDP.
 * The relay owns the WebSockets of /voice, one UDP socket and the state of each participant. Its
 * own thread holds all rooms, keys and addresses without locks; no other thread uses them.
 * WebSockets live on the server's event loops and exchange messages with the relay's thread.
 * Invariant: committed changes of voice states (relay_heard) arrive in commit order and are applied
 * before packets that were received later. Uses model/ and net/ only; struct relay_source is the
 * interface to the code that checks an IDENTIFY against the store. Start with seats.h, then
 * media/media.c, which handles a packet. */
#ifndef RELAY_RELAY_H
#define RELAY_RELAY_H

#include "model/voice_state.h"
#include "net/loop.h"
#include "net/http/http.h"

struct relay;
struct websocket_handler; /* net/http/server.h */

enum { RELAY_TOKEN = 16, RELAY_SESSION_MAX = 64, RELAY_LAYERS = 3, RELAY_RID_MAX = 16 };

enum relay_close {
    RELAY_GOING = 1001,
    RELAY_UNKNOWN = 4000,
    RELAY_BAD_OPCODE = 4001,
    RELAY_BAD_PAYLOAD = 4002,
    RELAY_NOT_IDENTIFIED = 4003,
    RELAY_BAD_TOKEN = 4004,
    RELAY_IDENTIFIED = 4005,
    RELAY_NO_SESSION = 4006,
    RELAY_TIMED_OUT = 4009,
    RELAY_NO_SERVER = 4011,
    RELAY_BAD_PROTOCOL = 4012,
    RELAY_DISCONNECTED = 4014, /* left, moved or replaced: the only code that ends the membership in
                                * the room */
    RELAY_BAD_MODE = 4016,
    RELAY_BAD_REQUEST = 4020,
    RELAY_TOO_MANY = 4021,
};

/* Identifies a voice state. A new salt invalidates connections that used the old one. */
struct relay_place {
    snowflake guild_id, user_id;
    unsigned char salt[VOICE_SALT];
};

/* One simulcast layer of a video. */
struct relay_layer {
    char rid[RELAY_RID_MAX];
    unsigned char quality; /* 0 to 100 */
    bool active;
};

/* An IDENTIFY that is being checked against the store. */
struct relay_claim {
    snowflake server_id; /* guild, or channel of a private call */
    snowflake user_id;
    snowflake channel_id; /* 0: not given */
    char session_id[RELAY_SESSION_MAX];
    unsigned char token[RELAY_TOKEN];
    uint64_t number;          /* number of the socket; returned in voice_fact.claim */
    enum relay_close refusal; /* set by the code that checks the IDENTIFY */

    /* private to the relay */
    struct relay *relay;
    struct loop *loop;
    int version;
    unsigned layer_count;
    struct relay_layer layers[RELAY_LAYERS];
};

/* Callbacks of the relay, which run on the server's loops. */
struct relay_source {
    void *arg;
    /* Checks an IDENTIFY. To accept it, the transaction records a voice_fact with its number
     * (call_note_voice), which arrives by relay_heard; otherwise call relay_refuse. The relay owns
     * c: copy it. */
    void (*identify)(void *arg, const struct relay_claim *c);
    /* The participant's socket has connected again or closed. */
    void (*live)(void *arg, const struct relay_place *p, bool live);
    /* The participant has sent audio recently. */
    void (*active)(void *arg, const struct relay_place *p);
};

struct relay_options {
    const char *host;    /* address to receive datagrams on */
    int port;            /* 0: any free port */
    const char *address; /* IPv4 address that clients are given */
    bool no_xsalsa20;    /* do not offer xsalsa20_poly1305 */
    size_t room_max;     /* participants per room; 0: unlimited */
    struct relay_source source;
};

/* Call it when the loops run, before the server listens. Logs the reason of a failure. */
enum err relay_start(struct loops *loops, const struct relay_options *options, struct relay **ret);
/* Call it when the server's sockets are closed and nothing commits any more, before the loops stop.
 * Accepts NULL. */
void relay_stop(struct relay *r);
int relay_port(const struct relay *r);

/* For struct server_app: accepts a WebSocket on "/voice", optionally followed by RELAY_PORT_OF_PATH
 * or a slash. r may be NULL. */
#define RELAY_PORT_OF_PATH ":443"
bool relay_upgrade(struct relay *r, const struct http_request *request,
                   struct websocket_handler *ret);

/* Delivers a committed voice-state change; call it in commit order, from any thread. r may be
 * NULL. */
void relay_heard(struct relay *r, const struct voice_fact *fact);
/* Refuses an IDENTIFY; has no effect if a commit has accepted it meanwhile. */
void relay_refuse(const struct relay_claim *c, enum relay_close code);

/* Writes one line of JSON per connected participant; do not call it on the relay's thread. r may be
 * NULL. */
void relay_census(struct relay *r, struct buf *out);

struct relay_stats {
    uint64_t sockets, seats, rooms, packets_in, packets_out, bytes_in, bytes_out, dropped, unsent;
    uint64_t overruns;      /* datagrams dropped because the receive buffer was full */
    uint64_t missing, late; /* packets of incoming audio */
    uint64_t jitter_us;     /* sum over all participants */
    uint64_t crypto_us;     /* CPU time for encryption, sampled */
    uint64_t bundled;       /* datagrams sent together with another one (GSO) */
};
void relay_stats(const struct relay *r, struct relay_stats *ret);

#endif
