/* hub.h - the gateway's state on one event loop; start here to read the gateway.
 *
 *   gateway   one per process: options, the registry of sessions (registry.h)
 *   hub       one per event loop: its sockets, sessions, topics and event queue
 *   peer      a socket and how messages are sent to it
 *   session   receives events, knows which ones were sent; outlives its sockets
 *   topic     a subject of events and the sessions that subscribe to it (views/topics.h)
 *   seat      the subscription of a session to a topic
 *
 * Only the hub's loop uses its members. Members that belong together have headers of their own.
 * Folder sessions/ uses wire/ and views/; it calls the folders above it through upcalls.h. */
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

/* Written by one loop only, in a cache line of its own: a shared counter would slow down all loops
 * at every dispatch. */
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
    struct link greetings; /* struct greeting */
    struct topics topics;
    struct hub_timers timers;
    struct packer *packer;
    struct arena *arena;                   /* for the message in progress */
    struct buf out;                        /* for messages to send */
    struct event_frame frames[NEWS_FORMS]; /* events sent in this iteration */
    bool framed;                           /* `frames` is in use */
    bool at_once;  /* write messages to the socket at once: fanout/dispatch.c */
    struct buf in; /* for received messages */

    struct event_queue queue;
    uint64_t begun, position; /* numbers of the last event that was begun, and finished */
    struct store_reads reads;
    struct iteration_budget budget;
    struct hub_resume resume;
    struct hub_errands errands;
    struct link unpublished; /* struct session_sync: presence/directory.h */
    struct rosters *rosters; /* member_lists/; NULL before the first list */
    unsigned list_pieces;    /* posted tasks of member lists */
    struct turn_end turn_end;
    struct loop_count *delivered; /* this loop's entry in the gateway's array */
};

struct hub *hub_new(struct gateway *g, struct loop *loop);
void hub_free(struct hub *h);
void hub_turn_end(struct turn_end *t);

static inline void hub_count_delivered(struct hub *h)
{
    uint64_t before = atomic_load_explicit(&h->delivered->n, memory_order_relaxed);

    atomic_store_explicit(&h->delivered->n, before + 1, memory_order_relaxed);
}

/* clock_s, read once per iteration. */
static inline int64_t hub_second(struct hub *h)
{
    if (!h->budget.second)
        h->budget.second = clock_s();
    return h->budget.second;
}

/* Adds ticks; true: events have used up their time in this iteration. */
static inline bool hub_is_spent(struct hub *h, uint32_t ticks)
{
    h->budget.ticks += ticks;
    return h->budget.ticks >= BUDGET_TICKS && budget_check(&h->budget);
}

#endif
