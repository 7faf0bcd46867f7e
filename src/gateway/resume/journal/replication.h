/* replication.h - what sessions here were told, on its way to the server that keeps it
 * (replica.h).
 *
 * At the end of each turn, before its bytes leave for clients, the keeper is told what was noted
 * in the ledger meanwhile: 40 bytes for an event that a session heard. Every few seconds, and when
 * another server becomes the keeper or has missed something, all of each session is told again:
 * some at a time, spread over these seconds, and not while NATS takes less than it is given. */
#ifndef GATEWAY_RESUME_JOURNAL_REPLICATION_H
#define GATEWAY_RESUME_JOURNAL_REPLICATION_H

#include "gateway/sessions/hub.h"
#include "gateway/resume/journal/journal.h"
#include "gateway/sessions/session.h"

/* Of a hub. */
struct ledger_copies {
    struct hub *hub;
    uint32_t keeper;     /* identity; 0: nobody keeps anything */
    uint64_t messages;   /* that it was sent */
    struct link unsent;  /* sessions of which there is something to tell */
    struct buf out;      /* records for the next message */
    uint32_t round;      /* counts the times that all is told */
    unsigned ticks;      /* since the last of them began */
    bool is_going_round; /* it has not ended */
    size_t told;         /* sessions in this round, … */
    size_t round_size;   /* … and in the one before */
    bool is_anew_due;    /* something was missed, and the round that tells it again not begun */
    unsigned rest;       /* ticks until the next such round may begin */
    struct deadlines *steps;
    struct deadline step; /* the next of the round */
};

/* NULL: nobody could keep anything. */
struct ledger_copies *ledger_copies_new(struct hub *h);
void ledger_copies_free(struct ledger_copies *c); /* accepts NULL */

/* The hub is NULL-safe here: without copies nothing happens. On its loop. */
void ledger_copies_mark_whole(struct session *s); /* more has changed than what it was told */
void ledger_copies_write_now(struct session *s);  /* the same, and before anything else is told */
void ledger_copies_end(struct session *s);        /* there is nothing to be kept any more */
void ledger_copies_flush(struct hub *h);

/* A step of a round, while so many bytes wait to be sent: marks some sessions; whether the round
 * goes on. */
bool ledger_copies_step(struct ledger_copies *c, size_t unsent);
/* A second has gone by, or (anew) something was missed: whether a round has to begin. */
bool ledger_copies_is_due(struct ledger_copies *c, bool anew);

/* Who lives, this server included; and that what was told may have been heard by nobody: of all
 * hubs, or of one. From any thread. */
void ledger_copies_nodes_live(struct gateway *g, const uint32_t *identities, size_t count);
void ledger_copies_begin_anew(struct gateway *g);
void ledger_copies_begin_hub_anew(struct gateway *g, unsigned hub);

/* The session was told something more. */
static inline void ledger_copies_mark(struct session *s)
{
    struct ledger_copies *c = s->hub->copies;

    if (!c)
        return;
    struct session_abroad *abroad = session_abroad(s);
    if (!abroad->uncopied.next)
        links_append(&c->unsent, &abroad->uncopied);
}

/* Whether clients must not be sent anything before the end of the turn. */
static inline bool ledger_copies_come_first(const struct hub *h)
{
    return h->copies && h->copies->keeper;
}

/* --- messages ------------------------------------------------------------------------- */

void ledger_copies_write_head(struct buf *out, uint32_t identity, unsigned hub, uint64_t message,
                              uint64_t position);
/* hub_position: of its hub, if that speaks for it. */
void ledger_copies_write_whole(struct buf *out, uint64_t number, const struct ledger_slot *slot,
                               uint64_t hub_position);
/* What it was told after a seq; false: the slot does not know all of that. */
bool ledger_copies_write_told(struct buf *out, uint64_t number, const struct ledger_slot *slot,
                              uint64_t after);
void ledger_copies_write_gone(struct buf *out, uint64_t number);

#endif
