/* guildhall.c - creates, connects, starts and stops the parts of the server. */
#include "server/guildhall.h"

#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "cluster/cluster.h"
#include "gateway_source/gateway_source.h"
#include "gifs/gifs.h"
#include "server/memory_limit.h"
#include "net/client/mailer.h"
#include "net/tls.h"
#include "server/parts.h"
#include "platform/applications/applications.h"
#include "platform/messages/last_messages.h"
#include "voice/voice.h"
#include "admin/console/workbench.h"

static struct store_options store_options_of(const struct config *config)
{
    return (struct store_options){
        .folder = config->data,
        .postgres = config->store,
        .blobs_inside = config->store && strcmp(config->blobs, "postgres") == 0,
        .blob_cache = config->blob_cache_mib * 1024 * 1024,
        .no_sync = strcmp(config->durability, "off") == 0,
        .workers = (unsigned)config->store_workers,
        .readers = parts_loop_count(config),
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
    options.shared = parts_share(config);
    return store_open(&options, ret);
}

static void on_turn_end(struct loop *loop, void *arg)
{
    store_turn_end(((struct guildhall *)arg)->store, loop);
}

/* --- callbacks between api, gateway, relay and voice ----------------------------------- */

/* Called after each commit, in commit order. */
static void wire_announce_at(void *arg, int64_t position, const struct announcement *list)
{
    const struct guildhall *g = arg;

    if (g->hooks.announce)
        g->hooks.announce(g->hooks.arg, list);
    gateway_announce_at(g->gateway, position, list);
}

static void wire_announce(void *arg, const struct announcement *list)
{
    wire_announce_at(arg, 0, list);
}

static void wire_forgotten(void *arg, snowflake account, const unsigned char *token,
                           uint64_t forgets)
{
    gateway_forget(((struct guildhall *)arg)->gateway, account, token, forgets);
}

static void wire_banned(void *arg, const struct network *n)
{
    gateway_forget_addresses(((struct guildhall *)arg)->gateway, n);
}

static void wire_voice_moved(void *arg, const struct voice_fact *fact)
{
    relay_heard(((struct guildhall *)arg)->relay, fact);
}

/* True if only this machine can reach the server. A public URL or a proxy makes it public. */
static bool is_local(const struct guildhall *g)
{
    struct str host = str_of(g->host);

    if (g->config->public_url || g->proxies.count)
        return false;
    return str_starts(host, STR("127.")) || str_is(host, "localhost") || str_is(host, "::1");
}

static bool private_is_auto(const struct guildhall *g)
{
    return strcmp(g->config->private_endpoints, "auto") == 0;
}

/* auto: outgoing requests may use private addresses if only this machine can reach the server. */
static bool may_call_private(const struct guildhall *g)
{
    return private_is_auto(g) ? is_local(g) : strcmp(g->config->private_endpoints, "on") == 0;
}

/* auto: open for local callers if only this machine can reach the server, otherwise by invite. */
static enum registration_mode registration_of(const struct guildhall *g)
{
    static const char *const words[] = {
        [REGISTRATION_OPEN] = "open",
        [REGISTRATION_INVITE] = "invite",
        [REGISTRATION_GUILD_INVITE] = "guild-invite",
        [REGISTRATION_CLOSED] = "closed",
    };

    for (int i = 0; i < (int)COUNT_OF(words); i++)
        if (strcmp(g->config->registration, words[i]) == 0)
            return (enum registration_mode)i;
    return is_local(g) ? REGISTRATION_LOCAL : REGISTRATION_INVITE;
}

/* Links in mails need public-url: the Host header of a caller must not be sent to other users. */
static enum err open_mailer(struct guildhall *g)
{
    const struct config *c = g->config;
    const char *problem = "smtp-url requires public-url, for the links in mails";

    if (!c->smtp_url)
        return OK;
    if (c->public_url)
        g->mailer = mailer_new(&(struct mailer_options){ c->smtp_url, c->smtp_from }, &problem);
    if (!g->mailer)
        log_error("%s", problem);
    return g->mailer ? OK : ERR_INTERNAL;
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
        .password_threads = parts_password_threads(c),
        .password_queue = (unsigned)c->password_queue,
        .quota = c->upload_quota_mib * 1024 * 1024,
        .daily_quota = c->upload_quota_daily_mib * 1024 * 1024,
        .events = {
            .arg = g,
            .announce = wire_announce,
            .forgotten = wire_forgotten,
            .banned = wire_banned,
            .voice_moved = wire_voice_moved,
        },
        .cluster = g->cluster,
        .gateway = g->gateway,
        .page = strcmp(c->web, "off") ? web_answer : NULL,
        .page_arg = &g->web,
        .traffic = workbench_traffic(g->workbench),
        .workbench = g->workbench,
        .private_endpoints = may_call_private(g),
        .private_for_local = private_is_auto(g),
        .trusts_proxies = g->proxies.count > 0,
        .registration = registration_of(g),
        .mailer = g->mailer,
        .data = c->data,
        .metrics_token = c->metrics_token,
        .metrics = parts_metrics,
        .metrics_arg = g,
    };

    return api_new(&options, g->hooks.domains ? g->hooks.domains : guildhall_domains);
}

/* Creates the console. It needs no key only on a local server with workbench=on. */
static struct workbench *make_workbench(const struct guildhall *g)
{
    const struct config *c = g->config;
    bool on = strcmp(c->workbench, "on") == 0;
    struct workbench_options options = {
        /* With workbench=on traffic is recorded by default, to show why a request failed. */
        .traffic_bytes = (size_t)(c->traffic_mib ? c->traffic_mib : on) * 1024 * 1024,
        .open = on && is_local(g),
        .controls = on,
        .log = strcmp(c->call_log, "on") == 0,
    };

    return workbench_new(&options);
}

static bool wire_voice(void *arg, const struct gateway_caller *who, int op, struct str d)
{
    return voice_command(((struct guildhall *)arg)->voice, who, op, d);
}

static bool wire_last_messages(void *arg, const struct gateway_caller *who, int op, struct str d)
{
    (void)op;
    return last_messages_asked(((struct guildhall *)arg)->api, who, d);
}

static void wire_session_ended(void *arg, const struct gateway_caller *who)
{
    voice_ended(((struct guildhall *)arg)->voice, who);
}

static void wire_session_resumed(void *arg, const struct gateway_caller *who)
{
    voice_resumed(((struct guildhall *)arg)->voice, who);
}

static void wire_resume_refused(void *arg, snowflake user_id)
{
    voice_refused(((struct guildhall *)arg)->voice, user_id);
}

static void wire_guild_entered(void *arg, const struct gateway_caller *who, snowflake guild_id)
{
    voice_entered(((struct guildhall *)arg)->voice, who, guild_id);
}

static struct gateway *make_gateway(struct guildhall *g)
{
    const struct config *c = g->config;
    struct gateway_options options = {
        .store = g->store,
        .auth = g->auth,
        .source = g->hooks.source ? g->hooks.source : &gateway_source,
        .hooks = { g, wire_voice, wire_last_messages, wire_session_ended, wire_session_resumed,
                   wire_resume_refused, wire_guild_entered },
        .public_url = c->public_url,
        .hello_ms = g->hooks.hello_ms,
        .journal = parts_ledger(g),
        .replicates = c->keeper,
        .suspends = true,
        .no_limits = !c->rate_limits,
        .traffic = workbench_traffic(g->workbench),
    };

    return gateway_new(&options);
}

/* --- start and stop ------------------------------------------------------------------- */

enum err guildhall_start(const struct config *config, const struct guildhall_hooks *hooks,
                         struct guildhall **ret)
{
    struct guildhall *g = mem_new(sizeof *g);
    enum err e = ERR_INTERNAL;
    int port;

    g->config = config;
    if (hooks)
        g->hooks = *hooks;
    if (!config_apply(config) || !memory_suffices())
        goto fail;
    if (!parts_read_address(g, &port) || !parts_can_share(config))
        goto fail;
    e = open_to_serve(config, &g->store);
    if (!e)
        parts_check_clock(g);
    if (!e)
        e = auth_open(config->data, g->store, &g->auth);
    if (!e)
        e = parts_open_tls(g);
    if (!e)
        e = open_mailer(g);
    if (e)
        goto fail;
    g->workbench = make_workbench(g);
    g->gateway = make_gateway(g);
    e = parts_open_cluster(g, wire_announce_at);
    if (e)
        goto fail;
    g->web = (struct web){ .folder = config->web_files,
                           .operator_only = strcmp(config->web, "operator") == 0 };
    g->api = make_api(g);
    g->loops = loops_start(parts_loop_count(config), on_turn_end, g);
    e = parts_start_relay(g);
    if (e)
        goto fail;
    gateway_start(g->gateway, g->loops);
    gateway_wake(g->gateway);
    if (g->cluster)
        cluster_start(g->cluster);
    api_start(g->api, g->loops);
    workbench_start(g->workbench, g->api, g->loops);
    e = voice_start(g->api, g->loops, &g->voice);
    if (!e)
        e = parts_start_server(g, port);
    if (!e)
        e = parts_start_monitor(g);
    if (!e)
        e = parts_announce_relay(g);
    if (e)
        goto fail;
    control_open(config->data, parts_share(config) ? (int)config->node : -1, parts_control_rows, g,
                 &g->control); /* a failure only means that there is no control socket */

    *ret = g;
    return OK;

fail:
    guildhall_stop(g);
    return e;
}

/* Clients that follow op 7 (RECONNECT) disconnect within a round trip. Sessions of other clients
 * are stored and can be resumed. The time is short, because discord.js reconnects 500 ms after op 7
 * and does not resume if the port refuses the connection. */
enum { RECONNECT_MS = 100 };

void guildhall_stop(struct guildhall *g)
{
    if (!g)
        return;
    control_close(g->control);
    if (g->relay)
        voice_give_up_rooms(g->voice);
    if (g->api)
        api_drain(g->api);
    server_drain(g->server);
    mailer_stop(g->mailer);
    if (g->gateway)
        gateway_drain(g->gateway, RECONNECT_MS);
    if (g->server)
        server_stop(g->server, g->config->shutdown_seconds * 1000);
    if (g->monitor)
        server_stop(g->monitor, 0);
    workbench_stop(g->workbench);
    /* Finish running calls while the loops can still send responses. */
    if (g->api)
        api_wait(g->api);
    mailer_free(g->mailer);
    server_free(g->server);
    server_free(g->monitor);
    gateway_stop(g->gateway);
    voice_stop(g->voice);
    if (g->api)
        api_stop(g->api);
    voice_set_relay(NULL);
    cluster_close(g->cluster); /* before relay_stop, because the cluster calls the relay */
    relay_stop(g->relay);
    loops_stop(g->loops);
    voice_free(g->voice);
    store_close(g->store);
    gifs_forget();
    api_free(g->api);
    gateway_free(g->gateway);
    workbench_free(g->workbench);
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

struct voice *guildhall_voice(const struct guildhall *g)
{
    return g->voice;
}
