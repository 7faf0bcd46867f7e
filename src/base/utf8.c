/* utf8.c - strict UTF-8. */
#include "base/utf8.h"

size_t utf8_decode(struct str s, uint32_t *ret)
{
    if (s.n == 0)
        return 0;

    const unsigned char *p = (const unsigned char *)s.p;
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    size_t n = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
    if (n == 0 || p[0] > 0xf4 || n > s.n)
        return 0;

    uint32_t cp = n == 1 ? p[0] : p[0] & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        cp = cp << 6 | (p[i] & 0x3f);
    }
    if (cp < least[n] || cp > 0x10ffff || (cp >= 0xd800 && cp <= 0xdfff))
        return 0;
    *ret = cp;
    return n;
}

bool utf8_is_valid(struct str s)
{
    uint32_t cp;

    while (s.n) {
        /* Skip eight ASCII bytes at a time, because most text is ASCII. */
        uint64_t word;
        while (s.n >= sizeof word) {
            memcpy(&word, s.p, sizeof word);
            if (word & 0x8080808080808080ULL)
                break;
            s = str_skip_bytes(s, sizeof word);
        }
        if (s.n == 0)
            break;
        size_t n = utf8_decode(s, &cp);
        if (n == 0)
            return false;
        s = str_skip_bytes(s, n);
    }
    return true;
}

bool utf8_is_ascii(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] >= 0x80)
            return false;
    return true;
}

/* Returns how many of the eight bytes of word are continuation bytes: their highest bit is set, the
 * next bit is not. */
static unsigned count_continuation_bytes(uint64_t word)
{
    const uint64_t ones = 0x0101010101010101ULL;

    return (unsigned)((word >> 7 & ~(word >> 6) & ones) * ones >> 56);
}

size_t utf8_length(struct str s)
{
    size_t n = s.n, i = 0;
    uint64_t word;

    for (; s.n - i >= sizeof word; i += sizeof word) {
        memcpy(&word, s.p + i, sizeof word);
        n -= count_continuation_bytes(word);
    }
    for (; i < s.n; i++)
        n -= ((unsigned char)s.p[i] & 0xc0) == 0x80;
    return n;
}

size_t utf8_encode(uint32_t cp, char out[4])
{
    if (cp < 0x80) {
        out[0] = (char)cp;
        return 1;
    }
    if (cp < 0x800) {
        out[0] = (char)(0xc0 | cp >> 6);
        out[1] = (char)(0x80 | (cp & 0x3f));
        return 2;
    }
    if (cp < 0x10000) {
        out[0] = (char)(0xe0 | cp >> 12);
        out[1] = (char)(0x80 | (cp >> 6 & 0x3f));
        out[2] = (char)(0x80 | (cp & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | cp >> 18);
    out[1] = (char)(0x80 | (cp >> 12 & 0x3f));
    out[2] = (char)(0x80 | (cp >> 6 & 0x3f));
    out[3] = (char)(0x80 | (cp & 0x3f));
    return 4;
}

/* Returns whether a code point has the Unicode property White_Space. */
static bool is_unicode_space(uint32_t cp)
{
    return (cp >= 0x09 && cp <= 0x0d) || cp == 0x20 || cp == 0x85 || cp == 0xa0 || cp == 0x1680 ||
           (cp >= 0x2000 && cp <= 0x200a) || cp == 0x2028 || cp == 0x2029 || cp == 0x202f ||
           cp == 0x205f || cp == 0x3000;
}

struct str utf8_trim(struct str s)
{
    uint32_t cp;
    size_t n;

    while ((n = utf8_decode(s, &cp)) && is_unicode_space(cp))
        s = str_skip_bytes(s, n);
    while (s.n) {
        size_t at = s.n - 1;

        while (at && ((unsigned char)s.p[at] & 0xc0) == 0x80)
            at--;
        if (!utf8_decode(str_skip_bytes(s, at), &cp) || !is_unicode_space(cp))
            break;
        s.n = at;
    }
    return s;
}

struct str utf8_drop_incomplete_last_character(struct str s)
{
    size_t start = s.n;
    uint32_t cp;

    while (start > 0 && s.n - start < 3 && ((unsigned char)s.p[start - 1] & 0xc0) == 0x80)
        start--;
    if (start > 0 && (unsigned char)s.p[start - 1] >= 0xc0)
        start--;
    return start < s.n && !utf8_decode(str_slice(s.p + start, s.n - start), &cp)
               ? str_slice(s.p, start)
               : s;
}
