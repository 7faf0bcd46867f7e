/* fetcher.h - outgoing HTTP requests, for example to interaction endpoints and providers.
 *
 * A fetcher runs on one event loop and never blocks. Each request has a timeout and a maximum
 * response size, follows no redirect, and connects to no private address unless the operator allows
 * it. The address is checked after DNS resolution. Also in src/net/client: the mailer (mailer.h)
 * and the check for public addresses (public_address.c). */
#ifndef NET_FETCHER_H
#define NET_FETCHER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "net/loop.h"

enum fetch_result {
    FETCH_OK,          /* a response of any status was received */
    FETCH_BAD_URL,     /* the URL is not http(s), or contains user info */
    FETCH_FORBIDDEN,   /* the host resolves to a forbidden address */
    FETCH_UNREACHABLE, /* DNS, connect or TLS failed */
    FETCH_TIMEOUT,
    FETCH_TOO_LARGE,
};

/* Returns why a request got no usable response, as the end of a log line: "it is unreachable". With
 * FETCH_OK the server has answered, but not as expected. */
const char *fetch_result_describe(enum fetch_result result);

struct fetch_options {
    bool allow_private;  /* allow loopback, private and link-local addresses */
    const char *ca_file; /* file with CA certificates (PEM); NULL means the certificates of the
                          * system */
};

struct fetcher; /* A fetcher belongs to one loop; use it only on that loop's thread. */
struct fetcher *fetcher_new(struct loop *l, const struct fetch_options *options);
/* Ends running requests with the result FETCH_UNREACHABLE. Call on the loop, but not inside a
 * `done` callback. */
void fetcher_free(struct fetcher *f);

struct fetch_header {
    struct str name, value;
};

struct fetch_request {
    const char *method; /* "GET", "POST" and so on */
    const char *url;
    const struct fetch_header *headers;
    size_t header_count;
    struct str body;
    int64_t timeout_ms;
    size_t max_response;
    bool public_only; /* whether to refuse private addresses for this request, even if the fetcher
                       * allows them */
    /* Called on the loop's thread. The body is valid only during the call. To use a long body
     * later, move the contents of the buffer: a copy would block the loop. */
    void (*done)(void *arg, enum fetch_result result, int status, struct str content_type,
                 struct buf *body);
    void *arg;
};

/* Starts a request. Copies the struct `request`. Calls `done` after fetcher_start_request has
 * returned. */
void fetcher_start_request(struct fetcher *f, const struct fetch_request *request);

#endif
