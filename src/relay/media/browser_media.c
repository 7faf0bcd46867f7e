/* browser_media.c - datagrams of browsers: STUN, DTLS, SRTP and SRTCP (RFC 7983).
 *
 * A browser chooses its SSRCs itself, so it is found by its address, which only a valid STUN
 * request sets. Decrypted packets get the SSRCs of the participant's block, payload type 120 for
 * Opus, and no header extensions; after that they are forwarded like those of other clients. */
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "net/address.h"
#include "relay/media/media_socket.h"
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
    RTP_EXTENSION_BIT = 0x10,
    RTP_PADDING_BIT = 0x20,
};

static int64_t monotonic_ms(void)
{
    return clock_monotonic_ns() / 1000000;
}

/* --- STUN ----------------------------------------------------------------------------- */

static struct stun_address stun_address_of(const union media_address *from)
{
    static const unsigned char mapped[12] = { [10] = 0xff, [11] = 0xff };
    struct ip_address a = address_from_sockaddr(from);
    bool four = memcmp(a.bytes, mapped, sizeof mapped) == 0;
    struct stun_address ret = { .n = four ? 4 : 16, .port = media_address_port(from) };

    memcpy(ret.bytes, a.bytes + (four ? sizeof mapped : 0), ret.n);
    return ret;
}

/* Whether another browser has used this address recently. Its address could be forged in requests
 * of this participant, and its media would be lost. */
static bool address_is_reserved(struct packet_work *w, const struct relay_participant *s,
                                const union media_address *from, int64_t now_ms)
{
    const struct relay_participant *other = find_browser_by_address(w->relay->participants, from);

    return other && other != s &&
           now_ms - other->media.webrtc->checked_ms < WEBRTC_ADDRESS_RESERVED_MS;
}

/* The first valid request sets the address; later only one that nominates it moves it. */
static void record_check(struct relay_participant *s, const struct stun_request *request,
                         const union media_address *from, int64_t now_ms)
{
    s->media.webrtc->checked_ms = now_ms;
    deadline_restart(participants_of(s)->consents, &s->media.webrtc->consent);
    if (!s->media.has_address || request->nominates)
        participant_set_address(s, from);
}

/* Answers a valid request. Others get no answer, so that nobody can use the server against a third
 * party. */
static void answer_stun(struct packet_work *w, struct str datagram, const union media_address *from)
{
    int64_t now_ms = monotonic_ms();
    struct stun_request request;
    struct relay_participant *s =
        stun_parse_request(datagram, &request)
            ? find_participant_by_ufrag(w->relay->participants, request.server_fragment)
            : NULL;

    if (!s || !stun_verify(&request, webrtc_password(s->media.webrtc)) ||
        !request_is_within_limit(&s->rate.stun, now_ms, STUN_PER_SECOND) ||
        address_is_reserved(w, s, from, now_ms)) {
        media_counter_add(&w->relay->count.checks_refused, 1);
        return;
    }
    record_check(s, &request, from, now_ms);
    struct stun_address address = stun_address_of(from);
    size_t n = stun_write_response(&request, webrtc_password(s->media.webrtc), &address,
                                   media_socket_next_buffer(w->socket));
    media_socket_queue(w->socket, from, n);
}

/* --- RTP ------------------------------------------------------------------------------ */

void rtp_strip_extension(struct decrypted_rtp_packet *p)
{
    if (!p->extended)
        return;
    size_t n = RTP_EXTENSION_PREAMBLE_SIZE + 4 * ((size_t)p->bytes[2] << 8 | p->bytes[3]);

    if (n > p->n)
        n = p->n;
    memmove(p->bytes, p->bytes + n, p->n - n);
    p->n -= n;
    p->extended = false;
    p->header[0] &= (unsigned char)~RTP_EXTENSION_BIT;
}

/* Extensions have other numbers at each client, so browsers get packets without them. */
size_t encrypt_for_browser(struct packet_work *w, const struct relay_participant *to,
                           unsigned payload_type, unsigned char *out)
{
    struct decrypted_rtp_packet *p = &w->plain;

    if (p->extended && !w->is_stripped) {
        w->stripped = *p;
        rtp_strip_extension(&w->stripped);
        w->is_stripped = true;
    }
    p = p->extended ? &w->stripped : p;
    p->header[1] = (unsigned char)((p->header[1] & 0x80) | payload_type);
    return srtp_write(to->media.webrtc->srtp, p, out);
}

static bool has_only_padding(const struct decrypted_rtp_packet *p)
{
    return p->n == 0 || ((p->header[0] & RTP_PADDING_BIT) && p->bytes[p->n - 1] >= p->n);
}

/* Writes the participant's SSRC and the payload type of Opus that other clients use. */
static void translate_header(struct packet_work *w, const struct relay_participant *s, unsigned at,
                             struct rtp_packet *p)
{
    unsigned char *h = w->plain.header;

    p->ssrc = s->media.ssrc + at;
    for (int i = 0; i < 4; i++)
        h[8 + i] = (unsigned char)(p->ssrc >> (24 - 8 * i));
    if (at == 0)
        p->type = p->type == s->offer.numbers.opus ? RTP_OPUS_PAYLOAD_TYPE : 0;
    h[1] = (unsigned char)((h[1] & 0x80) | p->type);
}

/* Records the arrival of a numbered packet; sends feedback to the browser when it is due. */
static void send_transport_feedback(struct packet_work *w, const struct relay_participant *s,
                                    uint32_t ssrc)
{
    struct webrtc *t = s->media.webrtc;
    int64_t now_us = clock_monotonic_ns() / 1000;
    unsigned char packet[PACKET_MAX];
    uint16_t number;

    if (t->transport_cc_id <= 0 ||
        !transport_feedback_read_number(&w->plain, (unsigned)t->transport_cc_id, &number))
        return;
    if (!t->feedback)
        t->feedback = mem_new(sizeof *t->feedback);
    if (!transport_feedback_record(t->feedback, number, now_us))
        return;
    size_t n = transport_feedback_write(t->feedback, s->media.ssrc, ssrc, now_us, packet);
    n = srtp_write_control(t->srtp, str_slice((const char *)packet, n),
                           media_socket_next_buffer(w->socket));
    if (n)
        media_socket_queue(w->socket, &s->media.address, n);
}

static void handle_browser_rtp(struct packet_work *w, struct relay_participant *s,
                               struct str datagram)
{
    int64_t now_ms = monotonic_ms();
    struct srtp *srtp = s->media.webrtc->srtp;
    struct rtp_packet p;
    int at = -1;

    if (!srtp || !rtp_parse(datagram, &p) || (at = webrtc_find_announced(s, p.ssrc)) < 0 ||
        !media_is_within_limit(s, at == 0, now_ms) || !srtp_open(srtp, datagram, &w->plain)) {
        media_count_dropped(w);
        return;
    }
    send_transport_feedback(w, s, p.ssrc);
    rtp_strip_extension(&w->plain);
    translate_header(w, s, (unsigned)at, &p);
    w->padding_only = has_only_padding(&w->plain);
    if (at == 0) {
        struct rtp_stream_position a = rtp_stream_continue(&s->media.audio, &p);

        media_renumber_audio(w, s, &a);
        rtp_stream_advance(&s->media.audio, &p, &a);
    }
    media_forward_rtp(w, s, &p, datagram.n, now_ms);
}

static void handle_browser_rtcp(struct packet_work *w, struct relay_participant *s,
                                struct str datagram)
{
    int64_t now_ms = monotonic_ms();
    struct srtp *srtp = s->media.webrtc->srtp;
    size_t n;

    if (!srtp || !media_is_within_limit(s, false, now_ms) ||
        !srtp_open_control(srtp, datagram, w->control, &n)) {
        media_count_dropped(w);
        return;
    }
    s->media.video_window.bytes += (unsigned)datagram.n;
    media_forward_rtcp(w, s, n, now_ms);
}

bool handle_browser_datagram(struct packet_work *w, struct str datagram,
                             const union media_address *from)
{
    struct relay_participants *all = w->relay->participants;
    unsigned char first = datagram.n > 1 ? (unsigned char)datagram.p[0] : 0;
    bool dtls = dtls_is_record(datagram);

    if (first <= STUN_LAST_BYTE && stun_is_message(datagram)) {
        answer_stun(w, datagram, from);
        return true;
    }
    if (!all->browsers_by_address.count ||
        (!dtls && (first < RTP_FIRST_BYTE || first > RTP_LAST_BYTE)))
        return false;
    struct relay_participant *s = find_browser_by_address(all, from);
    if (!s)
        return false;
    unsigned char type = (unsigned char)datagram.p[1];
    if (dtls)
        webrtc_receive_dtls(s->media.webrtc, datagram);
    else if (type >= RTCP_FIRST_TYPE && type <= RTCP_LAST_TYPE)
        handle_browser_rtcp(w, s, datagram);
    else
        handle_browser_rtp(w, s, datagram);
    return true;
}
