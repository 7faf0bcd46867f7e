/* relay.h - voice that is carried: the voice gateway and the media behind it.
 *
 * Owns the WebSockets of /voice, one UDP socket and everybody who is connected to voice by
 * them. A thread of its own holds the rooms, keys and addresses: nobody else touches them,
 * and it waits for nobody. Sockets live on the server's loops and send it notes; it sends
 * them letters. Who may connect is asked of a table of functions, and what the store says
 * about somebody comes after each commit, in its order (relay_heard). So it uses nothing
 * above model/ and net/. Begin with seats.h; media.c is the way of a packet. */
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
    RELAY_DISCONNECTED = 4014, /* left, moved, taken over: the only one that ends membership */
    RELAY_BAD_MODE = 4016,
    RELAY_BAD_REQUEST = 4020,
    RELAY_TOO_MANY = 4021,
};

/* Somebody's place in voice: a state, as long as its salt is the same. */
struct relay_place {
    snowflake guild_id, user_id;
    unsigned char salt[VOICE_SALT];
};

/* A video in one of the qualities that its sender sends it in. */
struct relay_layer {
    char rid[RELAY_RID_MAX];
    unsigned char quality; /* 0 to 100 */
    bool active;
};

/* A client that says who it is, until that is known. */
struct relay_claim {
    snowflake server_id; /* the guild's, or the channel's of a private call */
    snowflake user_id;
    snowflake channel_id; /* 0: it does not say */
    char session_id[RELAY_SESSION_MAX];
    unsigned char token[RELAY_TOKEN];
    uint64_t number; /* of its socket; the fact that it is good has it (voice_fact.claim) */
    enum relay_close refusal; /* for whoever judges it to note */

    /* the relay's own */
    struct relay *relay;
    struct loop *loop;
    int version;
    unsigned layer_count;
    struct relay_layer layers[RELAY_LAYERS];
};

/* Whom the relay asks; on the server's loops. */
struct relay_source {
    void *arg;
    /* Whether the claim is good. If so the transaction that found it notes a fact with the
     * claim's number (call_note_voice), which comes back by relay_heard; else relay_refuse. The
     * claim is the relay's: a copy of it does. */
    void (*identify)(void *arg, const struct relay_claim *c);
    /* It has a socket now, or none any more. */
    void (*live)(void *arg, const struct relay_place *p, bool live);
    /* It was heard, not long ago. */
    void (*active)(void *arg, const struct relay_place *p);
};

struct relay_options {
    const char *host;    /* where datagrams are received */
    int port;            /* 0: any free one */
    const char *address; /* IPv4, what clients are told */
    bool no_xsalsa20;    /* that mode is not offered */
    size_t room_max;     /* people of a room; 0: any number */
    struct relay_source source;
};

/* Once the loops run, before the server listens. Fails with a sentence in the log. */
enum err relay_start(struct loops *loops, const struct relay_options *options, struct relay **ret);
/* When the server's sockets are gone and nothing commits any more, before the loops stop.
 * Accepts NULL. */
void relay_stop(struct relay *r);
int relay_port(const struct relay *r);

/* For struct server_app: takes "/voice", also with RELAY_PORT_OF_PATH or a slash behind it.
 * r may be NULL. */
#define RELAY_PORT_OF_PATH ":443"
bool relay_upgrade(struct relay *r, const struct http_request *request,
                   struct websocket_handler *ret);

/* After a commit, in the order of commits, from any thread; r may be NULL. */
void relay_heard(struct relay *r, const struct voice_fact *fact);
/* Nothing, when a fact has said meanwhile that the claim is good. */
void relay_refuse(const struct relay_claim *c, enum relay_close code);

/* Everybody who is connected, a line of JSON each; not on the relay's thread. r may be NULL. */
void relay_census(struct relay *r, struct buf *out);

struct relay_stats {
    uint64_t sockets, seats, rooms, packets_in, packets_out, bytes_in, bytes_out, dropped, unsent;
    uint64_t overruns;      /* datagrams that the kernel had no room for when they came */
    uint64_t missing, late; /* of audio that came in */
    uint64_t jitter_us;     /* the sum over all seats */
    uint64_t crypto_us;     /* processor time, from samples */
    uint64_t bundled;       /* datagrams that left with another one, as one message */
};
void relay_stats(const struct relay *r, struct relay_stats *ret);

#endif
