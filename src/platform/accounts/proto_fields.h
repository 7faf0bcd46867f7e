/* proto_fields.h - splits and merges protocol buffer messages without knowing their fields.
 *
 * A message is a list of fields, each with a number, a wire type and its bytes. Clients send
 * changed fields as a whole; the other fields remain. Only clients interpret a field. */
#ifndef PLATFORM_ACCOUNTS_PROTO_FIELDS_H
#define PLATFORM_ACCOUNTS_PROTO_FIELDS_H

#include "json/schema.h"

struct proto_field {
    uint64_t number;
    struct str bytes; /* whole field, including its tag */
};

/* Splits a message into its fields, in order. False if malformed or more than 1000 fields. */
bool proto_split_fields(struct arena *a, struct str message, struct list *ret);
/* Returns the fields of `before` that `change` lacks, then those of `change`; omits number
 * `but`. */
struct str proto_merge_fields(struct arena *a, const struct list *before, const struct list *change,
                              uint64_t but);
/* Appends one varint field. */
void proto_append_varint(struct buf *out, uint64_t number, uint64_t value);
/* Appends one length-delimited field. */
void proto_append_bytes(struct buf *out, uint64_t number, struct str message);

#endif
