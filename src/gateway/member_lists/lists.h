/* lists.h - member lists (GUILD_MEMBER_LIST_UPDATE) for user clients, by op 14 and 37.
 *
 * A client subscribes to row ranges of a channel's member list. It gets these rows (SYNC)
 * immediately, and again when they change, at most once a second. Folder member_lists/ uses
 * presence/ and fanout/.
 *
 *   member_table               the members of a guild that member lists on this loop may show: all
 *                              members of guilds up to OFFLINE_MEMBERS_MAX, else online members
 *   channel_member_list        the members of a member table that can view a channel, sorted;
 *                              channels with the same overwrites share one list (list_id.h)
 *   member_list_window         row ranges of a list; sessions with equal ranges share one window
 *   member_list_subscription   a session that shows a channel's member list
 *
 * A member table collects the ids of changed members and processes them in update rounds: read the
 * members, update the lists, send the rows. An update round consists of short tasks on the loop and
 * background reads, so that a large guild does not block the loop. */
#ifndef GATEWAY_MEMBER_LISTS_LISTS_H
#define GATEWAY_MEMBER_LISTS_LISTS_H

#include "base/snowflake.h"

struct buf;
struct gateway;
struct gateway_loop;
struct gateway_event;
struct gateway_socket;
struct serialized_data_reader;
struct session;
struct str;

/* Called when the delivery of an event begins: records which members and lists it changes. */
void member_lists_on_event(struct gateway_loop *h, const struct gateway_event *n);
/* Called when the presence of a member has changed. Thread-safe. */
void member_lists_on_presence_change(struct gateway *g, snowflake guild_id, snowflake user_id);
/* Removes the session from its member lists. If `ends` is false, the session is moving to another
 * loop and keeps its subscriptions. */
void member_lists_remove_session(struct session *s, bool ends);
/* Called when the session has arrived on its new loop and is subscribed to its guilds. */
void member_lists_on_session_moved_to_loop(struct session *s);
void member_lists_free(struct gateway_loop *h);
/* Serialise and deserialise member list subscriptions of a session that moves to another process.
 */
void serialize_member_list_subscriptions(const struct session *s, struct buf *out);
void deserialize_member_list_subscriptions(struct serialized_data_reader *r, struct session *s);

void handle_guild_subscription_opcode(struct gateway_socket *p, int op, struct str raw,
                                      const void *d);
void handle_guild_subscriptions_opcode(struct gateway_socket *p, int op, struct str raw,
                                       const void *d);

#endif
