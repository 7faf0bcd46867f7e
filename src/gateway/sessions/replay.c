/* replay.c - the last dispatches of a session, for when it comes back. */
#include "gateway/sessions/replay.h"

#include "base/mem.h"

enum { FIRST_CAP = 8 };

const struct kept *replay_at(const struct replay *r, uint32_t i)
{
    return &r->ring[(r->first + i) & (r->cap - 1)];
}

static size_t size_of(const struct kept *k)
{
    return news_payload(k->news).n;
}

static void drop_oldest(struct replay *r)
{
    const struct kept *k = replay_at(r, 0);

    r->bytes -= size_of(k);
    news_unref(k->news);
    r->first = (r->first + 1) & (r->cap - 1);
    r->count--;
    r->oldest_s = r->count ? replay_at(r, 0)->at_s : 0;
}

static void replay_grow(struct replay *r)
{
    uint32_t cap = r->cap ? r->cap * 2 : FIRST_CAP;
    struct kept *ring = mem_resize(NULL, cap * sizeof *ring);

    for (uint32_t i = 0; i < r->count; i++)
        ring[i] = *replay_at(r, i);
    mem_free(r->ring);
    r->ring = ring;
    r->cap = cap;
    r->first = 0;
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
    if (r->count == 0)
        replay_clear(r);
}

void replay_trim(struct replay *r, int64_t now_s)
{
    replay_make_room(r, 0, 0, now_s);
}

/* Old dispatches go before the new one comes, so that the ring never grows beyond its limits. */
void replay_add(struct replay *r, struct news *n, unsigned form, int64_t now_s)
{
    size_t bytes = news_payload(n).n;

    replay_make_room(r, 1, bytes, now_s);
    if (bytes > REPLAY_BYTES)
        return;
    if (r->count == r->cap)
        replay_grow(r);
    if (r->count == 0)
        r->oldest_s = now_s;
    r->ring[(r->first + r->count) & (r->cap - 1)] =
        (struct kept){ news_ref(n), (uint32_t)now_s, (uint8_t)form };
    r->count++;
    r->bytes += bytes;
}

void replay_clear(struct replay *r)
{
    while (r->count)
        drop_oldest(r);
    mem_free(r->ring);
    *r = (struct replay){ 0 };
}
