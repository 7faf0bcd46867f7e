/* replica.h - what sessions of other servers were told, kept here in case their machine goes.
 *
 * A ledger (journal.h) outlives its process, not its machine. So each server tells one other, the
 * keeper, through NATS, what it notes there (replication.h), before clients can have read it. A
 * copy that is behind is still exact for every client that has read no more than it knows: whatever
 * was told later is read from the log. One that has read more begins anew.
 *
 * Messages are numbered by hub. After one that was lost the position of the hub counts for no
 * session before all of it is told again, and what is told of a session goes on only where it
 * ended. Who misses one says so. A server keeps only what one with the same layout of slots
 * (LEDGER_MAGIC) tells it, and is told only when it has said that it keeps.
 *
 * A client comes to any server: one that keeps nothing of it asks all of them. */
#ifndef GATEWAY_RESUME_JOURNAL_REPLICA_H
#define GATEWAY_RESUME_JOURNAL_REPLICA_H

#include "base/buf.h"
#include "gateway/resume/journal/journal.h"

struct keeper;

/* A message begins with its kind and an identity: of who sends it, or of the server in question. */
enum keeper_kind {
    KEEPER_COPIES, /* magic, hub, number of the message, position (0: as before); then records */
    KEEPER_ASK,    /* who asks, number of the session, up to which seq its client has read */
    KEEPER_MISSED, /* hub: the server, which is told this, shall tell all of that again */
    KEEPER_ANSWER, /* number of the session, position of its hub; magic, its slot */
    KEEPER_UNFIT,  /* number, first and last seq: it is kept, and is of no use for that client */
    KEEPER_HERE,   /* magic: the server keeps what it is told */
};

/* Of a session, each with its number after the kind. */
enum copy_kind {
    COPY_WHOLE, /* all up to which event it has been told; its slot up to the activities; these */
    COPY_TOLD,  /* the last seq, a count; as many numbers of events */
    COPY_GONE,
};

/* What is to be done about a message that was heard. */
struct keeper_reply {
    uint32_t to;      /* who asked; 0: nobody did */
    struct buf bytes; /* for them */
    uint64_t number;  /* of a session that was asked for and is known now; 0: none */
    bool anew;        /* the keeper has missed something that this server told, … */
    unsigned hub;     /* … of this one */
};

/* Of a session. */
enum kept_answer {
    KEPT_NONE,
    KEPT_SHORT, /* its client has read more than is known, or less; another keeper may know that */
    KEPT_UNFIT, /* nobody can tell its client what it missed */
    KEPT_FOUND,
};

struct keeper *keeper_new(void);
void keeper_free(struct keeper *k); /* accepts NULL */

/* All of these from any thread. */
void keeper_hear(struct keeper *k, struct str message, struct keeper_reply *ret);
void keeper_write_question(struct buf *out, uint32_t identity, uint64_t number, uint64_t seq,
                           uint32_t asker);
void keeper_write_here(struct buf *out, uint32_t identity);
/* A session of a server, whose client has read up to a seq. */
enum kept_answer keeper_find(struct keeper *k, uint32_t identity, uint64_t number, uint64_t seq,
                             struct arena *arena, struct ledger_entry *ret);
/* Of those who live, who shall keep what server `me` tells: the next one after it, in a ring of
 * those who have said that they do; 0: nobody. */
uint32_t keeper_choose(struct keeper *k, uint32_t me, const uint32_t *identities, size_t count);
/* Forgets some of what nobody has told of for longer than a session may be away. */
void keeper_tidy(struct keeper *k, int64_t now_ms);
uint64_t keeper_count(struct keeper *k);

#endif
