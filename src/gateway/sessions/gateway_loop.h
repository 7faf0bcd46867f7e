/* gateway_loop.h - the gateway's state on one event loop; start here to read the gateway.
 *
 *   gateway              one per process: options, the registry of sessions (registry.h)
 *   gateway_loop         one per event loop: its sockets, sessions, topics and event queue
 *   gateway_socket       a WebSocket and how messages are sent to it
 *   session              receives events, knows which ones were sent; outlives its sockets
 *   topic                an audience of events and the sessions that subscribe to it
 *   topic_subscription   the subscription of a session to a topic (subscriptions/topics.h)
 *
 * Only the loop's thread uses struct gateway_loop. Folder sessions/ uses wire/ and subscriptions/;
 * it calls the folders above it through upcalls.h. */
#ifndef GATEWAY_SESSIONS_GATEWAY_LOOP_H
#define GATEWAY_SESSIONS_GATEWAY_LOOP_H

#include "base/buf.h"
#include "base/links.h"
#include "gateway/resume/journal/loop_resume.h"
#include "gateway/sessions/budget.h"
#include "gateway/sessions/event_queue.h"
#include "gateway/sessions/store_reads.h"
#include "gateway/subscriptions/topics.h"
#include "gateway/wire/frames.h"
#include "net/loop.h"

struct gateway;
struct compressor;
struct member_tables;

/* Number of events that one loop has delivered, padded to a cache line: if loops shared a cache
 * line, every dispatch would be slower. */
struct loop_event_counter {
    _Atomic uint64_t n;
    char rest_of_line[64 - sizeof(uint64_t)];
};

/* Deadlines: of sockets (first line), of sessions (second line), of the loop (third line). */
struct gateway_loop_timers {
    struct deadline_list *hellos, *unauthenticated, *overdue, *dead, *invalidated;
    struct deadline_list *away, *showing_offline, *windows;
    struct deadline_list *cut_off, *log_reads;
    struct deadline
        /* time of the next call of close_sockets_if_node_is_isolated; unused without NATS */
        cut_off_check;
};

/* Sessions whose first task can run its next step now (session_tasks.h). */
struct runnable_session_tasks {
    struct list_link runnable;
    struct loop_message post;
    bool posted;
};

struct gateway_loop {
    struct gateway *gateway;
    struct loop *loop;
    struct list_link peers, sessions;
    struct list_link authentications; /* items: struct gateway_authentication */
    struct topics topics;
    struct gateway_loop_timers timers;
    struct compressor *packer;
    struct arena *arena; /* temporary memory for the message that is being handled */
    struct buf out;      /* buffer for outgoing messages */
    struct shared_event_frame
        frames[PAYLOAD_FORMS]; /* frames that several sockets share, for events of this iteration */
    bool framed;               /* `frames` contains frames of this iteration */
    /* messages are written to the socket immediately (fanout/dispatch.c) */
    bool at_once;
    struct buf in; /* buffer for received messages */

    struct event_queue queue;
    /* Event numbers. begun: last event whose delivery was started. position: last event whose
     * delivery has ended. */
    uint64_t begun, position;
    struct session_store_reads reads;
    struct iteration_time_budget budget;
    struct loop_resume_state resume;
    struct runnable_session_tasks session_tasks;
    struct list_link unpublished; /* items: struct session_cluster_state (presence/directory.h) */
    /* Member lists of this loop (member_lists/); NULL before the first list. */
    struct member_tables *member_tables;
    unsigned list_pieces; /* number of posted member list tasks that have not run yet */
    struct loop_iteration_callback iteration_end;
    struct loop_event_counter *delivered; /* this loop's entry in the gateway's array of counters */
};

struct gateway_loop *gateway_loop_new(struct gateway *g, struct loop *loop);
void gateway_loop_free(struct gateway_loop *h);

static inline void count_delivered_event(struct gateway_loop *h)
{
    uint64_t before = atomic_load_explicit(&h->delivered->n, memory_order_relaxed);

    atomic_store_explicit(&h->delivered->n, before + 1, memory_order_relaxed);
}

/* Returns the current time in seconds, which is read once per loop iteration. */
static inline int64_t gateway_loop_time_s(struct gateway_loop *h)
{
    if (!h->budget.second)
        h->budget.second = clock_s();
    return h->budget.second;
}

/* Counts ticks of work (budget.h). Returns true if the events' time in this iteration is used up.
 */
static inline bool loop_event_time_is_used_up(struct gateway_loop *h, uint32_t ticks)
{
    h->budget.ticks += ticks;
    return h->budget.ticks >= BUDGET_TICKS && iteration_time_budget_is_spent(&h->budget);
}

#endif
