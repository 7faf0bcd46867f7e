/* proto_fields.h - splits and merges protocol buffer messages without knowing their fields.
 *
 * A message is a list of fields, each with a number, a wire type and bytes. A client sends each
 * changed field completely; the stored values of the other fields remain. The server does not
 * interpret the fields. */
#ifndef PLATFORM_ACCOUNTS_PROTO_FIELDS_H
#define PLATFORM_ACCOUNTS_PROTO_FIELDS_H

#include "json/schema.h"

struct protobuf_field {
    uint64_t number;
    struct str bytes; /* whole field, including its tag */
};

/* Splits a message into its fields, in order. Returns false if it is malformed or has more than
 * 1000 fields. */
bool protobuf_split_fields(struct arena *a, struct str message, struct list *ret);
/* Merges two messages: returns the fields of `before` that `change` lacks, then the fields of
 * `change`, but none with the field number `but`. */
struct str protobuf_merge_fields(struct arena *a, const struct list *before,
                                 const struct list *change, uint64_t but);
void protobuf_append_varint_field(struct buf *out, uint64_t number, uint64_t value);
/* Appends one length-delimited field. */
void protobuf_append_bytes_field(struct buf *out, uint64_t number, struct str message);

#endif
