/* loop_internal.h - state of a loop, shared by loop.c and deadlines.c. */
#ifndef NET_LOOP_INTERNAL_H
#define NET_LOOP_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/hold.h"
#include "net/loop.h"

struct loop {
    uv_loop_t uv;
    uv_async_t wake;
    uv_prepare_t turn;
    struct loops *all;
    unsigned index;
    pthread_t thread;
    _Atomic(struct post *) posts;        /* new messages: a lock-free stack, newest first */
    struct post *waiting, *waiting_last; /* messages not run yet, oldest first */
    bool stops;
    struct post stop;
    struct link turn_ends;
    struct link ends;
    struct hold_meter meter;

    uv_timer_t timer;           /* timer for the earliest deadline */
    uint64_t timer_at;          /* when the timer fires; 0: it is not running */
    struct link deadline_lists; /* list of struct deadlines */
};

void deadlines_init_loop(struct loop *l);
void deadlines_close_loop(struct loop *l);

#endif
