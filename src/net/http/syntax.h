/* syntax.h - character classes and small elements of HTTP, named as in RFC 9110 §5.6. */
#ifndef NET_SYNTAX_H
#define NET_SYNTAX_H

#include <stdbool.h>

#include "base/str.h"

enum {
    OCTET_TOKEN = 1,  /* allowed in methods, header names, codings */
    OCTET_TARGET = 2, /* allowed in request targets: visible ASCII without '#' */
    OCTET_VALUE = 4,  /* allowed in header values: HTAB, visible characters, bytes from 0x80 */
    OCTET_HOST = 8, /* allowed in host and port; not a comma, so that a list of hosts is refused */
};

extern const unsigned char octet_classes[256];

static inline bool octet_is_in_class(char c, int kind)
{
    return octet_classes[(unsigned char)c] & kind;
}

/* Returns a pointer to the first byte that is not in the class `kind`, or end. The loop is
 * unrolled, because the parsers spend most of their time in it. */
static inline const char *skip_octets_of_class(const char *p, const char *end, int kind)
{
    for (; end - p >= 4; p += 4) {
        if (!octet_is_in_class(p[0], kind))
            return p;
        if (!octet_is_in_class(p[1], kind))
            return p + 1;
        if (!octet_is_in_class(p[2], kind))
            return p + 2;
        if (!octet_is_in_class(p[3], kind))
            return p + 3;
    }
    while (p < end && octet_is_in_class(*p, kind))
        p++;
    return p;
}

/* Returns true if all bytes of s are in the class `kind`, or s is empty. */
static inline bool all_octets_in_class(struct str s, int kind)
{
    return skip_octets_of_class(s.p, s.p + s.n, kind) == s.p + s.n;
}

int hex_digit_to_int(char c);

/* A parameter "; name=value" of a header value. */
struct header_parameter {
    struct str name, value; /* value without the quotes; escapes are not decoded */
    bool quoted;
};

/* Parses the next parameter of *rest and removes it from *rest, which must start with ';' or be
 * empty. Returns 1, or 0 at the end, or -1 if the parameter is malformed. */
int parse_next_header_parameter(struct str *rest, struct header_parameter *ret);

#endif
