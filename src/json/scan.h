/* scan.h - over the bytes of a string that mean themselves, eight at a time. */
#ifndef JSON_SCAN_H
#define JSON_SCAN_H

#include <stdint.h>
#include <string.h>

#define SCAN_EACH(byte) (0x0101010101010101ULL * (byte))

/* Eight bytes as one number, the first one lowest. */
static inline uint64_t scan_load(const char *p)
{
    uint64_t word;

    memcpy(&word, p, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* Marks the bytes that JSON writes as an escape: control characters, quotes and
 * backslashes. Only the first mark is exact, later ones may be false. */
static inline uint64_t scan_escapes(uint64_t word)
{
    uint64_t quote = word ^ SCAN_EACH('"'), backslash = word ^ SCAN_EACH('\\');

    return (((word - SCAN_EACH(0x20)) & ~word) | ((quote - SCAN_EACH(1)) & ~quote) |
            ((backslash - SCAN_EACH(1)) & ~backslash)) &
           SCAN_EACH(0x80);
}

/* Marks the bytes outside ASCII. */
static inline uint64_t scan_high(uint64_t word)
{
    return word & SCAN_EACH(0x80);
}

/* Bytes before the first mark; there must be one. */
static inline unsigned scan_first(uint64_t marks)
{
    return (unsigned)__builtin_ctzll(marks) / 8;
}

#endif
