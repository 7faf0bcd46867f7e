/* write.h - writes JSON to a buffer.
 *
 * The output is compact, exactly like that of JSON.stringify: no spaces, escapes only where
 * required. The writer inserts commas and colons; the caller ends each object and array that it
 * begins. */
#ifndef JSON_WRITE_H
#define JSON_WRITE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/snowflake.h"

struct json_writer {
    struct buf *out;
    bool comma; /* whether the next value in the object or array needs a comma before it */
};

static inline struct json_writer json_writer_to_buf(struct buf *out)
{
    return (struct json_writer){ .out = out };
}

void json_begin_object(struct json_writer *j);
void json_end_object(struct json_writer *j);
void json_begin_array(struct json_writer *j);
void json_end_array(struct json_writer *j);

/* Writes the name of the next member. The name must not contain characters that need escapes. */
void json_write_key(struct json_writer *j, struct str name);
#define json_write_name(j, literal) json_write_key((j), STR(literal))
/* Writes the name of the next member, which may contain characters that need escapes. */
void json_write_escaped_key(struct json_writer *j, struct str name);

void json_write_null(struct json_writer *j);
void json_write_bool(struct json_writer *j, bool v);
void json_write_int(struct json_writer *j, int64_t v);
void json_write_real(struct json_writer *j, double v); /* writes the shortest text that parses to v;
                                                        * writes null if v is not finite */
void json_write_text(struct json_writer *j, struct str s); /* s must be valid UTF-8 */
void json_write_id(struct json_writer *j, snowflake id);   /* writes a decimal string */
void json_write_time(struct json_writer *j, int64_t us);   /* writes a timestamp string */
/* Writes a text that is already one JSON value; writes null if the text is empty. */
void json_write_raw(struct json_writer *j, struct str value);

/* Writes object members that are already JSON text, separated by commas. */
void json_write_raw_members(struct json_writer *j, struct str members);

/* Reformats valid compact JSON with one line per member. */
void json_indent(struct str text, struct buf *out);

#endif
