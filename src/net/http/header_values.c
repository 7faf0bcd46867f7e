/* header_values.c - parses values of headers such as Content-Type, Accept-Encoding and Range. */
#include "net/http/http_parser.h"

#include "net/http/syntax.h"

bool http_media_type_is(struct str content_type, struct str type)
{
    return content_type.n && str_eq_nocase(str_trim(str_cut(&content_type, ';')), type);
}

/* Copies the value of a parameter without the backslashes of a quoted string. Returns false if the
 * value does not fit. */
static bool copy_unquoted_parameter(const struct header_parameter *p, char *out, size_t max,
                                    size_t *ret_n)
{
    size_t n = 0;

    for (size_t i = 0; i < p->value.n; i++, n++) {
        if (p->quoted && p->value.p[i] == '\\')
            i++;
        if (out && n == max)
            return false;
        if (out)
            out[n] = p->value.p[i];
    }
    *ret_n = n;
    return true;
}

bool http_copy_header_parameter(struct str value, struct str name, char *out, size_t max,
                                size_t *ret_n)
{
    const char *start = value.n ? memchr(value.p, ';', value.n) : NULL;
    struct header_parameter p;

    if (!start)
        return false;
    struct str rest = str_skip_bytes(value, (size_t)(start - value.p));
    while (parse_next_header_parameter(&rest, &p) > 0)
        if (str_eq_nocase(p.name, name))
            return copy_unquoted_parameter(&p, out, max, ret_n);
    return false;
}

/* Returns true if a weight such as "q=0.5" is above zero; false if the weight is zero or
 * malformed. */
static bool quality_is_above_zero(struct str parameters)
{
    struct str name = str_trim(str_cut(&parameters, '='));
    struct str q = str_trim(parameters);

    if (!str_eq_nocase(name, STR("q")) || q.n == 0 || q.n > 5 || (q.p[0] != '0' && q.p[0] != '1') ||
        (q.n > 1 && q.p[1] != '.'))
        return false;
    bool above = q.p[0] == '1';
    for (size_t i = 2; i < q.n; i++) {
        if (q.p[i] < '0' || q.p[i] > '9')
            return false;
        above |= q.p[i] != '0';
    }
    return above;
}

bool http_accepts_content_coding(struct str accept_encoding, struct str coding)
{
    bool any = false;

    while (accept_encoding.n) {
        struct str item = str_cut(&accept_encoding, ',');
        struct str name = str_trim(str_cut(&item, ';'));
        bool offered = str_trim(item).n == 0 || quality_is_above_zero(item);

        /* A list entry for the coding itself overrides an asterisk entry, in any order. */
        if (str_eq_nocase(name, coding))
            return offered;
        if (str_is(name, "*"))
            any = offered;
    }
    return any;
}

static struct str strip_weak_etag_prefix(struct str tag)
{
    return str_starts_with(tag, STR("W/")) ? str_skip_bytes(tag, 2) : tag;
}

bool http_etag_is_listed(struct str if_none_match, struct str tag)
{
    while (if_none_match.n) {
        struct str item = str_trim(str_cut(&if_none_match, ','));

        if (str_is(item, "*") || str_eq(strip_weak_etag_prefix(item), strip_weak_etag_prefix(tag)))
            return true;
    }
    return false;
}

/* Parses a byte position that consists of digits only. If the number overflows, it becomes
 * INT64_MAX. */
static bool parse_byte_position(struct str s, int64_t *ret)
{
    uint64_t v;

    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] < '0' || s.p[i] > '9')
            return false;
    if (s.n == 0)
        return false;
    *ret = str_to_u64(s, &v) && v <= INT64_MAX ? (int64_t)v : INT64_MAX;
    return true;
}

int http_parse_range(struct str value, int64_t size, int64_t *ret_first, int64_t *ret_last)
{
    int64_t first, last = INT64_MAX;

    if (!value.n || !str_eq_nocase(str_cut(&value, '='), STR("bytes")) || !value.n ||
        !memchr(value.p, '-', value.n))
        return 0;
    struct str from = str_trim(str_cut(&value, '-'));
    struct str to = str_trim(value);

    if (from.n == 0) { /* suffix range: the last `last` bytes */
        if (!parse_byte_position(to, &last))
            return 0;
        first = last < size ? size - last : 0;
        if (last == 0 || size == 0)
            return -1;
        *ret_first = first;
        *ret_last = size - 1;
        return 1;
    }
    if (!parse_byte_position(from, &first) || (to.n && !parse_byte_position(to, &last)) ||
        first > last)
        return 0;
    if (first >= size)
        return -1;
    *ret_first = first;
    *ret_last = last < size ? last : size - 1;
    return 1;
}
