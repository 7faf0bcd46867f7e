/* directory.h - shares presence and sessions between the nodes of a cluster, through NATS.
 *
 * Each node publishes its own sessions: one numbered message per change. NATS may lose messages,
 * so a node that sees a gap, has just started or finds a new node requests all sessions of that
 * node. Every node then knows all online accounts and sends presences to its sessions without
 * reading the store. Without NATS there is no directory: each node knows only its own sessions. */
#ifndef GATEWAY_PRESENCE_DIRECTORY_H
#define GATEWAY_PRESENCE_DIRECTORY_H

#include "gateway/gateway.h"

struct directory;
struct hub;
struct session;

struct directory *directory_new(struct gateway *g);
void directory_free(struct directory *d); /* accepts NULL */

/* --- sessions of this node; on the session's loop; no effect without a directory ------- */

/* Publishes the session's changed record at the end of the iteration (directory_mark), or now
 * (directory_note). */
void directory_mark(struct session *s);
void directory_note(struct session *s);
void directory_flush(struct hub *h);
/* The session has ended, or continues on another node, which publishes it. */
void directory_end(struct session *s);
/* Sends the ids of an account's friends to the other nodes, after its presence has changed on
 * this node. */
void directory_tell_friends(struct gateway *g, snowflake user_id, const struct list *friends);
/* Sends a bot's session start to the other nodes, which count it towards their limit. */
void directory_tell_starts(struct gateway *g, snowflake user_id, uint32_t shard_id);

#endif
