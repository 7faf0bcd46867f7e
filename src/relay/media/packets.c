/* packets.c - parses and writes voice datagrams, and detects replayed RTP packets. */
#include "relay/media/packets.h"

#include "base/hash.h"
#include "base/mem.h"
#include "relay/media/network_order.h"

enum {
    DISCOVERY_REQUEST = 1,
    DISCOVERY_REPLY = 2,
    DISCOVERY_LENGTH = PACKET_DISCOVERY_SIZE - 4,
    DISCOVERY_TEXT = 64,
    RTCP_FIRST = 200,
    RTCP_LAST = 206,
};
#define STUN_COOKIE UINT32_C(0x2112a442)

static const unsigned char ping_head[4] = { 0x13, 0x37, 0xca, 0xfe };
static const unsigned char pong_head[4] = { 0x13, 0x37, 0xf0, 0x0d };

/* --- parsing and writing -------------------------------------------------------------- */

enum media_packet_kind classify_media_datagram(struct str d)
{
    if (d.n == PACKET_PING_SIZE)
        return memcmp(d.p, ping_head, sizeof ping_head) == 0 ? PACKET_IS_PING : PACKET_IGNORED;
    if (d.n == PACKET_DISCOVERY_SIZE && network_read_u16(d.p) == DISCOVERY_REQUEST &&
        network_read_u16(d.p + 2) == DISCOVERY_LENGTH)
        return PACKET_IS_DISCOVERY;
    if (d.n < RTP_HEADER_SIZE || d.n > PACKET_MAX || ((unsigned char)d.p[0] & 0xc0) != 0x80)
        return PACKET_IGNORED;
    unsigned char type = (unsigned char)d.p[1];
    return type >= RTCP_FIRST && type <= RTCP_LAST ? PACKET_RTCP : PACKET_RTP;
}

bool ssrc_block_is_allowed(uint32_t first_ssrc)
{
    return first_ssrc / SSRCS_PER_PARTICIPANT != STUN_COOKIE / SSRCS_PER_PARTICIPANT;
}

uint32_t packet_read_ssrc(enum media_packet_kind kind, struct str d)
{
    return network_read_u32(d.p + (kind == PACKET_RTP ? 8 : 4));
}

void packet_write_ip_discovery_reply(uint32_t ssrc, struct str address, unsigned port,
                                     unsigned char out[PACKET_DISCOVERY_SIZE])
{
    memset(out, 0, PACKET_DISCOVERY_SIZE);
    write_u16_in_network_byte_order(out, DISCOVERY_REPLY);
    write_u16_in_network_byte_order(out + 2, DISCOVERY_LENGTH);
    write_u16_in_network_byte_order(out + 4, ssrc >> 16);
    write_u16_in_network_byte_order(out + 6, ssrc);
    memcpy(out + 8, address.p, address.n < DISCOVERY_TEXT ? address.n : DISCOVERY_TEXT - 1);
    write_u16_in_network_byte_order(out + 8 + DISCOVERY_TEXT, port);
}

void packet_write_pong(struct str ping, unsigned char out[PACKET_PING_SIZE])
{
    memcpy(out, pong_head, sizeof pong_head);
    memcpy(out + sizeof pong_head, ping.p + sizeof ping_head, PACKET_PING_SIZE - sizeof ping_head);
}

bool rtp_parse_header(struct str d, struct rtp_packet *ret)
{
    unsigned char first = (unsigned char)d.p[0];
    unsigned sources = first & 0x0f;
    bool extended = first & 0x10;
    size_t clear =
        RTP_HEADER_SIZE + 4 * (size_t)sources + (extended ? RTP_EXTENSION_PREAMBLE_SIZE : 0);

    if (d.n < clear)
        return false;
    *ret = (struct rtp_packet){
        .clear = str_slice(d.p, clear),
        .encrypted = str_skip_bytes(d, clear),
        .ssrc = network_read_u32(d.p + 8),
        .timestamp = network_read_u32(d.p + 4),
        .sequence = network_read_u16(d.p + 2),
        .type = (unsigned char)d.p[1] & 0x7f,
        .sources = sources,
        .extended = extended,
    };
    return true;
}

/* --- replay detection ----------------------------------------------------------------- */

static bool replay_window_has_seen(const struct replay_window *w, uint64_t back)
{
    return w->seen[back / 64] >> (back % 64) & 1;
}

bool replay_window_is_new(const struct replay_window *w, uint64_t number)
{
    if (!w->begun || number > w->highest)
        return true;
    uint64_t back = w->highest - number;
    return back < REPLAY_WINDOW && !replay_window_has_seen(w, back);
}

/* Moves the replay window up by `by` sequence numbers, which drops the oldest bits. */
static void replay_window_shift(struct replay_window *w, uint64_t by)
{
    if (by >= REPLAY_WINDOW) {
        w->seen[0] = w->seen[1] = 0;
    } else if (by >= 64) {
        w->seen[1] = w->seen[0] << (by - 64);
        w->seen[0] = 0;
    } else if (by) {
        w->seen[1] = w->seen[1] << by | w->seen[0] >> (64 - by);
        w->seen[0] <<= by;
    }
}

void replay_window_add_number(struct replay_window *w, uint64_t number)
{
    if (!w->begun || number > w->highest) {
        replay_window_shift(w, w->begun ? number - w->highest : 0);
        w->highest = number;
        w->begun = true;
    }
    uint64_t back = w->highest - number;
    if (back < REPLAY_WINDOW)
        w->seen[back / 64] |= UINT64_C(1) << (back % 64);
}

/* 64-bit number of a new stream's sequence number 0. It is not 0, because late packets may have
 * lower numbers. */
#define RTP_FIRST_NUMBER (UINT64_C(1) << 32)

/* Sequence numbers repeat after 65,536 packets, timestamps after a day. A packet with a new
 * sequence number but a timestamp that is ten seconds old is a replay. A packet with a sequence
 * number below the window but a newer timestamp comes from a sender that has reset its sequence
 * numbers. */
bool rtp_extend_sequence(const struct rtp_position *highest, const struct rtp_packet *p,
                         uint64_t *ret)
{
    if (!highest->begun) {
        *ret = RTP_FIRST_NUMBER + p->sequence;
        return true;
    }
    int64_t ahead = (int16_t)(uint16_t)(p->sequence - (uint16_t)highest->number);
    int64_t later = (int32_t)(p->timestamp - highest->timestamp);

    if (later < -10 * RTP_CLOCK_HZ)
        return false;
    if (ahead <= -REPLAY_WINDOW && later > 0)
        ahead += UINT16_MAX + 1;
    *ret = (uint64_t)((int64_t)highest->number + ahead);
    return true;
}

uint64_t rtp_count_sequences_used(const struct rtp_position *highest)
{
    return highest->number - RTP_FIRST_NUMBER;
}

void rtp_update_highest_position(struct rtp_position *highest, const struct rtp_packet *p,
                                 uint64_t number)
{
    if (highest->begun && number <= highest->number)
        return;
    /* Store the highest timestamp, so that a replayed packet never seems newer. */
    if (!highest->begun || (int32_t)(p->timestamp - highest->timestamp) > 0)
        highest->timestamp = p->timestamp;
    highest->number = number;
    highest->begun = true;
}

/* --- streams -------------------------------------------------------------------------- */

enum {
    START_PACKETS = 8,
    FRAME_TIMESTAMP_STEP = RTP_CLOCK_HZ / 50,
    START_HASHES_STEP = 2 * START_PACKETS
};

/* Returns the bit of the packet in start_bits, or 0 if the packet is not one of the first packets
 * of its stream. Packets may arrive out of order, so packets on both sides of the first received
 * packet count. */
static unsigned choose_filter_bit_of_start_packet(const struct rtp_stream *s,
                                                  const struct rtp_packet *p)
{
    uint16_t at = (uint16_t)(p->sequence - s->first + START_PACKETS);

    return at < 2 * START_PACKETS ? 1U << at : 0;
}

static bool rtp_stream_has_seen_start_packet(const struct rtp_stream *s, const struct rtp_packet *p)
{
    uint64_t hash = hash_str(p->encrypted);

    for (unsigned i = 0; i < s->start_count; i++)
        if (s->starts[i] == hash)
            return true;
    return false;
}

/* Computes the position of a packet in its stream. Returns false if the packet was received before
 * or is too old. */
static bool compute_rtp_position_of_packet(const struct rtp_stream *s, const struct rtp_packet *p,
                                           struct rtp_stream_position *ret)
{
    struct rtp_packet shifted = *p;

    shifted.sequence = (uint16_t)(shifted.sequence + s->ahead);
    shifted.timestamp += s->ahead_time;
    *ret = (struct rtp_stream_position){ .sequence = shifted.sequence,
                                         .timestamp = shifted.timestamp };
    bool is_new = rtp_extend_sequence(&s->highest, &shifted, &ret->number) &&
                  replay_window_is_new(&s->window, ret->number);
    ret->newest = !s->highest.begun || ret->number > s->highest.number;
    return is_new;
}

static void set_position_after_highest(const struct rtp_stream *s, struct rtp_stream_position *ret)
{
    ret->number = s->highest.number + 1;
    ret->sequence = (uint16_t)ret->number;
    ret->timestamp = s->highest.timestamp + FRAME_TIMESTAMP_STEP;
    ret->newest = ret->restarts = true;
}

bool rtp_stream_packet_is_new(const struct rtp_stream *s, const struct rtp_packet *p,
                              struct rtp_stream_position *ret)
{
    static const struct rtp_stream none;

    s = s ? s : &none;
    bool is_new = compute_rtp_position_of_packet(s, p, ret);
    if (s->has_new_sender)
        set_position_after_highest(s, ret);
    if (is_new || s->has_new_sender)
        return true;
    /* If the sequence number was not received yet, the packet is late. If it was received with
     * other bytes, the sender has restarted its track. */
    if (!(choose_filter_bit_of_start_packet(s, p) & s->start_bits) ||
        rtp_stream_has_no_space_for_start_hashes(s) || rtp_stream_has_seen_start_packet(s, p))
        return false;
    set_position_after_highest(s, ret);
    return true;
}

static void rtp_stream_record_start_packet(struct rtp_stream *s, const struct rtp_packet *p)
{
    if (rtp_stream_has_no_space_for_start_hashes(s))
        return;
    if (s->start_count % START_HASHES_STEP == 0)
        s->starts = mem_resize(s->starts, (s->start_count + START_HASHES_STEP) * sizeof *s->starts);
    s->starts[s->start_count++] = hash_str(p->encrypted);
}

void rtp_stream_record_position(struct rtp_stream *s, const struct rtp_packet *p,
                                const struct rtp_stream_position *a)
{
    struct rtp_packet shifted = *p;

    s->has_new_sender = false;
    if (a->restarts) {
        s->ahead = (uint16_t)(a->sequence - p->sequence);
        s->ahead_time = a->timestamp - p->timestamp;
    }
    shifted.timestamp = a->timestamp;
    replay_window_add_number(&s->window, a->number);
    rtp_update_highest_position(&s->highest, &shifted, a->number);
}

void rtp_stream_record_packet(struct rtp_stream *s, const struct rtp_packet *p,
                              const struct rtp_stream_position *a)
{
    if (!s->highest.begun)
        s->first = p->sequence;
    if (a->restarts)
        s->start_bits = 0;
    unsigned bit = choose_filter_bit_of_start_packet(s, p);
    s->start_bits |= bit;
    if (bit)
        rtp_stream_record_start_packet(s, p);
    rtp_stream_record_position(s, p, a);
}

struct rtp_stream_position rtp_stream_position_of_new_packet(const struct rtp_stream *s,
                                                             const struct rtp_packet *p)
{
    struct rtp_stream_position a;

    if (!compute_rtp_position_of_packet(s, p, &a))
        set_position_after_highest(s, &a);
    return a;
}

struct rtp_stream_position rtp_stream_record_video_packet(struct rtp_stream *s,
                                                          const struct rtp_packet *p)
{
    struct rtp_stream_position a = { 0 };

    if (s->has_new_sender && s->highest.begun) {
        s->ahead = (uint16_t)(s->highest.number + 1 - p->sequence);
        s->ahead_time = s->highest.timestamp + FRAME_TIMESTAMP_STEP - p->timestamp;
    }
    s->has_new_sender = false;
    a.sequence = (uint16_t)(p->sequence + s->ahead);
    a.timestamp = p->timestamp + s->ahead_time;
    int16_t later = (int16_t)(uint16_t)(a.sequence - (uint16_t)s->highest.number);
    a.newest = !s->highest.begun || later > 0;
    a.number = s->highest.begun ? (uint64_t)((int64_t)s->highest.number + later)
                                : RTP_FIRST_NUMBER + a.sequence;
    if (a.newest)
        s->highest = (struct rtp_position){ a.number, a.timestamp, true };
    return a;
}

bool rtp_stream_has_no_space_for_start_hashes(const struct rtp_stream *s)
{
    return s->start_count >= RTP_START_HASHES_MAX;
}

void rtp_stream_clear(struct rtp_stream *s)
{
    mem_free(s->starts);
    *s = (struct rtp_stream){ 0 };
}
