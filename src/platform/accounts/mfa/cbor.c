/* cbor.c - reader for the CBOR that security keys send. */
#include "platform/accounts/mfa/cbor.h"

enum cbor_kind {
    CBOR_UNSIGNED,
    CBOR_NEGATIVE,
    CBOR_BYTES,
    CBOR_TEXT,
    CBOR_ARRAY,
    CBOR_MAP,
    CBOR_TAG,
    CBOR_SIMPLE
};

enum { DEEPEST_LEVEL = 4 };

void cbor_reader_init(struct cbor_reader *r, struct str bytes)
{
    r->at = (const unsigned char *)bytes.p;
    r->end = bytes.n ? r->at + bytes.n : r->at;
}

static bool mark_cbor_reader_as_failed(struct cbor_reader *r)
{
    r->at = r->end = NULL;
    return false;
}

static size_t remaining_cbor_bytes(const struct cbor_reader *r)
{
    return (size_t)(r->end - r->at);
}

/* Reads the first byte of an item, and the argument that it announces in 0, 1, 2, 4 or 8 bytes. */
static bool read_cbor_head(struct cbor_reader *r, enum cbor_kind *ret_kind, uint64_t *ret)
{
    if (!remaining_cbor_bytes(r))
        return mark_cbor_reader_as_failed(r);
    unsigned first = *r->at++, detail = first & 31;
    size_t n = detail < 24 ? 0 : detail < 28 ? (size_t)1 << (detail - 24) : SIZE_MAX;

    if (n > remaining_cbor_bytes(r))
        return mark_cbor_reader_as_failed(r);
    *ret_kind = (enum cbor_kind)(first >> 5);
    *ret = n ? 0 : detail;
    for (; n; n--)
        *ret = *ret << 8 | *r->at++;
    return true;
}

static bool read_cbor_head_of_kind(struct cbor_reader *r, enum cbor_kind wanted, uint64_t *ret)
{
    enum cbor_kind kind;

    return read_cbor_head(r, &kind, ret) && (kind == wanted || mark_cbor_reader_as_failed(r));
}

bool cbor_read_map(struct cbor_reader *r, size_t *ret_count)
{
    uint64_t count;

    if (!read_cbor_head_of_kind(r, CBOR_MAP, &count))
        return false;
    if (count > remaining_cbor_bytes(r) / 2) /* a key and its value have at least two bytes */
        return mark_cbor_reader_as_failed(r);
    *ret_count = (size_t)count;
    return true;
}

bool cbor_read_int(struct cbor_reader *r, int64_t *ret)
{
    enum cbor_kind kind;
    uint64_t v;

    if (!read_cbor_head(r, &kind, &v))
        return false;
    if ((kind != CBOR_UNSIGNED && kind != CBOR_NEGATIVE) || v > INT64_MAX)
        return mark_cbor_reader_as_failed(r);
    *ret = kind == CBOR_UNSIGNED ? (int64_t)v : -1 - (int64_t)v;
    return true;
}

static bool read_cbor_string(struct cbor_reader *r, enum cbor_kind kind, struct str *ret)
{
    uint64_t n;

    if (!read_cbor_head_of_kind(r, kind, &n))
        return false;
    if (n > remaining_cbor_bytes(r))
        return mark_cbor_reader_as_failed(r);
    *ret = str_slice((const char *)r->at, (size_t)n);
    r->at += n;
    return true;
}

bool cbor_read_bytes(struct cbor_reader *r, struct str *ret)
{
    return read_cbor_string(r, CBOR_BYTES, ret);
}

bool cbor_read_text(struct cbor_reader *r, struct str *ret)
{
    return read_cbor_string(r, CBOR_TEXT, ret);
}

bool cbor_skip(struct cbor_reader *r)
{
    uint64_t open[DEEPEST_LEVEL] = { 1 }; /* number of items still to be read, per nesting level */
    int level = 0;

    while (level >= 0) {
        enum cbor_kind kind;
        uint64_t v;

        if (!open[level]) {
            level--;
            continue;
        }
        open[level]--;
        if (!read_cbor_head(r, &kind, &v))
            return false;
        if (kind == CBOR_TAG)
            return mark_cbor_reader_as_failed(r);
        if (kind == CBOR_BYTES || kind == CBOR_TEXT) {
            if (v > remaining_cbor_bytes(r))
                return mark_cbor_reader_as_failed(r);
            r->at += v;
        } else if (kind == CBOR_ARRAY || kind == CBOR_MAP) {
            /* Each item of the array has at least one byte. */
            if (level + 1 == DEEPEST_LEVEL || v > remaining_cbor_bytes(r))
                return mark_cbor_reader_as_failed(r);
            open[++level] = kind == CBOR_MAP ? 2 * v : v;
        }
    }
    return true;
}
