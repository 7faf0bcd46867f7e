/* etf.h - converts JSON to the Erlang external term format (ETF) and back.
 *
 * Clients may ask for ETF instead of JSON. The server uses JSON inside; these functions convert a
 * whole message. They are pure functions over bytes, and input from clients is checked strictly. */
#ifndef GATEWAY_WIRE_ETF_H
#define GATEWAY_WIRE_ETF_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

enum { ETF_VERSION = 131 };

/* Appends one JSON value as a term, without the version byte. False if the text is not JSON or out
 * is full. */
bool etf_from_json(struct str json, struct arena *arena, struct buf *out);

/* Appends the JSON of a whole message: a version byte and exactly one term. False for anything
 * else: atoms as keys, text that is not UTF-8, integers beyond 64 bits, a tag that is not
 * supported. */
bool etf_to_json(struct str bytes, struct buf *out);

/* Single terms, for code that writes the envelope of a message. */
void etf_map(struct buf *out, uint32_t pairs);
void etf_text(struct buf *out, struct str s);
void etf_int(struct buf *out, int64_t v);

#endif
