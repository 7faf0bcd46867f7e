/* delays.h - delays all events by a configured time, to test clients. The order of events does
 * not change, and reads that wait for events also wait for delayed ones. */
#ifndef GATEWAY_SESSIONS_DELAYS_H
#define GATEWAY_SESSIONS_DELAYS_H

#include <stdbool.h>

struct hub;
struct parcel;

/* If a delay is set or delayed parcels are left, stores the parcel and passes it to hub_take
 * when it is due. Returns false if there is no delay; then the caller queues the parcel. Runs on
 * the loop of h. */
bool delays_keep(struct hub *h, struct parcel *p);
/* Whether any parcel is delayed. */
bool delays_wait(const struct hub *h);
/* Releases the delayed parcels without delivering them. */
void delays_free(struct hub *h);

#endif
