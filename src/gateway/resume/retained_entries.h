/* retained_entries.h - unread log entries among the events that a loop retains for a session.
 *
 * While a session arrives, the loop passes over log entries of guilds and users that have no other
 * session on it (gateway/fanout/unread_entries.h). It retains these entries unread. When the
 * session has its subscriptions, the loop reads the entries that the session needs. */
#ifndef GATEWAY_RESUME_RETAINED_ENTRIES_H
#define GATEWAY_RESUME_RETAINED_ENTRIES_H

#include "gateway/resume/session_transfer.h"

/* Finds the retained entries that the session needs. Returns false if there are none. */
bool session_transfer_find_unread_log_entries(struct session_transfer *h, const struct session *s);
/* Reads these entries. Runs in a read transaction, on any thread. */
enum err session_transfer_read_unread_log_entries(struct session_transfer *h, struct tx *tx);
/* Moves the retained events that the session needs, with those of the entries, to h->missed.
 * Returns false if the log did not have an entry. */
bool session_transfer_merge_unread_log_entries(struct session_transfer *h, const struct session *s);
void session_transfer_clear_unread_log_entries(struct session_transfer *h);

#endif
