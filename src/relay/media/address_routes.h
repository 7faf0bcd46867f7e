/* address_routes.h - finds the worker that owns the participant at a network address.
 *
 * For RTP packets of UDP clients, the SSRC determines the worker. Pings and datagrams of browsers
 * have no such SSRC, so the receiver finds the worker by their source address. Several OS threads
 * use the table. */
#ifndef RELAY_ADDRESS_ROUTES_H
#define RELAY_ADDRESS_ROUTES_H

#include <stdbool.h>
#include <stdint.h>

/* A browser proves its address by STUN. Addresses of other clients are not proved. */
enum address_kind { ADDRESS_CLIENT, ADDRESS_BROWSER, ADDRESS_KINDS };

/* Time in ms for which a browser's address stays reserved for its worker. */
enum { ADDRESS_RESERVED_MS = 10000 };

struct address_routes *address_routes_new(void);
void address_routes_free(struct address_routes *routes); /* accepts NULL */

/* Returns whether a browser of this worker may use the address. It may not if a browser of another
 * worker has used the address in the last ADDRESS_RESERVED_MS. */
bool address_route_is_usable_by_worker(struct address_routes *routes, uint64_t key, unsigned worker,
                                       int64_t now_ms);
void address_route_set(struct address_routes *routes, enum address_kind kind, uint64_t key,
                       unsigned worker, int64_t now_ms);
/* Removes the worker's route for an address, unless another worker has set a route since. */
void address_route_clear(struct address_routes *routes, enum address_kind kind, uint64_t key,
                         unsigned worker);
/* Returns the index of the worker of an address, or -1 if the address is unknown. */
int address_route_find(struct address_routes *routes, enum address_kind kind, uint64_t key);

#endif
