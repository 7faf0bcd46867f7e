/* etf.c - converts JSON to the Erlang external term format (ETF). */
#include "gateway/wire/etf.h"

#include <math.h>

#include "gateway/wire/etf_tags.h"
#include "json/read.h"

static void append_big_endian_uint32(struct buf *out, uint32_t v)
{
    unsigned char b[4] = { (unsigned char)(v >> 24), (unsigned char)(v >> 16),
                           (unsigned char)(v >> 8), (unsigned char)v };

    buf_add(out, b, sizeof b);
}

static void append_etf_tag(struct buf *out, enum etf_tag tag)
{
    buf_add_char(out, (char)tag);
}

/* Overwrites a 32-bit count at an earlier offset, after the items that it counts were appended. */
static void overwrite_big_endian_uint32(struct buf *out, size_t at, uint32_t v)
{
    if (buf_is_full(out))
        return;
    for (int i = 0; i < 4; i++)
        out->p[at + (size_t)i] = (char)(v >> (24 - 8 * i));
}

void etf_append_map_head(struct buf *out, uint32_t pairs)
{
    append_etf_tag(out, ETF_MAP);
    append_big_endian_uint32(out, pairs);
}

void etf_append_binary(struct buf *out, struct str s)
{
    append_etf_tag(out, ETF_BINARY);
    append_big_endian_uint32(out, (uint32_t)s.n);
    buf_add_str(out, s);
}

static void append_etf_atom(struct buf *out, struct str name)
{
    append_etf_tag(out, ETF_SMALL_ATOM);
    buf_add_char(out, (char)name.n);
    buf_add_str(out, name);
}

static void append_etf_big_int(struct buf *out, uint64_t size, bool negative)
{
    unsigned char bytes[8];
    int n = 0;

    for (; size; size >>= 8)
        bytes[n++] = (unsigned char)size;
    append_etf_tag(out, ETF_SMALL_BIG);
    buf_add_char(out, (char)n);
    buf_add_char(out, negative);
    buf_add(out, bytes, (size_t)n);
}

void etf_append_int(struct buf *out, int64_t v)
{
    if (v >= 0 && v <= 255) {
        append_etf_tag(out, ETF_SMALL_INT);
        buf_add_char(out, (char)v);
    } else if (v >= INT32_MIN && v <= INT32_MAX) {
        append_etf_tag(out, ETF_INT);
        append_big_endian_uint32(out, (uint32_t)v);
    } else {
        append_etf_big_int(out, v < 0 ? -(uint64_t)v : (uint64_t)v, v < 0);
    }
}

static void append_etf_float(struct buf *out, double d)
{
    uint64_t bits;

    memcpy(&bits, &d, sizeof bits);
    append_etf_tag(out, ETF_NEW_FLOAT);
    append_big_endian_uint32(out, (uint32_t)(bits >> 32));
    append_big_endian_uint32(out, (uint32_t)bits);
}

static void append_etf_number(struct json_reader *r, struct buf *out)
{
    struct json_number n;

    if (!json_read_number(r, &n))
        return;
    if (n.kind == NUMBER_INT)
        etf_append_int(out, n.i);
    else if (n.kind == NUMBER_UINT)
        append_etf_big_int(out, n.u, false);
    else if (isfinite(n.d))
        append_etf_float(out, n.d);
    else
        append_etf_atom(out, STR("nil")); /* ETF cannot encode infinity */
}

static void append_etf_value(struct json_reader *r, struct buf *out);

static void append_etf_list(struct json_reader *r, struct buf *out)
{
    size_t begin = out->n;
    uint32_t count = 0;

    append_etf_tag(out, ETF_LIST);
    append_big_endian_uint32(out, 0);
    for (json_enter_container(r); json_next_item(r); count++) {
        /* The server's own JSON may be long: reset the count that JSON_MAX_VALUES limits. */
        r->values = 0;
        append_etf_value(r, out);
    }
    if (buf_is_full(out))
        return;
    if (count == 0)
        out->n = begin;
    else
        overwrite_big_endian_uint32(out, begin + 1, count);
    append_etf_tag(out, ETF_NIL);
}

static void append_etf_map(struct json_reader *r, struct buf *out)
{
    size_t begin = out->n;
    uint32_t count = 0;
    struct str key;

    etf_append_map_head(out, 0);
    for (json_enter_container(r); json_next_member(r, &key); count++) {
        r->values = 0;
        etf_append_binary(out, key);
        append_etf_value(r, out);
    }
    overwrite_big_endian_uint32(out, begin + 1, count);
}

/* Appends one JSON value as an ETF term. The JSON reader bounds the recursion. */
static void append_etf_value(struct json_reader *r, struct buf *out)
{
    struct str s;
    bool truth;

    switch (json_peek_kind(r)) {
    case JSON_OBJECT:
        append_etf_map(r, out);
        break;
    case JSON_ARRAY:
        append_etf_list(r, out);
        break;
    case JSON_STRING:
        if (json_read_string(r, &s))
            etf_append_binary(out, s);
        break;
    case JSON_NUMBER:
        append_etf_number(r, out);
        break;
    case JSON_BOOL:
        if (json_read_bool(r, &truth))
            append_etf_atom(out, truth ? STR("true") : STR("false"));
        break;
    case JSON_NULL:
        if (json_read_null(r))
            append_etf_atom(out, STR("nil"));
        break;
    case JSON_BAD:
        break;
    }
}

bool etf_from_json(struct str json, struct arena *arena, struct buf *out)
{
    struct json_reader r;

    json_reader_init(&r, json, arena);
    append_etf_value(&r, out);
    return json_is_at_end(&r) && json_reader_has_no_error(&r) && !buf_is_full(out);
}
