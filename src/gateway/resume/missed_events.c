/* missed_events.c - reads the events that a session missed between two processes, in pages.
 *
 * The rows of the event log are decoded on the thread that reads them, off the event loops. If rows
 * are deleted from the log between two pages, an event may be lost, so the session is invalid. */
#include "gateway/resume/missed_events.h"

#include "base/mem.h"
#include "cluster/log_entry.h"
#include "gateway/fanout/event_bus.h"
#include "gateway/resume/journal/event_log.h"

enum {
    LOG_ROWS_PER_PAGE = 256,
    MISSED_POSITIONS_MAX = 20000, /* limit of log positions that are read for one session */
};

struct missed_events missed_events_in_range(uint64_t seen, uint64_t last, bool with_seen)
{
    return (struct missed_events){
        .at = (int64_t)(seen >> EVENT_NUMBER_BITS) - 1,
        .last = (int64_t)(last >> EVENT_NUMBER_BITS),
        .after = seen,
        .last_one = last,
        .with_seen = with_seen,
    };
}

/* The event log need not have the last event that was sent: its row may be deleted already. */
bool missed_events_are_deleted_from_log(const struct missed_events *m, int64_t first)
{
    int64_t needed = m->at + (m->begun ? 1 : 2);

    return first ? first > needed : m->last >= needed;
}

struct missed_events_collector {
    const struct missed_events *missed;
    struct session_transfer *transfer;
    uint64_t number;
};

static void collect_missed_event(void *arg, struct gateway_event *n)
{
    struct missed_events_collector *t = arg;
    const struct missed_events *m = t->missed;
    struct session_transfer *h = t->transfer;

    n->number = ++t->number;
    if ((n->number <= m->after && !m->with_seen) || n->number > m->last_one) {
        gateway_event_unref(n);
        return;
    }
    if (h->missed_count == h->missed_cap) {
        h->missed_cap = h->missed_cap ? h->missed_cap * 2 : 64;
        h->missed = mem_resize(h->missed, h->missed_cap * sizeof *h->missed);
    }
    h->missed[h->missed_count++] = n;
}

/* Decodes the event log rows of a page. Returns false if a row is malformed. */
static bool decode_event_log_rows(struct missed_events_collector *t, const struct list *page)
{
    const struct event_log_row *rows = page->items;
    struct arena *arena = arena_new();
    bool ok = true;

    for (size_t i = 0; i < page->count && ok; i++) {
        struct log_entry frame;

        if (!rows[i].body.n)
            continue;
        arena_reset(arena);
        ok = log_entry_decode(rows[i].body, arena, &frame);
        t->number = (uint64_t)rows[i].position << EVENT_NUMBER_BITS;
        if (ok)
            for_each_announced_event(frame.announced, collect_missed_event, t);
    }
    arena_free(arena);
    return ok;
}

/* Discards the events of the last page, because the store may restart the transaction. */
static void discard_events_of_last_read(struct missed_events *m, struct session_transfer *h)
{
    while (h->missed_count > m->before)
        gateway_event_unref(h->missed[--h->missed_count]);
    m->failed = false;
}

enum err read_missed_events_page(struct missed_events *m, struct session_transfer *h, struct tx *tx)
{
    struct missed_events_collector taker = { .missed = m, .transfer = h };
    struct list page = { 0 };
    int64_t first = 0, end = 0;

    discard_events_of_last_read(m, h);
    enum err e = read_event_log_range(tx, &first, &end);
    if (!e)
        e = read_event_log_page(tx, m->at, m->last, LOG_ROWS_PER_PAGE, &page);
    if (e)
        return e;
    m->failed =
        missed_events_are_deleted_from_log(m, first) || !decode_event_log_rows(&taker, &page);
    m->page_rows = page.count;
    m->page_last =
        page.count ? ((const struct event_log_row *)page.items)[page.count - 1].position : 0;
    return OK;
}

bool missed_events_have_next_page(struct missed_events *m, const struct session_transfer *h)
{
    m->begun = true;
    m->rows += m->page_rows;
    m->failed |= m->rows > MISSED_POSITIONS_MAX;
    if (m->failed || m->page_rows < LOG_ROWS_PER_PAGE)
        return false;
    m->at = m->page_last;
    m->before = h->missed_count;
    return true;
}

bool missed_events_are_complete(const struct missed_events *m)
{
    return !m->failed;
}
