/* scan.h - over the bytes of a string that mean themselves, many at a time. */
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

/* Bytes before the first mark; there must be one. */
static inline unsigned scan_first(uint64_t marks)
{
    return (unsigned)__builtin_ctzll(marks) / 8;
}

/* A register of bytes, in the words that gcc and clang share: one comparison is
 * sixteen. */
typedef signed char scan_block __attribute__((vector_size(16)));
enum { SCAN_BLOCK = sizeof(scan_block) };

/* How many of SCAN_BLOCK bytes come before the first that a reader of strings must
 * look at: control characters, quotes, backslashes, bytes outside ASCII, which are
 * negative here. */
static inline unsigned scan_plain(const char *p)
{
    scan_block block, zero = { 0 };
    uint64_t low, high;

    memcpy(&block, p, sizeof block);
    block = (scan_block)((block < zero + 0x20) | (block == zero + '"') | (block == zero + '\\'));
    low = scan_load((const char *)&block);
    if (low)
        return scan_first(low);
    high = scan_load((const char *)&block + sizeof low);
    return high ? sizeof low + scan_first(high) : SCAN_BLOCK;
}

#endif
