/* missed.h - what a session missed between two servers, read from the log a page at a time. */
#ifndef GATEWAY_RESUME_MISSED_H
#define GATEWAY_RESUME_MISSED_H

#include "gateway/resume/handover.h"

/* Positions of the log that are to be read, and what became of them. */
struct missed_events {
    int64_t at, last;         /* positions: what was read, and what is */
    uint64_t after, last_one; /* numbers of events: more than the first, up to the second */
    bool recovered;           /* then also what it has heard is looked at, and not told again */
    bool begun, failed;
    size_t rows;       /* that were read */
    size_t page_rows;  /* of the last page … */
    int64_t page_last; /* … and the position of its last row */
    size_t kept;       /* events of the pages before it */
};

struct missed_events missed_between(uint64_t seen, uint64_t last, bool recovered);
/* Whether something of it has left the log, whose first position is given (0: it is empty). */
bool missed_is_cut(const struct missed_events *m, int64_t first);
/* In a reading transaction, on any thread: adds the events of one page to what the handover's
 * session missed. */
enum err missed_read_page(struct missed_events *m, struct handover *h, struct tx *tx);
/* After a page was read: whether another one follows; and, at the end, whether all was there. */
bool missed_goes_on(struct missed_events *m, const struct handover *h);
bool missed_is_whole(const struct missed_events *m);

#endif
