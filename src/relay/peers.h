/* peers.h - WebSockets of the voice gateway: struct voice_peer and the table of opcodes. */
#ifndef RELAY_PEERS_H
#define RELAY_PEERS_H

#include "json/schema.h"
#include "relay/internal.h"

enum voice_socket_state { VOICE_UNAUTHENTICATED, VOICE_IDENTIFYING, VOICE_IDENTIFIED };

struct voice_peer {
    struct voice_loop *loop_state;
    struct websocket *ws;
    uint64_t number; /* unique in the relay */
    /* Index of the worker that owns the socket's participant; valid after IDENTIFY was accepted. */
    unsigned worker;
    int version;
    enum voice_socket_state state;
    struct voice_state_key voice_state;
    bool is_marked_connected; /* the stored voice state is marked as connected */
    bool counted, closing;
    bool lost_route; /* the client has sent op 32 (its media does not arrive) */
    /* time limit for IDENTIFY; after IDENTIFY, time limit for the next heartbeat */
    struct deadline deadline;
    int64_t window_ms, seq_ack;
    /* Number of messages in the current rate limit window: all; op 1; op 12, which goes to the
     * whole room; op 14, after which the room may get another codec. */
    unsigned messages, selects, videos, codec_lists;
};

/* Voice sockets of one event loop. */
struct voice_loop {
    struct relay *relay;
    struct loop *loop;
    struct map peers; /* by number */
    struct deadline_list *unauthenticated, *overdue;
    struct arena *arena; /* temporary memory for the message that is being handled */
    struct buf out;
};

/* --- peers.c -------------------------------------------------------------------------- */

void voice_peer_send(struct voice_peer *p, enum voice_gateway_opcode op, struct str d);
/* Closes the socket and marks the stored voice state as disconnected. */
void voice_peer_close(struct voice_peer *p, enum relay_close_code code, const char *reason);
/* Creates a message to the relay's thread, with the number of this socket. */
struct relay_message *voice_peer_new_message(const struct voice_peer *p,
                                             enum relay_message_kind kind, size_t text);

/* --- opcodes.c ------------------------------------------------------------------------ */

/* The outer object of every message. */
struct voice_gateway_envelope {
    struct str op, d;
};
extern const struct type type_voice_envelope;

/* An opcode of clients. `handle` gets the decoded payload, `handle_raw` gets it as JSON text. */
struct voice_opcode_declaration {
    enum voice_gateway_opcode op;
    const char *name; /* name of the opcode; NULL in the last row of the table */
    bool begins;      /* IDENTIFY or RESUME: only allowed while the socket is not identified */
    const struct type *type;
    void (*handle)(struct voice_peer *p, const void *d);
    void (*handle_raw)(struct voice_peer *p, struct str raw);
};
extern const struct voice_opcode_declaration voice_op_rows[];

/* --- dave/opcodes.c: opcodes of end-to-end encryption ---------------------------------- */

extern const struct type type_voice_transition;
void handle_voice_transition_ready(struct voice_peer *p, const void *d);
void handle_voice_invalid_commit(struct voice_peer *p, const void *d);
/* Handles a binary message: opcodes 26 and 28. */
void handle_voice_binary_message(struct voice_peer *p, struct str message);

/* --- video_opcodes.c: opcodes about video --------------------------------------------- */

extern const struct type type_voice_layers; /* in IDENTIFY */
extern const struct type type_voice_codecs; /* in SELECT_PROTOCOL */
extern const struct type type_voice_video, type_voice_video_request;

/* Parses the video layers in IDENTIFY and returns their number. Without a list of layers, a client
 * has one layer if `video` is set. */
unsigned parse_video_layers(bool video, const struct list *streams,
                            struct relay_video_layer ret[RELAY_LAYERS_MAX]);
struct codec_offer parse_codec_list(const struct list *codecs);
/* Parses an SSRC that a client announces. Returns 0 if the SSRC is missing or not a number. */
uint32_t parse_ssrc(struct str raw);
extern const struct type type_voice_session_update;
void handle_voice_session_update(struct voice_peer *p, const void *d);
/* Parses op 15. Returns false if a key is not an SSRC, if a quality is not between 0 and 100, or if
 * there are too many keys. */
bool parse_video_request(const struct list *entries, struct video_request *ret);
void handle_voice_video(struct voice_peer *p, const void *d);
void handle_voice_video_request(struct voice_peer *p, const void *d);

#endif
