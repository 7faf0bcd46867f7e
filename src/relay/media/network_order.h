/* network_order.h - reads and writes 16-bit and 32-bit numbers in network byte order. */
#ifndef RELAY_NETWORK_ORDER_H
#define RELAY_NETWORK_ORDER_H

#include <stdint.h>

static inline uint16_t network_read_u16(const void *p)
{
    const unsigned char *b = p;

    return (uint16_t)(b[0] << 8 | b[1]);
}

static inline uint32_t network_read_u32(const void *p)
{
    return (uint32_t)network_read_u16(p) << 16 | network_read_u16((const char *)p + 2);
}

/* These functions return the address after the written number. */
static inline unsigned char *write_u16_in_network_byte_order(unsigned char *out, unsigned v)
{
    out[0] = (unsigned char)(v >> 8);
    out[1] = (unsigned char)v;
    return out + 2;
}

static inline unsigned char *write_u32_in_network_byte_order(unsigned char *out, uint32_t v)
{
    return write_u16_in_network_byte_order(write_u16_in_network_byte_order(out, v >> 16),
                                           v & 0xffff);
}

#endif
