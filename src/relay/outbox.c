/* outbox.c - messages to a participant: numbers them and stores them for RESUME. */
#include "relay/internal.h"

#include "base/mem.h"
#include "json/write.h"
#include "relay/webrtc/webrtc.h"

/* --- texts ---------------------------------------------------------------------------- */

struct serialized_message *serialized_message_new(enum voice_gateway_opcode op, struct str d)
{
    char head[24];
    size_t n = (size_t)snprintf(head, sizeof head, "{\"op\":%d,\"d\":", op);
    struct serialized_message *t = mem_new(sizeof *t + n + d.n);

    t->refs = 1;
    t->n = n + d.n;
    memcpy(t->bytes, head, n);
    memcpy(t->bytes + n, d.p, d.n);
    return t;
}

struct serialized_message *serialized_message_new_binary(enum dave_opcode op, struct str payload)
{
    struct serialized_message *t = mem_new(sizeof *t + 1 + payload.n);

    t->refs = 1;
    t->n = 1 + payload.n;
    t->binary = true;
    t->bytes[0] = (char)op;
    memcpy(t->bytes + 1, payload.p, payload.n);
    return t;
}

struct serialized_message *serialized_message_ref(struct serialized_message *t)
{
    atomic_fetch_add_explicit(&t->refs, 1, memory_order_relaxed);
    return t;
}

void serialized_message_unref(struct serialized_message *t)
{
    if (t && atomic_fetch_sub_explicit(&t->refs, 1, memory_order_acq_rel) == 1)
        mem_free(t);
}

void serialized_message_write(const struct serialized_message *t, unsigned seq, struct buf *out)
{
    if (t->binary && seq) {
        buf_add_char(out, (char)(seq >> 8));
        buf_add_char(out, (char)seq);
    }
    buf_add_str(out, str_slice(t->bytes, t->n));
    if (t->binary)
        return;
    if (seq)
        buf_printf(out, ",\"seq\":%u", seq);
    buf_add_char(out, '}');
}

struct serialized_message *serialized_message_from_buf(enum voice_gateway_opcode op, struct buf *d)
{
    struct serialized_message *t = serialized_message_new(op, buf_as_str(d));

    buf_clear(d);
    return t;
}

static struct json_writer begin_json_payload_of_message(struct buf *out)
{
    struct json_writer j = json_writer_to_buf(out);

    buf_init(out, SIZE_MAX);
    json_begin_object(&j);
    return j;
}

static struct serialized_message *create_clients_connect_message(
    struct relay_participant *const *participants, size_t count,
    const struct relay_participant *except)
{
    struct buf out;
    struct json_writer j = begin_json_payload_of_message(&out);

    json_write_name(&j, "user_ids");
    json_begin_array(&j);
    for (size_t i = 0; i < count; i++)
        if (participants[i] != except)
            json_write_id(&j, participants[i]->voice_state.user_id);
    json_end_array(&j);
    json_end_object(&j);
    return serialized_message_from_buf(VOICE_CLIENTS_CONNECT, &out);
}

enum { CLIENTS_PER_MESSAGE = 1000 }; /* participants per message: limits its size */

/* Creates op 11 with page number `list` of the room's participants, without participant s. */
static struct serialized_message *create_participants_page_message(
    const struct relay_participant *s, size_t list)
{
    const struct relay_room *room = s->room;
    size_t from = list * CLIENTS_PER_MESSAGE, left = from < room->count ? room->count - from : 0;

    return create_clients_connect_message(room->participants + (left ? from : 0),
                                          left < CLIENTS_PER_MESSAGE ? left : CLIENTS_PER_MESSAGE,
                                          s);
}

/* --- sequence numbers ----------------------------------------------------------------- */

static struct serialized_message **ring_slot(const struct relay_participant *s, unsigned i)
{
    return &s->outbox.ring[(s->outbox.ring_first + i) % s->outbox.ring_cap];
}

/* Returns the sequence number of stored message i. The number after 65,535 is 1, because clients
 * read 0 as "none". */
static uint16_t ring_sequence_number(const struct relay_participant *s, unsigned i)
{
    unsigned back = s->outbox.ring_count - 1 - i;

    return (uint16_t)((s->outbox.seq - 1 + UINT16_MAX - back) % UINT16_MAX + 1);
}

/* Removes the oldest message from the ring buffer. Frees the ring buffer when it is empty. */
static void drop_oldest_stored_message(struct relay_participant *s)
{
    struct serialized_message *first = *ring_slot(s, 0);

    s->outbox.ring_bytes -= first ? first->n : 0;
    serialized_message_unref(first);
    s->outbox.ring_first = (s->outbox.ring_first + 1) % s->outbox.ring_cap;
    if (--s->outbox.ring_count)
        return;
    mem_free(s->outbox.ring);
    s->outbox.ring = NULL;
    s->outbox.ring_first = s->outbox.ring_cap = 0;
}

void participant_outbox_clear(struct relay_participant *s)
{
    while (s->outbox.ring_count)
        drop_oldest_stored_message(s);
}

static void grow_message_ring(struct relay_participant *s)
{
    unsigned cap = s->outbox.ring_cap ? 2 * s->outbox.ring_cap : 4;
    struct serialized_message **larger = mem_new(cap * sizeof *larger);

    for (unsigned i = 0; i < s->outbox.ring_count; i++)
        larger[i] = *ring_slot(s, i);
    mem_free(s->outbox.ring);
    s->outbox.ring = larger;
    s->outbox.ring_first = 0;
    s->outbox.ring_cap = cap;
}

/* Stores a message for RESUME; t is NULL for a list of participants (op 11). */
static void append_to_message_ring(struct relay_participant *s, struct serialized_message *t)
{
    size_t n = t ? t->n : 0;

    while (s->outbox.ring_count == VOICE_REPLAY_MAX ||
           (s->outbox.ring_count && s->outbox.ring_bytes + n > VOICE_REPLAY_BYTES))
        drop_oldest_stored_message(s);
    s->outbox.ring_bytes += n;
    if (s->outbox.ring_count == s->outbox.ring_cap)
        grow_message_ring(s);
    *ring_slot(s, s->outbox.ring_count++) = t ? serialized_message_ref(t) : NULL;
}

static void send_message_to_socket(const struct relay_participant *s, struct serialized_message *t,
                                   unsigned seq)
{
    if (s->peer)
        peer_message_send_text(s->relay, s->loop, s->peer, t, seq);
}

/* Assigns the next sequence number to a message. Returns 0 for gateway versions without them. */
static unsigned assign_sequence_number(struct relay_participant *s,
                                       struct serialized_message *stored)
{
    if (s->version < VOICE_SEQUENCE_VERSION)
        return 0;
    s->outbox.seq = s->outbox.seq == UINT16_MAX ? 1 : (uint16_t)(s->outbox.seq + 1);
    append_to_message_ring(s, stored);
    return s->outbox.seq;
}

static void send_and_store_message(struct relay_participant *s, struct serialized_message *t,
                                   struct serialized_message *stored)
{
    send_message_to_socket(s, t, assign_sequence_number(s, stored));
}

void participant_outbox_send_message(struct relay_participant *s, struct serialized_message *t)
{
    send_and_store_message(s, t, t);
}

void participant_outbox_send_and_unref_message(struct relay_participant *s,
                                               struct serialized_message *t)
{
    participant_outbox_send_message(s, t);
    serialized_message_unref(t);
}

void participant_outbox_add_to_broadcast(struct relay_participant *s, struct serialized_message *t)
{
    unsigned seq = assign_sequence_number(s, t);

    if (s->peer)
        relay_broadcast_add_receiver(s->worker, s->loop, s->peer, t, seq);
}

void participant_outbox_send_resumed(struct relay_participant *s)
{
    struct serialized_message *t = serialized_message_new(VOICE_RESUMED, STR("null"));

    send_message_to_socket(s, t, 0);
    serialized_message_unref(t);
}

/* Returns the index of a stored message in the ring buffer, or -1 if the message is not stored. */
static int find_stored_message(const struct relay_participant *s, int64_t seq)
{
    for (unsigned i = 0; i < s->outbox.ring_count; i++)
        if (ring_sequence_number(s, i) == seq)
            return (int)i;
    return -1;
}

/* Finds the ring buffer index of the first message after sequence number seq_ack. Returns false if
 * this message is no longer stored. */
static bool find_first_message_after(const struct relay_participant *s, int64_t seq_ack,
                                     unsigned *ret)
{
    int last = find_stored_message(s, seq_ack);
    int64_t next = seq_ack <= 0 ? 1 : seq_ack % UINT16_MAX + 1;

    *ret = s->outbox.ring_count;
    if (s->version < VOICE_SEQUENCE_VERSION || (seq_ack <= 0 ? 0 : seq_ack) == s->outbox.seq)
        return true;
    *ret = (unsigned)(last + 1);
    return last >= 0 || (s->outbox.ring_count && ring_sequence_number(s, 0) == next);
}

bool participant_outbox_can_replay_after(const struct relay_participant *s, int64_t seq_ack)
{
    unsigned at;

    return find_first_message_after(s, seq_ack, &at);
}

void participant_outbox_replay_after(struct relay_participant *s, int64_t seq_ack)
{
    unsigned at;
    size_t lists = 0;

    find_first_message_after(s, seq_ack, &at);
    for (; at < s->outbox.ring_count; at++) {
        struct serialized_message *stored = *ring_slot(s, at);
        struct serialized_message *t =
            stored ? serialized_message_ref(stored) : create_participants_page_message(s, lists++);

        send_message_to_socket(s, t, ring_sequence_number(s, at));
        serialized_message_unref(t);
    }
}

void participant_outbox_drop_acknowledged(struct relay_participant *s, int64_t seq_ack)
{
    for (int count = find_stored_message(s, seq_ack) + 1; count > 0; count--)
        drop_oldest_stored_message(s);
}

/* --- messages ------------------------------------------------------------------------- */

static void send_payload_to_participant(struct relay_participant *to, enum voice_gateway_opcode op,
                                        struct buf *d)
{
    struct serialized_message *t = serialized_message_from_buf(op, d);

    participant_outbox_send_message(to, t);
    serialized_message_unref(t);
}

void write_video_layer_json(struct json_writer *j, const struct relay_participant *s,
                            unsigned layer, const struct offered_video_layer *offered)
{
    json_begin_object(j);
    json_write_name(j, "type");
    json_write_text(j, STR("video"));
    json_write_name(j, "rid");
    json_write_text(j, str_of(s->camera.layers[layer].rid));
    json_write_name(j, "quality");
    json_write_int(j, offered ? offered->quality : s->camera.layers[layer].quality);
    json_write_name(j, "ssrc");
    json_write_int(j, video_layer_ssrc(s->media.ssrc, layer));
    json_write_name(j, "rtx_ssrc");
    json_write_int(j, (int64_t)video_layer_ssrc(s->media.ssrc, layer) + 1);
    json_write_name(j, "active");
    json_write_bool(j, offered && offered->active);
    json_end_object(j);
}

void participant_outbox_send_ready(struct relay_participant *s)
{
    const struct relay *r = s->relay;
    struct buf out;
    struct json_writer j = begin_json_payload_of_message(&out);

    json_write_name(&j, "ssrc");
    json_write_int(&j, s->media.ssrc);
    json_write_name(&j, "ip");
    json_write_text(&j, str_of(r->options.address));
    json_write_name(&j, "port");
    json_write_int(&j, r->port);
    /* Repeat the heartbeat interval of HELLO, because the library discordgo reads it only here. */
    json_write_name(&j, "heartbeat_interval");
    json_write_int(&j, VOICE_HEARTBEAT_MS);
    json_write_name(&j, "modes");
    json_begin_array(&j);
    for (unsigned i = 0; encryption_mode_name(i); i++)
        if (relay_offers_encryption_mode(r, encryption_mode_find(str_of(encryption_mode_name(i)))))
            json_write_text(&j, str_of(encryption_mode_name(i)));
    json_end_array(&j);
    json_write_name(&j, "experiments");
    json_begin_array(&j);
    json_end_array(&j);
    json_write_name(&j, "streams");
    json_begin_array(&j);
    for (unsigned i = 0; i < s->camera.layer_count; i++)
        write_video_layer_json(&j, s, i, NULL);
    json_end_array(&j);
    json_end_object(&j);
    send_payload_to_participant(s, VOICE_READY, &out);
}

void participant_outbox_send_voice_version(struct relay_participant *s)
{
    struct serialized_message *t = serialized_message_new(
        VOICE_VERSION, STR("{\"voice\":\"guildhall\",\"rtc_worker\":\"guildhall\"}"));

    participant_outbox_send_message(s, t);
    serialized_message_unref(t);
}

static void write_encryption_key_json(struct json_writer *j, const struct relay_participant *s)
{
    json_write_name(j, "mode");
    json_write_text(j, str_of(media_cipher_mode_name(s->media.cipher)));
    json_write_name(j, "secret_key");
    json_begin_array(j);
    for (int i = 0; i < ENCRYPTION_KEY_SIZE; i++)
        json_write_int(j, s->media.key[i]);
    json_end_array(j);
}

static void write_sdp_json(struct json_writer *j, const struct relay_participant *s)
{
    struct buf sdp;

    buf_init(&sdp, SIZE_MAX);
    webrtc_write_sdp_answer(s->media.webrtc, &sdp);
    json_write_name(j, "sdp");
    json_write_text(j, buf_as_str(&sdp));
    buf_clear(&sdp);
}

void participant_outbox_send_session_description(struct relay_participant *s, unsigned dave_version)
{
    struct buf out;
    struct json_writer j = begin_json_payload_of_message(&out);

    if (s->media.webrtc)
        write_sdp_json(&j, s);
    else
        write_encryption_key_json(&j, s);
    json_write_name(&j, "audio_codec");
    json_write_text(&j, STR("opus"));
    json_write_name(&j, "video_codec");
    json_write_text(&j, str_of(video_codec_name(s->room->codec)));
    json_write_name(&j, "media_session_id");
    json_write_id(&j, s->media.ssrc);
    json_write_name(&j, "dave_protocol_version");
    json_write_int(&j, dave_version);
    json_end_object(&j);
    send_payload_to_participant(s, VOICE_SESSION_DESCRIPTION, &out);
}

/* Creates op 5 about a participant. The bits are 0 if the participant may not speak, but the SSRC
 * is sent, because receivers need it when the participant may speak later. */
struct serialized_message *create_speaking_message(const struct relay_participant *about)
{
    struct buf out;
    struct json_writer j = begin_json_payload_of_message(&out);

    json_write_name(&j, "speaking");
    json_write_int(&j, participant_visible_speaking_bits(about));
    json_write_name(&j, "ssrc");
    json_write_int(&j, about->media.ssrc);
    json_write_name(&j, "user_id");
    json_write_id(&j, about->voice_state.user_id);
    json_end_object(&j);
    return serialized_message_from_buf(VOICE_SPEAKING, &out);
}

struct serialized_message *create_video_message(const struct relay_participant *about)
{
    struct buf out;
    struct json_writer j = begin_json_payload_of_message(&out);

    json_write_name(&j, "user_id");
    json_write_id(&j, about->voice_state.user_id);
    json_write_name(&j, "audio_ssrc");
    json_write_int(&j, about->media.ssrc);
    json_write_name(&j, "video_ssrc");
    json_write_int(&j, about->camera.video_ssrc);
    json_write_name(&j, "streams");
    json_write_raw(&j, about->camera.streams);
    json_end_object(&j);
    return serialized_message_from_buf(VOICE_VIDEO, &out);
}

/* Creates op 15, which requests all layers of a sender's video, because the relay itself chooses
 * the layer for each viewer. */
struct serialized_message *create_message_that_requests_all_video(void)
{
    return serialized_message_new(VOICE_MEDIA_SINK_WANTS, STR("{\"any\":100}"));
}

struct serialized_message *create_video_codec_message(enum video_codec codec)
{
    struct buf out;
    struct json_writer j = begin_json_payload_of_message(&out);

    json_write_name(&j, "video_codec");
    json_write_text(&j, str_of(video_codec_name(codec)));
    json_end_object(&j);
    return serialized_message_from_buf(VOICE_SESSION_UPDATE, &out);
}

struct serialized_message *create_client_disconnect_message(const struct relay_participant *about)
{
    struct buf out;
    struct json_writer j = begin_json_payload_of_message(&out);

    json_write_name(&j, "user_id");
    json_write_id(&j, about->voice_state.user_id);
    json_end_object(&j);
    return serialized_message_from_buf(VOICE_CLIENT_DISCONNECT, &out);
}

struct serialized_message *create_client_connect_message(const struct relay_participant *about)
{
    return create_clients_connect_message(&about->room->participants[about->index], 1, NULL);
}

/* Sends the list of participants (op 11). The list is long and rarely repeated, so it is not stored
 * for RESUME, which creates it again from the current participants. */
void participant_outbox_send_participant_list(struct relay_participant *s)
{
    for (size_t list = 0; list * CLIENTS_PER_MESSAGE < s->room->count; list++) {
        struct serialized_message *t = create_participants_page_message(s, list);

        send_and_store_message(s, t, NULL);
        serialized_message_unref(t);
    }
}
