/* cursor.h - statements that run and what is left of their rows: for the files that ask. */
#ifndef STORE_SQLITE_CURSOR_H
#define STORE_SQLITE_CURSOR_H

#include "store/sqlite/sqlite.h"

enum { SQLITE_MAX_PARAMETERS = 64 };

/* A prepared statement. The cached one of an SQL text serves one cursor at a
 * time; who needs it meanwhile gets one of its own, gone with its cursor. */
struct sqlite_statement {
    sqlite3_stmt *stmt;
    struct query_dependencies *dependencies; /* the connection's */
    bool busy, temporary, reads_only;
    int parameters;
    unsigned char place[SQLITE_MAX_PARAMETERS]; /* of $1, $2 … among SQLite's own numbers */
};

struct sqlite_cursor {
    struct row_cursor cursor;
    struct sqlite_statement *statement; /* NULL: its rows come from the query cache, … */
    const struct cached_rows *cached;   /* … from this entry */
    unsigned next_row;
    struct cache_question *question; /* its rows are to be cached; or NULL */
    const char *sql;
    bool at_end;
};

/* --- statements, sqlite_conn.c ---------------------------------------------------------- */

enum err sqlite_statement_take(struct sqlite_conn *c, const char *sql, int count,
                               struct sqlite_statement **ret);
void sqlite_statement_release(struct sqlite_statement *st);
/* Cursors that are open keep theirs. */
void sqlite_forget_statements(struct sqlite_conn *c);

/* --- rows, sqlite_query.c --------------------------------------------------------------- */

struct sqlite_cursor *sqlite_cursor_add(struct tx *tx, const char *sql, int columns,
                                        struct rows *ret);

/* --- cached rows, query_cache.c --------------------------------------------------------- */

struct cached_rows;

/* A query whose rows are to be cached. hash 0: they are not. */
struct cache_question {
    uint64_t hash;
    unsigned patience;
    const char *sql;
    const struct sqlite_slots *reads;
    const struct value *values;
    size_t count;
    bool single;
    int columns;
    unsigned rows, room;
    struct value *cells;
};

/* True: ret gives out cached rows. Else question says whether those of this query are to be. */
bool query_cache_find(struct tx *tx, const char *sql, const struct value *values, size_t count,
                      struct cache_question *question, struct rows *ret);
bool query_cache_next(struct rows *r, struct sqlite_cursor *cursor);
enum err query_cache_close(struct rows *r, struct sqlite_cursor *cursor);
/* The rows of the cursor are to be cached, if they may. */
void query_cache_begin(struct tx *tx, struct sqlite_cursor *cursor,
                       const struct cache_question *question, const struct value *values,
                       size_t count, const struct rows *ret);
void query_cache_row(struct rows *r, const struct sqlite_cursor *cursor);
/* All rows were read, and nothing went wrong. */
void query_cache_end(struct sqlite_conn *c, const struct sqlite_cursor *cursor);

#endif
