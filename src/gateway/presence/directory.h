/* directory.h - shares presences and sessions between the nodes of a cluster, through NATS.
 *
 * Each node publishes its own sessions: one numbered message per change. NATS may lose messages. So
 * a node requests all sessions of another node if it notices a gap in the numbers, has just
 * started, or finds that node for the first time. In this way every node knows all online accounts,
 * and sends presences to its sessions without reading the store. Without NATS there is no
 * directory: each node knows only its own sessions. */
#ifndef GATEWAY_PRESENCE_DIRECTORY_H
#define GATEWAY_PRESENCE_DIRECTORY_H

#include "gateway/gateway.h"

struct session_directory;
struct gateway_loop;
struct session;

struct session_directory *session_directory_new(struct gateway *g);
void session_directory_free(struct session_directory *d); /* accepts NULL */

/* --- sessions of this node; called on the session's loop; no effect without NATS -------- */

/* Publish the changed record of a session: session_directory_mark_session_changed at the end of the
 * loop iteration, session_directory_publish_session immediately. */
void session_directory_mark_session_changed(struct session *s);
void session_directory_publish_session(struct session *s);
void session_directory_publish_changed_sessions(struct gateway_loop *h);
/* Called when the session has ended, or continues on another node, which publishes it then. */
void session_directory_remove_session(struct session *s);
/* Called when an account's presence has changed on this node: sends the ids of the account's
 * friends to the other nodes, which then send the presence to these friends. */
void session_directory_publish_friend_ids(struct gateway *g, snowflake user_id,
                                          const struct list *friends);
/* Tells other nodes that a bot started a session, which counts towards the bot's daily limit. */
void session_directory_publish_session_start(struct gateway *g, snowflake user_id,
                                             uint32_t shard_id);

#endif
