/* api.c - creates struct api and connects it to the HTTP server; URLs, error bodies. */
#include "api/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"

enum { MAX_JSON = 1024 * 1024, MAX_MULTIPART = 16 * 1024 * 1024 };

static void publish_rate_limit_counts(void *arg, struct str message)
{
    cluster_send_message_to_all_nodes(((struct api *)arg)->options.cluster, CLUSTER_COUNTS,
                                      message);
}

/* Returns the number of nodes that currently do not receive each other's rate-limit counts. */
static unsigned count_unreachable_nodes(void *arg)
{
    return cluster_count_unconnected_nodes(((struct api *)arg)->options.cluster);
}

static void share_rate_limits_with_cluster(struct api *api)
{
    struct rate_limit_cluster_callbacks others = { .arg = api,
                                                   .count_disconnected_nodes =
                                                       count_unreachable_nodes };

    if (!api->options.cluster || cluster_has_no_other_nodes(api->options.cluster))
        return;
    if (cluster_has_nats(api->options.cluster)) {
        rate_limits_enable_sharing_between_nodes(api->limits);
        others.send = publish_rate_limit_counts;
    }
    rate_limits_set_cluster_callbacks(api->limits, &others);
}

struct api *api_new(const struct api_options *options, const struct domain *const *domains)
{
    static _Atomic uint64_t made;
    struct api *api = mem_new(sizeof *api);

    api->options = *options;
    api->number = ++made;
    api->domains = domains;
    api->router = router_new(domains);
    cors_init(api);
    api->limits = rate_limit_counters_new(&options->limits);
    share_rate_limits_with_cluster(api);
    api->faults = injected_faults_new();
    api->jobs = job_scheduler_new(api);
    api->file_removal = file_removal_new(api);
    api->token_uses = token_last_use_writer_new(api);
    for (const struct domain *const *d = domains; *d; d++) {
        if (((*d)->check_permissions && api->check_permissions) ||
            ((*d)->read_private_members && api->read_private_members)) {
            fprintf(stderr, "guildhall: two domains implement the same callback; only one may\n");
            abort();
        }
        if ((*d)->check_permissions)
            api->check_permissions = (*d)->check_permissions;
        if ((*d)->read_private_members)
            api->read_private_members = (*d)->read_private_members;
    }
    return api;
}

void api_free(struct api *api)
{
    if (!api)
        return;
    file_removal_free(api->file_removal);
    token_last_use_writer_free(api->token_uses);
    job_scheduler_free(api->jobs);
    injected_faults_free(api->faults);
    rate_limit_counters_free(api->limits);
    call_durations_free(api->durations);
    static_document_free(api->openapi);
    router_free(api->router);
    buf_clear(&api->cors);
    mem_free(api);
}

void api_set_rate_limits(struct api *api, const struct rate_limit_options *limits)
{
    rate_limits_set_options(api->limits, limits);
}

void api_publish_rate_limit_counts(struct api *api)
{
    rate_limits_publish_counts(api->limits, publish_rate_limit_counts, api);
}

void api_receive_rate_limit_counts(struct api *api, struct str message)
{
    atomic_fetch_add(&api->counts_received, limits_receive_counts(api->limits, message));
}

static struct body_limits get_body_limits_of_request(void *arg, const struct http_request *r)
{
    const struct api *api = arg;
    const struct route *route = router_find_route(api->router, r->method, r->path);
    struct body_limits in = { .max_body = MAX_JSON };

    if (route && route->max_body)
        in.max_body = route->max_body;
    if (route && route->body_kinds & (BODY_MULTIPART | BODY_PARTS))
        in.max_multipart = route->max_upload ? route->max_upload
                           : route->max_body ? route->max_body
                                             : MAX_MULTIPART;
    return in;
}

static void on_request_head(void *arg, struct http_exchange *x)
{
    call_check_request_head_before_body(arg, x);
}

static void on_request_complete(void *arg, struct http_exchange *x)
{
    call_start_complete_request(arg, x);
}

static void write_refusal_body(void *arg, int status, struct buf *out)
{
    (void)arg;
    if (status == 413) {
        write_error_response_json(ERR_ENTITY_TOO_LARGE, NULL, out);
        return;
    }
    buf_printf(out, "{\"message\":\"%d: %s\",\"code\":0}", status, http_reason_phrase(status));
}

struct http_server_callbacks api_app(struct api *api)
{
    return (struct http_server_callbacks){ .arg = api,
                                           .body_limits = get_body_limits_of_request,
                                           .authorize_body = on_request_head,
                                           .request = on_request_complete,
                                           .refusal = write_refusal_body,
                                           .refusal_lines = buf_as_str(&api->cors),
                                           .refused = record_refused_request };
}

void api_set_http_server(struct api *api, struct http_server *server)
{
    api->server = server;
}

void api_begin_draining(struct api *api)
{
    api->draining = true;
}

void api_record_background_work_start(struct api *api)
{
    atomic_fetch_add_explicit(&api->running, 1, memory_order_relaxed);
}

void api_record_background_work_end(struct api *api)
{
    atomic_fetch_sub_explicit(&api->running, 1, memory_order_release);
}

void api_wait_until_all_calls_end(struct api *api)
{
    while (api->running)
        usleep(1000);
}

bool api_is_draining(const struct api *api)
{
    return api->draining;
}

struct injected_faults *api_get_injected_faults(const struct api *api)
{
    return api->faults;
}

const struct call_durations *api_get_call_durations(const struct api *api)
{
    return api->durations;
}

const struct domain *const *api_get_domains(const struct api *api)
{
    return api->domains;
}

const struct api_options *api_get_options(const struct api *api)
{
    return &api->options;
}

uint64_t api_instance_number(const struct api *api)
{
    return api->number;
}

struct http_server *api_get_http_server(const struct api *api)
{
    return api->server;
}

/* Builds the base URL. If public-url is not set, the scheme is https if the caller's connection
 * uses TLS. An empty host becomes localhost. */
static struct str build_base_url(const struct call *call, const char *scheme, struct str host)
{
    const char *set = call->api->options.public_url;
    bool secure = call->exchange && call->exchange->secure;

    if (set) {
        struct str url = str_of(set);

        secure = str_starts_with(url, STR("https://"));
        host = str_skip_bytes(url, secure ? 8 : 7);
    } else if (host.n == 0) {
        host = str_printf(call->arena, "localhost:%d", http_server_get_port(call->api->server));
    }
    return STR_CONCAT(call->arena, str_of(scheme), secure ? STR("s://") : STR("://"), host);
}

struct str api_get_base_url(const struct call *call, const char *scheme)
{
    const struct http_exchange *x = call->exchange;

    if (call->api->options.gateway_url && strcmp(scheme, "ws") == 0)
        return str_of(call->api->options.gateway_url);
    return build_base_url(call, scheme, x ? x->request->host : (struct str){ 0 });
}

/* GET and HEAD use the Host header: they emit no events, so only the caller sees the URL. */
struct str api_get_public_base_url(const struct call *call)
{
    const struct http_exchange *x = call->exchange;

    if (call->api->options.files_url)
        return str_of(call->api->options.files_url);
    if (x && (x->request->method == HTTP_GET || x->request->method == HTTP_HEAD))
        return api_get_base_url(call, "http");
    return build_base_url(call, "http", x ? x->local : (struct str){ 0 });
}

void write_error_response_json(enum err e, const struct form *form, struct buf *out)
{
    const struct error_info *info = error_info(e);
    struct json_writer j = json_writer_to_buf(out);

    json_begin_object(&j);
    json_write_name(&j, "message");
    json_write_text(&j, str_of(info->message));
    json_write_name(&j, "code");
    json_write_int(&j, info->code);
    if (e == ERR_INVALID_FORM_BODY && form && form_has_errors(form)) {
        json_write_name(&j, "errors");
        write_form_errors_json(form, &j);
    }
    json_end_object(&j);
}

static void add_schema_to_set(const struct schema *s, void *arg)
{
    struct schema_set *set = arg;

    for (size_t i = 0; i < set->count; i++)
        if (set->list[i] == s)
            return;
    if (set->count < COUNT_OF(set->list))
        set->list[set->count++] = s;
}

void collect_route_schemas(const struct domain *const *domains, struct schema_set *ret)
{
    for (const struct domain *const *d = domains; *d; d++) {
        for (const struct route *r = (*d)->routes; r && r->path; r++) {
            if (r->body)
                schema_visit_contained_schemas(r->body, add_schema_to_set, ret);
            if (r->reply)
                schema_visit_contained_schemas(r->reply, add_schema_to_set, ret);
        }
    }
}
