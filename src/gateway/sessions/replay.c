/* replay.c - the replay buffer: a session's last dispatches, for RESUME. */
#include "gateway/sessions/replay.h"

#include "base/mem.h"

/* Number of entries of the first page; each further page has twice as many, up to LARGEST_PAGE. */
enum { FIRST_PAGE = 8, LARGEST_PAGE = 256 };

static uint32_t replay_page_entry_count(const struct replay_page *page)
{
    return (uint32_t)(page->end - page->first);
}

/* Returns a dispatch of the replay buffer. Checks the newest page first, because most dispatches
 * are read from it. */
const struct replay_entry *replay_buffer_entry_at(const struct replay_buffer *r, uint32_t i)
{
    const struct replay_page *page = r->newest;
    uint32_t before = r->count - replay_page_entry_count(page);

    if (i >= before)
        return &page->items[page->first + i - before];
    for (page = r->oldest; i >= replay_page_entry_count(page); page = page->next)
        i -= replay_page_entry_count(page);
    return &page->items[page->first + i];
}

static size_t replay_entry_size(const struct replay_entry *k)
{
    return gateway_event_get_payload(k->event).n;
}

static void replay_buffer_evict_oldest_entry(struct replay_buffer *r)
{
    struct replay_page *page = r->oldest;
    const struct replay_entry *k = &page->items[page->first++];

    r->bytes -= replay_entry_size(k);
    gateway_event_unref(k->event);
    r->count--;
    if (page->first == page->end) {
        r->oldest = page->next;
        if (!r->oldest)
            r->newest = NULL;
        mem_free(page);
    }
    r->oldest_s = r->count ? r->oldest->items[r->oldest->first].at_s : 0;
}

static void replay_buffer_add_page(struct replay_buffer *r)
{
    uint32_t cap = r->newest ? 2U * r->newest->cap : FIRST_PAGE;
    struct replay_page *page;

    if (cap > LARGEST_PAGE)
        cap = LARGEST_PAGE;
    page = mem_resize(NULL, sizeof *page + cap * sizeof *page->items);
    *page = (struct replay_page){ .cap = (uint16_t)cap };
    if (r->newest)
        r->newest->next = page;
    else
        r->oldest = page;
    r->newest = page;
}

static bool replay_buffer_must_evict(const struct replay_buffer *r, uint32_t more, size_t bytes,
                                     int64_t now_s)
{
    return r->count + more > REPLAY_COUNT || r->bytes + bytes > REPLAY_BYTES ||
           r->oldest_s < now_s - REPLAY_AGE_S;
}

static void replay_buffer_evict_until_entries_fit(struct replay_buffer *r, uint32_t more,
                                                  size_t bytes, int64_t now_s)
{
    while (r->count && replay_buffer_must_evict(r, more, bytes, now_s))
        replay_buffer_evict_oldest_entry(r);
}

void replay_buffer_evict_expired(struct replay_buffer *r, int64_t now_s)
{
    replay_buffer_evict_until_entries_fit(r, 0, 0, now_s);
}

/* Adds an event to the replay buffer. First evicts old entries, so that it stays within its limits.
 */
void replay_buffer_add(struct replay_buffer *r, struct gateway_event *n, unsigned form,
                       int64_t now_s)
{
    size_t bytes = gateway_event_get_payload(n).n;

    replay_buffer_evict_until_entries_fit(r, 1, bytes, now_s);
    if (bytes > REPLAY_BYTES)
        return;
    if (!r->newest || r->newest->end == r->newest->cap)
        replay_buffer_add_page(r);
    if (r->count == 0)
        r->oldest_s = (uint32_t)now_s;
    r->newest->items[r->newest->end++] =
        (struct replay_entry){ gateway_event_ref(n), (uint32_t)now_s, (uint8_t)form };
    r->count++;
    r->bytes += bytes;
}

void replay_buffer_clear(struct replay_buffer *r)
{
    while (r->count)
        replay_buffer_evict_oldest_entry(r);
}
