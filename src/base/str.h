/* str.h - text as a pointer and a length.
 *
 * A struct str points to bytes owned by others: a literal, a request, an arena. It is not
 * NUL-terminated and may contain NUL bytes. Folder base/ has text, memory, maps, time and ids. It
 * uses no other folder and owns no table. Start with this file, arena.h and errors.h. */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct arena;

struct str {
    const char *p;
    size_t n;
};

/* Makes a struct str from a string literal; also valid in static tables. */
#define STR(literal) ((struct str){ (literal), sizeof(literal) - 1 })
#define STR_INIT(literal)              \
    {                                  \
        (literal), sizeof(literal) - 1 \
    }

/* Arguments for printf: "%.*s", STR_ARGS(s). */
#define STR_ARGS(s) (int)(s).n, (s).p

static inline struct str str_of(const char *z)
{
    return (struct str){ z, z ? strlen(z) : 0 };
}

static inline struct str str_slice(const char *p, size_t n)
{
    return (struct str){ p, n };
}

static inline bool str_eq(struct str a, struct str b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static inline bool str_is(struct str a, const char *z)
{
    return str_eq(a, str_of(z));
}

static inline bool str_starts_with(struct str s, struct str prefix)
{
    return s.n >= prefix.n && (prefix.n == 0 || memcmp(s.p, prefix.p, prefix.n) == 0);
}

static inline struct str str_skip_bytes(struct str s, size_t at)
{
    if (at > s.n)
        at = s.n;
    return at ? (struct str){ s.p + at, s.n - at } : s;
}

/* Compares ASCII letters case-insensitively, for header names and schemes. */
bool str_eq_nocase(struct str a, struct str b);

/* Compares two texts byte by byte, like memcmp. If one text is the beginning of the other, it is
 * the smaller one. */
int str_cmp(struct str a, struct str b);

/* Splits s at the first `sep`: returns the text before the separator and sets *s to the text after
 * it. If there is no separator, returns the whole text and leaves *s empty. */
static inline struct str str_cut(struct str *s, char sep)
{
    const char *at = s->n ? memchr(s->p, sep, s->n) : NULL;
    struct str front = *s;

    if (at) {
        front.n = (size_t)(at - s->p);
        *s = str_skip_bytes(*s, front.n + 1);
    } else {
        *s = str_skip_bytes(*s, s->n);
    }
    return front;
}

/* Removes ASCII spaces and tabs at both ends. */
struct str str_trim(struct str s);
struct str str_skip_spaces(struct str s); /* removes leading spaces */

/* str_to_u64 and str_to_i64 parse a text that is exactly one decimal number. They return false if
 * it is out of range. str_to_u64 allows no sign. */
bool str_to_u64(struct str s, uint64_t *ret);
bool str_to_i64(struct str s, int64_t *ret);

/* Copy a text to an arena. str_dup_cstring returns a NUL-terminated string. */
struct str str_dup(struct arena *a, struct str s);
char *str_dup_cstring(struct arena *a, struct str s);
struct str str_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

struct str str_concat(struct arena *a, const struct str *parts, size_t count);
#define STR_CONCAT(a, ...)                               \
    str_concat((a), (const struct str[]){ __VA_ARGS__ }, \
               sizeof((const struct str[]){ __VA_ARGS__ }) / sizeof(struct str))

/* Returns a copy with ASCII letters in lower case. */
struct str str_lower(struct arena *a, struct str s);

/* Percent-encodes a path segment or query value; letters, digits and "-._~" are not encoded. */
struct str str_percent_encode(struct arena *a, struct str s);
/* Returns whether RFC 3986 lists the character as unreserved. */
bool char_is_unreserved_in_url(char c);

/* Percent-decodes a path segment or query value ('+' is a space only in queries). Returns false if
 * an escape is malformed. */
bool str_percent_decode(struct arena *a, struct str s, bool plus_is_space, struct str *ret);

/* Encode and decode lower-case hex, and base64url without padding (RFC 4648 §5). Decoding writes at
 * most max bytes; it returns false if a character or the length is invalid. */
struct str str_hex_encode(struct arena *a, const void *p, size_t n);
struct str str_base64url_encode(struct arena *a, const void *p, size_t n);
bool str_base64url_decode(struct str s, void *out, size_t max, size_t *ret_n);

/* Decodes standard base64 with padding, as in data URIs. Ignores white space, because the encoders
 * of Ruby and Python insert line breaks. */
bool str_base64_decode(struct arena *a, struct str s, struct str *ret);

#endif
