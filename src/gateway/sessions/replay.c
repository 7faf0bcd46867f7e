/* replay.c - the replay buffer: a session's last dispatches, for RESUME. */
#include "gateway/sessions/replay.h"

#include "base/mem.h"

enum { FIRST_PAGE = 8, LARGEST_PAGE = 256 }; /* page sizes double up to the largest */

static uint32_t page_count(const struct replay_page *page)
{
    return (uint32_t)(page->end - page->first);
}

/* Most lookups are in the newest page, so it is checked first. */
const struct kept *replay_at(const struct replay *r, uint32_t i)
{
    const struct replay_page *page = r->newest;
    uint32_t before = r->count - page_count(page);

    if (i >= before)
        return &page->items[page->first + i - before];
    for (page = r->oldest; i >= page_count(page); page = page->next)
        i -= page_count(page);
    return &page->items[page->first + i];
}

static size_t size_of(const struct kept *k)
{
    return news_payload(k->news).n;
}

static void drop_oldest(struct replay *r)
{
    struct replay_page *page = r->oldest;
    const struct kept *k = &page->items[page->first++];

    r->bytes -= size_of(k);
    news_unref(k->news);
    r->count--;
    if (page->first == page->end) {
        r->oldest = page->next;
        if (!r->oldest)
            r->newest = NULL;
        mem_free(page);
    }
    r->oldest_s = r->count ? r->oldest->items[r->oldest->first].at_s : 0;
}

static void replay_grow(struct replay *r)
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

static bool is_full(const struct replay *r, uint32_t more, size_t bytes, int64_t now_s)
{
    return r->count + more > REPLAY_COUNT || r->bytes + bytes > REPLAY_BYTES ||
           r->oldest_s < now_s - REPLAY_AGE_S;
}

static void replay_make_room(struct replay *r, uint32_t more, size_t bytes, int64_t now_s)
{
    while (r->count && is_full(r, more, bytes, now_s))
        drop_oldest(r);
}

void replay_trim(struct replay *r, int64_t now_s)
{
    replay_make_room(r, 0, 0, now_s);
}

/* Evicts old entries before adding, so that the buffer never exceeds its limits. */
void replay_add(struct replay *r, struct news *n, unsigned form, int64_t now_s)
{
    size_t bytes = news_payload(n).n;

    replay_make_room(r, 1, bytes, now_s);
    if (bytes > REPLAY_BYTES)
        return;
    if (!r->newest || r->newest->end == r->newest->cap)
        replay_grow(r);
    if (r->count == 0)
        r->oldest_s = (uint32_t)now_s;
    r->newest->items[r->newest->end++] =
        (struct kept){ news_ref(n), (uint32_t)now_s, (uint8_t)form };
    r->count++;
    r->bytes += bytes;
}

void replay_clear(struct replay *r)
{
    while (r->count)
        drop_oldest(r);
}
