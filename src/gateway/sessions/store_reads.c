/* store_reads.c - runs store transactions at a defined position among the events of a loop. */
#include "gateway/sessions/store_reads.h"

#include <time.h>

#include "base/mem.h"
#include "base/test_faults.h"
#include "cluster/cluster.h"
#include "gateway/resume/journal/event_log.h"
#include "gateway/sessions/gateway_loop.h"
#include "gateway/sessions/registry.h"
#include "gateway/subscriptions/snapshot_positions.h"

enum {
    ORDERED_READS_AT_ONCE = 8,
    /* Maximum number of log positions recorded per read. Beyond this limit, some events are
     * delivered twice. */
    SNAPSHOT_POSITIONS_MAX = 4096,
};

static void on_session_write_committed(struct work_item *w)
{
    struct session_store_read *l = container_of(w, struct session_store_read, work);

    l->committed(l);
}

static enum err run_session_read(struct work_item *w, struct tx *tx)
{
    struct session_store_read *l = container_of(w, struct session_store_read, work);
    const struct gateway *g = l->gateway_loop->gateway;
    unsigned turn = l->after ? test_fault_sleep_before_read() : 0;

    enum err e = l->run(l, tx);
    if (l->after)
        test_fault_sleep_after_read(turn);

    if (!e && l->blocks_events && g->cluster)
        e = read_event_log_positions(tx, l->delivered_position, SNAPSHOT_POSITIONS_MAX, &l->seen);
    return e;
}

/* Returns whether the read saw a commit whose event is still queued. Called when all events that
 * were published before the read began are in the queue. */
static bool session_read_saw_undelivered_events(const struct session_store_read *l)
{
    const int64_t *seen = l->seen.items;

    return l->gateway_loop->queue.first || l->gateway_loop->queue.sending ||
           (l->seen.count && seen[l->seen.count - 1] > l->passed);
}

static void on_session_read_done(struct work_item *w, enum err e)
{
    struct session_store_read *l = container_of(w, struct session_store_read, work);
    struct gateway_loop *h = l->gateway_loop;
    struct arena *arena = l->arena;

    loop_set_measured_activity("sessions");
    if (l->blocks_events)
        h->reads.blocking--;
    h->reads.seen = snapshot_log_positions_new(&l->seen);
    h->reads.ahead = session_read_saw_undelivered_events(l);
    l->done(l, e);
    snapshot_log_positions_unref(h->reads.seen);
    h->reads.seen = NULL;
    arena_free(arena);
    h->reads.count--;
    event_queue_deliver_events(h);
}

static void begin_session_store_read(struct gateway_loop *h, struct session_store_read *l)
{
    l->gateway_loop = h;
    if (l->blocks_events && h->gateway->cluster)
        gateway_publish_skipped_log_positions(
            h->gateway); /* the snapshot contains these positions */
    l->since = atomic_load(&h->gateway->published);
    l->delivered_position = (int64_t)(h->position >> EVENT_NUMBER_BITS);
    l->seen = (struct list){ 0 };
    if (test_fault_is_enabled(TEST_FAULT_CHECK_VIEWS) && h->gateway->cluster)
        l->passed = cluster_delivered_position(h->gateway->cluster);
    l->arena = arena_new();
    l->work = (struct work_item){
        .mode = l->own_rows ? STORE_APPEND
                : l->writes ? STORE_WRITE
                            : STORE_READ,
        .in_background = l->in_background,
        .owner = l->owner,
        /* an ordered read delays the events of all sessions of the loop */
        .urgent = l->blocks_events,
        .name = "session",
        .loop = h->loop,
        .run = run_session_read,
        .committed = l->committed ? on_session_write_committed : NULL,
        .done = on_session_read_done,
        .arena = l->arena,
    };
    if (l->blocks_events)
        h->reads.blocking++;
    h->reads.count++;
    store_submit_work_item(h->gateway->options.store, &l->work);
}

void begin_unordered_session_store_read(struct gateway_loop *h, struct session_store_read *l)
{
    begin_session_store_read(h, l);
}

void begin_session_store_read_after_event(struct gateway_loop *h, struct session_store_read *l,
                                          uint64_t number)
{
    uint64_t last = event_queue_last_number(h);

    l->blocks_events = true;
    l->after = number > last ? number : last;
    linked_list_append(&h->reads.waiting, &l->link);
    event_queue_deliver_events(h);
}

void begin_ordered_session_store_read(struct gateway_loop *h, struct session_store_read *l)
{
    begin_session_store_read_after_event(h, l, 0);
}

static struct session_store_read *get_first_ordered_session_read(const struct gateway_loop *h)
{
    return container_of(h->reads.waiting.next, struct session_store_read, link);
}

bool next_ordered_session_store_read_is_due(const struct gateway_loop *h)
{
    return !linked_list_is_empty(&h->reads.waiting) &&
           get_first_ordered_session_read(h)->after <= h->position;
}

void begin_due_ordered_session_store_reads(struct gateway_loop *h)
{
    for (int i = 0; i < ORDERED_READS_AT_ONCE && next_ordered_session_store_read_is_due(h); i++) {
        struct session_store_read *l = get_first_ordered_session_read(h);

        linked_list_remove(&l->link);
        begin_session_store_read(h, l);
        if (loop_event_time_is_used_up(h, BUDGET_TICKS))
            return;
    }
}
