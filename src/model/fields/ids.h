/* ids.h - lists of snowflakes. */
#ifndef MODEL_IDS_H
#define MODEL_IDS_H

#include "json/schema.h"
#include "store/store.h"

/* Is it among them? For lists that a person makes; others have maps. */
bool ids_hold(const struct list *ids, snowflake id);
void ids_add(struct arena *arena, struct list *ids, snowflake id);
/* The first column of every row; *ret is made anew, in the transaction's arena. */
#define tx_ids(tx, sql, ...) tx_ids_sql(tx, SQL(sql), __VA_ARGS__)
enum err tx_ids_sql(struct tx *tx, struct sql sql, const struct value *values, size_t count,
                    struct list *ret);

#endif
