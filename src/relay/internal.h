/* internal.h - shared by the files of relay/: opcodes, thread messages, participants, rooms. */
#ifndef RELAY_INTERNAL_H
#define RELAY_INTERNAL_H

#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/buf.h"
#include "base/links.h"
#include "base/map.h"
#include "net/http/server.h"
#include "relay/codecs.h"
#include "relay/media/quality.h"
#include "relay/relay.h"
#include "relay/media/seal.h"
#include "relay/video.h"

enum {
    VOICE_HEARTBEAT_MS = 13750,
    VOICE_OVERDUE_MS = 2 * VOICE_HEARTBEAT_MS + 5000,
    VOICE_STRANGER_MS = 30 * 1000, /* time limit for IDENTIFY */
    VOICE_AWAY_MS = 60 * 1000,     /* time limit for RESUME after the socket closed */
    VOICE_LATE_MS = 1000,          /* delay of op 5 after too many changes */
    VOICE_KEPT = 256,              /* number of messages stored for RESUME */
    VOICE_MAX_MESSAGE = 16 * 1024,
    VOICE_MAX_WAITING = 256 * 1024,
    VOICE_MAX_KNOWN = 2 * 1024 * 1024, /* outgoing bytes of an identified socket */
    VOICE_OLDEST = 4,
    VOICE_NUMBERED = 8,     /* first version with sequence numbers */
    VOICE_WITH_CHANNEL = 9, /* first version that requires channel_id */
    VOICE_NEWEST = 9,
};

enum voice_op {
    VOICE_IDENTIFY = 0,
    VOICE_SELECT = 1,
    VOICE_READY = 2,
    VOICE_HEARTBEAT = 3,
    VOICE_DESCRIPTION = 4,
    VOICE_SPEAKING = 5,
    VOICE_HEARTBEAT_ACK = 6,
    VOICE_RESUME = 7,
    VOICE_HELLO = 8,
    VOICE_RESUMED = 9,
    VOICE_CLIENTS = 11,
    VOICE_VIDEO = 12,
    VOICE_CLIENT_GONE = 13,
    VOICE_SESSION_UPDATE = 14,
    VOICE_WANTS = 15,
    VOICE_VERSION = 16,
    VOICE_CLIENT_FLAGS = 18,
    VOICE_CLIENT_PLATFORM = 20,
    VOICE_NO_ROUTE = 32,
    VOICE_OP_MAX = 63,
};

/* --- relay.c -------------------------------------------------------------------------- */

/* Argument of a WebSocket's handler: the relay and the gateway version in the URL. */
struct voice_door {
    struct relay *relay;
    int version; /* 0: unsupported version */
};

/* Counters for /metrics; written by several threads. */
struct relay_counters {
    _Atomic uint64_t sockets, seated, rooms, packets_in, packets_out, bytes_in, bytes_out, dropped,
        unsent, missing, late, jitter_ns, crypto_ns, bundled;
};

struct relay {
    struct relay_options options;
    struct voice_door doors[VOICE_NEWEST + 1]; /* by gateway version */
    struct loops *loops;                       /* the server's event loops */
    struct relay_hub **hubs;                   /* one per server loop */
    struct broadcast_lot *lots;                /* one per server loop */
    struct loops *own;                         /* the relay's own thread, a loop */
    struct media_socket *media;                /* relay's thread only */
    struct relay_seats *seats;                 /* relay's thread only */
    int port;
    _Atomic bool stopping;
    _Atomic(struct relay_note *) notes; /* lock-free stack of unread messages, newest first */
    struct note_line {
        struct relay_note *first, *last;
    } facts, words;     /* queues: committed changes; messages of clients */
    _Atomic bool woken; /* .wake is posted and has not run yet */
    struct post wake;
    pthread_mutex_t lock;   /* protects the next two members */
    struct map strangers;   /* number of unauthenticated sockets by address key */
    struct map claims;      /* pending IDENTIFYs by socket number */
    _Atomic uint64_t peers; /* last socket number assigned */
    struct relay_counters count;
};

static inline struct loop *relay_loop(const struct relay *r)
{
    return loops_at(r->own, 0);
}

/* Whether clients may select this encryption mode. */
static inline bool relay_offers_mode(const struct relay *r, const struct seal_mode *mode)
{
    return !r->options.no_xsalsa20 || !seal_mode_uses_header(mode);
}

/* Stores a pending IDENTIFY by its socket number. */
void claim_keep(struct relay_claim *c);
/* Removes a pending IDENTIFY and returns it; NULL: it was already accepted or refused. */
struct relay_claim *claim_take(struct relay *r, uint64_t number);

/* --- messages from sockets and commits to the relay's thread ---------------------------- */

enum note_kind {
    NOTE_FACT,
    NOTE_GONE, /* the socket is closed */
    NOTE_RESUME,
    NOTE_SELECT,
    NOTE_CODECS,
    NOTE_SPEAKING,
    NOTE_VIDEO,
    NOTE_WANTS,
    NOTE_ACK,
    NOTE_VERSION,
};

/* Codec list of a client (op 1, op 14). */
struct codec_offer {
    struct video_types types; /* payload types with which the client sends video */
    struct video_codecs decodes;
};

/* One video layer of op 12. */
struct video_shown {
    int64_t ssrc, rtx_ssrc; /* rtx_ssrc 0: no retransmissions */
    unsigned char quality;
    bool active;
};

struct relay_note {
    struct relay_note *next;
    struct relay *relay;
    enum note_kind kind;
    struct loop *loop; /* loop of the socket */
    uint64_t peer;
    int version;
    union {
        struct voice_fact fact;
        struct {
            snowflake server_id;
            snowflake channel_id; /* 0: not given */
            char session_id[RELAY_SESSION_MAX];
            unsigned char token[RELAY_TOKEN];
            int64_t seq_ack; /* last sequence number received; -1: none */
        } resume;
        struct {
            const struct seal_mode *mode;
            struct codec_offer offer;
        } select;
        struct codec_offer offer; /* of RELAY_MESSAGE_CODECS */
        unsigned speaking;
        struct {
            int64_t ssrc;
            unsigned count;
            struct video_shown shown[RELAY_LAYERS];
        } video;
        struct video_wants wants;
        int64_t seq_ack; /* of RELAY_MESSAGE_ACK */
    };
    size_t n;
    char text[]; /* of RELAY_MESSAGE_VIDEO: streams, a JSON list */
};

struct relay_note *note_new(struct relay *r, enum note_kind kind, size_t text);
void note_send(struct relay_note *n);
/* Handles queued messages on the relay's thread for at most NOTES_NS. True: all committed
 * voice-state changes are applied, so a packet received before this call may be handled; messages
 * of clients may still wait. False: changes are left, and the thread is woken again. */
bool notes_read(struct relay *r);

/* --- serialised messages: a message to a whole room is serialised once ------------------ */

struct relay_text {
    _Atomic unsigned refs;
    size_t n;
    char bytes[]; /* {"op":5,"d":{…}, without the closing brace: a sequence number may follow */
};

struct relay_text *relay_text_new(enum voice_op op, struct str d);
/* Creates a message from the payload in d, and clears d. */
struct relay_text *relay_text_finish(enum voice_op op, struct buf *d);
struct relay_text *relay_text_ref(struct relay_text *t);
void relay_text_unref(struct relay_text *t); /* accepts NULL */
/* Writes the complete message; seq 0: without a sequence number. */
void relay_text_write(const struct relay_text *t, unsigned seq, struct buf *out);

/* --- messages from the relay's thread to a socket's loop -------------------------------- */

enum letter_kind {
    LETTER_TEXT,
    LETTER_WELCOME, /* the client is identified; contains the key of the voice state */
    LETTER_WELCOME_BACK,
    LETTER_CLOSE,
    LETTER_REPLACED, /* closed because another socket replaced it */
    LETTER_ACTIVE,
};

struct relay_letter {
    struct post post;
    struct relay *relay;
    struct loop *loop;
    enum letter_kind kind;
    uint64_t peer;
    enum relay_close code;
    struct relay_place place;
    struct relay_text *text; /* of PEER_MESSAGE_TEXT */
    unsigned seq;
};

void letter_send(struct relay *r, struct loop *loop, uint64_t peer, enum letter_kind kind,
                 enum relay_close code, const struct relay_place *place);
void letter_send_text(struct relay *r, struct loop *loop, uint64_t peer, struct relay_text *text,
                      unsigned seq);
/* Sends one text to many sockets: call broadcast_add for each, then broadcast_end. Runs on the
 * relay's thread; send nothing else in between. */
void broadcast_add(struct relay *r, struct loop *loop, uint64_t peer, struct relay_text *text,
                   unsigned seq);
void broadcast_end(struct relay *r, struct relay_text *text);

/* --- peers.c, opcodes.c: WebSockets, on their loops ----------------------------------- */

struct relay_hub *relay_hub_new(struct relay *r, struct loop *loop);
void relay_hub_free(struct relay_hub *h);
void relay_hub_deliver(struct relay_hub *h, const struct relay_letter *l);

void voice_peer_open(struct websocket *ws, void *arg); /* arg: struct voice_door */
void voice_peer_message(struct websocket *ws, enum ws_opcode opcode, struct str payload);
void voice_peer_closed(struct websocket *ws, int code);
void voice_peer_shutdown(struct websocket *ws);

/* Counts the unauthenticated sockets of an address. False: there are too many. */
bool relay_count_stranger(struct relay *r, uint64_t address);
void relay_uncount_stranger(struct relay *r, uint64_t address);

/* --- seats.c, seat_notes.c: participants, on the relay's thread ----------------------- */

/* Source or destination of datagrams. */
union media_address {
    struct sockaddr any;
    struct sockaddr_in in;
    struct sockaddr_in6 in6;
};
static inline unsigned media_address_port(const union media_address *a)
{
    return ntohs(a->any.sa_family == AF_INET6 ? a->in6.sin6_port : a->in.sin_port);
}

/* Packets and bytes that a sender has sent in the current second. */
struct media_window {
    int64_t since_ms;
    unsigned packets, bytes, foreign;
};

/* Number of requests in the current second. Requests can be sent with the SSRC or the address of
 * another participant, so they do not count towards that participant's media_window. */
struct question_window {
    int64_t since_ms;
    unsigned count;
};
/* Counts a request. False: the limit per second is exceeded. */
static inline bool questions_take(struct question_window *w, int64_t now_ms, unsigned most)
{
    if (now_ms - w->since_ms >= 1000)
        *w = (struct question_window){ .since_ms = now_ms };
    return w->count++ < most;
}

/* Detects replayed RTCP packets, which have no sequence numbers. */
struct control_window {
    uint64_t seen[128]; /* hashes of the last encrypted packets */
    unsigned next;
};

/* Permissions and state of the participant, as last committed. */
struct seat_permissions {
    bool speaks, hears, films, priority;
};

/* Speaking state (op 5): as the client sent it and as the other participants know it. */
struct seat_speech {
    bool announced;       /* the other participants know the SSRC */
    unsigned speaking;    /* bits that the client sent */
    unsigned shown;       /* bits that were last sent to the other participants */
    struct deadline late; /* deadline to send the bits again after too many changes */
};

/* The video that the client offers (op 12). */
struct seat_camera {
    bool filmed; /* the client has sent op 12 */
    uint32_t video_ssrc;
    unsigned layer_count;
    struct relay_layer layers[RELAY_LAYERS];
    struct str streams; /* the client's description: a JSON list */
};

/* Keys, streams and addresses of RTP and RTCP. */
struct seat_media {
    uint32_t ssrc; /* first SSRC of the participant's block: audio */
    unsigned char key[SEAL_KEY];
    struct seal *seal; /* NULL: no protocol selected yet */
    struct rtp_stream audio;
    struct rtp_stream *video;       /* streams of the other SSRCs of the block; NULL: none used
                                     * yet */
    struct control_window *control; /* NULL: no RTCP packet yet */
    bool has_found, has_address;
    union media_address found;   /* source address of IP discovery */
    union media_address address; /* destination of media */
    struct media_window window, video_window;
};

struct seat_rate_limits {
    struct question_window words;             /* op 5 changes that were sent to others */
    struct question_window questions;         /* IP discovery and pings */
    struct question_window foreign_questions; /* IP discovery from unknown addresses */
    struct question_window wishes;            /* RTCP requests to this participant */
    struct question_window asked;             /* RTCP requests from this participant */
};

/* Sequence numbers, and messages that the client may have missed. */
struct seat_outbox {
    uint16_t seq;
    /* Ring buffer that ends with message number seq. NULL stands for a list of participants, which
     * is written again when it is resent. */
    struct relay_text **kept;
    unsigned kept_first, kept_count, kept_cap;
};

/* One participant of a room. Only the relay's thread uses it. */
struct relay_seat {
    struct relay *relay;
    struct relay_room *room;
    size_t index; /* index in room->seats */
    struct relay_place place;
    snowflake server_id, channel_id;
    char session_id[RELAY_SESSION_MAX];
    unsigned char token[RELAY_TOKEN];

    struct seat_permissions may;
    struct opt_int flags, platform; /* flags and platform of the client: op 18, op 20 */
    struct seat_speech speech;
    struct seat_rate_limits rate;
    struct seat_camera camera;
    struct codec_offer offer;
    bool described;            /* op 4 with the key was sent */
    struct video_wants *wants; /* requested video (op 15); NULL: none */

    struct seat_media media;
    struct media_quality quality; /* quality of incoming audio */
    int64_t active_ms;            /* when activity was last reported */

    struct loop *loop;
    uint64_t peer; /* number of the socket; 0: disconnected */
    int version;
    struct seat_outbox outbox;
    struct deadline away;
};

struct relay_room {
    snowflake id; /* the channel's id, or the stream's server id */
    enum video_codec codec;
    struct relay_seat **seats;
    size_t count, cap;
};

struct relay_seats *seats_new(struct relay *r);
void seats_free(struct relay_seats *all);
/* Handles a message of any kind; the caller still owns it. */
void seats_take(struct relay_seats *all, const struct relay_note *n);
/* Iterates over all participants, as map_next does. */
const struct relay_seat *seats_next(const struct relay_seats *all, size_t *at);
struct relay_seat *seats_by_ssrc(struct relay_seats *all, uint32_t ssrc);
struct relay_seat *seats_by_address(struct relay_seats *all, const union media_address *a);
/* Sets the address from which media is expected and to which it is sent. */
void seat_bind(struct relay_seat *s, const union media_address *a);
/* Returns the op 5 bits that the others may see: 0 without the permission to speak, no priority bit
 * without the permission for it. */
unsigned seat_speaking(const struct relay_seat *s);
/* Stores the speaking bits and sends them with the SSRC to the others (op 5). */
void seat_announce(struct relay_seat *s, unsigned speaking);
void seat_end(struct relay_seat *s, enum relay_close code);
/* Sends a message to all other participants of the room; releases t. */
void tell_others(const struct relay_seat *s, struct relay_text *t);

/* --- clients.c: flags and platforms of clients ---------------------------------------- */

/* For a new participant: exchanges flags and platforms with the others (op 18, op 20). */
void seat_describe(struct relay_seat *s);
/* Updates the client's flags and sends them to the others if they changed. */
void seat_take_flags(struct relay_seat *s, struct opt_int flags);

/* --- video_seats.c: video in rooms, on the relay's thread ----------------------------- */

/* Stores the codec list of a participant; the room's codec may change. */
void seat_offers(struct relay_seat *s, const struct codec_offer *offer);
/* Chooses the room's codec; sends a change to all participants with a codec list, but not to
 * except. */
void room_choose_codec(struct relay_room *room, const struct relay_seat *except);
/* Handle op 12 (video that a client sends) and op 15 (video that a client requests). */
void seat_video(struct relay_seat *s, const struct relay_note *n);
void seat_wants(struct relay_seat *s, const struct video_wants *wants);
/* seat_shows: whether a video packet of s may be forwarded. seat_watches: whether `to` receives
 * that SSRC of `from`; for the audio SSRC, whether `to` receives any video of `from`. */
bool seat_shows(const struct relay_seat *s, const struct rtp_packet *p);
bool seat_watches(const struct relay_seat *to, const struct relay_seat *from, uint32_t ssrc);

/* --- outbox.c: messages to a participant ---------------------------------------------- */

/* Sends a message; numbers and stores it if the gateway version requires it. The caller keeps its
 * reference. outbox_broadcast adds the participant to a broadcast instead. */
void outbox_send(struct relay_seat *s, struct relay_text *t);
void outbox_broadcast(struct relay_seat *s, struct relay_text *t);
void outbox_resumed(struct relay_seat *s);
/* outbox_holds: whether all messages after seq_ack are still stored. outbox_replay sends them
 * again. */
bool outbox_holds(const struct relay_seat *s, int64_t seq_ack);
void outbox_replay(struct relay_seat *s, int64_t seq_ack);
void outbox_trim(struct relay_seat *s, int64_t seq_ack);
void outbox_clear(struct relay_seat *s);

void outbox_ready(struct relay_seat *s);
void outbox_version(struct relay_seat *s);
void outbox_description(struct relay_seat *s);
/* Sends the list of the other participants (op 11). */
void outbox_clients(struct relay_seat *s);

/* Create messages about a participant, for the other participants. */
struct relay_text *text_speaking(const struct relay_seat *about);
struct relay_text *text_video(const struct relay_seat *about);
struct relay_text *text_gone(const struct relay_seat *about);
struct relay_text *text_wanted(void);
struct relay_text *text_codec(enum video_codec codec);
struct relay_text *text_client(const struct relay_seat *about);

/* --- media.c: RTP and RTCP ------------------------------------------------------------ */

void seat_forget_streams(struct relay_seat *s);

/* --- media_socket.c: the UDP socket, on the relay's thread ---------------------------- */

/* Opens the UDP socket and stores its port in r->port. */
enum err media_open(struct relay *r, struct media_socket **ret);
void media_close(struct media_socket *m);
/* Returns the number of datagrams that the kernel dropped because the receive buffer was full;
 * callable from any thread. */
uint64_t media_overruns(const struct media_socket *m);
/* Handles the datagrams that waited for queued messages. Accepts NULL. */
void media_resume(struct media_socket *m);

#endif
