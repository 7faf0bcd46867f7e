/* event_queue.h - the events that wait on a loop, in publishing order (the same on all loops).
 *
 * An event is delivered completely before the next one begins. Events wait while the store is
 * read for a session that starts or arrives (store_reads.h), and have a time budget (budget.h). */
#ifndef GATEWAY_SESSIONS_EVENT_QUEUE_H
#define GATEWAY_SESSIONS_EVENT_QUEUE_H

#include "gateway/sessions/batch.h"
#include "net/loop.h"

struct delay_line;
struct delivery;
struct hub;

struct event_queue {
    struct parcel *first, **end; /* parcels with events that were not started */
    struct delay_line *delays;   /* events that are delayed before they are queued; or NULL */
    struct parcel *current;      /* parcel of the event in progress */
    bool sending;                /* an event is in progress */
    /* Delivery of the event in progress (fanout/); NULL before the first event. */
    struct delivery *delivery;
    bool pumping;
    bool held_up; /* an iteration ended with queued events since the last ordered reads began */
    struct post post;
    bool posted;
};

void hub_receive(struct post *post);            /* struct parcel */
void hub_take(struct hub *h, struct parcel *p); /* appends a parcel to the queue */
/* Returns the number of the last queued event; if the queue is empty, of the last event that was
 * started. */
uint64_t hub_last_number(const struct hub *h);
/* Delivers events, and begins waiting store reads, until the budget is spent. */
void hub_pump(struct hub *h);
void hub_pump_posted(struct post *post);
/* Drops all queued events. */
void event_queue_clear(struct hub *h);

#endif
