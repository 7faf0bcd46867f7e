/* unread_entries.c - skips the unread log entries in a loop's event queue, or reads them from the
 * log (unread_entries.h). */
#include "gateway/fanout/unread_entries.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/test_faults.h"
#include "cluster/cluster.h"
#include "gateway/fanout/event_bus.h"
#include "gateway/resume/journal/event_log.h"
#include "gateway/sessions/gateway_loop.h"
#include "gateway/sessions/registry.h"

enum { ENTRIES_PER_READ = 32 };

/* A store read of adjacent unread entries of the queue. It is repeated if it fails. */
struct unread_entries_read {
    struct session_store_read store_read;
    struct deadline deadline; /* time of the next attempt */
    struct gateway_loop *gateway_loop;
    unsigned count;
    struct unread_entry {
        int64_t position;
        uint64_t last, events; /* number of the entry's last event; number of events in the entry */
    } entries[ENTRIES_PER_READ];
    /* Results of the read. */
    struct gateway_event **found;
    size_t found_count, found_cap;
    unsigned replaced; /* number of entries that `found` replaces */
    int64_t missing;   /* position of an entry that the log does not have; 0 if none */
    uint64_t number;   /* number of the event that was decoded most recently */
    uint64_t last_number;
};

static bool loop_has_recipients_of_log_entry(struct gateway_loop *h, uint64_t key)
{
    enum audience_kind kind = log_address_get_kind_of_key(key);
    snowflake id = log_address_get_id_of_key(key);

    return topic_find(&h->topics, kind, id) ||
           (kind == AUDIENCE_GUILD && h->member_tables &&
            guild_has_member_lists(&h->gateway->online_members, id));
}

/* Returns whether a session on this loop may need events of the entry. */
static bool loop_needs_entry(struct gateway_loop *h, const struct gateway_event *n)
{
    if (test_fault_is_enabled(TEST_FAULT_UNREAD_ENTRIES))
        return false;
    for (size_t i = 0; i < n->to.user_count; i++)
        if (loop_has_recipients_of_log_entry(h, n->to.user_ids[i]))
            return true;
    return false;
}

static void discard_found_events(struct unread_entries_read *x)
{
    while (x->found_count)
        gateway_event_unref(x->found[--x->found_count]);
}

static void unread_log_entries_read_free(struct unread_entries_read *x)
{
    deadline_cancel(&x->deadline);
    discard_found_events(x);
    mem_free(x->found);
    mem_free(x);
}

static void add_found_event(void *arg, struct gateway_event *n)
{
    struct unread_entries_read *x = arg;

    if (x->number < x->last_number)
        x->number++;
    n->number = x->number;
    if (x->found_count == x->found_cap) {
        x->found_cap = x->found_cap ? x->found_cap * 2 : 16;
        x->found = mem_resize(x->found, x->found_cap * sizeof *x->found);
    }
    x->found[x->found_count++] = n;
}

/* Decodes the log row of an entry. Returns false if the row is missing or malformed. */
static bool decode_log_entry_events(struct unread_entries_read *x, const struct unread_entry *entry,
                                    const struct list *list, struct arena *arena)
{
    const struct event_log_row *row = list->items, *end = row + list->count;
    struct log_entry frame;

    while (row < end && row->position < entry->position)
        row++;
    if (row == end || row->position > entry->position ||
        !log_entry_decode(row->body, arena, &frame))
        return false;
    x->last_number = entry->last;
    x->number = entry->last - entry->events;
    for_each_announced_event(frame.announced, add_found_event, x);
    return true;
}

/* Decodes the log row of entry i. The entry's last event always gets the entry's last number,
 * because store reads may wait for this number. Entries after the last one with a known event stay
 * in the queue; the next read removes them. */
static bool add_events_of_log_entry(struct unread_entries_read *x, unsigned i,
                                    const struct list *rows, struct arena *arena)
{
    size_t before = x->found_count;

    if (!decode_log_entry_events(x, &x->entries[i], rows, arena))
        return false;
    if (x->found_count > before) {
        x->found[x->found_count - 1]->number = x->entries[i].last;
        x->replaced = i + 1;
    }
    return true;
}

static enum err read_unread_log_entries(struct session_store_read *l, struct tx *tx)
{
    struct unread_entries_read *x = container_of(l, struct unread_entries_read, store_read);
    int64_t first = x->entries[0].position, last = x->entries[x->count - 1].position;
    struct list rows = { 0 };

    /* Discard the results of an earlier run, because the store may run this function again. */
    discard_found_events(x);
    x->missing = 0;
    enum err e = read_event_log_page(tx, first - 1, last, last - first + 1, &rows);
    for (unsigned i = 0; i < x->count && !e && !x->missing; i++)
        if (!add_events_of_log_entry(x, i, &rows, tx_arena(tx)))
            x->missing = x->entries[i].position;
    if (!x->found_count)
        x->replaced = x->count;
    return e;
}

/* Replaces the unread entries at the front of the queue by the events that were read for them. */
static void replace_entries_by_events(struct unread_entries_read *x)
{
    struct gateway_loop *h = x->gateway_loop;
    uint64_t last = x->entries[x->replaced - 1].last;
    struct event_batch *b = x->found_count ? event_batch_new(1, x->found_count) : NULL;

    for (unsigned i = 0; i < x->replaced; i++)
        event_queue_remove_first(h);
    for (size_t i = 0; i < x->found_count; i++)
        event_batch_add(b, x->found[i]);
    x->found_count = 0;
    if (b)
        event_queue_prepend(h, b);
    else
        event_queue_record_delivered_number(h, last);
}

/* Stops this node because a committed log entry has no row. This happens if this process was
 * suspended for longer than the log is retained, or if the database lost its last commits. */
static void stop_because_entry_is_missing(const struct unread_entries_read *x)
{
    log_error("gateway: the event log does not have the entry %lld, which other nodes have "
              "published; this server stops, and clients resume on other nodes",
              (long long)x->missing);
    cluster_stop_after_lost_events(x->gateway_loop->gateway->cluster);
}

static void on_unread_log_entries_read(struct session_store_read *l, enum err e)
{
    struct unread_entries_read *x = container_of(l, struct unread_entries_read, store_read);
    struct gateway_loop *h = x->gateway_loop;

    h->queue.log_is_unreadable = e || x->missing;
    if (e) {
        deadline_restart(h->timers.log_reads, &x->deadline);
        return;
    }
    if (x->missing) {
        stop_because_entry_is_missing(x);
        return;
    }
    h->queue.reading = NULL;
    h->reads.blocking--;
    atomic_fetch_add(&h->gateway->count.unread_entries, x->replaced);
    replace_entries_by_events(x);
    unread_log_entries_read_free(x);
}

static void begin_unread_log_entries_read(struct unread_entries_read *x)
{
    x->store_read = (struct session_store_read){ .run = read_unread_log_entries,
                                                 .done = on_unread_log_entries_read };
    begin_unordered_session_store_read(x->gateway_loop, &x->store_read);
}

/* While the gateway stops, no read begins, because nothing waits for its end. */
void unread_entries_retry(struct deadline *d)
{
    struct unread_entries_read *x = container_of(d, struct unread_entries_read, deadline);

    if (x->gateway_loop->gateway->gateway_loop_count)
        begin_unread_log_entries_read(x);
}

/* Reads the first entry of the queue from the log, together with the following entries, up to the
 * first one that the loop does not need. */
static void begin_reading_entries_of_queue_front(struct gateway_loop *h)
{
    const struct loop_event_batch *p = h->queue.first;
    struct unread_entries_read *x = mem_new(sizeof *x);

    x->gateway_loop = h;
    for (size_t i = p->begun; i < p->batch->count && x->count < ENTRIES_PER_READ; i++) {
        const struct gateway_event *n = p->batch->events[i];

        if (!event_is_unread_log_entry(n) || !loop_needs_entry(h, n))
            break;
        x->entries[x->count++] = (struct unread_entry){
            .position = unread_entry_position(n),
            .last = n->number,
            .events = unread_entry_events(n),
        };
    }
    h->queue.reading = x;
    /* Later events wait until the entries were read, even if a read fails and is repeated. */
    h->reads.blocking++;
    begin_unread_log_entries_read(x);
}

void unread_log_entry_drop_or_begin_read(struct gateway_loop *h)
{
    const struct gateway_event *n = loop_event_batch_get_first_event(h->queue.first);
    uint64_t number = n->number;

    if (loop_needs_entry(h, n)) {
        begin_reading_entries_of_queue_front(h);
        return;
    }
    /* A session that is arriving reads the entry if it needs it (resume/retained_entries.h). */
    retain_event_if_a_session_needs_it(h, loop_event_batch_get_first_event(h->queue.first));
    event_queue_remove_first(h);
    event_queue_record_delivered_number(h, number);
}

void unread_entries_free(struct gateway_loop *h)
{
    if (h->queue.reading)
        unread_log_entries_read_free(h->queue.reading);
    h->queue.reading = NULL;
}
