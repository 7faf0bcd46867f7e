/* replay.h - the last dispatches of a session, for when it comes back. */
#ifndef GATEWAY_SESSIONS_REPLAY_H
#define GATEWAY_SESSIONS_REPLAY_H

#include "gateway/wire/news.h"

/* Small, as a busy session has thousands of them. */
struct kept {
    struct news *news;
    uint32_t at_s; /* of this era: until 2106 */
    uint8_t form;
};

/* Some of them, in order. Pages are never copied to grow: ten thousand sessions that hear the
 * same would leave as many holes in the heap. */
struct replay_page {
    struct replay_page *next; /* newer ones */
    uint16_t cap, first, end;
    struct kept items[];
};

/* The last dispatches. The newest has the session's seq. */
struct replay {
    struct replay_page *oldest, *newest;
    uint32_t count;
    uint32_t oldest_s; /* stands here too: adding one does not look at the other end */
    size_t bytes;
};

enum { REPLAY_COUNT = 4096, REPLAY_BYTES = 4 * 1024 * 1024, REPLAY_AGE_S = 600 };
/* A session that is so far behind is cut; the other half is for when it comes back. */
enum { BEHIND_COUNT = REPLAY_COUNT / 2, BEHIND_BYTES = REPLAY_BYTES / 2 };

void replay_add(struct replay *r, struct news *n, unsigned form, int64_t now_s);
void replay_trim(struct replay *r, int64_t now_s);
const struct kept *replay_at(const struct replay *r, uint32_t i); /* 0: the oldest */
void replay_clear(struct replay *r);

/* Asks the processor for the place where the next one goes; there is a page. */
static inline void replay_fetch(const struct replay *r)
{
    __builtin_prefetch(&r->newest->items[r->newest->end], 1);
}

#endif
