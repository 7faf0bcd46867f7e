/* token.h - inline tokenizer steps for the JSON parser.
 *
 * read.c builds the functions of read.h from them; decode.c, which reads every body, uses them
 * directly. */
#ifndef JSON_TOKEN_H
#define JSON_TOKEN_H

#include "json/escape.h"
#include "json/read.h"
#include "json/scan.h"

/* Fails and moves r->at to the end, where every further step fails. */
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

/* Usually there is no white space: one comparison tells. */
static inline const char *token_skip_space(const char *p, const char *end)
{
    while (p < end && (unsigned char)*p <= ' ' &&
           (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t'))
        p++;
    return p;
}

/* Counts a value; outside of arrays and objects only one is allowed. */
static inline bool token_count(struct json_reader *r)
{
    if (r->values >= r->values_max)
        return token_fail(r);
    r->values++;
    return true;
}

/* Slow path of token_string: any string, at any position. */
bool token_string_any(struct json_reader *r, struct str *ret);

/* Returns the closing quote of the string at p if it is plain ASCII without escapes and not within
 * the last block of the text; otherwise NULL. */
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

/* Returns the closing quote of a string without escapes; p may be anywhere in its content. */
const char *token_text_end(const char *p, const char *end);

/* Reads a validated string; not stored if ret is NULL. */
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

/* Counts the array or object as a value and enters it. */
static inline bool token_down(struct json_reader *r, bool object)
{
    return token_count(r) ? token_deeper(r, object) : false;
}

/* Like token_down, and moves to the first element. */
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

/* Moves to the next element, skipping white space; false at the end or on an error. */
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

/* token_first, token_open and token_more are for loops that stay on one level and need not check
 * it. token_first moves to the first element after token_deeper; false if there is none. */
static inline bool token_first(struct json_reader *r, bool object)
{
    const char *p = ++r->at;

    if (r->end - p < 2 || (unsigned char)*p <= ' ') {
        r->first = true;
        return token_next_any(r, object);
    }
    return *p == (object ? '}' : ']') ? token_leave(r, p) : true;
}

/* Like token_first, after entering with token_down. */
static inline bool token_open(struct json_reader *r, bool object)
{
    return token_down(r, object) && token_first(r, object);
}

/* Moves from a value to the next element. White space may precede it; token_here skips that. */
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
