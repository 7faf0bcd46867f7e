/* client.h - requests to other servers: interaction endpoints, providers.
 *
 * Runs on a loop, never waits. Every request has a deadline and a largest
 * answer, follows no redirect, and goes to no private address unless the
 * operator allows it; the address is checked after the name is resolved. */
#ifndef NET_CLIENT_H
#define NET_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "net/loop.h"

enum fetch_result {
    FETCH_OK,          /* an answer came, whatever its status */
    FETCH_BAD_URL,     /* not http(s), or user info in it */
    FETCH_FORBIDDEN,   /* resolves to an address that is not allowed */
    FETCH_UNREACHABLE, /* no name, no connection, broken TLS */
    FETCH_TIMEOUT,
    FETCH_TOO_LARGE,
};

struct fetch_options {
    bool allow_private;  /* loopback, private, link-local, unique-local … */
    const char *ca_file; /* NULL: the system's */
};

struct fetcher; /* one per loop, touched there only */
struct fetcher *fetcher_new(struct loop *l, const struct fetch_options *options);
/* Running requests end with FETCH_UNREACHABLE. On the loop, not from a done. */
void fetcher_free(struct fetcher *f);

struct fetch_header {
    struct str name, value;
};

struct fetch {
    const char *method; /* "GET", "POST" … */
    const char *url;
    const struct fetch_header *headers;
    size_t header_count;
    struct str body;
    int64_t timeout_ms;
    size_t max_answer;
    bool public_only; /* no private address, even if the fetcher allows them */
    /* On the loop; the body is valid during the call. Who needs a long one for longer takes
     * the buffer and leaves an empty one: a copy would hold up the loop. */
    void (*done)(void *arg, enum fetch_result result, int status, struct str content_type,
                 struct buf *body);
    void *arg;
};

/* Copies all it is given. Calls done later, never before it returns. */
void fetcher_start(struct fetcher *f, const struct fetch *request);

#endif
