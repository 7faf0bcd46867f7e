/* outbox.c - messages to a participant: numbers them and stores them for RESUME. */
#include "relay/internal.h"

#include "base/mem.h"
#include "json/write.h"

/* --- texts ---------------------------------------------------------------------------- */

struct relay_text *relay_text_new(enum voice_op op, struct str d)
{
    char head[24];
    size_t n = (size_t)snprintf(head, sizeof head, "{\"op\":%d,\"d\":", op);
    struct relay_text *t = mem_new(sizeof *t + n + d.n);

    t->refs = 1;
    t->n = n + d.n;
    memcpy(t->bytes, head, n);
    memcpy(t->bytes + n, d.p, d.n);
    return t;
}

struct relay_text *relay_text_ref(struct relay_text *t)
{
    atomic_fetch_add_explicit(&t->refs, 1, memory_order_relaxed);
    return t;
}

void relay_text_unref(struct relay_text *t)
{
    if (t && atomic_fetch_sub_explicit(&t->refs, 1, memory_order_acq_rel) == 1)
        mem_free(t);
}

void relay_text_write(const struct relay_text *t, unsigned seq, struct buf *out)
{
    buf_add_str(out, str_slice(t->bytes, t->n));
    if (seq)
        buf_printf(out, ",\"seq\":%u", seq);
    buf_add_char(out, '}');
}

struct relay_text *relay_text_finish(enum voice_op op, struct buf *d)
{
    struct relay_text *t = relay_text_new(op, buf_str(d));

    buf_clear(d);
    return t;
}

static struct json payload_begin(struct buf *out)
{
    struct json j = json_to(out);

    buf_init(out, SIZE_MAX);
    json_object(&j);
    return j;
}

static struct relay_text *text_clients(struct relay_seat *const *seats, size_t count,
                                       const struct relay_seat *except)
{
    struct buf out;
    struct json j = payload_begin(&out);

    json_name(&j, "user_ids");
    json_array(&j);
    for (size_t i = 0; i < count; i++)
        if (seats[i] != except)
            json_id(&j, seats[i]->place.user_id);
    json_array_end(&j);
    json_object_end(&j);
    return relay_text_finish(VOICE_CLIENTS, &out);
}

enum { CLIENTS_AT_ONCE = 1000 }; /* participants per message: limits its size */

/* Creates op 11 for the page number `list` of the room's participants, without s. */
static struct relay_text *text_present(const struct relay_seat *s, size_t list)
{
    const struct relay_room *room = s->room;
    size_t from = list * CLIENTS_AT_ONCE, left = from < room->count ? room->count - from : 0;

    return text_clients(room->seats + (left ? from : 0),
                        left < CLIENTS_AT_ONCE ? left : CLIENTS_AT_ONCE, s);
}

/* --- sequence numbers ----------------------------------------------------------------- */

static struct relay_text **outbox_at(const struct relay_seat *s, unsigned i)
{
    return &s->outbox.kept[(s->outbox.kept_first + i) % s->outbox.kept_cap];
}

/* Returns the sequence number of the stored message i. Clients read 0 as "none", so 65,535 is
 * followed by 1. */
static uint16_t outbox_number(const struct relay_seat *s, unsigned i)
{
    unsigned back = s->outbox.kept_count - 1 - i;

    return (uint16_t)((s->outbox.seq - 1 + UINT16_MAX - back) % UINT16_MAX + 1);
}

/* Removes the oldest stored message; frees the ring when it becomes empty. */
static void outbox_drop_first(struct relay_seat *s)
{
    relay_text_unref(*outbox_at(s, 0));
    s->outbox.kept_first = (s->outbox.kept_first + 1) % s->outbox.kept_cap;
    if (--s->outbox.kept_count)
        return;
    mem_free(s->outbox.kept);
    s->outbox.kept = NULL;
    s->outbox.kept_first = s->outbox.kept_cap = 0;
}

void outbox_clear(struct relay_seat *s)
{
    while (s->outbox.kept_count)
        outbox_drop_first(s);
}

static void outbox_grow(struct relay_seat *s)
{
    unsigned cap = s->outbox.kept_cap ? 2 * s->outbox.kept_cap : 4;
    struct relay_text **larger = mem_new(cap * sizeof *larger);

    for (unsigned i = 0; i < s->outbox.kept_count; i++)
        larger[i] = *outbox_at(s, i);
    mem_free(s->outbox.kept);
    s->outbox.kept = larger;
    s->outbox.kept_first = 0;
    s->outbox.kept_cap = cap;
}

/* Stores a message for RESUME; t NULL: a list of participants. */
static void outbox_keep(struct relay_seat *s, struct relay_text *t)
{
    if (s->outbox.kept_count == VOICE_KEPT)
        outbox_drop_first(s);
    if (s->outbox.kept_count == s->outbox.kept_cap)
        outbox_grow(s);
    *outbox_at(s, s->outbox.kept_count++) = t ? relay_text_ref(t) : NULL;
}

static void outbox_post(const struct relay_seat *s, struct relay_text *t, unsigned seq)
{
    if (s->peer)
        letter_send_text(s->relay, s->loop, s->peer, t, seq);
}

/* Assigns the next sequence number; returns 0 for versions without numbers. */
static unsigned outbox_count(struct relay_seat *s, struct relay_text *kept)
{
    if (s->version < VOICE_NUMBERED)
        return 0;
    s->outbox.seq = s->outbox.seq == UINT16_MAX ? 1 : (uint16_t)(s->outbox.seq + 1);
    outbox_keep(s, kept);
    return s->outbox.seq;
}

static void outbox_send_as(struct relay_seat *s, struct relay_text *t, struct relay_text *kept)
{
    outbox_post(s, t, outbox_count(s, kept));
}

void outbox_send(struct relay_seat *s, struct relay_text *t)
{
    outbox_send_as(s, t, t);
}

void outbox_broadcast(struct relay_seat *s, struct relay_text *t)
{
    unsigned seq = outbox_count(s, t);

    if (s->peer)
        broadcast_add(s->relay, s->loop, s->peer, t, seq);
}

void outbox_resumed(struct relay_seat *s)
{
    struct relay_text *t = relay_text_new(VOICE_RESUMED, STR("null"));

    outbox_post(s, t, 0);
    relay_text_unref(t);
}

/* Returns the index of a stored message; -1: not stored. */
static int outbox_find(const struct relay_seat *s, int64_t seq)
{
    for (unsigned i = 0; i < s->outbox.kept_count; i++)
        if (outbox_number(s, i) == seq)
            return (int)i;
    return -1;
}

/* Returns the index of the first message after seq_ack; false: it is no longer stored. */
static bool outbox_after(const struct relay_seat *s, int64_t seq_ack, unsigned *ret)
{
    int last = outbox_find(s, seq_ack);
    int64_t next = seq_ack <= 0 ? 1 : seq_ack % UINT16_MAX + 1;

    *ret = s->outbox.kept_count;
    if (s->version < VOICE_NUMBERED || (seq_ack <= 0 ? 0 : seq_ack) == s->outbox.seq)
        return true;
    *ret = (unsigned)(last + 1);
    return last >= 0 || (s->outbox.kept_count && outbox_number(s, 0) == next);
}

bool outbox_holds(const struct relay_seat *s, int64_t seq_ack)
{
    unsigned at;

    return outbox_after(s, seq_ack, &at);
}

void outbox_replay(struct relay_seat *s, int64_t seq_ack)
{
    unsigned at;
    size_t lists = 0;

    outbox_after(s, seq_ack, &at);
    for (; at < s->outbox.kept_count; at++) {
        struct relay_text *kept = *outbox_at(s, at);
        struct relay_text *t = kept ? relay_text_ref(kept) : text_present(s, lists++);

        outbox_post(s, t, outbox_number(s, at));
        relay_text_unref(t);
    }
}

void outbox_trim(struct relay_seat *s, int64_t seq_ack)
{
    for (int count = outbox_find(s, seq_ack) + 1; count > 0; count--)
        outbox_drop_first(s);
}

/* --- messages ------------------------------------------------------------------------- */

static void outbox_finish(struct relay_seat *to, enum voice_op op, struct buf *d)
{
    struct relay_text *t = relay_text_finish(op, d);

    outbox_send(to, t);
    relay_text_unref(t);
}

/* Writes one video layer of READY, as IDENTIFY requested it. */
static void write_stream(struct json *j, const struct relay_seat *s, unsigned layer)
{
    json_object(j);
    json_name(j, "type");
    json_text(j, STR("video"));
    json_name(j, "rid");
    json_text(j, str_of(s->camera.layers[layer].rid));
    json_name(j, "quality");
    json_int(j, s->camera.layers[layer].quality);
    json_name(j, "ssrc");
    json_int(j, video_ssrc(s->media.ssrc, layer));
    json_name(j, "rtx_ssrc");
    json_int(j, (int64_t)video_ssrc(s->media.ssrc, layer) + 1);
    json_name(j, "active");
    json_bool(j, false);
    json_object_end(j);
}

void outbox_ready(struct relay_seat *s)
{
    const struct relay *r = s->relay;
    struct buf out;
    struct json j = payload_begin(&out);

    json_name(&j, "ssrc");
    json_int(&j, s->media.ssrc);
    json_name(&j, "ip");
    json_text(&j, str_of(r->options.address));
    json_name(&j, "port");
    json_int(&j, r->port);
    json_name(&j, "heartbeat_interval"); /* as in HELLO: discordgo reads it only here */
    json_int(&j, VOICE_HEARTBEAT_MS);
    json_name(&j, "modes");
    json_array(&j);
    for (unsigned i = 0; seal_mode_name(i); i++)
        if (relay_offers_mode(r, seal_mode_find(str_of(seal_mode_name(i)))))
            json_text(&j, str_of(seal_mode_name(i)));
    json_array_end(&j);
    json_name(&j, "experiments");
    json_array(&j);
    json_array_end(&j);
    json_name(&j, "streams");
    json_array(&j);
    for (unsigned i = 0; i < s->camera.layer_count; i++)
        write_stream(&j, s, i);
    json_array_end(&j);
    json_object_end(&j);
    outbox_finish(s, VOICE_READY, &out);
}

void outbox_version(struct relay_seat *s)
{
    struct relay_text *t = relay_text_new(
        VOICE_VERSION, STR("{\"voice\":\"guildhall\",\"rtc_worker\":\"guildhall\"}"));

    outbox_send(s, t);
    relay_text_unref(t);
}

/* dave_protocol_version is 0, because end-to-end encryption (DAVE) is not negotiated. */
void outbox_description(struct relay_seat *s)
{
    struct buf out;
    struct json j = payload_begin(&out);

    json_name(&j, "mode");
    json_text(&j, str_of(seal_name(s->media.seal)));
    json_name(&j, "secret_key");
    json_array(&j);
    for (int i = 0; i < SEAL_KEY; i++)
        json_int(&j, s->media.key[i]);
    json_array_end(&j);
    json_name(&j, "audio_codec");
    json_text(&j, STR("opus"));
    json_name(&j, "video_codec");
    json_text(&j, str_of(video_codec_name(s->room->codec)));
    json_name(&j, "media_session_id");
    json_id(&j, s->media.ssrc);
    json_name(&j, "dave_protocol_version");
    json_int(&j, 0);
    json_object_end(&j);
    outbox_finish(s, VOICE_DESCRIPTION, &out);
}

/* Without the permission to speak the bits are 0; the SSRC is sent anyway, for later. */
struct relay_text *text_speaking(const struct relay_seat *about)
{
    struct buf out;
    struct json j = payload_begin(&out);

    json_name(&j, "speaking");
    json_int(&j, seat_speaking(about));
    json_name(&j, "ssrc");
    json_int(&j, about->media.ssrc);
    json_name(&j, "user_id");
    json_id(&j, about->place.user_id);
    json_object_end(&j);
    return relay_text_finish(VOICE_SPEAKING, &out);
}

struct relay_text *text_video(const struct relay_seat *about)
{
    struct buf out;
    struct json j = payload_begin(&out);

    json_name(&j, "user_id");
    json_id(&j, about->place.user_id);
    json_name(&j, "audio_ssrc");
    json_int(&j, about->media.ssrc);
    json_name(&j, "video_ssrc");
    json_int(&j, about->camera.video_ssrc);
    json_name(&j, "streams");
    json_raw(&j, about->camera.streams);
    json_object_end(&j);
    return relay_text_finish(VOICE_VIDEO, &out);
}

/* Asks a sender for all layers; the relay chooses which viewer gets which. */
struct relay_text *text_wanted(void)
{
    return relay_text_new(VOICE_WANTS, STR("{\"any\":100}"));
}

struct relay_text *text_codec(enum video_codec codec)
{
    struct buf out;
    struct json j = payload_begin(&out);

    json_name(&j, "video_codec");
    json_text(&j, str_of(video_codec_name(codec)));
    json_object_end(&j);
    return relay_text_finish(VOICE_SESSION_UPDATE, &out);
}

struct relay_text *text_gone(const struct relay_seat *about)
{
    struct buf out;
    struct json j = payload_begin(&out);

    json_name(&j, "user_id");
    json_id(&j, about->place.user_id);
    json_object_end(&j);
    return relay_text_finish(VOICE_CLIENT_GONE, &out);
}

struct relay_text *text_client(const struct relay_seat *about)
{
    return text_clients(&about->room->seats[about->index], 1, NULL);
}

/* Lists are long and only needed for a RESUME before the client has acknowledged them, so they are
 * not stored but written again with the current participants. */
void outbox_clients(struct relay_seat *s)
{
    for (size_t list = 0; list * CLIENTS_AT_ONCE < s->room->count; list++) {
        struct relay_text *t = text_present(s, list);

        outbox_send_as(s, t, NULL);
        relay_text_unref(t);
    }
}
