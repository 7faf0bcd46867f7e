/* syntax.h - the bytes and small pieces that HTTP's grammar is made of.
 *
 * For the parsers of this folder; RFC 9110 §5.6 has the names. */
#ifndef NET_SYNTAX_H
#define NET_SYNTAX_H

#include <stdbool.h>

#include "base/str.h"

enum {
    OCTET_TOKEN = 1,  /* methods, header names, codings */
    OCTET_TARGET = 2, /* request targets: visible ASCII without '#' */
    OCTET_VALUE = 4,  /* header values: no controls but HTAB; bytes from 0x80 on */
    OCTET_HOST = 8,   /* host and port; no comma, so that no list passes for one */
};

extern const unsigned char octet_kinds[256];

static inline bool octet_is(char c, int kind)
{
    return octet_kinds[(unsigned char)c] & kind;
}

/* The first byte that is not of that kind, or end. Four at a time, because the
 * readers spend most of their time here. */
static inline const char *octet_skip(const char *p, const char *end, int kind)
{
    for (; end - p >= 4; p += 4) {
        if (!octet_is(p[0], kind))
            return p;
        if (!octet_is(p[1], kind))
            return p + 1;
        if (!octet_is(p[2], kind))
            return p + 2;
        if (!octet_is(p[3], kind))
            return p + 3;
    }
    while (p < end && octet_is(*p, kind))
        p++;
    return p;
}

/* Are all bytes of that kind? True for the empty text. */
static inline bool octet_all(struct str s, int kind)
{
    return octet_skip(s.p, s.p + s.n, kind) == s.p + s.n;
}

/* 0-15, or -1. */
int octet_hex(char c);

/* One "; name=value" of a header value. */
struct parameter {
    struct str name, value; /* value without quotes around it, escapes still in it */
    bool quoted;
};

/* Cuts the next parameter off the front of *rest, which starts at a ';' (or is
 * empty). Returns 1, or 0 at the end, or -1 when it is malformed. */
int parameter_cut(struct str *rest, struct parameter *ret);

#endif
