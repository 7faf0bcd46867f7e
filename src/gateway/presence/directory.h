/* directory.h - shares presences and sessions between the nodes of a cluster, through NATS.
 *
 * Each node publishes its own sessions: one numbered message per change. NATS may lose messages, so
 * a node that sees a gap, has just started or finds a new node requests all sessions of that node.
 * So every node knows all online accounts and sends presences to its sessions without reading the
 * store. Without NATS there is no directory: each node knows only its own sessions. */
#ifndef GATEWAY_PRESENCE_DIRECTORY_H
#define GATEWAY_PRESENCE_DIRECTORY_H

#include "gateway/gateway.h"

struct session_directory;
struct gateway_loop;
struct session;

struct session_directory *session_directory_new(struct gateway *g);
void session_directory_free(struct session_directory *d); /* accepts NULL */

/* --- sessions of this node; on the session's loop; no effect without a directory ------- */

/* Publish the changed record of a session: at the end of the loop iteration
 * (session_directory_mark_changed), or now (session_directory_publish_session). */
void session_directory_mark_changed(struct session *s);
void session_directory_publish_session(struct session *s);
void session_directory_publish_changed(struct gateway_loop *h);
/* Call it when the session has ended, or continues on another node, which then publishes it. */
void session_directory_remove_session(struct session *s);
/* Sends the ids of an account's friends to the other nodes, after its presence has changed on
 * this node. */
void session_directory_publish_friends(struct gateway *g, snowflake user_id,
                                       const struct list *friends);
/* Sends a bot's session start to the other nodes, which count it towards the bot's daily limit. */
void session_directory_publish_session_start(struct gateway *g, snowflake user_id,
                                             uint32_t shard_id);

#endif
