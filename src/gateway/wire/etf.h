/* etf.h - converts JSON to the Erlang external term format (ETF) and back.
 *
 * Clients may request ETF instead of JSON. The server uses JSON internally and converts whole
 * messages. Input from clients is checked strictly. */
#ifndef GATEWAY_WIRE_ETF_H
#define GATEWAY_WIRE_ETF_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

enum { ETF_VERSION = 131 };

/* Appends one JSON value as an ETF term, without the version byte. Returns false if the text is
 * not JSON or `out` is full. */
bool etf_from_json(struct str json, struct arena *arena, struct buf *out);

/* Converts a whole ETF message (a version byte and exactly one term) to JSON. Returns false for
 * atoms as keys, text that is not UTF-8, integers beyond 64 bits, and unsupported tags. */
bool etf_to_json(struct str bytes, struct buf *out);

/* These functions append single terms, for the envelope of a message. */
void etf_append_map_head(struct buf *out, uint32_t pairs);
void etf_append_binary(struct buf *out, struct str s);
void etf_append_int(struct buf *out, int64_t v);

#endif
