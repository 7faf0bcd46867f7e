/* reader_inline.h - inline tokenizer functions for the JSON parser.
 *
 * read.c implements read.h with these functions; decode.c calls them directly, for speed. */
#ifndef JSON_READER_INLINE_H
#define JSON_READER_INLINE_H

#include "json/escape.h"
#include "json/read.h"
#include "json/scan.h"

/* Marks the text as invalid and moves r->at to its end, so that every further call fails. */
static inline bool json_reader_mark_invalid(struct json_reader *r)
{
    r->bad = true;
    r->at = r->end;
    return false;
}

static inline bool json_reader_is_at_char(const struct json_reader *r, char c)
{
    return r->at < r->end && *r->at == c;
}

/* Skips white space. If there is no white space, the call costs one comparison. */
static inline const char *skip_json_space(const char *p, const char *end)
{
    while (p < end && (unsigned char)*p <= ' ' &&
           (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t'))
        p++;
    return p;
}

/* Counts a value against the limit of values. Until the first array or object is entered, the limit
 * values_max is 1. */
static inline bool json_reader_count_towards_value_limit(struct json_reader *r)
{
    if (r->values >= r->values_max)
        return json_reader_mark_invalid(r);
    r->values++;
    return true;
}

bool json_reader_read_string_slow(struct json_reader *r, struct str *ret);

/* Returns the closing quote of the string that starts at p. Returns NULL if the string has escapes
 * or non-ASCII characters, or ends in the last SCAN_BLOCK bytes of the text. */
static inline const char *find_plain_string_end(const char *p, const char *end)
{
    unsigned n = 0;

    if (end - p <= SCAN_BLOCK || *p != '"')
        return NULL;
    p++;
    do
        p += n = count_plain_bytes_at_start(p);
    while (n == SCAN_BLOCK && end - p >= SCAN_BLOCK);
    return n < SCAN_BLOCK && *p == '"' ? p : NULL;
}

/* Returns the closing quote of a string that has no escapes; otherwise returns NULL. p may be
 * anywhere inside the string. */
const char *find_unescaped_string_end(const char *p, const char *end);

/* Reads and validates a string; ret may be NULL. */
static inline bool json_reader_read_string(struct json_reader *r, struct str *ret)
{
    const char *start = r->at + 1, *p = find_plain_string_end(r->at, r->end);

    if (!p)
        return json_reader_read_string_slow(r, ret);
    r->at = p + 1;
    if (ret)
        *ret = str_slice(start, (size_t)(p - start));
    return true;
}

/* Enters the array or object at r->at, but does not count it as a value. */
static inline bool json_reader_enter_container_uncounted(struct json_reader *r, bool object)
{
    if (r->depth == JSON_MAX_DEPTH)
        return json_reader_mark_invalid(r);
    if (!r->depth++)
        r->values_max = JSON_MAX_VALUES;
    r->in_object = r->in_object << 1 | object;
    return true;
}

static inline bool json_reader_count_and_enter_container(struct json_reader *r, bool object)
{
    return json_reader_count_towards_value_limit(r)
               ? json_reader_enter_container_uncounted(r, object)
               : false;
}

/* Enters the array or object and moves to its first element. */
static inline bool json_reader_enter_container(struct json_reader *r, bool object)
{
    if (!json_reader_count_and_enter_container(r, object))
        return false;
    r->first = true;
    r->at = skip_json_space(r->at + 1, r->end);
    return true;
}

/* Leaves an array or object; p is at its closing bracket. */
static inline bool json_reader_leave_container(struct json_reader *r, const char *p)
{
    r->at = p + 1;
    r->in_object >>= 1;
    r->first = false;
    if (--r->depth == 0)
        r->values_max = 1;
    return false;
}

/* Moves to the next element and skips white space. Returns false at the end of the array or object,
 * or on an error. */
bool json_reader_next_element_slow(struct json_reader *r, bool object);

/* Fast path of json_reader_next_element_slow, for text without white space. */
static inline bool json_reader_next_element(struct json_reader *r, bool object)
{
    const char *p = r->at;

    if (r->end - p < 2 || (unsigned char)p[0] <= ' ' || (unsigned char)p[1] <= ' ' ||
        (r->in_object & 1) != object || (!object && !r->depth))
        return json_reader_next_element_slow(r, object);
    if (*p == ',' && !r->first) {
        r->at = p + 1;
        return true;
    }
    if (*p == (object ? '}' : ']'))
        return json_reader_leave_container(r, p);
    if (!r->first)
        return json_reader_mark_invalid(r);
    r->first = false;
    return true;
}

/* json_reader_move_to_first_element, json_reader_enter_and_move_to_first_element and
 * json_reader_move_to_next_element are for loops over one array or object, where the nesting level
 * need not be checked. Call json_reader_move_to_first_element after
 * json_reader_enter_container_uncounted. Each returns false if there is no element. */
static inline bool json_reader_move_to_first_element(struct json_reader *r, bool object)
{
    const char *p = ++r->at;

    if (r->end - p < 2 || (unsigned char)*p <= ' ') {
        r->first = true;
        return json_reader_next_element_slow(r, object);
    }
    return *p == (object ? '}' : ']') ? json_reader_leave_container(r, p) : true;
}

/* Enters an array or object and moves to its first element. Returns false if it is empty. */
static inline bool json_reader_enter_and_move_to_first_element(struct json_reader *r, bool object)
{
    return json_reader_count_and_enter_container(r, object) &&
           json_reader_move_to_first_element(r, object);
}

/* Moves from a value to the next element. Does not skip white space before that element; the caller
 * calls json_reader_skip_space. */
static inline bool json_reader_move_to_next_element(struct json_reader *r, bool object)
{
    const char *p = r->at;

    if (r->end - p < 2)
        return json_reader_next_element_slow(r, object);
    if (*p == ',') {
        r->at = p + 1;
        return true;
    }
    return *p == (object ? '}' : ']') ? json_reader_leave_container(r, p)
                                      : json_reader_next_element_slow(r, object);
}

static inline void json_reader_skip_space(struct json_reader *r)
{
    r->at = skip_json_space(r->at, r->end);
}

bool json_reader_read_colon_slow(struct json_reader *r, const char *p);

/* Consumes the colon after a key and moves to the value. p points to the byte after the key's
 * closing quote. */
static inline bool json_reader_read_colon(struct json_reader *r, const char *p)
{
    if (r->end - p < 2 || p[0] != ':' || (unsigned char)p[1] <= ' ')
        return json_reader_read_colon_slow(r, p);
    r->at = p + 1;
    return true;
}

#endif
