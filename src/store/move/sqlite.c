/* sqlite.c - SQLite as source or target of a move. */
#include <limits.h>
#include <stdio.h>
#include <strings.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "store/move/internal.h"
#include "store/sqlite/sqlite.h"

enum { MAX_SQL_BYTES = 1024 * 1024 };

struct sqlite_endpoint {
    struct sqlite_conn *conn;
    sqlite3_stmt *reading, *writing;
};

static struct sqlite_endpoint *get_sqlite_of_move_endpoint(struct data_move_endpoint *s)
{
    return s->connection;
}

static enum err error_of_last_sqlite_call(struct sqlite_conn *c, const char *sql)
{
    return sqlite_error_from_code(c, sqlite3_errcode(c->db), sql);
}

static enum err query_text(struct sqlite_conn *c, const char *sql, char *out, size_t size)
{
    sqlite3_stmt *stmt = NULL;
    int code = sqlite3_prepare_v2(c->db, sql, -1, &stmt, NULL);

    out[0] = '\0';
    if (code == SQLITE_OK)
        code = sqlite3_step(stmt);
    if (code == SQLITE_ROW && sqlite3_column_text(stmt, 0))
        snprintf(out, size, "%s", (const char *)sqlite3_column_text(stmt, 0));
    enum err e = code == SQLITE_ROW || code == SQLITE_DONE ? OK : error_of_last_sqlite_call(c, sql);
    sqlite3_finalize(stmt);
    return e;
}

static enum err move_endpoint_query_text(struct data_move_endpoint *s, const char *sql, char *out,
                                         size_t size)
{
    return query_text(get_sqlite_of_move_endpoint(s)->conn, sql, out, size);
}

static enum err move_endpoint_run_sql(struct data_move_endpoint *s, const char *sql)
{
    struct sqlite_conn *c = get_sqlite_of_move_endpoint(s)->conn;

    return sqlite3_exec(c->db, sql, NULL, NULL, NULL) == SQLITE_OK
               ? OK
               : error_of_last_sqlite_call(c, sql);
}

static enum err move_location_has_data(const struct data_move_location *location, bool *ret)
{
    char path[PATH_MAX], answer[32] = "";
    struct sqlite_conn *c;

    *ret = false;
    if (snprintf(path, sizeof path, "%s/guildhall.db", location->folder) >= (int)sizeof path)
        return ERR_UNAVAILABLE;
    if (access(path, F_OK) != 0)
        return OK;
    enum err e = sqlite_conn_open(path, &c);
    if (e)
        return e;
    e = query_text(c, "select 1 from sqlite_schema where name = 'users'", answer, sizeof answer);
    if (!e && answer[0])
        e = query_text(c, "select 1 from users limit 1", answer, sizeof answer);
    sqlite_conn_close(c);
    *ret = answer[0] != '\0';
    return e;
}

/* Disables foreign keys and triggers for the target, because the rows of the source are consistent
 * and complete. */
static enum err disable_triggers(struct sqlite_conn *c)
{
    static const char settings[] = "pragma foreign_keys = off; pragma cache_size = -16384";

    if (sqlite3_exec(c->db, settings, NULL, NULL, NULL) == SQLITE_OK &&
        sqlite3_db_config(c->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL) == SQLITE_OK)
        return OK;
    return error_of_last_sqlite_call(c, settings);
}

static enum err move_endpoint_connect(struct data_move_endpoint *s, bool writes)
{
    struct sqlite_endpoint *side = mem_new(sizeof *side);
    enum err e = sqlite_conn_open(((struct sqlite *)s->store)->path, &side->conn);

    s->connection = side;
    return e || !writes ? e : disable_triggers(side->conn);
}

static void move_endpoint_disconnect(struct data_move_endpoint *s)
{
    struct sqlite_endpoint *side = s->connection;

    if (!side)
        return;
    sqlite3_finalize(side->reading);
    sqlite3_finalize(side->writing);
    sqlite_conn_close(side->conn);
    mem_free(side);
    s->connection = NULL;
}

static enum value_kind value_kind_of_type(const char *type)
{
    static const struct {
        const char *type;
        enum value_kind kind;
    } kinds[] = {
        { "bigint", VALUE_INT }, { "integer", VALUE_INT }, { "smallint", VALUE_INT },
        { "text", VALUE_TEXT },  { "bytea", VALUE_BYTES }, { "double precision", VALUE_REAL },
    };

    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        if (strcasecmp(type, kinds[i].type) == 0)
            return kinds[i].kind;
    return VALUE_NULL;
}

static const char LIST_COLUMNS[] =
    "select t.name, c.name, c.type, c.pk from sqlite_schema t join pragma_table_info(t.name) c "
    "where t.type = 'table' and substr(t.name, 1, 7) <> 'sqlite_' order by t.name, c.cid";

static enum err move_endpoint_list_tables(struct tx *tx, struct data_move_plan *ret)
{
    struct rows r;
    enum err e = tx_query(tx, LIST_COLUMNS, NO_BIND, &r);

    if (e)
        return e;
    while (rows_next(&r))
        data_move_table_add_column(
            ret, data_move_plan_find_or_add_table(ret, row_text(&r, 0)),
            (struct moved_column){
                .name = str_dup_cstring(tx_arena(tx), row_text(&r, 1)),
                .kind = value_kind_of_type(str_dup_cstring(tx_arena(tx), row_text(&r, 2))),
                .key = (int)row_int(&r, 3),
            });
    return rows_end(&r);
}

static void bind_sql_value(sqlite3_stmt *stmt, int at, const struct value *v)
{
    const char *p = v->s.p ? v->s.p : "";

    switch (v->kind) {
    case VALUE_NULL:
        sqlite3_bind_null(stmt, at);
        break;
    case VALUE_INT:
        sqlite3_bind_int64(stmt, at, v->i);
        break;
    case VALUE_REAL:
        sqlite3_bind_double(stmt, at, v->d);
        break;
    case VALUE_TEXT:
        sqlite3_bind_text64(stmt, at, p, v->s.n, SQLITE_STATIC, SQLITE_UTF8);
        break;
    case VALUE_BYTES:
        sqlite3_bind_blob64(stmt, at, p, v->s.n, SQLITE_STATIC);
        break;
    }
}

/* Binds copies of the values, because the caller frees the key before the last row is read. */
static enum err bind_saved_row_key(struct sqlite_endpoint *side, const struct moved_table *t,
                                   struct str key)
{
    struct value values[MOVE_MAX_COLUMNS];

    if (!decode_saved_primary_key(t, key, values))
        return ERR_INTERNAL;
    for (size_t i = 0; i < t->keys; i++) {
        const struct value *v = &values[i];
        int at = (int)i + 1;

        if (v->kind == VALUE_TEXT)
            sqlite3_bind_text64(side->reading, at, v->s.p ? v->s.p : "", v->s.n, SQLITE_TRANSIENT,
                                SQLITE_UTF8);
        else if (v->kind == VALUE_BYTES)
            sqlite3_bind_blob64(side->reading, at, v->s.p ? v->s.p : "", v->s.n, SQLITE_TRANSIENT);
        else
            bind_sql_value(side->reading, at, v);
    }
    return OK;
}

static enum err prepare_statement(struct sqlite_endpoint *side, struct buf *sql, sqlite3_stmt **ret)
{
    enum err e = buf_is_full(sql) ? ERR_INTERNAL : OK;

    sqlite3_finalize(*ret);
    *ret = NULL;
    if (!e && sqlite3_prepare_v2(side->conn->db, sql->p, (int)sql->n, ret, NULL) != SQLITE_OK)
        e = error_of_last_sqlite_call(side->conn, "a table that is moved");
    buf_clear(sql);
    return e;
}

static enum err move_endpoint_begin_table_read(struct data_move_endpoint *s,
                                               const struct moved_table *t, struct str behind)
{
    struct sqlite_endpoint *side = get_sqlite_of_move_endpoint(s);
    struct buf sql;

    buf_init(&sql, MAX_SQL_BYTES);
    append_select_of_moved_table(t, behind.n > 0, &sql);
    enum err e = prepare_statement(side, &sql, &side->reading);
    return e || !behind.n ? e : bind_saved_row_key(side, t, behind);
}

/* Reads a column. Returns false if the value does not have the type of its column: SQLite stores
 * values of any type in a column, but PostgreSQL rejects them. */
static bool read_column_of_kind(sqlite3_stmt *stmt, int at, enum value_kind kind, struct value *ret)
{
    static const int types[] = { [VALUE_INT] = SQLITE_INTEGER,
                                 [VALUE_REAL] = SQLITE_FLOAT,
                                 [VALUE_TEXT] = SQLITE_TEXT,
                                 [VALUE_BYTES] = SQLITE_BLOB };
    int type = sqlite3_column_type(stmt, at);

    *ret = (struct value){ .kind = type == SQLITE_NULL ? VALUE_NULL : kind };
    if (ret->kind == VALUE_NULL)
        return true;
    if (type != types[kind])
        return false;
    if (kind == VALUE_INT)
        ret->i = sqlite3_column_int64(stmt, at);
    else if (kind == VALUE_REAL)
        ret->d = sqlite3_column_double(stmt, at);
    else
        ret->s = str_slice(sqlite3_column_blob(stmt, at), (size_t)sqlite3_column_bytes(stmt, at));
    return true;
}

static enum err move_endpoint_read_next_row(struct data_move_endpoint *s,
                                            const struct moved_table *t, struct value *row,
                                            bool *ret_more)
{
    struct sqlite_endpoint *side = get_sqlite_of_move_endpoint(s);
    int code = sqlite3_step(side->reading);

    *ret_more = code == SQLITE_ROW;
    if (code != SQLITE_ROW) {
        enum err e = code == SQLITE_DONE ? OK : error_of_last_sqlite_call(side->conn, t->name);

        sqlite3_finalize(side->reading);
        side->reading = NULL;
        return e;
    }
    for (size_t i = 0; i < t->count; i++)
        if (!read_column_of_kind(side->reading, (int)i, t->columns[i].kind, &row[i])) {
            log_error("move: a row of '%s' has a value in '%s' that does not match the "
                      "type of the column",
                      t->name, t->columns[i].name);
            return ERR_INTERNAL;
        }
    return OK;
}

static enum err move_endpoint_prepare_insert(struct data_move_endpoint *s,
                                             const struct moved_table *t)
{
    struct buf sql;

    buf_init(&sql, MAX_SQL_BYTES);
    buf_printf(&sql, "insert into \"%s\" (", t->name);
    append_moved_column_names(t, false, &sql);
    buf_add_lit(&sql, ") values (");
    for (size_t i = 0; i < t->count; i++)
        buf_printf(&sql, "%s?", i ? ", " : "");
    buf_add_lit(&sql, ")");
    return prepare_statement(get_sqlite_of_move_endpoint(s), &sql,
                             &get_sqlite_of_move_endpoint(s)->writing);
}

static enum err move_endpoint_insert_row(struct data_move_endpoint *s, const struct moved_table *t,
                                         const struct value *row)
{
    struct sqlite_endpoint *side = get_sqlite_of_move_endpoint(s);

    for (size_t i = 0; i < t->count; i++)
        bind_sql_value(side->writing, (int)i + 1, &row[i]);
    sqlite3_step(side->writing);
    return sqlite3_reset(side->writing) == SQLITE_OK
               ? OK
               : error_of_last_sqlite_call(side->conn, t->name);
}

static enum err move_endpoint_end_insert(struct data_move_endpoint *s)
{
    sqlite3_finalize(get_sqlite_of_move_endpoint(s)->writing);
    get_sqlite_of_move_endpoint(s)->writing = NULL;
    return OK;
}

/* Moves the last message and the message count of a channel from channel_tails to the channel's
 * row, where SQLite stores them. Fills the table that finds messages by author. */
static const char SQLITE_FINAL_SQL[] =
    "update channels set last_message_id = max(coalesce(last_message_id, 0), "
    "(select max(t.last_message_id) from channel_tails t where t.channel_id = channels.id)), "
    "thread_message_count = thread_message_count + (select sum(t.messages) from channel_tails t "
    "where t.channel_id = channels.id) where id in (select channel_id from channel_tails);"
    "delete from channel_tails;"
    "delete from message_authors;"
    "insert into message_authors (author_id, message_id) select author_id, id from messages order by "
    "author_id, id;"
    "update message_author_progress set filed_to = (select coalesce(max(id), 0) from messages);";

const struct data_move_engine move_engine_sqlite = {
    .target_has_data = move_location_has_data,
    .open = move_endpoint_connect,
    .close = move_endpoint_disconnect,
    .list = move_endpoint_list_tables,
    .query_text = move_endpoint_query_text,
    .script = move_endpoint_run_sql,
    .read = move_endpoint_begin_table_read,
    .next = move_endpoint_read_next_row,
    .put_begin = move_endpoint_prepare_insert,
    .put = move_endpoint_insert_row,
    .put_end = move_endpoint_end_insert,
    .hex_before = "x'",
    .final_sql = SQLITE_FINAL_SQL,
};
