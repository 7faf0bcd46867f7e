/* recent.h - events that a loop retains for sessions that move to it. */
#ifndef GATEWAY_RESUME_JOURNAL_RECENT_H
#define GATEWAY_RESUME_JOURNAL_RECENT_H

#include "gateway/wire/news.h"

struct recent_events {
    struct news **items;
    size_t from, to, cap; /* indexes in items */
    uint64_t dropped;     /* number of dropped events, which is the index of items[from] */
};

void recent_add(struct recent_events *r, struct news *n); /* adds a reference to the event */
/* Returns the index that the next event will have. */
uint64_t recent_end(const struct recent_events *r);
/* Returns NULL if the event is not retained. */
struct news *recent_at(struct recent_events *r, uint64_t index);
/* Returns the first index, from this one on, whose event has a higher number. */
uint64_t recent_after(const struct recent_events *r, uint64_t index, uint64_t number);
/* Drops all events before an index. */
void recent_trim(struct recent_events *r, uint64_t index);
void recent_clear(struct recent_events *r);

#endif
