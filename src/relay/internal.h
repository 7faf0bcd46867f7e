/* internal.h - what the files of relay/ share. */
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
    VOICE_STRANGER_MS = 30 * 1000, /* to say who it is */
    VOICE_AWAY_MS = 60 * 1000,     /* without a socket, to come back */
    VOICE_LATE_MS = 1000, /* until others hear who speaks that changed its mind too often */
    VOICE_KEPT = 256,     /* messages that it may have missed */
    VOICE_MAX_MESSAGE = 16 * 1024,
    VOICE_MAX_WAITING = 256 * 1024,
    VOICE_MAX_KNOWN = 2 * 1024 * 1024, /* of who is in a room: ten thousand are told at once */
    VOICE_OLDEST = 4,
    VOICE_NUMBERED = 8,     /* the first version with numbers */
    VOICE_WITH_CHANNEL = 9, /* the first that has to say which channel it means */
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

/* What a socket's handler is told: whose it is, and which version it speaks. */
struct voice_door {
    struct relay *relay;
    int version; /* 0: none that we know */
};

/* For /metrics; written by several threads. */
struct relay_counters {
    _Atomic uint64_t sockets, seated, rooms, packets_in, packets_out, bytes_in, bytes_out, dropped,
        unsent, missing, late, jitter_ns, crypto_ns, bundled;
};

struct relay {
    struct relay_options options;
    struct voice_door doors[VOICE_NEWEST + 1]; /* by version */
    struct loops *loops;                       /* the server's */
    struct relay_hub **hubs;                   /* one a loop of the server */
    struct broadcast_lot *lots;                /* one a loop of the server */
    struct loops *own;                         /* the relay's thread */
    struct media_socket *media;                /* of that thread */
    struct relay_seats *seats;                 /* of that thread */
    int port;
    _Atomic bool stopping;
    _Atomic(struct relay_note *) notes; /* that wait for the relay's thread, the newest first */
    struct note_line {
        struct relay_note *first, *last;
    } facts, words;     /* from there by its thread, the oldest first */
    _Atomic bool woken; /* its thread is on the way to them */
    struct post wake;
    pthread_mutex_t lock; /* of the two that follow */
    struct map strangers; /* key of an address -> how many sockets without a name */
    struct map claims;    /* by number: struct relay_claim, until it is known whether it is good */
    _Atomic uint64_t peers; /* numbers that were given out */
    struct relay_counters count;
};

static inline struct loop *relay_loop(const struct relay *r)
{
    return loops_at(r->own, 0);
}

/* Whether clients may choose it. */
static inline bool relay_offers_mode(const struct relay *r, const struct seal_mode *mode)
{
    return !r->options.no_xsalsa20 || !seal_mode_uses_header(mode);
}

/* Keeps a claim under its number. */
void claim_keep(struct relay_claim *c);
/* The claim of that number, which is the caller's now; NULL: it was answered already. */
struct relay_claim *claim_take(struct relay *r, uint64_t number);

/* --- notes: from sockets and commits to the relay's thread ----------------------------- */

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

/* What a client says of codecs. */
struct codec_offer {
    struct video_types types; /* that it sends video with */
    struct video_codecs decodes;
};

/* What a client says of one of its layers. */
struct video_shown {
    int64_t ssrc, rtx_ssrc; /* rtx_ssrc 0: nothing is sent again */
    unsigned char quality;
    bool active;
};

struct relay_note {
    struct relay_note *next;
    struct relay *relay;
    enum note_kind kind;
    struct loop *loop; /* of the socket */
    uint64_t peer;
    int version;
    union {
        struct voice_fact fact;
        struct {
            snowflake server_id;
            snowflake channel_id; /* 0: it does not say */
            char session_id[RELAY_SESSION_MAX];
            unsigned char token[RELAY_TOKEN];
            int64_t seq_ack; /* -1: nothing was received */
        } resume;
        struct {
            const struct seal_mode *mode;
            struct codec_offer offer;
        } select;
        struct codec_offer offer; /* CODECS */
        unsigned speaking;
        struct {
            int64_t ssrc;
            unsigned count;
            struct video_shown shown[RELAY_LAYERS];
        } video;
        struct video_wants wants;
        int64_t seq_ack; /* ACK */
    };
    size_t n;
    char text[]; /* VIDEO: streams, a JSON list */
};

struct relay_note *note_new(struct relay *r, enum note_kind kind, size_t text);
void note_send(struct relay_note *n);
/* On the relay's thread, for some milliseconds. True: the facts that were sent until now are done,
 * so a packet that was received before this is looked at after all that was committed before it
 * was sent; what clients say may wait, and no packet waits for that. False: there are more, and the
 * thread is woken for them. */
bool notes_read(struct relay *r);

/* --- texts: what a room is told is written once ----------------------------------------- */

struct relay_text {
    _Atomic unsigned refs;
    size_t n;
    char bytes[]; /* {"op":5,"d":{…}, without the end: a number may follow */
};

struct relay_text *relay_text_new(enum voice_op op, struct str d);
/* Of what was written, which is cleared. */
struct relay_text *relay_text_finish(enum voice_op op, struct buf *d);
struct relay_text *relay_text_ref(struct relay_text *t);
void relay_text_unref(struct relay_text *t); /* accepts NULL */
/* The whole message; seq 0: without a number. */
void relay_text_write(const struct relay_text *t, unsigned seq, struct buf *out);

/* --- letters: from the relay's thread to a socket -------------------------------------- */

enum letter_kind {
    LETTER_TEXT,
    LETTER_WELCOME, /* it is known now, by its place */
    LETTER_WELCOME_BACK,
    LETTER_CLOSE,
    LETTER_REPLACED, /* closed for another socket of the same place */
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
    struct relay_text *text; /* TEXT: with this number */
    unsigned seq;
};

void letter_send(struct relay *r, struct loop *loop, uint64_t peer, enum letter_kind kind,
                 enum relay_close code, const struct relay_place *place);
void letter_send_text(struct relay *r, struct loop *loop, uint64_t peer, struct relay_text *text,
                      unsigned seq);
/* The same text to many: they are added one after the other, and have it when all are. On the
 * relay's thread, with nothing sent in between. */
void broadcast_add(struct relay *r, struct loop *loop, uint64_t peer, struct relay_text *text,
                   unsigned seq);
void broadcast_end(struct relay *r, struct relay_text *text);

/* --- peers.c, opcodes.c: sockets, on their loops ---------------------------------------- */

struct relay_hub *relay_hub_new(struct relay *r, struct loop *loop);
void relay_hub_free(struct relay_hub *h);
void relay_hub_deliver(struct relay_hub *h, const struct relay_letter *l);

void voice_peer_open(struct websocket *ws, void *arg); /* struct voice_door */
void voice_peer_message(struct websocket *ws, enum ws_opcode opcode, struct str payload);
void voice_peer_closed(struct websocket *ws, int code);
void voice_peer_shutdown(struct websocket *ws);

/* How many sockets of an address have not said who they are; false: too many. */
bool relay_count_stranger(struct relay *r, uint64_t address);
void relay_uncount_stranger(struct relay *r, uint64_t address);

/* --- seats.c, seat_notes.c: who is connected, on the relay's thread ----------------------- */

/* Where datagrams come from and go to. */
union media_address {
    struct sockaddr any;
    struct sockaddr_in in;
    struct sockaddr_in6 in6;
};
static inline unsigned media_address_port(const union media_address *a)
{
    return ntohs(a->any.sa_family == AF_INET6 ? a->in6.sin6_port : a->in.sin_port);
}

/* What a sender has sent in a second. */
struct media_window {
    int64_t since_ms;
    unsigned packets, bytes, foreign;
};

/* What was asked or said in a second. Anybody may ask with the number or the address of somebody
 * else, so this is no part of what its owner may send. */
struct question_window {
    int64_t since_ms;
    unsigned count;
};
/* False: it was more than so often. */
static inline bool questions_take(struct question_window *w, int64_t now_ms, unsigned most)
{
    if (now_ms - w->since_ms >= 1000)
        *w = (struct question_window){ .since_ms = now_ms };
    return w->count++ < most;
}

/* Control packets that came last: they have no numbers. */
struct control_window {
    uint64_t seen[128]; /* hashes of what was sealed */
    unsigned next;
};

/* What the participant may do, as stored. */
struct seat_permissions {
    bool speaks, hears, films, priority;
};

/* Who speaks (op 5), as the client says it and as the others know it. */
struct seat_speech {
    bool announced;       /* the others know the SSRC */
    unsigned speaking;    /* bits, from the client */
    unsigned shown;       /* bits, as last sent to the others */
    struct deadline late; /* when to send them again, after too many changes */
};

/* The video that the client offers (op 12). */
struct seat_camera {
    bool filmed; /* the client has sent op 12 */
    uint32_t video_ssrc;
    unsigned layer_count;
    struct relay_layer layers[RELAY_LAYERS];
    struct str streams; /* as the client described them: a JSON list */
};

/* Keys, streams and addresses of RTP and RTCP. */
struct seat_media {
    uint32_t ssrc; /* the first of its block: audio */
    unsigned char key[SEAL_KEY];
    struct seal *seal; /* NULL: no protocol was selected yet */
    struct rtp_stream audio;
    struct rtp_stream *video;       /* the other SSRCs of its block; NULL: none was used */
    struct control_window *control; /* NULL: no control packet came */
    bool has_found, has_address;
    union media_address found;   /* source of the IP discovery */
    union media_address address; /* destination of media */
    struct media_window window, video_window;
};

struct seat_rate_limits {
    struct question_window words;             /* changes of op 5 that are sent to the others */
    struct question_window questions;         /* IP discovery and pings */
    struct question_window foreign_questions; /* IP discovery from addresses of no member */
    struct question_window wishes;            /* RTCP requests to this participant */
    struct question_window asked;             /* RTCP requests from this participant */
};

/* Numbered messages, and those that the client may have missed. */
struct seat_outbox {
    uint16_t seq;
    /* A ring that ends with the message of number seq. NULL stands for the list of participants,
     * which is written again when it is sent. */
    struct relay_text **kept;
    unsigned kept_first, kept_count, kept_cap;
};

/* One participant of a room; belongs to the relay's thread. */
struct relay_seat {
    struct relay *relay;
    struct relay_room *room;
    size_t index; /* in the room */
    struct relay_place place;
    snowflake server_id, channel_id;
    char session_id[RELAY_SESSION_MAX];
    unsigned char token[RELAY_TOKEN];

    struct seat_permissions may;
    struct opt_int flags, platform; /* of its client */
    struct seat_speech speech;
    struct seat_rate_limits rate;
    struct seat_camera camera;
    struct codec_offer offer;
    bool described;            /* op 4 with the key was sent */
    struct video_wants *wants; /* NULL: it has not asked for any video */

    struct seat_media media;
    struct media_quality quality; /* of its audio */
    int64_t active_ms;            /* when it was last said to be active */

    struct loop *loop;
    uint64_t peer; /* its socket; 0: none now */
    int version;
    struct seat_outbox outbox;
    struct deadline away;
};

struct relay_room {
    snowflake id; /* of the channel, or of the stream's server */
    enum video_codec codec;
    struct relay_seat **seats;
    size_t count, cap;
};

struct relay_seats *seats_new(struct relay *r);
void seats_free(struct relay_seats *all);
/* Any note; the note stays the caller's. */
void seats_take(struct relay_seats *all, const struct relay_note *n);
/* As map_next. */
const struct relay_seat *seats_next(const struct relay_seats *all, size_t *at);
struct relay_seat *seats_by_ssrc(struct relay_seats *all, uint32_t ssrc);
struct relay_seat *seats_by_address(struct relay_seats *all, const union media_address *a);
/* Where its media comes from and goes to, from now on. */
void seat_bind(struct relay_seat *s, const union media_address *a);
/* What the others are shown of its speaking: none of it while it may not, and priority only with
 * the right to. */
unsigned seat_speaking(const struct relay_seat *s);
/* It sends: the others have to know whose SSRC it is. */
void seat_announce(struct relay_seat *s, unsigned speaking);
void seat_end(struct relay_seat *s, enum relay_close code);
/* Everybody else in its room; the text goes. */
void tell_others(const struct relay_seat *s, struct relay_text *t);

/* --- clients.c: what a room is told of clients -------------------------------------------- */

/* Somebody comes: the others and it are told of each other's clients. */
void seat_describe(struct relay_seat *s);
/* It says something else of itself. */
void seat_take_flags(struct relay_seat *s, struct opt_int flags);

/* --- video_seats.c: video in rooms, on the relay's thread -------------------------------- */

/* What it can do; the room may use another codec then. */
void seat_offers(struct relay_seat *s, const struct codec_offer *offer);
/* Somebody came or went who has a say in it; those who have are told, but one. */
void room_choose_codec(struct relay_room *room, const struct relay_seat *except);
/* What it shows, and what it wants to see. */
void seat_video(struct relay_seat *s, const struct relay_note *n);
void seat_wants(struct relay_seat *s, const struct video_wants *wants);
/* Whether this packet of its video may be passed on, and whether somebody gets it; what is said
 * of its audio is for everybody who gets any of its video. */
bool seat_shows(const struct relay_seat *s, const struct rtp_packet *p);
bool seat_watches(const struct relay_seat *to, const struct relay_seat *from, uint32_t ssrc);

/* --- outbox.c: what is written to a seat ------------------------------------------------ */

/* Numbered and kept where the version asks for it; the text stays the caller's. The second one adds
 * the seat to a broadcast. */
void outbox_send(struct relay_seat *s, struct relay_text *t);
void outbox_broadcast(struct relay_seat *s, struct relay_text *t);
void outbox_resumed(struct relay_seat *s);
/* Whether all that came after that number is still there; and sends it. */
bool outbox_holds(const struct relay_seat *s, int64_t seq_ack);
void outbox_replay(struct relay_seat *s, int64_t seq_ack);
void outbox_trim(struct relay_seat *s, int64_t seq_ack);
void outbox_clear(struct relay_seat *s);

void outbox_ready(struct relay_seat *s);
void outbox_version(struct relay_seat *s);
void outbox_description(struct relay_seat *s);
/* Those who are there besides it. */
void outbox_clients(struct relay_seat *s);

/* What is said of a seat, to be sent to any of the others. */
struct relay_text *text_speaking(const struct relay_seat *about);
struct relay_text *text_video(const struct relay_seat *about);
struct relay_text *text_gone(const struct relay_seat *about);
struct relay_text *text_wanted(void);
struct relay_text *text_codec(enum video_codec codec);
struct relay_text *text_client(const struct relay_seat *about);

/* --- media.c: datagrams ---------------------------------------------------------------- */

void seat_forget_streams(struct relay_seat *s);

/* --- media_socket.c: datagrams, on the relay's thread ----------------------------------- */

/* Opens the socket; its port goes to r->port. */
enum err media_open(struct relay *r, struct media_socket **ret);
void media_close(struct media_socket *m);
/* Datagrams that came faster than they were read, as the kernel counts them. From any thread. */
uint64_t media_overruns(const struct media_socket *m);
/* All notes are read: on with what was received before them. Accepts NULL. */
void media_resume(struct media_socket *m);

#endif
