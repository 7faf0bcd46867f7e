/* node_lease.h - the lease of a node on the voice states of its sessions. A node renews its lease
 * every few seconds. When a node's lease expires, the node's voice states are removed. After a
 * restart, the voice states of the previous process stay until their sessions resume
 * (states_awaiting_resume.c) or can no longer resume. With SQLite all voice states in the database
 * belong to the previous process. */
#ifndef VOICE_NODE_LEASE_H
#define VOICE_NODE_LEASE_H

#include "api/api.h"
#include "net/loop.h"

struct node_lease;

/* Marks the voice states of the previous process as waiting for RESUME. Blocks, so it must not be
 * called on an event loop. tick() is called every second on the loop. */
enum err voice_node_lease_begin(struct api *api, struct loop *loop, void (*tick)(void *arg),
                                void *arg, struct node_lease **ret);
/* Frees the lease; called when no internal call runs any more. Accepts NULL. */
void voice_node_lease_end(struct node_lease *l);

#endif
