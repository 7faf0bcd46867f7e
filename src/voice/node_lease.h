/* node_lease.h - the lease of a node on the voice states of its sessions. A node renews its lease
 * every few seconds. When a lease expires, the voice states of that node are removed. After a
 * restart, the states of the previous process wait until their sessions resume (held.c) or can no
 * longer resume. SQLite has a single process, so all states found at its start belong to the
 * previous one. */
#ifndef VOICE_NODE_LEASE_H
#define VOICE_NODE_LEASE_H

#include "api/api.h"
#include "net/loop.h"

struct node_lease;

/* Marks the states of the previous process as waiting for their sessions; blocks, so do not call it
 * on a loop. tick is called every second, on the loop. */
enum err node_lease_begin(struct api *api, struct loop *loop, void (*tick)(void *arg), void *arg,
                          struct node_lease **ret);
/* Call it when no internal call runs any more. Accepts NULL. */
void node_lease_end(struct node_lease *l);

#endif
