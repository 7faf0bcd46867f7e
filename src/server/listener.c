/* listener.c - the main listener: address, TLS certificate, dispatch to API, gateway and relay. */
#include <string.h>

#include "base/log.h"
#include "server/as_discord.h"
#include "server/systemd.h"
#include "server/memory_limit.h"
#include "net/tls.h"
#include "server/guildhall_internal.h"
#include "admin/console/workbench.h"
#include "platform/accounts/remote_auth/remote_auth.h"

/* Parses "host:port", "[::1]:port" or "port". */
bool split_host_and_port(const char *listen, char *host, size_t max, int *ret_port)
{
    const char *colon = strrchr(listen, ':');
    struct str name = colon ? str_slice(listen, (size_t)(colon - listen)) : STR("127.0.0.1");
    uint64_t port;

    if (name.n > 2 && name.p[0] == '[' && name.p[name.n - 1] == ']')
        name = str_slice(name.p + 1, name.n - 2);
    if (name.n == 0 || name.n >= max || !str_to_u64(str_of(colon ? colon + 1 : listen), &port) ||
        port > 65535)
        return false;
    memcpy(host, name.p, name.n);
    host[name.n] = '\0';
    *ret_port = (int)port;
    return true;
}

static bool read_trusted_proxies(struct guildhall *g)
{
    const char *problem;

    if (!parse_trusted_proxies(str_of(g->config->trusted_proxies), &g->proxies, &problem)) {
        log_error("the option trusted-proxies is invalid: it %s", problem);
        return false;
    }
    if (g->proxies.count && !g->config->public_url)
        log_warn(
            "trusted-proxies is set without public-url, so URLs of files in events contain the "
            "address that the proxy connects to; set public-url");
    if (g->config->proxy_protocol && !g->proxies.count) {
        log_error(
            "proxy-protocol requires trusted-proxies, because only trusted proxies may state the "
            "client's address");
        return false;
    }
    return true;
}

bool read_listen_address(struct guildhall *g, int *ret_port)
{
    if (!read_trusted_proxies(g))
        return false;
    if (!systemd_listening_socket(&g->socket))
        return false;
    if (!split_host_and_port(g->config->listen, g->host, sizeof g->host, ret_port)) {
        log_error("listen must be HOST:PORT, not '%s'", g->config->listen);
        return false;
    }
    if (g->socket && !format_listening_socket_host(g->socket, g->host, sizeof g->host)) {
        log_error("systemd passed a file descriptor that is not a listening IP socket");
        return false;
    }
    return true;
}

enum err open_tls_certificate(struct guildhall *g)
{
    const struct config *c = g->config;

    if (c->tls_cert || c->tls_key) {
        if (c->tls_cert && c->tls_key)
            return tls_context_open(c->tls_cert, c->tls_key, &g->tls);
        log_error("tls-cert and tls-key must be set together; only one of them is set");
        return ERR_INTERNAL;
    }
    if (c->as_discord)
        return open_certificate_for_discord_host_names(c, g->host, &g->tls);
    if (c->tls_self_signed)
        return tls_context_open_self_signed(c->data, g->host, &g->tls);
    if (c->tls_only) {
        log_error("tls-only requires a certificate: set tls-cert and tls-key, or tls-self-signed");
        return ERR_INTERNAL;
    }
    return OK;
}

static struct body_limits get_request_body_limits(void *arg, const struct http_request *r)
{
    const struct guildhall *g = arg;

    return g->api_app.body_limits(g->api_app.arg, r);
}

static void authorize_request_body(void *arg, struct http_exchange *x)
{
    const struct guildhall *g = arg;

    g->api_app.authorize_body(g->api_app.arg, x);
}

/* Responds with 503 while the server starts or stops. After 503, load balancers try another node;
 * after 404 they would not. */
static void respond_service_unavailable(const struct guildhall *g, struct http_exchange *x)
{
    struct response_head head = { .status = 503,
                                  .content_type = STR("application/json"),
                                  .headers = STR("Retry-After: 1\r\n"),
                                  .close = true };
    struct buf body;

    buf_init(&body, SIZE_MAX);
    g->api_app.refusal(g->api_app.arg, 503, &body);
    http_respond(x, &head, buf_as_str(&body));
    buf_clear(&body);
}

static void on_http_request(void *arg, struct http_exchange *x)
{
    const struct guildhall *g = arg;

    if (gateway_must_refuse_upgrade(g->gateway, x->request))
        respond_service_unavailable(g, x);
    else
        g->api_app.request(g->api_app.arg, x);
}

static void write_error_response_body(void *arg, int status, struct buf *out)
{
    const struct guildhall *g = arg;

    g->api_app.refusal(g->api_app.arg, status, out);
}

static void on_request_refused(void *arg, int status, const struct refused_request *r)
{
    const struct guildhall *g = arg;

    g->api_app.refused(g->api_app.arg, status, r);
}

static bool on_websocket_upgrade(void *arg, const struct http_request *r,
                                 struct websocket_handler *ret)
{
    struct guildhall *g = arg;
    struct http_request moved = *r;

    /* With as-discord, voice and QR codes have own host names and are requested without a path. */
    if (g->config->as_discord && str_starts_with(r->host, STR(PLATFORM_VOICE_HOST))) {
        moved.path = STR("/voice");
        return relay_accept_websocket(g->relay, &moved, ret);
    }
    if (g->config->as_discord && str_starts_with(r->host, STR(PLATFORM_REMOTE_AUTH_HOST))) {
        moved.path = STR("/remote-auth");
        return remote_auth_accept_websocket(g->api, &moved, ret);
    }
    return workbench_accept_websocket(g->workbench, r, ret) ||
           remote_auth_accept_websocket(g->api, r, ret) ||
           relay_accept_websocket(g->relay, r, ret) || gateway_accept_upgrade(g->gateway, r, ret);
}

enum err start_main_listener(struct guildhall *g, int port)
{
    struct http_server_options options = {
        .host = g->host,
        .port = port,
        .socket = g->socket,
        .tls = g->tls,
        .tls_only = g->config->tls_only,
        .head_timeout_ms = 30 * 1000,
        .idle_timeout_ms = g->config->idle_seconds * 1000,
        .body_memory = (size_t)memory_budget_for_request_bodies(g->config->body_memory_mib),
        .proxies = g->proxies.count ? &g->proxies : NULL,
        .proxy_protocol = g->config->proxy_protocol,
        .via = "1.1 guildhall",
    };
    struct http_server_callbacks app = { .arg = g,
                                         .body_limits = get_request_body_limits,
                                         .authorize_body = authorize_request_body,
                                         .request = on_http_request,
                                         .refusal = write_error_response_body,
                                         .refused = on_request_refused,
                                         .upgrade = on_websocket_upgrade };

    g->api_app = api_app(g->api);
    app.refusal_lines = g->api_app.refusal_lines;
    enum err e = http_server_start(g->loops, &options, &app, &g->server);
    if (!e)
        api_set_http_server(g->api, g->server);
    return e;
}
