/* rate_limits.h - rate limits of the source server, which all OS threads of a copy share.
 *
 * A bucket is known after its first response. Until then only one request at a time is sent, so
 * that several OS threads cannot exceed a limit that they do not know. The limit for all requests
 * together is spread evenly over time. Refused requests are counted, because a server may ban an
 * address that sends too many of them: the documented limit is 10,000 in ten minutes. */
#ifndef TOOLS_COPY_SOURCE_RATE_LIMITS_H
#define TOOLS_COPY_SOURCE_RATE_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct rate_limits;
struct rate_limit_bucket;

/* Rate limits that the headers of a response contain. */
struct rate_limit_response_headers {
    int status;
    char bucket[80];    /* "" if the response names none */
    int64_t remaining;  /* -1 if unknown */
    double reset_after; /* seconds; -1 if unknown */
    double retry_after; /* time to wait in seconds after status 429; -1 if unknown */
    bool global;        /* the 429 is about all requests */
};

struct rate_limits *client_rate_limits_new(int64_t requests_per_second);
void client_rate_limits_free(struct rate_limits *l);
/* Waits until the limits allow a request. `path` is the path of the request, without the API
 * version. */
struct rate_limit_bucket *client_rate_limits_wait_for_request(struct rate_limits *l,
                                                              const char *method, struct str path);
/* Records the response to a request for which client_rate_limits_wait_for_request was called.
 * Without a response, the status is 0. */
void client_rate_limits_record_response(struct rate_limits *l, struct rate_limit_bucket *b,
                                        const char *method, struct str path,
                                        const struct rate_limit_response_headers *reply);

#endif
