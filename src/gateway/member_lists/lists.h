/* lists.h - member lists (GUILD_MEMBER_LIST_UPDATE) for user clients, by op 14 and 37.
 *
 * A client subscribes to row ranges of a channel's list. It gets these rows (SYNC) at once, and
 * again when they change, at most once a second. Folder member_lists/ uses presence/ and fanout/.
 *
 *   roster         a guild with subscriptions on this loop: the members that any of its lists may
 *                  show, in memory. Online members; up to ROSTER_WHOLE members all of them.
 *   shown_list     the members of a roster that can view a channel, sorted; channels with the same
 *                  overwrites share one (list_id.h)
 *   face           row ranges of a list that some sessions show; sessions with equal ranges share
 *                  one
 *   subscription   a session that shows a channel's list
 *
 * A roster collects the ids of changed members from events and presences, and processes them in
 * rounds: read the members, update the lists, send the rows. A round is a sequence of short tasks
 * on the loop and of background reads, so that it does not block the loop however large the guild
 * is. */
#ifndef GATEWAY_MEMBER_LISTS_LISTS_H
#define GATEWAY_MEMBER_LISTS_LISTS_H

#include "base/snowflake.h"

struct buf;
struct gateway;
struct hub;
struct news;
struct peer;
struct serial_reader;
struct session;
struct str;

/* Call when the loop begins to deliver an event. */
void lists_hear(struct hub *h, const struct news *n);
/* The presence of a member has changed. From any thread. */
void lists_hear_presence(struct gateway *g, snowflake guild_id, snowflake user_id);
/* Removes the session from its lists; it ends, or moves to another loop with its subscriptions. */
void lists_leave(struct session *s, bool ends);
/* The session has arrived on its new loop and has its seats. */
void lists_return(struct session *s);
void lists_free(struct hub *h);
/* Serialises the subscriptions for another process, and reads them. */
void lists_write(const struct session *s, struct buf *out);
void lists_get(struct serial_reader *r, struct session *s);

/* op 14 and 37 */
void handle_guild_subscription(struct peer *p, int op, struct str raw, const void *d);
void handle_guild_subscriptions(struct peer *p, int op, struct str raw, const void *d);

#endif
