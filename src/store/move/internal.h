/* internal.h - structs and functions for moving all data between SQLite and PostgreSQL. */
#ifndef STORE_MOVE_INTERNAL_H
#define STORE_MOVE_INTERNAL_H

#include "store/internal.h"
#include "store/move/move.h"

/* --- tables, plan.c ------------------------------------------------------------------- */

struct moved_column {
    const char *name;
    enum value_kind kind; /* type of the column's values; VALUE_NULL if the type is unknown */
    int width;            /* size in bytes of the numbers of this column in PostgreSQL */
    int key; /* position of the column in the primary key, from 1; 0 if it is not part of the key */
};

struct moved_table {
    const char *name;
    struct moved_column *columns;
    size_t count, room;
    size_t keys;          /* number of columns of the primary key */
    const size_t *key_at; /* indexes of the primary key's columns, in key order */
    const char **parents; /* tables that foreign keys of this table reference */
    size_t parent_count, parent_room;
    bool is_planned;
};

struct data_move_plan {
    struct arena *arena;
    struct moved_table *tables;
    size_t count, room;
};

struct data_move_endpoint;

/* Lists the tables that exist in both databases, referenced tables first. Logs an error if the
 * schemas differ. */
enum err data_move_plan_build(struct data_move_endpoint *from, struct data_move_endpoint *to,
                              struct data_move_plan *ret);
void data_move_plan_clear(struct data_move_plan *p);

struct moved_table *data_move_plan_find_or_add_table(struct data_move_plan *p, struct str name);
void data_move_table_add_column(struct data_move_plan *p, struct moved_table *t,
                                struct moved_column column);
void data_move_table_add_reference(struct data_move_plan *p, struct moved_table *t,
                                   struct str parent);
/* Appends the quoted names of all columns; with `keys`, only of the primary key, in key order. */
void append_moved_column_names(const struct moved_table *t, bool keys, struct buf *out);
/* Appends a SELECT of the table's rows in key order. With `behind`, the SELECT reads only the rows
 * after the key that is passed as parameters. */
void append_select_of_moved_table(const struct moved_table *t, bool behind, struct buf *out);

/* --- values, values.c ----------------------------------------------------------------- */

enum { MOVE_DIGEST_SIZE = 16, MOVE_MAX_ROW_BYTES = 1 << 30 };

struct data_move_table_progress {
    int64_t rows;
    unsigned char sum[MOVE_DIGEST_SIZE];
    struct buf last_key;
    bool resumed, checked;
};

void data_move_progress_init(struct data_move_table_progress *st);
void data_move_progress_clear(struct data_move_table_progress *st);
/* Counts a row: adds 1 to the row count and the row's digest to the sum of digests. */
void data_move_progress_add_row(struct data_move_table_progress *st, const struct moved_table *t,
                                const struct value *row, struct buf *scratch);
bool data_move_progress_is_equal(const struct data_move_table_progress *a,
                                 const struct data_move_table_progress *b);

/* Decodes a saved primary key; returns false if it is invalid. The values point into `key`. */
bool decode_saved_primary_key(const struct moved_table *t, struct str key, struct value *ret);

/* --- engines -------------------------------------------------------------------------- */

/* Maximum number of columns of a table; checked when the plan is built. */
enum { MOVE_MAX_COLUMNS = 256 };

struct data_move_engine {
    /* Sets *ret to whether the target has data. Called before store_open, because that might change
     * a database that belongs to another program. */
    enum err (*target_has_data)(const struct data_move_location *location, bool *ret);
    enum err (*open)(struct data_move_endpoint *s, bool writes);
    void (*close)(struct data_move_endpoint *s); /* Closes the endpoint; does nothing if it was
                                                  * never opened. */
    /* Lists all tables of the schema with their columns, and on PostgreSQL their foreign keys. */
    enum err (*list)(struct tx *tx, struct data_move_plan *ret);
    /* Returns the first column of the query's first row as text; "" if there is no row. */
    enum err (*query_text)(struct data_move_endpoint *s, const char *sql, char *out, size_t size);
    /* Runs SQL statements; also used to begin and commit a transaction. */
    enum err (*script)(struct data_move_endpoint *s, const char *sql);

    /* Reads the rows of a table in key order; if `behind` is not empty, only the rows after this
     * saved key. Values are valid until the next row. *ret_more is false after the last row. */
    enum err (*read)(struct data_move_endpoint *s, const struct moved_table *t, struct str behind);
    enum err (*next)(struct data_move_endpoint *s, const struct moved_table *t, struct value *row,
                     bool *ret_more);

    /* To write rows, call put_begin, then put for each row, then put_end. */
    enum err (*put_begin)(struct data_move_endpoint *s, const struct moved_table *t);
    enum err (*put)(struct data_move_endpoint *s, const struct moved_table *t,
                    const struct value *row);
    enum err (*put_end)(struct data_move_endpoint *s);

    const char *hex_before; /* prefix of a binary literal in the SQL of this engine */
    bool truncates;         /* whether one TRUNCATE can empty all tables; otherwise each table needs
                             * a DELETE */
    /* SQL that disables and enables triggers of the table %s; NULL if the engine disables them by a
     * setting of the connection. */
    const char *disable_triggers_sql, *enable_triggers_sql;
    const char *final_sql; /* SQL that runs in the target after all rows were compared */
};

extern const struct data_move_engine move_engine_sqlite, move_engine_postgres;

struct data_move_endpoint {
    const struct data_move_engine *engine;
    struct data_move_location location;
    struct store *store;
    void *connection; /* the engine's connection */
};

/* --- files, files.c ------------------------------------------------------------------- */

/* Copies files that are missing in the target, then compares all files. If `location` is not NULL,
 * `from` and `to` are the same store, the blobs are copied to this location, and the key files stay
 * where they are. */
enum err copy_and_compare_moved_files(struct store *from, struct store *to,
                                      struct blob_location *location,
                                      const struct data_move_options *o,
                                      struct data_move_report *ret);

/* --- a move, move.c ------------------------------------------------------------------- */

struct data_move_in_progress {
    const struct data_move_options *o;
    struct data_move_endpoint from, to;
    char key[128];    /* digest of the key that signs this server's tokens */
    char source[160]; /* text that identifies the source database; stored in the target database */
    struct data_move_plan plan;
    struct data_move_table_progress *states; /* one per table of the plan */
    struct value *row;
    struct buf scratch, sql;
    int64_t done, total; /* progress in rows; each row counts twice: when it is written and when it
                          * is compared */
    struct data_move_report *report;
};

/* Runs the SQL of m->sql on the target and clears m->sql. */
enum err data_move_run_sql_on_target(struct data_move_in_progress *m);

/* --- rows, tables.c ------------------------------------------------------------------- */

enum err data_move_count_rows(struct data_move_endpoint *s, const struct moved_table *t,
                              int64_t *ret);
/* Copies and compares all tables. Fails if the source has changed since an earlier run of the move
 * copied rows. */
enum err copy_and_compare_moved_tables(struct data_move_in_progress *m);

#endif
