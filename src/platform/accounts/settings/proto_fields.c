/* proto_fields.c - splits protocol buffer messages into fields and merges them. */
#include "platform/accounts/settings/proto_fields.h"

#include "base/buf.h"

enum {
    WIRE_VARINT = 0,
    WIRE_64 = 1,
    WIRE_BYTES = 2,
    WIRE_32 = 5,
    LONGEST_VARINT = 10,
    MOST_FIELDS = 1000
};

static bool parse_varint(struct str *rest, uint64_t *ret)
{
    uint64_t v = 0;

    for (size_t i = 0; i < LONGEST_VARINT && i < rest->n; i++) {
        unsigned char c = (unsigned char)rest->p[i];

        v |= (uint64_t)(c & 0x7f) << (7 * i);
        if (c & 0x80)
            continue;
        *rest = str_skip_bytes(*rest, i + 1);
        *ret = v;
        return true;
    }
    return false;
}

static bool skip_bytes(struct str *rest, uint64_t n)
{
    if (n > rest->n)
        return false;
    *rest = str_skip_bytes(*rest, (size_t)n);
    return true;
}

static bool skip_field_value(struct str *rest, uint64_t wire)
{
    uint64_t n;

    switch (wire) {
    case WIRE_VARINT:
        return parse_varint(rest, &n);
    case WIRE_64:
        return skip_bytes(rest, 8);
    case WIRE_BYTES:
        return parse_varint(rest, &n) && skip_bytes(rest, n);
    case WIRE_32:
        return skip_bytes(rest, 4);
    default:
        return false;
    }
}

bool protobuf_split_fields(struct arena *a, struct str message, struct list *ret)
{
    *ret = (struct list){ 0 };
    while (message.n) {
        const char *began = message.p;
        uint64_t tag;

        if (!parse_varint(&message, &tag) || tag >> 3 == 0 || tag >> 3 > 536870911 ||
            !skip_field_value(&message, tag & 7) || ret->count == MOST_FIELDS)
            return false;
        struct protobuf_field *f = list_append(a, ret, sizeof *f);
        *f = (struct protobuf_field){ tag >> 3, str_slice(began, (size_t)(message.p - began)) };
    }
    return true;
}

static bool has_field_number(const struct list *fields, uint64_t number)
{
    const struct protobuf_field *f = fields->items;

    for (size_t i = 0; i < fields->count; i++)
        if (f[i].number == number)
            return true;
    return false;
}

struct str protobuf_merge_fields(struct arena *a, const struct list *before,
                                 const struct list *change, uint64_t but)
{
    const struct protobuf_field *b = before->items, *c = change->items;
    struct buf out;

    buf_init(&out, 8 * 1024 * 1024);
    for (size_t i = 0; i < before->count; i++)
        if (b[i].number != but && !has_field_number(change, b[i].number))
            buf_add_str(&out, b[i].bytes);
    for (size_t i = 0; i < change->count; i++)
        if (c[i].number != but)
            buf_add_str(&out, c[i].bytes);
    return buf_move_to_arena(&out, a);
}

static void append_varint(struct buf *out, uint64_t v)
{
    for (; v > 0x7f; v >>= 7)
        buf_add_char(out, (char)(v | 0x80));
    buf_add_char(out, (char)v);
}

void protobuf_append_varint_field(struct buf *out, uint64_t number, uint64_t value)
{
    append_varint(out, number << 3 | WIRE_VARINT);
    append_varint(out, value);
}

void protobuf_append_bytes_field(struct buf *out, uint64_t number, struct str message)
{
    append_varint(out, number << 3 | WIRE_BYTES);
    append_varint(out, message.n);
    buf_add_str(out, message);
}
