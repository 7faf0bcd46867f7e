/* service.c - health, metrics and other service routes. */
#include "apps.h"
#include "net/http/server.h"
#include "waits.h"
#include "world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { QUIET_MS = 60000 };

static struct answer call_service(struct world *w, const char *method, const char *path,
                                  const char *headers)
{
    return client_request(world_anonymous(w), method, path, headers, (struct str){ 0 });
}

/* --- health --------------------------------------------------------------------------- */

static void health_and_readiness_of_a_running_server_are_ok(struct world *w)
{
    expect_status(call_service(w, "GET", "/healthz", NULL), 200);
    expect_json(call_service(w, "GET", "/healthz", NULL), "{'status': 'ok'}");
    expect_json(call_service(w, "GET", "/readyz", NULL), "{'status': 'ok'}");
    /* Service routes ignore credentials. */
    expect_status(
        client_request(world_client_with(w, "nonsense"), "GET", "/readyz", NULL, (struct str){ 0 }),
        200);
}

static void draining_server_is_not_ready_but_healthy(struct world *w)
{
    api_begin_draining(guildhall_get_api(world_server(w)));
    expect_status(call_service(w, "GET", "/readyz", NULL), 503);
    expect_json(call_service(w, "GET", "/readyz", NULL), "{'status': 'draining'}");
    expect_json(call_service(w, "GET", "/healthz", NULL), "{'status': 'draining'}");
    expect_status(call_service(w, "GET", "/healthz", NULL), 200);
    expect_status(client_get(world_client(w, "ada"), "/users/@me"), 200);
}

/* --- metrics -------------------------------------------------------------------------- */

static bool is_metric_name(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!strchr("abcdefghijklmnopqrstuvwxyz_", s.p[i]))
            return false;
    return s.n > 0;
}

/* Expects "# HELP name text", "# TYPE name type", then the samples of that name. */
static void expect_prometheus_text_format(struct str text)
{
    struct str name = STR("");
    bool histogram = false;

    expect(text.n && text.p[text.n - 1] == '\n');
    while (text.n) {
        struct str line = str_cut(&text, '\n');

        if (str_starts_with(line, STR("# HELP "))) {
            line = str_skip_bytes(line, 7);
            name = str_cut(&line, ' ');
            expect(is_metric_name(name) && line.n > 0);
            struct str type = str_cut(&text, '\n');
            expect(str_starts_with(type, STR("# TYPE ")));
            type = str_skip_bytes(type, 7);
            expect(str_eq(str_cut(&type, ' '), name));
            expect(str_is(type, "counter") || str_is(type, "gauge") || str_is(type, "histogram"));
            histogram = str_is(type, "histogram");
            continue;
        }
        /* A label may contain spaces, a value none. */
        struct str value = line, labels = line;
        for (size_t i = 0; i < line.n; i++)
            if (line.p[i] == ' ')
                value = str_skip_bytes(line, i + 1);
        char number[32] = { 0 }, *end;
        labels = str_slice(line.p, line.n - value.n - 1);
        struct str sampled = str_cut(&labels, '{');
        expect(histogram ? str_starts_with(sampled, name) : str_eq(sampled, name));
        expect(value.n > 0 && value.n < sizeof number);
        memcpy(number, value.p, value.n);
        strtod(number, &end);
        expect(*end == '\0');
    }
}

static uint64_t read_metric(struct world *w, const char *name)
{
    struct answer a = call_service(w, "GET", "/metrics", NULL);

    for (struct str text = a.body; text.n;) {
        struct str line = str_cut(&text, '\n'), value = line;
        uint64_t n;

        for (size_t i = 0; i < line.n; i++)
            if (line.p[i] == ' ')
                value = str_skip_bytes(line, i + 1);
        struct str key = str_slice(line.p, line.n - value.n - (value.n < line.n));

        if (str_is(key, name) && str_to_u64(value, &n))
            return n;
    }
    fail_test(__FILE__, __LINE__, "no metric %s", name);
}

static enum err fail_with_full_storage(struct tx *tx, void *arg)
{
    (void)tx, (void)arg;
    return ERR_STORAGE_FULL;
}

static void server_with_a_full_disk_is_not_ready(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct store *store = guildhall_get_store(world_server(w));

    expect(store_run_transaction_and_wait(store, STORE_WRITE, NULL, fail_with_full_storage, NULL) ==
           ERR_STORAGE_FULL);
    expect_status(call_service(w, "GET", "/readyz", NULL), 503);
    expect_json(call_service(w, "GET", "/readyz", NULL), "{'status': 'disk full'}");
    expect_json(call_service(w, "GET", "/healthz", NULL), "{'status': 'ok'}");
    expect(read_metric(w, "guildhall_store_full") == 1);
    expect_status(client_get(ada, "/users/@me"), 200);
    /* The next successful write ends this state. */
    expect_status(client_post(ada, "{'name': 'Hall'}", "/guilds"), 201);
    expect_json(call_service(w, "GET", "/readyz", NULL), "{'status': 'ok'}");
    expect(read_metric(w, "guildhall_store_full") == 0);
}

static void metrics_have_the_prometheus_text_format(struct world *w)
{
    struct answer a = call_service(w, "GET", "/metrics", NULL);

    expect_status(a, 200);
    expect(str_is(answer_header(a, "Content-Type"), "text/plain; version=0.0.4; charset=utf-8"));
    expect_prometheus_text_format(a.body);
}

static void metrics_contain_hits_and_size_of_each_cache(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    static const char hits[] = "guildhall_cache_hits_total{cache=\"credentials\"}";

    expect_status(client_get(ada, "/users/@me"), 200);
    uint64_t before = read_metric(w, hits);
    expect_status(client_get(ada, "/users/@me"), 200);
    expect(read_metric(w, hits) == before + 1);
    expect(read_metric(w, "guildhall_cache_entries{cache=\"credentials\"}") > 0);
    expect(read_metric(w, "guildhall_cache_bytes{cache=\"credentials\"}") > 0);
    read_metric(w, "guildhall_cache_misses_total{cache=\"credentials\"}");
    read_metric(w, "guildhall_cache_evictions_total{cache=\"credentials\"}");
}

static bool metrics_contain(struct world *w, const char *line)
{
    struct answer a = call_service(w, "GET", "/metrics", NULL);

    return memmem(a.body.p, a.body.n, line, strlen(line)) != NULL;
}

static void metrics_contain_numbers_of_accounts_guilds_and_messages(struct world *w)
{
    struct client *ada = world_client(w, "ada");

    world_client(w, "bob");
    struct answer guild = client_post(ada, "{'name': 'Here'}", "/guilds");
    struct answer made = client_post(ada, "{'name': 'words', 'type': 0}", "/guilds/%s/channels",
                                     answer_text(guild, "id"));
    const char *channel = answer_text(made, "id");
    for (int i = 0; i < 3; i++)
        expect_status(client_post(ada, "{'content': 'x'}", "/channels/%s/messages", channel), 200);
    /* The first request starts the count; later ones show it. */
    expect_soon(metrics_contain(w, "\nguildhall_accounts 2\n"));
    expect(metrics_contain(w, "\nguildhall_guilds 1\n"));
    expect(metrics_contain(w, "\nguildhall_messages 3\n"));
    expect(metrics_contain(w, "\nguildhall_store_bytes "));
    if (world_config(w)->store) { /* PostgreSQL */
        expect(metrics_contain(w, "\nguildhall_store_dead_rows "));
        expect(metrics_contain(w, "\nguildhall_store_live_rows "));
        expect(metrics_contain(w, "\nguildhall_store_oldest_transaction_seconds "));
        expect(!metrics_contain(w, "\nguildhall_store_transaction_id_age 0\n"));
    }
}

static void metrics_counters_increase_with_requests(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    static const char *const names[] = {
        "guildhall_requests_total",
        "guildhall_answers_total{status=\"2xx\"}",
        "guildhall_answers_total{status=\"4xx\"}",
        "guildhall_connections_accepted_total",
        "guildhall_store_reads_total",
        "guildhall_store_writes_total",
        "guildhall_store_commits_total",
        "guildhall_received_bytes_total",
        "guildhall_sent_bytes_total",
        "guildhall_refused_total",
        "guildhall_call_seconds_count{group=\"Accounts\"}",
        "guildhall_call_seconds_bucket{group=\"Accounts\",le=\"+Inf\"}",
    };
    uint64_t before[12], failures = read_metric(w, "guildhall_store_failures_total");

    /* A group appears with its first request. */
    expect_status(client_get(ada, "/users/@me"), 200);
    for (size_t i = 0; i < 12; i++)
        before[i] = read_metric(w, names[i]);
    expect_status(client_get(ada, "/users/@me"), 200);
    expect_status(client_patch(ada, "{}", "/users/@me"), 200);
    expect_error(client_get(ada, "/users/1"), 404, 10013);
    client_raw(world_anonymous(w), STR("nonsense\r\n\r\n"), QUIET_MS);
    for (size_t i = 0; i < 12; i++)
        if (read_metric(w, names[i]) <= before[i])
            fail_test(__FILE__, __LINE__, "%s stands still", names[i]);
    expect(read_metric(w, "guildhall_store_failures_total") == failures);
    expect(read_metric(w, "guildhall_connections") > 0);
}

static void configure_metrics_token(struct config *config)
{
    config->metrics_token = "for scrapers";
}

static void metrics_require_the_configured_token(struct world *w)
{
    expect_status(call_service(w, "GET", "/metrics", "Authorization: Bearer for scrapers\r\n"),
                  200);
    expect_error(call_service(w, "GET", "/metrics", NULL), 401, 0);
    expect_error(call_service(w, "GET", "/metrics", "Authorization: for scrapers\r\n"), 401, 0);
    expect_error(call_service(w, "GET", "/metrics", "Authorization: Bearer for scraper\r\n"), 401,
                 0);
    expect_error(call_service(w, "GET", "/metrics", "Authorization: Bearer for scraperS\r\n"), 401,
                 0);
    expect_status(call_service(w, "HEAD", "/metrics", NULL), 401);
}

static void metrics_without_a_token_require_a_local_caller(struct world *w)
{
    expect_status(call_service(w, "GET", "/metrics", NULL), 200);
    expect_error(call_service(w, "GET", "/metrics", "X-Forwarded-For: 192.0.2.7\r\n"), 401, 0);
    expect_error(call_service(w, "GET", "/metrics", "Forwarded: for=192.0.2.7\r\n"), 401, 0);
    expect_error(call_service(w, "GET", "/metrics", "Authorization: Bearer x\r\nForwarded: x\r\n"),
                 401, 0);
    expect_error(call_service(w, "GET", "/metrics", "X-Real-IP: 192.0.2.7\r\n"), 401, 0);
    expect_error(call_service(w, "GET", "/metrics", "Via: 1.1 proxy\r\n"), 401, 0);
    expect_error(call_service(w, "GET", "/metrics", "X-Forwarded-Proto: https\r\n"), 401, 0);
    expect_status(call_service(w, "GET", "/healthz", "X-Forwarded-For: 192.0.2.7\r\n"), 200);
}

/* A web page may resolve its own name to this machine, and a proxy forwards its host name. */
static void metrics_refuse_requests_with_a_foreign_host_header(struct world *w)
{
    static const struct {
        const char *host;
        int status;
    } rows[] = {
        { "127.0.0.1:8080", 200 },     { "127.0.0.1", 200 },  { "localhost:8080", 200 },
        { "localhost", 200 },          { "[::1]:8080", 200 }, { "chat.example", 401 },
        { "127.0.0.1.example", 401 },  { "128.0.0.1", 401 },  { "localhost.example", 401 },
        { "127.example.com:80", 401 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct str got = client_raw(
            world_anonymous(w),
            str_of(TEXT(w, "GET /metrics HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n",
                        rows[i].host)),
            QUIET_MS);

        expect(got.n > 12 && atoi(got.p + 9) == rows[i].status);
    }
}

static void configure_public_url(struct config *config)
{
    config->public_url = "https://chat.example";
}

static void metrics_behind_a_proxy_require_a_token(struct world *w)
{
    expect_error(call_service(w, "GET", "/metrics", NULL), 401, 0);
    expect_status(call_service(w, "GET", "/readyz", NULL), 200);
}

/* --- OpenAPI document ----------------------------------------------------------------- */

static void openapi_document_supports_etag_and_304(struct world *w)
{
    struct answer a = call_service(w, "GET", "/openapi.json", NULL);
    struct str tag = answer_header(a, "ETag");
    char known[200];

    expect_status(a, 200);
    expect(str_starts_with(tag, STR("W/\"")) && tag.n == 36);
    expect(str_is(answer_header(a, "Content-Type"), "application/json"));
    expect(str_is(answer_header(a, "Cache-Control"), "no-cache"));
    snprintf(known, sizeof known, "If-None-Match: \"other\", %.*s\r\n", STR_ARGS(tag));
    a = call_service(w, "GET", "/openapi.json", known);
    expect_status(a, 304);
    expect(a.body.n == 0 && !answer_header(a, "Content-Type").p);
    expect(str_eq(answer_header(a, "ETag"), tag));
    expect(str_is(answer_header(a, "Vary"), "Accept-Encoding"));
    expect_status(call_service(w, "GET", "/openapi.json", "If-None-Match: \"other\"\r\n"), 200);

    a = call_service(w, "GET", "/openapi.json", "Accept-Encoding: gzip\r\n");
    expect_status(a, 200);
    expect(str_is(answer_header(a, "Content-Encoding"), "gzip"));
    expect(str_eq(answer_header(a, "ETag"), tag));
    struct answer head = call_service(w, "HEAD", "/openapi.json", "Accept-Encoding: gzip\r\n");
    expect_status(head, 200);
    expect(str_eq(answer_header(head, "Content-Length"), answer_header(a, "Content-Length")));
}

/* --- CORS ----------------------------------------------------------------------------- */

static void allow_any_origin(struct config *config)
{
    config->cors_origin = "*";
}

#define PREFLIGHT "Origin: https://page.example\r\nAccess-Control-Request-Method: PATCH\r\n"

static void expect_cors_headers(struct answer a)
{
    struct str exposed = answer_header(a, "Access-Control-Expose-Headers");

    expect(str_is(answer_header(a, "Access-Control-Allow-Origin"), "*"));
    expect(memmem(exposed.p, exposed.n, "X-RateLimit-Reset-After, ", 25));
    expect(memmem(exposed.p, exposed.n, "Retry-After, ", 13));
    expect(!answer_header(a, "Access-Control-Allow-Credentials").p);
}

static void cors_preflight_is_answered_on_every_path(struct world *w)
{
    static const char *const paths[] = { "/api/v10/users/@me", "/api/v10/nowhere", "/api/v5/x",
                                         "/icons/1/2.png",     "/nowhere",         "/api/%zz" };
    char headers[2000] =
        PREFLIGHT "Access-Control-Request-Headers: x-super-properties, referrer\r\n";

    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct answer a = call_service(w, "OPTIONS", paths[i], headers);

        expect_status(a, 204);
        expect_cors_headers(a);
        expect(str_is(answer_header(a, "Access-Control-Allow-Methods"),
                      "GET, POST, PUT, PATCH, DELETE"));
        expect(str_is(answer_header(a, "Access-Control-Allow-Headers"),
                      "x-super-properties, referrer"));
        expect(str_is(answer_header(a, "Access-Control-Max-Age"), "86400"));
    }
    /* An invalid list of header names is not echoed. */
    static const char USUAL[] =
        "Authorization, Content-Type, X-Audit-Log-Reason, X-Super-Properties";
    struct answer a = call_service(w, "OPTIONS", "/api/gateway", PREFLIGHT);
    expect(str_is(answer_header(a, "Access-Control-Allow-Headers"), USUAL));
    a = call_service(w, "OPTIONS", "/api/gateway",
                     PREFLIGHT "Access-Control-Request-Headers: x; y=<z>\r\n");
    expect(str_is(answer_header(a, "Access-Control-Allow-Headers"), USUAL));
    for (int n = 1024; n <= 1025; n++) {
        snprintf(headers, sizeof headers, "%sAccess-Control-Request-Headers: %0*d\r\n", PREFLIGHT,
                 n, 1);
        a = call_service(w, "OPTIONS", "/api/gateway", headers);
        expect(answer_header(a, "Access-Control-Allow-Headers").n ==
               (n == 1024 ? 1024 : strlen(USUAL)));
    }
}

static void responses_have_cors_headers_when_an_origin_is_allowed(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *nobody = world_anonymous(w);

    /* Errors have the headers, too, so that a page can read them. */
    expect_cors_headers(client_get(nobody, "/users/@me"));
    expect_cors_headers(client_get(ada, "/users/@me"));
    expect_cors_headers(client_get(ada, "/nowhere"));
    expect_cors_headers(client_post(ada, "{}", "/gateway"));
    expect_cors_headers(call_service(w, "GET", "/icons/1/2.png", NULL));
    expect_cors_headers(call_service(w, "GET", "/healthz", NULL));
    /* The server refuses these before the path is known. */
    struct str raw =
        client_raw(nobody, STR("GET /api/gateway HTTP/1.1\r\nHost : x\r\n\r\n"), QUIET_MS);
    expect(memmem(raw.p, raw.n, " 400 ", 5));
    expect(memmem(raw.p, raw.n, "\r\nAccess-Control-Allow-Origin: *\r\n", 34));
    raw = client_raw(nobody,
                     STR("POST /api/v10/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: "
                         "application/json\r\nContent-Length: 99999999\r\n\r\n"),
                     QUIET_MS);
    expect(memmem(raw.p, raw.n, " 413 ", 5));
    expect(memmem(raw.p, raw.n, "\r\nAccess-Control-Allow-Origin: *\r\n", 34));
    /* An OPTIONS request without Access-Control-Request-Method is no preflight. */
    struct answer a =
        call_service(w, "OPTIONS", "/api/v10/users/@me", "Origin: https://page.example\r\n");
    expect_status(a, 204);
    expect(str_is(answer_header(a, "Allow"), "GET, HEAD, PATCH, OPTIONS"));
    expect_error(call_service(w, "OPTIONS", "/nowhere", NULL), 404, 0);
}

static void configure_origin_with_rate_limits(struct config *config)
{
    config->cors_origin = "https://page.example";
    config->rate_limits = true;
}

/* Preflights must not use up the caller's rate limit. */
static void cors_preflights_do_not_count_towards_the_rate_limit(struct world *w)
{
    struct client *ada = world_client(w, "ada");
    struct answer a = { 0 };

    for (int i = 0; i < 200; i++)
        expect_status(call_service(w, "OPTIONS", "/api/v10/users/@me", PREFLIGHT), 204);
    expect_status(client_get(ada, "/users/@me"), 200);
    for (int i = 0; i < 60 && a.status != 429; i++)
        a = client_get(ada, "/users/@me");
    expect_status(a, 429);
    expect(str_is(answer_header(a, "Access-Control-Allow-Origin"), "https://page.example"));
}

static void allow_two_origins(struct config *config)
{
    config->cors_origin = "https://page.example, https://fermi.example";
}

/* Spacebar's clients send requests with credentials, which "*" does not allow. */
static void named_origins_may_send_credentials(struct world *w)
{
    static const struct {
        const char *from, *allowed;
    } cases[] = {
        { "Origin: https://page.example\r\n", "https://page.example" },
        { "Origin: https://fermi.example\r\n", "https://fermi.example" },
        { "Origin: https://other.example\r\n", "https://page.example" },
        { "Origin: https://fermi.example.evil\r\n", "https://page.example" },
        { NULL, "https://page.example" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct answer a = call_service(w, "GET", "/api/v9/gateway", cases[i].from);

        expect(str_is(answer_header(a, "Access-Control-Allow-Origin"), cases[i].allowed));
        expect(str_is(answer_header(a, "Access-Control-Allow-Credentials"), "true"));
        expect(str_is(answer_header(a, "Vary"), "Origin"));
    }
    struct answer a = call_service(w, "OPTIONS", "/api/v9/users/@me", PREFLIGHT);
    expect_status(a, 204);
    expect(str_is(answer_header(a, "Access-Control-Allow-Credentials"), "true"));
}

static void responses_have_no_cors_headers_without_allowed_origin(struct world *w)
{
    struct answer a = call_service(w, "OPTIONS", "/api/v10/users/@me", PREFLIGHT);

    expect_status(a, 204);
    expect(!answer_header(a, "Access-Control-Allow-Origin").p);
    expect(!answer_header(a, "Access-Control-Allow-Methods").p);
    expect_error(call_service(w, "OPTIONS", "/api/v10/nowhere", PREFLIGHT), 404, 0);
}

/* --- gateway URLs --------------------------------------------------------------------- */

static void gateway_url_is_returned_to_any_caller(struct world *w)
{
    struct client *ada = world_client(w, "ada"), *bot = world_bot(w, "helper");
    struct client *callers[] = { world_anonymous(w),
                                 ada,
                                 bot,
                                 world_client_with(w, "nonsense"),
                                 world_client_with(w, bot->authorization + 4),
                                 world_token(w, ada, CALLER_BEARER, "email", 0) };

    for (size_t i = 0; i < sizeof callers / sizeof *callers; i++) {
        struct answer a = client_get(callers[i], "/gateway");

        expect_status(a, 200);
        expect_json(a, "{'url': 'ws://127.0.0.1:%d'}", world_port(w));
    }
    struct answer a =
        client_request(ada, "GET", "http://other.example:99/api/gateway", NULL, (struct str){ 0 });
    expect_json(a, "{'url': 'ws://other.example:99'}");
}

static void bot_gateway_contains_shards_and_session_start_limit(struct world *w)
{
    struct client *bot = world_bot(w, "helper");
    struct answer a = client_get(bot, "/gateway/bot");

    expect_status(a, 200);
    expect_json(a, "{'url': 'ws://127.0.0.1:%d', 'shards': 1}", world_port(w));
    long total = atol(answer_text(a, "session_start_limit.total"));
    long remaining = atol(answer_text(a, "session_start_limit.remaining"));
    long reset_after = atol(answer_text(a, "session_start_limit.reset_after"));
    long concurrency = atol(answer_text(a, "session_start_limit.max_concurrency"));
    expect(total >= 1 && remaining >= 0 && remaining <= total);
    expect(reset_after > 0 && reset_after <= 24 * 60 * 60 * 1000);
    expect(concurrency >= 1);
    expect_error(client_get(world_client(w, "ada"), "/gateway/bot"), 403, 20002);
    expect_error(client_get(world_anonymous(w), "/gateway/bot"), 401, 0);
    expect_error(client_get(world_client_with(w, bot->authorization + 4), "/gateway/bot"), 401, 0);
}

/* --- voice regions -------------------------------------------------------------------- */

static void configure_three_regions(struct config *config)
{
    config->voice_regions = "eu: Europe , us-1:United States,quiet";
}

static void voice_regions_option_sets_the_regions(struct world *w)
{
    struct answer a = client_get(world_client(w, "ada"), "/voice/regions");

    expect_status(a, 200);
    expect_json(a, "[{'id': 'eu', 'name': 'Europe', 'optimal': true, 'deprecated': false, "
                   "'custom': false}, {'id': 'us-1', 'name': 'United States', 'optimal': false}, "
                   "{'id': 'quiet', 'name': 'quiet', 'optimal': false}]");
    expect_json(client_get(world_bot(w, "helper"), "/voice/regions"), "[{}, {}, {}]");
}

static void default_voice_region_is_main(struct world *w)
{
    expect_json(client_get(world_client(w, "ada"), "/voice/regions"),
                "[{'id': 'main', 'name': 'Main', 'optimal': true}]");
}

/* --- stopping ------------------------------------------------------------------------- */

/* The server stops only after the password is hashed, however busy the machine is. */
static void configure_slow_passwords(struct config *config)
{
    config->shutdown_seconds = 60;
    config->password_memory_mib = 32;
    config->password_passes = 4;
}

static uint64_t count_requests(struct world *w)
{
    struct http_server_stats stats;

    http_server_read_stats(api_get_http_server(guildhall_get_api(world_server(w))), &stats);
    return stats.requests;
}

static size_t read_to_end(int fd, char *in, size_t max)
{
    size_t n = 0;
    ssize_t got;

    while (n < max - 1 && (got = recv(fd, in + n, max - 1 - n, 0)) > 0)
        n += (size_t)got;
    in[n] = '\0';
    return n;
}

static void running_requests_are_answered_before_shutdown(struct world *w)
{
    static const char login[] = "POST /api/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: "
                                "application/json\r\nContent-Length: 33\r\n\r\n"
                                "{\"login\":\"nobody\",\"password\":\"x\"}";
    struct client *nobody = world_anonymous(w);
    int slow = client_dial(nobody), idle = client_dial(nobody);
    char in[4096];

    expect(send(idle, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", 34, 0) == 34);
    expect_soon(count_requests(w) >= 1);
    expect(send(slow, login, sizeof login - 1, 0) == sizeof login - 1);
    expect_soon(count_requests(w) >= 2);
    world_stop(w);
    expect(read_to_end(slow, in, sizeof in) > 0 && strstr(in, "INVALID_LOGIN"));
    expect(read_to_end(idle, in, sizeof in) > 0 && strstr(in, "{\"status\":\"ok\"}"));
    close(slow);
    close(idle);
}

const struct test service_tests[] = {
    TEST(health_and_readiness_of_a_running_server_are_ok),
    TEST(draining_server_is_not_ready_but_healthy),
    TEST(server_with_a_full_disk_is_not_ready),
    TEST(metrics_have_the_prometheus_text_format),
    TEST(metrics_contain_hits_and_size_of_each_cache),
    TEST(metrics_contain_numbers_of_accounts_guilds_and_messages),
    TEST(metrics_counters_increase_with_requests),
    TEST_WITH(metrics_require_the_configured_token, configure_metrics_token),
    TEST(metrics_without_a_token_require_a_local_caller),
    TEST(metrics_refuse_requests_with_a_foreign_host_header),
    TEST_WITH(metrics_behind_a_proxy_require_a_token, configure_public_url),
    TEST(openapi_document_supports_etag_and_304),
    TEST_WITH(responses_have_cors_headers_when_an_origin_is_allowed, allow_any_origin),
    TEST_WITH(cors_preflight_is_answered_on_every_path, allow_any_origin),
    TEST_WITH(cors_preflights_do_not_count_towards_the_rate_limit,
              configure_origin_with_rate_limits),
    TEST_WITH(named_origins_may_send_credentials, allow_two_origins),
    TEST(responses_have_no_cors_headers_without_allowed_origin),
    TEST(gateway_url_is_returned_to_any_caller),
    TEST(bot_gateway_contains_shards_and_session_start_limit),
    TEST_WITH(voice_regions_option_sets_the_regions, configure_three_regions),
    TEST(default_voice_region_is_main),
    TEST_WITH(running_requests_are_answered_before_shutdown, configure_slow_passwords),
    { 0 },
};
