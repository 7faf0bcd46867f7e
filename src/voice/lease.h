/* lease.h - voice states live as long as the process that holds them.
 *
 * A process says every few seconds that it lives. When one stops saying so, or comes back,
 * everybody whom it held leaves voice. An embedded store has one process, so there what is
 * found at the start is left over and nobody has to say anything. */
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
