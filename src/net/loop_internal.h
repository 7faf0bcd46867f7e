/* loop_internal.h - state of a loop, shared by loop.c and deadlines.c. */
#ifndef NET_LOOP_INTERNAL_H
#define NET_LOOP_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/stall_meter.h"
#include "net/loop.h"

struct loop {
    uv_loop_t uv;
    uv_async_t wake;
    uv_prepare_t prepare;
    struct loops *all;
    unsigned index;
    pthread_t thread;
    _Atomic(struct loop_message *) messages; /* messages that were posted and not collected yet: a
                                              * lock-free stack, newest first */
    struct loop_message *waiting, *waiting_last; /* messages not run yet, oldest first */
    bool stops;
    struct loop_message stop;
    struct list_link iteration_ends;
    struct list_link ends;
    struct stall_meter meter;

    uv_timer_t timer;  /* timer for the earliest deadline */
    uint64_t timer_at; /* time at which the timer fires, in ms; 0 if the timer is not running */
    struct list_link deadline_lists; /* list of struct deadline_list */
};

void loop_init_deadlines(struct loop *l);
void loop_close_deadlines(struct loop *l);

#endif
