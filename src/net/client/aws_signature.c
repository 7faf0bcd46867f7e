/* aws_signature.c - signature version 4 (AWS4-HMAC-SHA256) of requests to object storage. */
#include "net/client/aws_signature.h"

#include <assert.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_TEXT = 64 * 1024 };

#define ALGORITHM "AWS4-HMAC-SHA256"

void aws_format_timestamp(int64_t seconds, char ret[AWS_TIMESTAMP_SIZE])
{
    time_t at = (time_t)seconds;
    struct tm tm;

    gmtime_r(&at, &tm);
    strftime(ret, AWS_TIMESTAMP_SIZE, "%Y%m%dT%H%M%SZ", &tm);
}

void aws_compute_sha256(struct str bytes, char ret[AWS_DIGEST_SIZE])
{
    unsigned char digest[crypto_hash_sha256_BYTES];

    crypto_hash_sha256(digest, (const unsigned char *)bytes.p, bytes.n);
    sodium_bin2hex(ret, AWS_DIGEST_SIZE, digest, sizeof digest);
}

void aws_append_percent_encoded(struct buf *out, struct str text, bool keep_slashes)
{
    for (size_t i = 0; i < text.n; i++) {
        if (char_is_unreserved_in_url(text.p[i]) || (keep_slashes && text.p[i] == '/'))
            buf_add_char(out, text.p[i]);
        else
            buf_printf(out, "%%%02X", (unsigned)(unsigned char)text.p[i]);
    }
}

static int compare_aws_parameters(const void *a, const void *b)
{
    const struct aws_parameter *x = a, *y = b;
    size_t n = x->name.n < y->name.n ? x->name.n : y->name.n;
    int order = memcmp(x->name.p, y->name.p, n);

    if (order)
        return order;
    return x->name.n < y->name.n ? -1 : x->name.n > y->name.n;
}

static void sort_aws_parameters(struct aws_parameter to[AWS_PARAMETERS_MAX],
                                const struct aws_parameter *from, size_t count)
{
    assert(count <= AWS_PARAMETERS_MAX);
    if (count) /* from may be NULL */
        memcpy(to, from, count * sizeof *to);
    qsort(to, count, sizeof *to, compare_aws_parameters);
}

/* The signature needs the encoded names in order. Sorting before encoding gives the same order,
 * because all names consist of unreserved characters. */
void aws_append_query(struct buf *out, const struct aws_parameter *query, size_t count)
{
    struct aws_parameter sorted[AWS_PARAMETERS_MAX];

    sort_aws_parameters(sorted, query, count);
    for (size_t i = 0; i < count; i++) {
        if (i)
            buf_add_char(out, '&');
        aws_append_percent_encoded(out, sorted[i].name, false);
        buf_add_char(out, '=');
        aws_append_percent_encoded(out, sorted[i].value, false);
    }
}

static void append_signed_header_names(struct buf *out, const struct aws_request *r)
{
    struct aws_parameter sorted[AWS_PARAMETERS_MAX];

    sort_aws_parameters(sorted, r->headers, r->header_count);
    for (size_t i = 0; i < r->header_count; i++)
        buf_printf(out, "%s%.*s", i ? ";" : "", STR_ARGS(sorted[i].name));
}

static void append_canonical_request(struct buf *out, const struct aws_request *r)
{
    struct aws_parameter sorted[AWS_PARAMETERS_MAX];

    buf_printf(out, "%s\n%.*s\n", r->method, STR_ARGS(r->path));
    aws_append_query(out, r->query, r->query_count);
    buf_add_char(out, '\n');
    sort_aws_parameters(sorted, r->headers, r->header_count);
    for (size_t i = 0; i < r->header_count; i++)
        buf_printf(out, "%.*s:%.*s\n", STR_ARGS(sorted[i].name), STR_ARGS(sorted[i].value));
    buf_add_char(out, '\n');
    append_signed_header_names(out, r);
    buf_printf(out, "\n%.*s", STR_ARGS(r->payload_digest));
}

static void append_aws_credential_scope(struct buf *out, const struct aws_credentials *c,
                                        const char *timestamp)
{
    buf_printf(out, "%.8s/%s/%s/aws4_request", timestamp, c->region, c->service);
}

static void hmac_compute(const unsigned char *key, size_t key_size, struct str text,
                         unsigned char ret[crypto_auth_hmacsha256_BYTES])
{
    crypto_auth_hmacsha256_state state;

    crypto_auth_hmacsha256_init(&state, key, key_size);
    crypto_auth_hmacsha256_update(&state, (const unsigned char *)text.p, text.n);
    crypto_auth_hmacsha256_final(&state, ret);
}

static void derive_signing_key(const struct aws_credentials *c, const char *timestamp,
                               unsigned char key[crypto_auth_hmacsha256_BYTES])
{
    struct buf first;

    buf_init(&first, MAX_TEXT);
    buf_printf(&first, "AWS4%s", c->secret);
    hmac_compute((const unsigned char *)first.p, first.n, str_slice(timestamp, 8), key);
    sodium_memzero(first.p, first.n);
    buf_clear(&first);
    hmac_compute(key, crypto_auth_hmacsha256_BYTES, str_of(c->region), key);
    hmac_compute(key, crypto_auth_hmacsha256_BYTES, str_of(c->service), key);
    hmac_compute(key, crypto_auth_hmacsha256_BYTES, STR("aws4_request"), key);
}

static void sign_request(const struct aws_credentials *c, const struct aws_request *r,
                         const char *timestamp, char ret[AWS_DIGEST_SIZE])
{
    unsigned char key[crypto_auth_hmacsha256_BYTES];
    char digest[AWS_DIGEST_SIZE];
    struct buf text;

    buf_init(&text, MAX_TEXT);
    append_canonical_request(&text, r);
    aws_compute_sha256(buf_as_str(&text), digest);
    buf_reset(&text);
    buf_printf(&text, ALGORITHM "\n%s\n", timestamp);
    append_aws_credential_scope(&text, c, timestamp);
    buf_printf(&text, "\n%s", digest);
    derive_signing_key(c, timestamp, key);
    hmac_compute(key, sizeof key, buf_as_str(&text), key);
    sodium_bin2hex(ret, AWS_DIGEST_SIZE, key, sizeof key);
    buf_clear(&text);
}

void aws_append_authorization(struct buf *out, const struct aws_credentials *c,
                              const struct aws_request *r, const char *timestamp)
{
    char signature[AWS_DIGEST_SIZE];

    sign_request(c, r, timestamp, signature);
    buf_printf(out, ALGORITHM " Credential=%s/", c->access_key);
    append_aws_credential_scope(out, c, timestamp);
    buf_add_lit(out, ",SignedHeaders=");
    append_signed_header_names(out, r);
    buf_printf(out, ",Signature=%s", signature);
}

void aws_append_presigned_query(struct buf *out, const struct aws_credentials *c,
                                const struct aws_request *r, const char *timestamp, int seconds)
{
    struct aws_parameter query[AWS_PARAMETERS_MAX];
    struct aws_request whole = *r;
    char signature[AWS_DIGEST_SIZE], expires[16];
    struct buf credential, names;

    buf_init(&credential, MAX_TEXT);
    buf_init(&names, MAX_TEXT);
    buf_printf(&credential, "%s/", c->access_key);
    append_aws_credential_scope(&credential, c, timestamp);
    append_signed_header_names(&names, r);
    snprintf(expires, sizeof expires, "%d", seconds);
    const struct aws_parameter added[] = {
        { STR("X-Amz-Algorithm"), STR(ALGORITHM) },
        { STR("X-Amz-Credential"), buf_as_str(&credential) },
        { STR("X-Amz-Date"), str_of(timestamp) },
        { STR("X-Amz-Expires"), str_of(expires) },
        { STR("X-Amz-SignedHeaders"), buf_as_str(&names) },
    };
    const size_t added_count = sizeof added / sizeof *added;

    assert(r->query_count + added_count <= AWS_PARAMETERS_MAX);
    if (r->query_count)
        memcpy(query, r->query, r->query_count * sizeof *query);
    memcpy(query + r->query_count, added, sizeof added);
    whole.query = query;
    whole.query_count = r->query_count + added_count;
    whole.payload_digest = STR("UNSIGNED-PAYLOAD");
    sign_request(c, &whole, timestamp, signature);
    aws_append_query(out, query, whole.query_count);
    buf_printf(out, "&X-Amz-Signature=%s", signature);
    buf_clear(&credential);
    buf_clear(&names);
}
