/* snapshot_positions.h - event log positions whose changes a snapshot of the store included,
 * although their events were still queued on the loop.
 *
 * A session that was set up from the snapshot must not receive these events again. Only a cluster
 * has an event log. */
#ifndef GATEWAY_SUBSCRIPTIONS_SNAPSHOT_POSITIONS_H
#define GATEWAY_SUBSCRIPTIONS_SNAPSHOT_POSITIONS_H

#include "json/schema.h"
#include "model/events/events.h"

struct snapshot_positions;

/* Creates a set of event log positions (int64_t, ascending); NULL if the list is empty. */
struct snapshot_positions *snapshot_log_positions_new(const struct list *positions);
struct snapshot_positions *snapshot_log_positions_ref(
    struct snapshot_positions *k);                               /* accepts NULL */
void snapshot_log_positions_unref(struct snapshot_positions *k); /* accepts NULL */

/* Returns whether the set k contains all positions of the set `other`. Both may be NULL. */
bool snapshot_log_positions_include_all(const struct snapshot_positions *k,
                                        const struct snapshot_positions *other);

bool snapshot_positions_contain_event(struct snapshot_positions **k, uint64_t number);

/* Returns whether the snapshot included the event with this number. Frees *k when the number is
 * past the last position in the set. */
static inline bool snapshot_includes_event(struct snapshot_positions **k, uint64_t number)
{
    return *k && snapshot_positions_contain_event(k, number);
}

#endif
