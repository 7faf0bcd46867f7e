/* postgres.c - reads or writes PostgreSQL in a move between engines, with COPY in binary format. */
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "store/move/internal.h"
#include "store/postgres/postgres.h"

enum { MAX_SQL_BYTES = 1024 * 1024 };

struct postgres_endpoint {
    struct postgres_conn conn;
    PGresult *row; /* current row; values point into it */
    struct buf row_bytes;
};

static struct postgres_endpoint *get_postgres_of_move_endpoint(struct data_move_endpoint *s)
{
    return s->connection;
}

/* Logs the failure of a query and frees its result. */
static enum err log_error_of_postgres_query(struct postgres_endpoint *side, PGresult *result)
{
    const char *state = result ? pq.resultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
    bool full = state && strcmp(state, "53100") == 0;

    log_error("move: PostgreSQL reported an error: %s",
              result ? pq.resultErrorMessage(result) : pq.errorMessage(side->conn.pg));
    pq.clear(result);
    return full ? ERR_STORAGE_FULL : ERR_UNAVAILABLE;
}

static enum err move_endpoint_query_text(struct data_move_endpoint *s, const char *sql, char *out,
                                         size_t size)
{
    return postgres_conn_query_text(&get_postgres_of_move_endpoint(s)->conn, sql, out, size);
}

static enum err move_endpoint_run_sql(struct data_move_endpoint *s, const char *sql)
{
    return postgres_conn_run_command(&get_postgres_of_move_endpoint(s)->conn, sql);
}

static enum err move_location_has_data(const struct data_move_location *location, bool *ret)
{
    struct postgres_conn c = { 0 };
    char answer[64] = "";

    *ret = false;
    if (!load_libpq() || !postgres_conn_open(&c, location->postgres, true))
        return ERR_UNAVAILABLE;
    enum err e = postgres_conn_query_text(&c, "select to_regclass('users')", answer, sizeof answer);
    if (!e && answer[0])
        e = postgres_conn_query_text(&c, "select 1 from users limit 1", answer, sizeof answer);
    postgres_conn_close(&c);
    *ret = answer[0] != '\0';
    return e;
}

/* Waits up to 60 s for the lock of an earlier move: a killed move may still be committing its last
 * rows, and its progress is final only when its connection has ended. */
static const char LOCK_TARGET[] = "set lock_timeout = '60s'; "
                                  "select pg_advisory_lock(7166184, hashtext(current_schema()))";

/* Connects to source or target. A source is read in one transaction, so that all reads use the same
 * snapshot. */
static enum err move_endpoint_connect(struct data_move_endpoint *s, bool writes)
{
    struct postgres_endpoint *side = mem_new(sizeof *side);

    s->connection = side;
    buf_init(&side->row_bytes, MOVE_MAX_ROW_BYTES);
    if (!postgres_conn_open(&side->conn, s->location.postgres, true))
        return ERR_UNAVAILABLE;
    return postgres_conn_run_command(
        &side->conn, writes ? LOCK_TARGET : "begin isolation level repeatable read read only");
}

static void move_endpoint_disconnect(struct data_move_endpoint *s)
{
    struct postgres_endpoint *side = s->connection;

    if (!side)
        return;
    pq.clear(side->row);
    buf_clear(&side->row_bytes);
    postgres_conn_close(&side->conn);
    mem_free(side);
    s->connection = NULL;
}

/* The type numbers (OIDs) are defined in PostgreSQL's pg_type.dat. */
static struct moved_column column_from_type_oid(int64_t type)
{
    switch (type) {
    case 16: /* bool */
        return (struct moved_column){ .kind = VALUE_INT, .width = 1 };
    case 20: /* int8 */
        return (struct moved_column){ .kind = VALUE_INT, .width = 8 };
    case 21: /* int2 */
        return (struct moved_column){ .kind = VALUE_INT, .width = 2 };
    case 23: /* int4 */
        return (struct moved_column){ .kind = VALUE_INT, .width = 4 };
    case 17: /* bytea */
        return (struct moved_column){ .kind = VALUE_BYTES };
    case 25: /* text */
        return (struct moved_column){ .kind = VALUE_TEXT };
    case 701: /* float8 */
        return (struct moved_column){ .kind = VALUE_REAL, .width = 8 };
    default:
        return (struct moved_column){ .kind = VALUE_NULL };
    }
}

static const char LIST_COLUMNS[] =
    "select c.relname::text, a.attname::text, a.atttypid::bigint, "
    "coalesce(array_position(i.indkey::int2[], a.attnum) - array_lower(i.indkey::int2[], 1) + 1, "
    "0)::bigint from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and "
    "not a.attisdropped left join pg_index i on i.indrelid = c.oid and i.indisprimary "
    "where c.relnamespace = (select oid from pg_namespace where nspname = current_schema()) "
    "and c.relkind in ('r', 'p') order by c.relname, a.attnum";
static const char LIST_REFERENCES[] =
    "select c.relname::text, p.relname::text from pg_constraint k join pg_class c on c.oid = "
    "k.conrelid join pg_class p on p.oid = k.confrelid where k.contype = 'f' and "
    "c.relnamespace = (select oid from pg_namespace where nspname = current_schema())";

static enum err list_foreign_key_references(struct tx *tx, struct data_move_plan *ret)
{
    struct rows r;
    enum err e = tx_query(tx, LIST_REFERENCES, NO_BIND, &r);

    if (e)
        return e;
    while (rows_next(&r))
        data_move_table_add_reference(ret, data_move_plan_find_or_add_table(ret, row_text(&r, 0)),
                                      row_text(&r, 1));
    return rows_end(&r);
}

static enum err move_endpoint_list_tables(struct tx *tx, struct data_move_plan *ret)
{
    struct rows r;
    enum err e = tx_query(tx, LIST_COLUMNS, NO_BIND, &r);

    if (e)
        return e;
    while (rows_next(&r)) {
        struct moved_column column = column_from_type_oid(row_int(&r, 2));

        column.name = str_dup_cstring(tx_arena(tx), row_text(&r, 1));
        column.key = (int)row_int(&r, 3);
        data_move_table_add_column(ret, data_move_plan_find_or_add_table(ret, row_text(&r, 0)),
                                   column);
    }
    e = rows_end(&r);
    return e ? e : list_foreign_key_references(tx, ret);
}

enum { NUMBER_TEXT_SIZE = 32 };

/* Formats a key value as a query parameter: numbers and text as text, so that PostgreSQL infers the
 * type; bytes in binary. */
static const char *format_key_value(const struct value *v, char number[NUMBER_TEXT_SIZE],
                                    struct arena *a)
{
    if (v->kind == VALUE_TEXT)
        return str_dup_cstring(a, v->s);
    if (v->kind == VALUE_BYTES)
        return v->s.p ? v->s.p : "";
    if (v->kind == VALUE_INT)
        snprintf(number, NUMBER_TEXT_SIZE, "%lld", (long long)v->i);
    else
        snprintf(number, NUMBER_TEXT_SIZE, "%.17g", v->d);
    return number;
}

static bool send_table_select(struct postgres_endpoint *side, const struct moved_table *t,
                              const char *sql, struct str behind)
{
    struct value key[MOVE_MAX_COLUMNS];
    char numbers[MOVE_MAX_COLUMNS][NUMBER_TEXT_SIZE];
    const char *values[MOVE_MAX_COLUMNS];
    int lengths[MOVE_MAX_COLUMNS], formats[MOVE_MAX_COLUMNS];
    size_t count = behind.n ? t->keys : 0;

    if (count && !decode_saved_primary_key(t, behind, key))
        return false;
    struct arena *a = arena_new();
    for (size_t i = 0; i < count; i++) {
        values[i] = format_key_value(&key[i], numbers[i], a);
        lengths[i] = key[i].kind == VALUE_BYTES ? (int)key[i].s.n : 0;
        formats[i] = key[i].kind == VALUE_BYTES;
    }
    bool sent =
        pq.sendQueryParams(side->conn.pg, sql, (int)count, NULL, values, lengths, formats, 1) &&
        pq.setSingleRowMode(side->conn.pg);
    arena_free(a);
    return sent;
}

static enum err move_endpoint_begin_table_read(struct data_move_endpoint *s,
                                               const struct moved_table *t, struct str behind)
{
    struct postgres_endpoint *side = get_postgres_of_move_endpoint(s);
    struct buf sql;

    buf_init(&sql, MAX_SQL_BYTES);
    append_select_of_moved_table(t, behind.n > 0, &sql);
    buf_add_char(&sql, '\0');
    bool sent = !buf_is_full(&sql) && send_table_select(side, t, sql.p, behind);
    buf_clear(&sql);
    return sent ? OK : log_error_of_postgres_query(side, NULL);
}

static uint64_t decode_big_endian(const char *p, int n)
{
    uint64_t number = 0;

    for (int i = 0; i < n; i++)
        number = number << 8 | (unsigned char)p[i];
    return number;
}

/* Decodes a signed big-endian number of up to eight bytes. A bool is decoded as 0 or 1. */
static int64_t decode_signed_big_endian(const char *p, int n)
{
    int unused = 64 - 8 * n;

    return n == 1 ? p[0] : (int64_t)(decode_big_endian(p, n) << unused) >> unused;
}

static struct value decode_binary_column(const PGresult *row, int at, enum value_kind kind)
{
    const char *p = pq.getvalue(row, 0, at);
    int n = pq.getlength(row, 0, at);
    uint64_t bits;
    double d;

    if (pq.getisnull(row, 0, at))
        return v_null();
    if (kind == VALUE_INT)
        return v_int(decode_signed_big_endian(p, n));
    if (kind == VALUE_REAL) {
        bits = decode_big_endian(p, n);
        memcpy(&d, &bits, sizeof d);
        return v_real(d);
    }
    return (struct value){ .kind = kind, .s = str_slice(p, (size_t)n) };
}

static enum err move_endpoint_read_next_row(struct data_move_endpoint *s,
                                            const struct moved_table *t, struct value *row,
                                            bool *ret_more)
{
    struct postgres_endpoint *side = get_postgres_of_move_endpoint(s);

    pq.clear(side->row);
    side->row = pq.getResult(side->conn.pg);
    ExecStatusType status = pq.resultStatus(side->row);
    *ret_more = status == PGRES_SINGLE_TUPLE;
    if (!*ret_more) {
        PGresult *last = side->row;

        side->row = NULL;
        if (status != PGRES_TUPLES_OK)
            return log_error_of_postgres_query(side, last);
        pq.clear(last);
        /* NULL marks the end of the results. */
        pq.clear(pq.getResult(side->conn.pg));
        return OK;
    }
    for (size_t i = 0; i < t->count; i++)
        row[i] = decode_binary_column(side->row, (int)i, t->columns[i].kind);
    return OK;
}

static void append_big_endian(struct buf *out, uint64_t number, int bytes)
{
    for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8)
        buf_add_char(out, (char)(number >> shift));
}

static enum err send_copy_data(struct postgres_endpoint *side)
{
    if (!buf_is_full(&side->row_bytes) &&
        pq.putCopyData(side->conn.pg, side->row_bytes.p, (int)side->row_bytes.n) == 1)
        return OK;
    return log_error_of_postgres_query(side, NULL);
}

static enum err move_endpoint_begin_copy_into_table(struct data_move_endpoint *s,
                                                    const struct moved_table *t)
{
    /* sizeof head includes the NUL byte of the literal, which is the last byte of the header */
    static const char head[] = "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0";
    struct postgres_endpoint *side = get_postgres_of_move_endpoint(s);
    struct buf sql;

    buf_init(&sql, MAX_SQL_BYTES);
    buf_printf(&sql, "copy \"%s\" (", t->name);
    append_moved_column_names(t, false, &sql);
    buf_add_lit(&sql, ") from stdin (format binary)");
    buf_add_char(&sql, '\0');
    PGresult *result = !buf_is_full(&sql) && pq.sendQuery(side->conn.pg, sql.p)
                           ? pq.getResult(side->conn.pg)
                           : NULL;
    buf_clear(&sql);
    if (pq.resultStatus(result) != PGRES_COPY_IN)
        return log_error_of_postgres_query(side, result);
    pq.clear(result);
    buf_reset(&side->row_bytes);
    buf_add(&side->row_bytes, head, sizeof head);
    return send_copy_data(side);
}

static void append_copy_field(struct buf *out, const struct moved_column *c, const struct value *v)
{
    uint64_t bits = (uint64_t)v->i;

    if (v->kind == VALUE_NULL) {
        append_big_endian(out, UINT32_MAX, 4);
    } else if (v->kind == VALUE_TEXT || v->kind == VALUE_BYTES) {
        append_big_endian(out, v->s.n, 4);
        buf_add_str(out, v->s);
    } else {
        if (v->kind == VALUE_REAL)
            memcpy(&bits, &v->d, sizeof bits);
        append_big_endian(out, (uint64_t)c->width, 4);
        append_big_endian(out, bits, c->width);
    }
}

static enum err move_endpoint_copy_row(struct data_move_endpoint *s, const struct moved_table *t,
                                       const struct value *row)
{
    struct postgres_endpoint *side = get_postgres_of_move_endpoint(s);

    buf_reset(&side->row_bytes);
    append_big_endian(&side->row_bytes, t->count, 2);
    for (size_t i = 0; i < t->count; i++)
        append_copy_field(&side->row_bytes, &t->columns[i], &row[i]);
    return send_copy_data(side);
}

static enum err move_endpoint_end_copy(struct data_move_endpoint *s)
{
    struct postgres_endpoint *side = get_postgres_of_move_endpoint(s);

    buf_reset(&side->row_bytes);
    append_big_endian(&side->row_bytes, UINT16_MAX, 2);
    enum err e = send_copy_data(side);
    if (!e && pq.putCopyEnd(side->conn.pg, NULL) != 1)
        e = log_error_of_postgres_query(side, NULL);
    if (e)
        return e;
    PGresult *result = pq.getResult(side->conn.pg);
    if (pq.resultStatus(result) != PGRES_COMMAND_OK)
        return log_error_of_postgres_query(side, result);
    pq.clear(result);
    /* NULL marks the end of the results. */
    pq.clear(pq.getResult(side->conn.pg));
    return OK;
}

/* Queues all messages for the full-text index. The index is not moved, because each engine has its
 * own. On SQLite, message_index_progress is 0 in the target, so that nothing needs to be queued. */
static const char POSTGRES_FINAL_SQL[] =
    "insert into message_unindexed (message_id, times) select id, 1 from messages "
    "where ephemeral_for is null on conflict (message_id) do nothing;"
    "analyze;";

const struct data_move_engine move_engine_postgres = {
    .target_has_data = move_location_has_data,
    .open = move_endpoint_connect,
    .close = move_endpoint_disconnect,
    .list = move_endpoint_list_tables,
    .query_text = move_endpoint_query_text,
    .script = move_endpoint_run_sql,
    .read = move_endpoint_begin_table_read,
    .next = move_endpoint_read_next_row,
    .put_begin = move_endpoint_begin_copy_into_table,
    .put = move_endpoint_copy_row,
    .put_end = move_endpoint_end_copy,
    .hex_before = "'\\x",
    .truncates = true,
    .disable_triggers_sql = "alter table \"%s\" disable trigger user;",
    .enable_triggers_sql = "alter table \"%s\" enable trigger user;",
    .final_sql = POSTGRES_FINAL_SQL,
};
