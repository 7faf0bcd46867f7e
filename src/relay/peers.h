/* peers.h - sockets of the voice gateway, as the files that read and write them share them. */
#ifndef RELAY_PEERS_H
#define RELAY_PEERS_H

#include "json/schema.h"
#include "relay/internal.h"

enum voice_peer_state { VOICE_STRANGER, VOICE_ASKING, VOICE_KNOWN };

struct voice_peer {
    struct relay_hub *hub;
    struct websocket *ws;
    uint64_t number; /* among all sockets of the relay */
    int version;
    enum voice_peer_state state;
    struct relay_place place;
    bool placed; /* its state says that it has a socket */
    bool counted, closing;
    bool lost_route;          /* it said that media does not get through */
    struct deadline deadline; /* stranger or overdue: one at a time */
    int64_t window_ms, seq_ack;
    unsigned messages, videos; /* in the window; videos: what a whole room is told at length */
};

/* What belongs to one loop. */
struct relay_hub {
    struct relay *relay;
    struct loop *loop;
    struct map peers; /* by number */
    struct deadlines *strangers, *overdue;
    struct arena *arena; /* of the message that is read */
    struct buf out;
};

/* --- peers.c -------------------------------------------------------------------------- */

void voice_peer_write(struct voice_peer *p, enum voice_op op, struct str d);
/* Its state says from now on that it has no socket. */
void voice_peer_close(struct voice_peer *p, enum relay_close code, const char *reason);
/* A note for the relay's thread, from this socket. */
struct relay_note *voice_peer_note(const struct voice_peer *p, enum note_kind kind, size_t text);

/* --- opcodes.c ------------------------------------------------------------------------ */

/* What every message is around its data. */
struct voice_envelope {
    struct str op, d;
};
extern const struct type type_voice_envelope;

/* An opcode that clients send: its data, or as it came. */
struct voice_op_row {
    enum voice_op op;
    const char *name; /* NULL: the end of the rows */
    bool begins;      /* it says who somebody is: for strangers only */
    const struct type *type;
    void (*handle)(struct voice_peer *p, const void *d);
    void (*handle_raw)(struct voice_peer *p, struct str raw);
};
extern const struct voice_op_row voice_op_rows[];

/* --- video_opcodes.c: what they say of video ------------------------------------------- */

extern const struct type type_voice_layers; /* of Identify */
extern const struct type type_voice_codecs; /* of Select protocol */
extern const struct type type_voice_video, type_voice_wants;

/* Layers that a client will send, and how many; one where it only says that it has video. */
unsigned voice_layers_read(bool video, const struct list *streams,
                           struct relay_layer ret[RELAY_LAYERS]);
struct codec_offer voice_codecs_read(const struct list *codecs);
extern const struct type type_voice_session;
void handle_voice_session(struct voice_peer *p, const void *d);
/* False: it is about no SSRCs, or asks for more than there is. */
bool voice_wants_read(const struct list *entries, struct video_wants *ret);
void handle_voice_video(struct voice_peer *p, const void *d);
void handle_voice_wants(struct voice_peer *p, const void *d);

#endif
