/* lists.h - member lists, for the clients of people (op 14 and 37).
 *
 * A client says which rows of a channel's list it shows, and is told these rows (SYNC) at once
 * and whenever something in them changes, at most once a second.
 *
 *   roster         a guild of which somebody on this loop shows a list: the members that any list
 *                  may show, in memory. Those who are seen; in a guild of up to ROSTER_WHOLE
 *                  members everybody.
 *   shown_list     those of a roster who view a channel, in their order; channels with the same
 *                  rules share one (list_id.h)
 *   face           rows of a list that some sessions show, the same ones
 *   subscription   a session that shows a channel's list
 *
 * A roster learns of changes from events and presences, notes who is concerned, and goes through
 * its notes in rounds: read what is new, put the lists right, tell. A round is a chain of short
 * pieces on the loop and reads beside it, so that its length does not matter to anybody else. */
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

/* An event that this loop has begun to tell. */
void lists_hear(struct hub *h, const struct news *n);
/* Somebody is seen differently in a guild. From any loop. */
void lists_hear_presence(struct gateway *g, snowflake guild_id, snowflake user_id);
/* The session ends; or it goes to another loop, with what it has subscribed to. */
void lists_leave(struct session *s, bool ends);
/* It has arrived there and has its seats. */
void lists_return(struct session *s);
void lists_free(struct hub *h);
/* What it has subscribed to, for another process that goes on with it; and back. */
void lists_write(const struct session *s, struct buf *out);
void lists_get(struct serial_reader *r, struct session *s);

/* op 14 and 37 */
void handle_guild_subscription(struct peer *p, int op, struct str raw, const void *d);
void handle_guild_subscriptions(struct peer *p, int op, struct str raw, const void *d);

#endif
