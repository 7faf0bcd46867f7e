/* dispatch.c - handles received datagrams: answers IP discovery and pings, and queues media until
 * it is its sender's turn. The sender is found by SSRC; datagrams of browsers are handled by
 * browser_media.c. Packets with an unknown SSRC are dropped. */
#include "base/clock.h"
#include "base/mem.h"
#include "net/address.h"
#include "relay/media/media.h"
#include "relay/media/media_sender.h"
#include "relay/participants.h"

enum {
    /* Maximum number of packets per second from unknown addresses, with the SSRC of a participant,
     * that are decrypted. */
    WINDOW_FOREIGN = 50,
    WINDOW_DISCOVERY = 20,
    /* cost of receiving a datagram; sending a datagram to one receiver costs 1 */
    RECEIVE_COST = 2,
    /* cost 1 is charged for this many participants to which a packet is not sent */
    SKIPPED_PER_COST = 16,
};

static int64_t monotonic_ms(void)
{
    return clock_monotonic_ns() / 1000000;
}

/* --- IP discovery and pings ----------------------------------------------------------- */

/* Returns the rate limit for an IP discovery request: that of the participant whose address sent
 * the request. A request from an unknown address counts for the SSRC in it, separately from pings,
 * so that another host cannot use up the pings of a participant. */
static struct request_rate_window *ip_discovery_limit_of_sender(struct media_packet_handler *w,
                                                                struct relay_participant *s,
                                                                const union media_address *from)
{
    struct relay_participant *asker = find_participant_by_address(w->worker->participants, from);

    return asker ? &asker->rate.discovery : &s->rate.foreign_discovery;
}

/* Answers IP discovery. Before a client has selected its protocol, nobody else knows its SSRC, so
 * the source of the request is accepted as its address. Later only authentic packets change the
 * address, because another host could send the same SSRC to redirect the media. */
static void answer_ip_discovery(struct media_packet_handler *w, struct relay_participant *s,
                                const union media_address *from)
{
    char text[ADDRESS_TEXT_SIZE];
    struct ip_address a = ip_address_from_sockaddr(from);
    struct str address_text = str_slice(text, ip_address_format(&a, text));

    if (!request_is_within_rate_limit(ip_discovery_limit_of_sender(w, s, from), monotonic_ms(),
                                      WINDOW_DISCOVERY))
        return;
    if (!s->media.cipher && !s->media.webrtc) {
        s->media.found = *from;
        s->media.has_found = true;
    }
    packet_write_ip_discovery_reply(s->media.ssrc, address_text, media_address_port(from),
                                    media_sender_next_buffer(w->sender));
    media_sender_queue_datagram(w->sender, from, PACKET_DISCOVERY_SIZE);
}

static void answer_ping(struct media_packet_handler *w, struct str ping,
                        const union media_address *from)
{
    struct relay_participant *s = find_participant_by_address(w->worker->participants, from);

    if (!s || !request_is_within_rate_limit(&s->rate.discovery, monotonic_ms(), WINDOW_DISCOVERY))
        return;
    packet_write_pong(ping, media_sender_next_buffer(w->sender));
    media_sender_queue_datagram(w->sender, from, PACKET_PING_SIZE);
}

/* --- queues --------------------------------------------------------------------------- */

void media_datagram_count_and_free(struct media_packet_handler *w, struct media_datagram *d)
{
    w->worker->done_packets++;
    w->worker->done_bytes += d->n;
    mem_free(d);
}

static void drop_received_datagram(struct media_packet_handler *w, struct media_datagram *d)
{
    media_count_dropped_packet(w);
    media_datagram_count_and_free(w, d);
}

void media_enqueue_datagram(struct media_packet_handler *w, struct relay_participant *s, bool audio,
                            enum media_kind kind, struct media_datagram *d)
{
    d->kind = kind;
    struct media_queue_item *dropped = media_queue_add(
        &w->worker->queue, &s->sender, audio ? MEDIA_CLASS_AUDIO : MEDIA_CLASS_VIDEO, &d->item);

    if (dropped)
        drop_received_datagram(w, container_of(dropped, struct media_datagram, item));
}

void participant_drop_queued_media(struct relay_participant *s)
{
    for (struct media_queue_item *item;
         (item = media_queue_remove_from_sender(&s->worker->queue, &s->sender));)
        media_datagram_count_and_free(s->worker->work,
                                      container_of(item, struct media_datagram, item));
}

/* Limits how many packets from unknown addresses are decrypted. Such a packet comes either from a
 * client whose address has changed, or from another host. */
static bool may_decrypt_media_from_address(struct relay_participant *s, bool audio,
                                           const union media_address *from, int64_t now_ms)
{
    struct media_rate_window *w = audio ? &s->media.window : &s->media.video_window;

    if (!media_is_within_rate_limit(s, audio, now_ms))
        return false;
    if (s->media.has_address && media_address_is_same(&s->media.address, from))
        return true;
    return w->foreign++ < WINDOW_FOREIGN;
}

/* Handles a datagram of a UDP client. Requests are answered before media that arrived earlier,
 * because they are short and rate-limited. The rate of packets from other hosts with the SSRC of a
 * participant is limited, so that they cannot fill the participant's queue. */
static void dispatch_client_datagram(struct media_packet_handler *w, enum media_packet_kind kind,
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

    if (s && kind != PACKET_IS_DISCOVERY &&
        may_decrypt_media_from_address(s, audio, &d->from, monotonic_ms())) {
        media_enqueue_datagram(w, s, audio, kind == PACKET_RTP ? MEDIA_RTP : MEDIA_RTCP, d);
        return;
    }
    if (kind == PACKET_IS_PING)
        answer_ping(w, bytes, &d->from);
    else if (s && kind == PACKET_IS_DISCOVERY)
        answer_ip_discovery(w, s, &d->from);
    else
        media_count_dropped_packet(w);
    media_datagram_count_and_free(w, d);
}

void media_answer_or_queue_datagram(struct media_packet_handler *w, struct media_datagram *d)
{
    enum media_packet_kind kind = classify_media_datagram(str_slice(d->bytes, d->n));

    if (handle_or_queue_browser_datagram(w, d))
        return;
    if (kind == PACKET_IGNORED)
        media_datagram_count_and_free(w, d);
    else
        dispatch_client_datagram(w, kind, d);
}

static void handle_media_datagram(struct media_packet_handler *w, struct relay_participant *s,
                                  const struct media_datagram *d)
{
    struct str bytes = str_slice(d->bytes, d->n);
    bool from_browser = d->kind == MEDIA_BROWSER_RTP || d->kind == MEDIA_BROWSER_RTCP;

    media_decide_if_encryption_is_timed(w);
    if (from_browser != (s->media.webrtc != NULL)) /* another protocol was selected */
        media_count_dropped_packet(w);
    else if (d->kind == MEDIA_RTP)
        handle_client_rtp(w, s, bytes, &d->from);
    else if (d->kind == MEDIA_RTCP)
        handle_client_rtcp(w, s, bytes);
    else if (d->kind == MEDIA_BROWSER_RTP)
        handle_browser_rtp(w, s, bytes);
    else
        handle_browser_rtcp(w, s, bytes);
}

/* Counts skipped participants, too: in a room of thousands, finding that nobody receives a packet
 * takes longer than receiving it. */
unsigned media_packet_cost(const struct media_packet_handler *w)
{
    return w->sent + w->skipped / SKIPPED_PER_COST;
}

bool media_handle_next_datagram(struct media_packet_handler *w)
{
    struct media_queue *q = &w->worker->queue;
    struct media_queue_sender *sender;
    struct media_queue_item *item = media_queue_pop(q, &sender);

    if (!item)
        return false;
    struct media_datagram *d = container_of(item, struct media_datagram, item);
    w->sent = w->skipped = 0;
    handle_media_datagram(w, container_of(sender, struct relay_participant, sender), d);
    media_queue_charge_room_for_datagram(q, RECEIVE_COST + media_packet_cost(w));
    media_datagram_count_and_free(w, d);
    return true;
}

void media_send_queued_datagrams(struct media_packet_handler *w)
{
    struct relay_worker *worker = w->worker;

    media_sender_flush(w->sender);
    media_counter_add(&worker->count.packets_in, worker->done_packets);
    media_counter_add(&worker->count.bytes_in, worker->done_bytes);
    worker->done_packets = worker->done_bytes = 0;
}

struct media_packet_handler *media_packet_handler_new(struct relay_worker *worker,
                                                      const struct media_packet_handler *outer)
{
    struct media_packet_handler *w = mem_new(sizeof *w);

    w->worker = worker;
    w->shares_sender = outer;
    w->sender =
        outer ? outer->sender : media_sender_new(worker, media_socket_fd(worker->relay->media));
    return w;
}

void media_packet_handler_free(struct media_packet_handler *w)
{
    if (!w)
        return;
    if (!w->shares_sender)
        media_sender_free(w->sender);
    mem_free(w);
}
