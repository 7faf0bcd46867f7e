/* missed_events.h - reads the events that a session missed between two processes, in pages. */
#ifndef GATEWAY_RESUME_MISSED_EVENTS_H
#define GATEWAY_RESUME_MISSED_EVENTS_H

#include "gateway/resume/session_interest.h"
#include "gateway/resume/session_transfer.h"

/* A range of the event log that a session missed, and the progress of reading it. */
struct missed_event_range {
    /* Log positions: `at` was read last, `last` must be read last. */
    int64_t at, last;
    int64_t first; /* initial value of `at` */
    /* This node has delivered the positions up to here, so no rows are added there any more. */
    int64_t settled;
    /* Event numbers: the missed events have numbers greater than `after`, up to `last_one`. */
    uint64_t after, last_one;
    /* Also read events that were already sent, for recovered_session_can_continue. */
    bool with_seen;
    bool begun, failed;
    const struct session_interest *interest; /* the guilds and the account of the session */
    int64_t page_last;                       /* last log position in the page that was read last */
    /* Number of missed events found in the pages before the page that was read last. */
    size_t before;
};

struct missed_event_range missed_event_range_init(uint64_t seen, uint64_t last, bool with_seen);
/* Returns whether some rows of the range were already deleted from the event log. `first` is the
 * first position of the log, or 0 if the log is empty. */
bool missed_events_are_deleted_from_log(const struct missed_event_range *m, int64_t first);
/* Adds the events of one page that the session may need to h->missed. Runs in a read transaction,
 * on any thread. */
enum err read_missed_events_page(struct missed_event_range *m, struct session_transfer *h,
                                 struct tx *tx);
/* missed_events_have_next_page returns after each page whether another page must be read.
 * missed_events_are_complete returns after the last page whether no event is missing. */
bool missed_events_have_next_page(struct missed_event_range *m, const struct session_transfer *h);
bool missed_events_are_complete(const struct missed_event_range *m);

/* Calls take(arg, event) for each event of a log position that the session may need. `settled` is
 * the last position that this node has delivered. *ret_found is false if the log does not have the
 * position, or if its page is malformed. Runs in a read transaction, on any thread. */
enum err read_events_of_log_position(struct gateway *g, struct tx *tx, int64_t position,
                                     int64_t settled, const struct session_interest *interest,
                                     void (*take)(void *arg, struct gateway_event *n), void *arg,
                                     bool *ret_found);

#endif
