/* replica.h - copies of other nodes' journals, for the case that their machine is lost.
 *
 * A journal (journal.h) survives its process, not its machine. So each node sends its journal
 * records through NATS to one other node (replication.h) before clients can have read the events. A
 * copy that lacks the last events is still exact for a client that has not read these events,
 * because they are in the event log. A client that has read more than the copy has must identify
 * again.
 *
 * Messages are numbered per loop. A replica that misses a message reports it to the owner, which
 * then sends each whole session again. Until then, the copy of a session keeps its event position,
 * and a new record is stored only if it directly follows the last record of the copy. A node stores
 * only copies with its own slot layout (JOURNAL_MAGIC), and gets copies only after it has announced
 * that it stores them.
 *
 * A client may connect to any node: a node without a copy sends a request to all others. The
 * command-line option is called --keeper. */
#ifndef GATEWAY_RESUME_JOURNAL_REPLICA_H
#define GATEWAY_RESUME_JOURNAL_REPLICA_H

#include "base/buf.h"
#include "base/map.h"
#include "gateway/resume/journal/journal.h"

struct journal_replicas;

/* Kind of a replication message. After the kind, each message has a node identity: the sender, or
 * the owner of the session. The comments list the fields after these two. */
enum replica_message_kind {
    /* fields: magic number, loop index, message number, event position (0 if unchanged), records */
    REPLICA_RECORDS,
    /* fields: requesting node, session number, seq of the last event that the client read */
    REPLICA_REQUEST,
    /* Field: index of a loop. The sender missed a message: the receiver must send all sessions of
     * this loop again. */
    REPLICA_GAP,
    /* reply. Fields: session number, event position of the loop, magic number, journal slot */
    REPLICA_SESSION,
    /* Reply. Fields: session number, first and last seq of a copy that the client cannot use. */
    REPLICA_REFUSAL,
    REPLICA_HELLO,   /* field: magic number; announces that the sender stores copies of journals */
    REPLICA_UNKNOWN, /* reply. Field: session number; the sender has no copy of this session */
};

/* Kind of a journal record. The session number follows, then the fields listed here. */
enum journal_record_kind {
    /* Fields: number of the last event sent; journal slot without activities; activities. */
    RECORD_WHOLE_SESSION,
    RECORD_SENT_EVENTS, /* last seq, count, event numbers */
    RECORD_SESSION_END,
};

/* Result of handling a message. */
struct replica_reply {
    /* identity of the node to which the reply must be sent; 0 means no reply */
    uint32_t to;
    struct buf bytes;    /* the reply */
    uint64_t number;     /* number of the requested session if the message was a reply, or 0 */
    uint32_t unknown_at; /* node that has replied that it has no copy of the session, or 0 */
    bool hello;          /* the message was REPLICA_HELLO: another node stores copies */
    bool restart; /* the message was REPLICA_GAP: the replica has missed a message of this node */
    unsigned loop_get_index; /* loop of that message */
};

struct journal_replicas *journal_replicas_new(uint32_t identity); /* identity of this node */
void journal_replicas_free(struct journal_replicas *k);           /* accepts NULL */

/* The functions below are thread-safe. */
void replica_handle_message(struct journal_replicas *k, struct str message,
                            struct replica_reply *ret);
void append_replica_request(struct buf *out, uint32_t identity, uint64_t number, uint64_t seq,
                            uint32_t asker);
void append_replica_hello(struct buf *out, uint32_t identity);
/* Finds a copy of the session, for a client that has read up to `seq`. The result is
 * JOURNAL_UNKNOWN (no copy), JOURNAL_SEQ_MISSING, JOURNAL_UNUSABLE or JOURNAL_FOUND. */
enum journal_find_result replica_find_session(struct journal_replicas *k, uint32_t identity,
                                              uint64_t number, uint64_t seq, struct arena *arena,
                                              struct found_journal_session *ret);
/* Returns whether every living node that stores copies is this node, the node `owner`, or one of
 * `identities`. Returns false if no node is known that stores copies. */
bool all_replica_nodes_are_in_set(struct journal_replicas *k, uint32_t owner,
                                  const struct map *identities);
/* Chooses the node that stores the replica of node `me`, among the living nodes that store copies:
 * the next higher identity, or the lowest if there is no higher one; 0 if there is no node. */
uint32_t choose_replica_node(struct journal_replicas *k, uint32_t me, const uint32_t *identities,
                             size_t count);
/* Evicts some of those copies that were not updated for longer than a session can be resumed. */
void journal_replicas_evict_expired(struct journal_replicas *k, int64_t now_ms);
uint64_t replica_session_count(struct journal_replicas *k);

#endif
