/* replica_internal.h - declarations that the files replica*.c share. */
#ifndef GATEWAY_RESUME_JOURNAL_REPLICA_INTERNAL_H
#define GATEWAY_RESUME_JOURNAL_REPLICA_INTERNAL_H

#include <pthread.h>

#include "base/links.h"
#include "base/map.h"
#include "base/serial.h"
#include "gateway/resume/journal/replica.h"
#include "gateway/resume/journal/journal_file.h"

/* State of the messages received from one loop of a node. */
struct replicated_loop_state {
    uint64_t messages, position;
    uint64_t gaps; /* number of gaps in the message numbers */
};

struct replicated_node {
    uint32_t identity;
    int64_t received_ms;
    struct replicated_loop_state loops[JOURNAL_LOOPS_MAX];
};

struct replicated_session {
    struct link link; /* in replica.by_age */
    uint64_t number;
    uint32_t identity;   /* owner node */
    int64_t received_ms; /* when the whole session was last received, in ms */
    unsigned sent_by;    /* index of the loop that sent the whole session */
    uint64_t began;      /* seq at which the owner's journal of the session begins */
    uint64_t gaps;       /* number of gaps of that loop when the whole session was received */
    bool borrowed;       /* another replica sent this copy; then `position` is valid */
    uint64_t position;   /* position of the session's loop, if borrowed */
    struct journal_slot slot;
};

struct journal_replicas {
    uint32_t identity;    /* identity of this node */
    pthread_mutex_t lock; /* protects the members below */
    struct map nodes;     /* node identity -> struct replicated_node */
    struct map sessions;  /* session number -> struct replicated_session, sent by its owner */
    /* Session number -> struct replicated_session that another replica sent for a client of this
     * node. They are separate, because the copy that the owner sent may be of a former owner that
     * died.
     */
    struct map borrowed;
    struct link by_age;  /* list of all sessions, ordered by the time of receipt, newest last */
    struct map replicas; /* identities of nodes that store copies; key and value are equal */
    bool full;           /* the limit of sessions is reached; this was logged */
};

/* All functions below need the replica's lock. */

/* --- replica_records.c: sessions and their records ------------------------------------ */

void replica_session_remove(struct journal_replicas *k,
                            struct replicated_session *s); /* accepts NULL */
/* Records that the whole session was received now. */
void replica_session_record_receipt(struct journal_replicas *k, struct replicated_session *s,
                                    int64_t now_ms);
/* Finds or creates a copy in the map `sessions` or `borrowed`; replaces the copy of another owner.
 * Returns NULL if the replica is full. */
struct replicated_session *replica_session_get_or_create(struct journal_replicas *k, bool borrowed,
                                                         uint64_t number, uint32_t identity);
/* Return NULL if there is no copy of this owner's session. The first function prefers the copy of
 * another replica, which was stored because it had more events. */
struct replicated_session *replica_session_find(const struct journal_replicas *k, uint64_t number,
                                                uint32_t identity);
struct replicated_session *replica_session_find_in_map(const struct map *copies, uint64_t number,
                                                       uint32_t identity);
void replica_handle_records(struct journal_replicas *k, uint32_t identity, struct serial_reader *in,
                            struct replica_reply *ret);

/* --- replica_requests.c: requests for copies ------------------------------------------ */

enum journal_result replica_session_check_seq(const struct journal_replicas *k,
                                              const struct replicated_session *s, uint64_t seq,
                                              uint64_t *ret_seen);
void replica_handle_request(struct journal_replicas *k, uint32_t identity, struct serial_reader *in,
                            struct replica_reply *ret);
void replica_handle_session_copy(struct journal_replicas *k, uint32_t identity,
                                 struct serial_reader *in, struct replica_reply *ret);
void replica_handle_unknown_session(uint32_t identity, struct serial_reader *in,
                                    struct replica_reply *ret);
void replica_handle_refused_session(struct journal_replicas *k, uint32_t identity,
                                    struct serial_reader *in, struct replica_reply *ret);

#endif
