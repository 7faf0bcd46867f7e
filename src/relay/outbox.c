/* outbox.c - what is written to a seat: numbered, and kept for when its client comes back. */
#include "relay/internal.h"

#include "base/mem.h"
#include "json/write.h"

/* --- numbers -------------------------------------------------------------------------- */

static void outbox_drop_first(struct relay_seat *s)
{
    struct kept_message *m = s->kept;

    s->kept = m->next;
    if (!s->kept)
        s->kept_end = &s->kept;
    s->kept_count--;
    mem_free(m);
}

void outbox_clear(struct relay_seat *s)
{
    while (s->kept)
        outbox_drop_first(s);
}

static void outbox_keep(struct relay_seat *s, struct str text)
{
    struct kept_message *m = mem_new(sizeof *m + text.n);

    m->seq = s->seq;
    m->n = text.n;
    memcpy(m->text, text.p, text.n);
    *s->kept_end = m;
    s->kept_end = &m->next;
    if (++s->kept_count > VOICE_KEPT)
        outbox_drop_first(s);
}

static void outbox_post(const struct relay_seat *s, struct str text)
{
    if (s->peer)
        letter_send(s->relay, s->loop, s->peer, LETTER_TEXT, 0, NULL, text);
}

/* Clients take 0 for none, so numbers go from 65,535 to 1. Resumed has none. */
void outbox_send(struct relay_seat *s, enum voice_op op, struct str d)
{
    bool numbered = s->version >= VOICE_NUMBERED && op != VOICE_RESUMED;
    struct buf out;

    buf_init(&out, SIZE_MAX);
    buf_printf(&out, "{\"op\":%d,\"d\":", op);
    buf_add_str(&out, d);
    if (numbered) {
        s->seq = s->seq == UINT16_MAX ? 1 : (uint16_t)(s->seq + 1);
        buf_printf(&out, ",\"seq\":%u", s->seq);
    }
    buf_add_char(&out, '}');
    if (numbered)
        outbox_keep(s, buf_str(&out));
    outbox_post(s, buf_str(&out));
    buf_clear(&out);
}

static struct kept_message *outbox_find(const struct relay_seat *s, int64_t seq)
{
    struct kept_message *m = s->kept;

    while (m && m->seq != seq)
        m = m->next;
    return m;
}

/* The first message after that number; false: it is not there any more. */
static bool outbox_after(const struct relay_seat *s, int64_t seq_ack,
                         const struct kept_message **ret)
{
    const struct kept_message *last = outbox_find(s, seq_ack);
    int64_t next = seq_ack <= 0 ? 1 : seq_ack % UINT16_MAX + 1;

    *ret = NULL;
    if (s->version < VOICE_NUMBERED || (seq_ack <= 0 ? 0 : seq_ack) == s->seq)
        return true;
    *ret = last ? last->next : s->kept;
    return last || (s->kept && s->kept->seq == next);
}

bool outbox_holds(const struct relay_seat *s, int64_t seq_ack)
{
    const struct kept_message *m;

    return outbox_after(s, seq_ack, &m);
}

void outbox_replay(struct relay_seat *s, int64_t seq_ack)
{
    const struct kept_message *m;

    outbox_after(s, seq_ack, &m);
    for (; m; m = m->next)
        outbox_post(s, str_slice(m->text, m->n));
}

void outbox_trim(struct relay_seat *s, int64_t seq_ack)
{
    if (!outbox_find(s, seq_ack))
        return;
    while (s->kept->seq != seq_ack)
        outbox_drop_first(s);
    outbox_drop_first(s);
}

/* --- messages ------------------------------------------------------------------------- */

static void outbox_finish(struct relay_seat *to, enum voice_op op, struct buf *d)
{
    outbox_send(to, op, buf_str(d));
    buf_clear(d);
}

/* One layer of video, for who asked for any. */
static void write_stream(struct json *j, const struct relay_seat *s)
{
    json_object(j);
    json_name(j, "type");
    json_text(j, STR("video"));
    json_name(j, "rid");
    json_text(j, STR("100"));
    json_name(j, "quality");
    json_int(j, 100);
    json_name(j, "ssrc");
    json_int(j, (int64_t)s->ssrc + 1);
    json_name(j, "rtx_ssrc");
    json_int(j, (int64_t)s->ssrc + 2);
    json_name(j, "active");
    json_bool(j, false);
    json_object_end(j);
}

void outbox_ready(struct relay_seat *s)
{
    const struct relay *r = s->relay;
    struct buf out;
    struct json j = json_to(&out);

    buf_init(&out, SIZE_MAX);
    json_object(&j);
    json_name(&j, "ssrc");
    json_int(&j, s->ssrc);
    json_name(&j, "ip");
    json_text(&j, str_of(r->options.address));
    json_name(&j, "port");
    json_int(&j, r->port);
    json_name(&j, "modes");
    json_array(&j);
    for (unsigned i = 0; seal_mode_name(i); i++)
        json_text(&j, str_of(seal_mode_name(i)));
    json_array_end(&j);
    json_name(&j, "experiments");
    json_array(&j);
    json_array_end(&j);
    json_name(&j, "streams");
    json_array(&j);
    if (s->with_video)
        write_stream(&j, s);
    json_array_end(&j);
    json_object_end(&j);
    outbox_finish(s, VOICE_READY, &out);
}

/* End-to-end encryption is not negotiated: version 0. */
void outbox_description(struct relay_seat *s)
{
    struct buf out;
    struct json j = json_to(&out);

    buf_init(&out, SIZE_MAX);
    json_object(&j);
    json_name(&j, "mode");
    json_text(&j, str_of(seal_name(s->seal)));
    json_name(&j, "secret_key");
    json_array(&j);
    for (int i = 0; i < SEAL_KEY; i++)
        json_int(&j, s->key[i]);
    json_array_end(&j);
    json_name(&j, "audio_codec");
    json_text(&j, STR("opus"));
    json_name(&j, "video_codec");
    json_text(&j, STR("H264"));
    json_name(&j, "media_session_id");
    json_id(&j, s->ssrc);
    json_name(&j, "dave_protocol_version");
    json_int(&j, 0);
    json_object_end(&j);
    outbox_finish(s, VOICE_DESCRIPTION, &out);
}

/* Who may not speak does not light up, but its SSRC is known when it may again. */
void outbox_speaking(struct relay_seat *to, const struct relay_seat *about)
{
    struct buf out;
    struct json j = json_to(&out);

    buf_init(&out, SIZE_MAX);
    json_object(&j);
    json_name(&j, "speaking");
    json_int(&j, about->speaks ? about->speaking : 0);
    json_name(&j, "ssrc");
    json_int(&j, about->ssrc);
    json_name(&j, "user_id");
    json_id(&j, about->place.user_id);
    json_object_end(&j);
    outbox_finish(to, VOICE_SPEAKING, &out);
}

void outbox_video(struct relay_seat *to, const struct relay_seat *about)
{
    struct buf out;
    struct json j = json_to(&out);

    buf_init(&out, SIZE_MAX);
    json_object(&j);
    json_name(&j, "user_id");
    json_id(&j, about->place.user_id);
    json_name(&j, "audio_ssrc");
    json_int(&j, about->ssrc);
    json_name(&j, "video_ssrc");
    json_int(&j, about->video_ssrc);
    json_name(&j, "streams");
    json_raw(&j, about->streams);
    json_object_end(&j);
    outbox_finish(to, VOICE_VIDEO, &out);
}

void outbox_gone(struct relay_seat *to, const struct relay_seat *about)
{
    struct buf out;
    struct json j = json_to(&out);

    buf_init(&out, SIZE_MAX);
    json_object(&j);
    json_name(&j, "user_id");
    json_id(&j, about->place.user_id);
    json_object_end(&j);
    outbox_finish(to, VOICE_CLIENT_GONE, &out);
}

void outbox_clients(struct relay_seat *to, const struct relay_seat *about)
{
    const struct relay_room *room = to->room;
    struct buf out;
    struct json j = json_to(&out);

    buf_init(&out, SIZE_MAX);
    json_object(&j);
    json_name(&j, "user_ids");
    json_array(&j);
    if (about)
        json_id(&j, about->place.user_id);
    for (size_t i = 0; !about && i < room->count; i++)
        if (room->seats[i] != to)
            json_id(&j, room->seats[i]->place.user_id);
    json_array_end(&j);
    json_object_end(&j);
    outbox_finish(to, VOICE_CLIENTS, &out);
}
