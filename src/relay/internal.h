/* internal.h - shared by the files of relay/: opcodes, messages between threads, participants,
 * rooms. */
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
#include "relay/dave/group.h"
#include "relay/media/address_routes.h"
#include "relay/media/media_queue.h"
#include "relay/media/quality.h"
#include "relay/relay.h"
#include "relay/media/encryption.h"
#include "relay/video.h"

enum {
    VOICE_HEARTBEAT_MS = 13750,
    VOICE_HEARTBEAT_TIMEOUT_MS = 2 * VOICE_HEARTBEAT_MS + 5000,
    VOICE_IDENTIFY_TIMEOUT_MS = 30 * 1000, /* time limit for IDENTIFY */
    VOICE_RESUME_TIMEOUT_MS = 60 * 1000,   /* time limit for RESUME after the socket closed */
    /* Delay of op 5 (speaking) for a participant that changes it too often. */
    VOICE_SPEAKING_DELAY_MS = 1000,
    VOICE_REPLAY_MAX = 256,           /* number of messages stored for RESUME */
    VOICE_REPLAY_BYTES = 1024 * 1024, /* and their size */
    VOICE_MAX_MESSAGE = 16 * 1024,
    VOICE_MAX_BINARY_MESSAGE = 1 + DAVE_COMMIT_BYTES, /* opcode and payload */
    VOICE_MAX_UNSENT_BYTES = 256 * 1024,
    VOICE_MAX_UNSENT_IDENTIFIED = 2 * 1024 * 1024, /* outgoing bytes of an identified socket */
    VOICE_OLDEST_VERSION = 4,
    VOICE_SEQUENCE_VERSION = 8,   /* first version with sequence numbers */
    VOICE_CHANNEL_ID_VERSION = 9, /* first version that requires channel_id */
    VOICE_NEWEST_VERSION = 9,
};

enum voice_gateway_opcode {
    VOICE_IDENTIFY = 0,
    VOICE_SELECT_PROTOCOL = 1,
    VOICE_READY = 2,
    VOICE_HEARTBEAT = 3,
    VOICE_SESSION_DESCRIPTION = 4,
    VOICE_SPEAKING = 5,
    VOICE_HEARTBEAT_ACK = 6,
    VOICE_RESUME = 7,
    VOICE_HELLO = 8,
    VOICE_RESUMED = 9,
    VOICE_CLIENTS_CONNECT = 11,
    VOICE_VIDEO = 12,
    VOICE_CLIENT_DISCONNECT = 13,
    VOICE_SESSION_UPDATE = 14,
    VOICE_MEDIA_SINK_WANTS = 15,
    VOICE_VERSION = 16,
    VOICE_CLIENT_FLAGS = 18,
    VOICE_CLIENT_PLATFORM = 20,
    VOICE_TRANSITION_READY = DAVE_TRANSITION_READY,
    VOICE_INVALID_COMMIT = DAVE_INVALID_COMMIT_WELCOME,
    VOICE_NO_ROUTE = 32,
    VOICE_OP_MAX = 63,
};

/* --- datagrams ------------------------------------------------------------------------ */

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

struct media_datagram {
    struct media_queue_item item; /* in a list or a queue */
    union media_address from;
    enum media_kind { MEDIA_RTP, MEDIA_RTCP, MEDIA_BROWSER_RTP, MEDIA_BROWSER_RTCP } kind;
    size_t n;
    char bytes[];
};

struct datagram_list {
    struct media_queue_item *first, *last;
    size_t count;
};

/* --- relay.c -------------------------------------------------------------------------- */

/* Argument of the WebSocket handler: the relay, and the gateway version from the socket's URL. */
struct voice_gateway_version {
    struct relay *relay;
    int version; /* 0: unsupported version */
};

/* Counters for /metrics, which shows the sums over all workers. Several OS threads write the
 * counters of the relay, with atomic additions. Only the worker's own thread writes the counters of
 * a worker. */
struct relay_counters {
    _Atomic uint64_t sockets, participants, rooms, packets_in, packets_out, bytes_in, bytes_out,
        dropped, unsent, missing, late, jitter_ns, crypto_ns, bundled, encrypted_rooms, epochs,
        transitions, refused_commits, refused_key_packages, downgrades, resets, browsers,
        handshakes, handshakes_failed, checks_refused;
};

/* An OS thread of the relay. It owns the rooms whose ids hash to its index; only this OS thread
 * uses these rooms and their participants. */
struct relay_worker {
    struct relay *relay;
    unsigned index;
    struct loop *loop;
    struct relay_participants *participants;
    struct media_packet_handler *work;
    struct media_packet_handler *inner_work; /* the same for relay_worker_handle_idle_rooms */
    bool interrupted;                        /* relay_worker_handle_idle_rooms runs */
    uint64_t done_packets, done_bytes; /* datagrams that were handled but are not yet in `count` */
    struct media_queue queue;          /* received media */
    struct broadcast_queue *broadcast_queues; /* one per server loop */
    _Atomic(struct relay_message *) messages; /* lock-free stack of unread messages, newest first */
    struct relay_message_queue {
        struct relay_message *first, *last;
    } state_changes, client_messages; /* queues: committed changes; messages of clients */
    _Atomic bool woken;               /* the loop message `wake` is posted and has not run yet */
    struct loop_message wake;
    /* Received datagrams that wait until committed changes are applied. */
    struct datagram_list received;
    pthread_mutex_t lock; /* protects `inbox`, to which the receiver's OS thread appends */
    struct datagram_list inbox;
    struct relay_counters count;
};

struct relay {
    struct relay_options options;
    struct voice_gateway_version versions[VOICE_NEWEST_VERSION + 1]; /* by gateway version */
    struct loops *loops;                                             /* the server's event loops */
    struct voice_loop **loop_states;                                 /* one per server loop */
    struct loops *worker_loops;
    struct relay_worker *workers;
    unsigned worker_count;
    /* Event loops of receiver threads; NULL if the only worker receives datagrams itself. */
    struct loops *receiver_loops;
    struct media_socket *media;
    struct address_routes *routes; /* worker of each address */
    int port;
    _Atomic bool stopping;
    pthread_mutex_t lock; /* protects the next three members */
    /* Number of unauthenticated sockets per address, by address key. */
    struct map unauthenticated;
    struct map pending_identifies; /* pending IDENTIFYs by socket number */
    /* DTLS certificate for browsers, with its settings; NULL until the first browser connects. */
    struct dtls_identity *identity;
    _Atomic uint64_t peers; /* last socket number assigned */
    struct relay_counters count;
};

/* relay_get_worker_of_room returns the worker that owns a room; relay_get_worker_of_ssrc returns
 * the index of the worker that assigned an SSRC. */
struct relay_worker *relay_get_worker_of_room(const struct relay *r, snowflake room_id);
unsigned relay_get_worker_of_ssrc(const struct relay *r, uint32_t ssrc);

/* Returns whether clients may select this encryption mode. */
static inline bool relay_offers_encryption_mode(const struct relay *r,
                                                const struct encryption_mode *mode)
{
    return !r->options.no_xsalsa20 || !encryption_mode_uses_header_as_nonce(mode);
}

/* Stores a pending IDENTIFY by the number of its socket. */
void pending_identify_add(struct pending_identify *c);
/* Removes a pending IDENTIFY and returns it. Returns NULL if it was already accepted or refused. */
struct pending_identify *pending_identify_remove(struct relay *r, uint64_t number);

/* --- messages from sockets and commits to the relay's thread ---------------------------- */

enum relay_message_kind {
    RELAY_MESSAGE_STATE_CHANGE,
    RELAY_MESSAGE_SOCKET_CLOSED, /* the socket is closed */
    RELAY_MESSAGE_RESUME,
    RELAY_MESSAGE_SELECT_PROTOCOL,
    RELAY_MESSAGE_CODECS,
    RELAY_MESSAGE_SPEAKING,
    RELAY_MESSAGE_VIDEO,
    RELAY_MESSAGE_VIDEO_REQUEST,
    RELAY_MESSAGE_ACK,
    RELAY_MESSAGE_VERSION,
    RELAY_MESSAGE_DAVE, /* opcodes 23, 26, 28 and 31 */
};

/* Video codecs that a client supports (op 1, op 14). */
struct codec_offer {
    /* RTP payload types of the video that the client sends. */
    struct video_payload_types types;
    struct video_codecs decodes;
    struct codec_payload_types numbers;
};

/* A video layer of op 12. */
struct offered_video_layer {
    int64_t ssrc, rtx_ssrc; /* rtx_ssrc is 0 without retransmissions */
    unsigned char quality;
    bool active;
};

struct relay_message {
    struct relay_message *next;
    struct relay *relay;
    enum relay_message_kind kind;
    struct loop *loop; /* loop of the socket */
    unsigned worker;   /* index of the worker that owns the participant */
    uint64_t peer;
    int version;
    union {
        struct relay_voice_state state_change;
        struct {
            snowflake server_id;
            snowflake channel_id; /* 0: not given */
            char session_id[RELAY_SESSION_MAX];
            unsigned char token[RELAY_TOKEN_SIZE];
            int64_t seq_ack; /* last sequence number received, or -1 */
        } resume;
        struct {
            /* Encryption mode that the client selected; NULL for WebRTC: then `text` has the
             * certificate's fingerprints. */
            const struct encryption_mode *mode;
            /* WebRTC: id of the RTP header extension with transport-wide packet numbers, or -1. */
            int transport_cc_id;
            struct codec_offer offer;
        } select;
        struct codec_offer offer; /* of RELAY_MESSAGE_CODECS */
        struct {
            unsigned bits;
            uint32_t ssrc; /* SSRC that the client announces for its audio; 0 if none */
        } speaking;
        struct {
            int64_t ssrc;
            uint32_t audio_ssrc, rtx_ssrc; /* 0: not announced */
            unsigned count;
            struct offered_video_layer shown[RELAY_LAYERS_MAX];
        } video;
        struct video_request wants;
        int64_t seq_ack; /* of RELAY_MESSAGE_ACK */
        struct {
            enum dave_opcode op;
            unsigned transition; /* transition id of opcodes 23 and 31 */
        } dave;
    };
    size_t n;
    /* Text of RELAY_MESSAGE_VIDEO: JSON list of streams; of RELAY_MESSAGE_DAVE: payload. */
    char text[];
};

struct relay_message *relay_message_new(struct relay *r, enum relay_message_kind kind, size_t text);
void relay_message_send(struct relay_message *n);

/* --- workers.c: the relay's threads ----------------------------------------------------- */

void relay_workers_start(struct relay *r);
/* relay_workers_clear frees the data of all workers, on the workers' OS threads. relay_workers_stop
 * ends these OS threads. */
void relay_workers_clear(struct relay *r);
void relay_workers_stop(struct relay *r);
/* Handles datagrams of rooms that were idle. Called while a datagram is being forwarded to a large
 * room, so that small rooms need not wait. */
void relay_worker_handle_idle_rooms(struct relay_worker *w);
/* Appends received datagrams to the worker's inbox and wakes the worker. Drops datagrams for which
 * the inbox has no space. Runs on the receiver's OS thread. */
void relay_worker_add_datagrams(struct relay_worker *w, struct datagram_list *list);

/* --- serialised messages: a message to a whole room is serialised once ------------------ */

struct serialized_message {
    _Atomic unsigned refs;
    size_t n;
    bool binary;
    /* A JSON message is stored without its closing brace ({"op":5,"d":{…}), because a sequence
     * number may be appended. A binary message is stored as opcode and payload; a sequence number
     * may be written before them. */
    char bytes[];
};

struct serialized_message *serialized_message_new(enum voice_gateway_opcode op, struct str d);
struct serialized_message *serialized_message_new_binary(enum dave_opcode op, struct str payload);
/* Creates a message with the bytes of d as its payload, and clears d. */
struct serialized_message *serialized_message_from_buf(enum voice_gateway_opcode op, struct buf *d);
struct serialized_message *serialized_message_ref(struct serialized_message *t);
void serialized_message_unref(struct serialized_message *t); /* accepts NULL */
/* Writes the complete message. If seq is 0, the message has no sequence number. */
void serialized_message_write(const struct serialized_message *t, unsigned seq, struct buf *out);

/* --- messages from the relay's thread to a socket's loop -------------------------------- */

enum peer_message_kind {
    PEER_MESSAGE_TEXT,
    /* the IDENTIFY was accepted; contains the key of the client's voice state */
    PEER_MESSAGE_IDENTIFIED,
    PEER_MESSAGE_RESUMED,
    PEER_MESSAGE_CLOSE,
    PEER_MESSAGE_REPLACED, /* closed because another socket replaced it */
    PEER_MESSAGE_ACTIVE,
};

struct relay_peer_message {
    struct loop_message post;
    struct relay *relay;
    struct loop *loop;
    enum peer_message_kind kind;
    uint64_t peer;
    enum relay_close_code code;
    /* Index of the participant's worker; set in PEER_MESSAGE_IDENTIFIED and _RESUMED. */
    unsigned worker;
    struct voice_state_key voice_state;
    struct serialized_message *text; /* of PEER_MESSAGE_TEXT */
    unsigned seq;
};

void peer_message_send(struct relay *r, struct loop *loop, uint64_t peer,
                       enum peer_message_kind kind, enum relay_close_code code);
/* Sends PEER_MESSAGE_IDENTIFIED or PEER_MESSAGE_RESUMED. */
void peer_message_send_identified(struct relay_worker *w, struct loop *loop, uint64_t peer,
                                  enum peer_message_kind kind, const struct voice_state_key *key);
void peer_message_send_text(struct relay *r, struct loop *loop, uint64_t peer,
                            struct serialized_message *text, unsigned seq);
/* Send one message to many sockets: relay_broadcast_add_receiver for each socket, then
 * relay_broadcast_send_to_receivers. Called on the relay's thread; send nothing else in between. */
void relay_broadcast_add_receiver(struct relay_worker *w, struct loop *loop, uint64_t peer,
                                  struct serialized_message *text, unsigned seq);
void relay_broadcast_send_to_receivers(struct relay_worker *w, struct serialized_message *text);
struct broadcast_queue *relay_broadcast_queues_new(const struct relay *r);

/* --- peers.c, opcodes.c: WebSockets, on their loops ----------------------------------- */

struct voice_loop *voice_loop_new(struct relay *r, struct loop *loop);
void voice_loop_free(struct voice_loop *h);
void voice_loop_deliver_peer_message(struct voice_loop *h, const struct relay_peer_message *l);

void on_voice_socket_open(struct websocket *ws, void *arg); /* arg: struct voice_gateway_version */
void on_voice_socket_message(struct websocket *ws, enum ws_opcode opcode, struct str payload);
void on_voice_socket_closed(struct websocket *ws, int code);
void on_voice_socket_shutdown(struct websocket *ws);

/* Counts a new unauthenticated socket of an IP address. Returns false if it has too many. */
bool relay_count_unauthenticated_socket(struct relay *r, uint64_t address);
void relay_uncount_unauthenticated_socket(struct relay *r, uint64_t address);

/* --- participants.c, participant_messages.c: participants, on the relay's thread ------ */

/* RTP packets and bytes that a participant has sent in the current second. */
struct media_rate_window {
    int64_t since_ms;
    unsigned packets, bytes, foreign;
};

/* Number of requests of one kind in the current second. They are not counted in media_rate_window,
 * because any host can send requests with the SSRC or address of a participant. */
struct request_rate_window {
    int64_t since_ms;
    unsigned count;
};
/* Counts a request. Returns false if the requests of this second exceed the limit. */
static inline bool request_is_within_rate_limit(struct request_rate_window *w, int64_t now_ms,
                                                unsigned most)
{
    if (now_ms - w->since_ms >= 1000)
        *w = (struct request_rate_window){ .since_ms = now_ms };
    return w->count++ < most;
}

/* Detects replayed RTCP packets by the hashes of the last packets. RTCP has no sequence numbers. */
struct rtcp_replay_window {
    uint64_t seen[128]; /* hashes of the last encrypted packets */
    unsigned next;
};

/* Permissions and mute state of a participant, according to its last committed voice state. */
struct participant_permissions {
    bool can_speak, can_receive, can_send_video, has_priority;
};

/* Speaking bits (op 5): those that the client sent, and those that other participants received. */
struct participant_speaking_state {
    bool announced;    /* the other participants know the SSRC */
    unsigned speaking; /* bits that the client sent */
    unsigned sent;     /* bits that were last sent to the other participants */
    /* Time at which bits are sent that were delayed because they change too often. */
    struct deadline late;
};

/* Description of the video that the client sends, from its op 12. */
struct participant_camera {
    bool offers_video; /* the client has sent op 12 */
    uint32_t video_ssrc;
    unsigned layer_count;
    struct relay_video_layer layers[RELAY_LAYERS_MAX];
    struct str streams; /* the client's description: a JSON list */
};

enum {
    MEDIA_SSRCS = 1 + 2 * RELAY_LAYERS_MAX
}; /* number of SSRCs of a participant that carry media */

/* Keys, RTP streams and addresses of a participant. */
struct participant_media {
    uint32_t ssrc; /* SSRC of audio, which is the first SSRC of the participant's block */
    unsigned char key[ENCRYPTION_KEY_SIZE];
    /* Cipher of a UDP client; NULL for WebRTC, or if no protocol is selected yet. */
    struct media_cipher *cipher;
    /* Transport of a browser; NULL for UDP, or if no protocol is selected yet. */
    struct webrtc_transport *webrtc;
    /* SSRCs that a browser chose for its streams, in the order of its block; 0 if unused. */
    uint32_t announced[MEDIA_SSRCS];
    struct rtp_stream audio;
    /* RTP streams of the participant's video SSRCs; NULL before the first such stream. */
    struct rtp_stream *video;
    struct rtcp_replay_window *control; /* NULL before the first RTCP packet */
    bool has_found, has_address;
    union media_address found;   /* source address of IP discovery */
    union media_address address; /* destination of media */
    struct media_rate_window window, video_window;
};

struct participant_rate_limits {
    /* Number of op 5 messages about this participant that were sent in this second. */
    struct request_rate_window speaking;
    struct request_rate_window discovery;         /* IP discovery and pings */
    struct request_rate_window foreign_discovery; /* IP discovery from unknown addresses */
    struct request_rate_window rtcp_received;     /* RTCP requests to this participant */
    struct request_rate_window rtcp_sent;         /* RTCP requests from this participant */
    struct request_rate_window stun;              /* valid STUN requests */
    struct request_rate_window stun_received;     /* STUN requests, valid or not */
};

/* Messages sent to a participant: latest sequence number, and messages that RESUME repeats. */
struct participant_outbox {
    uint16_t seq;
    /* Ring buffer of stored messages; the newest one has the number seq. A NULL pointer stands for
     * a list of participants, which is created again when it is resent. */
    struct serialized_message **ring;
    unsigned ring_first, ring_count, ring_cap;
    size_t ring_bytes;
};

/* A participant of a room. Only the thread of its worker uses it. */
struct relay_participant {
    struct relay *relay;
    struct relay_worker *worker;
    struct relay_room *room;
    size_t index;                     /* index in room->seats */
    struct media_queue_sender sender; /* received media that waits */
    struct voice_state_key voice_state;
    snowflake server_id, channel_id;
    char session_id[RELAY_SESSION_MAX];
    unsigned char token[RELAY_TOKEN_SIZE];

    struct participant_permissions permissions;
    struct opt_int flags, platform; /* flags (op 18) and platform (op 20) that the client sent */
    struct participant_speaking_state speech;
    struct participant_rate_limits rate;
    struct participant_camera camera;
    struct codec_offer offer;
    bool described;        /* op 4 (session description) was sent to the client */
    unsigned dave_version; /* highest DAVE version that the client supports; 0 if it has no DAVE */
    bool in_group;         /* the participant is a member of the room's DAVE group */
    struct video_request *video_request; /* requested video (op 15), or NULL */

    struct participant_media media;
    struct media_quality quality; /* quality of incoming audio */
    int64_t active_ms;            /* when activity was last reported */

    struct loop *loop;
    uint64_t peer; /* number of the participant's socket; 0 while it is disconnected */
    int version;
    struct participant_outbox outbox;
    struct deadline resume_deadline;
};

struct relay_room {
    snowflake id;       /* channel id of a voice channel, or server id of a stream */
    snowflake guild_id; /* guild id as in the voice states of the room's participants */
    struct relay *relay;
    struct relay_worker *worker;
    struct media_queue_room share; /* share of the worker's time */
    enum video_codec codec;
    struct relay_participant **participants;
    size_t count, cap;
    /* DAVE group of the room; NULL if encryption is turned off, or on a stage channel. */
    struct dave_room *group;
    struct deadline group_deadline;
    bool is_counted_encrypted;
};

struct relay_participants *participants_new(struct relay_worker *w);
void participants_free(struct relay_participants *all);
/* Handles a message from a socket or a commit. The caller frees the message. */
void participants_handle_message(struct relay_participants *all, struct relay_message *n);
/* Returns the next of all participants, as map_next_value does. */
const struct relay_participant *get_next_participant(const struct relay_participants *all,
                                                     size_t *at);
uint64_t media_address_key(const union media_address *a);
struct relay_participant *find_participant_by_ssrc(struct relay_participants *all, uint32_t ssrc);
struct relay_participant *find_participant_by_address(struct relay_participants *all,
                                                      const union media_address *a);
/* Finds the browser that sent a valid STUN request from this address, or returns NULL. */
struct relay_participant *find_browser_by_address(struct relay_participants *all,
                                                  const union media_address *a);
/* Sets the address to which media is sent and from which media is expected. */
void participant_set_address(struct relay_participant *s, const union media_address *a);
/* Returns the op 5 bits that the other participants may see: 0 if the participant may not speak,
 * and no priority bit without the permission PRIORITY_SPEAKER. */
unsigned participant_visible_speaking_bits(const struct relay_participant *s);
/* Stores the speaking bits of the participant, and sends them to the other participants (op 5). */
void participant_set_speaking(struct relay_participant *s, unsigned speaking);
/* Returns whether the relay can send media to the participant: keys and address are known. */
bool participant_can_receive_media(const struct relay_participant *s);
/* Returns whether the participant's transport carries video. It does not in encryption modes that
 * use the RTP header as nonce, because only headers of audio packets are checked for repetition. */
bool participant_transport_carries_video(const struct relay_participant *s);
void participant_disconnect(struct relay_participant *s, enum relay_close_code code);
/* Sends a message to all other participants of the room. Takes over the caller's reference. */
void send_to_other_participants(const struct relay_participant *s, struct serialized_message *t);

/* --- clients.c: flags and platforms of clients ---------------------------------------- */

/* Sends the flags and platform (op 18, op 20) of a new participant to the others, and those of the
 * others to it. */
void exchange_client_flags(struct relay_participant *s);
/* Stores the client's flags, and sends them to the other participants if they changed. */
void participant_update_flags(struct relay_participant *s, struct opt_int flags);

/* --- participant_video.c: video in rooms, on the relay's thread ----------------------- */

/* Stores the codecs that a participant supports. This can change the codec of the room. */
void participant_set_codecs(struct relay_participant *s, const struct codec_offer *offer);
/* Chooses the room's video codec. If the codec changes, sends it to all participants that sent a
 * codec list, except to the participant `except`. */
void relay_room_choose_video_codec(struct relay_room *room, const struct relay_participant *except);
/* Handle op 12 (video that a client sends) and op 15 (video that a client requests). */
void participant_handle_video_offer(struct relay_participant *s, struct relay_message *n);
void participant_handle_video_request(struct relay_participant *s,
                                      const struct video_request *wants);
/* participant_may_send_video returns whether a video packet of s may be forwarded.
 * participant_receives_video returns whether `to` receives the video layer of `from` that has this
 * SSRC. For the audio SSRC of `from`, it returns whether `to` receives any video of `from`. */
bool participant_may_send_video(const struct relay_participant *s, const struct rtp_packet *p);
bool participant_receives_video(const struct relay_participant *to,
                                const struct relay_participant *from, uint32_t ssrc);

/* --- dave/rooms.c: end-to-end encryption of rooms, on the relay's thread --------------- */

/* State that all rooms share. */
struct dave_rooms *dave_rooms_new(struct relay_worker *w);
void dave_rooms_free(struct dave_rooms *d); /* accepts NULL */
/* Creates the DAVE group of a new room; `first` is the voice state of its first participant. */
void relay_room_begin_dave_encryption(struct relay_room *room,
                                      const struct relay_voice_state *first);
void relay_room_free_dave_encryption(struct relay_room *room);
/* If encryption is required, returns why the participant may not send and receive media.
 * RELAY_DAVE_REQUIRED means that its client does not support encryption, RELAY_RATE_LIMITED that
 * the room has as many members as encryption supports. Otherwise returns 0. */
enum relay_close_code participant_media_refusal_code(const struct relay_participant *s);
bool participant_media_is_refused(const struct relay_participant *s);
/* Adds the participant to the DAVE group if its media address is known. A participant that is
 * already a member leaves the group first. Returns the DAVE version for the session description,
 * which must be sent before participant_on_session_description_sent is called. */
unsigned participant_join_dave_group(struct relay_participant *s);
void participant_on_session_description_sent(struct relay_participant *s, unsigned version);
/* Adds a participant to the DAVE group if its media address became known after the session
 * description was sent. */
void participant_join_dave_group_after_description(struct relay_participant *s);
/* Adds a resumed participant to the DAVE group again, if its gateway version stores no messages. */
void participant_rejoin_dave_group(struct relay_participant *s);
/* Removes a participant from the group. */
void participant_leave_dave_group(struct relay_participant *s);
void participant_handle_dave_message(struct relay_participant *s, const struct relay_message *n);
/* Returns the version of DAVE that the participant uses. */
unsigned participant_dave_version(const struct relay_participant *s);

/* --- outbox.c: messages to a participant ---------------------------------------------- */

/* Sends a message; numbers and stores it if the gateway version requires it. The caller's reference
 * stays. participant_outbox_add_to_broadcast adds the participant to a broadcast instead. */
void participant_outbox_send_message(struct relay_participant *s, struct serialized_message *t);
void participant_outbox_send_and_unref_message(struct relay_participant *s,
                                               struct serialized_message *t);
void participant_outbox_add_to_broadcast(struct relay_participant *s, struct serialized_message *t);
void participant_outbox_send_resumed(struct relay_participant *s);
/* participant_outbox_can_replay_after returns whether all messages after sequence number seq_ack
 * are still stored. participant_outbox_replay_after sends these messages again. */
bool participant_outbox_can_replay_after(const struct relay_participant *s, int64_t seq_ack);
void participant_outbox_replay_after(struct relay_participant *s, int64_t seq_ack);
void participant_outbox_drop_acknowledged(struct relay_participant *s, int64_t seq_ack);
void participant_outbox_clear(struct relay_participant *s);

void participant_outbox_send_ready(struct relay_participant *s);
void participant_outbox_send_voice_version(struct relay_participant *s);
void participant_outbox_send_session_description(struct relay_participant *s,
                                                 unsigned dave_version);
/* Sends the list of the other participants (op 11). */
void participant_outbox_send_participant_list(struct relay_participant *s);

/* Writes one video layer: as IDENTIFY requested it, or as op 12 describes it (`offered`, or NULL).
 */
struct json_writer;
void write_video_layer_json(struct json_writer *j, const struct relay_participant *s,
                            unsigned layer, const struct offered_video_layer *offered);
/* Create messages about the participant `about`, to send to the other participants. */
struct serialized_message *create_speaking_message(const struct relay_participant *about);
struct serialized_message *create_video_message(const struct relay_participant *about);
struct serialized_message *create_client_disconnect_message(const struct relay_participant *about);
struct serialized_message *create_message_that_requests_all_video(void);
struct serialized_message *create_video_codec_message(enum video_codec codec);
struct serialized_message *create_client_connect_message(const struct relay_participant *about);

/* --- media.c and dispatch.c: RTP and RTCP ---------------------------------------------- */

void participant_free_streams(struct relay_participant *s);
/* Creates the state for handling datagrams on a worker. A worker has two of these: inner_work is
 * created with `outer` set to the first, and shares its batch of outgoing datagrams. For the first,
 * `outer` is NULL. */
struct media_packet_handler *media_packet_handler_new(struct relay_worker *w,
                                                      const struct media_packet_handler *outer);
void media_packet_handler_free(struct media_packet_handler *work); /* accepts NULL */
/* Answers a request datagram immediately, and queues a media datagram until it is its sender's
 * turn. Takes over d. */
void media_answer_or_queue_datagram(struct media_packet_handler *work, struct media_datagram *d);
/* Handles the next datagram of the media queue. Returns false if the queue is empty. */
bool media_handle_next_datagram(struct media_packet_handler *work);
/* Sends the queued outgoing datagrams, even if their batch is not full. */
void media_send_queued_datagrams(struct media_packet_handler *work);
/* Drops the queued media that the participant has sent. */
void participant_drop_queued_media(struct relay_participant *s);

/* --- media_socket.c: the UDP socket, on the receiver's thread ------------------------- */

/* Opens the UDP socket and stores its port in r->port. */
enum err media_socket_open(struct relay *r, struct loop *loop, struct media_socket **ret);
/* Starts to receive datagrams. Must be called when the workers can handle datagrams. */
void media_socket_start(struct media_socket *m);
void media_socket_close(struct media_socket *m); /* accepts NULL */
/* Returns how many datagrams the kernel dropped because the receive buffer was full. Thread-safe.
 */
uint64_t media_socket_count_overruns(const struct media_socket *m);
int media_socket_fd(const struct media_socket *m);

#endif
