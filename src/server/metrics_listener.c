/* metrics_listener.c - the separate listener for monitoring: /metrics, /healthz, /readyz. */
#include <string.h>

#include "base/clock_watch.h"
#include "base/log.h"
#include "server/guildhall_internal.h"

static struct body_limits metrics_body_limits(void *arg, const struct http_request *r)
{
    (void)arg, (void)r;
    return (struct body_limits){ 0 };
}

static void append_metrics_error(void *arg, int status, struct buf *out)
{
    (void)arg;
    buf_printf(out, "{\"message\":\"%d\",\"code\":0}", status);
}

static void metrics_respond(struct http_exchange *x, int status, struct str type, struct str body)
{
    struct response_head head = { .status = status, .content_type = type };

    http_respond(x, &head, body);
}

static void metrics_respond_status(struct http_exchange *x, int status, const char *word,
                                   const char *warning)
{
    struct str more = warning ? str_printf(x->arena, ",\"warning\":\"%s\"", warning) : STR("");

    metrics_respond(x, status, STR("application/json"),
                    str_printf(x->arena, "{\"status\":\"%s\"%.*s}", word, STR_ARGS(more)));
}

/* Replies to a request for metrics. No authentication is needed, because the operator restricts who
 * can connect to this address. */
static void on_metrics_request(void *arg, struct http_exchange *x)
{
    const struct guildhall *g = arg;
    struct str path = x->request->path, json = STR("application/json");
    struct buf out;

    if (x->request->method != HTTP_GET && x->request->method != HTTP_HEAD) {
        metrics_respond(x, 405, json, STR("{\"message\":\"405: Method Not Allowed\",\"code\":0}"));
    } else if (str_is(path, "/metrics")) {
        buf_init(&out, SIZE_MAX);
        api_write_metrics(g->api, &out);
        metrics_respond(x, 200, STR(API_METRICS_TYPE), buf_as_str(&out));
        buf_clear(&out);
    } else if (str_is(path, "/healthz")) {
        metrics_respond_status(x, 200, api_is_draining(g->api) ? "draining" : "ok", NULL);
    } else if (str_is(path, "/readyz")) {
        const char *trouble = api_get_not_ready_reason(g->api);

        metrics_respond_status(x, trouble ? 503 : 200, trouble ? trouble : "ok",
                               clock_watch_get_warning());
    } else {
        metrics_respond(x, 404, json, STR("{\"message\":\"404: Not Found\",\"code\":0}"));
    }
}

enum err start_metrics_listener(struct guildhall *g)
{
    const char *listen = g->config->metrics_listen;
    char host[256];
    struct http_server_options options = {
        .host = host,
        .head_timeout_ms = 30 * 1000,
        .idle_timeout_ms = g->config->idle_seconds * 1000,
        .via = "1.1 guildhall",
    };
    struct http_server_callbacks app = { .arg = g,
                                         .body_limits = metrics_body_limits,
                                         .request = on_metrics_request,
                                         .refusal = append_metrics_error };

    if (!listen)
        return OK;
    if (!split_host_and_port(listen, host, sizeof host, &options.port)) {
        log_error("metrics-listen must be HOST:PORT, not '%s'", listen);
        return ERR_INTERNAL;
    }
    enum err e = http_server_start(g->loops, &options, &app, &g->metrics_server);
    if (!e)
        log_info("metrics: serving on %s, port %d", host, http_server_get_port(g->metrics_server));
    return e;
}
