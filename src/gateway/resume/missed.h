/* missed.h - reads the events that a session missed between two processes from the log, in
 * pages. */
#ifndef GATEWAY_RESUME_MISSED_H
#define GATEWAY_RESUME_MISSED_H

#include "gateway/resume/handover.h"

/* A range of the log, and the state of reading it. */
struct missed_events {
    int64_t at, last;         /* positions: last one read, last one to read */
    uint64_t after, last_one; /* event numbers: after the first, up to the second */
    bool with_seen;           /* also read events that were sent: for recovery_is_exact */
    bool begun, failed;
    size_t rows;       /* read so far */
    size_t page_rows;  /* rows of the last page, … */
    int64_t page_last; /* … and the position of its last row */
    size_t before;     /* events of the pages before it */
};

struct missed_events missed_between(uint64_t seen, uint64_t last, bool with_seen);
/* Whether a part of the range is trimmed; first: the log's first position (0: the log is empty). */
bool missed_is_cut(const struct missed_events *m, int64_t first);
/* In a read transaction, on any thread: adds the events of one page to handover->missed. */
enum err missed_read_page(struct missed_events *m, struct handover *h, struct tx *tx);
/* After a page: whether another one follows. At the end: whether the log had all events. */
bool missed_goes_on(struct missed_events *m, const struct handover *h);
bool missed_is_whole(const struct missed_events *m);

#endif
