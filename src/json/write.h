/* write.h - JSON, appended to a buffer.
 *
 * Compact, exactly as JSON.stringify would: no spaces, "\/" and "\u" only where
 * they must be. Commas and colons are placed by the writer; the caller says what
 * comes next and closes what it opened. */
#ifndef JSON_WRITE_H
#define JSON_WRITE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/snowflake.h"

struct json {
    struct buf *out;
    bool comma; /* a value came before on this level */
};

static inline struct json json_to(struct buf *out)
{
    return (struct json){ .out = out };
}

void json_object(struct json *j);
void json_object_end(struct json *j);
void json_array(struct json *j);
void json_array_end(struct json *j);

/* The next value's name; must need no escaping when it is a literal of ours. */
void json_key(struct json *j, struct str name);
#define json_name(j, literal) json_key((j), STR(literal))
/* A name from outside, escaped. */
void json_key_text(struct json *j, struct str name);

void json_null(struct json *j);
void json_bool(struct json *j, bool v);
void json_int(struct json *j, int64_t v);
void json_real(struct json *j, double v); /* shortest text that reads back the same; else null */
void json_text(struct json *j, struct str s); /* valid UTF-8 */
void json_id(struct json *j, snowflake id);   /* a decimal string */
void json_time(struct json *j, int64_t us);   /* a timestamp string */
/* Text that is one JSON value already; null when it is empty. */
void json_raw(struct json *j, struct str value);

/* Members of an object that are text already, with commas between them. */
void json_members(struct json *j, struct str members);

/* A valid JSON text again, with a line for each member: for people and for diffs. */
void json_indent(struct str text, struct buf *out);

#endif
