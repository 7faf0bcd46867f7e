/* interest.h - the guilds and users that have sessions on this node.
 *
 * They decide which log entries this node receives through NATS: log entries are published in parts
 * (LOG_PARTS), and this node subscribes to the parts of its guilds and users. They also decide
 * which entries it reads from the log (log_follower.c). This only saves work, so it need not be
 * exact: each event loop decides itself which entries it needs, and reads entries from the log that
 * this node has not received (gateway/fanout/unread_entries.h). All functions are thread-safe. */
#ifndef CLUSTER_INTEREST_H
#define CLUSTER_INTEREST_H

#include "cluster/log_address.h"

struct interest;

/* Called when this node begins or stops to need a part of the log entries. Calls do not overlap. */
typedef void (*interest_subscribe)(void *arg, unsigned part, bool subscribed);

struct interest *interest_set_new(interest_subscribe subscribe, void *arg);
void interest_set_free(struct interest *i); /* accepts NULL */

/* interest_set_add_guild_or_user records that a guild or user (the key) has a session on this node.
 * Each call needs a later call of interest_set_remove_guild_or_user with the same key. */
void interest_set_add_guild_or_user(struct interest *i, uint64_t key);
void interest_set_remove_guild_or_user(struct interest *i, uint64_t key);
/* Returns whether a guild or user of the address has sessions on this node. */
bool interest_set_matches_log_address(struct interest *i, const struct log_entry_address *a);
/* Copies the set of parts that have keys: bit `part % 8` of byte `part / 8`. */
void interest_set_copy_nats_parts(struct interest *i, unsigned char ret[LOG_PARTS / 8]);
/* Ends subscriptions to parts that were not needed for INTEREST_KEEP_MS. */
void interest_set_end_unused_subscriptions(struct interest *i, int64_t now_ms);

/* Time for which an unused subscription stays, because sessions often reconnect soon. */
enum { INTEREST_KEEP_MS = 60 * 1000 };

#endif
