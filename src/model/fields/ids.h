/* ids.h - lists of snowflakes. */
#ifndef MODEL_IDS_H
#define MODEL_IDS_H

#include "json/schema.h"
#include "store/store.h"

/* Searches linearly, for short lists. */
bool id_list_contains(const struct list *ids, snowflake id);
void id_list_add(struct arena *arena, struct list *ids, snowflake id);
/* Finds the item with this id by binary search. Each item begins with its id; the list is sorted by
 * these ids. Returns NULL if there is none. */
void *id_sorted_list_find(const struct list *items, size_t item_size, snowflake id);
/* Reads the first column of all rows into a new list of ids, in the transaction's arena. */
#define tx_read_ids(tx, sql, ...) tx_read_ids_sql(tx, SQL(sql), __VA_ARGS__)
enum err tx_read_ids_sql(struct tx *tx, struct sql sql, const struct value *values, size_t count,
                         struct list *ret);

#endif
