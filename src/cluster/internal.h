/* internal.h - structs and functions that the files of cluster/ share. */
#ifndef CLUSTER_INTERNAL_H
#define CLUSTER_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "cluster/message_cipher.h"
#include "cluster/clock_check.h"
#include "cluster/cluster.h"
#include "cluster/interest.h"
#include "cluster/log_sequencer.h"
#include "cluster/nats.h"

enum {
    /* Time for which cached credentials are valid if the log cannot be read. */
    CREDENTIALS_FRESH_MS = 2000,
    NODE_LEASE_MS = 5000, /* a node that has sent no heartbeat for this time is dead */
    /* maximum number of nodes with `--bus poll`; more nodes cause a warning in the log */
    POLLING_NODES_MAX = 4,
    HEARTBEAT_INTERVAL_MS = 1000, /* interval between heartbeats of a node */
    /* PARTITION_POSITIONS: number of positions per partition of the log table; as in the migration.
     * LOG_RETENTION_MINUTES: minimum time for which log entries are retained. */
    PARTITION_POSITIONS = 1000000,
    LOG_RETENTION_MINUTES = 15,
    LOG_SAMPLES = LOG_RETENTION_MINUTES + 2,
};

/* Progress of the check for missing log positions (log_gaps.c). */
struct log_gap_check {
    int64_t missing;   /* first missing position; 0 if none is missing */
    int64_t since;     /* time at which `missing` was first found missing (clock_monotonic_ns) */
    bool bound_is_set; /* whether `bound` and `last` are set */
    /* Every transaction that holds a missing position has a transaction id below this bound. */
    struct str bound;
    int64_t last;        /* greatest position in the log when `bound` was read */
    struct arena *arena; /* memory that contains `bound` */
};

/* Connection to NATS, which carries log entries right after their commit. */
struct cluster_nats_connection {
    struct nats *nats; /* client of NATS; NULL if nodes do not use NATS but poll the log */
    struct message_cipher cipher;
    struct buf plain; /* decrypted message; used by the NATS thread only, like refusal_logged_at */
    int64_t refusal_logged_at; /* time of the last logged warning (clock_monotonic_ns), or 0 */
    /* NATS subjects of log entries, of transient events, of messages to all nodes, and of messages
     * to this node. */
    char log[64], brief[64], to_all[64], to_this_node[80];
    /* NATS subject of addresses, and prefix of the NATS subjects of parts (LOG_PARTS). */
    char addresses[64], part_prefix[64];
    /* Nodes that have announced that they understand addresses; key and value are the identity.
     * Needs the cluster's lock. */
    struct map address_nodes;
    _Atomic bool all_use_addresses; /* all living nodes understand addresses */
    _Atomic uint64_t entries_received, entry_bytes_received; /* entries themselves, not addresses */
    _Atomic bool connected;
    _Atomic uint64_t received, refused;
    _Atomic int64_t peer_heartbeats_since; /* begin of heartbeats without a pause */
    _Atomic int64_t
        peer_heartbeat_at; /* see cluster_record_heartbeat_of_other_node; clock_monotonic_ns */
};

/* Counters of the cluster for /metrics. */
struct cluster_counters {
    _Atomic uint64_t frames_own, frames_read, bytes_read, gaps, aborted, nodes, passed_over;
};

/* State of the thread that reads the log (log_follower.c). Its times are clock_monotonic_ns. */
struct log_follower {
    int64_t beat_at, busy_until, acked;
    int64_t follow_at; /* time of the next periodic read of the log */
    bool log_had_rows; /* the log had rows before the position at which this node started to read */
    /* Log position that was found missing and was still missing 2 ms later; 0 if there is none. */
    int64_t missed;
    /* last_heartbeat_at: time of the last heartbeat. declare_dead_at: time from which this node may
     * declare other nodes dead. */
    int64_t last_heartbeat_at, declare_dead_at;
    /* Number of connects to the database at the last call of
     * stop_node_if_log_lacks_delivered_entries. */
    unsigned checked_connections;
    bool lost;
    bool warned_of_polling; /* warn_if_too_many_nodes_poll has logged its warning */
    /* Recent log positions with their times, one per minute, sorted from oldest to newest
     * (log_partitions.c). */
    struct log_sample {
        int64_t position, at;
    } samples[LOG_SAMPLES];
    unsigned sample_count;
};

struct cluster {
    struct cluster_options options;
    struct cluster_nats_connection nats;
    uint32_t identity; /* identity of this node; never 0 */
    unsigned node;
    struct log_sequencer *sequencer;
    struct interest *interest; /* NULL on SQLite */
    /* Database connection of the log thread; only the log thread uses the members up to
     * gap_check. */
    struct store_connection *side;
    struct arena *arena;
    pthread_t thread;
    bool has_thread;
    struct log_follower follow;
    struct node_clock_check clocks;
    struct log_gap_check gap_check;

    pthread_mutex_t lock; /* protects all members up to `waits` */
    pthread_cond_t woken;
    bool wake_now, ending;
    int64_t inspect; /* time of the next check for a missing position (clock_monotonic_ns), or 0 */
    int64_t search_for;     /* the missing position for which `inspect` was set */
    struct list_link waits; /* list of struct cluster_log_position_wait */

    _Atomic int64_t to_ack; /* log position of the last applied revocation by another node */
    /* time at which the log was last read to its end (clock_monotonic_ns) */
    _Atomic int64_t fresh_at;
    struct cluster_counters count;
    _Atomic uint64_t rank; /* see cluster_get_node_rank */
    /* Lower bound of how far this node's clock is ahead of the database's clock, in ms. */
    _Atomic int64_t offset_ms;
    /* this node's clock is wrong, so this node would compute wrong expiry times */
    _Atomic bool clock_off;
};

static inline int64_t ms_to_ns(int64_t n)
{
    return n * 1000000;
}

/* Runs a transaction on the database connection of the log thread. */
static inline enum err cluster_run_log_transaction(struct cluster *c, enum transaction_mode mode,
                                                   enum err (*run)(struct tx *tx, void *arg),
                                                   void *arg)
{
    return store_connection_run_transaction(c->side, mode, c->arena, run, arg);
}

/* Wakes the log thread immediately. */
void log_follower_wake(struct cluster *c);
/* Wakes the log thread after 2 ms, because most missing positions arrive in that time. */
void log_follower_wake_soon(struct cluster *c);
void *log_follower_thread(void *arg);
/* Reads a page of the log from the next undelivered position on. *ret_last is the last position of
 * the page, or 0 if the page is empty. */
enum err log_follower_read_page(struct cluster *c, int64_t *ret_last, bool *ret_more);

/* --- cluster_nats.c ------------------------------------------------------------------ */

enum err cluster_nats_open(struct cluster *c);
void cluster_nats_start(struct cluster *c);
void cluster_nats_close(struct cluster *c);
/* Subscribes this node to a part of the log or ends the subscription (interest_subscribe). */
void cluster_nats_set_subscribed_to_part(void *arg, unsigned part, bool subscribed);
/* Publishes a committed log entry through NATS, or transient events if position is 0. bytes is the
 * encoded entry. Messages may be lost. */
void cluster_nats_publish_log_entry(struct cluster *c, int64_t position, struct str bytes,
                                    const struct log_entry *f);
/* Announces to the other nodes that this node understands addresses of log entries. */
void cluster_nats_announce_log_address_support(struct cluster *c);
/* Finds out whether all living nodes understand addresses of log entries, and ends NATS
 * subscriptions that are not needed any more. Called once a second. */
void cluster_nats_check_log_address_support(struct cluster *c, const uint32_t *identities,
                                            size_t count);

/* --- log_gaps.c ----------------------------------------------------------------------- */

/* Starts a transaction and sets *ret to its transaction id, as text in the arena. */
enum err begin_transaction_and_read_id(struct cluster *c, struct arena *arena, struct str *ret);
/* Sets *ret to whether all transactions of cluster nodes with transaction ids below `bound` have
 * ended. If `end` is set, terminates those that still run. */
enum err check_or_end_older_transactions(struct cluster *c, struct str bound, bool end, bool *ret);
/* Query of begin_transaction_and_read_id. Tests replace it with one that returns a wrong bound. */
extern struct sql transaction_bound_sql;
/* Time after which a transaction that blocks the log is terminated, in ms; tests may change it. */
extern int64_t terminate_transactions_after_ms;
/* Returns how many ns ago the next log position was found missing although later positions have
 * arrived. Returns a negative number if it is not missing. */
int64_t log_gap_age_ns(struct cluster *c);
/* Runs the next step of finding out whether missing log positions were aborted. Returns whether
 * positions are missing. */
bool log_gap_run_next_resolution_step(struct cluster *c);

/* --- nodes.c -------------------------------------------------------------------------- */

enum err cluster_node_register(struct cluster *c);
/* Writes a heartbeat with the log position of this node, and declares silent nodes dead. */
enum err cluster_node_write_heartbeat(struct cluster *c);
enum err cluster_node_publish_log_position(struct cluster *c);
/* Sets *ret to the lowest log position that other living nodes have published as applied. */
enum err read_least_log_position_of_nodes(struct cluster *c, int64_t *ret);
void cluster_node_unregister(struct cluster *c);

/* --- delivered_check.c ---------------------------------------------------------------- */

/* After a reconnect, stops this node if the database lacks log entries that this node has
 * delivered. */
enum err stop_node_if_log_lacks_delivered_entries(struct cluster *c);

/* --- log_partitions.c ----------------------------------------------------------------- */

/* Creates the next partition of the log table before it is needed, drops old partitions, and
 * deletes old rows. */
void log_partitions_create_and_drop(struct cluster *c);
/* Stops this node and sets *ret if log rows that this node has not read were dropped. The check
 * covers all reads of the log that ended before this call. */
enum err stop_node_if_unread_log_rows_dropped(struct cluster *c, bool *ret);
/* sets *arg (int64_t) to the first position in the log; 0 if the log is empty */
enum err read_first_log_position(struct tx *tx, void *arg);
/* Minimum age at which log rows are deleted, in ms; tests may change it. */
extern int64_t log_retention_ms;

/* --- cluster_waits.c ------------------------------------------------------------------ */

/* Ends the waits for other nodes whose condition is met. Returns whether other waits remain. */
bool cluster_finish_log_position_waits(struct cluster *c);

#endif
