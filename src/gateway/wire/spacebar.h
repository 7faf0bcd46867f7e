/* spacebar.h - form of events for clients that found the gateway by Spacebar's discovery. */
#ifndef GATEWAY_WIRE_SPACEBAR_H
#define GATEWAY_WIRE_SPACEBAR_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

/* Writes the payload of an event with the members as Spacebar's servers write them: with `id`,
 * `guild_id`, and @everyone among the roles; the member of a message also has `user`. */
void encode_json_for_spacebar(struct str json, struct arena *arena, struct buf *out);

#endif
