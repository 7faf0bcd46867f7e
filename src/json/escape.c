/* escape.c - decodes escapes in JSON strings. */
#include "json/escape.h"

#include "base/arena.h"
#include "base/utf8.h"

static int32_t parse_four_hex_digits(const char *p, const char *end)
{
    int32_t v = 0;

    if (end - p < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        char c = p[i];

        if (c >= '0' && c <= '9')
            v = v * 16 + (c - '0');
        else if ((c | 32) >= 'a' && (c | 32) <= 'f')
            v = v * 16 + ((c | 32) - 'a' + 10);
        else
            return -1;
    }
    return v;
}

/* Parses \uXXXX, or a surrogate pair of two such escapes. */
static size_t parse_unicode_escape(const char *p, const char *end, uint32_t *ret)
{
    int32_t high = parse_four_hex_digits(p + 2, end), low;

    if (high < 0 || (high >= 0xdc00 && high <= 0xdfff))
        return 0;
    if (high < 0xd800 || high > 0xdfff) {
        *ret = (uint32_t)high;
        return 6;
    }
    if (end - p < 12 || p[6] != '\\' || p[7] != 'u')
        return 0;
    low = parse_four_hex_digits(p + 8, end);
    if (low < 0xdc00 || low > 0xdfff)
        return 0;
    *ret = 0x10000 + ((uint32_t)(high - 0xd800) << 10) + (uint32_t)(low - 0xdc00);
    return 12;
}

size_t decode_escape(const char *p, const char *end, uint32_t *ret)
{
    static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    const char *letter;

    if (end - p < 2)
        return 0;
    if (p[1] == 'u')
        return parse_unicode_escape(p, end, ret);
    letter = memchr(letters, p[1], sizeof letters - 1);
    if (!letter)
        return 0;
    *ret = (unsigned char)meanings[letter - letters];
    return 2;
}

/* Decodes into a buffer of the input's length: the decoded text is never longer than the input. */
struct str decode_escapes(struct arena *arena, struct str raw)
{
    char *out = arena_alloc_unzeroed(arena, raw.n);
    const char *p = raw.p, *end = raw.p + raw.n;
    size_t n = 0;
    uint32_t cp;

    while (p < end) {
        const char *stop = memchr(p, '\\', (size_t)(end - p));
        size_t plain = (size_t)((stop ? stop : end) - p);

        memcpy(out + n, p, plain);
        n += plain;
        p += plain;
        if (stop) {
            p += decode_escape(p, end, &cp);
            n += utf8_encode(cp, out + n);
        }
    }
    return str_slice(out, n);
}
