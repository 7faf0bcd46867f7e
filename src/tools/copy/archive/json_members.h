/* json_members.h - members of JSON objects as text, without a schema. */
#ifndef TOOLS_COPY_ARCHIVE_JSON_MEMBERS_H
#define TOOLS_COPY_ARCHIVE_JSON_MEMBERS_H

#include "base/arena.h"
#include "json/schema.h"

/* Returns the JSON text of a member; empty if it is absent or null. */
struct str json_member_raw(struct str object, const char *name);
/* Returns a string member without quotes and escapes; empty if it is absent or no string. */
struct str json_member_text(struct arena *arena, struct str object, const char *name);
/* Returns an id member, a string of digits; 0 if it is absent. */
snowflake json_member_id(struct str object, const char *name);
int64_t json_member_int(struct str object, const char *name);
bool json_member_is_true(struct str object, const char *name);
/* Lists the items of a JSON array as text (struct str). */
struct list json_array_items(struct arena *arena, struct str array);

#endif
