/* write.h - writes JSON to a buffer.
 *
 * Compact, exactly like JSON.stringify: no spaces, escapes only where required. The writer inserts
 * commas and colons; the caller closes what it opens. */
#ifndef JSON_WRITE_H
#define JSON_WRITE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/snowflake.h"

struct json {
    struct buf *out;
    bool comma; /* whether a value precedes on this level */
};

static inline struct json json_to(struct buf *out)
{
    return (struct json){ .out = out };
}

void json_object(struct json *j);
void json_object_end(struct json *j);
void json_array(struct json *j);
void json_array_end(struct json *j);

/* Writes the name of the next value; the name must need no escapes. */
void json_key(struct json *j, struct str name);
#define json_name(j, literal) json_key((j), STR(literal))
/* Like json_key, but for names that may need escapes. */
void json_key_text(struct json *j, struct str name);

void json_null(struct json *j);
void json_bool(struct json *j, bool v);
void json_int(struct json *j, int64_t v);
void json_real(struct json *j, double v); /* shortest text that parses to v; null if not finite */
void json_text(struct json *j, struct str s); /* s must be valid UTF-8 */
void json_id(struct json *j, snowflake id);   /* as a decimal string */
void json_time(struct json *j, int64_t us);   /* as a timestamp string */
/* Writes text that is already one JSON value; null if it is empty. */
void json_raw(struct json *j, struct str value);

/* Writes object members that are already JSON text, separated by commas. */
void json_members(struct json *j, struct str members);

/* Reformats valid compact JSON with one line per member. */
void json_indent(struct str text, struct buf *out);

#endif
