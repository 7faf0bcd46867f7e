/* known.h - log positions that a snapshot of the store included before their events were sent.
 *
 * A snapshot shows all commits, including some whose events are still queued on this loop. A
 * session that was set up from the snapshot must not receive those events again. Only a cluster
 * has a log. */
#ifndef GATEWAY_VIEWS_KNOWN_H
#define GATEWAY_VIEWS_KNOWN_H

#include "json/schema.h"
#include "model/events/events.h"

struct known_positions;

/* positions: int64_t in ascending order. Returns NULL if the list is empty. */
struct known_positions *known_new(const struct list *positions);
struct known_positions *known_ref(struct known_positions *k); /* accepts NULL */
void known_unref(struct known_positions *k);                  /* accepts NULL */

/* Returns whether k contains all positions of `other`. Both may be NULL. */
bool known_covers(const struct known_positions *k, const struct known_positions *other);

bool known_find(struct known_positions **k, uint64_t number);

/* Returns whether the snapshot included the event with that number. Frees *k when the number is
 * past the last position. */
static inline bool known_has(struct known_positions **k, uint64_t number)
{
    return *k && known_find(k, number);
}

#endif
