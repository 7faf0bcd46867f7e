/* rate_limits.h - rate limits of the other server, shared by all threads of a copy.
 *
 * A bucket is known after its first response: until then one request at a time is sent, so that
 * several threads cannot exceed a limit that they do not know. The limit of all requests is spread
 * evenly. Refused requests are counted, because a server may ban an address that causes too many:
 * the documented limit is 10,000 in ten minutes. */
#ifndef TOOLS_COPY_SOURCE_RATE_LIMITS_H
#define TOOLS_COPY_SOURCE_RATE_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct rate_limits;
struct rate_limit_bucket;

/* Limits that the headers of a response contain. */
struct rate_limit_reply {
    int status;
    char bucket[80];    /* "" if the response names none */
    int64_t remaining;  /* -1 if unknown */
    double reset_after; /* seconds; -1 if unknown */
    double retry_after; /* seconds, of a 429; -1 if unknown */
    bool global;        /* the 429 is about all requests */
};

struct rate_limits *rate_limits_new(int64_t requests_per_second);
void rate_limits_free(struct rate_limits *l);
/* Waits until a request may be sent. `path` is the path of the request without the version. */
struct rate_limit_bucket *rate_limits_wait(struct rate_limits *l, const char *method,
                                           struct str path);
/* Records the response, or its absence (status 0), of a request for which rate_limits_wait was
 * called. */
void rate_limits_record(struct rate_limits *l, struct rate_limit_bucket *b, const char *method,
                        struct str path, const struct rate_limit_reply *reply);

#endif
