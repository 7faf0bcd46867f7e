/* cluster.h - several nodes on one PostgreSQL database deliver each other's events; on SQLite one
 * node only retains the log of its events.
 *
 *   log_entry         log entries: the events, revocations and voice changes of one transaction
 *   log               the table of all log entries; a commit takes the next position (store/)
 *   log_sequencer     delivers log entries in the order of positions, whichever arrives first
 *   log_follower      the thread that reads the log and does periodic work
 *   cluster_nats      publishes log entries through NATS (nats, nats_protocol), without delay
 *   log_address       the guilds and users whose sessions receive a log entry
 *   interest          the guilds and users with sessions on this node, which need log entries
 *   log_gaps          decides whether a missing position was aborted
 *   nodes             heartbeats; declares silent nodes dead
 *   cluster_waits     delays replies until all nodes have applied a position
 *
 * The database is the only shared state. This folder uses store, model and below, and calls the
 * rest of the program through struct cluster_options.
 *
 * Invariants: each node delivers or skips each log entry exactly once, in the order of positions,
 * and only if the entry's transaction committed. A node skips an entry of which it has received
 * only the address. If a transaction saw or overwrote rows of another transaction, it has the
 * greater position. docs/CLUSTER.md has the guarantees for users. Start reading with
 * log_sequencer.h and log_follower.c. */
#ifndef CLUSTER_CLUSTER_H
#define CLUSTER_CLUSTER_H

#include "base/buf.h"
#include "cluster/log_address.h"
#include "store/store.h"

struct cluster;

/* The greatest position of the event log: event numbers have 42 bits for it (EVENT_NUMBER_BITS in
 * gateway/wire/gateway_event.h). The sequence of positions ends there, so that a write that needs a
 * greater position fails. */
#define LOG_POSITION_MAX ((INT64_C(1) << 42) - 1)

/* Topics of messages between nodes that are not in the event log: sessions
 * (gateway/presence/directory.h), rate-limit counts (api/limits/limits.h), and session journals
 * (gateway/resume/journal/replica.h). */
enum cluster_message_topic { CLUSTER_SESSIONS, CLUSTER_COUNTS, CLUSTER_LEDGERS, CLUSTER_TOPICS };

struct cluster_options {
    struct store *store;
    bool alone; /* the store is SQLite, so there is an event log, but no other node */
    const char *version, *address;
    struct str settings; /* digest of settings that must be equal on all nodes */
    struct str bus; /* URLs of NATS (nats://… or tls://…); if empty, nodes poll the event log */
    const char *bus_ca;        /* PEM file with CA certificates of the NATS servers, or NULL */
    unsigned char bus_key[32]; /* secret key of messages between nodes */
    void *arg;
    /* Called for the events of each log entry, in log order, one call at a time, from any thread.
     */
    void (*publish_events)(void *arg, int64_t position, const struct emitted_event *list);
    /* Called instead of publish_events, in the same order, for a log entry that this node has not
     * received because it had no sessions of the entry's guilds and users. */
    void (*pass_over)(void *arg, int64_t position, const struct log_entry_address *a);
    /* Called at least every 50 ms; publishes the positions that pass_over has collected. */
    void (*publish_passed_over)(void *arg);
    /* Called when a session must move from this node to another, or from another node to this one.
     */
    void (*move)(void *arg, const struct session_move_message *m);
    void (*revoke)(void *arg, const struct revocation_record *f);
    /* Called before publish_events of the same log entry. fact->claim identifies a voice connection
     * of the node that wrote the entry; it is 0 on other nodes. */
    void (*voice)(void *arg, const struct relay_voice_state *fact);
    /* Called after all known revocations by other nodes were applied. Cached credentials may be
     * used until the time `until` (clock_monotonic_ns). */
    void (*credentials_valid_until)(void *arg, int64_t until);
    /* Callbacks. `message`: a message from another node has arrived
     * (cluster_send_message_to_all_nodes). `send_counts`: the rate limit counts must be sent.
     * `connected`: NATS is connected again. `living`: called once a second, with the identities of
     * all living nodes including this one. */
    void (*message)(void *arg, enum cluster_message_topic topic, struct str message);
    void (*send_counts)(void *arg);
    void (*connected)(void *arg);
    void (*living)(void *arg, const uint32_t *identities, size_t count);
    /* Returns the number of sessions on this node, which operators can see. */
    uint64_t (*sessions)(void *arg);
    /* Called when this node must stop, because it has lost the log or the database. */
    void (*lost)(void *arg);
};

/* Registers this node and finds the end of the event log. Logs a message on failure. */
enum err cluster_open(const struct cluster_options *options, struct cluster **ret);
/* Starts the thread that reads the event log. */
void cluster_start(struct cluster *c);
/* Unregisters this node. The caller must not commit or call cluster_wait_for_nodes_at_log_position
 * afterwards. */
void cluster_close(struct cluster *c); /* accepts NULL */

/* Writes an entry to the event log. Called in the transaction before its commit. Entries with only
 * transient events are not written. */
void cluster_append_log_entry(struct cluster *c, struct tx *tx, struct log_entry f);
/* Publishes a log entry after the commit, and delivers it on this node in log order. Thread-safe.
 */
void cluster_publish_log_entry(struct cluster *c, const struct work_item *w, struct log_entry f);
/* Write the move of a session to another node to the event log, and publish it after the commit, as
 * cluster_append_log_entry and cluster_publish_log_entry do for events. */
void cluster_append_session_move_to_log(struct cluster *c, struct tx *tx,
                                        const struct session_move_message *m);
void cluster_publish_session_move(struct cluster *c, const struct work_item *w,
                                  const struct session_move_message *m);
/* Sends a message to all other nodes through NATS, without the event log. Messages may be lost, for
 * example if NATS is not connected; messages that arrive are in order. */
void cluster_send_message_to_all_nodes(struct cluster *c, enum cluster_message_topic topic,
                                       struct str message);
/* Sends a message to one node. The message is dropped if too many bytes are waiting to be sent to
 * NATS. So senders number their messages, and receivers request missing messages again. */
void cluster_send_message_to_node(struct cluster *c, uint32_t identity,
                                  enum cluster_message_topic topic, struct str message);
/* Returns the number of bytes that are waiting to be sent to NATS. */
size_t cluster_count_unsent_nats_bytes(const struct cluster *c);
bool cluster_has_nats(const struct cluster *c);
uint32_t cluster_node_identity(const struct cluster *c);
bool cluster_has_no_other_nodes(const struct cluster *c);
/* Returns the last delivered position of the event log. */
int64_t cluster_delivered_position(const struct cluster *c);

/* Called for the first and after the last session of a guild or user on an event loop; calls with
 * the same id are counted. This node skips log entries of all other guilds and users. */
void cluster_add_interest_in_guild_or_user(struct cluster *c, enum audience_kind kind,
                                           snowflake id);
void cluster_remove_interest_in_guild_or_user(struct cluster *c, enum audience_kind kind,
                                              snowflake id);
/* Stops this node, because a committed log entry cannot be read. */
void cluster_stop_after_lost_events(struct cluster *c);

/* A wait for other nodes: `post` is sent to the loop when every node has either applied the log
 * position, or stopped using cached credentials because they are older than CREDENTIALS_FRESH_MS.
 */
struct cluster_log_position_wait {
    struct list_link link;
    int64_t position, since;
    struct loop *loop;
    struct loop_message post;
};
void cluster_wait_for_nodes_at_log_position(struct cluster *c, struct cluster_log_position_wait *w);

/* Returns the rank of this node among the living nodes, from 0, and the number of living nodes.
 * Used to divide work among nodes. After a node has started or stopped, the results of the nodes
 * may contradict each other for a moment. */
void cluster_get_node_rank(const struct cluster *c, int64_t *ret_rank, int64_t *ret_living);

/* Returns the number of nodes that do not receive each other's rate limit counts immediately; each
 * node then allows its share of a limit. Returns 1 if there is no other node or NATS is connected.
 * Fast enough for every request. */
unsigned cluster_count_unconnected_nodes(const struct cluster *c);

/* Returns whether this node is ready (/readyz): it reads the log without much delay, could decode
 * every log entry, and has a correct clock. */
bool cluster_is_ready(const struct cluster *c);
/* Returns whether this node has lost its lease while the database is probably up: NATS is
 * unreachable as well, or another node still reaches the database. Other nodes then take over this
 * node's sessions. Returns false if nodes do not use NATS. Fast enough for every request. */
bool cluster_node_is_isolated(const struct cluster *c);
/* Records that another node has just renewed its lease, so the database is up. Thread-safe. */
void cluster_record_heartbeat_of_other_node(struct cluster *c);
/* Statistics of the cluster for /metrics. */
struct cluster_stats {
    int64_t position;
    uint64_t frames_own, frames_read, bytes_read, gaps, aborted, unreadable, behind_ms, nodes;
    uint64_t frames_received, frames_refused; /* messages received and rejected through NATS */
    /* Number of log entries that this node skipped, because it did not need them. */
    uint64_t passed_over;
    uint64_t entries_received, entry_bytes_received; /* log entries received through NATS */
    /* log entries are sent by address, because all nodes understand addresses */
    bool sends_by_address;
    /* lower bound of how far this node's clock is ahead of the database's clock */
    int64_t offset_ms;
    bool has_wire, connected;
};
void cluster_read_stats(const struct cluster *c, struct cluster_stats *ret);

#endif
