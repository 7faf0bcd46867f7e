/* postgres_values.c - values on their way to PostgreSQL and back.
 *
 * Parameters travel as text and their types are inferred from the statement, so
 * a null and a number can take turns in the same place; bytes travel as they
 * are. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/postgres.h"

/* Types of columns, from PostgreSQL's pg_type.dat; they never change. */
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

/* --- parameters ----------------------------------------------------------------------- */

static const char *number_text(struct arena *a, const struct value *v)
{
    enum { ROOM = 32 };
    char *text = arena_raw(a, ROOM);

    if (v->kind == VALUE_INT)
        snprintf(text, ROOM, "%" PRId64, v->i);
    else
        snprintf(text, ROOM, "%.17g", v->d);
    return text;
}

void postgres_fill_values(struct postgres_values *p, struct arena *a, const struct value *values,
                          size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct value *v = &values[i];

        p->text[i] = NULL;
        p->length[i] = 0;
        p->binary[i] = v->kind == VALUE_BYTES;
        if (v->kind == VALUE_INT || v->kind == VALUE_REAL)
            p->text[i] = number_text(a, v);
        if (v->kind == VALUE_TEXT)
            p->text[i] = str_dupz(a, v->s);
        if (v->kind == VALUE_BYTES) {
            p->text[i] = v->s.p ? v->s.p : "";
            p->length[i] = (int)v->s.n;
        }
    }
}

/* --- columns -------------------------------------------------------------------------- */

static struct value bytes_value(struct arena *a, const char *text)
{
    size_t n = 0;
    unsigned char *bytes = pq.unescapeBytea((const unsigned char *)text, &n);
    struct value v = value_copy(a, VALUE_BYTES, bytes, n);

    pq.freemem(bytes);
    return v;
}

/* Sums of bigint are numeric; as long as they fit they are integers here. */
static struct value numeric_value(struct str text)
{
    int64_t i;

    return str_to_i64(text, &i) ? v_int(i) : v_real(strtod(text.p, NULL));
}

struct value postgres_column(struct arena *a, const PGresult *result, int row, int i)
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
        return numeric_value(s);
    case TYPE_FLOAT4:
    case TYPE_FLOAT8:
        return v_real(strtod(text, NULL));
    case TYPE_BYTES:
        return bytes_value(a, text);
    default:
        return value_copy(a, VALUE_TEXT, s.p, s.n);
    }
}
