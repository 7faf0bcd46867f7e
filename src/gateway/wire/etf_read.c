/* etf_read.c - converts ETF messages of clients to JSON, with strict checks. */
#include <math.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "gateway/wire/etf.h"
#include "gateway/wire/etf_tags.h"
#include "json/read.h"
#include "json/write.h"

enum { ETF_FLOAT_BYTES = 31 };

struct etf_reader {
    const unsigned char *at, *end;
    struct json_writer out;
    unsigned depth;
    unsigned values;
};

static bool etf_read_term(struct etf_reader *t);

static bool etf_has_unread_bytes(const struct etf_reader *t, size_t n)
{
    return (size_t)(t->end - t->at) >= n;
}

/* Reads a big-endian unsigned integer of n bytes. */
static bool etf_read_uint(struct etf_reader *t, unsigned n, uint64_t *ret)
{
    uint64_t v = 0;

    if (!etf_has_unread_bytes(t, n))
        return false;
    for (; n; n--)
        v = v << 8 | *t->at++;
    *ret = v;
    return true;
}

static bool etf_read_bytes(struct etf_reader *t, unsigned length_bytes, struct str *ret)
{
    uint64_t n;

    if (!etf_read_uint(t, length_bytes, &n) || !etf_has_unread_bytes(t, n))
        return false;
    *ret = str_slice((const char *)t->at, n);
    t->at += n;
    return true;
}

static bool etf_read_string(struct etf_reader *t, bool key)
{
    struct str s;

    if (!etf_read_bytes(t, 4, &s) || !utf8_is_valid(s))
        return false;
    if (key)
        json_write_escaped_key(&t->out, s);
    else
        json_write_text(&t->out, s);
    return true;
}

static bool etf_read_atom(struct etf_reader *t, unsigned length_bytes)
{
    struct str s;

    if (!etf_read_bytes(t, length_bytes, &s))
        return false;
    if (str_is(s, "true") || str_is(s, "false"))
        json_write_bool(&t->out, s.n == 4);
    else if (str_is(s, "nil") || str_is(s, "null"))
        json_write_null(&t->out);
    else
        return false;
    return true;
}

static bool write_number_if_finite(struct etf_reader *t, double d)
{
    if (!isfinite(d))
        return false;
    json_write_real(&t->out, d);
    return true;
}

static bool etf_read_float(struct etf_reader *t)
{
    uint64_t bits;
    double d;

    if (!etf_read_uint(t, 8, &bits))
        return false;
    memcpy(&d, &bits, sizeof d);
    return write_number_if_finite(t, d);
}

/* Reads FLOAT_EXT: decimal text in a field of 31 bytes, padded with NUL. */
static bool etf_read_decimal_float(struct etf_reader *t)
{
    char text[ETF_FLOAT_BYTES + 1] = { 0 }, *end;

    if (!etf_has_unread_bytes(t, ETF_FLOAT_BYTES))
        return false;
    memcpy(text, t->at, ETF_FLOAT_BYTES);
    t->at += ETF_FLOAT_BYTES;
    double d = strtod(text, &end);
    return end != text && *end == '\0' && write_number_if_finite(t, d);
}

static bool etf_read_big_int(struct etf_reader *t)
{
    uint64_t n, sign, v = 0;

    if (!etf_read_uint(t, 1, &n) || !etf_read_uint(t, 1, &sign) || n > 8 || sign > 1 ||
        !etf_has_unread_bytes(t, n))
        return false;
    for (unsigned i = 0; i < n; i++)
        v |= (uint64_t)*t->at++ << (8 * i);
    if (sign && v > (uint64_t)INT64_MAX + 1)
        return false;
    if (sign)
        json_write_int(&t->out, (int64_t)-v);
    else if (v <= INT64_MAX)
        json_write_int(&t->out, (int64_t)v);
    else {
        char digits[24];
        struct buf b = { digits, 0, sizeof digits, sizeof digits, false };

        buf_add_u64(&b, v);
        json_write_raw(&t->out, buf_as_str(&b));
    }
    return true;
}

static bool etf_read_list_items(struct etf_reader *t, uint64_t count, bool proper)
{
    uint64_t tail;

    json_begin_array(&t->out);
    for (; count; count--)
        if (!etf_read_term(t))
            return false;
    json_end_array(&t->out);
    return !proper || (etf_read_uint(t, 1, &tail) && tail == ETF_NIL);
}

static bool etf_read_byte_list(struct etf_reader *t)
{
    struct str s;

    if (!etf_read_bytes(t, 2, &s))
        return false;
    json_begin_array(&t->out);
    for (size_t i = 0; i < s.n; i++)
        json_write_int(&t->out, (unsigned char)s.p[i]);
    json_end_array(&t->out);
    return true;
}

static bool etf_read_map(struct etf_reader *t)
{
    uint64_t count, tag;

    if (!etf_read_uint(t, 4, &count))
        return false;
    json_begin_object(&t->out);
    for (; count; count--)
        if (!etf_read_uint(t, 1, &tag) || tag != ETF_BINARY || !etf_read_string(t, true) ||
            !etf_read_term(t))
            return false;
    json_end_object(&t->out);
    return true;
}

static bool etf_read_term_with_tag(struct etf_reader *t, uint64_t tag)
{
    uint64_t v;

    switch (tag) {
    case ETF_SMALL_INT:
        if (!etf_read_uint(t, 1, &v))
            return false;
        json_write_int(&t->out, (int64_t)v);
        return true;
    case ETF_INT:
        if (!etf_read_uint(t, 4, &v))
            return false;
        json_write_int(&t->out, (int32_t)(uint32_t)v);
        return true;
    case ETF_SMALL_BIG:
        return etf_read_big_int(t);
    case ETF_NEW_FLOAT:
        return etf_read_float(t);
    case ETF_FLOAT:
        return etf_read_decimal_float(t);
    case ETF_BINARY:
        return etf_read_string(t, false);
    case ETF_ATOM:
    case ETF_ATOM_UTF8:
        return etf_read_atom(t, 2);
    case ETF_SMALL_ATOM:
    case ETF_SMALL_ATOM_UTF8:
        return etf_read_atom(t, 1);
    case ETF_NIL:
        return etf_read_list_items(t, 0, false);
    case ETF_STRING:
        return etf_read_byte_list(t);
    case ETF_LIST:
        return etf_read_uint(t, 4, &v) && etf_read_list_items(t, v, true);
    case ETF_SMALL_TUPLE:
        return etf_read_uint(t, 1, &v) && etf_read_list_items(t, v, false);
    case ETF_MAP:
        return etf_read_map(t);
    default:
        return false;
    }
}

static bool etf_read_term(struct etf_reader *t)
{
    uint64_t tag;

    if (t->depth == JSON_MAX_DEPTH || ++t->values > JSON_MAX_VALUES || !etf_read_uint(t, 1, &tag) ||
        buf_is_full(t->out.out))
        return false;
    t->depth++;
    bool ok = etf_read_term_with_tag(t, tag);
    t->depth--;
    return ok;
}

bool etf_to_json(struct str bytes, struct buf *out)
{
    struct etf_reader t = { .at = (const unsigned char *)bytes.p,
                            .end = (const unsigned char *)bytes.p + bytes.n,
                            .out = json_writer_to_buf(out) };
    uint64_t version;

    return etf_read_uint(&t, 1, &version) && version == ETF_VERSION && etf_read_term(&t) &&
           t.at == t.end && !buf_is_full(out);
}
