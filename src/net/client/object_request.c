/* object_request.c - signs and sends requests to an S3-compatible object storage. */
#include "net/client/object_request.h"

#include <errno.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"

enum {
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
};

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void object_request_init(struct object_request *r, const char *method, const char *name)
{
    *r = (struct object_request){ .method = method, .name = name, .fd = -1 };
    buf_init(&r->response, MAX_RESPONSE);
}

static size_t on_object_response_bytes(char *p, size_t size, size_t count, void *arg)
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

static bool parse_value_of_named_header(struct str line, const char *name, struct str *ret)
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

static size_t on_object_response_header(char *p, size_t size, size_t count, void *arg)
{
    struct object_request *r = arg;
    struct str line = str_slice(p, size * count), value;
    const char *slash;

    if (str_starts_with(line, STR("HTTP/"))) {
        struct str rest = line;

        str_cut(&rest, ' ');
        r->status = strtol(rest.n ? rest.p : "0", NULL, 10);
        r->full_size = -1;
    } else if (parse_value_of_named_header(line, "etag", &value)) {
        snprintf(r->etag, sizeof r->etag, "%.*s", STR_ARGS(value));
    } else if (parse_value_of_named_header(line, "content-range", &value)) {
        slash = memchr(value.p, '/', value.n);
        if (slash)
            r->full_size = parse_size(str_skip_bytes(value, (size_t)(slash - value.p) + 1));
    } else if (parse_value_of_named_header(line, "content-length", &value) && r->status != 206) {
        r->full_size = parse_size(value);
    }
    return size * count;
}

void object_storage_append_path(const struct object_storage *o, const char *name, struct buf *out)
{
    buf_add_char(out, '/');
    if (!o->host_addressing) {
        buf_add_str(out, str_of(o->bucket));
        if (name)
            buf_add_char(out, '/');
    }
    if (name) {
        aws_append_percent_encoded(out, str_of(o->prefix), true);
        aws_append_percent_encoded(out, str_of(name), true);
    }
}

void object_storage_append_host(const struct object_storage *o, const struct endpoint *e,
                                struct buf *out)
{
    if (o->host_addressing)
        buf_printf(out, "%s.", o->bucket);
    buf_add_str(out, str_of(e->host));
}

struct aws_credentials object_storage_get_credentials(const struct object_storage *o)
{
    return (struct aws_credentials){ o->access_key, o->secret, o->region, "s3" };
}

static struct curl_slist *append_header_to_curl_list(struct curl_slist *list, const char *name,
                                                     const char *value)
{
    struct buf line;

    buf_init(&line, MAX_OBJECT_URL);
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
    struct aws_credentials c = object_storage_get_credentials(o);
    struct buf path, host, authorization;
    struct curl_slist *list = NULL;

    buf_init(&path, MAX_OBJECT_URL);
    buf_init(&host, MAX_OBJECT_URL);
    buf_init(&authorization, MAX_OBJECT_URL);
    object_storage_append_path(o, r->name, &path);
    object_storage_append_host(o, &o->endpoint, &host);
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
    list = append_header_to_curl_list(list, "Authorization", authorization.p);
    list = append_header_to_curl_list(list, "x-amz-content-sha256", digest);
    list = append_header_to_curl_list(list, "x-amz-date", timestamp);
    list = append_header_to_curl_list(list, "Content-Type", "application/octet-stream");
    list = curl.slist_append(list, "Expect:");
    if (r->last) {
        snprintf(range, sizeof range, "bytes=%" PRId64 "-%" PRId64, r->first, r->last);
        list = append_header_to_curl_list(list, "Range", range);
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

static void set_curl_options_of_object_request(const struct object_storage *o,
                                               struct object_request *r, CURL *e)
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
    curl.easy_setopt(e, CURLOPT_WRITEFUNCTION, on_object_response_bytes);
    curl.easy_setopt(e, CURLOPT_WRITEDATA, r);
    curl.easy_setopt(e, CURLOPT_HEADERFUNCTION, on_object_response_header);
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
    buf_init(&url, MAX_OBJECT_URL);
    struct curl_slist *headers = sign_request_headers(o, r, &url);
    set_curl_options_of_object_request(o, r, e);
    curl.easy_setopt(e, CURLOPT_URL, url.p);
    curl.easy_setopt(e, CURLOPT_HTTPHEADER, headers);
    CURLcode code = curl.easy_perform(e);
    atomic_fetch_add(&o->requests, 1);
    if (code != CURLE_OK) {
        snprintf(r->reason, sizeof r->reason, "%s", curl.easy_strerror(code));
    } else {
        struct str xml = buf_as_str(&r->response), word = STR(""), message = STR("");

        object_response_find_xml_element(&xml, "Code", &word);
        object_response_find_xml_element(&xml, "Message", &message);
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

void object_storage_log_failure(struct object_storage *o, const struct object_request *r)
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

enum err object_request_send(struct object_storage *o, struct object_request *r)
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
            object_storage_log_failure(o, r);
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
        if (!object_response_find_xml_element(&xml, "Code", &code) || !str_is(code, "NoSuchBucket"))
            return ERR_NOT_FOUND;
    }
    atomic_fetch_add(&o->failures, 1);
    object_storage_log_failure(o, r);
    return ERR_FILES_UNAVAILABLE;
}
