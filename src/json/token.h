/* token.h - inline tokenizer functions for the JSON parser.
 *
 * read.c builds the functions of read.h from them; decode.c uses them directly, for speed. */
#ifndef JSON_TOKEN_H
#define JSON_TOKEN_H

#include "json/escape.h"
#include "json/read.h"
#include "json/scan.h"

/* Marks the text as invalid and moves r->at to the end, where every further call fails. */
static inline bool token_fail(struct json_reader *r)
{
    r->bad = true;
    r->at = r->end;
    return false;
}

static inline bool token_is(const struct json_reader *r, char c)
{
    return r->at < r->end && *r->at == c;
}

/* Skips white space; without any, this costs one comparison. */
static inline const char *token_skip_space(const char *p, const char *end)
{
    while (p < end && (unsigned char)*p <= ' ' &&
           (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t'))
        p++;
    return p;
}

/* Counts a value against values_max; outside of arrays and objects the maximum is one. */
static inline bool token_count(struct json_reader *r)
{
    if (r->values >= r->values_max)
        return token_fail(r);
    r->values++;
    return true;
}

/* Slow path of token_string, for any string. */
bool token_string_any(struct json_reader *r, struct str *ret);

/* Returns the closing quote of the string at p if the string is plain ASCII without escapes and
 * ends before the last block of the text; otherwise NULL. */
static inline const char *token_plain_end(const char *p, const char *end)
{
    unsigned n = 0;

    if (end - p <= SCAN_BLOCK || *p != '"')
        return NULL;
    p++;
    do
        p += n = scan_plain(p);
    while (n == SCAN_BLOCK && end - p >= SCAN_BLOCK);
    return n < SCAN_BLOCK && *p == '"' ? p : NULL;
}

/* Returns the closing quote of a string without escapes; p may be anywhere in the string. */
const char *token_text_end(const char *p, const char *end);

/* Reads and validates a string; does not store it if ret is NULL. */
static inline bool token_string(struct json_reader *r, struct str *ret)
{
    const char *start = r->at + 1, *p = token_plain_end(r->at, r->end);

    if (!p)
        return token_string_any(r, ret);
    r->at = p + 1;
    if (ret)
        *ret = str_slice(start, (size_t)(p - start));
    return true;
}

/* Enters the array or object at r->at without counting it as a value. */
static inline bool token_deeper(struct json_reader *r, bool object)
{
    if (r->depth == JSON_MAX_DEPTH)
        return token_fail(r);
    if (!r->depth++)
        r->values_max = JSON_MAX_VALUES;
    r->in_object = r->in_object << 1 | object;
    return true;
}

static inline bool token_down(struct json_reader *r, bool object)
{
    return token_count(r) ? token_deeper(r, object) : false;
}

/* Enters the array or object and moves to its first element. */
static inline bool token_enter(struct json_reader *r, bool object)
{
    if (!token_down(r, object))
        return false;
    r->first = true;
    r->at = token_skip_space(r->at + 1, r->end);
    return true;
}

/* Leaves an array or object; p is at its closing bracket. */
static inline bool token_leave(struct json_reader *r, const char *p)
{
    r->at = p + 1;
    r->in_object >>= 1;
    r->first = false;
    if (--r->depth == 0)
        r->values_max = 1;
    return false;
}

/* Moves to the next element, skipping white space; returns false at the end or on an error. */
bool token_next_any(struct json_reader *r, bool object);

/* Fast path of token_next_any, for text without white space. */
static inline bool token_next(struct json_reader *r, bool object)
{
    const char *p = r->at;

    if (r->end - p < 2 || (unsigned char)p[0] <= ' ' || (unsigned char)p[1] <= ' ' ||
        (r->in_object & 1) != object || (!object && !r->depth))
        return token_next_any(r, object);
    if (*p == ',' && !r->first) {
        r->at = p + 1;
        return true;
    }
    if (*p == (object ? '}' : ']'))
        return token_leave(r, p);
    if (!r->first)
        return token_fail(r);
    r->first = false;
    return true;
}

/* token_first, token_open and token_more are for loops over one array or object, which need not
 * check the level. token_first moves to the first element after token_deeper; false: none. */
static inline bool token_first(struct json_reader *r, bool object)
{
    const char *p = ++r->at;

    if (r->end - p < 2 || (unsigned char)*p <= ' ') {
        r->first = true;
        return token_next_any(r, object);
    }
    return *p == (object ? '}' : ']') ? token_leave(r, p) : true;
}

/* Enters an array or object and moves to its first element; false if there is none. */
static inline bool token_open(struct json_reader *r, bool object)
{
    return token_down(r, object) && token_first(r, object);
}

/* Moves from a value to the next element. White space before it remains; token_here skips that. */
static inline bool token_more(struct json_reader *r, bool object)
{
    const char *p = r->at;

    if (r->end - p < 2)
        return token_next_any(r, object);
    if (*p == ',') {
        r->at = p + 1;
        return true;
    }
    return *p == (object ? '}' : ']') ? token_leave(r, p) : token_next_any(r, object);
}

static inline void token_here(struct json_reader *r)
{
    r->at = token_skip_space(r->at, r->end);
}

bool token_colon_any(struct json_reader *r, const char *p);

/* Moves from a key to its value; p is after the key's closing quote. */
static inline bool token_colon(struct json_reader *r, const char *p)
{
    if (r->end - p < 2 || p[0] != ':' || (unsigned char)p[1] <= ' ')
        return token_colon_any(r, p);
    r->at = p + 1;
    return true;
}

#endif
