/* missed.c - reads the events that a session missed between two processes from the log, in
 * pages.
 *
 * The rows are decoded on the thread that reads them, off the event loops. If the log is trimmed
 * between two pages, an event may be lost, so the session is invalid. */
#include "gateway/resume/missed.h"

#include "base/mem.h"
#include "cluster/frames.h"
#include "gateway/fanout/bus.h"
#include "gateway/resume/journal/event_log.h"

enum {
    PAGE_ROWS = 256,
    MOST_MISSED = 20000, /* limit of log positions that are read for one session */
};

struct missed_events missed_between(uint64_t seen, uint64_t last, bool with_seen)
{
    return (struct missed_events){
        .at = (int64_t)(seen >> NUMBERS_OF_POSITION) - 1,
        .last = (int64_t)(last >> NUMBERS_OF_POSITION),
        .after = seen,
        .last_one = last,
        .with_seen = with_seen,
    };
}

/* The position of the last event that was sent may be trimmed. */
bool missed_is_cut(const struct missed_events *m, int64_t first)
{
    int64_t needed = m->at + (m->begun ? 1 : 2);

    return first ? first > needed : m->last >= needed;
}

struct missed_taker {
    const struct missed_events *missed;
    struct handover *handover;
    uint64_t number;
};

static void missed_take(void *arg, struct news *n)
{
    struct missed_taker *t = arg;
    const struct missed_events *m = t->missed;
    struct handover *h = t->handover;

    n->number = ++t->number;
    if ((n->number <= m->after && !m->with_seen) || n->number > m->last_one) {
        news_unref(n);
        return;
    }
    if (h->missed_count == h->missed_cap) {
        h->missed_cap = h->missed_cap ? h->missed_cap * 2 : 64;
        h->missed = mem_resize(h->missed, h->missed_cap * sizeof *h->missed);
    }
    h->missed[h->missed_count++] = n;
}

/* Returns false if a row is malformed. */
static bool missed_unpack(struct missed_taker *t, const struct list *page)
{
    const struct log_row *rows = page->items;
    struct arena *arena = arena_new();
    bool ok = true;

    for (size_t i = 0; i < page->count && ok; i++) {
        struct frame frame;

        if (!rows[i].body.n)
            continue;
        arena_reset(arena);
        ok = frame_decode(rows[i].body, arena, &frame);
        t->number = (uint64_t)rows[i].position << NUMBERS_OF_POSITION;
        if (ok)
            news_each(frame.announced, missed_take, t);
    }
    arena_free(arena);
    return ok;
}

/* Discards the events of the page, because the store may restart the transaction. */
static void page_discard(struct missed_events *m, struct handover *h)
{
    while (h->missed_count > m->before)
        news_unref(h->missed[--h->missed_count]);
    m->failed = false;
}

enum err missed_read_page(struct missed_events *m, struct handover *h, struct tx *tx)
{
    struct missed_taker taker = { .missed = m, .handover = h };
    struct list page = { 0 };
    int64_t first = 0, end = 0;

    page_discard(m, h);
    enum err e = event_log_range(tx, &first, &end);
    if (!e)
        e = event_log_page(tx, m->at, m->last, PAGE_ROWS, &page);
    if (e)
        return e;
    m->failed = missed_is_cut(m, first) || !missed_unpack(&taker, &page);
    m->page_rows = page.count;
    m->page_last = page.count ? ((const struct log_row *)page.items)[page.count - 1].position : 0;
    return OK;
}

bool missed_goes_on(struct missed_events *m, const struct handover *h)
{
    m->begun = true;
    m->rows += m->page_rows;
    m->failed |= m->rows > MOST_MISSED;
    if (m->failed || m->page_rows < PAGE_ROWS)
        return false;
    m->at = m->page_last;
    m->before = h->missed_count;
    return true;
}

bool missed_is_whole(const struct missed_events *m)
{
    return !m->failed;
}
