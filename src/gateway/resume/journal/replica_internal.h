/* replica_internal.h - declarations that the files of the replica share. */
#ifndef GATEWAY_RESUME_JOURNAL_REPLICA_INTERNAL_H
#define GATEWAY_RESUME_JOURNAL_REPLICA_INTERNAL_H

#include <pthread.h>

#include "base/links.h"
#include "base/map.h"
#include "base/serial.h"
#include "gateway/resume/journal/replica.h"
#include "gateway/resume/journal/journal_file.h"

/* State of the messages from one loop of a node. */
struct replica_hub {
    uint64_t messages, position;
    uint64_t gaps; /* number of gaps in the messages */
};

struct replica_node {
    uint32_t identity;
    int64_t received_ms;
    struct replica_hub hubs[JOURNAL_HUBS];
};

struct replica_session {
    struct link link; /* in replica.by_age */
    uint64_t number;
    uint32_t identity;   /* owner node */
    int64_t received_ms; /* when the whole session was last received */
    unsigned sent_by;    /* index of the loop that sent the whole session */
    uint64_t began;      /* seq at which the owner node began the session's journal */
    uint64_t gaps;       /* number of gaps of that loop at that time */
    bool borrowed;       /* copied from another replica, with the position below */
    uint64_t position;   /* position of the loop, if borrowed */
    struct journal_slot slot;
};

struct replica {
    pthread_mutex_t lock; /* protects the members below */
    struct map nodes;     /* node identity -> struct replica_node */
    struct map sessions;  /* session number -> struct replica_session */
    struct link by_age;   /* all sessions, last received at the end */
    struct map replicas;  /* set of identities of nodes that store copies */
    bool full;            /* the limit is reached, which was logged */
};

/* All functions below need the lock. */

/* --- replica_records.c: sessions and their records ------------------------------------ */

void replica_session_drop(struct replica *k, uint64_t number);
/* Records that the whole session was received now. */
void replica_session_touch(struct replica *k, struct replica_session *s, int64_t now_ms);
/* Returns NULL if the replica is full. */
struct replica_session *replica_session_make(struct replica *k, uint64_t number, uint32_t identity);
/* Returns NULL if there is no copy, or the copy is from another node. */
struct replica_session *replica_session_find(const struct replica *k, uint64_t number,
                                             uint32_t identity);
void replica_receive_records(struct replica *k, uint32_t identity, struct serial_reader *in,
                             struct replica_reply *ret);

/* --- replica_answers.c: requests for copies ------------------------------------------- */

enum journal_verdict replica_session_judge(const struct replica *k, const struct replica_session *s,
                                           uint64_t seq, uint64_t *ret_seen);
void replica_receive_question(struct replica *k, uint32_t identity, struct serial_reader *in,
                              struct replica_reply *ret);
void replica_receive_answer(struct replica *k, uint32_t identity, struct serial_reader *in,
                            struct replica_reply *ret);
void replica_receive_unfit(struct replica *k, uint32_t identity, struct serial_reader *in,
                           struct replica_reply *ret);

#endif
