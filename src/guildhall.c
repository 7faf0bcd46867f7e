/* guildhall.c - the whole server, put together. */
#include "guildhall.h"

#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "control.h"
#include "gateway/gateway.h"
#include "gateway_source/gateway_source.h"
#include "gifs/gifs.h"
#include "net/proxies.h"
#include "net/server.h"
#include "net/tls.h"
#include "operator/operator.h"
#include "platform/accounts/operator.h"
#include "platform/applications/applications.h"
#include "voice/voice.h"

struct guildhall {
    const struct config *config;
    struct guildhall_hooks hooks;
    char host[256];
    struct store *store;
    struct auth *auth;
    struct api *api;
    struct server_app api_app;
    struct gateway *gateway;
    struct voice *voice;
    struct relay *relay;      /* NULL: voice is not carried */
    char voice_endpoint[300]; /* where it is reached */
    struct loops *loops;
    struct tls_context *tls;
    struct proxies proxies;
    struct server *server;
    struct control *control; /* NULL: it could not listen */
};

static enum log_level level_of(const char *name)
{
    static const char *const names[] = { "debug", "info", "warn", "error", "off" };

    for (int i = 0; i < (int)COUNT_OF(names); i++)
        if (strcmp(name, names[i]) == 0)
            return (enum log_level)i;
    return LOG_INFO;
}

/* Each connection is a descriptor; the soft limit is often 1,024 for the sake of programs
 * that use select(), which we do not. */
void guildhall_raise_descriptors(void)
{
    struct rlimit r;

    if (getrlimit(RLIMIT_NOFILE, &r) != 0 || r.rlim_cur == r.rlim_max)
        return;
    r.rlim_cur = r.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &r) != 0)
        log_warn("cannot use more than the soft limit of descriptors");
}

void guildhall_init(const struct config *config)
{
    bool json = strcmp(config->log_format, "json") == 0 ||
                (strcmp(config->log_format, "auto") == 0 && !isatty(STDERR_FILENO));

    mem_keep_freed();
    if (sodium_init() < 0) {
        fprintf(stderr, "guildhall: cannot get randomness from the system\n");
        exit(1);
    }
    log_init(STDERR_FILENO, level_of(config->log_level), json);
    hash_init();
    snowflake_init((unsigned)config->node);
    signal(SIGPIPE, SIG_IGN);
    guildhall_raise_descriptors();
}

static unsigned core_count(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);

    return cores > 0 ? (unsigned)cores : 1;
}

static unsigned loop_count(const struct config *c)
{
    return c->loops ? (unsigned)c->loops : core_count();
}

/* A flood of log-ins leaves half of the machine to everything else. */
static unsigned password_threads(const struct config *c)
{
    return c->password_threads ? (unsigned)c->password_threads : (core_count() + 1) / 2;
}

static struct store_options store_options_of(const struct config *config)
{
    return (struct store_options){
        .folder = config->data,
        .postgres = config->store,
        .no_sync = strcmp(config->durability, "off") == 0,
        .workers = (unsigned)config->store_workers,
        .readers = loop_count(config),
    };
}

enum err guildhall_open_store(const struct config *config, bool beside, struct store **ret)
{
    struct store_options options = store_options_of(config);

    options.beside = beside;
    return store_open(&options, ret);
}

static enum err open_to_serve(const struct config *config, struct store **ret)
{
    struct store_options options = store_options_of(config);

    options.serves = true;
    return store_open(&options, ret);
}

/* "host:port", "[::1]:port" or "port". */
static bool split_address(const char *listen, char *host, size_t max, int *ret_port)
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

static bool set_proxies(struct guildhall *g)
{
    const char *problem;

    if (!proxies_parse(str_of(g->config->trusted_proxies), &g->proxies, &problem)) {
        log_error("trusted-proxies %s", problem);
        return false;
    }
    if (g->config->proxy_protocol && !g->proxies.count) {
        log_error("proxy-protocol needs trusted-proxies: nobody else may say who calls");
        return false;
    }
    return true;
}

static enum err open_tls(struct guildhall *g)
{
    const struct config *c = g->config;

    if (c->tls_cert || c->tls_key) {
        if (c->tls_cert && c->tls_key)
            return tls_context_open(c->tls_cert, c->tls_key, &g->tls);
        log_error("tls-cert and tls-key belong together; only one of them is set");
        return ERR_INTERNAL;
    }
    if (c->tls_self_signed)
        return tls_context_self_signed(c->data, g->host, &g->tls);
    if (c->tls_only) {
        log_error("tls-only needs a certificate: set tls-cert and tls-key, or tls-self-signed");
        return ERR_INTERNAL;
    }
    return OK;
}

/* After each commit. */
static void wire_announce(void *arg, const struct announcement *list)
{
    const struct guildhall *g = arg;

    if (g->hooks.announce)
        g->hooks.announce(g->hooks.arg, list);
    gateway_announce(g->gateway, list);
}

static void wire_forgotten(void *arg, snowflake account, const unsigned char *token)
{
    gateway_forget(((struct guildhall *)arg)->gateway, account, token);
}

static void wire_voice_moved(void *arg, const struct voice_fact *fact)
{
    relay_heard(((struct guildhall *)arg)->relay, fact);
}

static void relay_metrics(const struct relay *r, struct buf *out)
{
    struct relay_stats s;

    relay_stats(r, &s);
    api_metric(out, "guildhall_voice_connections", "gauge", "Voice sockets open now.", s.sockets);
    api_metric(out, "guildhall_voice_seats", "gauge", "Voice sessions, also those away.", s.seats);
    api_metric(out, "guildhall_voice_packets_received_total", "counter",
               "Datagrams of voice that came.", s.packets_in);
    api_metric(out, "guildhall_voice_packets_sent_total", "counter",
               "Datagrams of voice that were sent.", s.packets_out);
    api_metric(out, "guildhall_voice_bytes_received_total", "counter", "Bytes of those that came.",
               s.bytes_in);
    api_metric(out, "guildhall_voice_bytes_sent_total", "counter", "Bytes of those that were sent.",
               s.bytes_out);
    api_metric(out, "guildhall_voice_packets_dropped_total", "counter",
               "Datagrams that were not passed on.", s.dropped);
    api_metric(out, "guildhall_voice_packets_unsent_total", "counter",
               "Datagrams that the system did not take.", s.unsent);
}

static void gateway_metrics(void *arg, struct buf *out)
{
    const struct guildhall *g = arg;
    struct gateway_stats s;

    gateway_stats(g->gateway, &s);
    api_metric(out, "guildhall_sessions", "gauge", "Gateway sessions, also those away.",
               s.sessions);
    api_metric(out, "guildhall_gateway_connections", "gauge", "Gateway sockets open now.",
               s.connected);
    api_metric(out, "guildhall_identified_total", "counter", "Sessions begun.", s.identified);
    api_metric(out, "guildhall_resumed_total", "counter", "Sessions that came back.", s.resumed);
    api_metric(out, "guildhall_events_total", "counter", "Events published.", s.published);
    api_metric(out, "guildhall_dispatches_total", "counter", "Events given to sessions.",
               s.delivered);
    api_metric(out, "guildhall_gateway_cut_total", "counter", "Sockets cut as too slow.", s.cut);
    api_metric(out, "guildhall_gateway_closed_total", "counter", "Sockets closed by the server.",
               s.closed);
    if (g->relay)
        relay_metrics(g->relay, out);
}

/* A server that has a public name or a proxy is reached from elsewhere, wherever it listens. */
static bool is_local(const struct guildhall *g)
{
    struct str host = str_of(g->host);

    if (g->config->public_url || g->proxies.count)
        return false;
    return str_starts(host, STR("127.")) || str_is(host, "localhost") || str_is(host, "::1");
}

/* Who can only be reached from this machine may reach this machine. */
static bool may_call_private(const struct guildhall *g)
{
    if (strcmp(g->config->private_endpoints, "auto") != 0)
        return strcmp(g->config->private_endpoints, "on") == 0;
    return is_local(g);
}

/* What can be reached from elsewhere is found by those who register anywhere. */
static enum registration_mode registration_of(const struct guildhall *g)
{
    static const char *const words[] = {
        [REGISTRATION_OPEN] = "open",
        [REGISTRATION_INVITE] = "invite",
        [REGISTRATION_CLOSED] = "closed",
    };

    for (int i = 0; i < (int)COUNT_OF(words); i++)
        if (strcmp(g->config->registration, words[i]) == 0)
            return (enum registration_mode)i;
    return is_local(g) ? REGISTRATION_OPEN : REGISTRATION_INVITE;
}

static struct api *make_api(struct guildhall *g)
{
    const struct config *c = g->config;
    struct api_options options = {
        .store = g->store,
        .auth = g->auth,
        .limits = {
            .off = !c->rate_limits,
            .global_per_s = (unsigned)c->rate_limit_global,
            .anonymous_per_s = (unsigned)c->rate_limit_anonymous,
            .percent = (unsigned)c->rate_limit_percent,
        },
        .public_url = c->public_url,
        .cors_origin = c->cors_origin,
        .application_flags = c->privileged_intents ? APPLICATION_FLAGS_INTENTS : 0,
        .version = GUILDHALL_VERSION,
        .password_ops = (unsigned long long)c->password_passes,
        .password_memory = (size_t)c->password_memory_mib * 1024 * 1024,
        .password_threads = password_threads(c),
        .password_queue = (unsigned)c->password_queue,
        .quota = c->upload_quota_mib * 1024 * 1024,
        .daily_quota = c->upload_quota_daily_mib * 1024 * 1024,
        .announce = wire_announce,
        .announce_arg = g,
        .forgotten = wire_forgotten,
        .forgotten_arg = g,
        .voice_moved = wire_voice_moved,
        .voice_arg = g,
        .gateway = g->gateway,
        .private_endpoints = may_call_private(g),
        .registration = registration_of(g),
        .metrics_token = c->metrics_token,
        .metrics = gateway_metrics,
        .metrics_arg = g,
    };

    return api_new(&options, g->hooks.domains ? g->hooks.domains : guildhall_domains);
}

static bool wire_command(void *arg, const struct gateway_caller *who, int op, struct str d)
{
    return voice_command(((struct guildhall *)arg)->voice, who, op, d);
}

static void wire_session_ended(void *arg, const struct gateway_caller *who)
{
    voice_ended(((struct guildhall *)arg)->voice, who);
}

static struct gateway *make_gateway(struct guildhall *g)
{
    const struct config *c = g->config;
    struct gateway_options options = {
        .store = g->store,
        .auth = g->auth,
        .source = g->hooks.source ? g->hooks.source : &gateway_source,
        .hooks = { g, wire_command, wire_session_ended },
        .public_url = c->public_url,
        .no_limits = !c->rate_limits,
    };

    return gateway_new(&options);
}

/* --- what its operator asks ----------------------------------------------------------- */

static void list_sessions(void *arg, unsigned uid, struct str rest, struct buf *out)
{
    (void)uid, (void)rest;
    gateway_census(((struct guildhall *)arg)->gateway, out);
}

/* Of the person with this name; nothing when there is none. */
static void give_token(void *arg, unsigned uid, struct str name, struct buf *out)
{
    const struct guildhall *g = arg;
    struct arena *arena = arena_new();
    struct str token;

    (void)uid;
    if (operator_token(g->store, g->auth, name, arena, &token) == OK)
        buf_add_str(out, token);
    arena_free(arena);
}

static void carry_out_order(void *arg, unsigned uid, struct str question, struct buf *out)
{
    const struct guildhall *g = arg;

    operator_answer(g->api, loops_at(g->loops, 0), uid, question, out);
}

static const struct control_row control_rows[] = {
    { "sessions", list_sessions },
    { "token", give_token },
    { "operate", carry_out_order },
    { 0 },
};

/* --- one port for calls and sessions -------------------------------------------------- */

static struct intake wire_intake(void *arg, const struct http_request *r)
{
    const struct guildhall *g = arg;

    return g->api_app.intake(g->api_app.arg, r);
}

static void wire_admit(void *arg, struct exchange *x)
{
    const struct guildhall *g = arg;

    g->api_app.admit(g->api_app.arg, x);
}

static void wire_request(void *arg, struct exchange *x)
{
    const struct guildhall *g = arg;

    g->api_app.request(g->api_app.arg, x);
}

static void wire_refusal(void *arg, int status, struct buf *out)
{
    const struct guildhall *g = arg;

    g->api_app.refusal(g->api_app.arg, status, out);
}

static bool wire_upgrade(void *arg, const struct http_request *r, struct websocket_handler *ret)
{
    struct guildhall *g = arg;

    return relay_upgrade(g->relay, r, ret) || gateway_upgrade(g->gateway, r, ret);
}

static void on_turn_end(struct loop *loop, void *arg)
{
    store_turn_end(((struct guildhall *)arg)->store, loop);
}

static enum err start_server(struct guildhall *g, int port)
{
    struct server_options options = {
        .host = g->host,
        .port = port,
        .tls = g->tls,
        .tls_only = g->config->tls_only,
        .head_timeout_ms = 30 * 1000,
        .idle_timeout_ms = g->config->idle_seconds * 1000,
        .body_memory = (size_t)g->config->body_memory_mib * 1024 * 1024,
        .proxies = g->proxies.count ? &g->proxies : NULL,
        .proxy_protocol = g->config->proxy_protocol,
        .via = "1.1 guildhall",
    };
    struct server_app app = { .arg = g,
                              .intake = wire_intake,
                              .admit = wire_admit,
                              .request = wire_request,
                              .refusal = wire_refusal,
                              .upgrade = wire_upgrade };

    g->api_app = api_app(g->api);
    app.refusal_lines = g->api_app.refusal_lines;
    enum err e = server_start(g->loops, &options, &app, &g->server);
    if (!e)
        api_set_server(g->api, g->server);
    return e;
}

/* --- voice that is carried ------------------------------------------------------------ */

/* What clients are told to send to has to be an IPv4 address that they can reach. */
static const char *voice_address_of(const struct guildhall *g)
{
    const char *address = g->config->voice_address            ? g->config->voice_address
                          : strcmp(g->host, "localhost") == 0 ? "127.0.0.1"
                                                              : g->host;
    struct sockaddr_in parsed;

    return uv_ip4_addr(address, 0, &parsed) == 0 && parsed.sin_addr.s_addr != INADDR_ANY ? address
                                                                                         : NULL;
}

/* Behind a proxy the server listens on loopback, and voice comes to it all the same; behind NAT
 * what clients are told is no address of this machine. */
static const char *voice_host_of(const struct guildhall *g)
{
    const char *address = g->config->voice_address;

    if (!address)
        return g->host;
    if (str_starts(str_of(address), STR("127.")))
        return address;
    return strchr(g->host, ':') ? "::" : "0.0.0.0";
}

static enum err start_relay(struct guildhall *g)
{
    struct relay_options options = { .host = voice_host_of(g),
                                     .address = voice_address_of(g),
                                     .source = voice_relay_source(g->api) };
    uint64_t port;

    if (!g->config->voice_port)
        return OK;
    if (!str_to_u64(str_of(g->config->voice_port), &port) || port > 65535) {
        log_error("voice-port must be a port, not '%s'", g->config->voice_port);
        return ERR_INTERNAL;
    }
    if (!options.address) {
        log_error("voice-port needs voice-address: the IPv4 address that clients send voice to");
        return ERR_INTERNAL;
    }
    options.port = (int)port;
    return relay_start(g->loops, &options, &g->relay);
}

/* As the world calls us, else by the address that we listen on. */
static void announce_relay(struct guildhall *g)
{
    struct str url = str_of(g->config->public_url), host;
    bool v6 = strchr(g->host, ':');

    if (!g->relay)
        return;
    if (url.p) {
        str_cut(&url, '/');
        str_cut(&url, '/');
        host = str_cut(&url, '/');
        snprintf(g->voice_endpoint, sizeof g->voice_endpoint, "%.*s/voice", STR_FMT(host));
    } else {
        snprintf(g->voice_endpoint, sizeof g->voice_endpoint, v6 ? "[%s]:%d/voice" : "%s:%d/voice",
                 g->host, server_port(g->server));
    }
    voice_set_relay(g->voice_endpoint);
}

enum err guildhall_start(const struct config *config, const struct guildhall_hooks *hooks,
                         struct guildhall **ret)
{
    struct guildhall *g = mem_new(sizeof *g);
    enum err e = ERR_INTERNAL;
    int port;

    g->config = config;
    if (hooks)
        g->hooks = *hooks;
    if (!config_apply(config))
        goto fail;
    if (!set_proxies(g))
        goto fail;
    if (!split_address(config->listen, g->host, sizeof g->host, &port)) {
        log_error("listen must be HOST:PORT, not '%s'", config->listen);
        goto fail;
    }
    e = open_to_serve(config, &g->store);
    if (!e)
        e = auth_open(config->data, g->store, &g->auth);
    if (!e)
        e = open_tls(g);
    if (e)
        goto fail;
    g->gateway = make_gateway(g);
    g->api = make_api(g);
    g->loops = loops_start(loop_count(config), on_turn_end, g);
    e = start_relay(g);
    if (e)
        goto fail;
    gateway_start(g->gateway, g->loops);
    api_start(g->api, g->loops);
    e = voice_start(g->api, g->loops, &g->voice);
    if (!e)
        e = start_server(g, port);
    if (e)
        goto fail;
    announce_relay(g);
    control_open(config->data, control_rows, g, &g->control); /* or nobody can ask */

    *ret = g;
    return OK;

fail:
    guildhall_stop(g);
    return e;
}

void guildhall_stop(struct guildhall *g)
{
    if (!g)
        return;
    control_close(g->control);
    if (g->api)
        api_drain(g->api);
    /* Half of the patience for sessions to go by themselves, the rest for calls. */
    if (g->gateway)
        gateway_drain(g->gateway, g->config->shutdown_seconds * 1000 / 2);
    if (g->server)
        server_stop(g->server, g->config->shutdown_seconds * 1000);
    /* What was taken is finished while the loops can still answer. */
    if (g->api)
        api_wait(g->api);
    server_free(g->server);
    gateway_stop(g->gateway);
    voice_stop(g->voice);
    if (g->api)
        api_stop(g->api);
    voice_set_relay(NULL);
    relay_stop(g->relay);
    loops_stop(g->loops);
    voice_free(g->voice);
    store_close(g->store);
    gifs_forget();
    api_free(g->api);
    gateway_free(g->gateway);
    auth_close(g->auth);
    tls_context_free(g->tls);
    mem_free(g);
}

int guildhall_port(const struct guildhall *g)
{
    return server_port(g->server);
}

const char *guildhall_host(const struct guildhall *g)
{
    return g->host;
}

bool guildhall_has_tls(const struct guildhall *g)
{
    return g->tls != NULL;
}

struct store *guildhall_store(const struct guildhall *g)
{
    return g->store;
}

struct auth *guildhall_auth(const struct guildhall *g)
{
    return g->auth;
}

struct api *guildhall_api(const struct guildhall *g)
{
    return g->api;
}

struct gateway *guildhall_gateway(const struct guildhall *g)
{
    return g->gateway;
}
