/* rows.h - converts between database columns and optional struct members; reads lists and JSON
 * columns. */
#ifndef MODEL_ROWS_H
#define MODEL_ROWS_H

#include "json/schema.h"
#include "store/store.h"

static inline struct opt_str row_optional_text(const struct rows *r, int column)
{
    if (row_column_is_null(r, column))
        return (struct opt_str){ .given = GIVEN_NULL };
    return (struct opt_str){ GIVEN, row_text(r, column) };
}
static inline struct opt_int row_optional_int(const struct rows *r, int column)
{
    return (struct opt_int){ row_column_is_null(r, column) ? GIVEN_NULL : GIVEN,
                             row_int(r, column) };
}
static inline struct opt_id row_optional_id(const struct rows *r, int column)
{
    return (struct opt_id){ row_column_is_null(r, column) ? GIVEN_NULL : GIVEN, row_id(r, column) };
}

/* A column that is NULL becomes an absent member, which JSON omits. */
static inline struct opt_int row_int_or_absent(const struct rows *r, int column)
{
    return (struct opt_int){ row_column_is_null(r, column) ? ABSENT : GIVEN, row_int(r, column) };
}
static inline struct opt_id row_id_or_absent(const struct rows *r, int column)
{
    return (struct opt_id){ row_column_is_null(r, column) ? ABSENT : GIVEN, row_id(r, column) };
}

static inline struct value sql_value_of_optional_text(struct opt_str s)
{
    return s.given == GIVEN ? v_text(s.value) : v_null();
}
static inline struct value sql_value_of_optional_int(struct opt_int i)
{
    return i.given == GIVEN ? v_int(i.value) : v_null();
}
static inline struct value sql_value_of_optional_id(struct opt_id id)
{
    return id.given == GIVEN ? v_id(id.value) : v_null();
}
static inline struct value sql_value_of_optional_bool(struct opt_bool b)
{
    return b.given == GIVEN ? v_int(b.value) : v_null();
}
/* 0 becomes NULL. */
static inline struct value sql_value_of_id_or_null(snowflake id)
{
    return id ? v_id(id) : v_null();
}
static inline struct value sql_value_of_int_or_null(int64_t v)
{
    return v ? v_int(v) : v_null();
}

/* Reads each row of a query into a new item of a list. An item has `size` bytes. The list is in the
 * transaction's arena. */
#define tx_read_list(tx, sql, ...) tx_read_list_sql(tx, SQL(sql), __VA_ARGS__)
enum err tx_read_list_sql(struct tx *tx, struct sql sql, const struct value *values, size_t count,
                          size_t size, void (*read)(const struct rows *r, void *ret),
                          struct list *ret);

/* Reads the first row of a query into *ret. Returns the error `missing` if there is no row. */
#define tx_read_first(tx, sql, ...) tx_read_first_sql(tx, SQL(sql), __VA_ARGS__)
enum err tx_read_first_sql(struct tx *tx, struct sql sql, const struct value *values, size_t count,
                           void (*read)(const struct rows *r, void *ret), void *ret,
                           enum err missing);

/* Reads the first row of a query into *ret, and sets *ret_found to whether there is one. */
#define tx_find_first(tx, sql, ...) tx_find_first_sql(tx, SQL(sql), __VA_ARGS__)
enum err tx_find_first_sql(struct tx *tx, struct sql sql, const struct value *values, size_t count,
                           void (*read)(const struct rows *r, void *ret), void *ret,
                           bool *ret_found);

/* Encode and decode a database column that contains up to 4 MiB of JSON. If the JSON is longer,
 * encoding marks the arena as incomplete (arena_record_lost_data). If the text is not valid JSON of
 * the type, decoding returns NULL. */
struct str json_column_encode(struct arena *arena, const struct type *type, const void *value);
const void *json_column_decode(struct arena *arena, const struct type *type, struct str text);
/* Decodes a column that contains a JSON array. Returns an empty list if the text is invalid. */
struct list json_column_decode_list(struct arena *arena, const struct type *type, struct str text);

#endif
