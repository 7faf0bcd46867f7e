/* str.c - text as a pointer and a length. */
#include "base/str.h"

#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/arena.h"

static char str_lower_char(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

bool str_eq_nocase(struct str a, struct str b)
{
    if (a.n != b.n)
        return false;
    for (size_t i = 0; i < a.n; i++)
        if (str_lower_char(a.p[i]) != str_lower_char(b.p[i]))
            return false;
    return true;
}

int str_cmp(struct str a, struct str b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int c = n ? memcmp(a.p, b.p, n) : 0;

    return c ? c : (a.n > b.n) - (a.n < b.n);
}

struct str str_cut(struct str *s, char sep)
{
    const char *at = s->n ? memchr(s->p, sep, s->n) : NULL;
    struct str front = *s;

    if (at) {
        front.n = (size_t)(at - s->p);
        *s = str_from(*s, front.n + 1);
    } else {
        *s = str_from(*s, s->n);
    }
    return front;
}

struct str str_skip_spaces(struct str s)
{
    while (s.n && s.p[0] == ' ')
        s = str_from(s, 1);
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

        /* 19 digits always fit. */
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

    if (!str_to_u64(str_from(s, minus), &v) || v > (uint64_t)INT64_MAX + minus)
        return false;
    *ret = (int64_t)(minus ? 0 - v : v);
    return true;
}

struct str str_dup(struct arena *a, struct str s)
{
    return (struct str){ str_dupz(a, s), s.n };
}

char *str_dupz(struct arena *a, struct str s)
{
    char *p = arena_raw(a, s.n + 1);

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
    char *p = arena_raw(a, size + 1);
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
    char *out = arena_raw(a, n + 1), *at = out;
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
    char *p = str_dupz(a, s);

    for (size_t i = 0; i < s.n; i++)
        p[i] = str_lower_char(p[i]);
    return (struct str){ p, s.n };
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = str_lower_char(c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool str_unescape(struct arena *a, struct str s, bool plus_is_space, struct str *ret)
{
    if (!s.n || (!memchr(s.p, '%', s.n) && !(plus_is_space && memchr(s.p, '+', s.n)))) {
        *ret = s;
        return true;
    }

    char *out = arena_raw(a, s.n);
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];

        if (c == '%') {
            int high = i + 2 < s.n ? hex_digit(s.p[i + 1]) : -1;
            int low = i + 2 < s.n ? hex_digit(s.p[i + 2]) : -1;

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

static bool is_unreserved(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

struct str str_escape(struct arena *a, struct str s)
{
    static const char hex[] = "0123456789ABCDEF";
    char *out = arena_raw(a, 3 * s.n);
    size_t n = 0;

    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];

        if (is_unreserved(s.p[i])) {
            out[n++] = s.p[i];
            continue;
        }
        out[n++] = '%';
        out[n++] = hex[c >> 4];
        out[n++] = hex[c & 15];
    }
    return (struct str){ out, n };
}

struct str str_hex(struct arena *a, const void *p, size_t n)
{
    char *out = arena_raw(a, n * 2 + 1);

    sodium_bin2hex(out, n * 2 + 1, p, n);
    return (struct str){ out, n * 2 };
}

struct str str_base64url(struct arena *a, const void *p, size_t n)
{
    const int variant = sodium_base64_VARIANT_URLSAFE_NO_PADDING;
    size_t room = sodium_base64_encoded_len(n, variant);
    char *out = arena_raw(a, room);

    sodium_bin2base64(out, room, p, n, variant);
    return (struct str){ out, room - 1 };
}

bool str_base64url_decode(struct str s, void *out, size_t max, size_t *ret_n)
{
    const int variant = sodium_base64_VARIANT_URLSAFE_NO_PADDING;

    return sodium_base642bin(out, max, s.p, s.n, NULL, ret_n, NULL, variant) == 0;
}

bool str_base64_decode(struct arena *a, struct str s, struct str *ret)
{
    size_t n, max = s.n / 4 * 3 + 3;
    unsigned char *out = arena_raw(a, max);

    if (sodium_base642bin(out, max, s.p, s.n, NULL, &n, NULL, sodium_base64_VARIANT_ORIGINAL) != 0)
        return false;
    *ret = (struct str){ (char *)out, n };
    return true;
}
