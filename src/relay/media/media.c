/* media.c - handles voice datagrams: answers IP discovery and pings, forwards RTP and RTCP.
 *
 * The sender is found by SSRC. Packets with an unknown SSRC, and media that is not authentic, are
 * dropped. An authentic packet is decrypted once and encrypted for each receiver. */
#include "relay/media/media_socket.h"

#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/mem.h"
#include "net/address.h"
#include "relay/media/rtcp.h"

enum {
    WINDOW_MS = 1000,
    WINDOW_PACKETS = 250, /* audio is 50 packets per second; some clients send shorter frames */
    WINDOW_BYTES = 128 * 1024,
    WINDOW_VIDEO_PACKETS = 4000, /* all layers of a camera or a screen */
    WINDOW_VIDEO_BYTES = 4 * 1024 * 1024,
    WINDOW_FOREIGN = 50, /* packets from unknown addresses that are decrypted */
    WINDOW_QUESTIONS = 20,
    WINDOW_WISHES = 200, /* RTCP requests of all viewers of a participant */
    WINDOW_ASKED = 50,   /* RTCP requests of one viewer */
    ACTIVE_MS = 20 * 1000,
    SAMPLE = 64,            /* one of this many packets is timed */
    WORN_HEADERS = 1 << 26, /* with 20 ms frames, sequence and timestamp repeat together */
};

static bool same_address(const union media_address *a, const union media_address *b)
{
    struct address x = address_from(a), y = address_from(b);

    return media_address_port(a) == media_address_port(b) &&
           memcmp(x.bytes, y.bytes, sizeof x.bytes) == 0;
}

/* --- rate limits ---------------------------------------------------------------------- */

static bool window_has(struct media_window *w, int64_t now_ms, unsigned packets, unsigned bytes)
{
    if (now_ms - w->since_ms >= WINDOW_MS)
        *w = (struct media_window){ .since_ms = now_ms };
    return w->packets < packets && w->bytes < bytes;
}

static bool audio_window_has(struct relay_seat *s, int64_t now_ms)
{
    return window_has(&s->media.window, now_ms, WINDOW_PACKETS, WINDOW_BYTES);
}

static bool video_window_has(struct relay_seat *s, int64_t now_ms)
{
    return window_has(&s->media.video_window, now_ms, WINDOW_VIDEO_PACKETS, WINDOW_VIDEO_BYTES);
}

static void window_count(struct media_window *w, size_t bytes)
{
    w->packets++;
    w->bytes += (unsigned)bytes;
}

static int64_t media_now_ms(void)
{
    return clock_mono() / 1000000;
}

/* --- IP discovery and pings ----------------------------------------------------------- */

/* Requests count for the participant whose address sends them. Requests from an unknown address
 * count for the SSRC, separately from pings, so that no other host can use up the pongs of a
 * participant. */
static struct question_window *questions_of(struct media_work *w, struct relay_seat *s,
                                            const union media_address *from)
{
    struct relay_seat *asker = seats_by_address(w->relay->seats, from);

    return asker ? &asker->rate.questions : &s->rate.foreign_questions;
}

/* Answers IP discovery. Before a client has selected its protocol, only the client knows its SSRC,
 * so the source of the request is its address. After that every request is answered, but only
 * authentic packets change the address: media must not go to another host that uses the same
 * SSRC. */
static void media_discover(struct media_work *w, struct relay_seat *s,
                           const union media_address *from)
{
    char text[ADDRESS_TEXT];
    struct address a = address_from(from);
    struct str shown = str_slice(text, address_write(&a, text));

    if (!questions_take(questions_of(w, s, from), media_now_ms(), WINDOW_QUESTIONS))
        return;
    if (!s->media.seal) {
        s->media.found = *from;
        s->media.has_found = true;
    }
    packet_write_address(s->media.ssrc, shown, media_address_port(from), media_room(w->socket));
    media_push(w->socket, from, PACKET_DISCOVERY);
}

static void media_ping(struct media_work *w, struct str ping, const union media_address *from)
{
    struct relay_seat *s = seats_by_address(w->relay->seats, from);

    if (!s || !questions_take(&s->rate.questions, media_now_ms(), WINDOW_QUESTIONS))
        return;
    packet_write_pong(ping, media_room(w->socket));
    media_push(w->socket, from, PACKET_PING);
}

/* --- crypto timing --------------------------------------------------------------------
 * Reading the clock costs a tenth of what it would measure, so one of SAMPLE packets is timed. */

static int64_t crypto_begin(const struct media_work *w)
{
    return w->sample ? 0 : clock_mono();
}

static void crypto_end(const struct media_work *w, int64_t begin)
{
    if (begin)
        media_tally(&w->relay->count.crypto_ns, (uint64_t)(clock_mono() - begin) * SAMPLE);
}

static size_t media_seal(struct media_work *w, struct relay_seat *to)
{
    unsigned char *out = media_room(w->socket);
    int64_t begin = crypto_begin(w);
    size_t n = seal_write(to->media.seal, &w->plain, out);

    crypto_end(w, begin);
    return n;
}

static bool media_unseal(struct media_work *w, struct relay_seat *s, const struct rtp_packet *p)
{
    int64_t begin = crypto_begin(w);
    bool opened = seal_open(s->media.seal, p, &w->plain);

    crypto_end(w, begin);
    return opened;
}

/* --- RTP ------------------------------------------------------------------------------ */

/* Updates the sender's packet loss and jitter, and the totals of all participants. */
static void media_note_quality(struct relay_seat *s, const struct rtp_admission *a)
{
    struct relay *r = s->relay;
    int64_t before = s->quality.jitter_ns;
    int64_t more =
        quality_take(&s->quality, &s->media.audio.highest, a->number, a->timestamp, clock_mono());

    if (more > 0)
        media_tally(&r->count.missing, (uint64_t)more);
    else if (more < 0)
        media_tally(&r->count.late, 1);
    media_tally(&r->count.jitter_ns, (uint64_t)(s->quality.jitter_ns - before));
}

/* Returns the stream of an SSRC; NULL: no packet with a video SSRC of the block has arrived yet. */
static struct rtp_stream *seat_stream(struct relay_seat *s, uint32_t ssrc)
{
    if (ssrc == s->media.ssrc)
        return &s->media.audio;
    return s->media.video ? &s->media.video[ssrc % SSRC_BLOCK] : NULL;
}

void seat_forget_streams(struct relay_seat *s)
{
    rtp_stream_clear(&s->media.audio);
    for (unsigned i = 0; s->media.video && i < SSRC_BLOCK; i++)
        rtp_stream_clear(&s->media.video[i]);
    mem_free(s->media.video);
    mem_free(s->media.control);
}

/* Writes the renumbered sequence and timestamp, which continue when a sender restarts: in the mode
 * with a header nonce no header may repeat. */
static void media_renumber(struct media_work *w, const struct rtp_admission *a)
{
    unsigned char *h = w->plain.header;

    h[2] = (unsigned char)(a->sequence >> 8);
    h[3] = (unsigned char)a->sequence;
    for (int i = 0; i < 4; i++)
        h[4 + i] = (unsigned char)(a->timestamp >> (24 - 8 * i));
}

/* Decrypts the packet. False: not authentic, or a replay. */
static bool media_authenticate(struct media_work *w, struct relay_seat *s,
                               const struct rtp_packet *p, bool *ret_newest)
{
    struct rtp_admission a;

    if (!rtp_stream_admits(seat_stream(s, p->ssrc), p, &a) || !media_unseal(w, s, p))
        return false;
    *ret_newest = a.newest;
    if (p->ssrc == s->media.ssrc) {
        media_note_quality(s, &a);
        media_renumber(w, &a);
    } else if (!s->media.video) {
        s->media.video = mem_new(SSRC_BLOCK * sizeof *s->media.video);
    }
    rtp_stream_take(seat_stream(s, p->ssrc), p, &a);
    return true;
}

static bool media_reaches(const struct relay_seat *to, const struct relay_seat *from)
{
    return to != from && to->may.hears && to->media.seal && to->media.has_address;
}

/* Queues an encrypted packet. False: all nonces are used, so the participant was disconnected. */
static bool media_send(struct media_work *w, struct relay_seat *to, size_t n)
{
    if (n)
        media_push(w->socket, &to->media.address, n);
    else
        seat_end(to, RELAY_NO_SESSION);
    return n;
}

/* Forwards the packet to the room. If `to` is removed (seat_end), the last participant gets index
 * i, so i does not advance. */
static void media_fan_out(struct media_work *w, const struct relay_seat *from, uint32_t ssrc)
{
    const struct relay_room *room = from->room;

    for (size_t i = 0; i < room->count;) {
        struct relay_seat *to = room->seats[i];
        bool reaches =
            ssrc == from->media.ssrc ? media_reaches(to, from) : seat_watches(to, from, ssrc);

        if (!reaches || media_send(w, to, media_seal(w, to)))
            i++;
    }
}

/* Reports activity at most once per ACTIVE_MS; silence frames do not count. */
static void media_note_active(const struct media_work *w, struct relay_seat *s, int64_t now_ms)
{
    if (rtp_is_silence(&w->plain))
        return;
    if (s->active_ms && now_ms - s->active_ms < ACTIVE_MS)
        return;
    s->active_ms = now_ms;
    if (s->peer)
        letter_send(s->relay, s->loop, s->peer, LETTER_ACTIVE, 0, NULL);
}

static void media_drop(const struct media_work *w)
{
    media_tally(&w->relay->count.dropped, 1);
}

/* Limits how many packets from unknown addresses are decrypted: the client's address may have
 * changed, or another host sends them. */
static bool media_may_look(struct relay_seat *s, bool audio, const union media_address *from,
                           int64_t now_ms)
{
    struct media_window *w = audio ? &s->media.window : &s->media.video_window;

    if (!(audio ? audio_window_has(s, now_ms) : video_window_has(s, now_ms)))
        return false;
    if (s->media.has_address && same_address(&s->media.address, from))
        return true;
    return w->foreign++ < WINDOW_FOREIGN;
}

/* Updates the client's address from an authentic packet that is the newest of its stream. */
static void media_follow(struct relay_seat *s, bool newest, const union media_address *from)
{
    if (newest && !(s->media.has_address && same_address(&s->media.address, from)))
        seat_bind(s, from);
}

/* Forwards audio. False: the packet may not be forwarded. */
static bool media_audio(struct media_work *w, struct relay_seat *s, const struct rtp_packet *p,
                        int64_t now_ms)
{
    if (p->type != RTP_OPUS || !s->may.speaks)
        return false;
    if (!s->speech.announced)
        seat_announce(s, 1);
    media_fan_out(w, s, p->ssrc);
    media_note_active(w, s, now_ms);
    return true;
}

static bool media_video(struct media_work *w, const struct relay_seat *s,
                        const struct rtp_packet *p)
{
    if (!seat_shows(s, p))
        return false;
    media_note_picture(w->socket);
    media_fan_out(w, s, p->ssrc);
    return true;
}

/* Whether a nonce was used by both sides or headers would soon repeat: the client must connect
 * again, with another key and other SSRCs. */
static bool seat_is_worn(const struct relay_seat *s)
{
    return seal_is_broken(s->media.seal) || rtp_stream_is_full(&s->media.audio) ||
           (s->media.audio.highest.begun && rtp_age(&s->media.audio.highest) >= WORN_HEADERS);
}

static void media_rtp(struct media_work *w, struct relay_seat *s, struct str datagram,
                      const union media_address *from)
{
    int64_t now_ms = media_now_ms();
    struct rtp_packet p;
    bool newest = false;

    if (!s->media.seal || !rtp_read(datagram, &p) ||
        !media_may_look(s, p.ssrc == s->media.ssrc, from, now_ms) ||
        !media_authenticate(w, s, &p, &newest)) {
        media_drop(w);
        return;
    }
    bool audio = p.ssrc == s->media.ssrc;
    window_count(audio ? &s->media.window : &s->media.video_window, datagram.n);
    media_follow(s, newest, from);
    if (!(audio ? media_audio(w, s, &p, now_ms) : media_video(w, s, &p)))
        media_drop(w);
    if (seat_is_worn(s))
        seat_end(s, RELAY_NO_SESSION);
}

/* --- RTCP ----------------------------------------------------------------------------- */

/* Forwards a sender report to the viewers of the sender's video. */
static void control_announce(struct media_work *w, const struct relay_seat *from,
                             const struct rtcp_part *part)
{
    const struct relay_room *room = from->room;

    for (size_t i = 0; from->may.films && i < room->count;) {
        struct relay_seat *to = room->seats[i];

        if (!seat_watches(to, from, part->sender) ||
            media_send(w, to,
                       seal_write_control(to->media.seal, part->bytes, media_room(w->socket))))
            i++;
    }
}

/* Forwards a receiver report or a request (such as for a key frame) to the sender of that media. */
static void control_answer(struct media_work *w, struct relay_seat *from,
                           const struct rtcp_part *part)
{
    struct relay_seat *to = seats_by_ssrc(w->relay->seats, part->about);

    if (to && to != from && to->room == from->room && to->may.films && to->media.seal &&
        to->media.has_address && !seal_uses_header(to->media.seal) &&
        seat_watches(from, to, to->media.ssrc) &&
        questions_take(&from->rate.asked, media_now_ms(), WINDOW_ASKED) &&
        questions_take(&to->rate.wishes, media_now_ms(), WINDOW_WISHES))
        media_send(w, to, seal_write_control(to->media.seal, part->bytes, media_room(w->socket)));
}

static bool control_was_here(const struct relay_seat *s, uint64_t hash)
{
    for (unsigned i = 0; s->media.control && i < COUNT_OF(s->media.control->seen); i++)
        if (s->media.control->seen[i] == hash)
            return true;
    return false;
}

static void control_note(struct relay_seat *s, uint64_t hash)
{
    if (!s->media.control)
        s->media.control = mem_new(sizeof *s->media.control);
    s->media.control->seen[s->media.control->next++ % COUNT_OF(s->media.control->seen)] = hash;
}

/* Handles RTCP. Its packets have no sequence numbers, so an old one cannot be told from a new one:
 * they do not update the client's address, and their number is limited. */
static void media_control(struct media_work *w, struct relay_seat *s, struct str datagram,
                          const union media_address *from)
{
    int64_t now_ms = media_now_ms();
    uint64_t hash = hash_str(datagram);
    struct rtcp_part part;
    size_t n;

    if (!s->media.seal || !media_may_look(s, false, from, now_ms) || control_was_here(s, hash) ||
        !seal_open_control(s->media.seal, datagram, w->control, &n)) {
        media_drop(w);
        return;
    }
    s->media.video_window.bytes += (unsigned)datagram.n;
    control_note(s, hash);
    struct str rest = str_slice((const char *)w->control, n);
    for (int i = 0; i < RTCP_MAX_PARTS && rtcp_next(&rest, &part); i++) {
        if (part.sender / SSRC_BLOCK != s->media.ssrc / SSRC_BLOCK || !video_window_has(s, now_ms))
            continue;
        window_count(&s->media.video_window, 0); /* each part is forwarded as its own packet */
        if (part.announces)
            control_announce(w, s, &part);
        else if (part.about)
            control_answer(w, s, &part);
    }
    if (seat_is_worn(s))
        seat_end(s, RELAY_NO_SESSION);
}

void media_take(struct media_work *w, struct str datagram, const union media_address *from)
{
    enum packet_kind kind = packet_kind(datagram);

    w->sample = (w->sample + 1) % SAMPLE;
    if (kind == PACKET_NONE)
        return;
    if (kind == PACKET_PINGS) {
        media_ping(w, datagram, from);
        return;
    }
    struct relay_seat *s = seats_by_ssrc(w->relay->seats, packet_ssrc(kind, datagram));
    if (!s)
        media_drop(w);
    else if (kind == PACKET_ASKS_ADDRESS)
        media_discover(w, s, from);
    else if (kind == PACKET_RTP)
        media_rtp(w, s, datagram, from);
    else
        media_control(w, s, datagram, from);
}
