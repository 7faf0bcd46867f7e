/* read.c - JSON, pulled value by value out of bytes.
 *
 * White space is passed right after each token, so that a value always begins at
 * r->at. A failure moves r->at to the end, where every further call fails by
 * itself. */
#include "json/read.h"

#include "base/utf8.h"
#include "json/escape.h"
#include "json/number.h"
#include "json/scan.h"

static bool fail(struct json_reader *r)
{
    r->bad = true;
    r->at = r->end;
    return false;
}

static inline void skip_space(struct json_reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\n' || *r->at == '\r' || *r->at == '\t'))
        r->at++;
}

static inline bool next_is(const struct json_reader *r, char c)
{
    return r->at < r->end && *r->at == c;
}

void json_reader_init(struct json_reader *r, struct str text, struct arena *arena)
{
    *r = (struct json_reader){ .at = text.p, .end = text.p + text.n, .arena = arena };
    skip_space(r);
}

/* The first byte of a value says what it is. */
static const unsigned char kind_of[256] = {
    ['"'] = JSON_STRING, ['{'] = JSON_OBJECT, ['['] = JSON_ARRAY,  ['t'] = JSON_BOOL,
    ['f'] = JSON_BOOL,   ['n'] = JSON_NULL,   ['-'] = JSON_NUMBER, ['0'] = JSON_NUMBER,
    ['1'] = JSON_NUMBER, ['2'] = JSON_NUMBER, ['3'] = JSON_NUMBER, ['4'] = JSON_NUMBER,
    ['5'] = JSON_NUMBER, ['6'] = JSON_NUMBER, ['7'] = JSON_NUMBER, ['8'] = JSON_NUMBER,
    ['9'] = JSON_NUMBER,
};

enum json_kind json_peek(struct json_reader *r)
{
    enum json_kind kind = r->at < r->end ? kind_of[(unsigned char)*r->at] : JSON_BAD;

    if (kind == JSON_BAD)
        fail(r);
    return kind;
}

/* Every value is counted; outside of arrays and objects there is only one. */
static inline bool count_value(struct json_reader *r)
{
    if (r->values == (r->depth ? JSON_MAX_VALUES : 1))
        return fail(r);
    r->values++;
    return true;
}

static bool take_word(struct json_reader *r, struct str word)
{
    if ((size_t)(r->end - r->at) < word.n || memcmp(r->at, word.p, word.n) != 0 || !count_value(r))
        return fail(r);
    r->at += word.n;
    return true;
}

bool json_take_null(struct json_reader *r)
{
    return take_word(r, STR("null"));
}

bool json_take_bool(struct json_reader *r, bool *ret)
{
    bool value = next_is(r, 't');

    if (!take_word(r, value ? STR("true") : STR("false")))
        return false;
    *ret = value;
    return true;
}

static inline bool is_digit(const char *p, const char *end)
{
    return p < end && *p >= '0' && *p <= '9';
}

static const char *skip_digits(const char *p, const char *end)
{
    while (is_digit(p, end))
        p++;
    return p;
}

/* The text of a number and its value while it is a whole one of up to 19
 * digits, which always fit. */
static bool scan_number(struct json_reader *r, struct str *raw, bool *whole, uint64_t *value)
{
    const char *p = r->at, *start;

    p += next_is(r, '-');
    if (!is_digit(p, r->end))
        return fail(r);
    *value = 0;
    start = p;
    if (*p == '0')
        p++;
    else
        for (; is_digit(p, r->end); p++)
            *value = *value * 10 + (uint64_t)(*p - '0');
    *whole = p - start <= 19;

    if (p < r->end && *p == '.') {
        if (!is_digit(++p, r->end))
            return fail(r);
        *whole = false;
        p = skip_digits(p, r->end);
    }
    if (p < r->end && (*p == 'e' || *p == 'E')) {
        p++;
        p += p < r->end && (*p == '+' || *p == '-');
        if (!is_digit(p, r->end))
            return fail(r);
        *whole = false;
        p = skip_digits(p, r->end);
    }
    *raw = str_slice(r->at, (size_t)(p - r->at));
    r->at = p;
    return count_value(r);
}

static void number_set(struct json_number *n, bool minus, uint64_t u)
{
    n->kind = u > INT64_MAX && !minus ? NUMBER_UINT : NUMBER_INT;
    n->u = u;
    n->i = (int64_t)(minus ? 0 - u : u);
    n->d = minus ? -(double)u : (double)u;
}

bool json_take_number(struct json_reader *r, struct json_number *ret)
{
    struct str raw;
    uint64_t u;
    bool whole, minus = next_is(r, '-');

    if (!scan_number(r, &raw, &whole, &u))
        return false;
    /* Longer ones may still fit, and are told apart from fractions by trying. */
    if (!whole)
        whole = str_to_u64(str_from(raw, minus), &u);
    if (whole && (!minus || u <= (uint64_t)INT64_MAX + 1))
        number_set(ret, minus, u);
    else
        *ret = (struct json_number){ .kind = NUMBER_REAL, .d = number_from_text(raw) };
    ret->raw = raw;
    return true;
}

static const char *skip_plain(const char *p, const char *end)
{
    while (end - p >= 8) {
        uint64_t word = scan_load(p), marks = scan_escapes(word) | scan_high(word);

        if (marks)
            return p + scan_first(marks);
        p += 8;
    }
    while (p < end && (unsigned char)*p >= 0x20 && (unsigned char)*p < 0x80 && *p != '"' &&
           *p != '\\')
        p++;
    return p;
}

static const char *skip_high(const char *p, const char *end)
{
    uint32_t cp;

    while (p < end && (unsigned char)*p >= 0x80) {
        size_t n = utf8_decode(str_slice(p, (size_t)(end - p)), &cp);

        if (n == 0)
            return NULL;
        p += n;
    }
    return p;
}

/* A string as written, without its quotes, and checked completely. */
static bool scan_string(struct json_reader *r, struct str *raw, bool *escaped)
{
    const char *p = r->at, *end = r->end;
    uint32_t cp;

    if (!next_is(r, '"'))
        return fail(r);
    p++;
    *escaped = false;
    while ((p = skip_plain(p, end)) < end && *p != '"') {
        if (*p == '\\') {
            size_t n = escape_read(p, end, &cp);

            p = n ? p + n : NULL;
            *escaped = true;
        } else {
            p = (unsigned char)*p < 0x20 ? NULL : skip_high(p, end);
        }
        if (!p)
            return fail(r);
    }
    if (p == end)
        return fail(r);
    *raw = str_slice(r->at + 1, (size_t)(p - r->at - 1));
    r->at = p + 1;
    return true;
}

static inline bool read_string(struct json_reader *r, struct str *ret)
{
    struct str raw;
    bool escaped;

    if (!scan_string(r, &raw, &escaped))
        return false;
    if (ret)
        *ret = escaped ? escape_resolve(r->arena, raw) : raw;
    return true;
}

bool json_take_string(struct json_reader *r, struct str *ret)
{
    return count_value(r) && read_string(r, ret);
}

void json_enter(struct json_reader *r)
{
    bool object = next_is(r, '{');

    if ((!object && !next_is(r, '[')) || r->depth == JSON_MAX_DEPTH || !count_value(r)) {
        fail(r);
        return;
    }
    r->at++;
    r->depth++;
    r->in_object = r->in_object << 1 | object;
    r->first = true;
    skip_space(r);
}

static bool leave(struct json_reader *r)
{
    r->at++;
    r->depth--;
    r->in_object >>= 1;
    r->first = false;
    return false;
}

/* To the next place in an array or object; false when there is none. */
static inline bool next_place(struct json_reader *r, bool object)
{
    if (!r->depth || (r->in_object & 1) != object)
        return fail(r);
    skip_space(r);
    if (next_is(r, object ? '}' : ']'))
        return leave(r);
    if (!r->first) {
        if (!next_is(r, ','))
            return fail(r);
        r->at++;
        skip_space(r);
    }
    r->first = false;
    return !r->bad;
}

/* The key is not kept when ret_key is NULL. */
static inline bool next_member(struct json_reader *r, struct str *ret_key)
{
    if (!next_place(r, true) || !read_string(r, ret_key))
        return false;
    skip_space(r);
    if (!next_is(r, ':'))
        return fail(r);
    r->at++;
    skip_space(r);
    return true;
}

bool json_next_member(struct json_reader *r, struct str *ret_key)
{
    return next_member(r, ret_key);
}

bool json_next_item(struct json_reader *r)
{
    return next_place(r, false);
}

/* Takes a scalar, or enters what is not one. */
static void skip_one(struct json_reader *r)
{
    struct str raw;
    uint64_t u;
    bool b;

    switch (json_peek(r)) {
    case JSON_NULL:
        json_take_null(r);
        break;
    case JSON_BOOL:
        json_take_bool(r, &b);
        break;
    case JSON_NUMBER:
        scan_number(r, &raw, &b, &u);
        break;
    case JSON_STRING:
        json_take_string(r, NULL);
        break;
    case JSON_ARRAY:
    case JSON_OBJECT:
        json_enter(r);
        break;
    case JSON_BAD:
        break;
    }
}

bool json_skip(struct json_reader *r, struct str *ret_raw)
{
    const char *start = r->at;
    unsigned depth = r->depth;

    skip_one(r);
    while (!r->bad && r->depth > depth)
        if (r->in_object & 1 ? next_member(r, NULL) : next_place(r, false))
            skip_one(r);
    if (!r->bad && ret_raw)
        *ret_raw = str_slice(start, (size_t)(r->at - start));
    return !r->bad;
}

bool json_end(struct json_reader *r)
{
    skip_space(r);
    if (r->at < r->end || r->depth || !r->values)
        fail(r);
    return !r->bad;
}

bool json_valid(struct str text)
{
    struct json_reader r;

    json_reader_init(&r, text, NULL);
    return json_skip(&r, NULL) && json_end(&r);
}
