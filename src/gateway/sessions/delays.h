/* delays.h - events that come later than they could, because somebody wants to see what a client
 * does then. Their order stays, and so does what waits for them: to a loop they have not
 * happened yet. */
#ifndef GATEWAY_SESSIONS_DELAYS_H
#define GATEWAY_SESSIONS_DELAYS_H

#include <stdbool.h>

struct hub;
struct parcel;

/* While events are delayed, or some still wait, this one is kept until its time; then it is given
 * to hub_take. False: it may be taken at once. On the hub's loop. */
bool delays_keep(struct hub *h, struct parcel *p);
/* Does one wait? */
bool delays_wait(const struct hub *h);
/* Gives up what waits. */
void delays_free(struct hub *h);

#endif
