/* known.h - log positions that a snapshot of the store included before their events were sent.
 *
 * A snapshot shows all commits, including some whose events this loop has still queued. A
 * session that was set up from the snapshot must not receive those events again. Only a cluster
 * has a log. */
#ifndef GATEWAY_VIEWS_KNOWN_H
#define GATEWAY_VIEWS_KNOWN_H

#include "json/schema.h"
#include "model/events/events.h"

struct known_positions;

/* From positions (int64_t) in ascending order. NULL: there are none. */
struct known_positions *known_new(const struct list *positions);
struct known_positions *known_ref(struct known_positions *k); /* accepts NULL */
void known_unref(struct known_positions *k);                  /* accepts NULL */

/* Whether k contains all positions of other. Both accept NULL. */
bool known_covers(const struct known_positions *k, const struct known_positions *other);

bool known_find(struct known_positions **k, uint64_t number);

/* Whether the snapshot included the event of that number. Releases *k after the last position. */
static inline bool known_has(struct known_positions **k, uint64_t number)
{
    return *k && known_find(k, number);
}

#endif
