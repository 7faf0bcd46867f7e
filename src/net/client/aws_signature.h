/* aws_signature.h - signature version 4 (AWS4-HMAC-SHA256) of requests to object storage.
 *
 * The signatures of libcurl are not used: in Debian 12 (7.88) libcurl neither sorts query
 * parameters nor signs parameters without a value ("?uploads"), and it cannot sign URLs. */
#ifndef NET_AWS_SIGNATURE_H
#define NET_AWS_SIGNATURE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

struct aws_credentials {
    const char *access_key, *secret, *region, *service;
};

struct aws_parameter {
    struct str name, value;
};

enum { AWS_TIMESTAMP_SIZE = 17, AWS_DIGEST_SIZE = 65, AWS_PARAMETERS_MAX = 16 };

struct aws_request {
    const char *method;
    struct str path; /* URI-encoded */
    /* Parameters of the query and headers, at most AWS_PARAMETERS_MAX of each kind, in any order.
     * Names and values of the query are not yet encoded. Names of headers are lower-case, and
     * `host` is one of them. */
    const struct aws_parameter *query, *headers;
    size_t query_count, header_count;
    struct str payload_digest; /* SHA-256 of the request body in hex, or UNSIGNED-PAYLOAD */
};

/* Formats the time as 20130524T000000Z. */
void aws_format_timestamp(int64_t seconds, char ret[AWS_TIMESTAMP_SIZE]);
void aws_compute_sha256(struct str bytes, char ret[AWS_DIGEST_SIZE]);
/* Appends text with all bytes but A-Z a-z 0-9 - . _ ~ encoded as %XX. */
void aws_append_percent_encoded(struct buf *out, struct str text, bool keep_slashes);
/* Appends "a=1&b=", encoded and sorted. */
void aws_append_query(struct buf *out, const struct aws_parameter *query, size_t count);
/* Appends the value of the header Authorization. */
void aws_append_authorization(struct buf *out, const struct aws_credentials *c,
                              const struct aws_request *r, const char *timestamp);
/* Appends the query part of a presigned URL that is valid for `seconds`. */
void aws_append_presigned_query(struct buf *out, const struct aws_credentials *c,
                                const struct aws_request *r, const char *timestamp, int seconds);

#endif
