/* values.c - converts parameters and columns between struct value and libpq.
 *
 * Parameters are sent as text and PostgreSQL infers their types from the statement, so the same
 * parameter can be null or a number. Bytes are sent in binary. */
#include <stdio.h>
#include <stdlib.h>

#include "store/postgres/postgres.h"

/* Numbers of types, from PostgreSQL's pg_type.dat; they never change. */
enum {
    TYPE_BOOL = 16,
    TYPE_BYTES = 17,
    TYPE_INT8 = 20,
    TYPE_INT2 = 21,
    TYPE_INT4 = 23,
    TYPE_FLOAT4 = 700,
    TYPE_FLOAT8 = 701,
    TYPE_NUMERIC = 1700,
};

enum { NUMBER_BUFFER_SIZE = 32 };

const char *postgres_format_int(struct arena *a, int64_t i)
{
    char *end = (char *)arena_alloc_unzeroed(a, NUMBER_BUFFER_SIZE) + NUMBER_BUFFER_SIZE - 1;
    uint64_t left = i < 0 ? 0 - (uint64_t)i : (uint64_t)i;

    *end = '\0';
    do
        *--end = (char)('0' + left % 10);
    while (left /= 10);
    if (i < 0)
        *--end = '-';
    return end;
}

static const char *format_real_parameter(struct arena *a, double d)
{
    char *text = arena_alloc_unzeroed(a, NUMBER_BUFFER_SIZE);

    snprintf(text, NUMBER_BUFFER_SIZE, "%.17g", d);
    return text;
}

void postgres_encode_parameters(struct postgres_parameters *p, struct arena *a,
                                const struct value *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct value *v = &values[i];

        p->text[i] = NULL;
        p->length[i] = 0;
        p->binary[i] = v->kind == VALUE_BYTES;
        if (v->kind == VALUE_INT)
            p->text[i] = postgres_format_int(a, v->i);
        if (v->kind == VALUE_REAL)
            p->text[i] = format_real_parameter(a, v->d);
        if (v->kind == VALUE_TEXT)
            p->text[i] = str_dup_cstring(a, v->s);
        if (v->kind == VALUE_BYTES) {
            p->text[i] = v->s.p ? v->s.p : "";
            p->length[i] = (int)v->s.n;
        }
    }
}

static struct value decode_bytea(struct arena *a, const char *text)
{
    size_t n = 0;
    unsigned char *bytes = pq.unescapeBytea((const unsigned char *)text, &n);
    struct value v = copy_column_value_to_arena(a, VALUE_BYTES, bytes, n);

    pq.freemem(bytes);
    return v;
}

/* Decodes a value of type numeric, such as sum(bigint), as an integer if it fits into 64 bits. */
static struct value decode_numeric(struct str text)
{
    int64_t i;

    return str_to_i64(text, &i) ? v_int(i) : v_real(strtod(text.p, NULL));
}

struct value postgres_decode_column(struct arena *a, const PGresult *result, int row, int i)
{
    if (pq.getisnull(result, row, i))
        return v_null();

    const char *text = pq.getvalue(result, row, i);
    struct str s = { text, (size_t)pq.getlength(result, row, i) };
    switch (pq.ftype(result, i)) {
    case TYPE_BOOL:
        return v_int(text[0] == 't');
    case TYPE_INT2:
    case TYPE_INT4:
    case TYPE_INT8:
    case TYPE_NUMERIC:
        return decode_numeric(s);
    case TYPE_FLOAT4:
    case TYPE_FLOAT8:
        return v_real(strtod(text, NULL));
    case TYPE_BYTES:
        return decode_bytea(a, text);
    default:
        return copy_column_value_to_arena(a, VALUE_TEXT, s.p, s.n);
    }
}
