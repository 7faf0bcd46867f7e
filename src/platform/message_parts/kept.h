/* kept.h - objects of a body as they lie in a column. */
#ifndef PLATFORM_MESSAGE_PARTS_KEPT_H
#define PLATFORM_MESSAGE_PARTS_KEPT_H

#include "json/schema.h"

/* A value as JSON. */
struct str kept_text(struct arena *arena, const struct type *type, const void *value);
/* Members that came as null are left out when the object is kept: clients take a key
 * that is there for a value. */
void kept_drop_nulls(const struct schema *schema, void *object);

#endif
