/* object_storage.c - an S3-compatible object storage: options, state, presigned URLs. */
#include "net/client/object_request.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"

enum { DEFAULT_PART_BYTES = 5 * 1024 * 1024 }; /* the least that S3 allows */

/* Parses "http(s)://HOST[:PORT]". Returns false if url has another form. */
static bool parse_object_storage_endpoint(struct endpoint *e, struct str url)
{
    bool tls = str_starts_with(url, STR("https://"));

    if (!tls && !str_starts_with(url, STR("http://")))
        return false;
    struct str host = str_skip_bytes(url, tls ? 8 : 7);
    if (host.n && host.p[host.n - 1] == '/')
        host.n--;
    struct str standard = tls ? STR(":443") : STR(":80");
    if (host.n > standard.n && memcmp(host.p + host.n - standard.n, standard.p, standard.n) == 0)
        host.n -= standard.n;
    for (size_t i = 0; i < host.n; i++)
        if (!strchr("-.:[]", host.p[i]) && !(host.p[i] >= 'a' && host.p[i] <= 'z') &&
            !(host.p[i] >= 'A' && host.p[i] <= 'Z') && !(host.p[i] >= '0' && host.p[i] <= '9'))
            return false;
    e->scheme = mem_dup_cstring(tls ? "https" : "http");
    e->host = mem_new(host.n + 1);
    memcpy(e->host, host.p, host.n);
    return host.n > 0;
}

static bool is_bucket_name(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!(s.p[i] >= 'a' && s.p[i] <= 'z') && !(s.p[i] >= '0' && s.p[i] <= '9') &&
            (s.p[i] != '-' && s.p[i] != '.'))
            return false;
    return s.n >= 3 && s.n <= 63;
}

static char *duplicate_str_as_cstring(struct str s)
{
    char *copy = mem_new(s.n + 1);

    if (s.n)
        memcpy(copy, s.p, s.n);
    return copy;
}

static bool parse_object_storage_address(struct object_storage *o, struct str address)
{
    if (!str_starts_with(address, STR("s3://")))
        return false;
    struct str rest = str_skip_bytes(address, 5), bucket = str_cut(&rest, '/');
    while (rest.n && rest.p[rest.n - 1] == '/')
        rest.n--;
    o->bucket = duplicate_str_as_cstring(bucket);
    o->prefix = mem_new(rest.n + 2);
    if (rest.n)
        snprintf(o->prefix, rest.n + 2, "%.*s/", STR_ARGS(rest));
    o->address = mem_new(rest.n + bucket.n + 7);
    snprintf(o->address, rest.n + bucket.n + 7, "s3://%.*s%s%.*s", STR_ARGS(bucket),
             rest.n ? "/" : "", STR_ARGS(rest));
    return is_bucket_name(bucket) && rest.n < 512;
}

static const char *object_storage_read_options(struct object_storage *o,
                                               const struct object_storage_options *from)
{
    char amazon[128];

    if (!parse_object_storage_address(o, str_of(from->address)))
        return "blobs must be folder, postgres, s3://BUCKET or s3://BUCKET/PREFIX; a bucket name "
               "has 3 to 63 characters of a-z, 0-9, - and .";
    if (!from->region || !from->region[0] || strlen(from->region) > 64)
        return "s3-region must be the region of the bucket, for example us-east-1";
    snprintf(amazon, sizeof amazon, "https://s3.%s.amazonaws.com", from->region);
    if (!parse_object_storage_endpoint(&o->endpoint,
                                       str_of(from->endpoint ? from->endpoint : amazon)))
        return "s3-endpoint must be the URL of the object storage without a path: "
               "https://HOST[:PORT]";
    if (from->public_url
            ? !parse_object_storage_endpoint(&o->public_endpoint, str_of(from->public_url))
            : (o->public_endpoint.scheme = mem_dup_cstring(o->endpoint.scheme),
               o->public_endpoint.host = mem_dup_cstring(o->endpoint.host), false))
        return "s3-redirects must be off, on, or the URL at which clients reach the object "
               "storage: https://HOST[:PORT]";
    if (!from->access_key || !from->access_key[0])
        return "blobs s3://… requires an access key: set s3-access-key or AWS_ACCESS_KEY_ID";
    if (!from->secret || !from->secret[0])
        return "blobs s3://… requires the secret of the access key: set s3-secret-file or "
               "AWS_SECRET_ACCESS_KEY";
    o->region = mem_dup_cstring(from->region);
    o->access_key = mem_dup_cstring(from->access_key);
    o->secret = mem_dup_cstring(from->secret);
    o->ca_file = from->ca_file ? mem_dup_cstring(from->ca_file) : NULL;
    o->host_addressing = from->host_addressing;
    o->patient = from->patient;
    o->part_bytes = from->part_bytes ? from->part_bytes : DEFAULT_PART_BYTES;
    return load_curl() ? NULL : "libcurl, which blobs s3://… requires, cannot be loaded";
}

struct object_storage *object_storage_new(const struct object_storage_options *options,
                                          const char **ret_problem)
{
    struct object_storage *o = mem_new(sizeof *o);

    pthread_mutex_init(&o->lock, NULL);
    *ret_problem = object_storage_read_options(o, options);
    if (!*ret_problem)
        return o;
    object_storage_free(o);
    return NULL;
}

void object_storage_free(struct object_storage *o)
{
    if (!o)
        return;
    while (o->idle_count)
        curl.easy_cleanup(o->idle[--o->idle_count]);
    pthread_mutex_destroy(&o->lock);
    if (o->secret)
        sodium_memzero(o->secret, strlen(o->secret));
    mem_free(o->endpoint.scheme);
    mem_free(o->endpoint.host);
    mem_free(o->public_endpoint.scheme);
    mem_free(o->public_endpoint.host);
    mem_free(o->address);
    mem_free(o->bucket);
    mem_free(o->prefix);
    mem_free(o->region);
    mem_free(o->access_key);
    mem_free(o->secret);
    mem_free(o->ca_file);
    mem_free(o);
}

const char *object_storage_get_address(const struct object_storage *o)
{
    return o->address;
}

void object_storage_read_stats(const struct object_storage *o, struct object_storage_stats *ret)
{
    *ret = (struct object_storage_stats){ .requests = o->requests,
                                          .retries = o->retries,
                                          .failures = o->failures,
                                          .is_down = o->down_until_ms != 0 };
}

/* --- presigned URLs ------------------------------------------------------------------- */

void object_storage_append_presigned_url_origin(const struct object_storage *o, struct buf *out)
{
    buf_printf(out, "%s://", o->public_endpoint.scheme);
    object_storage_append_host(o, &o->public_endpoint, out);
}

void object_storage_append_presigned_url(const struct object_storage *o, const char *name,
                                         int seconds, struct str content_type,
                                         struct str disposition, struct str cache_control,
                                         struct buf *out)
{
    struct aws_credentials c = object_storage_get_credentials(o);
    char timestamp[AWS_TIMESTAMP_SIZE];
    struct buf path, host;

    buf_init(&path, MAX_OBJECT_URL);
    buf_init(&host, MAX_OBJECT_URL);
    object_storage_append_path(o, name, &path);
    object_storage_append_host(o, &o->public_endpoint, &host);
    aws_format_timestamp(time(NULL), timestamp);
    const struct aws_parameter headers[] = { { STR("host"), buf_as_str(&host) } };
    const struct aws_parameter query[] = {
        { STR("response-cache-control"), cache_control },
        { STR("response-content-disposition"), disposition },
        { STR("response-content-type"), content_type },
    };
    object_storage_append_presigned_url_origin(o, out);
    buf_add_str(out, buf_as_str(&path));
    buf_add_char(out, '?');
    aws_append_presigned_query(out, &c,
                               &(struct aws_request){ "GET", buf_as_str(&path), query, headers,
                                                      COUNT_OF(query), COUNT_OF(headers),
                                                      STR("UNSIGNED-PAYLOAD") },
                               timestamp, seconds);
    buf_clear(&path);
    buf_clear(&host);
}
