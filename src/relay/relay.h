/* relay.h - the voice server: the voice gateway (WebSocket /voice) and the relay of RTP over UDP.
 * The relay owns the WebSockets of /voice, one UDP socket and the state of each participant. Its
 * workers, one thread per processor core, share the rooms: only the worker of a room uses the keys
 * and addresses of its participants, without locks. One more thread receives datagrams and hands
 * them to the workers. WebSockets live on the server's event loops and exchange messages with the
 * workers. Invariant: committed changes of voice states (relay_deliver_voice_state_change) arrive
 * in commit order, and are applied before packets that are received after them. Uses model/ and
 * net/ only; struct relay_callbacks is the interface to the code that checks an IDENTIFY against
 * the store. Start with workers.c and participants.h, then media/dispatch.c and media/media.c,
 * which handle a packet. */
#ifndef RELAY_RELAY_H
#define RELAY_RELAY_H

#include "model/voice_state.h"
#include "net/loop.h"
#include "net/http/http_parser.h"

struct relay;
struct websocket_handler; /* net/http/server.h */

enum { RELAY_TOKEN_SIZE = 16, RELAY_SESSION_MAX = 64, RELAY_LAYERS_MAX = 3, RELAY_RID_MAX = 16 };

enum relay_close_code {
    RELAY_GOING_AWAY = 1001,
    RELAY_UNKNOWN_ERROR = 4000,
    RELAY_BAD_OPCODE = 4001,
    RELAY_BAD_PAYLOAD = 4002,
    RELAY_NOT_IDENTIFIED = 4003,
    RELAY_BAD_TOKEN = 4004,
    RELAY_ALREADY_IDENTIFIED = 4005,
    RELAY_INVALID_SESSION = 4006,
    RELAY_TIMED_OUT = 4009,
    RELAY_SERVER_NOT_FOUND = 4011,
    RELAY_BAD_PROTOCOL = 4012,
    /* The user left, moved or was replaced by another connection. Only this code ends the
     * membership in the room. */
    RELAY_DISCONNECTED = 4014,
    RELAY_BAD_MODE = 4016,
    RELAY_DAVE_REQUIRED = 4017, /* the client does not support end-to-end encryption */
    RELAY_BAD_REQUEST = 4020,
    RELAY_RATE_LIMITED = 4021,
};

/* Identifies a voice state. A new salt invalidates connections with the old salt. */
struct voice_state_key {
    snowflake guild_id, user_id;
    unsigned char salt[VOICE_SALT_BYTES];
};

/* A simulcast layer of a video. */
struct relay_video_layer {
    char rid[RELAY_RID_MAX];
    unsigned char quality; /* 0 to 100 */
    bool active;
};

/* An IDENTIFY of the voice gateway that is being checked with the store. */
struct pending_identify {
    snowflake server_id; /* guild id, or the channel id of a private call */
    snowflake user_id;
    snowflake channel_id; /* 0: not given */
    char session_id[RELAY_SESSION_MAX];
    unsigned char token[RELAY_TOKEN_SIZE];
    uint64_t number; /* number of the socket; relay_voice_state.claim returns it */
    /* Close code of a refused IDENTIFY; set by the code that checks it. */
    enum relay_close_code refusal;

    /* private to the relay */
    struct relay *relay;
    struct loop *loop;
    int version;
    unsigned dave_version; /* highest version of DAVE that the client supports; 0 if none */
    unsigned layer_count;
    struct relay_video_layer layers[RELAY_LAYERS_MAX];
};

/* Functions of the domain voice that the relay calls, on the server's event loops. */
struct relay_callbacks {
    void *arg;
    /* Checks an IDENTIFY. To accept it, records a relay_voice_state with its number in the
     * transaction (call_record_voice_state_change); this change reaches the relay by
     * relay_deliver_voice_state_change. To refuse it, calls relay_refuse_identify. The function
     * must copy c, which the relay owns. */
    void (*identify)(void *arg, const struct pending_identify *c);
    /* Called when the socket of a participant has connected again or was closed. */
    void (*on_connected_changed)(void *arg, const struct voice_state_key *p, bool live);
    /* The participant has sent audio recently. */
    void (*on_audio_activity)(void *arg, const struct voice_state_key *p);
};

/* End-to-end encryption (DAVE). */
enum relay_encryption_policy {
    RELAY_E2EE_PREFER, /* A room is encrypted end-to-end if all its participants support this. */
    RELAY_E2EE_OFF,
    /* Clients without end-to-end encryption are refused, except on stage channels. */
    RELAY_E2EE_REQUIRE,
};

struct relay_options {
    const char *host;    /* address to receive datagrams on */
    int port;            /* 0: any free port */
    const char *address; /* IPv4 address that clients are given */
    /* IPv6 address that browsers get together with the IPv4 address; "" if there is none. */
    char address6[46];
    bool no_xsalsa20; /* do not offer xsalsa20_poly1305 */
    size_t room_max;  /* participants per room; 0 means unlimited */
    unsigned threads; /* number of threads that handle media; 0 means one per processor core */
    enum relay_encryption_policy e2ee;
    struct relay_callbacks source;
};

/* Starts the relay, when the event loops run and before the server accepts connections. Logs the
 * reason of a failure. */
enum err relay_start(struct loops *loops, const struct relay_options *options, struct relay **ret);
/* Stops the relay, when the server's sockets are closed and no transaction commits any more, before
 * the event loops stop. r may be NULL. */
void relay_stop(struct relay *r);
int relay_get_media_port(const struct relay *r);

/* Accepts a WebSocket on the path "/voice", after which RELAY_PATH_PORT or a slash may follow. Used
 * in struct http_server_callbacks. r may be NULL. */
#define RELAY_PATH_PORT ":443"
bool relay_accept_websocket(struct relay *r, const struct http_request *request,
                            struct websocket_handler *ret);

/* Delivers a committed voice-state change to the relay. Must be called in commit order.
 * Thread-safe. r may be NULL. */
void relay_deliver_voice_state_change(struct relay *r, const struct relay_voice_state *fact);
/* Refuses an IDENTIFY. Has no effect if a commit has already accepted it. */
void relay_refuse_identify(const struct pending_identify *c, enum relay_close_code code);

/* Writes one line of JSON per connected participant. Must not be called on an OS thread of the
 * relay, because it blocks. r may be NULL. */
void relay_list_participants(struct relay *r, struct buf *out);

struct relay_stats {
    uint64_t sockets, participants, rooms, packets_in, packets_out, bytes_in, bytes_out, dropped,
        unsent;
    /* Number of datagrams that the kernel dropped because the receive buffer was full. */
    uint64_t overruns;
    uint64_t missing, late; /* packets of incoming audio */
    uint64_t jitter_us;     /* sum over all participants */
    uint64_t crypto_us;     /* CPU time for encryption, sampled */
    /* Number of datagrams that were sent in bundles (UDP segmentation offload). */
    uint64_t bundled;
    /* End-to-end encryption; see struct dave_counters. */
    uint64_t encrypted_rooms, epochs, transitions, refused_commits, refused_key_packages,
        downgrades, resets;
    uint64_t browsers;                      /* participants that use WebRTC */
    uint64_t handshakes, handshakes_failed; /* DTLS handshakes */
    /* number of STUN requests that were malformed or not authentic */
    uint64_t checks_refused;
};
void relay_read_stats(const struct relay *r, struct relay_stats *ret);

#endif
