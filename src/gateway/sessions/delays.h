/* delays.h - delays all events by a configured time, to test clients. Their order does not change,
 * and reads that wait for events wait for the delayed ones too. */
#ifndef GATEWAY_SESSIONS_DELAYS_H
#define GATEWAY_SESSIONS_DELAYS_H

#include <stdbool.h>

struct hub;
struct parcel;

/* While a delay is set or delayed parcels are left, stores the parcel and passes it to hub_take
 * when it is due. False: the caller may take it at once. On the hub's loop. */
bool delays_keep(struct hub *h, struct parcel *p);
/* Whether any parcel is delayed. */
bool delays_wait(const struct hub *h);
/* Releases the delayed parcels without delivering them. */
void delays_free(struct hub *h);

#endif
