/* scan.h - over the bytes of a string that mean themselves, eight at a time. */
#ifndef JSON_SCAN_H
#define JSON_SCAN_H

#include <stdint.h>
#include <string.h>

#define SCAN_EACH(byte) (0x0101010101010101ULL * (byte))

/* Not 0 when one of eight bytes is a control character, a quote or a backslash:
 * what JSON writes as an escape. */
static inline uint64_t scan_escapes(uint64_t word)
{
    uint64_t quote = word ^ SCAN_EACH('"'), backslash = word ^ SCAN_EACH('\\');

    return (((word - SCAN_EACH(0x20)) & ~word) | ((quote - SCAN_EACH(1)) & ~quote) |
            ((backslash - SCAN_EACH(1)) & ~backslash)) &
           SCAN_EACH(0x80);
}

/* Not 0 when one of eight bytes is outside ASCII. */
static inline uint64_t scan_high(uint64_t word)
{
    return word & SCAN_EACH(0x80);
}

static inline uint64_t scan_load(const char *p)
{
    uint64_t word;

    memcpy(&word, p, sizeof word);
    return word;
}

#endif
