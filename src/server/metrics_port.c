/* metrics_port.c - the separate listener for monitoring: /metrics, /healthz, /readyz. */
#include <string.h>

#include "base/clock_watch.h"
#include "base/log.h"
#include "server/parts.h"

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

static void monitor_status(struct exchange *x, int status, const char *word, const char *warning)
{
    struct str more =
        warning ? str_printf(x->arena, ",\"warning\":\"%s\"", warning) : (struct str){ 0 };

    monitor_answer(x, status, STR("application/json"),
                   str_printf(x->arena, "{\"status\":\"%s\"%.*s}", word, STR_FMT(more)));
}

/* Responds without authentication, because the operator restricts access to this address. */
static void monitor_request(void *arg, struct exchange *x)
{
    const struct guildhall *g = arg;
    struct str path = x->request->path, json = STR("application/json");
    struct buf out;

    if (x->request->method != HTTP_GET && x->request->method != HTTP_HEAD) {
        monitor_answer(x, 405, json, STR("{\"message\":\"405: Method Not Allowed\",\"code\":0}"));
    } else if (str_is(path, "/metrics")) {
        buf_init(&out, SIZE_MAX);
        api_metrics(g->api, &out);
        monitor_answer(x, 200, STR(API_METRICS_TYPE), buf_str(&out));
        buf_clear(&out);
    } else if (str_is(path, "/healthz")) {
        monitor_status(x, 200, api_draining(g->api) ? "draining" : "ok", NULL);
    } else if (str_is(path, "/readyz")) {
        const char *trouble = api_trouble(g->api);

        monitor_status(x, trouble ? 503 : 200, trouble ? trouble : "ok", clock_watch_warning());
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
        log_info("metrics: serving on %s, port %d", host, server_port(g->monitor));
    return e;
}
