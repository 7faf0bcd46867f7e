/* unread_entries.h - log entries that this node has not received, in the event queue of a loop.
 *
 * A node does not receive log entries of guilds and users without sessions on it
 * (cluster/interest.h). In their place the event queue has unread entries. When an unread entry is
 * the first in the queue, the loop decides whether it needs the entry, in the same way as it finds
 * the recipients of an event. Usually it does not. But a session may have been added meanwhile.
 * Then the loop reads the entry from the log, and later events wait. For sessions that arrive from
 * other nodes or loops the loop retains the entry unread (gateway/resume/retained_entries.h). So a
 * session never misses an event, whatever this node had subscribed to. */
#ifndef GATEWAY_FANOUT_UNREAD_ENTRIES_H
#define GATEWAY_FANOUT_UNREAD_ENTRIES_H

#include "net/loop.h"

struct gateway_loop;

/* Removes the unread entry that is first in the queue, or begins to read it from the log. */
void unread_log_entry_drop_or_begin_read(struct gateway_loop *h);
/* Repeats the log read after a failure; called by the deadline of struct unread_entries_read. */
void unread_entries_retry(struct deadline *d);
void unread_entries_free(struct gateway_loop *h);

#endif
