/* service_routes.c - /healthz, /readyz, /metrics and /openapi.json, for operators and tools. */
#include "api/internal.h"

#include <malloc.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

/* Rate limits of service routes per client address, far above the needs of metrics scrapers and
 * other tools. */
static const struct rate_limit limit_metrics = {
    .name = "metrics", .count = 100, .window_s = 10, .by_address = true
};
static const struct rate_limit limit_openapi = {
    .name = "openapi", .count = 30, .window_s = 10, .by_address = true
};

#include "base/cache.h"
#include "base/clock_watch.h"
#include "base/stall_meter.h"
#include "base/mem.h"
#include "net/client/object_storage.h"

struct service_status {
    struct str status;
    struct opt_str warning;
};

static const struct type type_status_text = {
    .kind = KIND_STRING,
    .doc = "\"ok\", or what is wrong: \"draining\", \"disk full\", "
           "\"no store\", \"no cluster\""
};
static const struct type type_status_warning = { .kind = KIND_STRING,
                                                 .doc = "Problem that the operator should fix." };
static const struct field status_fields[] = {
    { FIELD(struct service_status, status), .type = &type_status_text },
    { FIELD(struct service_status, warning), .type = &type_status_warning, .flags = OPTIONAL },
    { 0 },
};
static const struct schema status_schema = {
    .name = "Status",
    .size = sizeof(struct service_status),
    .fields = status_fields,
    .doc = "State of the server.",
};
static const struct type status_reply = { .kind = KIND_OBJECT, .schema = &status_schema };
static const struct type any_reply = { .kind = KIND_RAW };

/* Handles GET /healthz: status 200 as long as the process runs. */
static enum err get_health(struct call *call)
{
    bool draining = api_is_draining(call->api);

    return call_reply_with_object(
        call, &(struct service_status){ .status = draining ? STR("draining") : STR("ok") });
}

const char *api_get_not_ready_reason(struct api *api)
{
    const struct api_options *o = &api->options;

    if (api_is_draining(api))
        return "draining";
    if (!store_is_reachable(o->store))
        return "no store";
    if (o->cluster && !cluster_is_ready(o->cluster))
        return "no cluster";
    return store_disk_is_full(o->store) ? "disk full" : NULL;
}

/* GET /readyz: 200 if the store is reachable and has space, other nodes are reachable, and the
 * server is not stopping. A wrong clock causes only a warning: it makes messages appear in the
 * wrong order, but status 503 would make load balancers remove the server, which would be an
 * outage. */
static enum err get_readiness(struct call *call)
{
    const char *reason = api_get_not_ready_reason(call->api), *warning = clock_watch_get_warning();
    struct service_status status = { .status = str_of(reason ? reason : "ok") };

    if (reason)
        call_set_status(call, 503);
    if (warning)
        status.warning = (struct opt_str){ GIVEN, str_of(warning) };
    return call_reply_with_object(call, &status);
}

void api_append_metric(struct buf *out, const char *name, const char *kind, const char *help,
                       uint64_t v)
{
    buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n%s %llu\n", name, help, name, kind, name,
               (unsigned long long)v);
}

static void write_server_metrics(struct api *api, struct buf *out)
{
    struct http_server *server = api->server;
    struct http_server_stats s = { 0 };

    /* the HTTP server is NULL if a call arrives before api_set_http_server was called */
    if (server)
        http_server_read_stats(server, &s);
    api_append_metric(out, "guildhall_connections_accepted_total", "counter",
                      "Connections accepted.", s.accepted);
    api_append_metric(out, "guildhall_connections", "gauge", "Connections open now.", s.open);
    api_append_metric(out, "guildhall_websockets", "gauge", "Open WebSocket connections.",
                      s.websockets);
    api_append_metric(out, "guildhall_requests_total", "counter", "HTTP requests received.",
                      s.requests);
    api_append_metric(out, "guildhall_refused_total", "counter",
                      "HTTP requests refused as malformed.", s.refused);
    api_append_metric(out, "guildhall_received_bytes_total", "counter", "Bytes received.",
                      s.bytes_in);
    api_append_metric(out, "guildhall_body_bytes", "gauge", "Memory used by request bodies.",
                      s.body_bytes);
    api_append_metric(out, "guildhall_sent_bytes_total", "counter", "Bytes sent.", s.bytes_out);
}

static void write_response_metrics(struct api *api, struct buf *out)
{
    buf_add_lit(out, "# HELP guildhall_answers_total Responses by class of status.\n"
                     "# TYPE guildhall_answers_total counter\n");
    for (int i = 1; i < 6; i++)
        buf_printf(out, "guildhall_answers_total{status=\"%dxx\"} %llu\n", i,
                   (unsigned long long)api->responses[i]);
}

static void write_clock_metrics(struct buf *out)
{
    struct clock_health c = clock_watch_get_health();

    api_append_metric(out, "guildhall_clock_behind_seconds", "gauge",
                      "Seconds that the clock is behind the newest message or account.",
                      (uint64_t)c.behind_ms / 1000);
    api_append_metric(out, "guildhall_clock_steps_total", "counter",
                      "Number of times that the clock was stepped by over five seconds.", c.steps);
}

static void write_object_storage_metrics(const struct store *store, struct buf *out)
{
    struct object_storage_stats s;

    if (!store_read_object_storage_stats(store, &s))
        return;
    api_append_metric(out, "guildhall_object_storage_up", "gauge",
                      "0 while the object storage does not answer.", !s.is_down);
    api_append_metric(out, "guildhall_object_storage_requests_total", "counter",
                      "Requests sent to the object storage.", s.requests);
    api_append_metric(out, "guildhall_object_storage_retries_total", "counter",
                      "Requests to the object storage that were repeated.", s.retries);
    api_append_metric(out, "guildhall_object_storage_failures_total", "counter",
                      "Uploads, downloads and deletions that the object storage did not accept.",
                      s.failures);
}

static void write_standby_metrics(const struct store_stats *s, struct buf *out)
{
    if (!s->has_standby)
        return;
    api_append_metric(out, "guildhall_standby_used", "gauge",
                      "1 while a standby of PostgreSQL runs reads that may be a moment old.",
                      s->standby_is_used);
    if (s->standby_lag_ms >= 0)
        api_append_metric(out, "guildhall_standby_lag_milliseconds", "gauge",
                          "Age of the standby's data, including the time since it was measured.",
                          (uint64_t)s->standby_lag_ms);
    api_append_metric(out, "guildhall_standby_reads_total", "counter",
                      "Reads that the standby answered.", s->standby_reads);
    api_append_metric(out, "guildhall_standby_fallbacks_total", "counter",
                      "Reads that were sent to the standby and that the primary ran after all.",
                      s->standby_fallbacks);
}

static void write_store_metrics(struct api *api, struct buf *out)
{
    struct store_stats s = { 0 };

    store_read_stats(api->options.store, &s);
    api_append_metric(out, "guildhall_store_reads_total", "counter", "Read transactions.", s.reads);
    api_append_metric(out, "guildhall_store_writes_total", "counter", "Write transactions.",
                      s.writes);
    api_append_metric(out, "guildhall_store_commits_total", "counter",
                      "Commits; one commit may contain many write transactions.", s.commits);
    api_append_metric(out, "guildhall_store_retries_total", "counter",
                      "Transactions that were retried.", s.retries);
    api_append_metric(out, "guildhall_store_round_trips_total", "counter",
                      "Round trips to PostgreSQL that a transaction waited for.", s.round_trips);
    api_append_metric(out, "guildhall_store_failures_total", "counter", "Commits that failed.",
                      s.failures);
    api_append_metric(out, "guildhall_store_full", "gauge",
                      "1 while writes fail because the disk is full.",
                      store_disk_is_full(api->options.store));
    api_append_metric(out, "guildhall_store_corruptions_total", "counter",
                      "Statements that failed because the SQLite database is damaged.",
                      s.corruptions);
    api_append_metric(out, "guildhall_damaged_files_total", "counter",
                      "Requests for a file that is missing or has the wrong size.",
                      s.damaged_files);
    write_standby_metrics(&s, out);
    write_object_storage_metrics(api->options.store, out);
    if (api->options.cluster)
        api_append_metric(out, "guildhall_counts_heard_total", "counter",
                          "Calls on other nodes that were counted against rate limits here.",
                          api->counts_received);
    api_append_metric(out, "guildhall_jobs_total", "counter", "Jobs that this node has run.",
                      job_scheduler_run_count(api->jobs));
}

struct longest_operation_output {
    struct buf *out;
    const char *kind;
};

static void write_longest_operation_of_record(const struct stall_record *r, void *arg)
{
    const struct longest_operation_output *l = arg;

    if (strcmp(r->kind, l->kind) == 0)
        buf_printf(l->out, "guildhall_longest_%s_seconds{part=\"%s\"} %.6f\n", r->kind, r->part,
                   (double)r->longest_ns / 1e9);
}

/* Writes the longest durations: of each part of a loop iteration, or of each kind of write. While
 * one of these runs, other calls wait. */
static void write_longest_operation_metrics(struct buf *out, const char *kind, const char *help)
{
    buf_printf(out,
               "# HELP guildhall_longest_%s_seconds %s\n"
               "# TYPE guildhall_longest_%s_seconds gauge\n",
               kind, help, kind);
    stall_records_visit(write_longest_operation_of_record,
                        &(struct longest_operation_output){ out, kind });
}

static const struct cache_metric {
    size_t at;
    const char *name, *kind, *help;
} cache_metric_table[] = {
#define AT(member) offsetof(struct cache_stats, member)
    { AT(hits), "hits_total", "counter", "Lookups that found an entry." },
    { AT(misses), "misses_total", "counter", "Lookups that found none, or an outdated one." },
    { AT(evictions), "evictions_total", "counter", "Entries evicted because the cache was full." },
    { AT(entries), "entries", "gauge", "Entries in the cache." },
    { AT(bytes), "bytes", "gauge", "Size of the cached entries." },
#undef AT
};

struct cache_metric_output {
    struct buf *out;
    const struct cache_metric *figure;
};

static void write_one_metric_of_all_caches(const char *name, const struct cache_stats *s, void *arg)
{
    const struct cache_metric_output *l = arg;
    uint64_t value;

    memcpy(&value, (const char *)s + l->figure->at, sizeof value);
    buf_printf(l->out, "guildhall_cache_%s{cache=\"%s\"} %llu\n", l->figure->name, name,
               (unsigned long long)value);
}

static void write_cache_metrics(struct buf *out)
{
    for (size_t i = 0; i < COUNT_OF(cache_metric_table); i++) {
        const struct cache_metric *f = &cache_metric_table[i];

        buf_printf(out, "# HELP guildhall_cache_%s %s\n# TYPE guildhall_cache_%s %s\n", f->name,
                   f->help, f->name, f->kind);
        cache_visit_kind_stats(write_one_metric_of_all_caches,
                               &(struct cache_metric_output){ out, f });
    }
}

static void write_password_metrics(struct api *api, struct buf *out)
{
    struct password_hasher_stats s = { 0 };

    password_hasher_read_stats(api->hashing, &s);
    api_append_metric(out, "guildhall_passwords_waiting", "gauge",
                      "Passwords in the queue to be hashed.", s.waiting);
    api_append_metric(out, "guildhall_passwords_refused_total", "counter",
                      "Calls refused because the password queue was full.", s.refused);
}

static void write_memory_metrics(struct buf *out)
{
    struct mallinfo2 m = mallinfo2();

    api_append_metric(out, "guildhall_heap_bytes", "gauge", "Memory in use on the heap.",
                      (uint64_t)(m.uordblks + m.hblkhd));
}

/* Writes the free space of the data folder's disk, and the size of the SQLite database. */
static void write_disk_metrics(const struct api *api, struct buf *out)
{
    const char *folder = api->options.data;
    char path[4096];
    struct statvfs disk;
    struct stat file;

    if (!folder || statvfs(folder, &disk) != 0)
        return;
    api_append_metric(out, "guildhall_disk_free_bytes", "gauge",
                      "Free space on the disk of the data folder.",
                      (uint64_t)disk.f_bavail * disk.f_frsize);
    api_append_metric(out, "guildhall_disk_bytes", "gauge", "Size of the disk of the data folder.",
                      (uint64_t)disk.f_blocks * disk.f_frsize);
    snprintf(path, sizeof path, "%s/guildhall.db", folder);
    if (stat(path, &file) == 0)
        api_append_metric(out, "guildhall_store_bytes", "gauge",
                          "Size of the SQLite database file.", (uint64_t)file.st_size);
}

static void write_build_metrics(const struct api *api, struct buf *out)
{
    buf_printf(out,
               "# HELP guildhall_build_info Version of the program and type of the store.\n"
               "# TYPE guildhall_build_info gauge\n"
               "guildhall_build_info{version=\"%s\",store=\"%s\"} 1\n",
               api->options.version, store_engine_name(api->options.store));
}

void api_write_metrics(struct api *api, struct buf *out)
{
    write_build_metrics(api, out);
    write_server_metrics(api, out);
    write_response_metrics(api, out);
    call_durations_write_metrics(api->durations, out);
    write_clock_metrics(out);
    write_store_metrics(api, out);
    write_disk_metrics(api, out);
    write_password_metrics(api, out);
    write_memory_metrics(out);
    write_cache_metrics(out);
    write_longest_operation_metrics(out, "turn",
                                    "Longest operation on an event loop, if over 1 ms.");
    write_longest_operation_metrics(out, "write",
                                    "Longest work of the database writer, if over 1 ms.");
    if (api->options.metrics)
        api->options.metrics(api->options.metrics_arg, out);
}

static bool request_has_bearer_token(const struct call *call, struct str token)
{
    struct str given = call->exchange->request->authorization;

    if (!str_starts_with(given, STR("Bearer ")))
        return false;
    given = str_skip_bytes(given, 7);
    return given.n == token.n && sodium_memcmp(given.p, token.p, token.n) == 0;
}

/* Allows /metrics for callers with the metrics token or, if no token is set, from this machine.
 * Other callers are refused, because load and errors of the server are not public. */
static enum err check_metrics_permission(struct call *call)
{
    const char *token = call->api->options.metrics_token;

    if (token ? request_has_bearer_token(call, str_of(token)) : call_comes_from_this_machine(call))
        return OK;
    return ERR_UNAUTHORIZED;
}

/* GET /metrics: Prometheus text. */
static enum err get_metrics(struct call *call)
{
    struct buf out;

    buf_init(&out, CALL_MAX_REPLY);
    api_write_metrics(call->api, &out);
    return call_reply_with_buf(call, STR(API_METRICS_TYPE), &out);
}

/* Builds the OpenAPI document on the thread pool, because writing and compressing half a megabyte
 * takes long. If two callers build the document at the same time, one copy is freed. */
static enum err build_openapi_document(struct call *call)
{
    struct api *api = call->api;
    struct static_document *none = NULL, *made = static_document_new();

    api_write_openapi_document(api->domains, api->options.version, &made->plain);
    static_document_compress_and_compute_etag(made);
    if (!atomic_compare_exchange_strong(&api->openapi, &none, made))
        static_document_free(made);
    return OK;
}

static enum err set_openapi_build_stage(struct call *call)
{
    if (!call->api->openapi)
        call->compute = build_openapi_document;
    return OK;
}

/* GET /openapi.json: the OpenAPI document. */
static enum err get_openapi(struct call *call)
{
    return call_reply_with_static_document(call, call->api->openapi);
}

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/healthz",
        .name = "get_health",
        .doc = "Responds with 200 while the process runs.",
        .service = true,
        .reply = &status_reply,
        .store = ROUTE_STORE_NONE,
        .handle = get_health,
    },
    {
        .method = GET,
        .path = "/readyz",
        .name = "get_readiness",
        .doc =
            "Responds with 200 if the server is ready, or with 503 and the reason while it stops, "
            "the store is unreachable, its disk is full, or other nodes of the cluster are "
            "unreachable.",
        .service = true,
        .reply = &status_reply,
        .store = ROUTE_STORE_NONE,
        .handle = get_readiness,
    },
    {
        .method = GET,
        .path = "/metrics",
        .name = "get_metrics",
        .doc = "Counters in the Prometheus text format, for callers with the metrics token; "
               "without one, for programs on the same machine.",
        .service = true,
        .status = 200,
        .store = ROUTE_STORE_NONE,
        .limit = &limit_metrics,
        .admit = check_metrics_permission,
        .handle = get_metrics,
    },
    {
        .method = GET,
        .path = "/openapi.json",
        .name = "get_openapi",
        .doc = "The OpenAPI 3.1 document of this server.",
        .service = true,
        .reply = &any_reply,
        .store = ROUTE_STORE_NONE,
        .limit = &limit_openapi,
        .prepare = set_openapi_build_stage,
        .handle = get_openapi,
    },
    { 0 },
};

const struct domain service_domain = {
    .name = "Service",
    .doc = "For operators and their tools; at the root, without credentials.",
    .routes = routes,
};
