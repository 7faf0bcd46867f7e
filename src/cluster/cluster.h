/* cluster.h - several nodes on one PostgreSQL database deliver each other's events; on SQLite
 * one node only retains the log of its events.
 *
 *   frames         encodes the events, revocations and voice changes of one transaction
 *   log            the table of all frames; a commit takes the next position (store/)
 *   log_line       delivers frames in the order of positions, whichever arrives first
 *   follower       the thread that reads the log and does periodic work
 *   cluster_wire   publishes frames through NATS (nats, nats_protocol), to deliver them sooner
 *   settling       decides whether a missing position was aborted
 *   nodes          heartbeats; declares silent nodes dead
 *   waits          delays replies until all nodes have applied a position
 *
 * The database is the only shared state. This folder uses store, model and below, and calls the
 * rest of the program through struct cluster_options.
 *
 * Invariants: each node delivers a frame exactly once, in the order of positions, and only if
 * its transaction committed. A transaction that saw or overwrote rows of another one has the
 * greater position. docs/CLUSTER.md has the guarantees for users. Start reading with line.h and
 * tail.c. */
#ifndef CLUSTER_CLUSTER_H
#define CLUSTER_CLUSTER_H

#include "base/buf.h"
#include "cluster/frames.h"
#include "store/store.h"

struct cluster;

/* Topics of messages between nodes that are not in the log: sessions
 * (gateway/presence/directory.h), rate-limit counts (api/limits/limits.h), and session journals
 * (gateway/resume/journal/replica.h). */
enum cluster_topic { CLUSTER_SESSIONS, CLUSTER_COUNTS, CLUSTER_LEDGERS, CLUSTER_TOPICS };

struct cluster_options {
    struct store *store;
    bool alone; /* SQLite: there are no other nodes, only the log */
    const char *version, *address;
    struct str settings;       /* digest of settings that must be equal on all nodes */
    struct str bus;            /* nats://… or tls://…; empty: poll the log */
    const char *bus_ca;        /* CA certificates of the NATS servers (file); or NULL */
    unsigned char bus_key[32]; /* secret: anyone who knows it can send events to this node */
    void *arg;
    /* Called in the order of positions, one call at a time, from any thread. */
    void (*publish_events)(void *arg, int64_t position, const struct emitted_event *list);
    /* A session moves to or from this node. */
    void (*move)(void *arg, const struct session_move *m);
    void (*revoke)(void *arg, const struct revocation_record *f);
    /* Called before `announce` of the same frame. claim is 0 if another node wrote the frame. */
    void (*voice)(void *arg, const struct relay_voice_state *fact);
    /* Cached credentials are valid until then (clock_monotonic_ns): all revocations by other nodes
     * are known. */
    void (*credentials_valid_until)(void *arg, int64_t until);
    /* told: a message of another node (cluster_send_to_all). tell_counts: send the rate-limit
     * counts now. hears: NATS is connected again. living: all living nodes and this one, once a
     * second. */
    void (*message)(void *arg, enum cluster_topic topic, struct str message);
    void (*send_counts)(void *arg);
    void (*connected)(void *arg);
    void (*living)(void *arg, const uint32_t *identities, size_t count);
    uint64_t (*sessions)(void *arg); /* returns the number of sessions, for operators */
    void (*lost)(void *arg); /* this node must stop, because it lost the log or the database */
};

/* Registers this node and finds the end of the log. Logs a message on failure. */
enum err cluster_open(const struct cluster_options *options, struct cluster **ret);
/* Starts to follow the log. */
void cluster_start(struct cluster *c);
/* Unregisters this node. No commit or cluster_await_position may follow. */
void cluster_close(struct cluster *c); /* accepts NULL */

/* Writes the frame to the log before the commit, unless it has transient events only. */
void cluster_log_frame(struct cluster *c, struct tx *tx, struct frame f);
/* Publishes the frame after the commit and delivers it on this node, in order of positions.
 * Thread-safe. */
void cluster_publish_frame(struct cluster *c, const struct work_item *w, struct frame f);
/* Log and publish a session move to another node, like cluster_log_frame and cluster_publish_frame.
 */
void cluster_log_session_move(struct cluster *c, struct tx *tx, const struct session_move *m);
void cluster_publish_session_move(struct cluster *c, const struct work_item *w,
                                  const struct session_move *m);
/* Sends a message to all other nodes, without the log, if NATS is connected. Messages arrive in
 * order, or not at all. */
void cluster_send_to_all(struct cluster *c, enum cluster_topic topic, struct str message);
/* Sends a message to one node. It is dropped while many bytes wait to be sent: for numbered
 * messages, which a receiver requests again if it misses one. */
void cluster_send_to_node(struct cluster *c, uint32_t identity, enum cluster_topic topic,
                          struct str message);
/* Returns the number of bytes that wait to be sent to NATS. */
size_t cluster_unsent_bytes(const struct cluster *c);
bool cluster_has_nats(const struct cluster *c);
uint32_t cluster_identity(const struct cluster *c);
bool cluster_is_alone(const struct cluster *c);
/* Returns the last delivered position. */
int64_t cluster_position(const struct cluster *c);

/* Posts `post` to the loop when every node has applied the position, or its cached credentials have
 * expired (CREDENTIALS_FRESH_MS). */
struct cluster_wait {
    struct link link;
    int64_t position, since;
    struct loop *loop;
    struct loop_message post;
};
void cluster_await_position(struct cluster *c, struct cluster_wait *w);

/* Returns the rank of this node among the living nodes, from 0, and their number, to divide
 * shared work. Nodes may disagree for a moment. */
void cluster_rank(const struct cluster *c, int64_t *ret_rank, int64_t *ret_living);

/* Returns the number of nodes that do not receive each other's rate-limit counts immediately; 1:
 * this node is alone, or NATS is connected. Cheap enough for every request. */
unsigned cluster_unconnected_nodes(const struct cluster *c);

/* Used by /readyz: returns whether the node follows the log in time, could decode every frame,
 * and its clock is right. */
bool cluster_is_ready(const struct cluster *c);
/* Counters for /metrics. */
struct cluster_stats {
    int64_t position;
    uint64_t frames_own, frames_read, gaps, aborted, unreadable, behind_ms, nodes;
    uint64_t frames_received, frames_refused; /* frames received and rejected through NATS */
    int64_t offset_ms; /* how far this clock is at least ahead of the database's */
    bool has_wire, connected;
};
void cluster_stats(const struct cluster *c, struct cluster_stats *ret);

#endif
