/* cursor.h - prepared statements, cursors and the query cache, for the files of this folder that
 * run queries. */
#ifndef STORE_SQLITE_CURSOR_H
#define STORE_SQLITE_CURSOR_H

#include "store/sqlite/sqlite.h"

enum { SQLITE_MAX_PARAMETERS = 64 };

/* The cached statement of an SQL text serves one cursor at a time; a second cursor gets a temporary
 * statement, which is freed together with the second cursor. */
struct sqlite_prepared_statement {
    sqlite3_stmt *stmt;
    struct query_dependencies *dependencies; /* owned by the connection */
    bool busy, temporary, reads_only;
    int parameters;
    unsigned char parameter_numbers[SQLITE_MAX_PARAMETERS]; /* SQLite's numbers of $1, $2, … */
};

struct sqlite_cursor {
    struct row_cursor cursor;
    struct sqlite_prepared_statement *statement; /* statement that is being run; NULL if the rows
                                                  * come from the query cache */
    const struct cached_rows *cached; /* cache entry from which the rows come; NULL if they come
                                       * from the database */
    unsigned next_row;
    struct query_cache_pending_entry *cache_request; /* collects the rows of the cursor for the
                                                      * query cache; NULL if they are not cached */
    const char *sql;
    bool at_end;
};

/* --- statements, conn.c ----------------------------------------------------------------- */

enum err sqlite_statement_acquire(struct sqlite_conn *c, const char *sql, int count,
                                  struct sqlite_prepared_statement **ret);
void sqlite_statement_release(struct sqlite_prepared_statement *st);
/* Frees all prepared statements. Statements of open cursors stay valid until the cursors end. */
void sqlite_free_prepared_statements(struct sqlite_conn *c);

/* --- rows, query.c ---------------------------------------------------------------------- */

struct sqlite_cursor *sqlite_cursor_add(struct tx *tx, const char *sql, int columns,
                                        struct rows *ret);

/* --- cached rows, query_cache.c --------------------------------------------------------- */

/* Finds the rows of a query in the cache. If the function returns true, ret iterates over cached
 * rows. Otherwise sets question->hash if the rows should be cached. */
bool query_cache_find_rows(struct tx *tx, const char *sql, const struct value *values, size_t count,
                           struct query_cache_pending_entry *question, struct rows *ret);
bool query_cache_next_row(struct rows *r, struct sqlite_cursor *cursor);
enum err query_cache_close_cursor(struct rows *r, struct sqlite_cursor *cursor);
/* Starts to collect the rows of the cursor for the query cache, if they may be cached. */
void query_cache_start_collecting(struct tx *tx, struct sqlite_cursor *cursor,
                                  const struct query_cache_pending_entry *request,
                                  const struct value *values, size_t count, const struct rows *ret);
void query_cache_collect_row_of_cursor(struct rows *r, const struct sqlite_cursor *cursor);
/* Stores the collected rows; call it after the last row was read without error. */
void query_cache_store_rows(struct sqlite_conn *c, const struct sqlite_cursor *cursor);

#endif
