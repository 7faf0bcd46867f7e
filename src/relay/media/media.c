/* media.c - handles voice datagrams: answers IP discovery and pings, forwards RTP and RTCP.
 *
 * The sender is found by SSRC; datagrams of browsers are handled by browser_media.c. Packets with
 * an unknown SSRC, and media that is not authentic, are dropped. An authentic packet is decrypted
 * once and encrypted for each receiver. */
#include "relay/media/media_socket.h"

#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/mem.h"
#include "net/address.h"
#include "relay/media/rtcp.h"
#include "relay/webrtc/webrtc.h"

enum {
    WINDOW_MS = 1000,
    WINDOW_PACKETS = 250, /* audio is 50 packets per second; some clients send shorter frames */
    WINDOW_BYTES = 128 * 1024,
    WINDOW_VIDEO_PACKETS = 4000, /* all layers of a camera or a screen */
    WINDOW_VIDEO_BYTES = 4 * 1024 * 1024,
    WINDOW_FOREIGN = 50, /* packets from unknown addresses that are decrypted */
    WINDOW_DISCOVERY = 20,
    WINDOW_RTCP_RECEIVED = 200, /* RTCP requests of all viewers of a participant */
    WINDOW_RTCP_SENT = 50,      /* RTCP requests of one viewer */
    ACTIVITY_INTERVAL_MS = 20 * 1000,
    CRYPTO_SAMPLE_INTERVAL = 64, /* one of this many packets is timed */
    MAX_RTP_HEADERS = 1 << 26,   /* with 20 ms frames, sequence and timestamp repeat together */
};

static bool is_same_address(const union media_address *a, const union media_address *b)
{
    struct ip_address x = address_from_sockaddr(a), y = address_from_sockaddr(b);

    return media_address_port(a) == media_address_port(b) &&
           memcmp(x.bytes, y.bytes, sizeof x.bytes) == 0;
}

/* --- rate limits ---------------------------------------------------------------------- */

static bool media_window_allows(struct media_rate_window *w, int64_t now_ms, unsigned packets,
                                unsigned bytes)
{
    if (now_ms - w->since_ms >= WINDOW_MS)
        *w = (struct media_rate_window){ .since_ms = now_ms };
    return w->packets < packets && w->bytes < bytes;
}

static bool video_is_within_limit(struct relay_participant *s, int64_t now_ms)
{
    return media_window_allows(&s->media.video_window, now_ms, WINDOW_VIDEO_PACKETS,
                               WINDOW_VIDEO_BYTES);
}

static void media_window_add(struct media_rate_window *w, size_t bytes)
{
    w->packets++;
    w->bytes += (unsigned)bytes;
}

static int64_t monotonic_ms(void)
{
    return clock_monotonic_ns() / 1000000;
}

bool media_is_within_limit(struct relay_participant *s, bool audio, int64_t now_ms)
{
    return audio ? media_window_allows(&s->media.window, now_ms, WINDOW_PACKETS, WINDOW_BYTES)
                 : video_is_within_limit(s, now_ms);
}

/* --- IP discovery and pings ----------------------------------------------------------- */

/* Requests count for the participant whose address sends them. Requests from an unknown address
 * count for the SSRC, separately from pings, so that no other host can use up the pongs of a
 * participant. */
static struct request_window *discovery_limit_of(struct packet_work *w, struct relay_participant *s,
                                                 const union media_address *from)
{
    struct relay_participant *asker = find_participant_by_address(w->relay->participants, from);

    return asker ? &asker->rate.discovery : &s->rate.foreign_discovery;
}

/* Answers IP discovery. Before a client has selected its protocol, only the client knows its SSRC,
 * so the source of the request is its address. After that every request is answered, but only
 * authentic packets change the address: media must not go to another host that uses the same
 * SSRC. */
static void answer_ip_discovery(struct packet_work *w, struct relay_participant *s,
                                const union media_address *from)
{
    char text[ADDRESS_TEXT_SIZE];
    struct ip_address a = address_from_sockaddr(from);
    struct str address_text = str_slice(text, address_format(&a, text));

    if (!request_is_within_limit(discovery_limit_of(w, s, from), monotonic_ms(), WINDOW_DISCOVERY))
        return;
    if (!s->media.cipher && !s->media.webrtc) {
        s->media.found = *from;
        s->media.has_found = true;
    }
    packet_write_discovery_reply(s->media.ssrc, address_text, media_address_port(from),
                                 media_socket_next_buffer(w->socket));
    media_socket_queue(w->socket, from, PACKET_DISCOVERY_SIZE);
}

static void answer_ping(struct packet_work *w, struct str ping, const union media_address *from)
{
    struct relay_participant *s = find_participant_by_address(w->relay->participants, from);

    if (!s || !request_is_within_limit(&s->rate.discovery, monotonic_ms(), WINDOW_DISCOVERY))
        return;
    packet_write_pong(ping, media_socket_next_buffer(w->socket));
    media_socket_queue(w->socket, from, PACKET_PING_SIZE);
}

/* --- crypto timing --------------------------------------------------------------------
 * Reading the clock costs a tenth of what it would measure, so one of SAMPLE packets is timed. */

static int64_t crypto_timer_start(const struct packet_work *w)
{
    return w->sample ? 0 : clock_monotonic_ns();
}

static void crypto_timer_stop(const struct packet_work *w, int64_t begin)
{
    if (begin)
        media_counter_add(&w->relay->count.crypto_ns,
                          (uint64_t)(clock_monotonic_ns() - begin) * CRYPTO_SAMPLE_INTERVAL);
}

static size_t encrypt_for_participant(struct packet_work *w, struct relay_participant *to,
                                      unsigned payload_type)
{
    unsigned char *out = media_socket_next_buffer(w->socket);
    int64_t begin = crypto_timer_start(w);
    size_t n = to->media.webrtc ? encrypt_for_browser(w, to, payload_type, out)
                                : media_cipher_encrypt(to->media.cipher, &w->plain, out);

    crypto_timer_stop(w, begin);
    return n;
}

static size_t encrypt_rtcp_for_participant(struct packet_work *w, struct relay_participant *to,
                                           struct str packet)
{
    unsigned char *out = media_socket_next_buffer(w->socket);

    return to->media.webrtc ? srtp_write_control(to->media.webrtc->srtp, packet, out)
                            : media_cipher_encrypt_rtcp(to->media.cipher, packet, out);
}

static bool decrypt_from_participant(struct packet_work *w, struct relay_participant *s,
                                     const struct rtp_packet *p)
{
    int64_t begin = crypto_timer_start(w);
    bool opened = media_cipher_decrypt(s->media.cipher, p, &w->plain);

    crypto_timer_stop(w, begin);
    return opened;
}

/* --- RTP ------------------------------------------------------------------------------ */

/* Updates the sender's packet loss and jitter, and the totals of all participants. */
static void record_audio_quality(struct relay_participant *s, const struct rtp_stream_position *a)
{
    struct relay *r = s->relay;
    int64_t before = s->quality.jitter_ns;
    int64_t more = quality_record_packet(&s->quality, &s->media.audio.highest, a->number,
                                         a->timestamp, clock_monotonic_ns());

    if (more > 0)
        media_counter_add(&r->count.missing, (uint64_t)more);
    else if (more < 0)
        media_counter_add(&r->count.late, 1);
    media_counter_add(&r->count.jitter_ns, (uint64_t)(s->quality.jitter_ns - before));
}

/* Returns the stream of an SSRC; NULL: no packet with a video SSRC of the block has arrived yet. */
static struct rtp_stream *stream_of_ssrc(struct relay_participant *s, uint32_t ssrc)
{
    if (ssrc == s->media.ssrc)
        return &s->media.audio;
    return s->media.video ? &s->media.video[ssrc % SSRCS_PER_PARTICIPANT] : NULL;
}

void participant_free_streams(struct relay_participant *s)
{
    rtp_stream_clear(&s->media.audio);
    for (unsigned i = 0; s->media.video && i < SSRCS_PER_PARTICIPANT; i++)
        rtp_stream_clear(&s->media.video[i]);
    mem_free(s->media.video);
    mem_free(s->media.control);
}

/* Writes the renumbered sequence and timestamp, which continue when a sender restarts: in the mode
 * with a header nonce no header may repeat. */
static void write_renumbered_header(struct packet_work *w, const struct rtp_stream_position *a)
{
    unsigned char *h = w->plain.header;

    h[2] = (unsigned char)(a->sequence >> 8);
    h[3] = (unsigned char)a->sequence;
    for (int i = 0; i < 4; i++)
        h[4 + i] = (unsigned char)(a->timestamp >> (24 - 8 * i));
}

void media_renumber_audio(struct packet_work *w, struct relay_participant *s,
                          const struct rtp_stream_position *a)
{
    record_audio_quality(s, a);
    write_renumbered_header(w, a);
}

/* Decrypts the packet. False: not authentic, or a replay. */
static bool authenticate_packet(struct packet_work *w, struct relay_participant *s,
                                const struct rtp_packet *p, bool *ret_newest)
{
    struct rtp_stream_position a;

    if (!rtp_stream_check_packet(stream_of_ssrc(s, p->ssrc), p, &a) ||
        !decrypt_from_participant(w, s, p))
        return false;
    *ret_newest = a.newest;
    if (p->ssrc == s->media.ssrc) {
        media_renumber_audio(w, s, &a);
    } else if (!s->media.video) {
        s->media.video = mem_new(SSRCS_PER_PARTICIPANT * sizeof *s->media.video);
    }
    rtp_stream_record_packet(stream_of_ssrc(s, p->ssrc), p, &a);
    return true;
}

static bool receives_audio(const struct relay_participant *to, const struct relay_participant *from)
{
    return to != from && to->permissions.can_receive && participant_is_reachable(to);
}

/* Whether the packet ends an end-to-end encrypted frame, which clients without DAVE cannot decode.
 * Such frames arrive until the senders have downgraded. About one of 65,536 plain frames looks the
 * same; its loss is not audible. */
static bool is_dave_frame(const struct packet_work *w, const struct relay_participant *from)
{
    static const unsigned char marker[] = { 0xfa, 0xfa };

    return from->room->group && from->dave_version && w->plain.n >= sizeof marker &&
           memcmp(w->plain.bytes + w->plain.n - sizeof marker, marker, sizeof marker) == 0;
}

/* Queues an encrypted packet. False: all nonces are used, so the participant was disconnected. SRTP
 * has no such limit: it refuses only a packet whose sequence number was used before. */
static bool send_or_disconnect(struct packet_work *w, struct relay_participant *to, size_t n)
{
    bool browser = to->media.webrtc;

    if (n)
        media_socket_queue(w->socket, &to->media.address, n);
    else if (!browser)
        participant_disconnect(to, RELAY_INVALID_SESSION); /* frees it */
    return n || browser;
}

/* Returns the payload type with which a receiver gets the packet: browsers choose their own
 * numbers. -1: the receiver does not know the codec. */
static int payload_type_for(const struct relay_participant *to,
                            const struct relay_participant *from, unsigned type)
{
    if (!to->media.webrtc && !from->media.webrtc)
        return (int)type;
    if (type == RTP_OPUS_PAYLOAD_TYPE)
        return to->media.webrtc ? to->offer.numbers.opus : RTP_OPUS_PAYLOAD_TYPE;
    return codec_numbers_translate(&from->offer.numbers, &to->offer.numbers, type);
}

/* Forwards the packet to the room. If `to` is removed (participant_disconnect), the last
 * participant gets index i, so i does not advance. */
static void forward_to_room(struct packet_work *w, const struct relay_participant *from,
                            uint32_t ssrc)
{
    const struct relay_room *room = from->room;
    unsigned type = w->plain.header[1] & 0x7f, marker = w->plain.header[1] & 0x80;
    bool dave = is_dave_frame(w, from);

    w->is_stripped = false;
    for (size_t i = 0; i < room->count;) {
        struct relay_participant *to = room->participants[i];
        bool decodes = !dave || to->dave_version;
        bool receives =
            decodes && (ssrc == from->media.ssrc ? receives_audio(to, from)
                                                 : participant_receives_video(to, from, ssrc));
        int translated = receives ? payload_type_for(to, from, type) : -1;

        if (translated < 0 || (w->padding_only && !to->media.webrtc)) {
            i++;
            continue;
        }
        w->plain.header[1] = (unsigned char)(marker | (unsigned)translated);
        if (send_or_disconnect(w, to, encrypt_for_participant(w, to, (unsigned)translated)))
            i++;
    }
}

/* Reports activity at most once per ACTIVITY_INTERVAL_MS; silence frames do not count. */
static void report_activity(const struct packet_work *w, struct relay_participant *s,
                            int64_t now_ms)
{
    if (rtp_payload_is_silence(&w->plain))
        return;
    if (s->active_ms && now_ms - s->active_ms < ACTIVITY_INTERVAL_MS)
        return;
    s->active_ms = now_ms;
    if (s->peer)
        peer_message_send(s->relay, s->loop, s->peer, PEER_MESSAGE_ACTIVE, 0, NULL);
}

void media_count_dropped(const struct packet_work *w)
{
    media_counter_add(&w->relay->count.dropped, 1);
}

/* Limits how many packets from unknown addresses are decrypted: the client's address may have
 * changed, or another host sends them. */
static bool may_decrypt(struct relay_participant *s, bool audio, const union media_address *from,
                        int64_t now_ms)
{
    struct media_rate_window *w = audio ? &s->media.window : &s->media.video_window;

    if (!media_is_within_limit(s, audio, now_ms))
        return false;
    if (s->media.has_address && is_same_address(&s->media.address, from))
        return true;
    return w->foreign++ < WINDOW_FOREIGN;
}

/* Updates the client's address from an authentic packet that is the newest of its stream. */
static void update_address(struct relay_participant *s, bool newest,
                           const union media_address *from)
{
    if (newest && !(s->media.has_address && is_same_address(&s->media.address, from)))
        participant_set_address(s, from);
}

/* Forwards audio. False: the packet may not be forwarded. */
static bool forward_audio(struct packet_work *w, struct relay_participant *s,
                          const struct rtp_packet *p, int64_t now_ms)
{
    if (p->type != RTP_OPUS_PAYLOAD_TYPE || !s->permissions.can_speak)
        return false;
    if (!s->speech.announced)
        participant_set_speaking(s, 1);
    forward_to_room(w, s, p->ssrc);
    report_activity(w, s, now_ms);
    return true;
}

static bool forward_video(struct packet_work *w, const struct relay_participant *s,
                          const struct rtp_packet *p)
{
    if (!participant_may_send_video(s, p))
        return false;
    media_socket_expect_video(w->socket);
    forward_to_room(w, s, p->ssrc);
    return true;
}

/* Whether a nonce was used by both sides or headers would soon repeat: the client must connect
 * again, with another key and other SSRCs. */
static bool must_renew_key(const struct relay_participant *s)
{
    return (s->media.cipher && media_cipher_nonce_was_reused(s->media.cipher)) ||
           rtp_stream_is_full(&s->media.audio) ||
           (s->media.audio.highest.begun &&
            rtp_count_sequences_used(&s->media.audio.highest) >= MAX_RTP_HEADERS);
}

void media_forward_rtp(struct packet_work *w, struct relay_participant *s,
                       const struct rtp_packet *p, size_t datagram_size, int64_t now_ms)
{
    bool audio = p->ssrc == s->media.ssrc;

    media_window_add(audio ? &s->media.window : &s->media.video_window, datagram_size);
    if (!(audio ? forward_audio(w, s, p, now_ms) : forward_video(w, s, p)))
        media_count_dropped(w);
    if (must_renew_key(s))
        participant_disconnect(s, RELAY_INVALID_SESSION);
}

static void handle_rtp(struct packet_work *w, struct relay_participant *s, struct str datagram,
                       const union media_address *from)
{
    int64_t now_ms = monotonic_ms();
    struct rtp_packet p;
    bool newest = false;

    if (!s->media.cipher || participant_must_not_have_media(s) || !rtp_parse(datagram, &p) ||
        !may_decrypt(s, p.ssrc == s->media.ssrc, from, now_ms) ||
        !authenticate_packet(w, s, &p, &newest)) {
        media_count_dropped(w);
        return;
    }
    update_address(s, newest, from);
    w->padding_only = false;
    media_forward_rtp(w, s, &p, datagram.n, now_ms);
}

/* --- RTCP ----------------------------------------------------------------------------- */

/* Forwards a sender report to the viewers of the sender's video. */
static void forward_sender_report(struct packet_work *w, const struct relay_participant *from,
                                  const struct rtcp_packet *part)
{
    const struct relay_room *room = from->room;

    for (size_t i = 0; from->permissions.can_send_video && i < room->count;) {
        struct relay_participant *to = room->participants[i];

        if (!participant_receives_video(to, from, part->sender) ||
            send_or_disconnect(w, to, encrypt_rtcp_for_participant(w, to, part->bytes)))
            i++;
    }
}

static void write_ssrc(struct packet_work *w, const struct rtcp_packet *part, size_t at,
                       uint32_t ssrc)
{
    unsigned char *out = w->control + (part->bytes.p - (const char *)w->control) + at;

    for (int i = 0; i < 4; i++)
        out[i] = (unsigned char)(ssrc >> (24 - 8 * i));
}

/* A browser knows its media only by its own SSRCs. False: it has not announced this one, or the
 * packet is about the numbers of a transport, which the relay itself answers to browsers. */
static bool rtcp_name_target(struct packet_work *w, const struct relay_participant *to,
                             const struct rtcp_packet *part)
{
    if (!to->media.webrtc)
        return true;
    uint32_t at = part->about - to->media.ssrc;
    uint32_t own = at < MEDIA_SSRCS && !part->is_transport_feedback ? to->media.announced[at] : 0;

    if (own)
        write_ssrc(w, part, part->about_at, own);
    return own;
}

/* The sender of a browser's packet is one of its own SSRCs, or any number if it sends no media. */
static void rtcp_name_sender(struct packet_work *w, const struct relay_participant *s,
                             struct rtcp_packet *part)
{
    if (!s->media.webrtc)
        return;
    int at = webrtc_find_announced(s, part->sender);

    part->announces = part->announces && at >= 0;
    part->sender = s->media.ssrc + (uint32_t)(at > 0 ? at : 0);
    write_ssrc(w, part, 4, part->sender);
}

/* Forwards a receiver report or a request (such as for a key frame) to the sender of that media. */
static void forward_feedback(struct packet_work *w, struct relay_participant *from,
                             const struct rtcp_packet *part)
{
    struct relay_participant *to = find_participant_by_ssrc(w->relay->participants, part->about);

    if (to && to != from && to->room == from->room && to->permissions.can_send_video &&
        participant_is_reachable(to) && participant_carries_video(to) &&
        rtcp_name_target(w, to, part) && participant_receives_video(from, to, to->media.ssrc) &&
        request_is_within_limit(&from->rate.rtcp_sent, monotonic_ms(), WINDOW_RTCP_SENT) &&
        request_is_within_limit(&to->rate.rtcp_received, monotonic_ms(), WINDOW_RTCP_RECEIVED))
        send_or_disconnect(w, to, encrypt_rtcp_for_participant(w, to, part->bytes));
}

static bool rtcp_is_replayed(const struct relay_participant *s, uint64_t hash)
{
    for (unsigned i = 0; s->media.control && i < COUNT_OF(s->media.control->seen); i++)
        if (s->media.control->seen[i] == hash)
            return true;
    return false;
}

static void rtcp_record_hash(struct relay_participant *s, uint64_t hash)
{
    if (!s->media.control)
        s->media.control = mem_new(sizeof *s->media.control);
    s->media.control->seen[s->media.control->next++ % COUNT_OF(s->media.control->seen)] = hash;
}

void media_forward_rtcp(struct packet_work *w, struct relay_participant *s, size_t n,
                        int64_t now_ms)
{
    struct str rest = str_slice((const char *)w->control, n);
    struct rtcp_packet part;

    for (int i = 0; i < RTCP_MAX_PARTS && rtcp_parse_next(&rest, &part); i++) {
        rtcp_name_sender(w, s, &part);
        if (part.sender / SSRCS_PER_PARTICIPANT != s->media.ssrc / SSRCS_PER_PARTICIPANT ||
            !video_is_within_limit(s, now_ms))
            continue;
        media_window_add(&s->media.video_window, 0); /* each part is forwarded as its own packet */
        if (part.announces)
            forward_sender_report(w, s, &part);
        else if (part.about)
            forward_feedback(w, s, &part);
    }
}

/* Handles RTCP. Its packets have no sequence numbers, so an old one cannot be distinguished from a
 * new one: they do not update the client's address, and their number is limited. */
static void handle_rtcp(struct packet_work *w, struct relay_participant *s, struct str datagram,
                        const union media_address *from)
{
    int64_t now_ms = monotonic_ms();
    uint64_t hash = hash_str(datagram);
    size_t n;

    if (!s->media.cipher || !may_decrypt(s, false, from, now_ms) || rtcp_is_replayed(s, hash) ||
        !media_cipher_decrypt_rtcp(s->media.cipher, datagram, w->control, &n)) {
        media_count_dropped(w);
        return;
    }
    s->media.video_window.bytes += (unsigned)datagram.n;
    rtcp_record_hash(s, hash);
    media_forward_rtcp(w, s, n, now_ms);
    if (must_renew_key(s))
        participant_disconnect(s, RELAY_INVALID_SESSION);
}

void handle_datagram(struct packet_work *w, struct str datagram, const union media_address *from)
{
    enum packet_kind kind = packet_classify(datagram);

    w->sample = (w->sample + 1) % CRYPTO_SAMPLE_INTERVAL;
    if (handle_browser_datagram(w, datagram, from) || kind == PACKET_IGNORED)
        return;
    if (kind == PACKET_IS_PING) {
        answer_ping(w, datagram, from);
        return;
    }
    struct relay_participant *s =
        find_participant_by_ssrc(w->relay->participants, packet_read_ssrc(kind, datagram));
    if (!s)
        media_count_dropped(w);
    else if (kind == PACKET_IS_DISCOVERY)
        answer_ip_discovery(w, s, from);
    else if (kind == PACKET_RTP)
        handle_rtp(w, s, datagram, from);
    else
        handle_rtcp(w, s, datagram, from);
}
