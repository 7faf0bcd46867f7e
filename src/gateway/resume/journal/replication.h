/* replication.h - sends the notes of this node's journal to its replica (replica.h).
 *
 * At the end of each loop iteration, before bytes leave for clients, the replica is sent the notes
 * of the iteration: 40 bytes for each event and session. Every 10 seconds, and when the replica
 * changes or has missed a message, all sessions are sent as a whole: in steps, spread over these
 * seconds, and not while NATS takes less than it is given. */
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
    struct link unsent; /* struct session_sync: sessions with unsent notes */
    struct buf out;     /* records of the next message */
    uint32_t round;     /* counts the rounds in which all sessions are sent */
    unsigned ticks;     /* since the last round began */
    bool round_runs;
    size_t marked;     /* sessions in this round, … */
    size_t round_size; /* … and in the one before */
    bool restart_due;  /* a message was missed, and the round that repairs it has not begun */
    unsigned rest;     /* ticks until the next such round may begin */
    struct deadlines *steps;
    struct deadline step; /* the next of the round */
};

/* NULL: this node has no replica. */
struct replication *replication_new(struct hub *h);
void replication_free(struct replication *c); /* accepts NULL */

/* On the loop of the session; without a replica they do nothing. */
void replication_mark_all(struct session *s); /* the whole session has to be sent */
void replication_send_now(struct session *s); /* the same, before any other record */
void replication_end_session(struct session *s);
void replication_flush(struct hub *h);

/* A step of a round, while `unsent` bytes wait in the connection to NATS: marks some sessions.
 * False: the round is complete. */
bool replication_step(struct replication *c, size_t unsent);
/* Called once a second, or because a message was missed (restart): whether a round has to begin. */
bool replication_is_due(struct replication *c, bool restart);

/* The living nodes, this one included; and that messages of all hubs, or of one, may be lost. From
 * any thread. */
void replication_nodes_live(struct gateway *g, const uint32_t *identities, size_t count);
void replication_restart(struct gateway *g);
void replication_restart_hub(struct gateway *g, unsigned hub);

/* The session has an unsent note. */
static inline void replication_mark(struct session *s)
{
    struct replication *c = s->hub->resume.replication;

    if (!c)
        return;
    struct session_sync *sync = session_sync(s);
    if (!sync->unreplicated.next)
        links_append(&c->unsent, &sync->unreplicated);
}

/* Whether nothing may be sent to clients before the end of the loop iteration. */
static inline bool replication_comes_first(const struct hub *h)
{
    return h->resume.replication && h->resume.replication->node;
}

/* --- messages ------------------------------------------------------------------------- */

void replication_write_head(struct buf *out, uint32_t identity, unsigned hub, uint64_t message,
                            uint64_t position);
/* hub_position: of its hub, if that holds for the session. */
void replication_write_all(struct buf *out, uint64_t number, const struct journal_slot *slot,
                           uint64_t hub_position);
/* The notes after a seq; false: the slot does not have all of them. */
bool replication_write_sent(struct buf *out, uint64_t number, const struct journal_slot *slot,
                            uint64_t after);
void replication_write_end(struct buf *out, uint64_t number);

#endif
