/* guildhall.c - creates, starts and stops store, API, gateway, relay and listeners. */
#include "server/guildhall.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "cluster/cluster.h"
#include "gateway_source/gateway_source.h"
#include "gifs/gifs.h"
#include "server/as_discord.h"
#include "server/memory_limit.h"
#include "net/client/mailer.h"
#include "net/tls.h"
#include "server/guildhall_internal.h"
#include "platform/applications/applications.h"
#include "platform/messages/last_messages.h"
#include "voice/voice.h"
#include "admin/console/workbench.h"

static struct store_options store_options_from_config(const struct config *config)
{
    return (struct store_options){
        .folder = config->data,
        .postgres = config->store,
        .blob_cache = config->blob_cache_mib * 1024 * 1024,
        .no_sync = strcmp(config->durability, "off") == 0,
        .workers = (unsigned)config->store_workers,
        .standby_lag_ms = config->store_standby_lag,
        .readers = config_get_loop_count(config),
    };
}

/* Sets the number of threads of libuv's pool, which uploads to object storage occupy while they
 * wait for the network. The pool reads this number when it is first used. */
static void set_size_of_libuv_thread_pool(void)
{
    setenv("UV_THREADPOOL_SIZE", "16", 0);
}

static enum err open_store(const struct config *config, struct store_options *options,
                           struct store **ret)
{
    struct arena *arena = arena_new();
    enum err e = ERR_UNAVAILABLE;

    if (config_get_blob_options(config, config->blobs, arena, options)) {
        if (options->objects && options->serves)
            set_size_of_libuv_thread_pool();
        e = store_open(options, ret);
    }
    arena_free(arena);
    return e;
}

enum err guildhall_open_store(const struct config *config, bool concurrently, struct store **ret)
{
    struct store_options options = store_options_from_config(config);

    options.read_only_tool = concurrently;
    return open_store(config, &options, ret);
}

static enum err open_store_for_server(const struct config *config, struct store **ret)
{
    struct store_options options = store_options_from_config(config);

    options.serves = true;
    options.shared = config_is_clustered(config);
    options.standby = config->store_standby;
    return open_store(config, &options, ret);
}

static void on_loop_iteration_end(struct loop *loop, void *arg)
{
    store_release_snapshot_of_loop_iteration(((struct guildhall *)arg)->store, loop);
}

/* --- callbacks between api, gateway, relay and voice ----------------------------------- */

/* Publishes the events of a commit. Called in commit order. */
static void on_events_committed_at_position(void *arg, int64_t position,
                                            const struct emitted_event *list)
{
    const struct guildhall *g = arg;

    if (g->hooks.events_committed)
        g->hooks.events_committed(g->hooks.arg, list);
    gateway_publish_events_of_log_position(g->gateway, position, list);
}

static void on_events_committed(void *arg, const struct emitted_event *list)
{
    on_events_committed_at_position(arg, 0, list);
}

static void on_credential_revoked(void *arg, snowflake account, const unsigned char *token,
                                  uint64_t revocations)
{
    gateway_revoke_credential(((struct guildhall *)arg)->gateway, account, token, revocations);
}

static void on_network_banned(void *arg, const struct ip_network *n)
{
    gateway_close_sockets_of_banned_addresses(((struct guildhall *)arg)->gateway, n);
}

static void on_voice_state_changed(void *arg, const struct relay_voice_state *state)
{
    relay_deliver_voice_state_change(((struct guildhall *)arg)->relay, state);
}

/* Returns whether the server listens only on loopback, and has neither public URL nor proxy. */
static bool server_listens_only_on_loopback(const struct guildhall *g)
{
    struct str host = str_of(g->host);

    if (g->config->public_url || g->proxies.count)
        return false;
    return str_starts_with(host, STR("127.")) || str_is(host, "localhost") || str_is(host, "::1");
}

static bool private_endpoints_option_is_auto(const struct guildhall *g)
{
    return strcmp(g->config->private_endpoints, "auto") == 0;
}

/* Returns whether the server may send requests to private addresses. With the setting "auto", it
 * may if only this machine can reach the server. */
static bool may_fetch_private_addresses(const struct guildhall *g)
{
    return private_endpoints_option_is_auto(g) ? server_listens_only_on_loopback(g)
                                               : strcmp(g->config->private_endpoints, "on") == 0;
}

/* Returns who may register. With the setting "auto", everybody may register if only this machine
 * can reach the server; otherwise users need an invite. */
static enum registration_mode registration_mode_from_config(const struct guildhall *g)
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
    return server_listens_only_on_loopback(g) ? REGISTRATION_LOCAL : REGISTRATION_INVITE;
}

/* Creates the mailer. Mail requires the option public-url, because links in mail must not contain
 * the Host header, which callers can forge. */
static enum err open_mailer(struct guildhall *g)
{
    const struct config *c = g->config;
    const char *problem = "smtp-url requires public-url, for the links in mails";

    if (!c->smtp_url)
        return OK;
    if (c->public_url)
        g->mailer = mailer_new(&(struct mailer_options){ c->smtp_url, c->smtp_from }, &problem);
    if (!g->mailer)
        log_error("mail cannot be sent with these options: %s", problem);
    return g->mailer ? OK : ERR_INTERNAL;
}

static struct api *create_api(struct guildhall *g)
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
        .gateway_url = c->as_discord ? PLATFORM_GATEWAY_URL : NULL,
        .files_url = c->as_discord ? PLATFORM_FILES_URL : NULL,
        .cors_origin = c->cors_origin,
        .application_flags = c->privileged_intents ? APPLICATION_FLAGS_INTENTS : 0,
        .version = g->hooks.version ? g->hooks.version : GUILDHALL_VERSION,
        .password_cost = config_get_password_cost(c),
        .password_threads = config_get_password_thread_count(c),
        .password_queue = (unsigned)c->password_queue,
        .quota = c->upload_quota_mib * 1024 * 1024,
        .daily_quota = c->upload_quota_daily_mib * 1024 * 1024,
        .events = {
            .arg = g,
            .announce = on_events_committed,
            .credential_revoked = on_credential_revoked,
            .addresses_banned = on_network_banned,
            .voice_state_changed = on_voice_state_changed,
        },
        .cluster = g->cluster,
        .gateway = g->gateway,
        .page = strcmp(c->web, "off") ? web_reply_with_page : NULL,
        .page_arg = &g->web,
        .traffic = workbench_get_traffic_ring_buffer(g->workbench),
        .workbench = g->workbench,
        .private_endpoints = may_fetch_private_addresses(g),
        .private_for_local = private_endpoints_option_is_auto(g),
        .trusts_proxies = g->proxies.count > 0,
        .registration = registration_mode_from_config(g),
        .mailer = g->mailer,
        .data = c->data,
        .metrics_token = c->metrics_token,
        .metrics = append_server_metrics,
        .metrics_arg = g,
    };

    return api_new(&options, g->hooks.domains ? g->hooks.domains : guildhall_domains);
}

/* Creates the workbench. With workbench=on it needs no console key if only this machine has access.
 */
static struct workbench *create_workbench(const struct guildhall *g)
{
    const struct config *c = g->config;
    bool on = strcmp(c->workbench, "on") == 0;
    struct workbench_options options = {
        /* The default with workbench=on is 1 MiB, so that it can show why a request failed. */
        .traffic_bytes = (size_t)(c->traffic_mib ? c->traffic_mib : on) * 1024 * 1024,
        .open = on && server_listens_only_on_loopback(g),
        .controls = on,
        .log = strcmp(c->call_log, "on") == 0,
    };

    return workbench_new(&options);
}

static bool on_voice_opcode(void *arg, const struct gateway_hook_session *caller, int op,
                            struct str d)
{
    return voice_handle_opcode(((struct guildhall *)arg)->voice, caller, op, d);
}

static bool on_last_messages_opcode(void *arg, const struct gateway_hook_session *caller, int op,
                                    struct str d)
{
    (void)op;
    return handle_last_messages_opcode(((struct guildhall *)arg)->api, caller, d);
}

static void on_session_ended(void *arg, const struct gateway_hook_session *caller)
{
    voice_on_session_end(((struct guildhall *)arg)->voice, caller);
}

static void on_session_resumed(void *arg, const struct gateway_hook_session *caller)
{
    voice_on_session_resumed(((struct guildhall *)arg)->voice, caller);
}

static void on_resume_refused(void *arg, snowflake user_id)
{
    voice_on_resume_refused(((struct guildhall *)arg)->voice, user_id);
}

static void on_guild_joined(void *arg, const struct gateway_hook_session *caller,
                            snowflake guild_id)
{
    voice_on_session_received_guild(((struct guildhall *)arg)->voice, caller, guild_id);
}

static struct gateway *create_gateway(struct guildhall *g)
{
    const struct config *c = g->config;
    struct gateway_options options = {
        .store = g->store,
        .auth = g->auth,
        .source = g->hooks.source ? g->hooks.source : &gateway_source,
        .hooks = { g, on_voice_opcode, on_last_messages_opcode, on_session_ended,
                   on_session_resumed, on_resume_refused, on_guild_joined },
        .public_url = c->public_url,
        .hello_ms = g->hooks.hello_ms,
        .max_unauthenticated = (unsigned)c->pending_sessions,
        .journal = get_session_journal_folder(g),
        .replicates = c->keeper,
        .suspends = true,
        .no_limits = !c->rate_limits,
        .traffic = workbench_get_traffic_ring_buffer(g->workbench),
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
    if (!config_apply_to_domains(config) || !has_enough_address_space())
        goto fail;
    if (!read_listen_address(g, &port) || !check_cluster_config(config))
        goto fail;
    e = open_store_for_server(config, &g->store);
    if (!e)
        check_clock_against_store(g);
    if (!e)
        e = auth_new(config->data, g->store, &g->auth);
    if (!e)
        e = open_tls_certificate(g);
    if (!e)
        e = open_mailer(g);
    if (e)
        goto fail;
    g->workbench = create_workbench(g);
    g->gateway = create_gateway(g);
    e = open_cluster(g, on_events_committed_at_position);
    if (e)
        goto fail;
    g->web = (struct web_options){ .folder = config->web_files,
                                   .operator_only = strcmp(config->web, "operator") == 0 };
    g->api = create_api(g);
    g->loops = loops_start(config_get_loop_count(config), on_loop_iteration_end, g);
    e = start_voice_relay(g);
    if (e)
        goto fail;
    gateway_start(g->gateway, g->loops);
    gateway_allow_resume_of_suspended_sessions(g->gateway);
    if (g->cluster)
        cluster_start(g->cluster);
    api_start(g->api, g->loops);
    workbench_start(g->workbench, g->api, g->loops);
    e = voice_start(g->api, g->loops, &g->voice);
    mem_release_free_pages();
    if (!e)
        e = start_main_listener(g, port);
    if (!e)
        e = start_metrics_listener(g);
    if (!e)
        e = set_voice_relay_endpoint(g);
    if (e)
        goto fail;
    control_socket_open(config->data, config_is_clustered(config) ? (int)config->node : -1,
                        control_socket_commands, g,
                        /* if opening fails, the server runs without a control socket */
                        &g->control);

    *ret = g;
    return OK;

fail:
    guildhall_stop(g);
    return e;
}

/* Time to wait for clients to disconnect after op 7 (RECONNECT), which takes one round trip.
 * Sessions of clients that have not disconnected are suspended and can be resumed later. The time
 * is short, because discord.js reconnects 500 ms after op 7 and does not resume if the port refuses
 * the connection. */
enum { RECONNECT_WAIT_MS = 100 };

void guildhall_stop(struct guildhall *g)
{
    if (!g)
        return;
    control_socket_close(g->control);
    if (g->relay)
        voice_stop_accepting_rooms(g->voice);
    if (g->api)
        api_begin_draining(g->api);
    http_server_drain(g->server);
    mailer_stop(g->mailer);
    if (g->gateway)
        gateway_drain(g->gateway, RECONNECT_WAIT_MS);
    if (g->server)
        http_server_stop(g->server, g->config->shutdown_seconds * 1000);
    if (g->metrics_server)
        http_server_stop(g->metrics_server, 0);
    workbench_stop(g->workbench);
    /* Wait for running requests while the event loops can still send their responses. */
    if (g->api)
        api_wait_until_all_calls_end(g->api);
    mailer_free(g->mailer);
    http_server_free(g->server);
    http_server_free(g->metrics_server);
    gateway_stop(g->gateway);
    voice_stop(g->voice);
    if (g->api)
        api_stop(g->api);
    voice_set_relay_endpoint(NULL);
    /* Close the cluster before relay_stop, because the cluster calls the relay. */
    cluster_close(g->cluster);
    relay_stop(g->relay);
    loops_stop(g->loops);
    voice_free(g->voice);
    store_close(g->store);
    gifs_clear_provider_cache();
    api_free(g->api);
    gateway_free(g->gateway);
    workbench_free(g->workbench);
    auth_free(g->auth);
    tls_context_free(g->tls);
    mem_free(g);
}

int guildhall_get_port(const struct guildhall *g)
{
    return http_server_get_port(g->server);
}

const char *guildhall_get_host(const struct guildhall *g)
{
    return g->host;
}

bool guildhall_has_tls(const struct guildhall *g)
{
    return g->tls != NULL;
}

struct store *guildhall_get_store(const struct guildhall *g)
{
    return g->store;
}

struct auth *guildhall_get_auth(const struct guildhall *g)
{
    return g->auth;
}

struct api *guildhall_get_api(const struct guildhall *g)
{
    return g->api;
}

struct gateway *guildhall_get_gateway(const struct guildhall *g)
{
    return g->gateway;
}

struct voice_service *guildhall_get_voice(const struct guildhall *g)
{
    return g->voice;
}
