/* directory.h - sessions of all servers of a cluster, as each of them knows of the others'.
 *
 * A server tells what others may see of its own sessions, and nobody else does: a message for each
 * change, numbered, through NATS, which loses some. Who misses one, has just come, or hears of a
 * server for the first time asks that server for all. So every server can say who is there, and
 * tells its own sessions of it; a look at the store is not needed, and none is made.
 *
 * Without NATS there is no directory: each server knows its own. */
#ifndef GATEWAY_PRESENCE_DIRECTORY_H
#define GATEWAY_PRESENCE_DIRECTORY_H

#include "gateway/gateway.h"

struct directory;
struct hub;
struct session;

struct directory *directory_new(struct gateway *g);
void directory_free(struct directory *d); /* accepts NULL */

/* --- this server's own; on the session's loop. Nothing happens without a directory. ---- */

/* What others may see of it has changed: they are told at the end of the turn, or now. */
void directory_mark(struct session *s);
void directory_note(struct session *s);
void directory_flush(struct hub *h);
/* It has ended; or goes on at another server, who tells of it. */
void directory_end(struct session *s);
/* Friends of somebody whose look has changed here. After the change itself. */
void directory_tell_friends(struct gateway *g, snowflake user_id, const struct list *friends);
/* A bot has begun a session: other servers let it begin as many less. */
void directory_tell_starts(struct gateway *g, snowflake user_id, uint32_t shard_id);

#endif
