/* serial.c - binary encoding for messages between processes. */
#include "base/serial.h"

void serialize_u64(struct buf *b, uint64_t v)
{
    unsigned char bytes[8];

    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(v >> 8 * i);
    buf_add(b, bytes, sizeof bytes);
}

void serialize_bytes(struct buf *b, struct str s)
{
    serialize_u64(b, s.n);
    buf_add_str(b, s);
}

struct str deserialize_slice_of_bytes(struct serialized_data_reader *r, uint64_t n)
{
    if (r->bad || n > r->rest.n) {
        r->bad = true;
        return (struct str){ 0 };
    }
    struct str s = str_slice(r->rest.p, (size_t)n);
    r->rest = str_skip_bytes(r->rest, (size_t)n);
    return s;
}

uint64_t deserialize_u64(struct serialized_data_reader *r)
{
    struct str s = deserialize_slice_of_bytes(r, 8);
    uint64_t v = 0;

    for (int i = 0; i < 8 && s.n; i++)
        v |= (uint64_t)(unsigned char)s.p[i] << 8 * i;
    return v;
}

struct str deserialize_bytes(struct serialized_data_reader *r)
{
    return deserialize_slice_of_bytes(r, deserialize_u64(r));
}

size_t deserialize_element_count(struct serialized_data_reader *r, size_t least)
{
    uint64_t n = deserialize_u64(r);

    if (n > r->rest.n / least)
        r->bad = true;
    return r->bad ? 0 : (size_t)n;
}
