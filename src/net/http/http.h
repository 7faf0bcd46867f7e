/* http.h - HTTP/1.1 requests and answers.
 *
 * The reader is strict: whatever two parties could read differently (conflicting
 * lengths, folded headers, bare LF, spaces before a colon) is refused. It is a
 * pure function over bytes; the server around it is in server.h. */
#ifndef NET_HTTP_H
#define NET_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

enum {
    HTTP_MAX_LINE = 8 * 1024,  /* request line, without its end */
    HTTP_MAX_HEAD = 32 * 1024, /* all headers, with the empty line */
    HTTP_MAX_HEADERS = 100,
    HTTP_MAX_CHUNK_LINE = 256, /* size and extensions of a chunk */
    HTTP_MAX_TRAILERS = 8 * 1024,
};

enum http_method {
    HTTP_GET,
    HTTP_HEAD,
    HTTP_POST,
    HTTP_PUT,
    HTTP_PATCH,
    HTTP_DELETE,
    HTTP_OPTIONS,
    HTTP_METHODS,                     /* how many there are */
    HTTP_OTHER_METHOD = HTTP_METHODS, /* a well-formed token we do not know */
};

const char *http_method_name(enum http_method m);

struct http_header {
    struct str name, value; /* value without white space around it */
};

/* Every str points into the bytes that were parsed, or is { NULL, 0 }. */
struct http_request {
    enum http_method method;
    struct str method_text;
    struct str target;      /* as sent */
    struct str path, query; /* before and after the '?'; still escaped */
    int minor;              /* HTTP/1.minor */

    /* What the framing needs, worked out and checked. Waiting for a body that does
     * not come and upgrading with one are ruled out. */
    bool has_length, chunked, keep_alive, expect_continue, upgrade_websocket;
    uint64_t length; /* at most INT64_MAX; 0 without one */

    /* Headers that most calls look at; p == NULL when absent. The host of an
     * absolute target ("GET http://host/") takes the place of the header. */
    struct str host, authorization, content_type, accept_encoding;

    /* Last, so that a copy need only take as many as there are. */
    size_t header_count;
    struct http_header headers[HTTP_MAX_HEADERS];
};

/* Reads one request head from the front of bytes. Returns its length, or 0 when
 * more bytes are needed, or a negative HTTP status (-400, -414, -417, -431, -501,
 * -505) after which the connection must be closed. It never asks for more past
 * a limit. One empty line before the request is skipped (and counted). */
long http_read_head(struct str bytes, struct http_request *ret);

/* First header of that name (any case), or a str with p == NULL. */
struct str http_header(const struct http_request *r, struct str name);

/* --- chunked bodies ------------------------------------------------------------------- */

/* All zeros at the start. */
struct http_chunks {
    int state;
    uint64_t left;         /* bytes of the current chunk still to come */
    size_t line, trailers; /* bytes of the current line; of all trailers */
};

/* Takes bytes of a chunked body: body bytes are appended to out (which has the
 * limit). Returns bytes used, or a negative HTTP status (-400, -413 when out is
 * full, -431). *ret_done when the last chunk and its trailers are over; bytes
 * after that belong to the next request. */
long http_read_chunks(struct http_chunks *c, struct str bytes, struct buf *out, bool *ret_done);

/* --- pieces of header values ---------------------------------------------------------- */

/* Is "a/b; charset=x" of the type "a/b" (any case)? */
bool http_media_type_is(struct str content_type, struct str type);
/* A parameter such as boundary, unquoted into out (may be NULL, to know its
 * length). False when it is absent, malformed or longer than max. */
bool http_parameter(struct str value, struct str name, char *out, size_t max, size_t *ret_n);
/* Does Accept-Encoding offer this coding (q > 0; "*" counts)? */
bool http_accepts(struct str accept_encoding, struct str coding);

/* Does If-None-Match list this entity tag, or "*"? Weak tags are as good as strong ones. */
bool http_tag_listed(struct str if_none_match, struct str tag);

/* "bytes=0-99" against a size: 1 and the range, 0 for no or an unusable header
 * (send all), -1 for a range that cannot be satisfied (416). */
int http_range(struct str value, int64_t size, int64_t *ret_first, int64_t *ret_last);

#endif
