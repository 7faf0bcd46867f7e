/* column_json.h - encodes objects of a request body as JSON for a database column. */
#ifndef PLATFORM_MESSAGE_PARTS_COLUMN_JSON_H
#define PLATFORM_MESSAGE_PARTS_COLUMN_JSON_H

#include "json/schema.h"

struct str encode_json_for_database_column(struct arena *arena, const struct type *type,
                                           const void *value);
/* Sets the null fields of an object to absent, so that its JSON has no key for them: if clients
 * find a key, they expect a value other than null. */
void json_object_remove_null_fields(const struct schema *schema, void *object);

#endif
