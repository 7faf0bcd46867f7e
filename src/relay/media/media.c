/* media.c - handles voice datagrams: answers IP discovery and pings, forwards RTP and RTCP.
 *
 * The sender is found by SSRC; datagrams of browsers are handled by browser_media.c. Packets with
 * an unknown SSRC, and media that is not authentic, are dropped. An authentic packet is decrypted
 * once and encrypted for each receiver. */
#include "relay/media/media.h"

#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/mem.h"
#include "net/address.h"
#include "relay/media/media_sender.h"
#include "relay/media/network_order.h"
#include "relay/media/rtcp.h"
#include "relay/participants.h"
#include "relay/webrtc/webrtc.h"

enum {
    WINDOW_MS = 1000,
    WINDOW_PACKETS = 250, /* 50 per second are normal; some clients send shorter frames */
    WINDOW_BYTES = 128 * 1024,
    WINDOW_VIDEO_PACKETS = 4000, /* packets of all layers of a camera or a screen */
    WINDOW_VIDEO_BYTES = 4 * 1024 * 1024,
    WINDOW_FOREIGN = 50, /* packets from unknown addresses that are decrypted */
    WINDOW_DISCOVERY = 20,
    WINDOW_RTCP_RECEIVED = 200, /* RTCP requests of all viewers of a participant */
    WINDOW_RTCP_SENT = 50,      /* RTCP requests of one viewer */
    ACTIVITY_INTERVAL_MS = 20 * 1000,
    INTERRUPT_RECEIVERS = 128, /* so many receivers get a datagram before other rooms have a turn */
    RECEIVE_COST = 2,          /* cost of receiving a datagram; forwarding it once costs 1 */
    CRYPTO_SAMPLE_INTERVAL = 64, /* one of this many packets is timed */
    MAX_RTP_HEADERS = 1 << 26,   /* after this many 20 ms frames, the RTP header repeats */
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
    struct relay_participant *asker = find_participant_by_address(w->worker->participants, from);

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
                                 media_sender_next_buffer(w->sender));
    media_sender_queue(w->sender, from, PACKET_DISCOVERY_SIZE);
}

static void answer_ping(struct packet_work *w, struct str ping, const union media_address *from)
{
    struct relay_participant *s = find_participant_by_address(w->worker->participants, from);

    if (!s || !request_is_within_limit(&s->rate.discovery, monotonic_ms(), WINDOW_DISCOVERY))
        return;
    packet_write_pong(ping, media_sender_next_buffer(w->sender));
    media_sender_queue(w->sender, from, PACKET_PING_SIZE);
}

/* --- crypto timing --------------------------------------------------------------------
 * Reading the clock takes a tenth of the measured time, so only some packets are timed. */

static int64_t crypto_timer_start(const struct packet_work *w)
{
    return w->sample ? 0 : clock_monotonic_ns();
}

static void crypto_timer_stop(const struct packet_work *w, int64_t begin)
{
    if (begin)
        media_counter_add(&w->worker->count.crypto_ns,
                          (uint64_t)(clock_monotonic_ns() - begin) * CRYPTO_SAMPLE_INTERVAL);
}

static size_t encrypt_for_participant(struct packet_work *w, struct relay_participant *to,
                                      unsigned payload_type)
{
    unsigned char *out = media_sender_next_buffer(w->sender);
    int64_t begin = crypto_timer_start(w);
    size_t n = to->media.webrtc ? encrypt_for_browser(w, to, payload_type, out)
                                : media_cipher_encrypt(to->media.cipher, &w->plain, out);

    crypto_timer_stop(w, begin);
    return n;
}

static size_t encrypt_rtcp_for_participant(struct packet_work *w, struct relay_participant *to,
                                           struct str packet)
{
    unsigned char *out = media_sender_next_buffer(w->sender);

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
    struct relay_counters *count = &s->worker->count;
    int64_t before = s->quality.jitter_ns;
    int64_t more = quality_record_packet(&s->quality, &s->media.audio.highest, a->number,
                                         a->timestamp, clock_monotonic_ns());

    if (more > 0)
        media_counter_add(&count->missing, (uint64_t)more);
    else if (more < 0)
        media_counter_add(&count->late, 1);
    media_counter_add(&count->jitter_ns, (uint64_t)(s->quality.jitter_ns - before));
}

/* Returns the stream of an SSRC, or NULL if no packet with a video SSRC has arrived yet. */
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

    network_write_u32(network_write_u16(h + 2, a->sequence), a->timestamp);
}

void media_renumber_audio(struct packet_work *w, struct relay_participant *s,
                          const struct rtp_stream_position *a)
{
    record_audio_quality(s, a);
    write_renumbered_header(w, a);
}

static struct rtp_stream *video_streams_of(struct relay_participant *s)
{
    if (!s->media.video)
        s->media.video = mem_new(SSRCS_PER_PARTICIPANT * sizeof *s->media.video);
    return s->media.video;
}

/* The payload of a retransmission begins with the sequence number of the repeated video packet,
 * whose SSRC is one lower than that of the retransmission (RFC 4588). */
void media_renumber_video(struct packet_work *w, struct relay_participant *s, unsigned at,
                          const struct rtp_packet *p)
{
    struct rtp_stream *streams = video_streams_of(s);
    struct rtp_stream_position a = rtp_stream_shift(&streams[at], p);
    unsigned char *original = w->plain.bytes;

    write_renumbered_header(w, &a);
    if (at % 2 == 0 && !w->padding_only && w->plain.n >= 2 && streams[at - 1].ahead)
        network_write_u16(original, (uint16_t)(network_read_u16(original) + streams[at - 1].ahead));
}

/* Decrypts the packet. Returns false if it is not authentic, or a replay. */
static bool authenticate_packet(struct packet_work *w, struct relay_participant *s,
                                const struct rtp_packet *p, bool *ret_newest)
{
    struct rtp_stream_position a;

    if (!rtp_stream_check_packet(stream_of_ssrc(s, p->ssrc), p, &a) ||
        !decrypt_from_participant(w, s, p))
        return false;
    *ret_newest = a.newest;
    if (p->ssrc == s->media.ssrc)
        media_renumber_audio(w, s, &a);
    else
        video_streams_of(s);
    rtp_stream_record_packet(stream_of_ssrc(s, p->ssrc), p, &a);
    return true;
}

static bool receives_audio(const struct relay_participant *to, const struct relay_participant *from)
{
    return to != from && to->permissions.can_receive && participant_is_reachable(to);
}

/* Returns whether the packet ends an end-to-end encrypted frame, which clients without DAVE cannot
 * decode. Such frames arrive until the senders have downgraded. About one of 65,536 plain frames
 * looks the same; its loss is not audible. */
static bool is_dave_frame(const struct packet_work *w, const struct relay_participant *from)
{
    static const unsigned char marker[] = { 0xfa, 0xfa };

    return from->room->group && from->dave_version && w->plain.n >= sizeof marker &&
           memcmp(w->plain.bytes + w->plain.n - sizeof marker, marker, sizeof marker) == 0;
}

/* Queues an encrypted packet. Returns false if all nonces are used and the participant was
 * therefore disconnected. SRTP only refuses a packet whose sequence number was used before. */
static bool send_or_disconnect(struct packet_work *w, struct relay_participant *to, size_t n)
{
    bool browser = to->media.webrtc;

    w->sent += n != 0;
    if (n)
        media_sender_queue(w->sender, &to->media.address, n);
    else if (!browser)
        participant_disconnect(to, RELAY_INVALID_SESSION); /* frees it */
    return n || browser;
}

/* Returns the payload type with which a receiver gets the packet: browsers choose their own
 * numbers. Firefox uses 120, which is Opus for other clients, for VP8. Returns -1 if the receiver
 * does not know the codec. */
static int payload_type_for(const struct relay_participant *to,
                            const struct relay_participant *from, bool audio, unsigned type)
{
    if (!to->media.webrtc && !from->media.webrtc)
        return (int)type;
    if (audio)
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
    bool dave = is_dave_frame(w, from), audio = ssrc == from->media.ssrc;
    unsigned sent = 0;

    w->is_stripped = false;
    for (size_t i = 0; i < room->count;) {
        if (w->sent - sent >= INTERRUPT_RECEIVERS) {
            relay_worker_interrupt(w->worker);
            sent = w->sent;
        }
        struct relay_participant *to = room->participants[i];
        bool decodes = !dave || to->dave_version;
        bool receives = decodes && (audio ? receives_audio(to, from)
                                          : participant_receives_video(to, from, ssrc));
        int translated = receives ? payload_type_for(to, from, audio, type) : -1;

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
        peer_message_send(s->relay, s->loop, s->peer, PEER_MESSAGE_ACTIVE, 0);
}

void media_count_dropped(const struct packet_work *w)
{
    media_counter_add(&w->worker->count.dropped, 1);
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

/* Forwards audio. Returns false if the packet may not be forwarded. */
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
    if (!media_sender_expect_video(w->sender))
        return false;
    forward_to_room(w, s, p->ssrc);
    return true;
}

/* Returns whether both sides have used the same nonce, or headers would soon repeat. Then the
 * client must connect again, with another key and other SSRCs. */
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
        !media_is_within_limit(s, p.ssrc == s->media.ssrc, now_ms) ||
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

    network_write_u32(out, ssrc);
}

/* Replaces the numbers of missing packets (RFC 4585, 6.2.1) by those that the browser sent. */
static void rtcp_restore_missing(struct packet_work *w, const struct rtcp_packet *part,
                                 uint16_t ahead)
{
    unsigned char *at = w->control + (part->bytes.p - (const char *)w->control);

    for (size_t i = RTCP_HEADER_SIZE + 4; part->lists_missing && i + 4 <= part->bytes.n; i += 4)
        network_write_u16(at + i, (uint16_t)(network_read_u16(at + i) - ahead));
}

/* Shifts the RTP time of a sender report by as much as the timestamps of its stream are shifted. */
static void rtcp_shift_report(struct packet_work *w, const struct relay_participant *s,
                              const struct rtcp_packet *part)
{
    const struct rtp_stream *stream =
        stream_of_ssrc((struct relay_participant *)(uintptr_t)s, part->sender);
    size_t at = RTCP_HEADER_SIZE + 8; /* after the NTP time */

    if (part->has_rtp_time && stream && stream->ahead_time && part->bytes.n >= at + 4)
        write_ssrc(w, part, at, network_read_u32(part->bytes.p + at) + stream->ahead_time);
}

/* Replaces the SSRC that the packet concerns by the SSRC that the browser uses. Returns false if it
 * has not announced one, or for transport feedback, which browsers get from the relay itself. */
static bool rtcp_name_target(struct packet_work *w, const struct relay_participant *to,
                             const struct rtcp_packet *part)
{
    if (!to->media.webrtc)
        return true;
    uint32_t at = part->about - to->media.ssrc;
    uint32_t own = at < MEDIA_SSRCS && !part->is_transport_feedback ? to->media.announced[at] : 0;

    if (own)
        write_ssrc(w, part, part->about_at, own);
    if (own && at && to->media.video)
        rtcp_restore_missing(w, part, to->media.video[at].ahead);
    return own;
}

/* Replaces the sender's SSRC in a packet of a browser. The browser writes one of its own SSRCs, or
 * any number if it sends no media. */
static void rtcp_name_sender(struct packet_work *w, const struct relay_participant *s,
                             struct rtcp_packet *part)
{
    if (!s->media.webrtc)
        return;
    int at = webrtc_find_announced(s, part->sender);

    part->announces = part->announces && at >= 0;
    part->sender = s->media.ssrc + (uint32_t)(at > 0 ? at : 0);
    write_ssrc(w, part, 4, part->sender);
    rtcp_shift_report(w, s, part);
}

/* Forwards a receiver report or a request (such as for a key frame) to the sender of that media. */
static void forward_feedback(struct packet_work *w, struct relay_participant *from,
                             const struct rtcp_packet *part)
{
    struct relay_participant *to = find_participant_by_ssrc(w->worker->participants, part->about);

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
        media_window_add(&s->media.video_window, 0); /* each part is forwarded as one packet */
        if (part.announces)
            forward_sender_report(w, s, &part);
        else if (part.about)
            forward_feedback(w, s, &part);
    }
}

/* Handles RTCP. Its packets have no sequence numbers, so an old one cannot be distinguished from a
 * new one: they do not update the client's address, and their number is limited. */
static void handle_rtcp(struct packet_work *w, struct relay_participant *s, struct str datagram)
{
    int64_t now_ms = monotonic_ms();
    uint64_t hash = hash_str(datagram);
    size_t n;

    if (!s->media.cipher || !media_is_within_limit(s, false, now_ms) || rtcp_is_replayed(s, hash) ||
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

/* --- queues --------------------------------------------------------------------------- */

void media_datagram_done(struct packet_work *w, struct media_datagram *d)
{
    w->worker->done_packets++;
    w->worker->done_bytes += d->n;
    mem_free(d);
}

static void datagram_drop(struct packet_work *w, struct media_datagram *d)
{
    media_count_dropped(w);
    media_datagram_done(w, d);
}

void media_enqueue(struct packet_work *w, struct relay_participant *s, bool audio,
                   enum media_kind kind, struct media_datagram *d)
{
    d->kind = kind;
    struct queue_item *dropped = media_queue_add(
        &w->worker->queue, &s->sender, audio ? MEDIA_CLASS_AUDIO : MEDIA_CLASS_VIDEO, &d->item);

    if (dropped)
        datagram_drop(w, container_of(dropped, struct media_datagram, item));
}

void participant_drop_media(struct relay_participant *s)
{
    for (struct queue_item *item; (item = queue_sender_take(&s->worker->queue, &s->sender));)
        media_datagram_done(s->worker->work, container_of(item, struct media_datagram, item));
}

/* Requests are answered before media that arrived earlier, because they are short and their number
 * is limited. Packets of another host with the SSRC of a participant are limited here, so that they
 * cannot fill its queue. */
static void dispatch_client_datagram(struct packet_work *w, enum packet_kind kind,
                                     struct media_datagram *d)
{
    struct str bytes = str_slice(d->bytes, d->n);
    struct relay_participant *s = NULL;
    uint32_t ssrc = 0;

    if (kind != PACKET_IS_PING) {
        ssrc = packet_read_ssrc(kind, bytes);
        s = find_participant_by_ssrc(w->worker->participants, ssrc);
    }
    bool audio = s && kind == PACKET_RTP && ssrc == s->media.ssrc;

    if (s && kind != PACKET_IS_DISCOVERY && may_decrypt(s, audio, &d->from, monotonic_ms())) {
        media_enqueue(w, s, audio, kind == PACKET_RTP ? MEDIA_RTP : MEDIA_RTCP, d);
        return;
    }
    if (kind == PACKET_IS_PING)
        answer_ping(w, bytes, &d->from);
    else if (s && kind == PACKET_IS_DISCOVERY)
        answer_ip_discovery(w, s, &d->from);
    else
        media_count_dropped(w);
    media_datagram_done(w, d);
}

void media_dispatch(struct packet_work *w, struct media_datagram *d)
{
    enum packet_kind kind = packet_classify(str_slice(d->bytes, d->n));

    if (dispatch_browser_datagram(w, d))
        return;
    if (kind == PACKET_IGNORED)
        media_datagram_done(w, d);
    else
        dispatch_client_datagram(w, kind, d);
}

static void handle_media(struct packet_work *w, struct relay_participant *s,
                         const struct media_datagram *d)
{
    struct str bytes = str_slice(d->bytes, d->n);
    bool from_browser = d->kind == MEDIA_BROWSER_RTP || d->kind == MEDIA_BROWSER_RTCP;

    w->sample = (w->sample + 1) % CRYPTO_SAMPLE_INTERVAL;
    if (from_browser != (s->media.webrtc != NULL)) /* another protocol was selected */
        media_count_dropped(w);
    else if (d->kind == MEDIA_RTP)
        handle_rtp(w, s, bytes, &d->from);
    else if (d->kind == MEDIA_RTCP)
        handle_rtcp(w, s, bytes);
    else if (d->kind == MEDIA_BROWSER_RTP)
        handle_browser_rtp(w, s, bytes);
    else
        handle_browser_rtcp(w, s, bytes);
}

bool media_handle_next(struct packet_work *w)
{
    struct media_queue *q = &w->worker->queue;
    struct queue_sender *sender;
    struct queue_item *item = media_queue_next(q, &sender);

    if (!item)
        return false;
    struct media_datagram *d = container_of(item, struct media_datagram, item);
    w->sent = 0;
    handle_media(w, container_of(sender, struct relay_participant, sender), d);
    media_queue_charge(q, RECEIVE_COST + w->sent);
    media_datagram_done(w, d);
    return true;
}

void media_flush(struct packet_work *w)
{
    struct relay_worker *worker = w->worker;

    media_sender_flush(w->sender);
    media_counter_add(&worker->count.packets_in, worker->done_packets);
    media_counter_add(&worker->count.bytes_in, worker->done_bytes);
    worker->done_packets = worker->done_bytes = 0;
}

struct packet_work *packet_work_new(struct relay_worker *worker, const struct packet_work *outer)
{
    struct packet_work *w = mem_new(sizeof *w);

    w->worker = worker;
    w->shares_sender = outer;
    w->sender =
        outer ? outer->sender : media_sender_new(worker, media_socket_fd(worker->relay->media));
    return w;
}

void packet_work_free(struct packet_work *w)
{
    if (!w)
        return;
    if (!w->shares_sender)
        media_sender_free(w->sender);
    mem_free(w);
}
