/* query.c - runs SQLite statements: binds parameters, steps through rows. */
#include "store/sqlite/cursor.h"

static int bind_sql_value(sqlite3_stmt *stmt, int number, const struct value *v)
{
    switch (v->kind) {
    case VALUE_INT:
        return sqlite3_bind_int64(stmt, number, v->i);
    case VALUE_REAL:
        return sqlite3_bind_double(stmt, number, v->d);
    case VALUE_TEXT:
        return sqlite3_bind_text64(stmt, number, v->s.p ? v->s.p : "", v->s.n, SQLITE_STATIC,
                                   SQLITE_UTF8);
    case VALUE_BYTES:
        return sqlite3_bind_blob64(stmt, number, v->s.p ? v->s.p : "", v->s.n, SQLITE_STATIC);
    case VALUE_NULL:
        break;
    }
    return sqlite3_bind_null(stmt, number);
}

struct sqlite_cursor *sqlite_cursor_add(struct tx *tx, const char *sql, int columns,
                                        struct rows *ret)
{
    struct sqlite_cursor *cursor = arena_alloc(tx_arena(tx), sizeof *cursor);

    cursor->sql = sql;
    ret->columns = columns;
    tx_add_cursor(tx, &cursor->cursor, columns);
    ret->cursor = &cursor->cursor;
    return cursor;
}

static enum err run_statement_on_database(struct tx *tx, const char *sql,
                                          const struct value *values, size_t count,
                                          const struct query_cache_pending_entry *request,
                                          struct rows *ret)
{
    struct sqlite_conn *c = tx->connection;
    struct sqlite_prepared_statement *st;
    bool writes = work_item_is_write(tx->work);
    enum err e = writes ? OK : sqlite_snapshot_begin(tx);

    if (e)
        return e;
    e = sqlite_statement_acquire(c, sql, (int)count, &st);

    if (!e && !writes && !st->reads_only) {
        sqlite_statement_release(st);
        e = tx_abort_process_on_write_in_read(sql);
    }
    if (e)
        return tx_mark_transaction_failed(tx, e);
    c->has_written |= !st->reads_only;
    if (writes)
        sqlite_mark_columns_of_query_written((struct sqlite *)tx->store, st->dependencies);
    for (size_t i = 0; i < count; i++) {
        int code = bind_sql_value(st->stmt, st->parameter_numbers[i], &values[i]);

        if (code != SQLITE_OK) {
            e = tx_mark_transaction_failed(tx, sqlite_error_from_code(c, code, sql));
            sqlite_statement_release(st);
            return e;
        }
    }

    struct sqlite_cursor *cursor = sqlite_cursor_add(tx, sql, sqlite3_column_count(st->stmt), ret);
    cursor->statement = st;
    query_cache_start_collecting(tx, cursor, request, values, count, ret);
    return OK;
}

enum err sqlite_query(struct tx *tx, const char *sql, const struct value *values, size_t count,
                      struct rows *ret)
{
    struct query_cache_pending_entry request;

    if (query_cache_find_rows(tx, sql, values, count, &request, ret))
        return OK;
    return run_statement_on_database(tx, sql, values, count, &request, ret);
}

/* Returns the bytes of a column. If `a` is not NULL, they are copied to this arena. */
static struct value copy_or_reference_column_bytes(struct arena *a, enum value_kind kind,
                                                   const void *p, size_t n)
{
    if (a)
        return copy_column_value_to_arena(a, kind, p, n);
    return (struct value){ .kind = kind, .s = { p, n } };
}

static struct value decode_column(struct arena *a, sqlite3_stmt *stmt, int i)
{
    /* sqlite3_column_value replaces separate lookups of type, value and length. The value is safe
     * to use, because no other OS thread uses the statement. */
    sqlite3_value *v = sqlite3_column_value(stmt, i);

    switch (sqlite3_value_type(v)) {
    case SQLITE_INTEGER:
        return v_int(sqlite3_value_int64(v));
    case SQLITE_FLOAT:
        return v_real(sqlite3_value_double(v));
    case SQLITE_TEXT: {
        const unsigned char *p = sqlite3_value_text(v);

        return copy_or_reference_column_bytes(a, VALUE_TEXT, p, (size_t)sqlite3_value_bytes(v));
    }
    case SQLITE_BLOB: {
        const void *p = sqlite3_value_blob(v);

        return copy_or_reference_column_bytes(a, VALUE_BYTES, p, (size_t)sqlite3_value_bytes(v));
    }
    default:
        return v_null();
    }
}

/* Steps to the next row. Errors are not reported here but by sqlite_rows_end, from
 * sqlite3_reset. */
static bool read_next_row_of_statement(struct rows *r, struct sqlite_cursor *cursor)
{
    if (cursor->at_end)
        return false;
    if (sqlite_read_time_limit_is_exceeded(r->tx->connection)) {
        cursor->at_end = true;
        return false;
    }
    if (sqlite3_step(cursor->statement->stmt) == SQLITE_ROW)
        return true;
    cursor->at_end = true;
    r->changed = sqlite3_changes64(((struct sqlite_conn *)r->tx->connection)->db);
    return false;
}

bool sqlite_rows_next(struct rows *r)
{
    struct sqlite_cursor *cursor = (struct sqlite_cursor *)r->cursor;

    if (cursor->cached)
        return query_cache_next_row(r, cursor);
    if (!read_next_row_of_statement(r, cursor))
        return false;
    struct arena *a = r->lent ? NULL : tx_arena(r->tx);
    for (int i = 0; i < r->columns; i++)
        cursor->cursor.row[i] = decode_column(a, cursor->statement->stmt, i);
    r->row = cursor->cursor.row;
    query_cache_collect_row_of_cursor(r, cursor);
    return true;
}

/* Called after a write whose changed columns are unknown: frees all statements and invalidates the
 * query caches. */
static void invalidate_caches_after_write(struct tx *tx)
{
    struct sqlite_conn *c = tx->connection;

    c->has_lost_track = false;
    if (!work_item_is_write(tx->work))
        return;
    sqlite_free_prepared_statements(c);
    c->dependencies_age++;
    sqlite_invalidate_query_caches((struct sqlite *)tx->store);
}

enum err sqlite_rows_end(struct rows *r)
{
    struct sqlite_cursor *cursor = (struct sqlite_cursor *)r->cursor;
    struct sqlite_conn *c = r->tx->connection;

    if (cursor->cached)
        return query_cache_close_cursor(r, cursor);
    sqlite3_stmt *stmt = cursor->statement->stmt;
    /* Read all rows of a write, because SQLite checks foreign keys after the last row. */
    if (!cursor->statement->reads_only)
        while (read_next_row_of_statement(r, cursor))
            ;
    int code = sqlite3_reset(stmt);
    enum err e = OK;
    if (code != SQLITE_OK)
        e = tx_mark_transaction_failed(r->tx, sqlite_error_from_code(c, code, cursor->sql));
    else if (c->read_limit.is_exceeded)
        /* the time limit was exceeded between two rows, which SQLite does not report as an error */
        e = tx_mark_transaction_failed(r->tx, ERR_STORE_RETRY);
    else
        query_cache_store_rows(c, cursor);
    tx_remove_cursor(r->tx, &cursor->cursor);
    sqlite_statement_release(cursor->statement);
    if (c->has_lost_track)
        invalidate_caches_after_write(r->tx);
    return e;
}

enum err sqlite_run_script(struct tx *tx, const char *sql)
{
    struct sqlite_conn *c = tx->connection;
    c->has_written = true;
    int code = sqlite3_exec(c->db, sql, NULL, NULL, NULL);

    return code == SQLITE_OK ? OK
                             : tx_mark_transaction_failed(tx, sqlite_error_from_code(c, code, sql));
}
