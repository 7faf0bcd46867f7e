/* pack.h - smaller bytes, by the loop's own compressor.
 *
 * A zlib stream of a connection is made of pieces that need no state between
 * them: stored blocks for what is a session's own, and for what many sessions get
 * the bytes of a deflate run that began empty and ended with a sync flush. Any
 * decoder reads them as one ordinary stream. */
#ifndef GATEWAY_WIRE_PACK_H
#define GATEWAY_WIRE_PACK_H

#include "base/buf.h"
#include "base/str.h"

struct packer;

struct packer *packer_new(void);
void packer_free(struct packer *p);

/* Appends the deflated form of the parts, byte-aligned, ending 00 00 FF FF. */
void pack_shared(struct packer *p, const struct str *parts, size_t count, struct buf *out);
/* Appends a stored block; an empty one ends a message: 00 00 00 FF FF. */
void pack_stored(struct str bytes, struct buf *out);
/* The two bytes that begin a zlib stream. */
void pack_header(struct buf *out);
/* Appends a complete zlib stream. */
void pack_whole(struct packer *p, struct str bytes, struct buf *out);

#endif
