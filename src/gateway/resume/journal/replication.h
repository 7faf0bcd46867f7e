/* replication.h - sends the records of this node's journal to its replica (replica.h).
 *
 * At the end of each loop iteration, before bytes are sent to clients, the replica gets the records
 * of the iteration: 40 bytes for each event and session. Every 10 seconds, and when the replica
 * changes or has missed a message, all sessions are sent completely: in steps, spread over these
 * seconds, and not while the connection to NATS has a backlog. */
#ifndef GATEWAY_RESUME_JOURNAL_REPLICATION_H
#define GATEWAY_RESUME_JOURNAL_REPLICATION_H

#include "gateway/sessions/hub.h"
#include "gateway/resume/journal/journal.h"
#include "gateway/sessions/session.h"

/* Each hub has one. */
struct replication {
    struct hub *hub;
    uint32_t node;      /* identity of the replica; 0: none */
    uint64_t messages;  /* sent to it */
    struct link unsent; /* struct session_sync: sessions with unsent records */
    struct buf out;     /* records of the next message */
    uint32_t round;     /* number of the current round, which sends all sessions */
    unsigned ticks;     /* since the last round began */
    bool round_runs;
    size_t marked;     /* sessions in this round, … */
    size_t round_size; /* … and in the one before */
    bool restart_due;  /* a message was missed; the round that repairs it has not begun */
    unsigned rest;     /* ticks until such a round may begin */
    struct deadlines *steps;
    struct deadline step; /* the next step of the round */
};

/* NULL: this node does not replicate. */
struct replication *replication_new(struct hub *h);
void replication_free(struct replication *c); /* accepts NULL */

/* On the loop of the session; no effect without a replica. */
void replication_mark_all(struct session *s); /* the whole session has to be sent */
void replication_send_now(struct session *s); /* the same, at once */
void replication_end_session(struct session *s);
void replication_flush(struct hub *h);

/* One step of a round: marks some sessions, unless too many bytes are unsent in the connection to
 * NATS. False: the round is complete. */
bool replication_step(struct replication *c, size_t unsent);
/* Called once a second, or because a message was missed (restart): whether a round has to begin. */
bool replication_is_due(struct replication *c, bool restart);

/* nodes_live: the living nodes, this one included. restart: messages of all hubs, or of one, may be
 * lost. From any thread. */
void replication_nodes_live(struct gateway *g, const uint32_t *identities, size_t count);
void replication_restart(struct gateway *g);
void replication_restart_hub(struct gateway *g, unsigned hub);

/* The session has an unsent record. */
static inline void replication_mark(struct session *s)
{
    struct replication *c = s->hub->resume.replication;

    if (!c)
        return;
    struct session_sync *sync = session_sync(s);
    if (!sync->unreplicated.next)
        links_append(&c->unsent, &sync->unreplicated);
}

/* Whether bytes to clients must wait for the end of the loop iteration. */
static inline bool replication_comes_first(const struct hub *h)
{
    return h->resume.replication && h->resume.replication->node;
}

/* --- messages ------------------------------------------------------------------------- */

void replication_write_head(struct buf *out, uint32_t identity, unsigned hub, uint64_t message,
                            uint64_t position);
/* hub_position: position of its hub, if it applies to the session. */
void replication_write_all(struct buf *out, uint64_t number, const struct journal_slot *slot,
                           uint64_t hub_position);
/* Writes the event numbers after a seq; false: the slot does not have all of them. */
bool replication_write_sent(struct buf *out, uint64_t number, const struct journal_slot *slot,
                            uint64_t after);
void replication_write_end(struct buf *out, uint64_t number);

#endif
