/* scan.h - searches strings for special bytes, 8 or 16 bytes at a time (SWAR and SIMD). */
#ifndef JSON_SCAN_H
#define JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "base/str.h"

#define SCAN_REPEAT_BYTE(byte) (0x0101010101010101ULL * (byte))

static inline uint64_t load_u64_little_endian(const char *p)
{
    uint64_t word;

    memcpy(&word, p, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

static inline uint32_t load_u32(const char *p)
{
    uint32_t word;

    memcpy(&word, p, sizeof word);
    return word;
}

/* Compares two short texts of n bytes, such as names and keys. The last eight (or four) bytes are
 * compared as one word, which may overlap bytes that were already compared. */
static inline bool bytes_are_equal(const char *p, const char *q, size_t n)
{
    if (n >= 8) {
        for (size_t i = 0; i < n - 8; i += 8)
            if (load_u64_little_endian(p + i) != load_u64_little_endian(q + i))
                return false;
        return load_u64_little_endian(p + n - 8) == load_u64_little_endian(q + n - 8);
    }
    if (n >= 4)
        return load_u32(p) == load_u32(q) && load_u32(p + n - 4) == load_u32(q + n - 4);
    while (n && p[n - 1] == q[n - 1])
        n--;
    return n == 0;
}

static inline bool short_str_eq(struct str a, struct str b)
{
    return a.n == b.n && bytes_are_equal(a.p, b.p, a.n);
}

/* Sets the top bit of each byte that equals `byte`. Only the lowest set bit is exact; higher bits
 * may be wrong. */
static inline uint64_t mark_matching_bytes(uint64_t word, unsigned char byte)
{
    uint64_t other = word ^ SCAN_REPEAT_BYTE(byte);

    return (other - SCAN_REPEAT_BYTE(1)) & ~other & SCAN_REPEAT_BYTE(0x80);
}

/* Returns true if a short text contains the byte; faster than memchr. The last eight bytes are
 * searched as one word, which may overlap bytes that were already searched. */
static inline bool short_str_contains(struct str s, char byte)
{
    size_t i = 0;

    if (s.n < 8) {
        while (i < s.n && s.p[i] != byte)
            i++;
        return i < s.n;
    }
    for (size_t last = s.n - 8;; i = i + 8 < last ? i + 8 : last) {
        if (mark_matching_bytes(load_u64_little_endian(s.p + i), (unsigned char)byte))
            return true;
        if (i == last)
            return false;
    }
}

/* Sets the top bit of each byte that JSON must escape: control characters, quotes and backslashes.
 * Only the lowest set bit is exact; higher ones may be wrong. */
static inline uint64_t mark_bytes_to_escape(uint64_t word)
{
    return ((word - SCAN_REPEAT_BYTE(0x20)) & ~word & SCAN_REPEAT_BYTE(0x80)) |
           mark_matching_bytes(word, '"') | mark_matching_bytes(word, '\\');
}

/* Returns the index of the first byte whose top bit is set in marks. marks must not be 0. */
static inline unsigned first_marked_byte_index(uint64_t marks)
{
    return (unsigned)__builtin_ctzll(marks) / 8;
}

/* count_plain_bytes_at_start returns how many of SCAN_BLOCK bytes precede the first byte that a
 * string parser must examine: control characters, quotes, backslashes and non-ASCII bytes (negative
 * as signed char). XOR with 2 maps the quote to 0x20, next to the control characters, so that one
 * comparison finds both. */
enum { SCAN_BLOCK = 16 };

#if defined(__SSE2__)

/* Returns a mask of 16 bits, one per byte: set if the string parser must examine the byte. */
static inline unsigned find_special_bytes_mask(const char *p)
{
    __m128i block = _mm_loadu_si128((const __m128i *)(const void *)p);
    /* The bytes that become negative are control characters, quotes or non-ASCII. */
    __m128i low = _mm_subs_epi8(_mm_xor_si128(block, _mm_set1_epi8(2)), _mm_set1_epi8(0x21));
    __m128i marks = _mm_or_si128(low, _mm_cmpeq_epi8(block, _mm_set1_epi8('\\')));

    return (unsigned)_mm_movemask_epi8(marks);
}

static inline unsigned count_plain_bytes_at_start(const char *p)
{
    return (unsigned)__builtin_ctz(find_special_bytes_mask(p) | 1u << SCAN_BLOCK);
}

#else

/* A vector of 16 bytes in the syntax of gcc and clang. */
typedef signed char scan_block __attribute__((vector_size(SCAN_BLOCK)));

static inline unsigned count_plain_bytes_at_start(const char *p)
{
    scan_block block, zero = { 0 };
    uint64_t low, high;

    memcpy(&block, p, sizeof block);
    block = (scan_block)(((block ^ 2) <= zero + 0x20) | (block == zero + '\\'));
    low = load_u64_little_endian((const char *)&block);
    if (low)
        return first_marked_byte_index(low);
    high = load_u64_little_endian((const char *)&block + sizeof low);
    return high ? sizeof low + first_marked_byte_index(high) : SCAN_BLOCK;
}

/* Returns a mask with one bit per byte: at most the bit of the first byte that the string parser
 * must examine is set. */
static inline unsigned find_special_bytes_mask(const char *p)
{
    unsigned n = count_plain_bytes_at_start(p);

    return n < SCAN_BLOCK ? 1u << n : 0;
}

#endif

#endif
