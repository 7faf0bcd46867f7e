/* missed_events.c - reads the events that a session missed between two processes, in pages.
 *
 * The rows of the event log are decoded on the thread that reads them, off the event loops. They
 * are decoded once for all sessions of the node (log_page_cache.h): 600 sessions that miss 1,500
 * events each share 12 pages. Rows of guilds and users in which no resuming session is interested
 * are not read. For each session, only the event numbers and audiences are compared with the
 * session's missed range and interest. If rows are deleted from the log between the reads of two
 * pages, an event may be lost, so the session is invalid. */
#include "gateway/resume/missed_events.h"

#include "base/clock.h"
#include "cluster/log_entry.h"
#include "gateway/fanout/event_bus.h"
#include "gateway/resume/journal/event_log.h"
#include "gateway/resume/log_page_cache.h"
#include "gateway/sessions/registry.h"

/* Maximum number of log positions that are read for one session. */
enum { MISSED_POSITIONS_MAX = 20000 };

struct missed_event_range missed_event_range_init(uint64_t seen, uint64_t last, bool with_seen)
{
    return (struct missed_event_range){
        .at = (int64_t)(seen >> EVENT_NUMBER_BITS) - 1,
        .first = (int64_t)(seen >> EVENT_NUMBER_BITS) - 1,
        .last = (int64_t)(last >> EVENT_NUMBER_BITS),
        .after = seen,
        .last_one = last,
        .with_seen = with_seen,
    };
}

/* Returns whether the log, whose first position is `first`, no longer has all missed events. The
 * last event that was sent may be deleted, because only later events are needed. */
bool missed_events_are_deleted_from_log(const struct missed_event_range *m, int64_t first)
{
    int64_t needed = m->at + (m->begun ? 1 : 2);

    return first ? first > needed : m->last >= needed;
}

struct missed_events_collector {
    const struct missed_event_range *missed;
    struct session_transfer *transfer;
};

/* Callback for each event of a log page: adds the event if it is in the missed range. */
static void collect_missed_event(void *arg, struct gateway_event *n)
{
    struct missed_events_collector *t = arg;
    const struct missed_event_range *m = t->missed;
    int64_t position = (int64_t)(n->number >> EVENT_NUMBER_BITS);

    if (position <= m->at || (n->number <= m->after && !m->with_seen) || n->number > m->last_one)
        return;
    event_list_add(&t->transfer->missed, n);
}

struct page_decoder {
    struct event_log_page *page;
    uint64_t number;
};

static void add_decoded_event(void *arg, struct gateway_event *n)
{
    struct page_decoder *d = arg;

    n->number = ++d->number;
    event_log_page_add_event(d->page, n);
}

/* Adds an unread entry in place of a row that was not read. Returns false if it is malformed. */
static bool add_unread_entry(const struct event_log_row *row, struct event_log_page *ret)
{
    struct log_entry_address a;

    if (!log_recipients_decode(row->recipients, &a))
        return false;
    struct gateway_event *n = unread_log_entry_new(row->position, a.events, a.keys, a.count);
    n->number = ((uint64_t)row->position << EVENT_NUMBER_BITS) + a.events;
    event_log_page_add_event(ret, n);
    return true;
}

/* Decodes event log rows. Returns false if a row is malformed. */
static bool decode_event_log_rows(const struct list *list, struct event_log_page *ret)
{
    const struct event_log_row *rows = list->items;
    struct page_decoder decoder = { .page = ret };
    struct arena *arena = arena_new();
    bool ok = true;

    for (size_t i = 0; i < list->count && ok; i++) {
        struct log_entry frame;

        if (!rows[i].body.n) { /* the transaction was aborted, or the row was not read */
            ok = !rows[i].recipients.n || add_unread_entry(&rows[i], ret);
            continue;
        }
        arena_reset(arena);
        ok = log_entry_decode(rows[i].body, arena, &frame);
        decoder.number = (uint64_t)rows[i].position << EVENT_NUMBER_BITS;
        if (ok)
            for_each_announced_event(frame.announced, add_decoded_event, &decoder);
    }
    arena_free(arena);
    return ok;
}

/* Discards the events of the last page read, because the store may restart the transaction. */
static void discard_events_of_last_read(struct missed_event_range *m, struct session_transfer *h)
{
    event_list_truncate(&h->missed, m->before);
    m->failed = false;
}

static int64_t page_of_position(int64_t position)
{
    return position / LOG_PAGE_POSITIONS;
}

/* Returns the last position of the range in the page. */
static int64_t last_position_in_page(const struct missed_event_range *m, int64_t page)
{
    int64_t last = (page + 1) * LOG_PAGE_POSITIONS - 1;

    return last < m->last ? last : m->last;
}

/* Adds the events of cached pages. Returns false if the next page is not cached. */
static bool read_cached_pages(struct missed_event_range *m, struct missed_events_collector *t,
                              struct log_page_cache *cache)
{
    int64_t now_ms = clock_steady_ms();
    struct log_part_set unread;

    m->page_last = m->at;
    while (m->page_last < m->last) {
        int64_t page = page_of_position(m->page_last + 1), last = last_position_in_page(m, page);

        if (event_log_page_cache_visit_events(cache, page, m->page_last, last, m->interest, now_ms,
                                              collect_missed_event, t, &unread) != LOG_PAGE_VISITED)
            break;
        m->page_last = last;
    }
    return m->page_last > m->at;
}

static size_t count_read_rows(const struct list *list)
{
    const struct event_log_row *rows = list->items;
    size_t count = 0;

    for (size_t i = 0; i < list->count; i++)
        count += rows[i].body.n > 0;
    return count;
}

/* Reads and decodes the log rows of these parts after `after`, up to `last`, which are in one page.
 * *ret is NULL if a row is malformed. */
static enum err read_decoded_page(struct gateway *g, struct tx *tx, int64_t after, int64_t last,
                                  const struct log_part_set *parts, struct event_log_page **ret,
                                  struct list *ret_rows)
{
    *ret = NULL;
    *ret_rows = (struct list){ 0 };
    enum err e = read_event_log_page_of_parts(
        tx, after, last, LOG_PAGE_POSITIONS,
        str_slice((const char *)parts->bits, sizeof parts->bits), ret_rows);
    if (e)
        return e;
    atomic_fetch_add(&g->count.missed_log_rows, count_read_rows(ret_rows));
    struct event_log_page *page = event_log_page_new(page_of_position(last), after, last);
    if (decode_event_log_rows(ret_rows, page))
        *ret = page;
    else
        event_log_page_free(page);
    return OK;
}

/* Returns the first position of a page. Positions begin at 1. */
static int64_t first_position_of_page(int64_t page)
{
    return page ? page * LOG_PAGE_POSITIONS : 1;
}

/* Does nothing: the events are read later. */
static void skip_event(void *arg, struct gateway_event *n)
{
    (void)arg, (void)n;
}

/* Reads the rows of a page up to `last` that a session needs and that are not in the cache yet, and
 * caches them. `last` must have been delivered on this node. The page is not cached if a row is
 * malformed. */
static enum err read_page_into_cache(struct gateway *g, struct tx *tx, int64_t last,
                                     const struct session_interest *interest)
{
    int64_t page = page_of_position(last), before = first_position_of_page(page) - 1;
    int64_t cached = event_log_page_cache_last_position(g->log_pages, page);
    struct log_part_set parts = interest->parts;
    struct event_log_page *read;
    struct list rows;

    if (cached > before) {
        int64_t end = cached < last ? cached : last;
        bool complete = event_log_page_cache_visit_events(g->log_pages, page, before, end, interest,
                                                          clock_steady_ms(), skip_event, NULL,
                                                          &parts) == LOG_PAGE_VISITED;
        if (complete && cached >= last)
            return OK;
        if (complete)
            before = cached;
        if (cached < last)
            parts = interest->parts;
    }
    enum err e = read_decoded_page(g, tx, before, last, &parts, &read, &rows);
    if (!e && read)
        event_log_page_cache_insert(g->log_pages, read, clock_steady_ms());
    return e;
}

enum err read_missed_events_page(struct missed_event_range *m, struct session_transfer *h,
                                 struct tx *tx)
{
    struct missed_events_collector taker = { .missed = m, .transfer = h };
    struct log_page_cache *cache = h->to->gateway->log_pages;
    int64_t number = page_of_position(m->at + 1);
    struct event_log_page *page = NULL;
    struct list rows;
    int64_t first = 0, end = 0;

    discard_events_of_last_read(m, h);
    if (read_cached_pages(m, &taker, cache))
        return OK;
    enum err e = read_event_log_range(tx, &first, &end);
    m->page_last = last_position_in_page(m, number);
    int64_t page_first = first_position_of_page(number);
    bool whole = first && first <= page_first && m->page_last <= m->settled;
    bool deleted = missed_events_are_deleted_from_log(m, first);
    if (!e && whole && !deleted)
        e = read_page_into_cache(h->to->gateway, tx, m->page_last, m->interest);
    if (!e && whole && !deleted && read_cached_pages(m, &taker, cache))
        return OK;
    m->page_last = last_position_in_page(m, number);
    if (!e)
        e = read_decoded_page(h->to->gateway, tx, m->at, m->page_last, &m->interest->parts, &page,
                              &rows);
    if (e)
        return e;
    m->failed = deleted || !page;
    if (page)
        event_log_page_visit_events(page, m->at, m->page_last, m->interest, collect_missed_event,
                                    &taker);
    event_log_page_free(page);
    return OK;
}

static bool rows_include_position(const struct list *list, int64_t position)
{
    const struct event_log_row *rows = list->items;

    for (size_t i = 0; i < list->count; i++)
        if (rows[i].position == position && rows[i].body.n)
            return true;
    return false;
}

enum err read_events_of_log_position(struct gateway *g, struct tx *tx, int64_t position,
                                     int64_t settled, const struct session_interest *interest,
                                     void (*take)(void *arg, struct gateway_event *n), void *arg,
                                     bool *ret_found)
{
    int64_t number = page_of_position(position), page_end = (number + 1) * LOG_PAGE_POSITIONS - 1;
    int64_t first = 0, end = 0;
    struct event_log_page *page = NULL;
    struct log_part_set unread;
    struct list rows;

    *ret_found = true;
    if (event_log_page_cache_visit_events(g->log_pages, number, position - 1, position, interest,
                                          clock_steady_ms(), take, arg,
                                          &unread) == LOG_PAGE_VISITED)
        return OK;
    enum err e = read_event_log_range(tx, &first, &end);
    if (!e && first && first <= first_position_of_page(number))
        e = read_page_into_cache(g, tx, page_end < settled ? page_end : settled, interest);
    if (!e && event_log_page_cache_visit_events(g->log_pages, number, position - 1, position,
                                                interest, clock_steady_ms(), take, arg,
                                                &unread) == LOG_PAGE_VISITED)
        return OK;
    if (!e)
        e = read_decoded_page(g, tx, position - 1, position, &interest->parts, &page, &rows);
    if (e)
        return e;
    *ret_found = page && rows_include_position(&rows, position);
    if (page)
        event_log_page_visit_events(page, position - 1, position, interest, take, arg);
    event_log_page_free(page);
    return OK;
}

bool missed_events_have_next_page(struct missed_event_range *m, const struct session_transfer *h)
{
    m->begun = true;
    m->failed |= m->page_last - m->first > MISSED_POSITIONS_MAX;
    if (m->failed || m->page_last >= m->last)
        return false;
    m->at = m->page_last;
    m->before = h->missed.count;
    return true;
}

bool missed_events_are_complete(const struct missed_event_range *m)
{
    return !m->failed;
}
