/* cluster_setup.c - connects the server to the cluster, and handles messages of other nodes. */
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/log.h"
#include "cluster/cluster.h"
#include "cluster/nats_protocol.h"
#include "server/guildhall_internal.h"

bool config_is_clustered(const struct config *config)
{
    return strcmp(config->bus, "off") != 0;
}

static bool bus_is_nats(const struct config *config)
{
    return strncmp(config->bus, "nats://", 7) == 0 || strncmp(config->bus, "tls://", 6) == 0;
}

static bool bus_option_is_valid(const struct config *config)
{
    struct nats_servers servers;

    if (bus_is_nats(config))
        return nats_servers_parse(str_of(config->bus), &servers);
    return strcmp(config->bus, "poll") == 0;
}

bool check_cluster_config(const struct config *config)
{
    if (config->keep_events && config->store) {
        log_error("keep-events is only for the embedded database; with PostgreSQL, bus stores the "
                  "events");
        return false;
    }
    if (config->store_standby && !config->store) {
        log_error("store-standby requires store: only PostgreSQL has standbys");
        return false;
    }
    if (!config_is_clustered(config))
        return true;
    if (!bus_option_is_valid(config))
        log_error("bus must be off, poll, or nats://[user:password@]host[:port] (tls:// with TLS); "
                  "separate several servers with commas");
    else if (!config->store)
        log_error(
            "bus requires store: only nodes on the same PostgreSQL database can form a cluster");
    else if (config->voice_port && config->public_url && !config->voice_endpoint)
        log_error("voice-port with bus requires voice-endpoint: the host and path at which clients "
                  "reach this node and no other");
    else
        return true;
    return false;
}

/* --- callbacks of the cluster --------------------------------------------------------- */

static void on_log_entry_skipped(void *arg, int64_t position, const struct log_entry_address *a)
{
    gateway_skip_log_position(((struct guildhall *)arg)->gateway, position, a);
}

static void on_skipped_positions_due(void *arg)
{
    gateway_publish_skipped_log_positions(((struct guildhall *)arg)->gateway);
}

static void on_remote_revocation(void *arg, const struct revocation_record *f)
{
    api_apply_revocation_of_other_node(((struct guildhall *)arg)->api, f);
}

static void on_session_move(void *arg, const struct session_move_message *m)
{
    gateway_on_session_move_message(((struct guildhall *)arg)->gateway, m);
}

static void on_remote_voice_state(void *arg, const struct relay_voice_state *state)
{
    relay_deliver_voice_state_change(((struct guildhall *)arg)->relay, state);
}

static void on_cluster_message(void *arg, enum cluster_message_topic topic, struct str message)
{
    struct guildhall *g = arg;

    if (topic == CLUSTER_SESSIONS)
        gateway_on_session_directory_message(g->gateway, message);
    else if (topic == CLUSTER_COUNTS)
        api_receive_rate_limit_counts(g->api, message);
    else if (topic == CLUSTER_LEDGERS)
        gateway_on_replica_message(g->gateway, message);
}

static void on_rate_limit_counts_due(void *arg)
{
    api_publish_rate_limit_counts(((struct guildhall *)arg)->api);
}

static void on_event_log_read_to_end(void *arg)
{
    gateway_on_nats_connected(((struct guildhall *)arg)->gateway);
}

static void on_live_nodes_changed(void *arg, const uint32_t *identities, size_t count)
{
    struct gateway *g = ((struct guildhall *)arg)->gateway;

    gateway_on_live_nodes_changed(g, identities, count);
    gateway_prune_dead_node_sessions(g);
}

static void on_credential_cache_valid_until(void *arg, int64_t until)
{
    auth_set_token_cache_valid_until(((struct guildhall *)arg)->auth, until);
}

static uint64_t count_gateway_sessions(void *arg)
{
    struct gateway_stats s;

    gateway_read_stats(((struct guildhall *)arg)->gateway, &s);
    return s.sessions;
}

/* Stops the process, because this node has missed events and its sessions cannot continue. Clients
 * identify again on another node. */
static void on_committed_log_entries_lost(void *arg)
{
    (void)arg;
    kill(getpid(), SIGTERM);
}

/* --- opening the cluster -------------------------------------------------------------- */

/* Returns a digest of the options that must be equal on all nodes, because clients would notice a
 * difference. Without voice-endpoint, because each node with a voice port has its own. */
static struct str shared_settings_digest(const struct config *c, struct arena *arena)
{
    unsigned char digest[16];
    struct str text =
        str_printf(arena, "%d %lld %lld %lld|%s|%s|%s|%s|%d|%s|%s|%d", c->rate_limits,
                   (long long)c->rate_limit_global, (long long)c->rate_limit_anonymous,
                   (long long)c->rate_limit_percent, c->voice_regions,
                   c->voice_vip_regions ? c->voice_vip_regions : "",
                   c->voice_endpoint && !c->voice_port ? c->voice_endpoint : "",
                   c->public_url ? c->public_url : "", c->everybody_is_premium, c->registration,
                   c->gifs, c->privileged_intents);

    crypto_generichash(digest, sizeof digest, (const unsigned char *)text.p, text.n, NULL, 0);
    return str_hex_encode(arena, digest, sizeof digest);
}

enum err open_cluster(struct guildhall *g, void (*announce)(void *arg, int64_t position,
                                                            const struct emitted_event *list))
{
    struct arena *arena = arena_new();
    struct cluster_options options = {
        .store = g->store,
        .alone = !config_is_clustered(g->config),
        .version = g->hooks.version ? g->hooks.version : GUILDHALL_VERSION,
        .address = g->config->listen,
        .settings = shared_settings_digest(g->config, arena),
        .bus = bus_is_nats(g->config) ? str_of(g->config->bus) : STR(""),
        .bus_ca = g->config->bus_ca,
        .arg = g,
        .publish_events = announce,
        .pass_over = on_log_entry_skipped,
        .publish_passed_over = on_skipped_positions_due,
        .move = on_session_move,
        .revoke = on_remote_revocation,
        .voice = on_remote_voice_state,
        .message = on_cluster_message,
        .send_counts = on_rate_limit_counts_due,
        .connected = on_event_log_read_to_end,
        .living = on_live_nodes_changed,
        .credentials_valid_until = on_credential_cache_valid_until,
        .sessions = count_gateway_sessions,
        .lost = on_committed_log_entries_lost,
    };
    enum err e = OK;

    /* The label of the key differs from older versions of the server, so that nodes of different
     * versions ignore each other's messages. */
    auth_derive_key(g->auth, "bus encryption", 0, STR(""), options.bus_key, sizeof options.bus_key);
    if (!options.alone) { /* All nodes must compute the same hash for a caller and a log entry. */
        unsigned char key[HASH_KEY_BYTES];

        auth_derive_key(g->auth, "hash", 0, STR(""), key, sizeof key);
        hash_set_key(key);
    }
    if (config_is_clustered(g->config) || g->config->keep_events)
        e = cluster_open(&options, &g->cluster);
    if (g->cluster)
        gateway_join_cluster(g->gateway, g->cluster);
    arena_free(arena);
    return e;
}

const char *get_session_journal_folder(struct guildhall *g)
{
    const struct config *c = g->config;

    if (c->ledger && strcmp(c->ledger, "off") == 0)
        return NULL;
    int n = c->ledger ? snprintf(g->journal_folder, sizeof g->journal_folder, "%s", c->ledger)
                      : snprintf(g->journal_folder, sizeof g->journal_folder, "%s/ledger", c->data);
    return n > 0 && (size_t)n < sizeof g->journal_folder ? g->journal_folder : NULL;
}

void append_cluster_metrics(const struct guildhall *g, struct buf *out)
{
    struct cluster_stats s;

    if (!g->cluster)
        return;
    cluster_read_stats(g->cluster, &s);
    api_append_metric(out, "guildhall_cluster_nodes", "gauge", "Nodes that use the database.",
                      s.nodes);
    api_append_metric(out, "guildhall_log_position", "gauge",
                      "Position of the event log up to which events were published.",
                      (uint64_t)s.position);
    api_append_metric(out, "guildhall_log_behind_milliseconds", "gauge",
                      "Milliseconds since the event log was last read to its end.", s.behind_ms);
    api_append_metric(out, "guildhall_log_own_total", "counter",
                      "Entries of the event log that this node has committed.", s.frames_own);
    api_append_metric(out, "guildhall_log_read_total", "counter",
                      "Positions that this node has read from the event log.", s.frames_read);
    api_append_metric(
        out, "guildhall_log_read_bytes_total", "counter",
        "Bytes of the entries that were read from the event log, without their addresses.",
        s.bytes_read);
    api_append_metric(out, "guildhall_log_passed_over_total", "counter",
                      "Entries of the event log that this node did not receive or read, because it "
                      "had no session of their guilds and users.",
                      s.passed_over);
    api_append_metric(out, "guildhall_log_holes_total", "counter",
                      "Positions of the event log that were missing when they were read.", s.gaps);
    api_append_metric(
        out, "guildhall_log_voids_total", "counter",
        "Positions of the event log whose transactions were aborted without a record.", s.aborted);
    api_append_metric(out, "guildhall_log_unreadable_total", "counter",
                      "Entries of the event log that could not be decoded; restart this node.",
                      s.unreadable);
    api_append_metric(out, "guildhall_clock_offset_milliseconds", "gauge",
                      "Minimum difference between this clock and that of the database.",
                      (uint64_t)(s.offset_ms < 0 ? -s.offset_ms : s.offset_ms));
    if (!s.has_wire)
        return;
    api_append_metric(out, "guildhall_nats_connected", "gauge",
                      "Whether this node is connected to NATS.", s.connected);
    api_append_metric(out, "guildhall_nats_heard_total", "counter",
                      "Messages received through NATS.", s.frames_received);
    api_append_metric(out, "guildhall_nats_entries_total", "counter",
                      "Entries of the event log and transient events received through NATS.",
                      s.entries_received);
    api_append_metric(out, "guildhall_nats_entry_bytes_total", "counter",
                      "Bytes of these entries and events, without their addresses.",
                      s.entry_bytes_received);
    api_append_metric(out, "guildhall_nats_sends_by_address", "gauge",
                      "Whether entries of the event log are sent only to the nodes that need them: "
                      "all nodes run a version that supports it.",
                      s.sends_by_address);
    api_append_metric(out, "guildhall_nats_refused_total", "counter",
                      "Messages received through NATS that no node of this database sent.",
                      s.frames_refused);
}
