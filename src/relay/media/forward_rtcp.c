/* forward_rtcp.c - forwards RTCP: sender reports to a video's viewers, requests to its sender. */
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/mem.h"
#include "relay/media/media.h"
#include "relay/media/media_sender.h"
#include "relay/media/network_order.h"
#include "relay/media/rtcp.h"
#include "relay/participants.h"
#include "relay/webrtc/webrtc.h"

enum {
    /* Maximum number of RTCP requests per second to a participant, from all viewers together. */
    WINDOW_RTCP_RECEIVED = 200,
    WINDOW_RTCP_SENT = 50, /* RTCP requests of one viewer */
};

static int64_t monotonic_ms(void)
{
    return clock_monotonic_ns() / 1000000;
}

static size_t encrypt_rtcp_for_participant(struct media_packet_handler *w,
                                           struct relay_participant *to, struct str packet)
{
    unsigned char *out = media_sender_next_buffer(w->sender);

    return to->media.webrtc ? srtcp_encrypt(to->media.webrtc->srtp, packet, out)
                            : media_cipher_encrypt_rtcp(to->media.cipher, packet, out);
}

/* Forwards a sender report to the viewers of the sender's video. */
static void forward_sender_report(struct media_packet_handler *w,
                                  const struct relay_participant *from,
                                  const struct rtcp_packet *part)
{
    const struct relay_room *room = from->room;

    for (size_t i = 0; from->permissions.can_send_video && i < room->count;) {
        struct relay_participant *to = room->participants[i];

        if (!participant_receives_video(to, from, part->sender) ||
            media_send_or_disconnect(w, to, encrypt_rtcp_for_participant(w, to, part->bytes)))
            i++;
    }
}

static void write_ssrc_into_rtcp_packet(struct media_packet_handler *w,
                                        const struct rtcp_packet *part, size_t at, uint32_t ssrc)
{
    unsigned char *out = w->control + (part->bytes.p - (const char *)w->control) + at;

    write_u32_in_network_byte_order(out, ssrc);
}

/* Replaces the sequence numbers in a request for missing packets (RFC 4585, 6.2.1) by the original
 * numbers of the media's sender. */
static void rtcp_restore_missing_packet_numbers(struct media_packet_handler *w,
                                                const struct rtcp_packet *part, uint16_t ahead)
{
    unsigned char *at = w->control + (part->bytes.p - (const char *)w->control);

    for (size_t i = RTCP_HEADER_SIZE + 4; part->lists_missing && i + 4 <= part->bytes.n; i += 4)
        write_u16_in_network_byte_order(at + i, (uint16_t)(network_read_u16(at + i) - ahead));
}

/* Adds the offset of the stream's forwarded timestamps to the RTP timestamp of a sender report. */
static void rtcp_shift_sender_report_time(struct media_packet_handler *w,
                                          const struct relay_participant *s,
                                          const struct rtcp_packet *part)
{
    const struct rtp_stream *stream =
        media_find_stream_by_ssrc((struct relay_participant *)(uintptr_t)s, part->sender);
    size_t at = RTCP_HEADER_SIZE + 8; /* after the NTP time */

    if (part->has_rtp_time && stream && stream->ahead_time && part->bytes.n >= at + 4)
        write_ssrc_into_rtcp_packet(w, part, at,
                                    network_read_u32(part->bytes.p + at) + stream->ahead_time);
}

/* Replaces the media SSRC in an RTCP packet by the SSRC that the browser uses for that media.
 * Returns false if the browser has announced no SSRC for the media, or if the packet is transport
 * feedback, which browsers get from the relay itself. */
static bool rtcp_replace_media_ssrc(struct media_packet_handler *w,
                                    const struct relay_participant *to,
                                    const struct rtcp_packet *part)
{
    if (!to->media.webrtc)
        return true;
    uint32_t at = part->about - to->media.ssrc;
    uint32_t own = at < MEDIA_SSRCS && !part->is_transport_feedback ? to->media.announced[at] : 0;

    if (own)
        write_ssrc_into_rtcp_packet(w, part, part->about_at, own);
    if (own && at && to->media.video)
        rtcp_restore_missing_packet_numbers(w, part, to->media.video[at].ahead);
    return own;
}

/* Replaces the sender's SSRC in an RTCP packet from a browser by the participant's SSRC. Browsers
 * write one of their own SSRCs, or an arbitrary number if they send no media. */
static void rtcp_replace_sender_ssrc(struct media_packet_handler *w,
                                     const struct relay_participant *s, struct rtcp_packet *part)
{
    if (!s->media.webrtc)
        return;
    int at = webrtc_find_announced_ssrc(s, part->sender);

    part->announces = part->announces && at >= 0;
    part->sender = s->media.ssrc + (uint32_t)(at > 0 ? at : 0);
    write_ssrc_into_rtcp_packet(w, part, 4, part->sender);
    rtcp_shift_sender_report_time(w, s, part);
}

/* Forwards a receiver report, or a request (for a key frame), to the sender of the media. */
static void forward_rtcp_feedback(struct media_packet_handler *w, struct relay_participant *from,
                                  const struct rtcp_packet *part)
{
    struct relay_participant *to = find_participant_by_ssrc(w->worker->participants, part->about);

    if (!to || to == from || to->room != from->room || !to->permissions.can_send_video ||
        !participant_can_receive_media(to) || !participant_transport_carries_video(to))
        return;
    if (from->media.webrtc)
        rtcp_restore_missing_packet_numbers(
            w, part, srtp_sequence_shift(from->media.webrtc->srtp, part->about));
    if (rtcp_replace_media_ssrc(w, to, part) &&
        participant_receives_video(from, to, to->media.ssrc) &&
        request_is_within_rate_limit(&from->rate.rtcp_sent, monotonic_ms(), WINDOW_RTCP_SENT) &&
        request_is_within_rate_limit(&to->rate.rtcp_received, monotonic_ms(), WINDOW_RTCP_RECEIVED))
        media_send_or_disconnect(w, to, encrypt_rtcp_for_participant(w, to, part->bytes));
}

static bool rtcp_is_replayed(const struct relay_participant *s, uint64_t hash)
{
    for (unsigned i = 0; s->media.control && i < COUNT_OF(s->media.control->seen); i++)
        if (s->media.control->seen[i] == hash)
            return true;
    return false;
}

static void rtcp_record_packet_hash(struct relay_participant *s, uint64_t hash)
{
    if (!s->media.control)
        s->media.control = mem_new(sizeof *s->media.control);
    s->media.control->seen[s->media.control->next++ % COUNT_OF(s->media.control->seen)] = hash;
}

void media_forward_rtcp(struct media_packet_handler *w, struct relay_participant *s, size_t n,
                        int64_t now_ms)
{
    struct str rest = str_slice((const char *)w->control, n);
    struct rtcp_packet part;

    for (int i = 0; i < RTCP_MAX_PARTS && rtcp_parse_next(&rest, &part); i++) {
        rtcp_replace_sender_ssrc(w, s, &part);
        if (part.sender / SSRCS_PER_PARTICIPANT != s->media.ssrc / SSRCS_PER_PARTICIPANT ||
            !media_is_within_rate_limit(s, false, now_ms))
            continue;
        /* Each RTCP packet of a compound datagram is forwarded as one datagram. */
        media_rate_window_add(&s->media.video_window, 0);
        if (part.announces)
            forward_sender_report(w, s, &part);
        else if (part.about)
            forward_rtcp_feedback(w, s, &part);
    }
}

/* Handles a compound RTCP datagram. RTCP has no sequence numbers, so an old packet looks like a new
 * one. So RTCP does not update the client's address, and its rate is limited. */
void handle_client_rtcp(struct media_packet_handler *w, struct relay_participant *s,
                        struct str datagram)
{
    int64_t now_ms = monotonic_ms();
    uint64_t hash = hash_str(datagram);
    size_t n;

    if (!s->media.cipher || !media_is_within_rate_limit(s, false, now_ms) ||
        rtcp_is_replayed(s, hash) ||
        !media_cipher_decrypt_rtcp(s->media.cipher, datagram, w->control, &n)) {
        media_count_dropped_packet(w);
        return;
    }
    s->media.video_window.bytes += (unsigned)datagram.n;
    rtcp_record_packet_hash(s, hash);
    media_forward_rtcp(w, s, n, now_ms);
    if (media_nonce_reuse_requires_reconnect(s))
        participant_disconnect(s, RELAY_INVALID_SESSION);
}
