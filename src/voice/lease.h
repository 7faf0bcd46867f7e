/* lease.h - the lease of a node on the voice states of its sessions. A node renews its lease every
 * few seconds. When a lease expires, the voice states of that node are removed. After a restart,
 * the states of the previous process wait until their sessions resume (held.c) or can no longer
 * resume. SQLite has a single process, so all states found at its start belong to the previous
 * one. */
#ifndef VOICE_LEASE_H
#define VOICE_LEASE_H

#include "api/api.h"
#include "net/loop.h"

struct lease;

/* Marks the states of the previous process as waiting for their sessions; blocks, so do not call it
 * on a loop. tick is called every second, on the loop. */
enum err lease_begin(struct api *api, struct loop *loop, void (*tick)(void *arg), void *arg,
                     struct lease **ret);
/* Call it when no internal call runs any more. Accepts NULL. */
void lease_end(struct lease *l);

#endif
