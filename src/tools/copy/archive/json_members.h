/* json_members.h - reads fields of JSON objects as text, without a schema. */
#ifndef TOOLS_COPY_ARCHIVE_JSON_MEMBERS_H
#define TOOLS_COPY_ARCHIVE_JSON_MEMBERS_H

#include "base/arena.h"
#include "json/schema.h"

/* Returns the JSON text of a field. Returns "" if the field is absent or null. */
struct str json_member_get_raw_text(struct str object, const char *name);
/* Returns a string field, without quotes and escapes. Returns "" if the field is absent or not a
 * string. */
struct str json_member_get_text(struct arena *arena, struct str object, const char *name);
/* Returns an id field, which is a string of digits. Returns 0 if the field is absent. */
snowflake json_member_get_id(struct str object, const char *name);
int64_t json_member_int(struct str object, const char *name);
bool json_member_is_true(struct str object, const char *name);
/* Lists the elements of a JSON array as JSON text (struct str). */
struct list json_array_get_items(struct arena *arena, struct str array);

#endif
