/* replication.h - sends the records of this node's journal to its replica (replica.h).
 *
 * At the end of each loop iteration, before bytes are sent to clients, the replica gets the records
 * of the iteration: 40 bytes for each event and session. Every 10 seconds, and when the replica
 * changes or has missed a message, all sessions are sent completely. Such a full resend is called a
 * round. It is divided into steps, which are spread over these 10 seconds, and pauses while the
 * connection to NATS has a backlog. */
#ifndef GATEWAY_RESUME_JOURNAL_REPLICATION_H
#define GATEWAY_RESUME_JOURNAL_REPLICATION_H

#include "gateway/sessions/gateway_loop.h"
#include "gateway/resume/journal/journal.h"
#include "gateway/sessions/session.h"

/* Journal replication of one loop. */
struct journal_replication_of_loop {
    struct gateway_loop *gateway_loop;
    uint32_t node;     /* identity of the node that has the replica; 0 if none */
    uint64_t messages; /* number of messages sent to the replica so far */
    struct list_link
        unsent;     /* items: struct session_cluster_state, of sessions with unsent records */
    struct buf out; /* records of the next message */
    uint32_t round; /* number of the current full resend (round) */
    unsigned ticks; /* seconds since the last round began */
    bool round_runs;
    /* number of sessions that the current full resend has marked as unsent so far */
    size_t marked;
    size_t round_size;    /* number of sessions that the previous full resend has sent */
    bool restart_due;     /* the replica missed a message, and no full resend has begun since */
    unsigned pause_ticks; /* seconds until the next full resend may begin */
    struct deadline_list *steps;
    struct deadline step; /* time of the next step of the current full resend */
};

/* Creates the replication of one loop; NULL if this node does not replicate its journal. */
struct journal_replication_of_loop *journal_replication_new(struct gateway_loop *h);
void journal_replication_free(struct journal_replication_of_loop *c); /* accepts NULL */

/* The next functions must be called on the session's loop. Without a replica they do nothing. */
void journal_replication_mark_session_unsent(
    struct session *s); /* marks the whole session as unsent */
void journal_replication_send_session_now(
    struct session *s); /* sends the whole session immediately */
void journal_replication_record_session_end(struct session *s);
void journal_replication_send_unsent_records(struct gateway_loop *h);

/* Runs one step of a round: marks some sessions as unsent. Marks none if `unsent`, the bytes
 * waiting for NATS, exceeds ROUND_MAX_UNSENT_BYTES. Returns false if the round is complete. */
bool journal_replication_mark_sessions_to_resend(struct journal_replication_of_loop *c,
                                                 size_t unsent);
/* Returns whether a round must begin. Called once a second, and with `restart` when the replica has
 * missed a message. */
bool journal_replication_must_start_resending(struct journal_replication_of_loop *c, bool restart);

/* journal_replication_on_live_nodes_changed gets the identities of all living nodes, this one
 * included. journal_replication_resend_all_loops and journal_replication_resend_loop are called
 * when messages of all loops or of one loop may be lost. Thread-safe. */
void journal_replication_on_live_nodes_changed(struct gateway *g, const uint32_t *identities,
                                               size_t count);
void journal_replication_resend_all_loops(struct gateway *g);
void journal_replication_resend_loop(struct gateway *g, unsigned hub);

/* Marks that the session has a journal record that was not sent to the replica. */
static inline void journal_replication_mark_records_unsent(struct session *s)
{
    struct journal_replication_of_loop *c = s->gateway_loop->resume.replication;

    if (!c)
        return;
    struct session_cluster_state *sync = session_get_or_create_cluster_state(s);
    if (!sync->unreplicated.next)
        linked_list_append(&c->unsent, &sync->unreplicated);
}

/* Returns whether bytes to clients must wait for the end of the loop iteration, because journal
 * records must be sent to the replica first. */
static inline bool client_output_waits_for_journal_replication(const struct gateway_loop *h)
{
    return h->resume.replication && h->resume.replication->node;
}

/* --- messages to the replica ---------------------------------------------------------- */

void append_replica_message_header(struct buf *out, uint32_t identity, unsigned hub,
                                   uint64_t message, uint64_t position);
/* Appends a record of the whole session. hub_position is the event position of the session's loop,
 * used if it applies to the session. */
void append_whole_session_record(struct buf *out, uint64_t number, const struct journal_slot *slot,
                                 uint64_t hub_position);
/* Appends a record of the event numbers of all dispatches after a seq. Returns false if the journal
 * slot lacks one of these numbers. */
bool append_sent_events_record(struct buf *out, uint64_t number, const struct journal_slot *slot,
                               uint64_t after);
void append_session_end_record(struct buf *out, uint64_t number);

#endif
