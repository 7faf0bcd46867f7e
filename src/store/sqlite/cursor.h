/* cursor.h - statements that run and what is left of their rows: for the files that ask. */
#ifndef STORE_SQLITE_CURSOR_H
#define STORE_SQLITE_CURSOR_H

#include "store/sqlite/sqlite.h"

enum { SQLITE_MAX_PARAMETERS = 64 };

/* A prepared statement. The cached one of an SQL text serves one cursor at a
 * time; who needs it meanwhile gets one of its own, gone with its cursor. */
struct sqlite_statement {
    sqlite3_stmt *stmt;
    struct sqlite_reach *reach; /* the connection's */
    bool busy, temporary, reads_only;
    int parameters;
    unsigned char place[SQLITE_MAX_PARAMETERS]; /* of $1, $2 … among SQLite's own numbers */
};

struct sqlite_cursor {
    struct row_cursor cursor;
    struct sqlite_statement *statement; /* NULL: its rows were read before, … */
    const struct recalled *recalled;    /* … and are these */
    unsigned next_row;
    struct sqlite_asking *asking; /* to be remembered; or NULL */
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

/* --- answers from memory, sqlite_remember.c --------------------------------------------- */

/* True: the rows of this question are there. Else asking says whether its answer is to be. */
bool sqlite_remembered(struct tx *tx, const char *sql, const struct value *values, size_t count,
                       struct sqlite_asking *asking, struct rows *ret);
bool sqlite_remembered_next(struct rows *r, struct sqlite_cursor *cursor);
enum err sqlite_remembered_end(struct rows *r, struct sqlite_cursor *cursor);
/* The cursor's rows are to be remembered, if they may. */
void sqlite_remember_begin(struct tx *tx, struct sqlite_cursor *cursor,
                           const struct sqlite_asking *asking, const struct value *values,
                           size_t count, const struct rows *ret);
void sqlite_remember_row(struct rows *r, const struct sqlite_cursor *cursor);
/* When it is read to its end, and nothing went wrong. */
void sqlite_remember_end(struct sqlite_conn *c, const struct sqlite_cursor *cursor);

#endif
