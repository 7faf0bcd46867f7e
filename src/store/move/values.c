/* values.c - encodes rows as bytes, for digests and saved keys.
 *
 * Two tables are equal if the sums of their row digests are equal. The sum does not depend on the
 * order of rows, which differs between SQLite and PostgreSQL. */
#include <sodium.h>

#include "store/move/internal.h"

void data_move_progress_init(struct data_move_table_progress *st)
{
    *st = (struct data_move_table_progress){ 0 };
    buf_init(&st->last_key, MOVE_MAX_ROW_BYTES);
}

void data_move_progress_clear(struct data_move_table_progress *st)
{
    buf_clear(&st->last_key);
}

bool data_move_progress_is_equal(const struct data_move_table_progress *a,
                                 const struct data_move_table_progress *b)
{
    return a->rows == b->rows && memcmp(a->sum, b->sum, sizeof a->sum) == 0;
}

/* --- values as bytes ------------------------------------------------------------------ */

static void append_u64(struct buf *out, uint64_t n)
{
    for (int shift = 56; shift >= 0; shift -= 8)
        buf_add_char(out, (char)(n >> shift));
}

static void append_encoded_value(struct buf *out, const struct value *v)
{
    uint64_t bits = 0;

    buf_add_char(out, (char)('0' + v->kind));
    switch (v->kind) {
    case VALUE_NULL:
        break;
    case VALUE_INT:
        append_u64(out, (uint64_t)v->i);
        break;
    case VALUE_REAL:
        memcpy(&bits, &v->d, sizeof bits);
        append_u64(out, bits);
        break;
    case VALUE_TEXT:
    case VALUE_BYTES:
        append_u64(out, v->s.n);
        buf_add_str(out, v->s);
        break;
    }
}

static bool decode_u64(struct str *in, uint64_t *ret)
{
    if (in->n < 8)
        return false;
    *ret = 0;
    for (int i = 0; i < 8; i++)
        *ret = *ret << 8 | (unsigned char)in->p[i];
    *in = str_skip_bytes(*in, 8);
    return true;
}

static bool decode_value(struct str *in, struct value *ret)
{
    uint64_t n = 0;

    if (!in->n)
        return false;
    *ret = (struct value){ .kind = (enum value_kind)(in->p[0] - '0') };
    *in = str_skip_bytes(*in, 1);
    if (ret->kind == VALUE_NULL)
        return true;
    if (ret->kind > VALUE_BYTES || !decode_u64(in, &n))
        return false;
    if (ret->kind == VALUE_INT) {
        ret->i = (int64_t)n;
    } else if (ret->kind == VALUE_REAL) {
        memcpy(&ret->d, &n, sizeof n);
    } else {
        if (n > in->n)
            return false;
        ret->s = str_slice(in->p, n);
        *in = str_skip_bytes(*in, n);
    }
    return true;
}

bool decode_saved_primary_key(const struct moved_table *t, struct str key, struct value *ret)
{
    for (size_t i = 0; i < t->keys; i++)
        if (!decode_value(&key, &ret[i]))
            return false;
    return key.n == 0;
}

/* Adds the 128-bit number `digest` to `sum`; the lowest byte is first. */
static void add_digest_to_sum(unsigned char *sum, const unsigned char *digest)
{
    unsigned carry = 0;

    for (int i = 0; i < MOVE_DIGEST_SIZE; i++) {
        carry += (unsigned)sum[i] + digest[i];
        sum[i] = (unsigned char)carry;
        carry >>= 8;
    }
}

void data_move_progress_add_row(struct data_move_table_progress *st, const struct moved_table *t,
                                const struct value *row, struct buf *scratch)
{
    unsigned char digest[MOVE_DIGEST_SIZE];

    buf_reset(scratch);
    for (size_t i = 0; i < t->count; i++)
        append_encoded_value(scratch, &row[i]);
    crypto_generichash(digest, sizeof digest, (const unsigned char *)scratch->p, scratch->n, NULL,
                       0);
    add_digest_to_sum(st->sum, digest);
    st->rows++;
    buf_reset(&st->last_key);
    for (size_t i = 0; i < t->keys; i++)
        append_encoded_value(&st->last_key, &row[t->key_at[i]]);
}
