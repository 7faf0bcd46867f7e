/* api.c - creates struct api and connects it to the HTTP server; URLs, error bodies. */
#include "api/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"

enum { MAX_JSON = 1024 * 1024, MAX_MULTIPART = 16 * 1024 * 1024 };

static void send_counts(void *arg, struct str message)
{
    cluster_tell(((struct api *)arg)->options.cluster, CLUSTER_COUNTS, message);
}

/* Returns the number of nodes that currently do not receive each other's rate-limit counts. */
static unsigned servers_apart(void *arg)
{
    return cluster_apart(((struct api *)arg)->options.cluster);
}

static void share_limits(struct api *api)
{
    struct limits_others others = { .arg = api, .apart = servers_apart };

    if (!api->options.cluster || cluster_is_alone(api->options.cluster))
        return;
    if (cluster_has_wire(api->options.cluster)) {
        limits_share(api->limits);
        others.send = send_counts;
    }
    limits_set_others(api->limits, &others);
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
    api->limits = limits_new(&options->limits);
    share_limits(api);
    api->faults = faults_new();
    api->jobs = jobs_new(api);
    api->file_removal = file_removal_new(api);
    api->token_uses = token_uses_new(api);
    for (const struct domain *const *d = domains; *d; d++) {
        if (((*d)->permit && api->permit) || ((*d)->people && api->people)) {
            fprintf(stderr, "guildhall: two domains implement the same callback; only one may\n");
            abort();
        }
        if ((*d)->permit)
            api->permit = (*d)->permit;
        if ((*d)->people)
            api->people = (*d)->people;
    }
    return api;
}

void api_free(struct api *api)
{
    if (!api)
        return;
    file_removal_free(api->file_removal);
    token_uses_free(api->token_uses);
    jobs_free(api->jobs);
    faults_free(api->faults);
    limits_free(api->limits);
    durations_free(api->durations);
    document_free(api->openapi);
    router_free(api->router);
    buf_clear(&api->cors);
    mem_free(api);
}

void api_set_limits(struct api *api, const struct limits_options *limits)
{
    limits_set(api->limits, limits);
}

void api_tell_counts(struct api *api)
{
    limits_tell(api->limits, send_counts, api);
}

void api_hear_counts(struct api *api, struct str message)
{
    atomic_fetch_add(&api->counts_heard, limits_hear(api->limits, message));
}

static struct intake api_intake(void *arg, const struct http_request *r)
{
    const struct api *api = arg;
    const struct route *route = router_peek(api->router, r->method, r->path);
    struct intake in = { .max_body = MAX_JSON };

    if (route && route->max_body)
        in.max_body = route->max_body;
    if (route && route->body_kinds & (BODY_MULTIPART | BODY_PARTS))
        in.max_multipart = route->max_upload ? route->max_upload
                           : route->max_body ? route->max_body
                                             : MAX_MULTIPART;
    return in;
}

static void api_admit(void *arg, struct exchange *x)
{
    call_admit(arg, x);
}

static void api_request(void *arg, struct exchange *x)
{
    call_begin(arg, x);
}

static void api_refusal(void *arg, int status, struct buf *out)
{
    (void)arg;
    if (status == 413) {
        error_body(ERR_ENTITY_TOO_LARGE, NULL, out);
        return;
    }
    buf_printf(out, "{\"message\":\"%d: %s\",\"code\":0}", status, status_reason(status));
}

struct server_app api_app(struct api *api)
{
    return (struct server_app){ .arg = api,
                                .intake = api_intake,
                                .admit = api_admit,
                                .request = api_request,
                                .refusal = api_refusal,
                                .refusal_lines = buf_str(&api->cors),
                                .refused = refusal_record };
}

void api_set_server(struct api *api, struct server *server)
{
    api->server = server;
}

void api_drain(struct api *api)
{
    api->draining = true;
}

void api_hold(struct api *api)
{
    atomic_fetch_add_explicit(&api->running, 1, memory_order_relaxed);
}

void api_release(struct api *api)
{
    atomic_fetch_sub_explicit(&api->running, 1, memory_order_release);
}

void api_wait(struct api *api)
{
    while (api->running)
        usleep(1000);
}

bool api_draining(const struct api *api)
{
    return api->draining;
}

struct faults *api_faults(const struct api *api)
{
    return api->faults;
}

const struct durations *api_durations(const struct api *api)
{
    return api->durations;
}

const struct domain *const *api_domains(const struct api *api)
{
    return api->domains;
}

const struct api_options *api_options(const struct api *api)
{
    return &api->options;
}

uint64_t api_number(const struct api *api)
{
    return api->number;
}

struct server *api_server(const struct api *api)
{
    return api->server;
}

/* Builds the base URL. If public-url is not set, the scheme is https when the caller's connection
 * uses TLS; if the host is empty, it is localhost. */
static struct str url_of_host(const struct call *call, const char *scheme, struct str host)
{
    const char *set = call->api->options.public_url;
    bool secure = call->exchange && call->exchange->secure;

    if (set) {
        struct str url = str_of(set);

        secure = str_starts(url, STR("https://"));
        host = str_from(url, secure ? 8 : 7);
    } else if (host.n == 0) {
        host = str_printf(call->arena, "localhost:%d", server_port(call->api->server));
    }
    return STR_CONCAT(call->arena, str_of(scheme), secure ? STR("s://") : STR("://"), host);
}

struct str api_url(const struct call *call, const char *scheme)
{
    const struct exchange *x = call->exchange;

    return url_of_host(call, scheme, x ? x->request->host : (struct str){ 0 });
}

/* GET and HEAD emit no events, so only the caller sees the URL. */
struct str api_public_url(const struct call *call)
{
    const struct exchange *x = call->exchange;

    if (x && (x->request->method == HTTP_GET || x->request->method == HTTP_HEAD))
        return api_url(call, "http");
    return url_of_host(call, "http", x ? x->local : (struct str){ 0 });
}

void error_body(enum err e, const struct form *form, struct buf *out)
{
    const struct error_info *info = error_info(e);
    struct json j = json_to(out);

    json_object(&j);
    json_name(&j, "message");
    json_text(&j, str_of(info->message));
    json_name(&j, "code");
    json_int(&j, info->code);
    if (e == ERR_INVALID_FORM_BODY && form && form_failed(form)) {
        json_name(&j, "errors");
        form_write(form, &j);
    }
    json_object_end(&j);
}

static void note_schema(const struct schema *s, void *arg)
{
    struct schema_set *set = arg;

    for (size_t i = 0; i < set->count; i++)
        if (set->list[i] == s)
            return;
    if (set->count < COUNT_OF(set->list))
        set->list[set->count++] = s;
}

void schemas_gather(const struct domain *const *domains, struct schema_set *ret)
{
    for (const struct domain *const *d = domains; *d; d++) {
        for (const struct route *r = (*d)->routes; r && r->path; r++) {
            if (r->body)
                schema_walk(r->body, note_schema, ret);
            if (r->reply)
                schema_walk(r->reply, note_schema, ret);
        }
    }
}
