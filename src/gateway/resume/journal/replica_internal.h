/* replica_internal.h - declarations that the files replica*.c share. */
#ifndef GATEWAY_RESUME_JOURNAL_REPLICA_INTERNAL_H
#define GATEWAY_RESUME_JOURNAL_REPLICA_INTERNAL_H

#include <pthread.h>

#include "base/links.h"
#include "base/map.h"
#include "base/serial.h"
#include "gateway/resume/journal/replica.h"
#include "gateway/resume/journal/journal_file.h"

/* State of the replication messages of one loop of another node. */
struct replication_receive_state_of_loop {
    uint64_t messages, position;
    uint64_t gaps; /* number of gaps found so far in the message numbers of this loop */
};

struct replicated_node {
    uint32_t identity;
    int64_t received_ms;
    struct replication_receive_state_of_loop loops[JOURNAL_LOOPS_MAX];
};

struct replicated_session {
    struct list_link link; /* link in replicas.by_age */
    uint64_t number;
    uint32_t identity;   /* owner node */
    int64_t received_ms; /* time at which the whole session was last received, in ms */
    unsigned sent_by;    /* index of the owner's loop that sent the whole session */
    uint64_t began;      /* first seq that the journal of the session's owner has */
    uint64_t gaps;     /* value of replication_receive_state_of_loop.gaps when the whole session was
                          received */
    bool borrowed;     /* another replica sent this copy, not the owner of the session */
    uint64_t position; /* event position of the loop of the session; valid if `borrowed` */
    struct journal_slot slot;
};

struct journal_replicas {
    uint32_t identity;    /* identity of this node */
    pthread_mutex_t lock; /* protects the members below */
    struct map nodes;     /* node identity -> struct replicated_node */
    /* copies sent by the owner: session number -> struct replicated_session */
    struct map sessions;
    /* Copies that another replica sent for a client of this node: session number -> struct
     * replicated_session. They are not in `sessions`, because the copy in `sessions` may come from
     * a former owner that died. */
    struct map borrowed;
    /* All copies of sessions, sorted by the time of receipt; the newest is last. */
    struct list_link by_age;
    struct map replicas; /* identities of nodes that store copies; key and value are equal */
    /* the limit of sessions is reached, which was already logged */
    bool full;
};

/* All functions below must be called with the replica's lock held. */

/* --- replica_records.c: sessions and their records ------------------------------------ */

void replica_session_remove(struct journal_replicas *k,
                            struct replicated_session *s); /* accepts NULL */
/* Records that the whole session was received at the time now_ms. */
void replica_session_set_receipt_time(struct journal_replicas *k, struct replicated_session *s,
                                      int64_t now_ms);
/* Finds the copy of a session in the map `sessions` or `borrowed`. If there is none, or only the
 * copy of another owner, creates a new one. Returns NULL if the replica is full. */
struct replicated_session *replica_session_get_or_create(struct journal_replicas *k, bool borrowed,
                                                         uint64_t number, uint32_t identity);
/* Return the copy of the session that belongs to this owner, or NULL. replica_session_find prefers
 * the copy in `borrowed`, which was stored because it had more events. */
struct replicated_session *replica_session_find(const struct journal_replicas *k, uint64_t number,
                                                uint32_t identity);
struct replicated_session *replica_session_find_in_map(const struct map *copies, uint64_t number,
                                                       uint32_t identity);
void replica_handle_journal_records(struct journal_replicas *k, uint32_t identity,
                                    struct serialized_data_reader *in, struct replica_reply *ret);

/* --- replica_requests.c: requests for copies ------------------------------------------ */

enum journal_find_result replica_session_find_events_after_seq(const struct journal_replicas *k,
                                                               const struct replicated_session *s,
                                                               uint64_t seq, uint64_t *ret_seen);
void replica_handle_session_request(struct journal_replicas *k, uint32_t identity,
                                    struct serialized_data_reader *in, struct replica_reply *ret);
void replica_handle_session_copy_message(struct journal_replicas *k, uint32_t identity,
                                         struct serialized_data_reader *in,
                                         struct replica_reply *ret);
void replica_handle_unknown_session_message(uint32_t identity, struct serialized_data_reader *in,
                                            struct replica_reply *ret);
void replica_handle_refused_session_message(struct journal_replicas *k, uint32_t identity,
                                            struct serialized_data_reader *in,
                                            struct replica_reply *ret);

#endif
