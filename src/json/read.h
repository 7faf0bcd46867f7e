/* read.h - pull parser for JSON.
 *
 * The parser accepts exactly RFC 8259: no comments, no trailing commas, no NaN, no control
 * characters in strings, no lone surrogates, only UTF-8. Integers are exact to 64 bits. The reader
 * does not recurse. After the first syntax error every call returns JSON_BAD or false; check
 * json_reader_has_no_error once at the end. */
#ifndef JSON_READ_H
#define JSON_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct arena;

enum { JSON_MAX_DEPTH = 64, JSON_MAX_VALUES = 100000, JSON_MARGIN = 64 };

enum json_value_kind {
    JSON_BAD,
    JSON_NULL,
    JSON_BOOL,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT
};

struct json_number {
    enum { NUMBER_INT, NUMBER_UINT, NUMBER_REAL } kind; /* UINT is an integer above INT64_MAX */
    int64_t i;
    uint64_t u;
    double d; /* value as a double; set for all kinds of numbers; large integers are rounded */
    struct str raw; /* the number's JSON text */
};

struct json_reader {
    const char *at, *end;
    const char *safe;    /* position before which at least JSON_MARGIN bytes are readable */
    struct arena *arena; /* memory for strings that had escapes */
    uint64_t in_object;  /* one bit per nesting level: 1 for an object, 0 for an array */
    unsigned depth;
    unsigned values, values_max;
    bool first; /* whether no element of the current array or object was read yet */
    bool bad;
    bool escaped; /* whether any string had an escape */
};

/* The JSON text must stay valid as long as the strings that were read, because strings without
 * escapes point into it. */
void json_reader_init(struct json_reader *r, struct str text, struct arena *arena);

/* Returns the kind of the next value without consuming it. */
enum json_value_kind json_peek_kind(struct json_reader *r);

/* json_read_null, json_read_bool, json_read_number and json_read_string read one value of the kind
 * that json_peek_kind has returned. */
bool json_read_null(struct json_reader *r);
bool json_read_bool(struct json_reader *r, bool *ret);
bool json_read_number(struct json_reader *r, struct json_number *ret);
bool json_read_string(struct json_reader *r, struct str *ret);

/* json_enter_container enters an object or array. Then call json_next_member or json_next_item
 * until it returns false, which leaves the object or array (or reports an error). */
void json_enter_container(struct json_reader *r);
bool json_next_member(struct json_reader *r, struct str *ret_key); /* ret_key may be NULL */
bool json_next_item(struct json_reader *r);

/* Consumes and validates any value; returns its JSON text. */
bool json_skip_value(struct json_reader *r, struct str *ret_raw);

/* Returns true if the text consisted of exactly one value, with optional white space around it. */
bool json_is_at_end(struct json_reader *r);

static inline bool json_reader_has_no_error(const struct json_reader *r)
{
    return !r->bad;
}

/* Parses the JSON text of an integer, or of a string that contains only an integer. */
bool json_parse_int_text(struct str raw, int64_t *ret);

bool json_is_valid(struct str text);

/* Describes the first syntax error, such as "line 3, column 7, at users.0.name: …". Returns "" if
 * there is none. */
struct str json_describe_syntax_error(struct str text, struct arena *arena);

#endif
