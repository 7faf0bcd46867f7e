/* postgres_conn.c - one connection to PostgreSQL: statements, parameters, rows.
 *
 * Parameters travel as text and their types are inferred from the statement, so
 * a null and a number can take turns in the same place; bytes travel as they
 * are. A query's rows are all here before the first is looked at. */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "store/postgres.h"

enum { MAX_STATEMENTS = 512, MAX_PARAMETERS = 64, NAME = 16, ANSWER_MS = 8000 };

/* Types of columns, from PostgreSQL's pg_type.dat; they never change. */
enum {
    TYPE_BOOL = 16,
    TYPE_BYTES = 17,
    TYPE_INT8 = 20,
    TYPE_INT2 = 21,
    TYPE_INT4 = 23,
    TYPE_FLOAT4 = 700,
    TYPE_FLOAT8 = 701,
    TYPE_NUMERIC = 1700,
};

struct postgres_statement {
    char name[NAME];
};

struct postgres_cursor {
    struct row_cursor cursor;
    PGresult *result;
    int at, count;
};

/* --- errors --------------------------------------------------------------------------- */

static bool postgres_state_is(const char *state, const char *code)
{
    return strcmp(state, code) == 0;
}

static bool is_lost(struct postgres_conn *c, const char *state)
{
    if (c->lost)
        return true;
    /* 57P: the server is going down or the connection was ended by an operator; 25P03:
     * it was idle in a transaction for too long. */
    return pq.status(c->pg) != CONNECTION_OK || strncmp(state, "57P", 3) == 0 ||
           postgres_state_is(state, "25P03");
}

/* What the result says, when it is not good; logs what nobody else will. */
static enum err error_of(struct postgres_conn *c, const PGresult *result, const char *sql)
{
    const char *state = result ? pq.resultErrorField(result, PG_DIAG_SQLSTATE) : NULL;

    if (!state)
        state = "";
    if (postgres_state_is(state, "23505")) /* unique_violation */
        return ERR_STORE_CONFLICT;
    if (postgres_state_is(state, "40001") ||
        postgres_state_is(state, "40P01")) /* serialization_failure, deadlock */
        return ERR_STORE_RETRY;
    if (postgres_state_is(state, "25006")) /* read_only_sql_transaction */
        return tx_refuse_write(sql);
    if (postgres_state_is(state, "22021")) /* character_not_in_repertoire */
        return ERR_BAD_REQUEST;
    if (is_lost(c, state)) {
        c->lost = true;
        return ERR_UNAVAILABLE;
    }
    if (postgres_state_is(state, "57014") ||
        postgres_state_is(state, "55P03")) { /* query_canceled, lock_not_available */
        log_warn("store: %s in: %s", pq.resultErrorMessage(result), sql);
        return ERR_UNAVAILABLE;
    }
    log_error("store: %s in: %s", result ? pq.resultErrorMessage(result) : pq.errorMessage(c->pg),
              sql);
    return postgres_state_is(state, "53100") /* disk_full */ ? ERR_STORAGE_FULL : ERR_INTERNAL;
}

/* --- answers -------------------------------------------------------------------------- */

/* Waits until libpq can say something without waiting. The connection is lost when the
 * other side says nothing for too long: a cut that nobody is told of, or a server that
 * stands still. */
static bool wait_for_answer(struct postgres_conn *c)
{
    struct pollfd p = { .fd = pq.socket(c->pg), .events = POLLIN };
    int64_t until = clock_mono() + (int64_t)c->patience_ms * 1000000;

    while (!c->lost && pq.isBusy(c->pg)) {
        int64_t left = c->patience_ms ? (until - clock_mono()) / 1000000 : -1;
        int ready = poll(&p, 1, left < -1 ? 0 : (int)left);

        if (ready < 0 && errno == EINTR)
            continue;
        c->silent = ready == 0;
        if (c->silent)
            log_warn("store: PostgreSQL did not answer for %d seconds", c->patience_ms / 1000);
        if (ready <= 0 || !pq.consumeInput(c->pg))
            c->lost = true;
    }
    return !c->lost;
}

static PGresult *next_result(struct postgres_conn *c)
{
    return wait_for_answer(c) ? pq.getResult(c->pg) : NULL;
}

static bool is_good(const PGresult *result)
{
    ExecStatusType status = pq.resultStatus(result);

    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

/* What became of the command that was just sent, if it was: the last result of all, or
 * the first bad one. NULL: the connection is lost. */
static PGresult *last_result(struct postgres_conn *c, int sent)
{
    PGresult *last = NULL, *result;

    if (!sent)
        c->lost = true;
    while (!c->lost && (result = next_result(c))) {
        if (last && !is_good(last)) {
            pq.clear(result);
            continue;
        }
        pq.clear(last);
        last = result;
    }
    return last;
}

/* Takes the result. */
static enum err postgres_outcome(struct postgres_conn *c, PGresult *result, const char *sql)
{
    enum err e = is_good(result) ? OK : error_of(c, result, sql);

    pq.clear(result);
    return e;
}

static PGresult *exec_words(struct postgres_conn *c, const char *sql)
{
    return last_result(c, pq.sendQuery(c->pg, sql));
}

enum err postgres_conn_do(struct postgres_conn *c, const char *sql)
{
    return postgres_outcome(c, exec_words(c, sql), sql);
}

enum err postgres_conn_ask(struct postgres_conn *c, const char *sql, char *out, size_t size)
{
    PGresult *result = exec_words(c, sql);

    out[0] = '\0';
    if (is_good(result) && pq.ntuples(result))
        snprintf(out, size, "%s", pq.getvalue(result, 0, 0));
    return postgres_outcome(c, result, sql);
}

/* --- transactions --------------------------------------------------------------------- */

void postgres_conn_begin(struct postgres_conn *c, const char *how)
{
    c->begin = how;
}

static enum err begin_now(struct postgres_conn *c)
{
    const char *begin = c->begin;

    c->begin = NULL;
    return begin ? postgres_conn_do(c, begin) : OK;
}

enum err postgres_conn_end(struct postgres_conn *c, const char *end)
{
    bool began = !c->begin;

    c->begin = NULL;
    return began ? postgres_conn_do(c, end) : OK;
}

enum err postgres_script(struct tx *tx, const char *sql)
{
    enum err e = begin_now(tx->connection);

    if (!e)
        e = postgres_conn_do(tx->connection, sql);
    return e ? tx_fail(tx, e) : OK;
}

/* --- statements ----------------------------------------------------------------------- */

static void forget_statements(struct postgres_conn *c)
{
    struct postgres_statement *st;
    size_t at = 0;

    while ((st = map_next(&c->statements, &at)))
        mem_free(st);
    map_clear(&c->statements);
}

static enum err find_statement(struct postgres_conn *c, const char *sql, size_t count,
                               struct postgres_statement **ret)
{
    uint64_t key = (uint64_t)(uintptr_t)sql;
    enum err e;

    *ret = map_get(&c->statements, key);
    if (*ret)
        return OK;
    e = begin_now(c);
    if (!e && c->statements.count >= MAX_STATEMENTS) {
        e = postgres_conn_do(c, "deallocate all");
        forget_statements(c);
    }
    struct postgres_statement *st = mem_new(sizeof *st);
    snprintf(st->name, sizeof st->name, "s%u", c->named++);
    if (!e)
        e = postgres_outcome(
            c, last_result(c, pq.sendPrepare(c->pg, st->name, sql, (int)count, NULL)), sql);
    if (e) {
        mem_free(st);
        return e;
    }
    map_put(&c->statements, key, st);
    *ret = st;
    return OK;
}

/* --- parameters ----------------------------------------------------------------------- */

struct parameters {
    const char *text[MAX_PARAMETERS];
    int length[MAX_PARAMETERS];
    int binary[MAX_PARAMETERS];
};

static const char *number_text(struct arena *a, const struct value *v)
{
    enum { ROOM = 32 };
    char *text = arena_raw(a, ROOM);

    if (v->kind == VALUE_INT)
        snprintf(text, ROOM, "%" PRId64, v->i);
    else
        snprintf(text, ROOM, "%.17g", v->d);
    return text;
}

static void postgres_fill_values(struct parameters *p, struct arena *a, const struct value *values,
                                 size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct value *v = &values[i];

        p->text[i] = NULL;
        p->length[i] = 0;
        p->binary[i] = v->kind == VALUE_BYTES;
        if (v->kind == VALUE_INT || v->kind == VALUE_REAL)
            p->text[i] = number_text(a, v);
        if (v->kind == VALUE_TEXT)
            p->text[i] = str_dupz(a, v->s);
        if (v->kind == VALUE_BYTES) {
            p->text[i] = v->s.p ? v->s.p : "";
            p->length[i] = (int)v->s.n;
        }
    }
}

/* --- queries -------------------------------------------------------------------------- */

/* Each query of a pipeline has a result and an end. */
static PGresult *take_result(struct postgres_conn *c)
{
    PGresult *result = next_result(c);

    if (result)
        pq.clear(next_result(c));
    return result;
}

/* Sends both, then waits. Whatever goes wrong in between shows in the result;
 * a connection that cannot leave the pipeline is of no more use. */
static PGresult *begin_and_exec(struct postgres_conn *c, const struct postgres_statement *st,
                                size_t count, const struct parameters *p)
{
    bool sent =
        pq.enterPipelineMode(c->pg) &&
        pq.sendQueryParams(c->pg, c->begin, 0, NULL, NULL, NULL, NULL, 0) &&
        pq.sendQueryPrepared(c->pg, st->name, (int)count, p->text, p->length, p->binary, 0) &&
        pq.pipelineSync(c->pg);
    PGresult *begun = sent ? take_result(c) : NULL;
    PGresult *result = sent ? take_result(c) : NULL;

    c->begin = NULL;
    pq.clear(sent ? next_result(c) : NULL); /* the sync */
    if (!sent || c->lost || !pq.exitPipelineMode(c->pg))
        c->lost = true;
    if (is_good(begun)) {
        pq.clear(begun);
        return result;
    }
    pq.clear(result);
    return begun;
}

/* --- commits that others hear of ------------------------------------------------------ */

/* The transaction has an id before it has a position: who looks for the transaction of a
 * missing position knows that its id is not above the newest (cluster/settle.c). */
static const char TAKE_POSITION[] = "select pg_current_xact_id(), nextval('log_position')";
static const char ADD_FRAME[] =
    "insert into log (position, body) values (currval('log_position'), $1)";

/* Making room for the second statement may have thrown the first one out. */
static enum err find_log_statements(struct postgres_conn *c, struct postgres_statement **take,
                                    struct postgres_statement **add)
{
    enum err e = begin_now(c);

    if (!e)
        e = find_statement(c, TAKE_POSITION, 0, take);
    if (!e)
        e = find_statement(c, ADD_FRAME, 1, add);
    return e ? e : find_statement(c, TAKE_POSITION, 0, take);
}

static bool send_logged(struct postgres_conn *c, const struct postgres_statement *take,
                        const struct postgres_statement *add, struct str body)
{
    const char *bytes[] = { body.p };
    const int length[] = { (int)body.n }, binary[] = { 1 };

    return pq.enterPipelineMode(c->pg) &&
           pq.sendQueryPrepared(c->pg, take->name, 0, NULL, NULL, NULL, 0) &&
           pq.sendQueryPrepared(c->pg, add->name, 1, bytes, length, binary, 0) &&
           pq.sendQueryParams(c->pg, "commit", 0, NULL, NULL, NULL, NULL, 0) &&
           pq.pipelineSync(c->pg);
}

static bool is_committed(const PGresult *result)
{
    return is_good(result) && strcmp(pq.cmdStatus((PGresult *)result), "COMMIT") == 0;
}

/* What the three commands of the pipeline came to: OK, or the first that failed. */
static enum err logged_outcome(struct postgres_conn *c, PGresult *const results[3])
{
    enum err e = OK;

    for (int i = 0; i < 3 && !e; i++)
        if (!is_good(results[i]))
            e = error_of(c, results[i], i == 0 ? TAKE_POSITION : i == 1 ? ADD_FRAME : "commit");
    return e || is_committed(results[2]) ? e : ERR_INTERNAL;
}

enum err postgres_conn_commit(struct postgres_conn *c, struct str body, int64_t *ret)
{
    struct postgres_statement *take, *add;
    PGresult *results[3] = { NULL };
    enum err e = find_log_statements(c, &take, &add);

    *ret = 0;
    if (e)
        return e;
    bool sent = send_logged(c, take, add, body);
    for (int i = 0; i < 3 && sent; i++)
        results[i] = take_result(c);
    pq.clear(sent ? next_result(c) : NULL); /* the sync */
    if (!sent || c->lost || !pq.exitPipelineMode(c->pg))
        c->lost = true;
    if (is_good(results[0]))
        *ret = strtoll(pq.getvalue(results[0], 0, 1), NULL, 10);
    e = logged_outcome(c, results);
    for (int i = 0; i < 3; i++)
        pq.clear(results[i]);
    return e;
}

/* --- queries in transactions ---------------------------------------------------------- */

static PGresult *postgres_exec(struct postgres_conn *c, const struct postgres_statement *st,
                               size_t count, const struct parameters *p)
{
    if (c->begin)
        return begin_and_exec(c, st, count, p);
    return last_result(
        c, pq.sendQueryPrepared(c->pg, st->name, (int)count, p->text, p->length, p->binary, 0));
}

enum err postgres_query(struct tx *tx, const char *sql, const struct value *values, size_t count,
                        struct rows *ret)
{
    struct postgres_conn *c = tx->connection;
    struct parameters p;
    struct postgres_statement *st;

    assert(count <= MAX_PARAMETERS);
    enum err e = find_statement(c, sql, count, &st);
    if (e)
        return tx_fail(tx, e);
    postgres_fill_values(&p, tx_arena(tx), values, count);
    PGresult *result = postgres_exec(c, st, count, &p);
    if (!is_good(result)) {
        e = postgres_outcome(c, result, sql);
        return tx_fail(tx, e);
    }

    struct postgres_cursor *cursor = arena_alloc(tx_arena(tx), sizeof *cursor);
    cursor->result = result;
    cursor->count = pq.ntuples(result);
    ret->columns = pq.nfields(result);
    ret->changed = strtoll(pq.cmdTuples(result), NULL, 10);
    tx_add_cursor(tx, &cursor->cursor, ret->columns);
    ret->cursor = &cursor->cursor;
    return OK;
}

/* --- rows ----------------------------------------------------------------------------- */

static struct value bytes_value(struct arena *a, const char *text)
{
    size_t n = 0;
    unsigned char *bytes = pq.unescapeBytea((const unsigned char *)text, &n);
    struct value v = value_copy(a, VALUE_BYTES, bytes, n);

    pq.freemem(bytes);
    return v;
}

/* Sums of bigint are numeric; as long as they fit they are integers here. */
static struct value numeric_value(struct str text)
{
    int64_t i;

    return str_to_i64(text, &i) ? v_int(i) : v_real(strtod(text.p, NULL));
}

static struct value postgres_column(struct arena *a, const PGresult *result, int row, int i)
{
    if (pq.getisnull(result, row, i))
        return v_null();

    const char *text = pq.getvalue(result, row, i);
    struct str s = { text, (size_t)pq.getlength(result, row, i) };
    switch (pq.ftype(result, i)) {
    case TYPE_BOOL:
        return v_int(text[0] == 't');
    case TYPE_INT2:
    case TYPE_INT4:
    case TYPE_INT8:
    case TYPE_NUMERIC:
        return numeric_value(s);
    case TYPE_FLOAT4:
    case TYPE_FLOAT8:
        return v_real(strtod(text, NULL));
    case TYPE_BYTES:
        return bytes_value(a, text);
    default:
        return value_copy(a, VALUE_TEXT, s.p, s.n);
    }
}

bool postgres_next(struct rows *r)
{
    struct postgres_cursor *cursor = (struct postgres_cursor *)r->cursor;

    if (cursor->at >= cursor->count)
        return false;
    for (int i = 0; i < r->columns; i++)
        cursor->cursor.row[i] = postgres_column(tx_arena(r->tx), cursor->result, cursor->at, i);
    r->row = cursor->cursor.row;
    cursor->at++;
    return true;
}

enum err postgres_end(struct rows *r)
{
    struct postgres_cursor *cursor = (struct postgres_cursor *)r->cursor;

    pq.clear(cursor->result);
    tx_remove_cursor(r->tx, &cursor->cursor);
    return OK;
}

/* --- opening -------------------------------------------------------------------------- */

static void hear_notice(void *arg, const char *message)
{
    (void)arg, (void)message; /* silences what libpq would print */
    log_debug("store: %s", message);
}

bool postgres_conn_open(struct postgres_conn *c, const char *where, bool log)
{
    /* What stands before the operator's own words is a default. A cut is noticed within
     * eight seconds, whether something was on its way (tcp_user_timeout) or not. */
    static const char *const keys[] = {
        "connect_timeout",     "tcp_user_timeout", "keepalives_idle",
        "keepalives_interval", "keepalives_count", "client_encoding",
        "application_name",    "dbname",           NULL,
    };
    const char *const values[] = { "3", "8000", "4", "2", "2", "UTF8", "guildhall", where, NULL };

    c->pg = pq.connectdbParams(keys, values, 1);
    if (c->pg && pq.status(c->pg) == CONNECTION_OK) {
        pq.setNoticeProcessor(c->pg, hear_notice, NULL);
        map_init(&c->statements);
        c->lost = c->silent = false;
        c->begin = NULL;
        c->patience_ms = 0;
        return true;
    }
    if (log)
        log_error("store: cannot reach PostgreSQL: %s",
                  c->pg ? pq.errorMessage(c->pg) : "out of memory");
    pq.finish(c->pg);
    c->pg = NULL;
    return false;
}

/* The number is ours alone; tables of several servers may share a database. */
#define SERVED "(7166182, hashtext(current_schema()))"

/* The database gives up a little before we do, and says so. Whoever just closed holds the
 * lock for a moment more. */
static const char SERVE[] = "set lock_timeout = '3s'; select pg_advisory_lock_shared" SERVED "; "
                            "select pg_advisory_lock_shared(" PEER_CLASS ", %" PRId32 "); "
                            "set lock_timeout = '7s'; set statement_timeout = '7s'; "
                            "set idle_in_transaction_session_timeout = '10s'";

bool postgres_conn_serve(struct postgres_conn *c, uint32_t identity)
{
    char sql[sizeof SERVE + 16];

    c->patience_ms = ANSWER_MS;
    if (!postgres_alone(c, identity))
        return false;
    snprintf(sql, sizeof sql, SERVE, (int32_t)identity);
    if (!postgres_conn_do(c, sql))
        return true;
    log_error("store: a tool has the database for itself, or PostgreSQL is too slow");
    return false;
}

enum err postgres_keep_servers_out(struct tx *tx)
{
    enum err e = tx_exec(tx, "set local lock_timeout = '3s'", NO_BIND, NULL);

    if (!e)
        e = tx_exec(tx, "select pg_advisory_lock" SERVED, NO_BIND, NULL);
    if (e)
        log_error("store: a server is running on this database; stop it first");
    return e;
}

void postgres_conn_close(struct postgres_conn *c)
{
    if (!c->pg)
        return;
    forget_statements(c);
    pq.finish(c->pg);
    c->pg = NULL;
}

bool postgres_conn_alive(struct postgres_conn *c)
{
    struct pollfd p = { .fd = pq.socket(c->pg), .events = POLLIN };

    /* No command is under way, so readable bytes mean that the server closes the connection. */
    return poll(&p, 1, 0) == 0 || (pq.consumeInput(c->pg) && pq.status(c->pg) == CONNECTION_OK);
}
