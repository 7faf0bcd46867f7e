/* retained_events.h - events that a loop retains for sessions that move to it. */
#ifndef GATEWAY_RESUME_JOURNAL_RETAINED_EVENTS_H
#define GATEWAY_RESUME_JOURNAL_RETAINED_EVENTS_H

#include "gateway/wire/gateway_event.h"

struct retained_events {
    struct gateway_event **items;
    size_t from, to, cap; /* indexes in items: first event, end */
    /* Number of events dropped so far, which is also the index of the event items[from]. */
    uint64_t dropped;
};

void retained_events_add(struct retained_events *r,
                         struct gateway_event *n); /* adds a reference to the event */
/* Returns the index that the next event will have. */
uint64_t retained_events_end(const struct retained_events *r);
/* Returns the event with this index, or NULL if it is not retained. */
struct gateway_event *retained_event_at(struct retained_events *r, uint64_t index);
/* Returns the index of the first retained event, from `index` on, whose number exceeds `number`. */
uint64_t retained_events_find_after(const struct retained_events *r, uint64_t index,
                                    uint64_t number);
void retained_events_drop_before(struct retained_events *r, uint64_t index);
void retained_events_clear(struct retained_events *r);

#endif
