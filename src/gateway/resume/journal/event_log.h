/* event_log.h - reads the cluster's event log, from which resumed sessions get missed events.
 *
 * All functions run in a transaction; results live in tx_arena. */
#ifndef GATEWAY_RESUME_JOURNAL_EVENT_LOG_H
#define GATEWAY_RESUME_JOURNAL_EVENT_LOG_H

#include "json/schema.h"
#include "store/store.h"

struct event_log_row {
    int64_t position;
    struct str body; /* empty if the transaction was aborted, or if the row was not selected */
    struct str recipients; /* see cluster/log_address.h; empty if all nodes need the row */
};

/* Reads the first and the last position of the event log; both are 0 if it is empty. */
enum err read_event_log_range(struct tx *tx, int64_t *ret_first, int64_t *ret_last);
/* Reads the first `limit` positions (int64_t) of the event log at or after `from`. */
enum err read_event_log_positions(struct tx *tx, int64_t from, int64_t limit, struct list *ret);
/* Reads the first `limit` rows (struct event_log_row) of the event log after `after`, up to `last`.
 */
enum err read_event_log_page(struct tx *tx, int64_t after, int64_t last, int64_t limit,
                             struct list *ret);
/* The same, but the bodies only of rows that have one of the parts: a set as in
 * interest_set_copy_nats_parts. On SQLite, which stores no recipients, all bodies. */
enum err read_event_log_page_of_parts(struct tx *tx, int64_t after, int64_t last, int64_t limit,
                                      struct str parts, struct list *ret);

#endif
