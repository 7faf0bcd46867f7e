/* missed_events.h - reads the events that a session missed between two processes, in pages. */
#ifndef GATEWAY_RESUME_MISSED_EVENTS_H
#define GATEWAY_RESUME_MISSED_EVENTS_H

#include "gateway/resume/session_transfer.h"

/* A range of the event log, and the state of reading it. */
struct missed_event_range {
    int64_t at, last; /* log positions: last one read, last one to read */
    int64_t first;    /* initial value of `at` */
    int64_t settled;  /* positions up to this one were delivered here, so no row can appear there */
    uint64_t after, last_one; /* event numbers: greater than `after`, up to `last_one` */
    bool with_seen; /* also read events that were sent before, for recovered_session_can_continue */
    bool begun, failed;
    int64_t page_last; /* last log position of the last page of the event log that was read */
    size_t before;     /* number of events in the pages before the last one */
};

struct missed_event_range missed_events_range_init(uint64_t seen, uint64_t last, bool with_seen);
/* Returns whether some of the range was already deleted from the event log. `first` is the log's
 * first position; 0 means that the log is empty. */
bool missed_events_are_deleted_from_log(const struct missed_event_range *m, int64_t first);
/* Adds the events of one page to h->missed. Runs in a read transaction, on any thread. */
enum err read_missed_events_page(struct missed_event_range *m, struct session_transfer *h,
                                 struct tx *tx);
/* missed_events_have_next_page returns, after a page, whether another page follows.
 * missed_events_are_complete returns, at the end, whether the event log had all events. */
bool missed_events_have_next_page(struct missed_event_range *m, const struct session_transfer *h);
bool missed_events_are_complete(const struct missed_event_range *m);

#endif
