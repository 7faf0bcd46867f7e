/* hub.h - the gateway's state on one event loop; start here to read the gateway.
 *
 *   gateway        one per process: options, the registry of sessions (registry.h)
 *   hub            one per event loop: its sockets, sessions, topics and event queue
 *   peer           a WebSocket and how messages are sent to it
 *   session        receives events, knows which ones were sent; outlives its sockets
 *   topic          an audience of events and the sessions that subscribe to it
 *   seat           the subscription of a session to a topic (views/topics.h)
 *
 * Only the loop's thread uses struct hub. Folder sessions/ uses wire/ and views/; it calls the
 * folders above it through upcalls.h. */
#ifndef GATEWAY_SESSIONS_HUB_H
#define GATEWAY_SESSIONS_HUB_H

#include "base/buf.h"
#include "base/links.h"
#include "gateway/resume/journal/hub_resume.h"
#include "gateway/sessions/budget.h"
#include "gateway/sessions/event_queue.h"
#include "gateway/sessions/store_reads.h"
#include "gateway/views/topics.h"
#include "gateway/wire/frames.h"
#include "net/loop.h"

struct gateway;
struct packer;
struct rosters;

/* An event counter that one loop writes, padded to a cache line: a shared counter would slow
 * down all loops at every dispatch. */
struct loop_count {
    _Atomic uint64_t n;
    char rest_of_line[64 - sizeof(uint64_t)];
};

/* Deadlines of sockets (first line) and of sessions (second line). */
struct hub_timers {
    struct deadlines *hellos, *strangers, *overdue, *dead, *invalidated;
    struct deadlines *away, *fading, *windows;
};

/* Sessions whose first task can continue (errands.h). */
struct hub_errands {
    struct link runnable;
    struct post post;
    bool posted;
};

struct hub {
    struct gateway *gateway;
    struct loop *loop;
    struct link peers, sessions;
    struct link greetings; /* items: struct greeting */
    struct topics topics;
    struct hub_timers timers;
    struct packer *packer;
    struct arena *arena;                   /* temporary memory for the message in progress */
    struct buf out;                        /* buffer for messages to send */
    struct event_frame frames[NEWS_FORMS]; /* shared frames of events sent in this iteration */
    bool framed;                           /* `frames` has frames of this iteration */
    bool at_once;  /* write messages to the socket immediately: fanout/dispatch.c */
    struct buf in; /* buffer for received messages */

    struct event_queue queue;
    /* Numbers of the last event that was started, and of the last that was finished. */
    uint64_t begun, position;
    struct store_reads reads;
    struct iteration_budget budget;
    struct hub_resume resume;
    struct hub_errands errands;
    struct link unpublished; /* items: struct session_sync (presence/directory.h) */
    /* Member lists of this loop (member_lists/); NULL before the first list. */
    struct rosters *rosters;
    unsigned list_pieces; /* number of posted member list tasks */
    struct turn_end turn_end;
    struct loop_count *delivered; /* this loop's counter in the gateway's array */
};

struct hub *hub_new(struct gateway *g, struct loop *loop);
void hub_free(struct hub *h);
void hub_turn_end(struct turn_end *t);

static inline void hub_count_delivered(struct hub *h)
{
    uint64_t before = atomic_load_explicit(&h->delivered->n, memory_order_relaxed);

    atomic_store_explicit(&h->delivered->n, before + 1, memory_order_relaxed);
}

/* Returns clock_s, read once per iteration. */
static inline int64_t hub_second(struct hub *h)
{
    if (!h->budget.second)
        h->budget.second = clock_s();
    return h->budget.second;
}

/* Adds ticks. Returns true if events have used up their time in this iteration. */
static inline bool hub_is_spent(struct hub *h, uint32_t ticks)
{
    h->budget.ticks += ticks;
    return h->budget.ticks >= BUDGET_TICKS && budget_check(&h->budget);
}

#endif
