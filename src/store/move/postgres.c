/* postgres.c - PostgreSQL as source or target of a move, in binary format; writes with COPY. */
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "store/move/internal.h"
#include "store/postgres/postgres.h"

enum { LONGEST_SQL = 1024 * 1024 };

struct move_postgres_side {
    struct postgres_conn conn;
    PGresult *row; /* current row; values point into it */
    struct buf line;
};

static struct move_postgres_side *postgres_side(struct move_side *s)
{
    return s->connection;
}

/* Logs the failure and frees the result. */
static enum err postgres_side_failed(struct move_postgres_side *side, PGresult *result)
{
    const char *state = result ? pq.resultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
    bool full = state && strcmp(state, "53100") == 0;

    log_error("move: PostgreSQL reported an error: %s",
              result ? pq.resultErrorMessage(result) : pq.errorMessage(side->conn.pg));
    pq.clear(result);
    return full ? ERR_STORAGE_FULL : ERR_UNAVAILABLE;
}

static enum err postgres_side_ask(struct move_side *s, const char *sql, char *out, size_t size)
{
    return postgres_conn_ask(&postgres_side(s)->conn, sql, out, size);
}

static enum err postgres_side_script(struct move_side *s, const char *sql)
{
    return postgres_conn_do(&postgres_side(s)->conn, sql);
}

static enum err postgres_side_look(const struct move_place *place, bool *ret)
{
    struct postgres_conn c = { 0 };
    char answer[64] = "";

    *ret = false;
    if (!libpq_load() || !postgres_conn_open(&c, place->postgres, true))
        return ERR_UNAVAILABLE;
    enum err e = postgres_conn_ask(&c, "select to_regclass('users')", answer, sizeof answer);
    if (!e && answer[0])
        e = postgres_conn_ask(&c, "select 1 from users limit 1", answer, sizeof answer);
    postgres_conn_close(&c);
    *ret = answer[0] != '\0';
    return e;
}

/* Waits for the lock of an earlier move: a killed move may still be committing its last rows, and
 * its progress is final when its connection has ended. */
static const char ALONE[] = "set lock_timeout = '60s'; "
                            "select pg_advisory_lock(7166184, hashtext(current_schema()))";

/* A source is read in one transaction, so that all reads use the same snapshot. */
static enum err postgres_side_open(struct move_side *s, bool writes)
{
    struct move_postgres_side *side = mem_new(sizeof *side);

    s->connection = side;
    buf_init(&side->line, MOVE_LONGEST_ROW);
    if (!postgres_conn_open(&side->conn, s->place.postgres, true))
        return ERR_UNAVAILABLE;
    return postgres_conn_do(&side->conn,
                            writes ? ALONE : "begin isolation level repeatable read read only");
}

static void postgres_side_close(struct move_side *s)
{
    struct move_postgres_side *side = s->connection;

    if (!side)
        return;
    pq.clear(side->row);
    buf_clear(&side->line);
    postgres_conn_close(&side->conn);
    mem_free(side);
    s->connection = NULL;
}

/* Type numbers are those of PostgreSQL's pg_type.dat. */
static struct move_column column_of_type(int64_t type)
{
    switch (type) {
    case 16: /* bool */
        return (struct move_column){ .kind = VALUE_INT, .width = 1 };
    case 20: /* int8 */
        return (struct move_column){ .kind = VALUE_INT, .width = 8 };
    case 21: /* int2 */
        return (struct move_column){ .kind = VALUE_INT, .width = 2 };
    case 23: /* int4 */
        return (struct move_column){ .kind = VALUE_INT, .width = 4 };
    case 17: /* bytea */
        return (struct move_column){ .kind = VALUE_BYTES };
    case 25: /* text */
        return (struct move_column){ .kind = VALUE_TEXT };
    case 701: /* float8 */
        return (struct move_column){ .kind = VALUE_REAL, .width = 8 };
    default:
        return (struct move_column){ .kind = VALUE_NULL };
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

static enum err list_references(struct tx *tx, struct move_plan *ret)
{
    struct rows r;
    enum err e = tx_query(tx, LIST_REFERENCES, NO_BIND, &r);

    if (e)
        return e;
    while (rows_next(&r))
        move_table_refer(ret, move_plan_table(ret, row_text(&r, 0)), row_text(&r, 1));
    return rows_end(&r);
}

static enum err postgres_side_list(struct tx *tx, struct move_plan *ret)
{
    struct rows r;
    enum err e = tx_query(tx, LIST_COLUMNS, NO_BIND, &r);

    if (e)
        return e;
    while (rows_next(&r)) {
        struct move_column column = column_of_type(row_int(&r, 2));

        column.name = str_dupz(tx_arena(tx), row_text(&r, 1));
        column.key = (int)row_int(&r, 3);
        move_table_add(ret, move_plan_table(ret, row_text(&r, 0)), column);
    }
    e = rows_end(&r);
    return e ? e : list_references(tx, ret);
}

enum { NUMBER_TEXT = 32 };

/* Formats a key value as a parameter: numbers and text as text, whose type PostgreSQL infers; bytes
 * as binary. */
static const char *key_text(const struct value *v, char number[NUMBER_TEXT], struct arena *a)
{
    if (v->kind == VALUE_TEXT)
        return str_dupz(a, v->s);
    if (v->kind == VALUE_BYTES)
        return v->s.p ? v->s.p : "";
    if (v->kind == VALUE_INT)
        snprintf(number, NUMBER_TEXT, "%lld", (long long)v->i);
    else
        snprintf(number, NUMBER_TEXT, "%.17g", v->d);
    return number;
}

static bool send_select(struct move_postgres_side *side, const struct move_table *t,
                        const char *sql, struct str behind)
{
    struct value key[MOVE_COLUMNS];
    char numbers[MOVE_COLUMNS][NUMBER_TEXT];
    const char *values[MOVE_COLUMNS];
    int lengths[MOVE_COLUMNS], formats[MOVE_COLUMNS];
    size_t count = behind.n ? t->keys : 0;

    if (count && !move_key_read(t, behind, key))
        return false;
    struct arena *a = arena_new();
    for (size_t i = 0; i < count; i++) {
        values[i] = key_text(&key[i], numbers[i], a);
        lengths[i] = key[i].kind == VALUE_BYTES ? (int)key[i].s.n : 0;
        formats[i] = key[i].kind == VALUE_BYTES;
    }
    bool sent =
        pq.sendQueryParams(side->conn.pg, sql, (int)count, NULL, values, lengths, formats, 1) &&
        pq.setSingleRowMode(side->conn.pg);
    arena_free(a);
    return sent;
}

static enum err postgres_side_read(struct move_side *s, const struct move_table *t,
                                   struct str behind)
{
    struct move_postgres_side *side = postgres_side(s);
    struct buf sql;

    buf_init(&sql, LONGEST_SQL);
    move_select(t, behind.n > 0, &sql);
    buf_add_char(&sql, '\0');
    bool sent = !buf_full(&sql) && send_select(side, t, sql.p, behind);
    buf_clear(&sql);
    return sent ? OK : postgres_side_failed(side, NULL);
}

static uint64_t big_endian(const char *p, int n)
{
    uint64_t number = 0;

    for (int i = 0; i < n; i++)
        number = number << 8 | (unsigned char)p[i];
    return number;
}

/* Sign-extends numbers of less than eight bytes. A bool is 0 or 1. */
static int64_t signed_number(const char *p, int n)
{
    int unused = 64 - 8 * n;

    return n == 1 ? p[0] : (int64_t)(big_endian(p, n) << unused) >> unused;
}

static struct value postgres_side_value(const PGresult *row, int at, enum value_kind kind)
{
    const char *p = pq.getvalue(row, 0, at);
    int n = pq.getlength(row, 0, at);
    uint64_t bits;
    double d;

    if (pq.getisnull(row, 0, at))
        return v_null();
    if (kind == VALUE_INT)
        return v_int(signed_number(p, n));
    if (kind == VALUE_REAL) {
        bits = big_endian(p, n);
        memcpy(&d, &bits, sizeof d);
        return v_real(d);
    }
    return (struct value){ .kind = kind, .s = str_slice(p, (size_t)n) };
}

static enum err postgres_side_next(struct move_side *s, const struct move_table *t,
                                   struct value *row, bool *ret_more)
{
    struct move_postgres_side *side = postgres_side(s);

    pq.clear(side->row);
    side->row = pq.getResult(side->conn.pg);
    ExecStatusType status = pq.resultStatus(side->row);
    *ret_more = status == PGRES_SINGLE_TUPLE;
    if (!*ret_more) {
        PGresult *last = side->row;

        side->row = NULL;
        if (status != PGRES_TUPLES_OK)
            return postgres_side_failed(side, last);
        pq.clear(last);
        pq.clear(pq.getResult(side->conn.pg)); /* NULL marks the end of the results */
        return OK;
    }
    for (size_t i = 0; i < t->count; i++)
        row[i] = postgres_side_value(side->row, (int)i, t->columns[i].kind);
    return OK;
}

static void add_number(struct buf *out, uint64_t number, int bytes)
{
    for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8)
        buf_add_char(out, (char)(number >> shift));
}

static enum err send_line(struct move_postgres_side *side)
{
    if (!buf_full(&side->line) &&
        pq.putCopyData(side->conn.pg, side->line.p, (int)side->line.n) == 1)
        return OK;
    return postgres_side_failed(side, NULL);
}

static enum err postgres_side_put_begin(struct move_side *s, const struct move_table *t)
{
    /* includes the NUL byte of the literal */
    static const char head[] = "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0";
    struct move_postgres_side *side = postgres_side(s);
    struct buf sql;

    buf_init(&sql, LONGEST_SQL);
    buf_printf(&sql, "copy \"%s\" (", t->name);
    move_names(t, false, &sql);
    buf_add_lit(&sql, ") from stdin (format binary)");
    buf_add_char(&sql, '\0');
    PGresult *result =
        !buf_full(&sql) && pq.sendQuery(side->conn.pg, sql.p) ? pq.getResult(side->conn.pg) : NULL;
    buf_clear(&sql);
    if (pq.resultStatus(result) != PGRES_COPY_IN)
        return postgres_side_failed(side, result);
    pq.clear(result);
    buf_reset(&side->line);
    buf_add(&side->line, head, sizeof head);
    return send_line(side);
}

static void add_field(struct buf *out, const struct move_column *c, const struct value *v)
{
    uint64_t bits = (uint64_t)v->i;

    if (v->kind == VALUE_NULL) {
        add_number(out, UINT32_MAX, 4);
    } else if (v->kind == VALUE_TEXT || v->kind == VALUE_BYTES) {
        add_number(out, v->s.n, 4);
        buf_add_str(out, v->s);
    } else {
        if (v->kind == VALUE_REAL)
            memcpy(&bits, &v->d, sizeof bits);
        add_number(out, (uint64_t)c->width, 4);
        add_number(out, bits, c->width);
    }
}

static enum err postgres_side_put(struct move_side *s, const struct move_table *t,
                                  const struct value *row)
{
    struct move_postgres_side *side = postgres_side(s);

    buf_reset(&side->line);
    add_number(&side->line, t->count, 2);
    for (size_t i = 0; i < t->count; i++)
        add_field(&side->line, &t->columns[i], &row[i]);
    return send_line(side);
}

static enum err postgres_side_put_end(struct move_side *s)
{
    struct move_postgres_side *side = postgres_side(s);

    buf_reset(&side->line);
    add_number(&side->line, UINT16_MAX, 2);
    enum err e = send_line(side);
    if (!e && pq.putCopyEnd(side->conn.pg, NULL) != 1)
        e = postgres_side_failed(side, NULL);
    if (e)
        return e;
    PGresult *result = pq.getResult(side->conn.pg);
    if (pq.resultStatus(result) != PGRES_COMMAND_OK)
        return postgres_side_failed(side, result);
    pq.clear(result);
    pq.clear(pq.getResult(side->conn.pg)); /* NULL marks the end of the results */
    return OK;
}

const struct move_engine move_postgres = {
    .look = postgres_side_look,
    .open = postgres_side_open,
    .close = postgres_side_close,
    .list = postgres_side_list,
    .ask = postgres_side_ask,
    .script = postgres_side_script,
    .read = postgres_side_read,
    .next = postgres_side_next,
    .put_begin = postgres_side_put_begin,
    .put = postgres_side_put,
    .put_end = postgres_side_put_end,
    .hex_before = "'\\x",
    .truncates = true,
    .quiet = "alter table \"%s\" disable trigger user;",
    .loud = "alter table \"%s\" enable trigger user;",
    .last = "analyze;",
};
