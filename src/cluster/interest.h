/* interest.h - the guilds and users that have sessions on this node.
 *
 * It decides which log entries this node receives through NATS: it subscribes to the parts of its
 * guilds and users. This saves work only. Each event loop decides itself which entries it needs,
 * and reads those from the log that this node has not received (gateway/fanout/unread_entries.h).
 * All functions are thread-safe. */
#ifndef CLUSTER_INTEREST_H
#define CLUSTER_INTEREST_H

#include "cluster/log_address.h"

struct interest;

/* Called when a part begins or ends to be needed, one call at a time. */
typedef void (*interest_subscribe)(void *arg, unsigned part, bool subscribed);

struct interest *interest_new(interest_subscribe subscribe, void *arg);
void interest_free(struct interest *i); /* accepts NULL */

/* Each call of interest_add needs a call of interest_remove with the same key. */
void interest_add(struct interest *i, uint64_t key);
void interest_remove(struct interest *i, uint64_t key);
/* Returns whether a guild or user of the address has sessions on this node. */
bool interest_includes(struct interest *i, const struct log_address *a);
/* Ends subscriptions to parts that were not needed for INTEREST_KEEP_MS. */
void interest_end_unused_subscriptions(struct interest *i, int64_t now_ms);

/* Sessions that reconnect must not end and begin subscriptions. */
enum { INTEREST_KEEP_MS = 60 * 1000 };

#endif
