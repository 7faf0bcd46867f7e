/* event_queue.h - the events that wait on a loop, in publishing order (the same on all loops).
 *
 * An event is finished before the next one begins. Events wait while the store is read for a
 * session that begins or arrives (store_reads.h), and have a time budget (budget.h). */
#ifndef GATEWAY_SESSIONS_EVENT_QUEUE_H
#define GATEWAY_SESSIONS_EVENT_QUEUE_H

#include "gateway/sessions/batch.h"
#include "net/loop.h"

struct delay_line;
struct delivery;
struct hub;

struct event_queue {
    struct parcel *first, **end; /* parcels with events that have not begun */
    struct delay_line *delays;   /* events that are delayed before they come here; or NULL */
    struct parcel *current;      /* parcel of the event in progress */
    bool sending;                /* an event is in progress */
    struct delivery *delivery;   /* event in progress (fanout/); NULL before the first */
    bool pumping;
    bool held_up; /* an iteration ended with queued events since the last reads began */
    struct post post;
    bool posted;
};

void hub_receive(struct post *post);            /* struct parcel */
void hub_take(struct hub *h, struct parcel *p); /* appends to the queue */
/* Number of the last event in the queue; if it is empty, of the last event that was begun. */
uint64_t hub_last_number(const struct hub *h);
/* Processes events, and begins waiting reads, until the budget is spent. */
void hub_pump(struct hub *h);
void hub_pump_posted(struct post *post);
/* Drops all events. */
void event_queue_clear(struct hub *h);

#endif
