/* browser_media.c - datagrams of browsers: STUN, DTLS, SRTP and SRTCP (RFC 7983).
 *
 * A browser chooses its SSRCs itself, so the participant is found by the browser's address, which
 * only a valid STUN request sets. Decrypted packets get the SSRCs of the participant's block,
 * payload type 120 for Opus, and no header extensions; after that they are forwarded like those of
 * other clients. */
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "net/address.h"
#include "relay/media/media.h"
#include "relay/media/media_sender.h"
#include "relay/media/network_order.h"
#include "relay/participants.h"
#include "relay/webrtc/dtls.h"
#include "relay/webrtc/stun.h"
#include "relay/webrtc/webrtc.h"

enum {
    STUN_LAST_BYTE = 3,
    RTP_FIRST_BYTE = 128,
    RTP_LAST_BYTE = 191,
    RTCP_FIRST_TYPE = 192, /* RFC 5761 */
    RTCP_LAST_TYPE = 223,
    STUN_PER_SECOND = 100,
    STUN_CHECKS_PER_SECOND = 1000, /* requests whose password is checked */
    RTP_EXTENSION_BIT = 0x10,
    RTP_PADDING_BIT = 0x20,
};

static int64_t monotonic_ms(void)
{
    return clock_monotonic_ns() / 1000000;
}

/* --- STUN ----------------------------------------------------------------------------- */

static struct stun_address stun_address_from(const union media_address *from)
{
    static const unsigned char mapped[12] = { [10] = 0xff, [11] = 0xff };
    struct ip_address a = ip_address_from_sockaddr(from);
    bool four = memcmp(a.bytes, mapped, sizeof mapped) == 0;
    struct stun_address ret = { .n = four ? 4 : 16, .port = media_address_port(from) };

    memcpy(ret.bytes, a.bytes + (four ? sizeof mapped : 0), ret.n);
    return ret;
}

/* Returns whether another browser has used this address recently. If so, the participant may have
 * forged the address, which would take the media away from the other browser. */
static bool address_belongs_to_other_browser(struct media_packet_handler *w,
                                             const struct relay_participant *s,
                                             const union media_address *from, int64_t now_ms)
{
    const struct relay_participant *other = find_browser_by_address(w->worker->participants, from);

    return (other && other != s &&
            now_ms - other->media.webrtc->checked_ms < ADDRESS_RESERVED_MS) ||
           !address_route_is_usable_by_worker(s->relay->routes, media_address_key(from),
                                              s->worker->index, now_ms);
}

/* Sets the participant's address from its first valid STUN request. Later only a request that
 * nominates its source address (USE-CANDIDATE) changes the address. */
static void record_valid_stun_request(struct relay_participant *s,
                                      const struct stun_request *request,
                                      const union media_address *from, int64_t now_ms)
{
    s->media.webrtc->checked_ms = now_ms;
    deadline_restart(participants_of_same_worker(s)->consents, &s->media.webrtc->consent);
    if (!s->media.has_address || request->nominates)
        participant_set_address(s, from);
    address_route_set(s->relay->routes, ADDRESS_BROWSER, media_address_key(&s->media.address),
                      s->worker->index, now_ms);
}

/* Answers a valid STUN request. Invalid requests are not answered, so that the server never sends
 * datagrams to a forged source address. */
static void answer_stun_request(struct media_packet_handler *w, struct str datagram,
                                const union media_address *from)
{
    int64_t now_ms = monotonic_ms();
    struct stun_request request;
    struct relay_participant *s =
        stun_parse_request(datagram, &request)
            ? find_participant_by_ufrag(w->worker->participants, request.server_fragment)
            : NULL;

    if (!s ||
        !request_is_within_rate_limit(&s->rate.stun_received, now_ms, STUN_CHECKS_PER_SECOND) ||
        !stun_verify_integrity(&request, webrtc_ice_password(s->media.webrtc)) ||
        !request_is_within_rate_limit(&s->rate.stun, now_ms, STUN_PER_SECOND) ||
        address_belongs_to_other_browser(w, s, from, now_ms)) {
        media_counter_add(&w->worker->count.checks_refused, 1);
        return;
    }
    record_valid_stun_request(s, &request, from, now_ms);
    struct stun_address address = stun_address_from(from);
    size_t n = stun_write_response(&request, webrtc_ice_password(s->media.webrtc), &address,
                                   media_sender_next_buffer(w->sender));
    media_sender_queue_datagram(w->sender, from, n);
}

/* --- RTP ------------------------------------------------------------------------------ */

/* Removes the header extension. */
static void rtp_strip_extension(struct decrypted_rtp_packet *p)
{
    if (!p->extended)
        return;
    size_t n = RTP_EXTENSION_PREAMBLE_SIZE + 4 * (size_t)network_read_u16(p->bytes + 2);

    if (n > p->n)
        n = p->n;
    memmove(p->bytes, p->bytes + n, p->n - n);
    p->n -= n;
    p->extended = false;
    p->header[0] &= (unsigned char)~RTP_EXTENSION_BIT;
}

/* Changes the sequence number at the beginning of a retransmission, which names the repeated
 * packet. Pauses in the browser's stream shift its sequence numbers, so that they differ from those
 * of the sender. */
static void shift_sequence_of_retransmitted_packet(const struct media_packet_handler *w,
                                                   struct decrypted_rtp_packet *p,
                                                   const struct srtp *srtp, int direction)
{
    uint32_t ssrc = network_read_u32((const char *)p->header + 8);
    unsigned at = ssrc % SSRCS_PER_PARTICIPANT;

    if (at == 0 || at % 2 || w->padding_only || p->n < 2)
        return;
    int shift = direction * srtp_sequence_shift(srtp, ssrc - 1);
    write_u16_in_network_byte_order(p->bytes, (uint16_t)(network_read_u16(p->bytes) + shift));
}

/* Encrypts a packet for a browser without its header extensions, because each client uses its own
 * extension ids. */
size_t encrypt_packet_for_browser(struct media_packet_handler *w,
                                  const struct relay_participant *to, unsigned payload_type,
                                  unsigned char *out)
{
    struct decrypted_rtp_packet *p = &w->plain;
    struct srtp *srtp = to->media.webrtc->srtp;

    if (p->extended && !w->is_stripped) {
        w->stripped = *p;
        rtp_strip_extension(&w->stripped);
        w->is_stripped = true;
    }
    p = p->extended ? &w->stripped : p;
    p->header[1] = (unsigned char)((p->header[1] & 0x80) | payload_type);
    bool audio = p->header[11] % SSRCS_PER_PARTICIPANT == 0;
    shift_sequence_of_retransmitted_packet(w, p, srtp, 1);
    size_t n = srtp_encrypt_forwarded_packet(srtp, p, w->number, audio, out);
    shift_sequence_of_retransmitted_packet(w, p, srtp, -1);
    return n;
}

static bool packet_has_only_padding(const struct decrypted_rtp_packet *p)
{
    return p->n == 0 || ((p->header[0] & RTP_PADDING_BIT) && p->bytes[p->n - 1] >= p->n);
}

/* Replaces SSRC and payload type in a browser's packet by the participant's SSRC and the payload
 * type of Opus for other clients. */
static void translate_browser_rtp_header(struct media_packet_handler *w,
                                         const struct relay_participant *s, unsigned at,
                                         struct rtp_packet *p)
{
    unsigned char *h = w->plain.header;

    p->ssrc = s->media.ssrc + at;
    write_u32_in_network_byte_order(h + 8, p->ssrc);
    if (at == 0)
        p->type = p->type == s->offer.numbers.opus ? RTP_OPUS_PAYLOAD_TYPE : 0;
    h[1] = (unsigned char)((h[1] & 0x80) | p->type);
}

/* Records the arrival of a packet for transport-wide congestion control. Sends feedback to the
 * browser when it is due. */
static void send_transport_feedback(struct media_packet_handler *w,
                                    const struct relay_participant *s, uint32_t ssrc)
{
    struct webrtc_transport *t = s->media.webrtc;
    int64_t now_us = clock_monotonic_ns() / 1000;
    unsigned char packet[PACKET_MAX];
    uint16_t number;

    if (t->transport_cc_id <= 0 ||
        !transport_feedback_read_packet_number(&w->plain, (unsigned)t->transport_cc_id, &number))
        return;
    if (!t->feedback)
        t->feedback = mem_new(sizeof *t->feedback);
    if (!transport_feedback_record_arrival(t->feedback, number, now_us))
        return;
    size_t n = transport_feedback_write(t->feedback, s->media.ssrc, ssrc, now_us, packet);
    n = srtcp_encrypt(t->srtp, str_slice((const char *)packet, n),
                      media_sender_next_buffer(w->sender));
    if (n)
        media_sender_queue_datagram(w->sender, &s->media.address, n);
}

void handle_browser_rtp(struct media_packet_handler *w, struct relay_participant *s,
                        struct str datagram)
{
    int64_t now_ms = monotonic_ms();
    struct srtp *srtp = s->media.webrtc->srtp;
    struct rtp_packet p;
    int at = -1;

    if (!srtp || participant_media_is_refused(s) || !rtp_parse_header(datagram, &p) ||
        (at = webrtc_find_announced_ssrc(s, p.ssrc)) < 0 ||
        !media_is_within_rate_limit(s, at == 0, now_ms) ||
        !srtp_decrypt(srtp, datagram, &w->plain)) {
        media_count_dropped_packet(w);
        return;
    }
    send_transport_feedback(w, s, p.ssrc);
    rtp_strip_extension(&w->plain);
    translate_browser_rtp_header(w, s, (unsigned)at, &p);
    w->padding_only = packet_has_only_padding(&w->plain);
    if (at == 0) {
        struct rtp_stream_position a = rtp_stream_position_of_new_packet(&s->media.audio, &p);

        media_renumber_audio_packet(w, s, &a);
        rtp_stream_record_position(&s->media.audio, &p, &a);
    } else {
        media_renumber_video_packet(w, s, (unsigned)at, &p);
    }
    media_forward_rtp(w, s, &p, datagram.n, now_ms);
}

void handle_browser_rtcp(struct media_packet_handler *w, struct relay_participant *s,
                         struct str datagram)
{
    int64_t now_ms = monotonic_ms();
    struct srtp *srtp = s->media.webrtc->srtp;
    size_t n;

    if (!srtp || !media_is_within_rate_limit(s, false, now_ms) ||
        !srtcp_decrypt(srtp, datagram, w->control, &n)) {
        media_count_dropped_packet(w);
        return;
    }
    s->media.video_window.bytes += (unsigned)datagram.n;
    media_forward_rtcp(w, s, n, now_ms);
}

bool is_browser_datagram(struct str datagram)
{
    unsigned char first = datagram.n > 1 ? (unsigned char)datagram.p[0] : 0;

    return dtls_is_record(datagram) || (first >= RTP_FIRST_BYTE && first <= RTP_LAST_BYTE);
}

/* Queues RTP packets with an SSRC that the browser has announced, and RTCP packets. */
static void dispatch_browser_media(struct media_packet_handler *w, struct relay_participant *s,
                                   struct media_datagram *d)
{
    unsigned char type = (unsigned char)d->bytes[1];
    bool rtcp = type >= RTCP_FIRST_TYPE && type <= RTCP_LAST_TYPE;
    struct rtp_packet p;
    int at = -1;

    if (rtcp) {
        media_enqueue_datagram(w, s, false, MEDIA_BROWSER_RTCP, d);
    } else if (rtp_parse_header(str_slice(d->bytes, d->n), &p) &&
               (at = webrtc_find_announced_ssrc(s, p.ssrc)) >= 0) {
        media_enqueue_datagram(w, s, at == 0, MEDIA_BROWSER_RTP, d);
    } else {
        media_count_dropped_packet(w);
        media_datagram_count_and_free(w, d);
    }
}

bool handle_or_queue_browser_datagram(struct media_packet_handler *w, struct media_datagram *d)
{
    struct relay_participants *all = w->worker->participants;
    struct str datagram = str_slice(d->bytes, d->n);
    struct relay_participant *s = NULL;

    if (datagram.n > 1 && (unsigned char)datagram.p[0] <= STUN_LAST_BYTE &&
        stun_is_message(datagram)) {
        answer_stun_request(w, datagram, &d->from);
        media_datagram_count_and_free(w, d);
        return true;
    }
    if (!all->browsers_by_address.count || !is_browser_datagram(datagram) ||
        !(s = find_browser_by_address(all, &d->from)))
        return false;
    if (dtls_is_record(datagram)) {
        webrtc_receive_dtls(s->media.webrtc, datagram);
        media_datagram_count_and_free(w, d);
    } else {
        dispatch_browser_media(w, s, d);
    }
    return true;
}
