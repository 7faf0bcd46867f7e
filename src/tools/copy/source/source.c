/* source.c - requests to the server from which a guild is copied. */
#include "net/client/curl.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/io.h"
#include "net/address.h"
#include "server/guildhall.h"
#include "tools/copy/archive/archive.h"
#include "tools/copy/archive/json_members.h"
#include "tools/copy/source/rate_limits.h"
#include "tools/copy/source/source.h"

enum {
    MAX_ATTEMPTS = 8,
    FIRST_PAUSE_MS = 250,
    MAX_PAUSE_MS = 30 * 1000,
    REQUEST_TIMEOUT_MS = 60 * 1000,
    CONNECT_TIMEOUT_MS = 15 * 1000,
    STALL_SECONDS = 30,
    MAX_RESPONSE = 64 * 1024 * 1024,
};

struct guild_copy_source {
    char api[512], cdn[512], authorization[512];
    struct rate_limits *limits;
    pthread_mutex_t lock;
    struct guild_copy_source_counts counts;
};

struct guild_copy_source *guild_copy_source_new(const struct guild_copy_source_options *o)
{
    struct guild_copy_source *s = mem_new(sizeof *s);

    pthread_mutex_init(&s->lock, NULL);
    s->limits = client_rate_limits_new(o->requests_per_second);
    snprintf(s->api, sizeof s->api, "%s", o->api);
    snprintf(s->cdn, sizeof s->cdn, "%s", o->cdn);
    snprintf(s->authorization, sizeof s->authorization, "Authorization: Bot %s", o->token);
    if (load_curl())
        return s;
    fprintf(stderr, "guildhall: cannot load libcurl; install the package libcurl4\n");
    guild_copy_source_free(s);
    return NULL;
}

void guild_copy_source_free(struct guild_copy_source *s)
{
    if (!s)
        return;
    client_rate_limits_free(s->limits);
    pthread_mutex_destroy(&s->lock);
    mem_free(s);
}

struct guild_copy_source_counts guild_copy_source_get_counts(const struct guild_copy_source *s)
{
    return s->counts;
}

bool source_server_connection_open(struct source_server_connection *c, struct guild_copy_source *s)
{
    *c = (struct source_server_connection){ .source = s, .handle = curl.easy_init() };
    return c->handle;
}

void source_server_connection_close(struct source_server_connection *c)
{
    if (c->handle)
        curl.easy_cleanup(c->handle);
    c->handle = NULL;
}

/* --- one attempt ----------------------------------------------------------------------- */

struct response {
    struct rate_limit_response_headers limits;
    struct buf *out; /* buffer for the response body; NULL if the body is written to a file */
    int fd;
    int64_t bytes, max_bytes;
    bool is_too_large, cannot_write;
};

static size_t on_response_body_bytes(char *bytes, size_t size, size_t n, void *arg)
{
    struct response *r = arg;

    n *= size;
    r->bytes += (int64_t)n;
    r->is_too_large = r->max_bytes && r->bytes > r->max_bytes;
    if (r->is_too_large)
        return 0;
    if (r->out)
        buf_add(r->out, bytes, n);
    else
        r->cannot_write = !write_all_bytes(r->fd, str_slice(bytes, n));
    return r->cannot_write || (r->out && buf_is_full(r->out)) ? 0 : n;
}

static double parse_seconds_of_retry_after(struct str value)
{
    char text[32];

    snprintf(text, sizeof text, "%.*s", STR_ARGS(value));
    return strtod(text, NULL);
}

static size_t on_response_header(char *bytes, size_t size, size_t n, void *arg)
{
    struct response *r = arg;
    struct str value = { bytes, n * size }, name = str_cut(&value, ':');
    int64_t number;

    while (value.n && (value.p[value.n - 1] == '\n' || value.p[value.n - 1] == '\r'))
        value.n--;
    value = str_trim(value);
    if (str_eq_nocase(name, STR("x-ratelimit-bucket")))
        snprintf(r->limits.bucket, sizeof r->limits.bucket, "%.*s", STR_ARGS(value));
    else if (str_eq_nocase(name, STR("x-ratelimit-remaining")) && str_to_i64(value, &number))
        r->limits.remaining = number;
    else if (str_eq_nocase(name, STR("x-ratelimit-reset-after")))
        r->limits.reset_after = parse_seconds_of_retry_after(value);
    else if (str_eq_nocase(name, STR("retry-after")))
        r->limits.retry_after = parse_seconds_of_retry_after(value);
    else if (str_eq_nocase(name, STR("x-ratelimit-global")))
        r->limits.global = true;
    return n * size;
}

#define SET(option, value) curl.easy_setopt(c->handle, (option), (value))

static void set_common_curl_options(struct source_server_connection *c, const char *url,
                                    struct response *r)
{
    SET(CURLOPT_URL, url);
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_PROTOCOLS_STR, "http,https");
    SET(CURLOPT_USERAGENT, "DiscordBot (guildhall, " GUILDHALL_VERSION ")");
    SET(CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_TIMEOUT_MS);
    SET(CURLOPT_WRITEFUNCTION, on_response_body_bytes);
    SET(CURLOPT_WRITEDATA, r);
    SET(CURLOPT_HEADERFUNCTION, on_response_header);
    SET(CURLOPT_HEADERDATA, r);
    if (find_ca_bundle())
        SET(CURLOPT_CAINFO, find_ca_bundle());
}

static void count_request_of_run(struct guild_copy_source *s, const struct response *r, bool again)
{
    pthread_mutex_lock(&s->lock);
    s->counts.requests++;
    s->counts.retries += again;
    s->counts.rate_limited += r->limits.status == 429;
    s->counts.bytes += r->bytes;
    pthread_mutex_unlock(&s->lock);
}

/* Returns whether the address that curl reports, such as "127.0.0.1", is private. */
static bool address_text_is_private(const char *text)
{
    struct sockaddr_in6 at = { .sin6_family = AF_INET6 };
    struct ip_address address;

    if (!text || !ip_address_parse(str_of(text), &address))
        return false;
    memcpy(&at.sin6_addr, address.bytes, sizeof address.bytes);
    return !ip_address_is_public(&at);
}

/* Sends the request with the options that were set. If there is no response, the status is 0. */
static void perform_request(struct source_server_connection *c, struct response *r)
{
    CURLcode result = curl.easy_perform(c->handle);
    const char *peer = NULL;
    long status = 0;

    curl.easy_getinfo(c->handle, CURLINFO_RESPONSE_CODE, &status);
    curl.easy_getinfo(c->handle, CURLINFO_PRIMARY_IP, &peer);
    c->is_private = address_text_is_private(peer);
    if (result != CURLE_OK) {
        snprintf(c->reason, sizeof c->reason, "%s", curl.easy_strerror(result));
        status = 0;
    }
    r->limits.status = c->status = (int)status;
}

/* --- requests to the interface ----------------------------------------------------------- */

static void read_retry_after(struct response *r)
{
    struct str body = buf_as_str(r->out), seconds = json_member_get_raw_text(body, "retry_after");

    if (seconds.n)
        r->limits.retry_after = parse_seconds_of_retry_after(seconds);
    r->limits.global |= json_member_is_true(body, "global");
}

static void pause_before_attempt(int attempt)
{
    int64_t ms = FIRST_PAUSE_MS << attempt;

    if (ms > MAX_PAUSE_MS)
        ms = MAX_PAUSE_MS;
    nanosleep(&(struct timespec){ .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 }, NULL);
}

/* Stores the reason of a refusal in .reason: the error message of the response, and its code. */
static void describe_refusal_of_request(struct source_server_connection *c, struct str body)
{
    struct arena *arena = arena_new_small();
    struct str text = json_member_get_text(arena, body, "message");

    snprintf(c->reason, sizeof c->reason, "HTTP %d: %.*s (code %lld)", c->status,
             (int)(text.n > 180 ? 180 : text.n), text.n ? text.p : "no reason given",
             (long long)json_member_int(body, "code"));
    arena_free(arena);
}

static void send_request_once(struct source_server_connection *c, const char *method,
                              const char *path, struct str body, struct response *r)
{
    struct curl_slist *headers = curl.slist_append(NULL, c->source->authorization);
    char url[2048];

    snprintf(url, sizeof url, "%s%s", c->source->api, path);
    buf_reset(r->out);
    set_common_curl_options(c, url, r);
    if (body.n) {
        headers = curl.slist_append(headers, "Content-Type: application/json");
        SET(CURLOPT_POSTFIELDS, body.p);
        SET(CURLOPT_POSTFIELDSIZE, (long)body.n);
    } else if (strcmp(method, "GET") != 0 && strcmp(method, "DELETE") != 0) {
        /* An empty body, so that curl sends Content-Length: 0, which some servers require. */
        SET(CURLOPT_POSTFIELDS, "");
        SET(CURLOPT_POSTFIELDSIZE, 0L);
    } else {
        SET(CURLOPT_HTTPGET, 1L);
    }
    SET(CURLOPT_CUSTOMREQUEST, method);
    SET(CURLOPT_HTTPHEADER, headers);
    SET(CURLOPT_ACCEPT_ENCODING, "");
    SET(CURLOPT_LOW_SPEED_LIMIT, 0L);
    SET(CURLOPT_TIMEOUT_MS, (long)REQUEST_TIMEOUT_MS);
    perform_request(c, r);
    curl.slist_free_all(headers);
}

enum guild_copy_result source_server_connection_send_request(struct source_server_connection *c,
                                                             const char *method, const char *path,
                                                             struct str body, struct buf *out)
{
    out->max = MAX_RESPONSE;
    for (int attempt = 0, refused = 0; attempt < MAX_ATTEMPTS && refused < MAX_ATTEMPTS;) {
        struct response r = { .out = out,
                              .limits = { .remaining = -1, .reset_after = -1, .retry_after = -1 } };
        struct rate_limit_bucket *b =
            client_rate_limits_wait_for_request(c->source->limits, method, str_of(path));

        send_request_once(c, method, path, body, &r);
        if (r.limits.status == 429)
            read_retry_after(&r);
        client_rate_limits_record_response(c->source->limits, b, method, str_of(path), &r.limits);
        count_request_of_run(c->source, &r, attempt || refused);
        if (c->status >= 200 && c->status < 300)
            return COPY_OK;
        if (c->status)
            describe_refusal_of_request(c, buf_as_str(out));
        if (c->status == 401)
            return COPY_STOPPED;
        if (c->status == 429) {
            refused++;
        } else if (c->status >= 300 && c->status < 500) {
            /* A redirect is refused as well, because only the configured server may get the
             * token. */
            return COPY_REFUSED;
        } else if (c->no_repeat) {
            return COPY_FAILED;
        } else {
            pause_before_attempt(attempt++);
        }
    }
    return COPY_FAILED;
}

/* --- files ------------------------------------------------------------------------------- */

static enum guild_copy_result download_file_once(struct source_server_connection *c,
                                                 const char *url, int fd, int64_t max_bytes)
{
    struct response r = { .fd = fd, .max_bytes = max_bytes };

    set_common_curl_options(c, url, &r);
    SET(CURLOPT_HTTPGET, 1L);
    SET(CURLOPT_CUSTOMREQUEST, NULL);
    SET(CURLOPT_HTTPHEADER, NULL); /* without the token, which is only for the API */
    SET(CURLOPT_ACCEPT_ENCODING, NULL);
    SET(CURLOPT_TIMEOUT_MS, 0L);
    SET(CURLOPT_LOW_SPEED_LIMIT, 1L);
    SET(CURLOPT_LOW_SPEED_TIME, (long)STALL_SECONDS);
    perform_request(c, &r);
    count_request_of_run(c->source, &r, false);
    if (r.cannot_write) {
        snprintf(c->reason, sizeof c->reason, "the file cannot be written: %s", strerror(errno));
        return COPY_STOPPED;
    }
    if (r.is_too_large) {
        snprintf(c->reason, sizeof c->reason, "the file has more than %lld bytes (--max-file-mib)",
                 (long long)max_bytes);
        return COPY_REFUSED;
    }
    if (c->status >= 200 && c->status < 300)
        return COPY_OK;
    /* A redirect is refused, because it could name any host, even one in the private network. */
    if (c->status >= 300 && c->status < 500 && c->status != 429) {
        snprintf(c->reason, sizeof c->reason, "HTTP %d", c->status);
        return COPY_REFUSED;
    }
    return COPY_FAILED;
}

enum guild_copy_result source_server_connection_download_file(struct source_server_connection *c,
                                                              const char *url, const char *path,
                                                              int64_t max_bytes)
{
    const char *host = strstr(url, "://"), *below = host ? strchr(host + 3, '/') : url;
    char address[2048], partial[1300];
    enum guild_copy_result result = COPY_FAILED;

    /* Files are only requested from the configured server, because the URL in a message could name
     * any host. */
    snprintf(address, sizeof address, "%s%s", c->source->cdn, below && *below == '/' ? below : "/");
    snprintf(partial, sizeof partial, "%s.%p.part", path, (void *)c); /* another thread's differs */
    for (int attempt = 0; attempt < MAX_ATTEMPTS && result == COPY_FAILED; attempt++) {
        int fd = guild_archive_make_folders(path)
                     ? open(partial, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)
                     : -1;

        if (fd < 0) {
            snprintf(c->reason, sizeof c->reason, "a file of the archive cannot be written: %s",
                     strerror(errno));
            return COPY_STOPPED;
        }
        if (attempt)
            pause_before_attempt(attempt);
        result = download_file_once(c, address, fd, max_bytes);
        close(fd);
    }
    if (result == COPY_OK && rename(partial, path) == 0)
        return COPY_OK;
    unlink(partial);
    return result == COPY_OK ? COPY_STOPPED : result;
}
