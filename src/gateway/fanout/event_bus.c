/* event_bus.c - numbers events and posts them to every loop of the process. */
#include <unistd.h>

#include "base/test_faults.h"
#include "cluster/log_address.h"
#include "gateway/fanout/event_bus.h"
#include "gateway/sessions/gateway_loop.h"
#include "gateway/sessions/registry.h"
#include "gateway/wire/gateway_event.h"

enum { UNREAD_ENTRIES_AT_ONCE = 256 };

/* Posts the batch to all loops, also without subscribers. The number of the last event that a loop
 * delivered shows its progress, on which moves of sessions between loops or nodes depend. */
static void post_batch_to_loops(const struct gateway *g, struct event_batch *b)
{
    /* After the last post the loops own the batch of events and may free it. */
    unsigned loops = b->loops;

    for (unsigned i = 0; i < loops; i++) {
        struct loop_event_batch *p = &b->loop_batches[i];

        if (i && test_fault_is_enabled(TEST_FAULT_LATE_LOOPS))
            usleep(1000);
        p->post.run = event_queue_on_batch_posted;
        p->gateway_loop = g->gateway_loops[i];
        loop_post_message(g->gateway_loops[i]->loop, &p->post);
    }
}

/* Posts the batch to the loops. Frees the batch instead if it is empty, or if the gateway has
 * started or stopped its loops since the batch was created. The caller holds the lock. */
static void post_or_free_batch(const struct gateway *g, struct event_batch *b)
{
    if (!b->count || !b->loops || b->loops != g->gateway_loop_count)
        event_batch_free(b);
    else
        post_batch_to_loops(g, b);
}

static void raise_last_event_number(struct gateway *g, uint64_t before)
{
    if (before > g->published)
        g->published = before;
}

/* Returns the number of the next event. In a cluster the numbers of the next log position are never
 * used early: other nodes would give them to other events. */
static uint64_t next_event_number(struct gateway *g)
{
    uint64_t next = g->published + 1;

    if (!g->cluster || next >> EVENT_NUMBER_BITS == g->published >> EVENT_NUMBER_BITS)
        g->published = next;
    return g->published;
}

/* Posts the collected unread entries (unread_entries.h). They get the numbers that their events
 * would have. The caller holds the lock. */
static void post_unread_log_entries(struct gateway *g)
{
    struct event_batch *b = g->unread_entries;

    if (!b)
        return;
    g->unread_entries = NULL;
    for (size_t i = 0; i < b->count; i++) {
        struct gateway_event *n = b->events[i];

        raise_last_event_number(g, (uint64_t)unread_entry_position(n) << EVENT_NUMBER_BITS);
        g->published += unread_entry_events(n);
        n->number = g->published;
    }
    post_or_free_batch(g, b);
}

/* Numbers the events and posts them with the lock held, so that every loop receives them in the
 * same order. Numbers begin after `before` or the last number, whichever is larger. */
static void assign_numbers_and_post_batch(struct gateway *g, struct event_batch *b, uint64_t before)
{
    pthread_mutex_lock(&g->publishing);
    if (b->count) {
        post_unread_log_entries(g);
        raise_last_event_number(g, before);
    }
    for (size_t i = 0; i < b->count; i++)
        b->events[i]->number = next_event_number(g);
    post_or_free_batch(g, b);
    pthread_mutex_unlock(&g->publishing);
}

void gateway_skip_log_position(struct gateway *g, int64_t position,
                               const struct log_entry_address *a)
{
    pthread_mutex_lock(&g->publishing);
    if (!g->unread_entries)
        g->unread_entries = event_batch_new(g->gateway_loop_count, UNREAD_ENTRIES_AT_ONCE);
    event_batch_add(g->unread_entries,
                    unread_log_entry_new(position, a->events, a->keys, a->count));
    if (g->unread_entries->count == UNREAD_ENTRIES_AT_ONCE)
        post_unread_log_entries(g);
    pthread_mutex_unlock(&g->publishing);
}

void gateway_publish_skipped_log_positions(struct gateway *g)
{
    pthread_mutex_lock(&g->publishing);
    post_unread_log_entries(g);
    pthread_mutex_unlock(&g->publishing);
}

void publish_event_to_loops(struct gateway *g, struct gateway_event *n)
{
    struct event_batch *b = event_batch_new(g->gateway_loop_count, 1);

    event_batch_add(b, n);
    assign_numbers_and_post_batch(g, b, 0);
}

/* Calls take() for each event that the announcements produce. An event of a private channel becomes
 * one event per recipient's account: sessions do not subscribe to private channels, because an
 * account may have a hundred thousand of them. */
void for_each_announced_event(const struct emitted_event *list,
                              void (*take)(void *arg, struct gateway_event *n), void *arg)
{
    for (; list; list = list->next) {
        const snowflake *people = list->member_ids.items;

        if (list->to.kind != AUDIENCE_CHANNEL)
            take(arg, gateway_event_from_announcement(list, list->to));
        for (size_t i = 0; i < list->member_ids.count; i++)
            take(arg, gateway_event_from_announcement(
                          list, audience_of_private_channel_member(list->to.id, people[i])));
    }
}

/* Returns an upper bound of the number of events that for_each_announced_event produces. */
static size_t get_maximum_event_count(const struct emitted_event *list)
{
    size_t count = 0;

    for (; list; list = list->next)
        count += 1 + list->member_ids.count;
    return count;
}

static void append_event_to_batch(void *arg, struct gateway_event *n)
{
    event_batch_add(arg, n);
}

/* Publishes the events of one position of the event log. They get consecutive numbers, which are
 * the same on every node. A position without events uses no number, because store reads wait until
 * the event with the last number was delivered. */
void gateway_publish_events_of_log_position(struct gateway *g, int64_t position,
                                            const struct emitted_event *list)
{
    if (!list)
        return;
    struct event_batch *b = event_batch_new(g->gateway_loop_count, get_maximum_event_count(list));

    for_each_announced_event(list, append_event_to_batch, b);
    assign_numbers_and_post_batch(g, b, (uint64_t)position << EVENT_NUMBER_BITS);
}

void gateway_publish_announcements(struct gateway *g, const struct emitted_event *list)
{
    gateway_publish_events_of_log_position(g, 0, list);
}
