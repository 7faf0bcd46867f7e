/* media.c - forwards RTP: an authentic packet is decrypted once and encrypted for each receiver. */
#include "relay/media/media.h"

#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "net/address.h"
#include "relay/media/media_sender.h"
#include "relay/media/network_order.h"
#include "relay/participants.h"
#include "relay/webrtc/webrtc.h"

enum {
    WINDOW_MS = 1000,
    /* Maximum number of audio packets per second; 50 are normal, and shorter frames need more. */
    WINDOW_PACKETS = 250,
    WINDOW_BYTES = 128 * 1024,
    /* Maximum video packets per second, for all layers of a camera or screen. */
    WINDOW_VIDEO_PACKETS = 4000,
    WINDOW_VIDEO_BYTES = 4 * 1024 * 1024,
    ACTIVITY_INTERVAL_MS = 20 * 1000,
    /* A packet that costs more than this is interrupted to handle datagrams of idle rooms. */
    INTERRUPT_COST = 128,
    CRYPTO_SAMPLE_INTERVAL = 64, /* the encryption time is measured for one of this many packets */
    /* number of audio frames (20 ms) after which an RTP header repeats */
    MAX_RTP_HEADERS = 1 << 26,
};

bool media_address_is_same(const union media_address *a, const union media_address *b)
{
    struct ip_address x = ip_address_from_sockaddr(a), y = ip_address_from_sockaddr(b);

    return media_address_port(a) == media_address_port(b) &&
           memcmp(x.bytes, y.bytes, sizeof x.bytes) == 0;
}

/* --- rate limits ---------------------------------------------------------------------- */

static bool media_rate_window_allows(struct media_rate_window *w, int64_t now_ms, unsigned packets,
                                     unsigned bytes)
{
    if (now_ms - w->since_ms >= WINDOW_MS)
        *w = (struct media_rate_window){ .since_ms = now_ms };
    return w->packets < packets && w->bytes < bytes;
}

static bool video_is_within_rate_limit(struct relay_participant *s, int64_t now_ms)
{
    return media_rate_window_allows(&s->media.video_window, now_ms, WINDOW_VIDEO_PACKETS,
                                    WINDOW_VIDEO_BYTES);
}

void media_rate_window_add(struct media_rate_window *w, size_t bytes)
{
    w->packets++;
    w->bytes += (unsigned)bytes;
}

static int64_t monotonic_ms(void)
{
    return clock_monotonic_ns() / 1000000;
}

bool media_is_within_rate_limit(struct relay_participant *s, bool audio, int64_t now_ms)
{
    return audio ? media_rate_window_allows(&s->media.window, now_ms, WINDOW_PACKETS, WINDOW_BYTES)
                 : video_is_within_rate_limit(s, now_ms);
}

/* --- crypto timing -------------------------------------------------------------------- */

void media_decide_if_encryption_is_timed(struct media_packet_handler *w)
{
    w->sample = (w->sample + 1) % CRYPTO_SAMPLE_INTERVAL;
}

static int64_t crypto_timer_start(const struct media_packet_handler *w)
{
    return w->sample ? 0 : clock_monotonic_ns();
}

static void stop_encryption_timer(const struct media_packet_handler *w, int64_t begin)
{
    if (begin)
        media_counter_add(&w->worker->count.crypto_ns,
                          (uint64_t)(clock_monotonic_ns() - begin) * CRYPTO_SAMPLE_INTERVAL);
}

static size_t encrypt_packet_for_participant(struct media_packet_handler *w,
                                             struct relay_participant *to, unsigned payload_type)
{
    unsigned char *out = media_sender_next_buffer(w->sender);
    int64_t begin = crypto_timer_start(w);
    size_t n = to->media.webrtc ? encrypt_packet_for_browser(w, to, payload_type, out)
                                : media_cipher_encrypt(to->media.cipher, &w->plain, out);

    stop_encryption_timer(w, begin);
    return n;
}

static bool decrypt_packet_of_participant(struct media_packet_handler *w,
                                          struct relay_participant *s, const struct rtp_packet *p)
{
    int64_t begin = crypto_timer_start(w);
    bool opened = media_cipher_decrypt(s->media.cipher, p, &w->plain);

    stop_encryption_timer(w, begin);
    return opened;
}

/* --- RTP ------------------------------------------------------------------------------ */

/* Updates the sender's packet loss and jitter, and the totals of all participants. */
static void record_audio_quality(struct relay_participant *s, const struct rtp_stream_position *a)
{
    struct relay_counters *count = &s->worker->count;
    int64_t before = s->quality.jitter_ns;
    int64_t more = media_quality_record_packet(&s->quality, &s->media.audio.highest, a->number,
                                               a->timestamp, clock_monotonic_ns());

    if (more > 0)
        media_counter_add(&count->missing, (uint64_t)more);
    else if (more < 0)
        media_counter_add(&count->late, 1);
    media_counter_add(&count->jitter_ns, (uint64_t)(s->quality.jitter_ns - before));
}

struct rtp_stream *media_find_stream_by_ssrc(struct relay_participant *s, uint32_t ssrc)
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

/* Writes the new sequence number and timestamp to the header. They continue when a sender restarts,
 * because no header may repeat in the encryption mode that uses it as nonce. */
static void write_renumbered_header(struct media_packet_handler *w,
                                    const struct rtp_stream_position *a)
{
    unsigned char *h = w->plain.header;

    write_u32_in_network_byte_order(write_u16_in_network_byte_order(h + 2, a->sequence),
                                    a->timestamp);
}

void media_renumber_audio_packet(struct media_packet_handler *w, struct relay_participant *s,
                                 const struct rtp_stream_position *a)
{
    record_audio_quality(s, a);
    write_renumbered_header(w, a);
    w->number = a->number;
}

static struct rtp_stream *get_or_create_video_streams(struct relay_participant *s)
{
    if (!s->media.video)
        s->media.video = mem_new(SSRCS_PER_PARTICIPANT * sizeof *s->media.video);
    return s->media.video;
}

/* Writes the new sequence and timestamp of a video packet. A retransmission begins with the
 * sequence number of the packet that it repeats (RFC 4588), which is changed in the same way as the
 * repeated packet's own; the SSRC of the repeated packet is one lower. */
void media_renumber_video_packet(struct media_packet_handler *w, struct relay_participant *s,
                                 unsigned at, const struct rtp_packet *p)
{
    struct rtp_stream *streams = get_or_create_video_streams(s);
    struct rtp_stream_position a = rtp_stream_record_video_packet(&streams[at], p);
    unsigned char *original = w->plain.bytes;

    write_renumbered_header(w, &a);
    w->number = a.number;
    if (at % 2 == 0 && !w->padding_only && w->plain.n >= 2 && streams[at - 1].ahead)
        write_u16_in_network_byte_order(
            original, (uint16_t)(network_read_u16(original) + streams[at - 1].ahead));
}

/* Decrypts the packet. Returns false if the packet is not authentic or was received before. */
static bool authenticate_packet(struct media_packet_handler *w, struct relay_participant *s,
                                const struct rtp_packet *p, bool *ret_newest)
{
    struct rtp_stream_position a;

    if (!rtp_stream_packet_is_new(media_find_stream_by_ssrc(s, p->ssrc), p, &a) ||
        !decrypt_packet_of_participant(w, s, p))
        return false;
    *ret_newest = a.newest;
    w->number = a.number;
    if (p->ssrc == s->media.ssrc)
        media_renumber_audio_packet(w, s, &a);
    else
        get_or_create_video_streams(s);
    rtp_stream_record_packet(media_find_stream_by_ssrc(s, p->ssrc), p, &a);
    return true;
}

static bool participant_receives_audio_of(const struct relay_participant *to,
                                          const struct relay_participant *from)
{
    return to != from && to->permissions.can_receive && participant_can_receive_media(to);
}

/* Returns whether the packet is the end of an end-to-end encrypted frame. Clients without DAVE
 * cannot decode such frames, so they do not get them; senders still send some until they have
 * downgraded. About one of 65,536 unencrypted frames looks like an encrypted frame; its loss is not
 * audible. */
static bool packet_is_dave_frame(const struct media_packet_handler *w,
                                 const struct relay_participant *from)
{
    static const unsigned char marker[] = { 0xfa, 0xfa };

    return from->room->group && from->dave_version && w->plain.n >= sizeof marker &&
           memcmp(w->plain.bytes + w->plain.n - sizeof marker, marker, sizeof marker) == 0;
}

bool media_send_or_disconnect(struct media_packet_handler *w, struct relay_participant *to,
                              size_t n)
{
    bool browser = to->media.webrtc;

    w->sent += n != 0;
    if (n)
        media_sender_queue_datagram(w->sender, &to->media.address, n);
    else if (!browser)
        participant_disconnect(to, RELAY_INVALID_SESSION); /* frees it */
    return n || browser;
}

/* Returns the payload type that the receiver expects for the packet. Browsers choose their own
 * payload types: Firefox uses 120 for VP8, while other clients use 120 for Opus. Returns -1 if the
 * receiver does not know the codec. */
static int payload_type_for_receiver(const struct relay_participant *to,
                                     const struct relay_participant *from, bool audio,
                                     unsigned type)
{
    if (!to->media.webrtc && !from->media.webrtc)
        return (int)type;
    if (audio)
        return to->media.webrtc ? to->offer.numbers.opus : RTP_OPUS_PAYLOAD_TYPE;
    return codec_payload_types_translate(&from->offer.numbers, &to->offer.numbers, type);
}

/* Forwards the packet to all receivers in the room. If sending to `to` removes `to` from the list
 * (participant_disconnect), the last participant moves to index i, so i is not incremented. */
static void forward_packet_to_room(struct media_packet_handler *w,
                                   const struct relay_participant *from, uint32_t ssrc)
{
    const struct relay_room *room = from->room;
    unsigned type = w->plain.header[1] & 0x7f, marker = w->plain.header[1] & 0x80;
    bool dave = packet_is_dave_frame(w, from), audio = ssrc == from->media.ssrc;
    unsigned cost = 0;

    w->is_stripped = false;
    for (size_t i = 0; i < room->count;) {
        if (media_packet_cost(w) - cost >= INTERRUPT_COST) {
            relay_worker_handle_idle_rooms(w->worker);
            cost = media_packet_cost(w);
        }
        struct relay_participant *to = room->participants[i];
        bool decodes = !dave || to->dave_version;
        bool receives = decodes && (audio ? participant_receives_audio_of(to, from)
                                          : participant_receives_video(to, from, ssrc));
        int translated = receives ? payload_type_for_receiver(to, from, audio, type) : -1;

        if (translated < 0 || (w->padding_only && !to->media.webrtc)) {
            w->skipped++;
            i++;
            continue;
        }
        w->plain.header[1] = (unsigned char)(marker | (unsigned)translated);
        if (media_send_or_disconnect(w, to,
                                     encrypt_packet_for_participant(w, to, (unsigned)translated)))
            i++;
    }
}

/* Reports to the participant's socket that the participant speaks, at most once per
 * ACTIVITY_INTERVAL_MS. Silence frames are not reported. */
static void report_audio_activity(const struct media_packet_handler *w, struct relay_participant *s,
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

void media_count_dropped_packet(const struct media_packet_handler *w)
{
    media_counter_add(&w->worker->count.dropped, 1);
}

/* Sets the client's address to the source of an authentic packet that is the newest of its stream.
 */
static void update_participant_address(struct relay_participant *s, bool newest,
                                       const union media_address *from)
{
    if (newest && !(s->media.has_address && media_address_is_same(&s->media.address, from)))
        participant_set_address(s, from);
}

/* Forwards an audio packet. Returns false if the packet may not be forwarded. */
static bool forward_audio_packet(struct media_packet_handler *w, struct relay_participant *s,
                                 const struct rtp_packet *p, int64_t now_ms)
{
    if (p->type != RTP_OPUS_PAYLOAD_TYPE || !s->permissions.can_speak)
        return false;
    if (!s->speech.announced)
        participant_set_speaking(s, 1);
    forward_packet_to_room(w, s, p->ssrc);
    report_audio_activity(w, s, now_ms);
    return true;
}

static bool forward_video_packet(struct media_packet_handler *w, const struct relay_participant *s,
                                 const struct rtp_packet *p)
{
    if (!participant_may_send_video(s, p))
        return false;
    if (!media_sender_begin_video_datagram(w->sender))
        return false;
    forward_packet_to_room(w, s, p->ssrc);
    return true;
}

bool media_nonce_reuse_requires_reconnect(const struct relay_participant *s)
{
    return (s->media.cipher && media_cipher_nonce_was_reused(s->media.cipher)) ||
           rtp_stream_has_no_space_for_start_hashes(&s->media.audio) ||
           (s->media.audio.highest.begun &&
            rtp_count_sequences_used(&s->media.audio.highest) >= MAX_RTP_HEADERS);
}

void media_forward_rtp(struct media_packet_handler *w, struct relay_participant *s,
                       const struct rtp_packet *p, size_t datagram_size, int64_t now_ms)
{
    bool audio = p->ssrc == s->media.ssrc;

    media_rate_window_add(audio ? &s->media.window : &s->media.video_window, datagram_size);
    if (!(audio ? forward_audio_packet(w, s, p, now_ms) : forward_video_packet(w, s, p)))
        media_count_dropped_packet(w);
    if (media_nonce_reuse_requires_reconnect(s))
        participant_disconnect(s, RELAY_INVALID_SESSION);
}

void handle_client_rtp(struct media_packet_handler *w, struct relay_participant *s,
                       struct str datagram, const union media_address *from)
{
    int64_t now_ms = monotonic_ms();
    struct rtp_packet p;
    bool newest = false;

    if (!s->media.cipher || participant_media_is_refused(s) || !rtp_parse_header(datagram, &p) ||
        !media_is_within_rate_limit(s, p.ssrc == s->media.ssrc, now_ms) ||
        !authenticate_packet(w, s, &p, &newest)) {
        media_count_dropped_packet(w);
        return;
    }
    update_participant_address(s, newest, from);
    w->padding_only = false;
    media_forward_rtp(w, s, &p, datagram.n, now_ms);
}
