/* etf.c - converts JSON to the Erlang external term format (ETF). */
#include "gateway/wire/etf.h"

#include <math.h>

#include "gateway/wire/etf_tags.h"
#include "json/read.h"

static void add_be32(struct buf *out, uint32_t v)
{
    unsigned char b[4] = { (unsigned char)(v >> 24), (unsigned char)(v >> 16),
                           (unsigned char)(v >> 8), (unsigned char)v };

    buf_add(out, b, sizeof b);
}

static void add_tag(struct buf *out, enum etf_tag tag)
{
    buf_add_char(out, (char)tag);
}

/* Overwrites a 32-bit count at an earlier offset, after the items were appended. */
static void patch_be32(struct buf *out, size_t at, uint32_t v)
{
    if (buf_full(out))
        return;
    for (int i = 0; i < 4; i++)
        out->p[at + (size_t)i] = (char)(v >> (24 - 8 * i));
}

void etf_map(struct buf *out, uint32_t pairs)
{
    add_tag(out, ETF_MAP);
    add_be32(out, pairs);
}

void etf_text(struct buf *out, struct str s)
{
    add_tag(out, ETF_BINARY);
    add_be32(out, (uint32_t)s.n);
    buf_add_str(out, s);
}

static void add_atom(struct buf *out, struct str name)
{
    add_tag(out, ETF_SMALL_ATOM);
    buf_add_char(out, (char)name.n);
    buf_add_str(out, name);
}

static void add_big(struct buf *out, uint64_t size, bool negative)
{
    unsigned char bytes[8];
    int n = 0;

    for (; size; size >>= 8)
        bytes[n++] = (unsigned char)size;
    add_tag(out, ETF_SMALL_BIG);
    buf_add_char(out, (char)n);
    buf_add_char(out, negative);
    buf_add(out, bytes, (size_t)n);
}

void etf_int(struct buf *out, int64_t v)
{
    if (v >= 0 && v <= 255) {
        add_tag(out, ETF_SMALL_INT);
        buf_add_char(out, (char)v);
    } else if (v >= INT32_MIN && v <= INT32_MAX) {
        add_tag(out, ETF_INT);
        add_be32(out, (uint32_t)v);
    } else {
        add_big(out, v < 0 ? -(uint64_t)v : (uint64_t)v, v < 0);
    }
}

static void add_real(struct buf *out, double d)
{
    uint64_t bits;

    memcpy(&bits, &d, sizeof bits);
    add_tag(out, ETF_REAL);
    add_be32(out, (uint32_t)(bits >> 32));
    add_be32(out, (uint32_t)bits);
}

static void add_number(struct json_reader *r, struct buf *out)
{
    struct json_number n;

    if (!json_take_number(r, &n))
        return;
    if (n.kind == NUMBER_INT)
        etf_int(out, n.i);
    else if (n.kind == NUMBER_UINT)
        add_big(out, n.u, false);
    else if (isfinite(n.d))
        add_real(out, n.d);
    else
        add_atom(out, STR("nil")); /* ETF cannot encode infinity */
}

static void add_value(struct json_reader *r, struct buf *out);

static void add_list(struct json_reader *r, struct buf *out)
{
    size_t begin = out->n;
    uint32_t count = 0;

    add_tag(out, ETF_LIST);
    add_be32(out, 0);
    for (json_enter(r); json_next_item(r); count++) {
        r->values = 0; /* resets the limit JSON_MAX_VALUES, which is for input from clients */
        add_value(r, out);
    }
    if (buf_full(out))
        return;
    if (count == 0)
        out->n = begin;
    else
        patch_be32(out, begin + 1, count);
    add_tag(out, ETF_NIL);
}

static void add_map(struct json_reader *r, struct buf *out)
{
    size_t begin = out->n;
    uint32_t count = 0;
    struct str key;

    etf_map(out, 0);
    for (json_enter(r); json_next_member(r, &key); count++) {
        r->values = 0;
        etf_text(out, key);
        add_value(r, out);
    }
    patch_be32(out, begin + 1, count);
}

/* Recursion is bounded by the depth limit of the JSON reader. */
static void add_value(struct json_reader *r, struct buf *out)
{
    struct str s;
    bool truth;

    switch (json_peek(r)) {
    case JSON_OBJECT:
        add_map(r, out);
        break;
    case JSON_ARRAY:
        add_list(r, out);
        break;
    case JSON_STRING:
        if (json_take_string(r, &s))
            etf_text(out, s);
        break;
    case JSON_NUMBER:
        add_number(r, out);
        break;
    case JSON_BOOL:
        if (json_take_bool(r, &truth))
            add_atom(out, truth ? STR("true") : STR("false"));
        break;
    case JSON_NULL:
        if (json_take_null(r))
            add_atom(out, STR("nil"));
        break;
    case JSON_BAD:
        break;
    }
}

bool etf_from_json(struct str json, struct arena *arena, struct buf *out)
{
    struct json_reader r;

    json_reader_init(&r, json, arena);
    add_value(&r, out);
    return json_end(&r) && json_ok(&r) && !buf_full(out);
}
