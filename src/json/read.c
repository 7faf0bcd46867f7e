/* read.c - pull parser for JSON.
 *
 * White space is skipped after each token, so that a value always starts at r->at. After a failure
 * r->at is at the end of the text, so every further call fails. */
#include "json/read.h"

#include "base/utf8.h"
#include "json/number.h"
#include "json/reader_inline.h"

void json_reader_init(struct json_reader *r, struct str text, struct arena *arena)
{
    *r = (struct json_reader){ .end = text.p + text.n, .arena = arena, .values_max = 1 };
    r->safe = text.n > JSON_MARGIN ? r->end - JSON_MARGIN : text.p;
    r->at = skip_json_space(text.p, r->end);
}

static const unsigned char kind_of_first_byte[256] = {
    ['"'] = JSON_STRING, ['{'] = JSON_OBJECT, ['['] = JSON_ARRAY,  ['t'] = JSON_BOOL,
    ['f'] = JSON_BOOL,   ['n'] = JSON_NULL,   ['-'] = JSON_NUMBER, ['0'] = JSON_NUMBER,
    ['1'] = JSON_NUMBER, ['2'] = JSON_NUMBER, ['3'] = JSON_NUMBER, ['4'] = JSON_NUMBER,
    ['5'] = JSON_NUMBER, ['6'] = JSON_NUMBER, ['7'] = JSON_NUMBER, ['8'] = JSON_NUMBER,
    ['9'] = JSON_NUMBER,
};

enum json_value_kind json_peek_kind(struct json_reader *r)
{
    enum json_value_kind kind =
        r->at < r->end ? kind_of_first_byte[(unsigned char)*r->at] : JSON_BAD;

    if (kind == JSON_BAD)
        json_reader_mark_invalid(r);
    return kind;
}

static inline __attribute__((always_inline)) bool read_literal(struct json_reader *r,
                                                               struct str word)
{
    if ((size_t)(r->end - r->at) < word.n || memcmp(r->at, word.p, word.n) != 0 ||
        !json_reader_count_towards_value_limit(r))
        return json_reader_mark_invalid(r);
    r->at += word.n;
    return true;
}

bool json_read_null(struct json_reader *r)
{
    return read_literal(r, STR("null"));
}

bool json_read_bool(struct json_reader *r, bool *ret)
{
    bool value = json_reader_is_at_char(r, 't');

    if (!(value ? read_literal(r, STR("true")) : read_literal(r, STR("false"))))
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

/* Scans a number. Returns its text, and also its value if it is an integer of up to 19 digits. */
static bool scan_number(struct json_reader *r, struct str *raw, bool *whole, uint64_t *value)
{
    const char *p = r->at, *start;

    p += json_reader_is_at_char(r, '-');
    if (!is_digit(p, r->end))
        return json_reader_mark_invalid(r);
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
            return json_reader_mark_invalid(r);
        *whole = false;
        p = skip_digits(p, r->end);
    }
    if (p < r->end && (*p == 'e' || *p == 'E')) {
        p++;
        p += p < r->end && (*p == '+' || *p == '-');
        if (!is_digit(p, r->end))
            return json_reader_mark_invalid(r);
        *whole = false;
        p = skip_digits(p, r->end);
    }
    *raw = str_slice(r->at, (size_t)(p - r->at));
    r->at = p;
    return json_reader_count_towards_value_limit(r);
}

static void set_number_to_integer(struct json_number *n, bool minus, uint64_t u)
{
    n->kind = u > INT64_MAX && !minus ? NUMBER_UINT : NUMBER_INT;
    n->u = u;
    n->i = (int64_t)(minus ? 0 - u : u);
    n->d = minus ? -(double)u : (double)u;
}

bool json_read_number(struct json_reader *r, struct json_number *ret)
{
    struct str raw;
    uint64_t u;
    bool whole, minus = json_reader_is_at_char(r, '-');

    if (!scan_number(r, &raw, &whole, &u))
        return false;
    /* An integer of 20 digits may still fit into 64 bits. */
    if (!whole)
        whole = str_to_u64(str_skip_bytes(raw, minus), &u);
    if (whole && (!minus || u <= (uint64_t)INT64_MAX + 1))
        set_number_to_integer(ret, minus, u);
    else
        *ret = (struct json_number){ .kind = NUMBER_REAL, .d = parse_double(raw) };
    ret->raw = raw;
    return true;
}

static inline bool is_continuation_byte(unsigned char c)
{
    return (c & 0xc0) == 0x80;
}

/* Returns the length of a non-ASCII character that is easy to check: one of two bytes, or of three
 * except after E0 and ED, where the second byte is restricted. Returns 0 if utf8_decode must check
 * the character. */
static inline size_t common_multibyte_length(const char *p)
{
    unsigned char c = (unsigned char)*p;

    if (c >= 0xc2 && c <= 0xdf)
        return is_continuation_byte((unsigned char)p[1]) ? 2 : 0;
    if (c > 0xe0 && c <= 0xef && c != 0xed)
        return is_continuation_byte((unsigned char)p[1]) &&
                       is_continuation_byte((unsigned char)p[2])
                   ? 3
                   : 0;
    return 0;
}

static const char *skip_non_ascii(const char *p, const char *end)
{
    uint32_t cp;

    while (p < end && (unsigned char)*p >= 0x80) {
        size_t n = end - p >= 3 ? common_multibyte_length(p) : 0;

        if (n == 0)
            n = utf8_decode(str_slice(p, (size_t)(end - p)), &cp);
        if (n == 0)
            return NULL;
        p += n;
    }
    return p;
}

static const char *skip_plain_ascii(const char *p, const char *end)
{
    for (; end - p >= SCAN_BLOCK; p += SCAN_BLOCK) {
        unsigned n = count_plain_bytes_at_start(p);

        if (n < SCAN_BLOCK)
            return p + n;
    }
    while (p < end && (unsigned char)*p >= 0x20 && (unsigned char)*p < 0x80 && *p != '"' &&
           *p != '\\')
        p++;
    return p;
}

/* Returns the closing quote of the string whose content starts at p; NULL if the string is
 * invalid. */
static const char *find_string_end(const char *p, const char *end, bool *escaped)
{
    uint32_t cp;

    *escaped = false;
    while ((p = skip_plain_ascii(p, end)) < end && *p != '"') {
        if (*p == '\\') {
            size_t n = decode_escape(p, end, &cp);

            p = n ? p + n : NULL;
            *escaped = true;
        } else {
            p = (unsigned char)*p < 0x20 ? NULL : skip_non_ascii(p, end);
        }
        if (!p)
            return NULL;
    }
    return p < end ? p : NULL;
}

const char *find_unescaped_string_end(const char *p, const char *end)
{
    bool escaped;

    p = find_string_end(p, end, &escaped);
    return escaped ? NULL : p;
}

bool json_reader_read_string_slow(struct json_reader *r, struct str *ret)
{
    const char *start = r->at + 1, *p;
    bool escaped;

    if (!json_reader_is_at_char(r, '"') || !(p = find_string_end(start, r->end, &escaped)))
        return json_reader_mark_invalid(r);
    r->at = p + 1;
    r->escaped |= escaped;
    if (ret) {
        *ret = str_slice(start, (size_t)(p - start));
        if (escaped)
            *ret = decode_escapes(r->arena, *ret);
    }
    return true;
}

bool json_reader_next_element_slow(struct json_reader *r, bool object)
{
    const char *p = skip_json_space(r->at, r->end);

    if (p == r->end || !r->depth || (r->in_object & 1) != object)
        return json_reader_mark_invalid(r);
    if (*p == (object ? '}' : ']'))
        return json_reader_leave_container(r, p);
    if (!r->first) {
        if (*p != ',')
            return json_reader_mark_invalid(r);
        p = skip_json_space(p + 1, r->end);
    }
    r->first = false;
    r->at = p;
    return true;
}

bool json_reader_read_colon_slow(struct json_reader *r, const char *p)
{
    p = skip_json_space(p, r->end);
    if (p == r->end || *p != ':')
        return json_reader_mark_invalid(r);
    r->at = skip_json_space(p + 1, r->end);
    return true;
}

bool json_read_string(struct json_reader *r, struct str *ret)
{
    return json_reader_count_towards_value_limit(r) && json_reader_read_string(r, ret);
}

void json_enter_container(struct json_reader *r)
{
    if (json_reader_is_at_char(r, '{'))
        json_reader_enter_container(r, true);
    else if (json_reader_is_at_char(r, '['))
        json_reader_enter_container(r, false);
    else
        json_reader_mark_invalid(r);
}

bool json_next_member(struct json_reader *r, struct str *ret_key)
{
    return json_reader_next_element(r, true) && json_reader_read_string(r, ret_key) &&
           json_reader_read_colon(r, r->at);
}

bool json_next_item(struct json_reader *r)
{
    return json_reader_next_element(r, false);
}

/* Consumes a scalar value, or enters an array or object. */
static void skip_scalar_or_enter_container(struct json_reader *r)
{
    struct str raw;
    uint64_t u;
    bool b;

    switch (json_peek_kind(r)) {
    case JSON_NULL:
        json_read_null(r);
        break;
    case JSON_BOOL:
        json_read_bool(r, &b);
        break;
    case JSON_NUMBER:
        scan_number(r, &raw, &b, &u);
        break;
    case JSON_STRING:
        json_read_string(r, NULL);
        break;
    case JSON_ARRAY:
    case JSON_OBJECT:
        json_enter_container(r);
        break;
    case JSON_BAD:
        break;
    }
}

bool json_skip_value(struct json_reader *r, struct str *ret_raw)
{
    const char *start = r->at;
    unsigned depth = r->depth;

    skip_scalar_or_enter_container(r);
    while (!r->bad && r->depth > depth)
        if (r->in_object & 1 ? json_next_member(r, NULL) : json_next_item(r))
            skip_scalar_or_enter_container(r);
    if (!r->bad && ret_raw)
        *ret_raw = str_slice(start, (size_t)(r->at - start));
    return !r->bad;
}

bool json_is_at_end(struct json_reader *r)
{
    r->at = skip_json_space(r->at, r->end);
    if (r->at < r->end || r->depth || !r->values)
        json_reader_mark_invalid(r);
    return !r->bad;
}

bool json_is_valid(struct str text)
{
    struct json_reader r;

    json_reader_init(&r, text, NULL);
    return json_skip_value(&r, NULL) && json_is_at_end(&r);
}

bool json_parse_int_text(struct str raw, int64_t *ret)
{
    if (raw.n > 2 && raw.p[0] == '"')
        raw = str_slice(raw.p + 1, raw.n - 2);
    return raw.p && str_to_i64(raw, ret);
}
