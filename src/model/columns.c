/* columns.c - columns that hold JSON. */
#include "model/rows.h"

enum { LONGEST_COLUMN = 4 * 1024 * 1024 };

struct str column_encode(struct arena *arena, const struct type *type, const void *value)
{
    struct buf out;
    struct json j = json_to(&out);

    buf_init(&out, LONGEST_COLUMN);
    schema_encode(&j, type, value);
    return buf_take(&out, arena);
}

const void *column_decode(struct arena *arena, const struct type *type, struct str text)
{
    struct form form = { .arena = arena };
    void *value = NULL;

    return schema_decode(type, text, &form, &value) == OK ? value : NULL;
}

struct list column_list(struct arena *arena, const struct type *type, struct str text)
{
    const struct list *list = column_decode(arena, type, text);

    return list ? *list : (struct list){ 0 };
}
