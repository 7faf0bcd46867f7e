/* etf.h - JSON as external terms, and back.
 *
 * Libraries with a codec of their own speak the external term format instead of
 * JSON. Everything inside the server is JSON; these two turn a whole text into
 * the other form. Pure functions over bytes; what comes from outside is read
 * strictly. */
#ifndef GATEWAY_WIRE_ETF_H
#define GATEWAY_WIRE_ETF_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

enum { ETF_VERSION = 131 };

/* Appends the term of one JSON value, without the version byte. False when the text
 * is not JSON or out is full. */
bool etf_from_json(struct str json, struct arena *arena, struct buf *out);

/* Appends the JSON of a whole message: version byte, one term and nothing after it.
 * False when it is anything else: atoms as keys, text that is not UTF-8, integers
 * beyond 64 bits, a tag outside the subset. */
bool etf_to_json(struct str bytes, struct buf *out);

/* Pieces, for envelopes that are written by hand. */
void etf_map(struct buf *out, uint32_t pairs);
void etf_text(struct buf *out, struct str s);
void etf_int(struct buf *out, int64_t v);

#endif
