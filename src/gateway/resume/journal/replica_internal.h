/* replica_internal.h - what the files of the keeper share. */
#ifndef GATEWAY_RESUME_JOURNAL_REPLICA_INTERNAL_H
#define GATEWAY_RESUME_JOURNAL_REPLICA_INTERNAL_H

#include <pthread.h>

#include "base/links.h"
#include "base/map.h"
#include "base/serial.h"
#include "gateway/resume/journal/replica.h"
#include "gateway/resume/journal/journal_file.h"

/* What was heard of a hub of a server. */
struct kept_hub {
    uint64_t messages, position;
    uint64_t gaps; /* how often a message was missed */
};

struct kept_server {
    uint32_t identity;
    int64_t heard_ms;
    struct kept_hub hubs[LEDGER_HUBS];
};

struct kept_session {
    struct link link; /* in the list of all */
    uint64_t number;
    uint32_t identity; /* of its server */
    int64_t heard_ms;  /* when all of it was told last, … */
    unsigned told_by;  /* … by this hub; … */
    uint64_t began;    /* … the seq at which its server began to note it; … */
    uint64_t gaps;     /* … and of its hub, then */
    bool lent;         /* by another keeper, who said: */
    uint64_t position; /* of its hub */
    struct ledger_slot slot;
};

struct keeper {
    pthread_mutex_t lock; /* of what follows */
    struct map servers;   /* identity -> struct kept_server */
    struct map sessions;  /* number -> struct kept_session */
    struct link by_age;   /* the same: who was told of last stands at the end */
    struct map keepers;   /* identity -> itself: of servers that said that they keep */
    bool full;            /* and that was said */
};

/* All of these with the lock. */

/* --- keeper_copies.c: sessions, and what their servers tell of them --------------------- */

void kept_session_drop(struct keeper *k, uint64_t number);
/* It was told of just now. */
void kept_session_touch(struct keeper *k, struct kept_session *s, int64_t now_ms);
/* NULL: there is no room. */
struct kept_session *kept_session_make(struct keeper *k, uint64_t number, uint32_t identity);
/* A server tells of a session of its own, and of nobody else's. */
struct kept_session *kept_session_find(const struct keeper *k, uint64_t number, uint32_t identity);
void keeper_hear_copies(struct keeper *k, uint32_t identity, struct serial_reader *in,
                        struct keeper_reply *ret);

/* --- keeper_answers.c: sessions that are asked for -------------------------------------- */

enum kept_answer kept_judge(const struct keeper *k, const struct kept_session *s, uint64_t seq,
                            uint64_t *ret_seen);
void keeper_hear_question(struct keeper *k, uint32_t identity, struct serial_reader *in,
                          struct keeper_reply *ret);
void keeper_hear_answer(struct keeper *k, uint32_t identity, struct serial_reader *in,
                        struct keeper_reply *ret);
void keeper_hear_unfit(struct keeper *k, uint32_t identity, struct serial_reader *in,
                       struct keeper_reply *ret);

#endif
