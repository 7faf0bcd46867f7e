/* replica_internal.h - declarations that the files of the replica share. */
#ifndef GATEWAY_RESUME_JOURNAL_REPLICA_INTERNAL_H
#define GATEWAY_RESUME_JOURNAL_REPLICA_INTERNAL_H

#include <pthread.h>

#include "base/links.h"
#include "base/map.h"
#include "base/serial.h"
#include "gateway/resume/journal/replica.h"
#include "gateway/resume/journal/journal_file.h"

/* State of the messages from a hub of a node. */
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
    struct link link; /* in by_age */
    uint64_t number;
    uint32_t identity;   /* owner node */
    int64_t received_ms; /* when the whole session was last received, … */
    unsigned sent_by;    /* … from this hub; … */
    uint64_t began;      /* … the seq at which its node began its journal, … */
    uint64_t gaps;       /* … and the gaps of its hub then */
    bool borrowed;       /* copied from another replica, together with … */
    uint64_t position;   /* … the position of its hub */
    struct journal_slot slot;
};

struct replica {
    pthread_mutex_t lock; /* protects the members below */
    struct map nodes;     /* identity -> struct replica_node */
    struct map sessions;  /* number -> struct replica_session */
    struct link by_age;   /* the same, last received at the end */
    struct map replicas;  /* identity -> itself: nodes that store copies */
    bool full;            /* limit reached, which was logged */
};

/* All functions below need the lock. */

/* --- replica_records.c: sessions and their records ------------------------------------ */

void replica_session_drop(struct replica *k, uint64_t number);
/* The session was received now. */
void replica_session_touch(struct replica *k, struct replica_session *s, int64_t now_ms);
/* NULL: the replica is full. */
struct replica_session *replica_session_make(struct replica *k, uint64_t number, uint32_t identity);
/* NULL: no copy, or the copy is from another node. */
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
