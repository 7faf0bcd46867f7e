/* replay.h - the replay buffer: a session's last dispatches, for RESUME. */
#ifndef GATEWAY_SESSIONS_REPLAY_H
#define GATEWAY_SESSIONS_REPLAY_H

#include "gateway/wire/gateway_event.h"

/* A dispatch in the replay buffer. It is small, because a busy session has thousands. */
struct replay_entry {
    struct gateway_event *event;
    uint32_t at_s; /* Unix time in seconds, until 2106 */
    uint8_t form;
};

/* A page of dispatches in the replay buffer. Pages do not move when the buffer grows: reallocation
 * in ten thousand sessions that receive the same events would fragment the heap. */
struct replay_page {
    struct replay_page *next; /* next newer page */
    uint16_t cap, first, end;
    struct replay_entry items[];
};

/* The last dispatches of a session. The newest dispatch has the session's current seq. */
struct replay_buffer {
    struct replay_page *oldest, *newest;
    uint32_t count;
    /* Time of the oldest entry, so that replay_buffer_add need not read the oldest page. */
    uint32_t oldest_s;
    size_t bytes;
};

enum { REPLAY_COUNT = 4096, REPLAY_BYTES = 4 * 1024 * 1024, REPLAY_AGE_S = 600 };
/* A client is disconnected if more than this many events or bytes were not sent to it. The other
 * half of the replay buffer is for events between the disconnect and RESUME. */
enum { BEHIND_COUNT = REPLAY_COUNT / 2, BEHIND_BYTES = REPLAY_BYTES / 2 };

void replay_buffer_add(struct replay_buffer *r, struct gateway_event *n, unsigned form,
                       int64_t now_s);
void replay_buffer_evict_expired(struct replay_buffer *r, int64_t now_s);
const struct replay_entry *replay_buffer_entry_at(const struct replay_buffer *r,
                                                  uint32_t i); /* index 0 is the oldest entry */
void replay_buffer_clear(struct replay_buffer *r);

/* Prefetches the memory of the next entry into the CPU cache. The buffer must have a page. */
static inline void replay_buffer_cpu_prefetch_next_entry(const struct replay_buffer *r)
{
    __builtin_prefetch(&r->newest->items[r->newest->end], 1);
}

#endif
