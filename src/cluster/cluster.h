/* cluster.h - several servers on one PostgreSQL, each told what the others commit; or one on
 * SQLite that keeps what it announces.
 *
 *   frames   what one transaction announces, as bytes
 *   log      the table of all frames; a position is taken with the commit (store/)
 *   line     frames in the order of positions, whoever had them first
 *   tail     the thread that follows the log, and does what else is regular
 *   wire     frames that travel through NATS (nats, nats_protocol), to be there sooner
 *   settle   positions that are missing: wait, or void
 *   nodes    who is there, and who was silent for too long
 *   waits    replies that leave when all nodes have heard
 *
 * The database is the truth and the only thing that servers share. It uses store, model and
 * what is below; the rest of the program is reached through the functions of its options.
 *
 * What holds: a frame is told on every node exactly once, in the order of positions, and only
 * if its transaction committed; a transaction that saw or overwrote another's rows has the
 * greater position. docs/CLUSTER.md says what is promised to people. */
#ifndef CLUSTER_CLUSTER_H
#define CLUSTER_CLUSTER_H

#include "base/buf.h"
#include "cluster/frames.h"
#include "store/store.h"

struct cluster;

/* What servers tell each other besides what is in the log: of their sessions
 * (gateway/presence/directory.h), how often callers called (api/limits/limits.h), and what sessions
 * were told (gateway/resume/journal/replica.h). */
enum cluster_topic { CLUSTER_SESSIONS, CLUSTER_COUNTS, CLUSTER_LEDGERS, CLUSTER_TOPICS };

struct cluster_options {
    struct store *store;
    bool alone; /* there are no others: it is for the log, on SQLite */
    const char *version, *address;
    struct str settings; /* a digest of what has to be the same everywhere */
    struct str bus;      /* nats://… or tls://…; empty: the log is polled */
    const char *bus_ca;  /* a file of certificates that NATS servers' are signed by; or NULL */
    unsigned char bus_key[32]; /* who has it may tell us what happened */
    void *arg;
    /* In the order of positions, one after the other, from any thread. */
    void (*announce)(void *arg, int64_t position, const struct announcement *list);
    void (*move)(void *arg, const struct session_move *m); /* of this server's sessions, or to it */
    void (*forget)(void *arg, const struct forgotten *f);
    /* Before what is announced with it; without the claim where it is another server's. */
    void (*voice)(void *arg, const struct voice_fact *fact);
    /* Until then (clock_mono) nothing is unknown here that was revoked elsewhere. */
    void (*fresh)(void *arg, int64_t until);
    /* What others tell (cluster_tell); they can be heard again; who lives, this server included,
     * about once a second; and that it is time to tell what is counted here. */
    void (*told)(void *arg, enum cluster_topic topic, struct str message);
    void (*tell_counts)(void *arg);
    void (*hears)(void *arg);
    void (*living)(void *arg, const uint32_t *identities, size_t count);
    uint64_t (*sessions)(void *arg); /* how many there are, for those who look */
    void (*lost)(void *arg);         /* the log does not reach back to where we were */
};

/* Takes the place of this node and finds where the log stands. Logs a sentence when it
 * cannot. */
enum err cluster_open(const struct cluster_options *options, struct cluster **ret);
/* From now on the log is followed. */
void cluster_start(struct cluster *c);
/* Leaves its place. Nothing may be committed or awaited any more. */
void cluster_close(struct cluster *c); /* accepts NULL */

/* In a transaction that is about to commit: what it tells others. Nothing when nobody has to
 * hear of it later. */
void cluster_log(struct cluster *c, struct tx *tx, struct frame f);
/* It has committed: tells it here, in its turn. From any thread. */
void cluster_committed(struct cluster *c, const struct work *w, struct frame f);
/* The same two for a session that moves. */
void cluster_log_move(struct cluster *c, struct tx *tx, const struct session_move *m);
void cluster_moved(struct cluster *c, const struct work *w, const struct session_move *m);
/* Tells other servers something that is not in the log, if they can be reached now. Messages
 * arrive in the order of the calls, or not at all. */
void cluster_tell(struct cluster *c, enum cluster_topic topic, struct str message);
/* The same for one of them, and not while many bytes wait to be sent: it is for what is numbered,
 * so that who misses it asks for it. */
void cluster_tell_one(struct cluster *c, uint32_t identity, enum cluster_topic topic,
                      struct str message);
/* Bytes that wait to be sent through NATS. */
size_t cluster_unsent(const struct cluster *c);
bool cluster_has_wire(const struct cluster *c);
uint32_t cluster_identity(const struct cluster *c);
bool cluster_is_alone(const struct cluster *c);
/* All before it has been told when the cluster starts. */
int64_t cluster_position(const struct cluster *c);

/* Something that waits until every node has come to a position, or may be taken to have: its
 * post is posted to the loop then. */
struct cluster_wait {
    struct link link;
    int64_t position, since;
    struct loop *loop;
    struct post post;
};
void cluster_await(struct cluster *c, struct cluster_wait *w);

/* This node's place among those that live, from 0, and how many they are: what each may do in
 * another's place is divided so. Others may see it otherwise for a moment. */
void cluster_share(const struct cluster *c, int64_t *ret_rank, int64_t *ret_living);

/* How many servers there are that do not hear at once what the others tell; 1: this one, or all do.
 * For every call: it waits for nobody. */
unsigned cluster_apart(const struct cluster *c);

/* Whether it keeps up, has read every frame of the log, and its clock is right, for /readyz. */
bool cluster_ready(const struct cluster *c);
/* For /metrics, as lines. */
struct cluster_stats {
    int64_t position;
    uint64_t frames_own, frames_read, holes, voids, unreadable, behind_ms, nodes;
    uint64_t frames_heard, frames_refused; /* through NATS */
    int64_t offset_ms; /* by so much at least this clock is ahead of the database's */
    bool has_wire, connected;
};
void cluster_stats(const struct cluster *c, struct cluster_stats *ret);

#endif
