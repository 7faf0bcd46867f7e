/* token.h - the steps of a reader, small enough to become part of the loops that take them.
 *
 * read.c makes the functions of read.h from them; decode.c, through which every body goes,
 * takes them itself. */
#ifndef JSON_TOKEN_H
#define JSON_TOKEN_H

#include "json/escape.h"
#include "json/read.h"
#include "json/scan.h"

/* A failure moves r->at to the end, where every further step fails by itself. */
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

/* Mostly there is none: one comparison says so. */
static inline const char *token_skip_space(const char *p, const char *end)
{
    while (p < end && (unsigned char)*p <= ' ' &&
           (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t'))
        p++;
    return p;
}

/* Every value is counted; outside of arrays and objects there is only one. */
static inline bool token_count(struct json_reader *r)
{
    if (r->values >= r->values_max)
        return token_fail(r);
    r->values++;
    return true;
}

/* Any string, however it is written and wherever the text ends. */
bool token_string_any(struct json_reader *r, struct str *ret);

/* The closing quote of the string that begins at p, when it is plain and not at the very end
 * of the text, where there is no block to look at; else NULL. Most strings are. */
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

/* The same for any text without escapes, from wherever in it p is. */
const char *token_text_end(const char *p, const char *end);

/* A string, checked completely; not kept when ret is NULL. */
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

/* One level down, into the array or object that begins here and is not counted yet, */
static inline bool token_deeper(struct json_reader *r, bool object)
{
    if (r->depth == JSON_MAX_DEPTH)
        return token_fail(r);
    if (!r->depth++)
        r->values_max = JSON_MAX_VALUES;
    r->in_object = r->in_object << 1 | object;
    return true;
}

/* or is counted now. */
static inline bool token_down(struct json_reader *r, bool object)
{
    return token_count(r) ? token_deeper(r, object) : false;
}

/* The same, and to what is there. */
static inline bool token_enter(struct json_reader *r, bool object)
{
    if (!token_down(r, object))
        return false;
    r->first = true;
    r->at = token_skip_space(r->at + 1, r->end);
    return true;
}

/* Out of it; p is at what closes it. */
static inline bool token_leave(struct json_reader *r, const char *p)
{
    r->at = p + 1;
    r->in_object >>= 1;
    r->first = false;
    if (--r->depth == 0)
        r->values_max = 1;
    return false;
}

/* To the next place in an array or object, over white space; false when there is none. */
bool token_next_any(struct json_reader *r, bool object);

/* The same, at once where there is no white space. */
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

/* The same for a loop that stays on its level, so that it need not ask where it is: to the first
 * place of what begins here, one level down already, */
static inline bool token_first(struct json_reader *r, bool object)
{
    const char *p = ++r->at;

    if (r->end - p < 2 || (unsigned char)*p <= ' ') {
        r->first = true;
        return token_next_any(r, object);
    }
    return *p == (object ? '}' : ']') ? token_leave(r, p) : true;
}

/* or one level down and there, */
static inline bool token_open(struct json_reader *r, bool object)
{
    return token_down(r, object) && token_first(r, object);
}

/* and from a value to the next. What comes there may have white space before it, which
 * token_here passes. */
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

/* From a key to its value; p is behind the key's last quote. */
static inline bool token_colon(struct json_reader *r, const char *p)
{
    if (r->end - p < 2 || p[0] != ':' || (unsigned char)p[1] <= ' ')
        return token_colon_any(r, p);
    r->at = p + 1;
    return true;
}

#endif
