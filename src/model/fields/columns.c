/* columns.c - reads query results into lists, and decodes columns that contain JSON. */
#include "model/fields/rows.h"

enum { MAX_COLUMN_BYTES = 4 * 1024 * 1024 };

struct str json_column_encode(struct arena *arena, const struct type *type, const void *value)
{
    struct buf out;
    struct json_writer j = json_writer_to_buf(&out);

    buf_init(&out, MAX_COLUMN_BYTES);
    schema_encode(&j, type, value);
    return buf_move_to_arena(&out, arena);
}

const void *json_column_decode(struct arena *arena, const struct type *type, struct str text)
{
    struct form form = { .arena = arena };
    void *value = NULL;

    return schema_decode(type, text, &form, &value) == OK ? value : NULL;
}

struct list json_column_decode_list(struct arena *arena, const struct type *type, struct str text)
{
    /* Do not decode empty lists ("[]"), because most lists are empty. */
    const struct list *list = text.n > 2 ? json_column_decode(arena, type, text) : NULL;

    return list ? *list : (struct list){ 0 };
}

enum err tx_read_list_sql(struct tx *tx, struct sql sql, const struct value *values, size_t count,
                          size_t size, void (*read)(const struct rows *r, void *ret),
                          struct list *ret)
{
    struct rows rows;
    enum err e = tx_query(tx, sql, values, count, &rows);

    if (e)
        return e;
    while (rows_next(&rows))
        read(&rows, list_append(tx_arena(tx), ret, size));
    return rows_end(&rows);
}

enum err tx_read_first_sql(struct tx *tx, struct sql sql, const struct value *values, size_t count,
                           void (*read)(const struct rows *r, void *ret), void *ret,
                           enum err missing)
{
    bool found;
    enum err e = tx_find_first(tx, sql, values, count, read, ret, &found);

    return e || found ? e : missing;
}

enum err tx_find_first_sql(struct tx *tx, struct sql sql, const struct value *values, size_t count,
                           void (*read)(const struct rows *r, void *ret), void *ret,
                           bool *ret_found)
{
    struct rows row;
    enum err e = tx_one(tx, sql, values, count, &row, ret_found);

    if (!e && *ret_found)
        read(&row, ret);
    return e;
}
