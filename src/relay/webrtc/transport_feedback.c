/* transport_feedback.c - transport-wide congestion control feedback for browsers. */
#include "relay/webrtc/transport_feedback.h"
#include "relay/media/network_order.h"

#include <string.h>

enum {
    ONE_BYTE_PROFILE = 0xbede, /* RFC 8285 */
    LAST_ID = 15,
    HEADER = 20,
    RTP_FEEDBACK = 205,
    FORMAT = 15,
    TICK_US = 250,            /* unit of deltas */
    REFERENCE_US = 64 * 1000, /* unit of the reference time */
    SYMBOLS_PER_CHUNK = 7,
    VECTOR_OF_TWO_BITS = 0xc000,
};
enum { NOT_RECEIVED, SMALL_DELTA, LARGE_DELTA };

bool transport_feedback_read_packet_number(const struct decrypted_rtp_packet *p, unsigned id,
                                           uint16_t *ret)
{
    if (!p->extended || p->n < RTP_EXTENSION_PREAMBLE_SIZE ||
        network_read_u16(p->bytes) != ONE_BYTE_PROFILE)
        return false;
    size_t end = RTP_EXTENSION_PREAMBLE_SIZE + 4 * (size_t)network_read_u16(p->bytes + 2);
    if (end > p->n)
        return false;
    for (size_t at = RTP_EXTENSION_PREAMBLE_SIZE; at < end;) {
        unsigned found = p->bytes[at] >> 4;
        size_t n = (p->bytes[at] & 0x0f) + 1U;

        if (p->bytes[at] == 0) { /* padding */
            at++;
            continue;
        }
        if (found == LAST_ID || at + 1 + n > end)
            return false;
        if (found == id && n == 2) {
            *ret = (uint16_t)network_read_u16(p->bytes + at + 1);
            return true;
        }
        at += 1 + n;
    }
    return false;
}

bool transport_feedback_record_arrival(struct transport_feedback *f, uint16_t number,
                                       int64_t now_us)
{
    if (!f->begun) {
        f->begun = true;
        f->first = number;
        f->sent_us = now_us;
    }
    uint16_t at = (uint16_t)(number - f->first);
    if (at > UINT16_MAX / 2)
        return false; /* already reported */
    if (at >=
        FEEDBACK_PACKETS) { /* the packet number is too far from the first number of the feedback */
        memset(f->arrived_us, 0, sizeof f->arrived_us);
        f->first = number;
        f->count = at = 0;
    }
    f->arrived_us[at] = now_us;
    if (at >= f->count)
        f->count = at + 1U;
    return now_us - f->sent_us >= FEEDBACK_INTERVAL_US || f->count >= FEEDBACK_PACKETS / 2;
}

/* Returns the status symbol of a packet for the feedback. Sets *ret_delta to the ticks (250 µs)
 * between *at_us and the arrival, and advances *at_us by this time. */
static unsigned feedback_symbol_of_arrival(int64_t arrived_us, int64_t *at_us, int *ret_delta)
{
    int64_t delta = (arrived_us - *at_us) / TICK_US;

    if (!arrived_us || delta < INT16_MIN || delta > INT16_MAX)
        return NOT_RECEIVED;
    *at_us += delta * TICK_US;
    *ret_delta = (int)delta;
    return delta >= 0 && delta <= UINT8_MAX ? SMALL_DELTA : LARGE_DELTA;
}

/* Writes the status of each packet in two bits. `symbols` has one status symbol per packet. */
static unsigned char *write_status_chunks(unsigned char *out, const unsigned char *symbols,
                                          unsigned count)
{
    for (unsigned i = 0; i < count; i += SYMBOLS_PER_CHUNK) {
        unsigned chunk = VECTOR_OF_TWO_BITS;

        for (unsigned k = 0; k < SYMBOLS_PER_CHUNK && i + k < count; k++)
            chunk |= (unsigned)symbols[i + k] << (12 - 2 * k);
        out = write_u16_in_network_byte_order(out, chunk);
    }
    return out;
}

size_t transport_feedback_write(struct transport_feedback *f, uint32_t sender, uint32_t media,
                                int64_t now_us, unsigned char out[PACKET_MAX])
{
    unsigned char symbols[FEEDBACK_PACKETS], deltas[2 * FEEDBACK_PACKETS], *end = deltas;
    int64_t first_us = 0;

    for (unsigned i = 0; i < f->count && !first_us; i++)
        first_us = f->arrived_us[i];
    int64_t reference = first_us / REFERENCE_US, at_us = reference * REFERENCE_US;
    for (unsigned i = 0; i < f->count; i++) {
        int delta = 0;

        symbols[i] = (unsigned char)feedback_symbol_of_arrival(f->arrived_us[i], &at_us, &delta);
        if (symbols[i] == SMALL_DELTA)
            *end++ = (unsigned char)delta;
        else if (symbols[i] == LARGE_DELTA)
            end = write_u16_in_network_byte_order(end, (unsigned)delta & 0xffff);
    }
    unsigned char *at =
        write_u32_in_network_byte_order(write_u32_in_network_byte_order(out + 4, sender), media);
    at = write_u16_in_network_byte_order(write_u16_in_network_byte_order(at, f->first), f->count);
    at = write_u32_in_network_byte_order(at, (uint32_t)(reference & 0xffffff) << 8 | f->index++);
    at = write_status_chunks(at, symbols, f->count);
    memcpy(at, deltas, (size_t)(end - deltas));
    at += end - deltas;
    while ((at - out) % 4)
        *at++ = 0;
    out[0] = 0x80 | FORMAT;
    out[1] = RTP_FEEDBACK;
    write_u16_in_network_byte_order(out + 2, (unsigned)((at - out) / 4 - 1));
    f->first = (uint16_t)(f->first + f->count);
    f->count = 0;
    f->sent_us = now_us;
    memset(f->arrived_us, 0, sizeof f->arrived_us);
    return (size_t)(at - out);
}
