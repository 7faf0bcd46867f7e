/* http_parser.h - parser for HTTP/1.1 requests.
 *
 * The parser is strict: it rejects input that two parties could interpret differently (conflicting
 * lengths, folded headers, bare LF, spaces before a colon). It is a pure function over bytes; the
 * server is in server.h. */
#ifndef NET_HTTP_PARSER_H
#define NET_HTTP_PARSER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

enum {
    HTTP_MAX_LINE = 8 * 1024,  /* maximum length in bytes of the request line without its CRLF */
    HTTP_MAX_HEAD = 32 * 1024, /* maximum length in bytes of all headers with the empty line */
    HTTP_MAX_HEADERS = 100,
    HTTP_MAX_CHUNK_LINE = 256, /* maximum length in bytes of the size and extensions of one chunk */
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
    HTTP_METHODS,                     /* number of known methods */
    HTTP_OTHER_METHOD = HTTP_METHODS, /* the method is a syntactically valid token but unknown to
                                       * this server */
};

const char *http_method_name(enum http_method m);

struct http_header {
    struct str name, value; /* value has no surrounding white space */
};

/* A parsed request. Every str points into the parsed bytes, or is NULL if absent. */
struct http_request {
    enum http_method method;
    struct str method_text;
    struct str target;      /* as received */
    struct str path, query; /* parts of the request target before and after '?', still
                             * percent-encoded */
    int minor;              /* minor version: HTTP/1.minor */

    /* Results of the headers that determine the body's length. expect_continue is set only if a
     * body follows; upgrade_websocket only if no body follows. */
    bool has_length, chunked, keep_alive, expect_continue, upgrade_websocket;
    uint64_t length; /* value of Content-Length, at most INT64_MAX; 0 if absent */

    /* Headers that most requests need; the pointer is NULL if the header is absent. If the target
     * is absolute ("GET http://host/"), its host overrides the Host header. */
    struct str host, authorization, content_type, accept_encoding;

    /* The array of headers is the last member, so that a copy of the struct can omit its unused
     * elements. */
    size_t header_count;
    struct http_header headers[HTTP_MAX_HEADERS];
};

/* Parses one request head at the start of bytes. Returns its length, 0 if more bytes are needed, or
 * a negative HTTP status (-400, -414, -417, -431, -501, -505), after which the connection must be
 * closed. If a size limit is exceeded, never returns 0. One empty line before the request is
 * skipped. */
long http_parse_head(struct str bytes, struct http_request *ret);

/* Returns the first header with this name (case-insensitive), or a str with a NULL pointer. */
struct str http_find_header(const struct http_request *r, struct str name);

/* --- chunked bodies ------------------------------------------------------------------- */

/* State of the decoder for chunked bodies; initialise it to zeros. */
struct http_chunk_decoder {
    int state;
    uint64_t left;         /* remaining bytes of the current chunk */
    size_t line, trailers; /* number of bytes of the current line, and of all trailer lines so
                            * far */
};

/* Decodes bytes of a chunked body and appends the content to out, up to the maximum of out. Returns
 * the number of bytes used, or a negative HTTP status (-400, -413 if out is full, -431). Sets
 * *ret_done after the last chunk and its trailers; bytes after that belong to the next request. */
long http_decode_chunks(struct http_chunk_decoder *c, struct str bytes, struct buf *out,
                        bool *ret_done);

/* --- header values -------------------------------------------------------------------- */

/* Returns true if "a/b; charset=x" has the media type "a/b" (case-insensitive). */
bool http_media_type_is(struct str content_type, struct str type);
/* Copies the unquoted value of a parameter such as boundary to out; if out is NULL, only computes
 * its length. Returns false if the parameter is absent, malformed or longer than max. */
bool http_copy_header_parameter(struct str value, struct str name, char *out, size_t max,
                                size_t *ret_n);
/* Returns true if Accept-Encoding allows this coding with q > 0; an asterisk matches any coding. */
bool http_accepts_content_coding(struct str accept_encoding, struct str coding);

/* Returns true if If-None-Match lists this entity tag or is an asterisk. Ignores the prefix W/ of
 * weak tags. */
bool http_etag_is_listed(struct str if_none_match, struct str tag);

/* Parses a Range header such as "bytes=0-99" for a resource of this size. Returns 1 and the range;
 * 0 if the header is absent or unusable (send the whole resource); -1 if the range cannot be
 * satisfied (status 416). */
int http_parse_range(struct str value, int64_t size, int64_t *ret_first, int64_t *ret_last);

#endif
