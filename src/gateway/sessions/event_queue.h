/* event_queue.h - the events that wait on a loop, in publishing order (the same on all loops).
 *
 * An event is delivered completely before the next event begins. While the store is read for a
 * session that starts or arrives, no event is delivered (store_reads.h). Per loop iteration,
 * delivery has a time budget (budget.h). */
#ifndef GATEWAY_SESSIONS_EVENT_QUEUE_H
#define GATEWAY_SESSIONS_EVENT_QUEUE_H

#include "gateway/sessions/event_batch.h"
#include "net/loop.h"

struct delayed_events;
struct event_delivery;
struct gateway_loop;
struct unread_entries_read;

struct event_queue {
    /* Batches with events whose delivery has not begun on the loop. */
    struct loop_event_batch *first, **end;
    /* Events that an operator's delay holds back before they are queued; or NULL. */
    struct delayed_events *delays;
    struct loop_event_batch *current; /* batch of the event in progress */
    bool sending;                     /* an event is being delivered */
    /* Delivery of the current event (fanout/); NULL before the first event. */
    struct event_delivery *delivery;
    struct unread_entries_read *reading; /* see fanout/unread_entries.h; usually NULL */
    bool log_is_unreadable;              /* the last attempt of `reading` failed */
    bool processing;
    /* True if a loop iteration has ended with queued events since ordered reads were last begun. */
    bool was_delayed;
    struct loop_message post;
    bool posted;
};

void event_queue_on_batch_posted(struct loop_message *post); /* struct loop_event_batch */
void event_queue_append(struct gateway_loop *h,
                        struct loop_event_batch *p); /* appends a batch to the queue */
/* Removes the first queued event without delivering it. */
void event_queue_remove_first(struct gateway_loop *h);
/* Records that the delivery of all events up to this number has ended. */
void event_queue_record_delivered_number(struct gateway_loop *h, uint64_t number);
/* Inserts a batch before all other batches of one loop. The batch must have an event. */
void event_queue_prepend(struct gateway_loop *h, struct event_batch *b);
/* Returns the number of the last queued event. If the queue is empty, returns the number of the
 * last event whose delivery was started. */
uint64_t event_queue_last_number(const struct gateway_loop *h);
/* Delivers events until the time budget of the loop iteration is spent. Also begins store reads
 * that wait for their position among the events. */
void event_queue_deliver_events(struct gateway_loop *h);
void event_queue_on_continuation_posted(struct loop_message *post);
void event_queue_clear(struct gateway_loop *h);

#endif
