/* ids.c - lists of snowflakes. */
#include "model/fields/ids.h"

#include <stdlib.h>

bool id_list_contains(const struct list *ids, snowflake id)
{
    const snowflake *all = ids->items;

    for (size_t i = 0; i < ids->count; i++)
        if (all[i] == id)
            return true;
    return false;
}

void id_list_add(struct arena *arena, struct list *ids, snowflake id)
{
    *(snowflake *)list_append(arena, ids, sizeof id) = id;
}

static int compare_id_with_item(const void *id, const void *item)
{
    snowflake one = *(const snowflake *)id, two = *(const snowflake *)item;

    return one < two ? -1 : one > two;
}

void *id_sorted_list_find(const struct list *items, size_t item_size, snowflake id)
{
    return items->count ? bsearch(&id, items->items, items->count, item_size, compare_id_with_item)
                        : NULL;
}

enum err tx_read_ids_sql(struct tx *tx, struct sql sql, const struct value *values, size_t count,
                         struct list *ret)
{
    struct rows rows;
    enum err e = tx_query(tx, sql, values, count, &rows);

    *ret = (struct list){ 0 };
    if (e)
        return e;
    while (rows_next(&rows))
        id_list_add(tx_arena(tx), ret, row_id(&rows, 0));
    return rows_end(&rows);
}
