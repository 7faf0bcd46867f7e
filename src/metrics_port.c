/* metrics_port.c - a listener of its own for monitoring: /metrics, /healthz, /readyz. */
#include <string.h>

#include "base/clock_watch.h"
#include "base/log.h"
#include "parts.h"

static struct intake monitor_intake(void *arg, const struct http_request *r)
{
    (void)arg, (void)r;
    return (struct intake){ 0 };
}

static void monitor_refusal(void *arg, int status, struct buf *out)
{
    (void)arg;
    buf_printf(out, "{\"message\":\"%d\",\"code\":0}", status);
}

static void monitor_answer(struct exchange *x, int status, struct str type, struct str body)
{
    struct answer_head head = { .status = status, .content_type = type };

    http_answer(x, &head, body);
}

/* Who reaches this address may see it: that is what the operator opens it for. */
static void monitor_request(void *arg, struct exchange *x)
{
    const struct guildhall *g = arg;
    const char *warning = clock_watch_warning();
    struct str path = x->request->path, json = STR("application/json");
    struct buf out;

    if (x->request->method != HTTP_GET && x->request->method != HTTP_HEAD) {
        monitor_answer(x, 405, json, STR("{\"message\":\"405: Method Not Allowed\",\"code\":0}"));
    } else if (str_is(path, "/metrics")) {
        buf_init(&out, SIZE_MAX);
        api_metrics(g->api, &out);
        monitor_answer(x, 200, STR(API_METRICS_TYPE), buf_str(&out));
        buf_clear(&out);
    } else if (str_is(path, "/readyz") && api_ready(g->api) && warning) {
        buf_init(&out, SIZE_MAX);
        buf_printf(&out, "{\"status\":\"ok\",\"warning\":\"%s\"}", warning);
        monitor_answer(x, 200, json, buf_str(&out));
        buf_clear(&out);
    } else if (str_is(path, "/healthz") || (str_is(path, "/readyz") && api_ready(g->api))) {
        monitor_answer(x, 200, json, STR("{\"status\":\"ok\"}"));
    } else if (str_is(path, "/readyz")) {
        monitor_answer(x, 503, json, STR("{\"message\":\"503: Service Unavailable\",\"code\":0}"));
    } else {
        monitor_answer(x, 404, json, STR("{\"message\":\"404: Not Found\",\"code\":0}"));
    }
}

enum err parts_start_monitor(struct guildhall *g)
{
    const char *listen = g->config->metrics_listen;
    char host[256];
    struct server_options options = {
        .host = host,
        .head_timeout_ms = 30 * 1000,
        .idle_timeout_ms = g->config->idle_seconds * 1000,
        .via = "1.1 guildhall",
    };
    struct server_app app = {
        .arg = g, .intake = monitor_intake, .request = monitor_request, .refusal = monitor_refusal
    };

    if (!listen)
        return OK;
    if (!parts_split_address(listen, host, sizeof host, &options.port)) {
        log_error("metrics-listen must be HOST:PORT, not '%s'", listen);
        return ERR_INTERNAL;
    }
    enum err e = server_start(g->loops, &options, &app, &g->monitor);
    if (!e)
        log_info("metrics: served on %s, port %d", host, server_port(g->monitor));
    return e;
}
