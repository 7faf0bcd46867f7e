/* internal.h - structs and functions that the files of cluster/ share. */
#ifndef CLUSTER_INTERNAL_H
#define CLUSTER_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "cluster/cipher.h"
#include "cluster/clocks.h"
#include "cluster/cluster.h"
#include "cluster/line.h"
#include "cluster/nats.h"

enum {
    FRESH_MS = 2000, /* how long cached credentials are valid without reading the log */
    LEASE_MS = 5000, /* a node without a heartbeat for this long is dead */
    BEAT_MS = 1000,  /* interval of heartbeats */
    /* Positions per partition of the log (see its migration); minimum retention. */
    PART_POSITIONS = 1000000,
    KEEP_MINUTES = 15,
};

/* State of the check of missing positions. */
struct settling {
    int64_t missing;     /* first missing position; 0: none */
    int64_t since;       /* when the position was first missing (clock_mono) */
    bool asked;          /* `bound` and `last` are set */
    struct str bound;    /* transactions with ids below this may have a missing position */
    int64_t last;        /* greatest position when the bound was read */
    struct arena *arena; /* memory of `bound` */
};

/* Connection to NATS, which carries frames right after their commit. */
struct cluster_wire {
    struct nats *nats; /* NULL: no NATS; nodes read the log */
    struct cipher cipher;
    struct buf plain;          /* used by the NATS thread only, as is refusal_logged_at */
    int64_t refusal_logged_at; /* clock_mono; 0: never */
    /* NATS subjects: frames, transient events, messages to all nodes, messages to this node. */
    char log[64], brief[64], told[64], own[80];
    _Atomic bool connected;
    _Atomic uint64_t heard, refused;
};

/* Counters for /metrics. */
struct cluster_counters {
    _Atomic uint64_t frames_own, frames_read, holes, voids, nodes;
};

/* State of the thread that follows the log (tail.c); times are clock_mono. */
struct follower {
    int64_t beat_at, busy_until, acked;
    int64_t follow_at;          /* time of the next periodic read of the log */
    int64_t missed;             /* a position that was missing for 2 ms; or 0 */
    int64_t beaten_at, bury_at; /* time of the last heartbeat; when nodes may be declared dead */
    unsigned looked_back; /* number of database connects at the last check of delivered frames */
    bool lost;
};

struct cluster {
    struct cluster_options options;
    struct cluster_wire wire;
    uint32_t identity; /* never 0 */
    unsigned node;
    struct log_line *line;
    struct store_side *side; /* used by the log thread only, like all members up to `settling` */
    struct arena *arena;
    pthread_t thread;
    bool has_thread;
    struct follower follow;
    struct clock_watch clocks;
    struct settling settling;

    pthread_mutex_t lock; /* protects all members up to `waits` */
    pthread_cond_t woken;
    bool hurry, ending;
    int64_t look_at;   /* when to check for a missing position (clock_mono); or 0 */
    int64_t look_for;  /* the position that was missing when look_at was set */
    struct link waits; /* items: struct cluster_wait */

    _Atomic int64_t to_ack;   /* position of the last applied revocation by another node */
    _Atomic int64_t fresh_at; /* when the log was last read to its end (clock_mono) */
    struct cluster_counters count;
    _Atomic uint64_t rank;     /* see cluster_share */
    _Atomic int64_t offset_ms; /* how far this clock is at least ahead of the database's */
    _Atomic bool clock_off;    /* the clock is wrong, so expiry times are wrong on this node */
};

static inline int64_t ms_to_ns(int64_t n)
{
    return n * 1000000;
}

/* Runs a transaction on the connection of the log thread. */
static inline enum err cluster_run(struct cluster *c, enum store_mode mode,
                                   enum err (*run)(struct tx *tx, void *arg), void *arg)
{
    return store_side_run(c->side, mode, c->arena, run, arg);
}

/* Wakes the log thread immediately. */
void tail_hurry(struct cluster *c);
/* Wakes the log thread after 2 ms: most missing positions arrive by then. */
void tail_look_soon(struct cluster *c);
void *tail_live(void *arg);
/* Reads a page of the log from the next position on; *ret_last is the last position of the page,
 * or 0. */
enum err tail_read(struct cluster *c, int64_t *ret_last, bool *ret_more);

/* --- wire.c --------------------------------------------------------------------------- */

enum err cluster_wire_open(struct cluster *c);
void cluster_wire_start(struct cluster *c);
void cluster_wire_close(struct cluster *c);
/* Publishes a committed frame, or transient events (position 0). Nodes may miss the message. */
void cluster_wire_send(struct cluster *c, int64_t position, struct str bytes);

/* --- settle.c ------------------------------------------------------------------------- */

/* Returns the id of a new transaction, as text in the arena. */
enum err settle_bound(struct cluster *c, struct arena *arena, struct str *ret);
/* Returns in *ret whether all transactions of servers with older ids have ended. end: terminates
 * these transactions. */
enum err settle_ended(struct cluster *c, struct str bound, bool end, bool *ret);
/* Query for the bound; tests replace it with a wrong one. */
extern struct sql settle_bound_sql;
/* After this time a transaction that blocks the log is terminated; tests may change it. */
extern int64_t settle_end_ms;
/* Returns for how many ns the next position is missing although later ones arrived; below 0: no
 * gap. */
int64_t settle_age(struct cluster *c);
/* Does one step to resolve a gap. Returns whether there is a gap. */
bool settle_step(struct cluster *c);

/* --- nodes.c -------------------------------------------------------------------------- */

/* Registers this node. */
enum err nodes_enter(struct cluster *c);
/* Writes a heartbeat with the position of this node; declares silent nodes dead. */
enum err nodes_beat(struct cluster *c);
/* Publishes the position of this node. */
enum err nodes_tell_position(struct cluster *c);
/* Returns the least position of all other living nodes. */
enum err nodes_least(struct cluster *c, int64_t *ret);
void nodes_leave(struct cluster *c);

/* --- history.c ------------------------------------------------------------------------ */

/* Stops this server if the database lacks delivered frames after a reconnect. */
enum err history_look(struct cluster *c);

/* --- parts.c -------------------------------------------------------------------------- */

/* Creates the next partition of the log in time, and drops old ones. */
void parts_tend(struct cluster *c);

/* --- waits.c -------------------------------------------------------------------------- */

/* Completes waits that are over. Returns whether some are left. */
bool waits_look(struct cluster *c);

#endif
