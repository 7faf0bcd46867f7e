/* str.c - text as a pointer and a length. */
#include "base/str.h"

#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/base64url.h"

static char ascii_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

bool str_eq_nocase(struct str a, struct str b)
{
    if (a.n != b.n)
        return false;
    for (size_t i = 0; i < a.n; i++)
        if (ascii_lower(a.p[i]) != ascii_lower(b.p[i]))
            return false;
    return true;
}

int str_cmp(struct str a, struct str b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int c = n ? memcmp(a.p, b.p, n) : 0;

    return c ? c : (a.n > b.n) - (a.n < b.n);
}

struct str str_skip_spaces(struct str s)
{
    while (s.n && s.p[0] == ' ')
        s = str_skip_bytes(s, 1);
    return s;
}

struct str str_trim(struct str s)
{
    while (s.n && (s.p[0] == ' ' || s.p[0] == '\t')) {
        s.p++;
        s.n--;
    }
    while (s.n && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t'))
        s.n--;
    return s;
}

bool str_to_u64(struct str s, uint64_t *ret)
{
    uint64_t v = 0;

    if (s.n == 0 || s.n > 20)
        return false;
    for (size_t i = 0; i < s.n; i++) {
        unsigned digit = (unsigned char)s.p[i] - (unsigned)'0';

        /* Only the 20th digit can overflow. */
        if (digit > 9 || (i == 19 && v > (UINT64_MAX - digit) / 10))
            return false;
        v = v * 10 + digit;
    }
    *ret = v;
    return true;
}

bool str_to_i64(struct str s, int64_t *ret)
{
    bool minus = s.n && s.p[0] == '-';
    uint64_t v;

    if (!str_to_u64(str_skip_bytes(s, minus), &v) || v > (uint64_t)INT64_MAX + minus)
        return false;
    *ret = (int64_t)(minus ? 0 - v : v);
    return true;
}

struct str str_dup(struct arena *a, struct str s)
{
    return (struct str){ str_dup_cstring(a, s), s.n };
}

char *str_dup_cstring(struct arena *a, struct str s)
{
    char *p = arena_alloc_unzeroed(a, s.n + 1);

    if (s.n)
        memcpy(p, s.p, s.n);
    p[s.n] = '\0';
    return p;
}

struct str str_printf(struct arena *a, const char *fmt, ...)
{
    va_list args, again;

    va_start(args, fmt);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, fmt, args);
    size_t size = n < 0 ? 0 : (size_t)n;
    char *p = arena_alloc_unzeroed(a, size + 1);
    vsnprintf(p, size + 1, fmt, again);
    va_end(again);
    va_end(args);
    return (struct str){ p, size };
}

struct str str_concat(struct arena *a, const struct str *parts, size_t count)
{
    size_t n = 0;

    for (size_t i = 0; i < count; i++)
        n += parts[i].n;
    char *out = arena_alloc_unzeroed(a, n + 1), *at = out;
    for (size_t i = 0; i < count; i++) {
        if (parts[i].n)
            memcpy(at, parts[i].p, parts[i].n);
        at += parts[i].n;
    }
    *at = '\0';
    return (struct str){ out, n };
}

struct str str_lower(struct arena *a, struct str s)
{
    char *p = str_dup_cstring(a, s);

    for (size_t i = 0; i < s.n; i++)
        p[i] = ascii_lower(p[i]);
    return (struct str){ p, s.n };
}

static int hex_digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = ascii_lower(c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool str_percent_decode(struct arena *a, struct str s, bool plus_is_space, struct str *ret)
{
    if (!s.n || (!memchr(s.p, '%', s.n) && !(plus_is_space && memchr(s.p, '+', s.n)))) {
        *ret = s;
        return true;
    }

    char *out = arena_alloc_unzeroed(a, s.n);
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];

        if (c == '%') {
            int high = i + 2 < s.n ? hex_digit_value(s.p[i + 1]) : -1;
            int low = i + 2 < s.n ? hex_digit_value(s.p[i + 2]) : -1;

            if (high < 0 || low < 0)
                return false;
            c = (char)(high * 16 + low);
            i += 2;
        } else if (c == '+' && plus_is_space) {
            c = ' ';
        }
        out[n++] = c;
    }
    *ret = (struct str){ out, n };
    return true;
}

bool char_is_unreserved_in_url(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

struct str str_percent_encode(struct arena *a, struct str s)
{
    static const char hex[] = "0123456789ABCDEF";
    char *out = arena_alloc_unzeroed(a, 3 * s.n);
    size_t n = 0;

    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];

        if (char_is_unreserved_in_url(s.p[i])) {
            out[n++] = s.p[i];
            continue;
        }
        out[n++] = '%';
        out[n++] = hex[c >> 4];
        out[n++] = hex[c & 15];
    }
    return (struct str){ out, n };
}

struct str str_hex_encode(struct arena *a, const void *p, size_t n)
{
    char *out = arena_alloc_unzeroed(a, n * 2 + 1);

    sodium_bin2hex(out, n * 2 + 1, p, n);
    return (struct str){ out, n * 2 };
}

/* Encodes six bits as a character in constant time, because the text may be a secret: no branch and
 * no table lookup depends on the value. */
static char base64url_char(unsigned v)
{
    unsigned c = v + 'A';

    c += ((25u - v) >> 8) & ('a' - 'Z' - 1);
    c -= ((51u - v) >> 8) & ('z' + 1 - '0');
    c -= ((61u - v) >> 8) & ('9' + 1 - '-');
    c += ((62u - v) >> 8) & ('_' - '-' - 1);
    return (char)c;
}

/* Value of each base64url character plus one; 0 for invalid characters. Decoding may use a table,
 * because the client that could measure the time knows the text that it sent. */
static const unsigned char base64url_values[256] = {
    ['A'] = 1,  ['B'] = 2,  ['C'] = 3,  ['D'] = 4,  ['E'] = 5,  ['F'] = 6,  ['G'] = 7,  ['H'] = 8,
    ['I'] = 9,  ['J'] = 10, ['K'] = 11, ['L'] = 12, ['M'] = 13, ['N'] = 14, ['O'] = 15, ['P'] = 16,
    ['Q'] = 17, ['R'] = 18, ['S'] = 19, ['T'] = 20, ['U'] = 21, ['V'] = 22, ['W'] = 23, ['X'] = 24,
    ['Y'] = 25, ['Z'] = 26, ['a'] = 27, ['b'] = 28, ['c'] = 29, ['d'] = 30, ['e'] = 31, ['f'] = 32,
    ['g'] = 33, ['h'] = 34, ['i'] = 35, ['j'] = 36, ['k'] = 37, ['l'] = 38, ['m'] = 39, ['n'] = 40,
    ['o'] = 41, ['p'] = 42, ['q'] = 43, ['r'] = 44, ['s'] = 45, ['t'] = 46, ['u'] = 47, ['v'] = 48,
    ['w'] = 49, ['x'] = 50, ['y'] = 51, ['z'] = 52, ['0'] = 53, ['1'] = 54, ['2'] = 55, ['3'] = 56,
    ['4'] = 57, ['5'] = 58, ['6'] = 59, ['7'] = 60, ['8'] = 61, ['9'] = 62, ['-'] = 63, ['_'] = 64,
};

size_t base64url_encode(const void *p, size_t n, char *out)
{
    const unsigned char *b = p;
    char *at = out;

    for (; n >= 3; n -= 3, b += 3) {
        unsigned v = (unsigned)b[0] << 16 | (unsigned)b[1] << 8 | b[2];

        *at++ = base64url_char(v >> 18);
        *at++ = base64url_char(v >> 12 & 63);
        *at++ = base64url_char(v >> 6 & 63);
        *at++ = base64url_char(v & 63);
    }
    if (n) {
        unsigned v = (unsigned)b[0] << 8 | (n == 2 ? b[1] : 0u);

        *at++ = base64url_char(v >> 10);
        *at++ = base64url_char(v >> 4 & 63);
        if (n == 2)
            *at++ = base64url_char(v << 2 & 63);
    }
    return (size_t)(at - out);
}

struct str str_base64url_encode(struct arena *a, const void *p, size_t n)
{
    char *out = arena_alloc_unzeroed(a, BASE64URL_LENGTH(n) + 1);
    size_t length = base64url_encode(p, n, out);

    out[length] = 0;
    return (struct str){ out, length };
}

/* Decodes strictly: rejects a text with a single character after the last group of four, and unused
 * bits that are not 0. */
bool str_base64url_decode(struct str s, void *out, size_t max, size_t *ret_n)
{
    size_t n = s.n / 4 * 3 + s.n % 4 * 3 / 4;
    unsigned char *to = out;
    unsigned bits = 0, bad = 0;

    if (s.n % 4 == 1 || n > max)
        return false;
    for (size_t i = 0; i < s.n; i++) {
        unsigned v = base64url_values[(unsigned char)s.p[i]] - 1u;

        bad |= v >> 6;
        bits = bits << 6 | (v & 63);
        if (i % 4)
            *to++ = (unsigned char)(bits >> (6 - i % 4 * 2));
    }
    bad |= s.n % 4 ? bits & ((1u << (s.n % 4 == 2 ? 4 : 2)) - 1) : 0;
    *ret_n = n;
    return !bad;
}

bool str_base64_decode(struct arena *a, struct str s, struct str *ret)
{
    size_t n, max = s.n / 4 * 3 + 3;
    unsigned char *out = arena_alloc_unzeroed(a, max);

    if (sodium_base642bin(out, max, s.p, s.n, " \t\r\n", &n, NULL,
                          sodium_base64_VARIANT_ORIGINAL) != 0)
        return false;
    *ret = (struct str){ (char *)out, n };
    return true;
}
