/* internal.h - what the files of cluster/ share. */
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
    FRESH_MS = 2000, /* how long what is remembered may be used without hearing of the log */
    LEASE_MS = 5000, /* a node that was silent for so long is dead */
    BEAT_MS = 1000,  /* how often a node says that it lives */
    /* What stands in a part of the log; see its migration. */
    PART_POSITIONS = 1000000,
    KEEP_MINUTES = 15,
};

/* Positions that are missing, while it is found out what became of them. */
struct settling {
    int64_t missing;     /* the first of them; 0: none is */
    int64_t since;       /* it was missing, by clock_mono */
    bool asked;          /* the next two are there */
    struct str bound;    /* transactions below this id may hold one */
    int64_t last;        /* the last position that was in question then */
    struct arena *arena; /* of bound */
};

/* Where frames travel as soon as they are committed. */
struct cluster_wire {
    struct nats *nats; /* NULL: they do not, and others read them from the log */
    struct cipher cipher;
    struct buf plain;          /* of the connection's thread, as is the next one */
    int64_t refusal_logged_at; /* by clock_mono; 0: never */
    /* Subjects: of frames with a position, of fleeting ones, of what is told to all, and to us. */
    char log[64], brief[64], told[64], own[80];
    _Atomic bool connected;
    _Atomic uint64_t heard, refused;
};

/* For /metrics. */
struct cluster_counters {
    _Atomic uint64_t frames_own, frames_read, holes, voids, nodes;
};

/* State of the thread that follows the log; times by clock_mono. */
struct follower {
    int64_t beat_at, busy_until, acked;
    int64_t follow_at;          /* the next regular read of the log */
    int64_t missed;             /* a position that has been missing for 2 ms; or 0 */
    int64_t beaten_at, bury_at; /* the last heartbeat; from when on nodes are declared dead */
    unsigned looked_back;       /* count of connections when the log was last compared with it */
    bool lost;
};

struct cluster {
    struct cluster_options options;
    struct cluster_wire wire;
    uint32_t identity; /* never 0 */
    unsigned node;
    struct log_line *line;
    struct store_side *side; /* belongs to the following thread, as does all up to `settling` */
    struct arena *arena;
    pthread_t thread;
    bool has_thread;
    struct follower follow;
    struct clock_watch clocks;
    struct settling settling;

    pthread_mutex_t lock; /* protects all up to `waits` */
    pthread_cond_t woken;
    bool hurry, ending;
    int64_t look_at;   /* by clock_mono: when to check whether a position is missing; or 0 */
    int64_t look_for;  /* the position that was missing when that was set */
    struct link waits; /* struct cluster_wait */

    _Atomic int64_t to_ack;   /* position of the last revocation by another node that was applied */
    _Atomic int64_t fresh_at; /* when the log was last read to its end, by clock_mono */
    struct cluster_counters count;
    _Atomic uint64_t rank;     /* see cluster_share */
    _Atomic int64_t offset_ms; /* how far this clock is ahead of the database's, at least */
    _Atomic bool clock_off;    /* expiry times are wrong on this node */
};

static inline int64_t ms_to_ns(int64_t n)
{
    return n * 1000000;
}

/* Runs on the tail's connection. */
static inline enum err cluster_run(struct cluster *c, enum store_mode mode,
                                   enum err (*run)(struct tx *tx, void *arg), void *arg)
{
    return store_side_run(c->side, mode, c->arena, run, arg);
}

/* Wakes the tail: something waits for it. */
void tail_hurry(struct cluster *c);
/* The same in two milliseconds: what is missing has mostly come by itself then. */
void tail_look_soon(struct cluster *c);
void *tail_live(void *arg);
/* Reads what stands in the log from `next` on; *ret_last is the last position of it, or 0. */
enum err tail_read(struct cluster *c, int64_t *ret_last, bool *ret_more);

/* --- wire.c --------------------------------------------------------------------------- */

enum err cluster_wire_open(struct cluster *c);
void cluster_wire_start(struct cluster *c);
void cluster_wire_close(struct cluster *c);
/* What is committed, or fleeting (position 0). Whoever is not told reads it from the log. */
void cluster_wire_send(struct cluster *c, int64_t position, struct str bytes);

/* --- settle.c ------------------------------------------------------------------------- */

/* The id of a transaction that begins now, as text in the arena. */
enum err settle_bound(struct cluster *c, struct arena *arena, struct str *ret);
/* Whether every transaction of a server that is older has ended. end: ends them. */
enum err settle_ended(struct cluster *c, struct str bound, bool end, bool *ret);
/* What asks for the bound; tests put a wrong one there. */
extern struct sql settle_bound_sql;
/* A transaction that holds everybody up for so long is ended; a test may be slower than that. */
extern int64_t settle_end_ms;
/* For how long (ns) the next position has been missing while later ones are there; below 0:
 * none is missing. */
int64_t settle_age(struct cluster *c);
/* One step for what is missing; whether something is. */
bool settle_step(struct cluster *c);

/* --- nodes.c -------------------------------------------------------------------------- */

/* Takes the place of this node. */
enum err nodes_enter(struct cluster *c);
/* Says that it lives and how far it is; buries those who were silent. */
enum err nodes_beat(struct cluster *c);
/* Says how far it is. */
enum err nodes_tell_position(struct cluster *c);
/* The least position that all other living nodes have come to. */
enum err nodes_least(struct cluster *c, int64_t *ret);
void nodes_leave(struct cluster *c);

/* --- history.c ------------------------------------------------------------------------ */

/* After a connection was made anew: ends this server when the database lacks what was told. */
enum err history_look(struct cluster *c);

/* --- parts.c -------------------------------------------------------------------------- */

/* Makes the next part of the log in time, and drops old ones. */
void parts_tend(struct cluster *c);

/* --- waits.c -------------------------------------------------------------------------- */

/* Lets those go who have waited long enough; whether some still wait. */
bool waits_look(struct cluster *c);

#endif
