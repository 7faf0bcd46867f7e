/* proto_fields.h - settings as protocol buffers, without knowing what is in them.
 *
 * A message is a row of fields, each with a number, a kind and its bytes. Clients send the fields
 * that they changed, whole; the others stay. What a field means is theirs. */
#ifndef PLATFORM_ACCOUNTS_PROTO_FIELDS_H
#define PLATFORM_ACCOUNTS_PROTO_FIELDS_H

#include "json/schema.h"

struct proto_field {
    uint64_t number;
    struct str bytes; /* all of it, tag included */
};

/* The fields of a message, in their order. False: it is none, or has more than a thousand. */
bool proto_split(struct arena *a, struct str message, struct list *ret);
/* The fields of `before` of which `change` has none, then those of `change`, except field
 * `but` of both. */
struct str proto_merge(struct arena *a, const struct list *before, const struct list *change,
                       uint64_t but);
/* One field that is a number. */
void proto_add_number(struct buf *out, uint64_t number, uint64_t value);
/* One field that is a message. */
void proto_add_message(struct buf *out, uint64_t number, struct str message);

#endif
