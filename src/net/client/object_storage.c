/* object_storage.c - requests to an S3-compatible object storage: objects, parts, lists. */
#include "net/client/object_storage.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "net/client/aws_signature.h"
#include "net/client/curl.h"

enum {
    DEFAULT_PART_BYTES = 5 * 1024 * 1024, /* the least that S3 allows */
    MAX_PARTS = 10000,
    IDLE_HANDLES = 8,
    CONNECT_MS = 5 * 1000,
    SILENT_S = 10, /* an attempt is aborted if fewer than SILENT_BYTES per second arrive for this
                    * many seconds */
    SILENT_BYTES = 256,
    ATTEMPT_MS = 60 * 1000,
    SERVER_ATTEMPTS = 3,
    TOOL_ATTEMPTS = 6,
    FIRST_PAUSE_MS = 200, /* doubles after each attempt */
    DOWN_MS = 5 * 1000,   /* time without requests after a failure */
    LOG_PAUSE_MS = 10 * 1000,
    MAX_RESPONSE = 4 * 1024 * 1024, /* in bytes: limit of a response in memory; a list of 1,000
                                     * objects has up to 1 MiB */
    MAX_URL = 8 * 1024,
};

struct endpoint {
    char *scheme; /* "http" or "https" */
    char *host;   /* host with the port, unless it is the default port of the scheme */
};

struct object_storage {
    char *address, *bucket, *prefix; /* bucket and prefix of the object names; prefix ends with a
                                      * slash or is empty */
    struct endpoint endpoint, public_endpoint;
    char *region, *access_key, *secret, *ca_file;
    bool host_addressing, patient;
    size_t part_bytes;
    pthread_mutex_t lock;
    CURL *idle[IDLE_HANDLES]; /* connections for the next requests */
    unsigned idle_count;
    _Atomic int64_t down_until_ms; /* if the storage is down: time of the next attempt; 0 if the
                                    * storage answers */
    _Atomic int64_t logged_ms;
    _Atomic uint64_t requests, retries, failures;
};

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* --- options -------------------------------------------------------------------------- */

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

const char *object_storage_address(const struct object_storage *o)
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

/* --- one request ---------------------------------------------------------------------- */

struct object_request {
    const char *method;
    const char *name; /* NULL: the bucket itself */
    const struct aws_parameter *query;
    size_t query_count;
    struct str body;
    int64_t first, last; /* range of bytes to read; last is 0 if the whole object is read */
    int fd; /* descriptor to which the content of a successful response is written; -1 to store it
             * in `response` */

    struct buf response;
    long status;
    char etag[128];
    int64_t received;  /* bytes written to fd */
    int64_t full_size; /* size of the whole object; -1 if unknown */
    bool disk_failed;
    char reason[256]; /* why the last attempt failed */
};

static void object_request_init(struct object_request *r, const char *method, const char *name)
{
    *r = (struct object_request){ .method = method, .name = name, .fd = -1 };
    buf_init(&r->response, MAX_RESPONSE);
}

static size_t on_object_bytes(char *p, size_t size, size_t count, void *arg)
{
    struct object_request *r = arg;
    size_t n = size * count;

    if (r->fd < 0 || !(r->status == 200 || r->status == 206)) {
        buf_add(&r->response, p, n);
        return n;
    }
    for (size_t at = 0; at < n;) {
        ssize_t written = pwrite(r->fd, p + at, n - at, (off_t)(r->first + r->received));

        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            r->disk_failed = true;
            return 0;
        }
        at += (size_t)written;
        r->received += written;
    }
    return n;
}

static bool header_value(struct str line, const char *name, struct str *ret)
{
    size_t n = strlen(name);

    if (line.n <= n || line.p[n] != ':' || strncasecmp(line.p, name, n) != 0)
        return false;
    struct str value = str_skip_bytes(line, n + 1);
    while (value.n && (*value.p == ' ' || *value.p == '\t'))
        value = str_skip_bytes(value, 1);
    while (value.n && strchr("\r\n \t", value.p[value.n - 1]))
        value.n--;
    *ret = value;
    return true;
}

static int64_t parse_size(struct str digits)
{
    int64_t size = 0;

    for (size_t i = 0; i < digits.n; i++) {
        if (digits.p[i] < '0' || digits.p[i] > '9' || size > INT64_MAX / 10 - 10)
            return -1;
        size = size * 10 + (digits.p[i] - '0');
    }
    return digits.n ? size : -1;
}

static size_t on_object_header(char *p, size_t size, size_t count, void *arg)
{
    struct object_request *r = arg;
    struct str line = str_slice(p, size * count), value;
    const char *slash;

    if (str_starts_with(line, STR("HTTP/"))) {
        struct str rest = line;

        str_cut(&rest, ' ');
        r->status = strtol(rest.n ? rest.p : "0", NULL, 10);
        r->full_size = -1;
    } else if (header_value(line, "etag", &value)) {
        snprintf(r->etag, sizeof r->etag, "%.*s", STR_ARGS(value));
    } else if (header_value(line, "content-range", &value)) {
        slash = memchr(value.p, '/', value.n);
        if (slash)
            r->full_size = parse_size(str_skip_bytes(value, (size_t)(slash - value.p) + 1));
    } else if (header_value(line, "content-length", &value) && r->status != 206) {
        r->full_size = parse_size(value);
    }
    return size * count;
}

static void append_object_path(const struct object_storage *o, const char *name, struct buf *out)
{
    buf_add_char(out, '/');
    if (!o->host_addressing) {
        buf_add_str(out, str_of(o->bucket));
        if (name)
            buf_add_char(out, '/');
    }
    if (name) {
        aws_append_encoded(out, str_of(o->prefix), true);
        aws_append_encoded(out, str_of(name), true);
    }
}

static void append_host(const struct object_storage *o, const struct endpoint *e, struct buf *out)
{
    if (o->host_addressing)
        buf_printf(out, "%s.", o->bucket);
    buf_add_str(out, str_of(e->host));
}

static struct aws_credentials get_aws_credentials_of_storage(const struct object_storage *o)
{
    return (struct aws_credentials){ o->access_key, o->secret, o->region, "s3" };
}

static struct curl_slist *add_header(struct curl_slist *list, const char *name, const char *value)
{
    struct buf line;

    buf_init(&line, MAX_URL);
    buf_printf(&line, "%s: %s", name, value);
    buf_add_char(&line, '\0');
    list = curl.slist_append(list, line.p);
    buf_clear(&line);
    return list;
}

/* Builds the URL and the headers of a signed request. */
static struct curl_slist *sign_request_headers(const struct object_storage *o,
                                               const struct object_request *r, struct buf *url)
{
    char digest[AWS_DIGEST_SIZE], timestamp[AWS_TIMESTAMP_SIZE], range[64];
    struct aws_credentials c = get_aws_credentials_of_storage(o);
    struct buf path, host, authorization;
    struct curl_slist *list = NULL;

    buf_init(&path, MAX_URL);
    buf_init(&host, MAX_URL);
    buf_init(&authorization, MAX_URL);
    append_object_path(o, r->name, &path);
    append_host(o, &o->endpoint, &host);
    aws_compute_sha256(r->body, digest);
    aws_format_timestamp(time(NULL), timestamp);
    const struct aws_parameter headers[] = {
        { STR("host"), buf_as_str(&host) },
        { STR("x-amz-content-sha256"), str_of(digest) },
        { STR("x-amz-date"), str_of(timestamp) },
    };
    aws_append_authorization(&authorization, &c,
                             &(struct aws_request){ r->method, buf_as_str(&path), r->query, headers,
                                                    r->query_count, COUNT_OF(headers),
                                                    str_of(digest) },
                             timestamp);
    buf_add_char(&authorization, '\0');
    list = add_header(list, "Authorization", authorization.p);
    list = add_header(list, "x-amz-content-sha256", digest);
    list = add_header(list, "x-amz-date", timestamp);
    list = add_header(list, "Content-Type", "application/octet-stream");
    list = curl.slist_append(list, "Expect:");
    if (r->last) {
        snprintf(range, sizeof range, "bytes=%" PRId64 "-%" PRId64, r->first, r->last);
        list = add_header(list, "Range", range);
    }
    buf_printf(url, "%s://%.*s%.*s%s", o->endpoint.scheme, STR_ARGS(buf_as_str(&host)),
               STR_ARGS(buf_as_str(&path)), r->query_count ? "?" : "");
    aws_append_query(url, r->query, r->query_count);
    buf_add_char(url, '\0');
    sodium_memzero(authorization.p, authorization.n);
    buf_clear(&path);
    buf_clear(&host);
    buf_clear(&authorization);
    return list;
}

static void request_set_options(const struct object_storage *o, struct object_request *r, CURL *e)
{
    curl.easy_reset(e); /* retains connections */
    curl.easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
    curl.easy_setopt(e, CURLOPT_PROXY, ""); /* ignores proxy settings of the environment */
    curl.easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
    curl.easy_setopt(e, CURLOPT_PATH_AS_IS, 1L);
    if (o->ca_file || find_ca_bundle())
        curl.easy_setopt(e, CURLOPT_CAINFO, o->ca_file ? o->ca_file : find_ca_bundle());
    curl.easy_setopt(e, CURLOPT_TIMEOUT_MS, (long)ATTEMPT_MS);
    curl.easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    curl.easy_setopt(e, CURLOPT_LOW_SPEED_LIMIT, (long)SILENT_BYTES);
    curl.easy_setopt(e, CURLOPT_LOW_SPEED_TIME, (long)SILENT_S);
    curl.easy_setopt(e, CURLOPT_WRITEFUNCTION, on_object_bytes);
    curl.easy_setopt(e, CURLOPT_WRITEDATA, r);
    curl.easy_setopt(e, CURLOPT_HEADERFUNCTION, on_object_header);
    curl.easy_setopt(e, CURLOPT_HEADERDATA, r);
    if (strcmp(r->method, "HEAD") == 0) {
        curl.easy_setopt(e, CURLOPT_NOBODY, 1L);
    } else if (strcmp(r->method, "PUT") == 0 || strcmp(r->method, "POST") == 0) {
        curl.easy_setopt(e, CURLOPT_POSTFIELDS, r->body.n ? r->body.p : "");
        curl.easy_setopt(e, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->body.n);
    }
    curl.easy_setopt(e, CURLOPT_CUSTOMREQUEST, r->method);
}

static CURL *acquire_handle(struct object_storage *o)
{
    CURL *e = NULL;

    pthread_mutex_lock(&o->lock);
    if (o->idle_count)
        e = o->idle[--o->idle_count];
    pthread_mutex_unlock(&o->lock);
    return e ? e : curl.easy_init();
}

static void release_curl_handle(struct object_storage *o, CURL *e)
{
    pthread_mutex_lock(&o->lock);
    bool retain = o->idle_count < IDLE_HANDLES;
    if (retain)
        o->idle[o->idle_count++] = e;
    pthread_mutex_unlock(&o->lock);
    if (!retain)
        curl.easy_cleanup(e);
}

/* Sets *ret to the text of the next XML element with this name. The text may contain XML
 * entities. */
static bool find_xml_element(struct str *xml, const char *name, struct str *ret)
{
    char open[64], close[64];

    snprintf(open, sizeof open, "<%s>", name);
    snprintf(close, sizeof close, "</%s>", name);
    const char *p = xml->n ? memmem(xml->p, xml->n, open, strlen(open)) : NULL;
    if (!p)
        return false;
    struct str rest = str_skip_bytes(*xml, (size_t)(p - xml->p) + strlen(open));
    const char *end = rest.n ? memmem(rest.p, rest.n, close, strlen(close)) : NULL;
    if (!end)
        return false;
    *ret = str_slice(rest.p, (size_t)(end - rest.p));
    *xml = str_skip_bytes(rest, (size_t)(end - rest.p) + strlen(close));
    return true;
}

/* Sends the request once. Returns whether a response arrived completely. */
static bool object_request_attempt(struct object_storage *o, struct object_request *r)
{
    CURL *e = acquire_handle(o);
    struct buf url;

    r->status = 0;
    r->received = 0;
    r->full_size = -1;
    buf_reset(&r->response);
    snprintf(r->reason, sizeof r->reason, "libcurl cannot be used");
    if (!e)
        return false;
    buf_init(&url, MAX_URL);
    struct curl_slist *headers = sign_request_headers(o, r, &url);
    request_set_options(o, r, e);
    curl.easy_setopt(e, CURLOPT_URL, url.p);
    curl.easy_setopt(e, CURLOPT_HTTPHEADER, headers);
    CURLcode code = curl.easy_perform(e);
    atomic_fetch_add(&o->requests, 1);
    if (code != CURLE_OK) {
        snprintf(r->reason, sizeof r->reason, "%s", curl.easy_strerror(code));
    } else {
        struct str xml = buf_as_str(&r->response), word = STR(""), message = STR("");

        find_xml_element(&xml, "Code", &word);
        find_xml_element(&xml, "Message", &message);
        snprintf(r->reason, sizeof r->reason, "it answered %ld %.*s: %.*s", r->status,
                 STR_ARGS(word), STR_ARGS(message));
    }
    curl.slist_free_all(headers);
    sodium_memzero(url.p, url.n);
    buf_clear(&url);
    release_curl_handle(o, e);
    return code == CURLE_OK;
}

/* --- attempts ------------------------------------------------------------------------- */

static bool http_status_is_temporary_failure(long status)
{
    return status == 0 || status == 408 || status == 429 || status >= 500;
}

/* Returns false while the storage is down. DOWN_MS after the failure, returns true to one caller,
 * which may send one attempt. */
static bool object_storage_may_send_request(struct object_storage *o, bool *ret_only_once)
{
    int64_t until = atomic_load(&o->down_until_ms), now = now_ms();

    *ret_only_once = until != 0 && !o->patient;
    if (!until || o->patient)
        return true;
    return now >= until &&
           atomic_compare_exchange_strong(&o->down_until_ms, &until, now + ATTEMPT_MS + DOWN_MS);
}

static void log_object_storage_failure(struct object_storage *o, const struct object_request *r)
{
    int64_t last = atomic_load(&o->logged_ms), now = now_ms();

    if ((last && now - last < LOG_PAUSE_MS) ||
        !atomic_compare_exchange_strong(&o->logged_ms, &last, now))
        return;
    log_error("files: the object storage %s://%s does not accept a request for '%s': %s. Uploads, "
              "and downloads of files that are not cached, fail until it does",
              o->endpoint.scheme, o->endpoint.host, o->address, r->reason);
}

static void object_storage_set_reachable(struct object_storage *o, bool is_up)
{
    int64_t before = atomic_exchange(&o->down_until_ms, is_up ? 0 : now_ms() + DOWN_MS);

    if (is_up && before) {
        atomic_store(&o->logged_ms, 0);
        log_info("files: the object storage answers again");
    }
}

static void pause_before_object_request_attempt(unsigned attempt)
{
    int64_t ms = FIRST_PAUSE_MS << (attempt - 1);

    ms = ms / 2 + (int64_t)randombytes_uniform((uint32_t)ms);
    nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000 }, NULL);
}

/* Sends a request; repeats it after temporary failures. Returns OK for status 2xx and 416,
 * ERR_NOT_FOUND for 404. */
static enum err object_request_send(struct object_storage *o, struct object_request *r)
{
    unsigned attempts = o->patient ? TOOL_ATTEMPTS : SERVER_ATTEMPTS;
    bool only_once;

    if (!object_storage_may_send_request(o, &only_once)) {
        atomic_fetch_add(&o->failures, 1);
        return ERR_FILES_UNAVAILABLE;
    }
    for (unsigned attempt = 1;; attempt++) {
        bool complete = object_request_attempt(o, r);

        if (r->disk_failed) {
            object_storage_set_reachable(o, true);
            return ERR_STORAGE_FULL;
        }
        if (complete && !http_status_is_temporary_failure(r->status))
            break;
        /* If another request has found meanwhile that the storage is down, do not retry, so that
         * this thread is not occupied. */
        bool is_down = !o->patient && atomic_load(&o->down_until_ms) != 0;
        if (attempt == attempts || only_once || is_down) {
            atomic_fetch_add(&o->failures, 1);
            object_storage_set_reachable(o, false);
            log_object_storage_failure(o, r);
            return ERR_FILES_UNAVAILABLE;
        }
        atomic_fetch_add(&o->retries, 1);
        pause_before_object_request_attempt(attempt);
    }
    object_storage_set_reachable(o, true);
    if ((r->status >= 200 && r->status < 300) || r->status == 416)
        return OK;
    if (r->status == 404) {
        struct str xml = buf_as_str(&r->response), code;

        /* A response to HEAD has no body and counts as "object not found". If the bucket does not
         * exist, the storage is not usable. */
        if (!find_xml_element(&xml, "Code", &code) || !str_is(code, "NoSuchBucket"))
            return ERR_NOT_FOUND;
    }
    atomic_fetch_add(&o->failures, 1);
    log_object_storage_failure(o, r);
    return ERR_FILES_UNAVAILABLE;
}

/* --- upload --------------------------------------------------------------------------- */

static enum err read_object_size(struct object_storage *o, const char *name, int64_t *ret_size)
{
    struct object_request r;

    object_request_init(&r, "HEAD", name);
    enum err e = object_request_send(o, &r);
    if (!e && r.full_size < 0)
        e = ERR_FILES_UNAVAILABLE;
    *ret_size = r.full_size;
    buf_clear(&r.response);
    return e;
}

/* Copies the text of an element whose text has no XML entities. In responses of S3 only names and
 * ETags have entities. */
static void copy_xml_text_without_entities(struct str text, char *out, size_t size)
{
    static const struct {
        const char *entity, *character;
    } entities[] = { { "&quot;", "\"" }, { "&amp;", "&" },  { "&lt;", "<" },
                     { "&gt;", ">" },    { "&apos;", "'" }, { "&#34;", "\"" } };
    size_t n = 0;

    for (size_t at = 0; at < text.n && n + 1 < size;) {
        bool found = false;

        for (size_t i = 0; i < COUNT_OF(entities) && !found; i++) {
            size_t length = strlen(entities[i].entity);

            found = text.n - at >= length && memcmp(text.p + at, entities[i].entity, length) == 0;
            if (found) {
                out[n++] = *entities[i].character;
                at += length;
            }
        }
        if (!found)
            out[n++] = text.p[at++];
    }
    out[n] = '\0';
}

static enum err begin_multipart_upload(struct object_storage *o, const char *name, char id[1024])
{
    const struct aws_parameter query[] = { { STR("uploads"), STR("") } };
    struct object_request r;
    struct str text;

    object_request_init(&r, "POST", name);
    r.query = query;
    r.query_count = 1;
    enum err e = object_request_send(o, &r);
    struct str xml = buf_as_str(&r.response);
    if (!e && find_xml_element(&xml, "UploadId", &text))
        copy_xml_text_without_entities(text, id, 1024);
    else if (!e)
        e = ERR_FILES_UNAVAILABLE;
    buf_clear(&r.response);
    return e;
}

static enum err upload_object_part(struct object_storage *o, const char *name, const char *id,
                                   unsigned number, struct str bytes, struct buf *list)
{
    char text[16];
    struct object_request r;

    snprintf(text, sizeof text, "%u", number);
    const struct aws_parameter query[] = { { STR("partNumber"), str_of(text) },
                                           { STR("uploadId"), str_of(id) } };
    object_request_init(&r, "PUT", name);
    r.query = query;
    r.query_count = 2;
    r.body = bytes;
    enum err e = object_request_send(o, &r);
    if (!e)
        buf_printf(list, "<Part><PartNumber>%u</PartNumber><ETag>%s</ETag></Part>", number, r.etag);
    buf_clear(&r.response);
    return e;
}

/* Completes an upload. Because that takes long, S3 may send status 200 first and report an error in
 * the body. */
static enum err complete_multipart_upload(struct object_storage *o, const char *name,
                                          const char *id, const struct buf *list)
{
    const struct aws_parameter query[] = { { STR("uploadId"), str_of(id) } };
    struct object_request r;

    object_request_init(&r, "POST", name);
    r.query = query;
    r.query_count = 1;
    r.body = buf_as_str(list);
    enum err e = object_request_send(o, &r);
    struct str xml = buf_as_str(&r.response), text;
    if (!e && find_xml_element(&xml, "Code", &text)) {
        log_object_storage_failure(o, &r);
        e = ERR_FILES_UNAVAILABLE;
    }
    buf_clear(&r.response);
    return e;
}

static enum err abort_multipart_upload(struct object_storage *o, const char *name, const char *id)
{
    const struct aws_parameter query[] = { { STR("uploadId"), str_of(id) } };
    struct object_request r;

    object_request_init(&r, "DELETE", name);
    r.query = query;
    r.query_count = 1;
    enum err e = object_request_send(o, &r);
    buf_clear(&r.response);
    return e == ERR_NOT_FOUND ? OK : e; /* no error if the upload was completed or aborted
                                         * meanwhile */
}

/* An earlier attempt to complete the upload, whose response was lost, may have succeeded. Then the
 * storage no longer knows the upload. */
static enum err check_upload_is_complete(struct object_storage *o, const char *name, size_t bytes)
{
    int64_t size = -1;
    enum err e = read_object_size(o, name, &size);

    return !e && size == (int64_t)bytes ? OK : ERR_FILES_UNAVAILABLE;
}

static enum err put_object_in_parts(struct object_storage *o, const char *name, struct str bytes)
{
    size_t part = o->part_bytes;
    char id[1024];
    struct buf list;
    enum err e = begin_multipart_upload(o, name, id);

    if (e)
        return e;
    while (bytes.n / part >= MAX_PARTS)
        part *= 2;
    buf_init(&list, 4 * 1024 * 1024);
    buf_add_lit(&list, "<CompleteMultipartUpload>");
    for (size_t at = 0, number = 1; !e && at < bytes.n; at += part, number++) {
        size_t left = bytes.n - at;

        e = upload_object_part(o, name, id, (unsigned)number,
                               str_slice(bytes.p + at, left < part ? left : part), &list);
    }
    buf_add_lit(&list, "</CompleteMultipartUpload>");
    if (!e)
        e = complete_multipart_upload(o, name, id, &list);
    if (e == ERR_NOT_FOUND)
        e = check_upload_is_complete(o, name, bytes.n);
    if (e)
        abort_multipart_upload(o, name, id);
    buf_clear(&list);
    return e;
}

enum err object_storage_put(struct object_storage *o, const char *name, struct str bytes)
{
    struct object_request r;

    if (bytes.n > o->part_bytes)
        return put_object_in_parts(o, name, bytes);
    object_request_init(&r, "PUT", name);
    r.body = bytes;
    enum err e = object_request_send(o, &r);
    buf_clear(&r.response);
    return e == ERR_NOT_FOUND ? ERR_FILES_UNAVAILABLE : e;
}

/* --- download ------------------------------------------------------------------------- */

/* Reads a part of an object. Objects are read in parts, so that after a lost connection only one
 * part is requested again. */
static enum err read_object_part(struct object_storage *o, const char *name, int fd, int64_t first,
                                 int64_t *ret_end, int64_t *ret_size)
{
    struct object_request r;

    object_request_init(&r, "GET", name);
    r.fd = fd;
    r.first = first;
    r.last = first + (int64_t)o->part_bytes - 1;
    enum err e = object_request_send(o, &r);
    *ret_end = first + r.received;
    /* If the storage ignores the requested range, it sends the whole object. */
    if (!e && r.status == 200 && first == 0)
        *ret_size = r.received;
    else if (!e && r.status == 206 && r.full_size >= *ret_end && r.received)
        *ret_size = r.full_size;
    else if (!e && r.status == 416 && first == 0)
        *ret_size = 0;
    else if (!e)
        e = ERR_FILES_UNAVAILABLE;
    buf_clear(&r.response);
    return e;
}

enum err object_storage_read(struct object_storage *o, const char *name, int fd, int64_t *ret_size)
{
    int64_t end = 0, size = -1, total = -1;
    enum err e = OK;

    if (fd < 0)
        return read_object_size(o, name, ret_size);
    if (ftruncate(fd, 0) != 0)
        return ERR_UNAVAILABLE;
    do {
        e = read_object_part(o, name, fd, end, &end, &size);
        if (!e && total >= 0 && size != total)
            e = ERR_FILES_UNAVAILABLE; /* the object was replaced meanwhile */
        total = size;
    } while (!e && end < total);
    *ret_size = total;
    return e;
}

/* --- deletion and lists ---------------------------------------------------------------- */

enum err object_storage_delete(struct object_storage *o, const char *name)
{
    struct object_request r;

    object_request_init(&r, "DELETE", name);
    enum err e = object_request_send(o, &r);
    buf_clear(&r.response);
    return e;
}

enum err object_storage_abort_uploads(struct object_storage *o, const char *name)
{
    struct object_request r;
    struct str upload, text;
    char key[1024], full[1024], id[1024];
    enum err e = OK;

    snprintf(full, sizeof full, "%s%s", o->prefix, name);
    const struct aws_parameter query[] = { { STR("prefix"), str_of(full) },
                                           { STR("uploads"), STR("") } };
    object_request_init(&r, "GET", NULL);
    r.query = query;
    r.query_count = 2;
    e = object_request_send(o, &r);
    for (struct str xml = buf_as_str(&r.response);
         !e && find_xml_element(&xml, "Upload", &upload);) {
        struct str rest = upload;

        if (!find_xml_element(&rest, "Key", &text))
            continue;
        copy_xml_text_without_entities(text, key, sizeof key);
        rest = upload;
        if (strcmp(key, full) != 0 || !find_xml_element(&rest, "UploadId", &text))
            continue;
        copy_xml_text_without_entities(text, id, sizeof id);
        e = abort_multipart_upload(o, name, id);
    }
    buf_clear(&r.response);
    return e;
}

static time_t parse_iso_time(struct str text)
{
    char copy[32];
    struct tm tm = { 0 };

    snprintf(copy, sizeof copy, "%.*s", STR_ARGS(text));
    return strptime(copy, "%Y-%m-%dT%H:%M:%S", &tm) ? timegm(&tm) : 0;
}

static enum err visit_objects_of_list_page(const struct object_storage *o, struct str xml,
                                           enum err (*found)(void *arg, const char *name,
                                                             time_t written),
                                           void *arg)
{
    struct str entry, text;
    char key[1100];
    size_t n = strlen(o->prefix);
    enum err e = OK;

    while (!e && find_xml_element(&xml, "Contents", &entry)) {
        struct str rest = entry, written = STR("");

        if (!find_xml_element(&rest, "Key", &text))
            continue;
        copy_xml_text_without_entities(text, key, sizeof key);
        rest = entry;
        find_xml_element(&rest, "LastModified", &written);
        if (strncmp(key, o->prefix, n) == 0)
            e = found(arg, key + n, parse_iso_time(written));
    }
    return e;
}

enum err object_storage_list(struct object_storage *o,
                             enum err (*found)(void *arg, const char *name, time_t written),
                             void *arg)
{
    char token[2048] = "";
    enum err e = OK;

    do {
        const struct aws_parameter query[] = { { STR("list-type"), STR("2") },
                                               { STR("prefix"), str_of(o->prefix) },
                                               { STR("continuation-token"), str_of(token) } };
        struct object_request r;
        struct str text;

        object_request_init(&r, "GET", NULL);
        r.query = query;
        r.query_count = token[0] ? 3 : 2;
        e = object_request_send(o, &r);
        if (!e && buf_is_full(&r.response))
            e = ERR_FILES_UNAVAILABLE;
        struct str xml = buf_as_str(&r.response);
        token[0] = '\0';
        if (!e && find_xml_element(&xml, "NextContinuationToken", &text))
            copy_xml_text_without_entities(text, token, sizeof token);
        if (!e)
            e = visit_objects_of_list_page(o, buf_as_str(&r.response), found, arg);
        buf_clear(&r.response);
    } while (!e && token[0]);
    return e;
}

/* --- presigned URLs ------------------------------------------------------------------- */

void object_storage_append_public_origin(const struct object_storage *o, struct buf *out)
{
    buf_printf(out, "%s://", o->public_endpoint.scheme);
    append_host(o, &o->public_endpoint, out);
}

void object_storage_append_presigned_url(const struct object_storage *o, const char *name,
                                         int seconds, struct str content_type,
                                         struct str disposition, struct str cache_control,
                                         struct buf *out)
{
    struct aws_credentials c = get_aws_credentials_of_storage(o);
    char timestamp[AWS_TIMESTAMP_SIZE];
    struct buf path, host;

    buf_init(&path, MAX_URL);
    buf_init(&host, MAX_URL);
    append_object_path(o, name, &path);
    append_host(o, &o->public_endpoint, &host);
    aws_format_timestamp(time(NULL), timestamp);
    const struct aws_parameter headers[] = { { STR("host"), buf_as_str(&host) } };
    const struct aws_parameter query[] = {
        { STR("response-cache-control"), cache_control },
        { STR("response-content-disposition"), disposition },
        { STR("response-content-type"), content_type },
    };
    object_storage_append_public_origin(o, out);
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
