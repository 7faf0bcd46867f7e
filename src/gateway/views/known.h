/* known.h - positions of the log that a look at the store has seen before its loop told them.
 *
 * A look shows what is committed, and a loop may have to tell some of that still. Who was set up
 * from the look knows it. Only servers that keep a log can say which events those are. */
#ifndef GATEWAY_VIEWS_KNOWN_H
#define GATEWAY_VIEWS_KNOWN_H

#include "json/schema.h"
#include "model/events/events.h"

struct known_positions;

/* Of positions (int64_t), in their order. NULL: there are none. */
struct known_positions *known_new(const struct list *positions);
struct known_positions *known_ref(struct known_positions *k); /* accepts NULL */
void known_unref(struct known_positions *k);                  /* accepts NULL */

/* Whether one knows all that another knows. Both accept NULL. */
bool known_covers(const struct known_positions *k, const struct known_positions *other);

bool known_find(struct known_positions **k, uint64_t number);

/* Whether the event of that number is known. Lets go of *k when all of it has been told. */
static inline bool known_has(struct known_positions **k, uint64_t number)
{
    return *k && known_find(k, number);
}

#endif
