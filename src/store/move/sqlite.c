/* sqlite.c - SQLite as source or target of a move. */
#include <limits.h>
#include <stdio.h>
#include <strings.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "store/move/internal.h"
#include "store/sqlite/sqlite.h"

enum { LONGEST_SQL = 1024 * 1024 };

struct move_sqlite_side {
    struct sqlite_conn *conn;
    sqlite3_stmt *reading, *writing;
};

static struct move_sqlite_side *sqlite_side(struct move_side *s)
{
    return s->connection;
}

static enum err sqlite_side_failed(struct sqlite_conn *c, const char *sql)
{
    return sqlite_error(c, sqlite3_errcode(c->db), sql);
}

static enum err ask_connection(struct sqlite_conn *c, const char *sql, char *out, size_t size)
{
    sqlite3_stmt *stmt = NULL;
    int code = sqlite3_prepare_v2(c->db, sql, -1, &stmt, NULL);

    out[0] = '\0';
    if (code == SQLITE_OK)
        code = sqlite3_step(stmt);
    if (code == SQLITE_ROW && sqlite3_column_text(stmt, 0))
        snprintf(out, size, "%s", (const char *)sqlite3_column_text(stmt, 0));
    enum err e = code == SQLITE_ROW || code == SQLITE_DONE ? OK : sqlite_side_failed(c, sql);
    sqlite3_finalize(stmt);
    return e;
}

static enum err sqlite_side_ask(struct move_side *s, const char *sql, char *out, size_t size)
{
    return ask_connection(sqlite_side(s)->conn, sql, out, size);
}

static enum err sqlite_side_script(struct move_side *s, const char *sql)
{
    struct sqlite_conn *c = sqlite_side(s)->conn;

    return sqlite3_exec(c->db, sql, NULL, NULL, NULL) == SQLITE_OK ? OK
                                                                   : sqlite_side_failed(c, sql);
}

static enum err sqlite_side_look(const struct move_place *place, bool *ret)
{
    char path[PATH_MAX], answer[32] = "";
    struct sqlite_conn *c;

    *ret = false;
    if (snprintf(path, sizeof path, "%s/guildhall.db", place->folder) >= (int)sizeof path)
        return ERR_UNAVAILABLE;
    if (access(path, F_OK) != 0)
        return OK;
    enum err e = sqlite_conn_open(path, &c);
    if (e)
        return e;
    e = ask_connection(c, "select 1 from sqlite_schema where name = 'users'", answer,
                       sizeof answer);
    if (!e && answer[0])
        e = ask_connection(c, "select 1 from users limit 1", answer, sizeof answer);
    sqlite_conn_close(c);
    *ret = answer[0] != '\0';
    return e;
}

/* Disables foreign keys and triggers for the target, because the rows of the source are consistent
 * and complete. */
static enum err sqlite_side_quiet(struct sqlite_conn *c)
{
    static const char settings[] = "pragma foreign_keys = off; pragma cache_size = -16384";

    if (sqlite3_exec(c->db, settings, NULL, NULL, NULL) == SQLITE_OK &&
        sqlite3_db_config(c->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL) == SQLITE_OK)
        return OK;
    return sqlite_side_failed(c, settings);
}

static enum err sqlite_side_open(struct move_side *s, bool writes)
{
    struct move_sqlite_side *side = mem_new(sizeof *side);
    enum err e = sqlite_conn_open(((struct sqlite *)s->store)->path, &side->conn);

    s->connection = side;
    return e || !writes ? e : sqlite_side_quiet(side->conn);
}

static void sqlite_side_close(struct move_side *s)
{
    struct move_sqlite_side *side = s->connection;

    if (!side)
        return;
    sqlite3_finalize(side->reading);
    sqlite3_finalize(side->writing);
    sqlite_conn_close(side->conn);
    mem_free(side);
    s->connection = NULL;
}

static enum value_kind kind_of_type(const char *type)
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

static enum err sqlite_side_list(struct tx *tx, struct move_plan *ret)
{
    struct rows r;
    enum err e = tx_query(tx, LIST_COLUMNS, NO_BIND, &r);

    if (e)
        return e;
    while (rows_next(&r))
        move_table_add(ret, move_plan_table(ret, row_text(&r, 0)),
                       (struct move_column){
                           .name = str_dupz(tx_arena(tx), row_text(&r, 1)),
                           .kind = kind_of_type(str_dupz(tx_arena(tx), row_text(&r, 2))),
                           .key = (int)row_int(&r, 3),
                       });
    return rows_end(&r);
}

static void bind_value(sqlite3_stmt *stmt, int at, const struct value *v)
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

/* Binds copies of the values, because the key is freed before the last row is read. */
static enum err bind_key(struct move_sqlite_side *side, const struct move_table *t, struct str key)
{
    struct value values[MOVE_COLUMNS];

    if (!move_key_read(t, key, values))
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
            bind_value(side->reading, at, v);
    }
    return OK;
}

static enum err sqlite_side_prepare(struct move_sqlite_side *side, struct buf *sql,
                                    sqlite3_stmt **ret)
{
    enum err e = buf_full(sql) ? ERR_INTERNAL : OK;

    sqlite3_finalize(*ret);
    *ret = NULL;
    if (!e && sqlite3_prepare_v2(side->conn->db, sql->p, (int)sql->n, ret, NULL) != SQLITE_OK)
        e = sqlite_side_failed(side->conn, "a table that is moved");
    buf_clear(sql);
    return e;
}

static enum err sqlite_side_read(struct move_side *s, const struct move_table *t, struct str behind)
{
    struct move_sqlite_side *side = sqlite_side(s);
    struct buf sql;

    buf_init(&sql, LONGEST_SQL);
    move_select(t, behind.n > 0, &sql);
    enum err e = sqlite_side_prepare(side, &sql, &side->reading);
    return e || !behind.n ? e : bind_key(side, t, behind);
}

/* Returns false if the value does not have the type of its column: SQLite stores values of any
 * type, PostgreSQL rejects them. */
static bool column_value(sqlite3_stmt *stmt, int at, enum value_kind kind, struct value *ret)
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

static enum err sqlite_side_next(struct move_side *s, const struct move_table *t, struct value *row,
                                 bool *ret_more)
{
    struct move_sqlite_side *side = sqlite_side(s);
    int code = sqlite3_step(side->reading);

    *ret_more = code == SQLITE_ROW;
    if (code != SQLITE_ROW) {
        enum err e = code == SQLITE_DONE ? OK : sqlite_side_failed(side->conn, t->name);

        sqlite3_finalize(side->reading);
        side->reading = NULL;
        return e;
    }
    for (size_t i = 0; i < t->count; i++)
        if (!column_value(side->reading, (int)i, t->columns[i].kind, &row[i])) {
            log_error("move: a row of '%s' has a value in '%s' that does not match the "
                      "type of the column",
                      t->name, t->columns[i].name);
            return ERR_INTERNAL;
        }
    return OK;
}

static enum err sqlite_side_put_begin(struct move_side *s, const struct move_table *t)
{
    struct buf sql;

    buf_init(&sql, LONGEST_SQL);
    buf_printf(&sql, "insert into \"%s\" (", t->name);
    move_names(t, false, &sql);
    buf_add_lit(&sql, ") values (");
    for (size_t i = 0; i < t->count; i++)
        buf_printf(&sql, "%s?", i ? ", " : "");
    buf_add_lit(&sql, ")");
    return sqlite_side_prepare(sqlite_side(s), &sql, &sqlite_side(s)->writing);
}

static enum err sqlite_side_put(struct move_side *s, const struct move_table *t,
                                const struct value *row)
{
    struct move_sqlite_side *side = sqlite_side(s);

    for (size_t i = 0; i < t->count; i++)
        bind_value(side->writing, (int)i + 1, &row[i]);
    sqlite3_step(side->writing);
    return sqlite3_reset(side->writing) == SQLITE_OK ? OK : sqlite_side_failed(side->conn, t->name);
}

static enum err sqlite_side_put_end(struct move_side *s)
{
    sqlite3_finalize(sqlite_side(s)->writing);
    sqlite_side(s)->writing = NULL;
    return OK;
}

/* Moves the last message and the message count of a channel from channel_tails to the channel's
 * row, where SQLite stores them. */
static const char SQLITE_LAST[] =
    "update channels set last_message_id = max(coalesce(last_message_id, 0), "
    "(select max(t.last_message_id) from channel_tails t where t.channel_id = channels.id)), "
    "thread_message_count = thread_message_count + (select sum(t.messages) from channel_tails t "
    "where t.channel_id = channels.id) where id in (select channel_id from channel_tails);"
    "delete from channel_tails;";

const struct move_engine move_sqlite = {
    .look = sqlite_side_look,
    .open = sqlite_side_open,
    .close = sqlite_side_close,
    .list = sqlite_side_list,
    .ask = sqlite_side_ask,
    .script = sqlite_side_script,
    .read = sqlite_side_read,
    .next = sqlite_side_next,
    .put_begin = sqlite_side_put_begin,
    .put = sqlite_side_put,
    .put_end = sqlite_side_put_end,
    .hex_before = "x'",
    .last = SQLITE_LAST,
};
