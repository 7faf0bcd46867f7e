/* kept.h - encodes objects of a request body as JSON for a database column. */
#ifndef PLATFORM_MESSAGE_PARTS_KEPT_H
#define PLATFORM_MESSAGE_PARTS_KEPT_H

#include "json/schema.h"

struct str kept_text(struct arena *arena, const struct type *type, const void *value);
/* Changes null members to absent, because clients treat a present key as a value. */
void kept_drop_nulls(const struct schema *schema, void *object);

#endif
