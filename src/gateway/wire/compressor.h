/* compressor.h - zlib compression for the gateway; one compressor per loop.
 *
 * A connection's zlib stream consists of independent blocks: stored blocks for bytes that only one
 * session gets, and for shared payloads the output of deflate with an empty window at its start and
 * a sync flush at its end. Any decoder reads them as one ordinary stream. */
#ifndef GATEWAY_WIRE_COMPRESSOR_H
#define GATEWAY_WIRE_COMPRESSOR_H

#include "base/buf.h"
#include "base/str.h"

struct compressor;

struct compressor *deflate_compressor_new(void);
void deflate_compressor_free(struct compressor *p);

/* Appends the concatenated `parts` in deflated form. The output is byte-aligned, up to 00 00 FF FF.
 */
void deflate_shared_payload(struct compressor *p, const struct str *parts, size_t count,
                            struct buf *out);
/* Appends a stored (uncompressed) deflate block. An empty block, 00 00 00 FF FF, ends a message. */
void deflate_append_stored_block(struct str bytes, struct buf *out);
/* Appends the two header bytes of a zlib stream. */
void zlib_append_header(struct buf *out);
/* Appends a complete zlib stream. */
void zlib_append_complete_stream(struct compressor *p, struct str bytes, struct buf *out);

#endif
