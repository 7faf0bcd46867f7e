/* unread_entries.h - log entries that this node has passed over, in the event queue of a loop.
 *
 * A node does not receive log entries of guilds and users without sessions on it
 * (cluster/interest.h). In their place the event queue has unread entries. When the turn of such an
 * entry comes, the loop decides whether it needs it, exactly like it would find the recipients of
 * its events: usually not, but a session may have been added meanwhile, or a session that arrives
 * from another node may need it. Then the loop reads the entry from the log; later events wait. So
 * a session never misses an event, whatever this node had subscribed to. */
#ifndef GATEWAY_FANOUT_UNREAD_ENTRIES_H
#define GATEWAY_FANOUT_UNREAD_ENTRIES_H

#include "net/loop.h"

struct gateway_loop;

/* Removes the first event of the queue, an unread entry, or begins to read it from the log. */
void unread_entry_pass(struct gateway_loop *h);
/* Reads the log again after a failure; called by the deadline of struct unread_entries_read. */
void unread_entries_retry(struct deadline *d);
void unread_entries_free(struct gateway_loop *h);

#endif
