/* address_routes.h - the worker that owns the participant at an address.
 *
 * The worker of RTP packets from UDP clients follows from their SSRC. Pings and datagrams of
 * browsers have no such SSRC, so the receiver finds the worker by their source address. Several
 * threads use the table. */
#ifndef RELAY_ADDRESS_ROUTES_H
#define RELAY_ADDRESS_ROUTES_H

#include <stdbool.h>
#include <stdint.h>

/* Addresses of browsers are proved by STUN, those of other clients are not. */
enum address_kind { ADDRESS_CLIENT, ADDRESS_BROWSER, ADDRESS_KINDS };

enum { ADDRESS_RESERVED_MS = 10000 }; /* time for which an address belongs to one worker */

struct address_routes *address_routes_new(void);
void address_routes_free(struct address_routes *routes); /* accepts NULL */

/* Returns whether a browser of this worker may use the address, because no browser of another
 * worker has used it recently. */
bool address_route_is_free(struct address_routes *routes, uint64_t key, unsigned worker,
                           int64_t now_ms);
void address_route_set(struct address_routes *routes, enum address_kind kind, uint64_t key,
                       unsigned worker, int64_t now_ms);
/* Removes the route of an address, unless another worker has set it meanwhile. */
void address_route_clear(struct address_routes *routes, enum address_kind kind, uint64_t key,
                         unsigned worker);
/* Returns the worker, or -1 if the address is unknown. */
int address_route_find(struct address_routes *routes, enum address_kind kind, uint64_t key);

#endif
