/* lease.h - voice states live as long as the process that holds them.
 *
 * A process says every few seconds that it lives. When one stops saying so, everybody whom it held
 * leaves voice. When one comes back, those whom it held before stay as long as their sessions may
 * be resumed (held.c takes them back), and leave then. An embedded store has one process, so there
 * what is found at the start was held by the process before. */
#ifndef VOICE_LEASE_H
#define VOICE_LEASE_H

#include "api/api.h"
#include "net/loop.h"

struct lease;

/* Clears what is left over and waits for it; not on a loop. tick is called every second,
 * on the loop. */
enum err lease_begin(struct api *api, struct loop *loop, void (*tick)(void *arg), void *arg,
                     struct lease **ret);
/* Accepts NULL. When no errand runs any more. */
void lease_end(struct lease *l);

#endif
