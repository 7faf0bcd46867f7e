/* read.h - JSON, pulled value by value out of bytes.
 *
 * RFC 8259 and nothing more: no comments, no trailing commas, no NaN, no
 * control characters in strings, no lone surrogates, UTF-8 only. Integers are
 * exact to 64 bits. The reader never recurses, so depth costs nothing but a
 * counter. After the first syntax error every call says JSON_BAD or false; a
 * caller checks json_ok once at the end. */
#ifndef JSON_READ_H
#define JSON_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct arena;

enum { JSON_MAX_DEPTH = 64, JSON_MAX_VALUES = 100000, JSON_MARGIN = 64 };

enum json_kind {
    JSON_BAD,
    JSON_NULL,
    JSON_BOOL,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT
};

struct json_number {
    enum { NUMBER_INT, NUMBER_UINT, NUMBER_REAL } kind; /* UINT: above INT64_MAX */
    int64_t i;
    uint64_t u;
    double d;       /* always set, rounded for big integers */
    struct str raw; /* as written */
};

struct json_reader {
    const char *at, *end;
    const char *safe;    /* JSON_MARGIN bytes are there from any place before it */
    struct arena *arena; /* where strings with escapes are made */
    uint64_t in_object;  /* one bit a level: object or array */
    unsigned depth;
    unsigned values, values_max;
    bool first; /* nothing read yet on this level */
    bool bad;
    bool escaped; /* a string that was taken had an escape */
};

/* The bytes must stay: strings without escapes point into them. */
void json_reader_init(struct json_reader *r, struct str text, struct arena *arena);

/* What comes next, without taking it. */
enum json_kind json_peek(struct json_reader *r);

/* Take one value of the kind that json_peek said. */
bool json_take_null(struct json_reader *r);
bool json_take_bool(struct json_reader *r, bool *ret);
bool json_take_number(struct json_reader *r, struct json_number *ret);
bool json_take_string(struct json_reader *r, struct str *ret);

/* Enter an object or array, then ask for members until it says false, which
 * also leaves it (or something is bad). */
void json_enter(struct json_reader *r);
bool json_next_member(struct json_reader *r, struct str *ret_key); /* NULL: not kept */
bool json_next_item(struct json_reader *r);

/* Takes one value of any kind, checked as strictly as the others; its text. */
bool json_skip(struct json_reader *r, struct str *ret_raw);

/* All bytes were one value with white space around it. */
bool json_end(struct json_reader *r);

static inline bool json_ok(const struct json_reader *r)
{
    return !r->bad;
}

/* A raw value that is a whole number, or a string of nothing but its digits. */
bool json_raw_int(struct str raw, int64_t *ret);

/* One whole text: is it JSON? */
bool json_valid(struct str text);

/* Where it is not and why, in words: "line 3, column 7, at users.0.name: …"; empty when it is. */
struct str json_mistake(struct str text, struct arena *arena);

#endif
