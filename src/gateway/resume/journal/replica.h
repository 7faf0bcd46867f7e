/* replica.h - copies of other nodes' journals, for the case that their machine is lost.
 *
 * A journal (journal.h) survives its process, not its machine. So each node sends its notes through
 * NATS to one other node (replication.h) before clients can have read the events. A copy that is
 * behind is still exact for each client that has read no more than it knows, because later events
 * are in the log. A client that has read more identifies again.
 *
 * Messages are numbered by hub. After a lost message the position of the hub holds for no session
 * until the whole session is sent again, and notes of a session continue only where they ended. A
 * replica that misses a message reports it. A node stores only copies with its own layout of slots
 * (JOURNAL_MAGIC), and gets copies only after it has announced that it stores them.
 *
 * A client may come to any node: a node without a copy asks all others. The option is called
 * --keeper. */
#ifndef GATEWAY_RESUME_JOURNAL_REPLICA_H
#define GATEWAY_RESUME_JOURNAL_REPLICA_H

#include "base/buf.h"
#include "gateway/resume/journal/journal.h"

struct replica;

/* A message begins with its kind and an identity: of its sender, or of the node in question. */
enum replica_message {
    REPLICA_RECORDS, /* magic, hub, number of the message, position (0: unchanged); then records */
    REPLICA_ASK,     /* the asking node, number of the session, last seq that its client has read */
    REPLICA_MISSED,  /* hub: the receiver shall send all sessions of it again */
    REPLICA_ANSWER,  /* number of the session, position of its hub; magic, its slot */
    REPLICA_REFUSAL, /* number, first and last seq: the copy is of no use for that client */
    REPLICA_HELLO,   /* magic: the sender stores copies */
};

/* Records of a session; its number follows the kind. */
enum record_kind {
    RECORD_ALL,  /* the last event that it has got; its slot up to the activities; the activities */
    RECORD_SENT, /* the last seq, a count; as many numbers of events */
    RECORD_END,
};

/* The effect of a received message. */
struct replica_reply {
    uint32_t to;      /* the node that gets a reply; 0: none */
    struct buf bytes; /* the reply */
    uint64_t number;  /* of a session that was requested and is known now; 0: none */
    bool restart;     /* the replica has missed a message of this node, … */
    unsigned hub;     /* … of this hub */
};

struct replica *replica_new(void);
void replica_free(struct replica *k); /* accepts NULL */

/* All functions below: from any thread. */
void replica_receive(struct replica *k, struct str message, struct replica_reply *ret);
void replica_write_question(struct buf *out, uint32_t identity, uint64_t number, uint64_t seq,
                            uint32_t asker);
void replica_write_hello(struct buf *out, uint32_t identity);
/* Finds a session of a node, whose client has read up to a seq: JOURNAL_UNKNOWN (no copy), _SHORT,
 * _UNFIT or _FOUND. */
enum journal_verdict replica_find(struct replica *k, uint32_t identity, uint64_t number,
                                  uint64_t seq, struct arena *arena, struct journal_entry *ret);
/* Chooses the replica of node `me`: the next one in the ring of living nodes that store copies;
 * 0: none. */
uint32_t replica_choose(struct replica *k, uint32_t me, const uint32_t *identities, size_t count);
/* Drops some copies that were not updated for longer than a session can be resumed. */
void replica_prune(struct replica *k, int64_t now_ms);
uint64_t replica_count(struct replica *k);

#endif
