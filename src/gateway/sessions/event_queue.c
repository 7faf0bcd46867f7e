/* event_queue.c - queues events on a loop and processes them in publishing order. */
#include "gateway/sessions/event_queue.h"

#include "base/mem.h"
#include "base/test_faults.h"
#include "gateway/sessions/delayed_events.h"
#include "gateway/sessions/gateway_loop.h"
#include "gateway/sessions/upcalls.h"
#include "gateway/wire/gateway_event.h"

enum { TICKS_PER_EVENT = 4 }; /* cost of an event without recipients, in budget ticks (budget.h) */

void event_queue_append(struct gateway_loop *h, struct loop_event_batch *p)
{
    *h->queue.end = p;
    h->queue.end = &p->next;
}

void event_queue_on_batch_posted(struct loop_message *post)
{
    struct loop_event_batch *p = container_of(post, struct loop_event_batch, post);
    struct gateway_loop *h = p->gateway_loop;

    if (event_batch_delay_if_needed(h, p))
        return;
    event_queue_append(h, p);
    event_queue_deliver_events(h);
}

uint64_t event_queue_last_number(const struct gateway_loop *h)
{
    if (!h->queue.first)
        return h->begun;
    return loop_batch_last_number(container_of(h->queue.end, struct loop_event_batch, next));
}

/* Releases the batch of the event that was delivered, unless the batch has more events. */
static void release_current_event_batch(struct gateway_loop *h)
{
    if (h->queue.current && loop_event_batch_is_consumed(h->queue.current))
        loop_event_batch_release(h->queue.current);
    h->queue.current = NULL;
}

/* Removes the first batch of the queue if the delivery of all its events was started. Returns
 * whether the batch was removed. */
static bool remove_first_batch_if_consumed(struct gateway_loop *h)
{
    struct loop_event_batch *p = h->queue.first;

    if (!loop_event_batch_is_consumed(p))
        return false;
    h->queue.first = p->next;
    if (!h->queue.first)
        h->queue.end = &h->queue.first;
    return true;
}

void event_queue_remove_first(struct gateway_loop *h)
{
    struct loop_event_batch *p = h->queue.first;

    loop_event_batch_next_event(p);
    if (remove_first_batch_if_consumed(h))
        loop_event_batch_release(p);
}

static void begin_delivery_of_next_event(struct gateway_loop *h)
{
    struct loop_event_batch *p = h->queue.first;
    struct gateway_event *n = loop_event_batch_next_event(p);

    remove_first_batch_if_consumed(h);
    retain_event_if_a_session_needs_it(h, n);
    h->begun = n->number;
    h->queue.current = p;
    h->queue.sending = true;
    gateway_upcalls.event_dispatch_begin(h, n);
    if (h->member_tables)
        gateway_upcalls.lists_on_event(h, n);
}

void event_queue_record_delivered_number(struct gateway_loop *h, uint64_t number)
{
    const struct loop_resume_state *r = &h->resume;

    h->begun = h->position = number;
    if (r->journal_position && !test_fault_is_enabled(TEST_FAULT_EMPTY_JOURNAL))
        atomic_store_explicit(r->journal_position, h->position, memory_order_release);
    if (!linked_list_is_empty(&r->leaving_transfers) || !linked_list_is_empty(&r->releases))
        gateway_upcalls.moves_continue(h);
}

static void continue_delivery_of_current_event(struct gateway_loop *h)
{
    if (!gateway_upcalls.event_dispatch_continue(h))
        return;
    release_current_event_batch(h);
    h->queue.sending = false;
    loop_event_time_is_used_up(h, TICKS_PER_EVENT);
    event_queue_record_delivered_number(h, h->begun);
}

void event_queue_prepend(struct gateway_loop *h, struct event_batch *b)
{
    struct loop_event_batch *p = &b->loop_batches[0];

    p->gateway_loop = h;
    p->next = h->queue.first;
    if (!h->queue.first)
        h->queue.end = &p->next;
    h->queue.first = p;
}

static void post_event_queue_to_loop(struct gateway_loop *h)
{
    if (!h->queue.sending && !h->queue.first && linked_list_is_empty(&h->reads.waiting))
        return;
    h->queue.was_delayed = true;
    h->queue.posted = true;
    loop_post_message(h->loop, &h->queue.post);
}

/* Starts store reads that wait for their position among the events, or continues a delivery.
 * Returns false if there is nothing to do. */
static bool begin_reads_or_deliver_event(struct gateway_loop *h)
{
    if (h->queue.sending) {
        continue_delivery_of_current_event(h);
    } else if ((!h->queue.first || h->queue.was_delayed) &&
               next_ordered_session_store_read_is_due(h)) {
        h->queue.was_delayed = false;
        begin_due_ordered_session_store_reads(h);
    } else if (h->queue.first &&
               event_is_unread_log_entry(loop_event_batch_get_first_event(h->queue.first))) {
        gateway_upcalls.pass_unread_entry(h);
        loop_event_time_is_used_up(h, 1);
    } else if (h->queue.first) {
        begin_delivery_of_next_event(h);
    } else {
        return false;
    }
    return true;
}

void event_queue_deliver_events(struct gateway_loop *h)
{
    if (h->queue.processing || h->queue.posted)
        return;
    h->queue.processing = true;
    loop_set_measured_activity("events");
    while (!h->reads.blocking && !h->budget.spent && begin_reads_or_deliver_event(h))
        ;
    h->queue.processing = false;
    gateway_upcalls.moves_continue(h);
    if (h->budget.spent && !h->reads.blocking)
        post_event_queue_to_loop(h);
}

void event_queue_on_continuation_posted(struct loop_message *post)
{
    struct gateway_loop *h = container_of(post, struct gateway_loop, queue.post);

    h->queue.posted = false;
    event_queue_deliver_events(h);
}

void event_queue_clear(struct gateway_loop *h)
{
    gateway_upcalls.dispatch_drop(h);
    release_current_event_batch(h);
    for (struct loop_event_batch *p = h->queue.first, *next; p; p = next) {
        next = p->next;
        loop_event_batch_release(p);
    }
    h->queue.first = NULL;
    h->queue.end = &h->queue.first;
    delayed_events_discard(h);
    gateway_upcalls.unread_entries_free(h);
    mem_free(h->queue.delivery);
}
