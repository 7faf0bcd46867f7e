/* postgres_query.c - statements, transactions and rows of a connection to PostgreSQL.
 *
 * A query's rows are all here before the first is looked at. Each query is a way to the
 * database and back, so what can travel together does, in a pipeline: a transaction begins
 * with its first query, queries that were foreseen go with the one before them, and writes
 * that nobody waits for go with what comes next, or with the commit. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "store/postgres.h"

enum { MAX_STATEMENTS = 512, NAME = 16 };

struct postgres_statement {
    char name[NAME];
};

struct postgres_cursor {
    struct row_cursor cursor;
    PGresult *result;
    int at, count;
};

static enum err begin_now(struct postgres_conn *c)
{
    const char *begin = c->begin;

    c->begin = NULL;
    return begin ? postgres_conn_do(c, begin) : OK;
}

/* --- statements ----------------------------------------------------------------------- */

void postgres_forget_statements(struct postgres_conn *c)
{
    struct postgres_statement *st;
    size_t at = 0;

    while ((st = map_next(&c->statements, &at)))
        mem_free(st);
    map_clear(&c->statements);
}

/* Those of errands stay as long as they wait. */
static enum err make_room(struct postgres_conn *c)
{
    if (c->statements.count < MAX_STATEMENTS || c->errand_count)
        return OK;
    enum err e = postgres_conn_do(c, "deallocate all");
    postgres_forget_statements(c);
    return e;
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
    if (!e)
        e = make_room(c);
    struct postgres_statement *st = mem_new(sizeof *st);
    snprintf(st->name, sizeof st->name, "s%u", c->named++);
    postgres_conn_count(c);
    if (!e)
        e = postgres_outcome(
            c, postgres_last_result(c, pq.sendPrepare(c->pg, st->name, sql, (int)count, NULL)),
            sql);
    if (e) {
        mem_free(st);
        return e;
    }
    map_put(&c->statements, key, st);
    *ret = st;
    return OK;
}

static bool send_statement(struct postgres_conn *c, const struct postgres_statement *st,
                           size_t count, const struct postgres_values *p)
{
    return pq.sendQueryPrepared(c->pg, st->name, (int)count, p->text, p->length, p->binary, 0);
}

/* --- errands: what is put off ----------------------------------------------------------- */

static void errand_remove(struct postgres_conn *c, unsigned i)
{
    pq.clear(c->errands[i].result);
    c->errand_count--;
    memmove(&c->errands[i], &c->errands[i + 1], (c->errand_count - i) * sizeof *c->errands);
}

void postgres_forget_errands(struct postgres_conn *c)
{
    while (c->errand_count)
        errand_remove(c, c->errand_count - 1);
}

/* After a write the rows may be others, for who has written: works of a group do not see what the
 * others write, as if each had a transaction of its own. */
static void forget_foreseen(struct postgres_conn *c, const struct work *work)
{
    for (unsigned i = c->errand_count; i-- > 0;)
        if (!c->errands[i].writes && c->errands[i].work == work)
            errand_remove(c, i);
}

static void forget_all_foreseen(struct postgres_conn *c)
{
    for (unsigned i = c->errand_count; i-- > 0;)
        if (!c->errands[i].writes)
            errand_remove(c, i);
}

void postgres_drop_errands(struct postgres_conn *c, const struct work *work)
{
    for (unsigned i = c->errand_count; i-- > 0;)
        if (c->errands[i].work == work)
            errand_remove(c, i);
}

static bool has_written(const struct postgres_conn *c, const struct work *work)
{
    for (unsigned i = 0; i < c->errand_count; i++)
        if (c->errands[i].writes && c->errands[i].work == work)
            return true;
    return false;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool is_errand(const struct postgres_errand *e, const struct work *work, const char *sql,
                      const struct postgres_values *p, size_t count)
{
    if (e->sql != sql || e->work != work || e->count != count || e->writes)
        return false;
    for (size_t i = 0; i < count; i++)
        if (p->binary[i] || e->values->binary[i] || !same_text(p->text[i], e->values->text[i]))
            return false;
    return true;
}

static bool is_foreseen(const struct postgres_conn *c, const struct work *work, const char *sql,
                        const struct postgres_values *p, size_t count)
{
    for (unsigned i = 0; i < c->errand_count; i++)
        if (is_errand(&c->errands[i], work, sql, p, count))
            return true;
    return false;
}

static enum err errand_add(struct tx *tx, const char *sql, const struct value *values, size_t count,
                           bool writes)
{
    struct postgres_conn *c = tx->connection;
    struct postgres_statement *st;
    enum err e = find_statement(c, sql, count, &st);

    if (e)
        return tx_fail(tx, e);
    struct postgres_values *p = arena_raw(tx_arena(tx), sizeof *p);
    postgres_fill_values(p, tx_arena(tx), values, count);
    if (!writes && is_foreseen(c, tx->work, sql, p, count))
        return OK;
    c->errands[c->errand_count++] = (struct postgres_errand){
        .sql = sql, .statement = st, .values = p, .count = count, .work = tx->work, .writes = writes
    };
    return OK;
}

/* Whether it was foreseen, and its rows have come. */
static bool is_here(const struct postgres_conn *c, const struct work *work, const char *sql,
                    const struct postgres_values *p, size_t count)
{
    for (unsigned i = 0; i < c->errand_count; i++)
        if (is_errand(&c->errands[i], work, sql, p, count))
            return c->errands[i].result;
    return false;
}

/* The rows of a query that was foreseen. NULL: they have to be asked for, once. */
static PGresult *take_foreseen(struct postgres_conn *c, const struct work *work, const char *sql,
                               const struct postgres_values *p, size_t count)
{
    for (unsigned i = 0; i < c->errand_count; i++) {
        struct postgres_errand *e = &c->errands[i];

        if (is_errand(e, work, sql, p, count)) {
            PGresult *result = e->result;

            e->result = NULL;
            errand_remove(c, i);
            return result;
        }
    }
    return NULL;
}

void postgres_foresee(struct tx *tx, const char *sql, const struct value *values, size_t count)
{
    struct postgres_conn *c = tx->connection;

    if (c->errand_count < POSTGRES_MOST_ERRANDS)
        errand_add(tx, sql, values, count, false);
}

enum err postgres_exec_soon(struct tx *tx, const char *sql, const struct value *values,
                            size_t count)
{
    struct postgres_conn *c = tx->connection;

    forget_foreseen(c, tx->work);
    if (c->errand_count == POSTGRES_MOST_ERRANDS)
        return tx_exec(tx, sql, values, count, NULL);
    return errand_add(tx, sql, values, count, true);
}

/* --- pipelines ------------------------------------------------------------------------ */

/* The first command of a pipeline that failed; those after it were not tried. */
struct postgres_failure {
    bool happened;
    PGresult *result; /* NULL: the connection is lost */
    const char *sql;
};

/* Each query of a pipeline has a result and an end. */
static PGresult *take_result(struct postgres_conn *c)
{
    PGresult *result = postgres_next_result(c);

    if (result)
        pq.clear(postgres_next_result(c));
    return result;
}

/* Takes the result, which has to be a good one; true if so, and it is the caller's again. */
static bool look_at_result(struct postgres_failure *f, PGresult *result, const char *sql)
{
    if (postgres_is_good(result))
        return true;
    if (f->happened)
        pq.clear(result);
    else
        *f = (struct postgres_failure){ true, result, sql };
    return false;
}

/* Whether it goes with what is sent next. */
static bool errand_goes(const struct postgres_conn *c, const struct postgres_errand *e)
{
    return !e->result && !(e->writes && c->gathers);
}

static bool send_errands(struct postgres_conn *c)
{
    for (unsigned i = 0; i < c->errand_count; i++) {
        const struct postgres_errand *e = &c->errands[i];

        if (errand_goes(c, e) && !send_statement(c, e->statement, e->count, e->values))
            return false;
    }
    return true;
}

/* What was foreseen is kept until it is asked for. */
static void take_errands(struct postgres_conn *c, struct postgres_failure *f)
{
    unsigned kept = 0;

    for (unsigned i = 0; i < c->errand_count; i++) {
        struct postgres_errand e = c->errands[i];

        if (errand_goes(c, &e)) {
            PGresult *result = take_result(c);

            if (!look_at_result(f, result, e.sql))
                continue;
            if (e.writes) {
                pq.clear(result);
                continue;
            }
            e.result = result;
        }
        c->errands[kept++] = e;
    }
    c->errand_count = kept;
}

/* Sends the beginning, if it was not sent yet, and what was put off. */
static bool pipeline_open(struct postgres_conn *c)
{
    return pq.enterPipelineMode(c->pg) &&
           (!c->begin || pq.sendQueryParams(c->pg, c->begin, 0, NULL, NULL, NULL, NULL, 0)) &&
           send_errands(c);
}

/* The answers to what pipeline_open sent. */
static void pipeline_answers(struct postgres_conn *c, bool sent, struct postgres_failure *f)
{
    postgres_conn_count(c);
    PGresult *begun = sent && c->begin ? take_result(c) : NULL;

    if (sent && c->begin && look_at_result(f, begun, c->begin))
        pq.clear(begun);
    c->begin = NULL;
    if (sent)
        take_errands(c, f);
}

/* A connection that cannot leave the pipeline is of no more use. */
static void pipeline_close(struct postgres_conn *c, bool sent)
{
    pq.clear(sent ? postgres_next_result(c) : NULL); /* the sync */
    if (!sent || c->lost || !pq.exitPipelineMode(c->pg))
        c->lost = true;
}

static bool send_commit(struct postgres_conn *c);

/* The commit that goes along with a read that asks all at once; whether it did. */
static void take_commit(struct postgres_conn *c, struct postgres_failure *f)
{
    PGresult *result = take_result(c);

    c->is_over = look_at_result(f, result, "commit");
    if (c->is_over)
        pq.clear(result);
}

/* Sends all, then waits. *sql is what failed, if something did. */
static PGresult *exec_together(struct postgres_conn *c, const struct postgres_statement *st,
                               size_t count, const struct postgres_values *p, const char **sql)
{
    struct postgres_failure f = { 0 };
    bool ends = c->begin && c->at_once;
    bool sent = pipeline_open(c) && send_statement(c, st, count, p) &&
                (ends ? send_commit(c) : pq.pipelineSync(c->pg));

    pipeline_answers(c, sent, &f);
    PGresult *result = sent ? take_result(c) : NULL;
    if (sent && ends && !f.happened && postgres_is_good(result))
        take_commit(c, &f);
    else if (sent && ends)
        pq.clear(take_result(c));
    pipeline_close(c, sent);
    if (!f.happened)
        return result;
    pq.clear(result);
    *sql = f.sql;
    return f.result;
}

/* --- transactions --------------------------------------------------------------------- */

void postgres_conn_begin(struct postgres_conn *c, const char *how)
{
    postgres_forget_errands(c);
    postgres_conn_settle(c);
    c->begin = how;
    c->began = 0;
    c->at_once = c->is_over = c->wants_more = false;
}

void postgres_conn_begin_once(struct postgres_conn *c, const char *how)
{
    postgres_conn_begin(c, how);
    c->at_once = true;
}

/* A transaction of which nothing was sent was none. */
static bool is_begun(struct postgres_conn *c)
{
    bool begun = !c->begin && !c->is_over;

    c->begin = NULL;
    return begun;
}

static bool is_committed(const PGresult *result)
{
    return postgres_is_good(result) && strcmp(pq.cmdStatus((PGresult *)result), "COMMIT") == 0;
}

static bool send_commit(struct postgres_conn *c)
{
    return pq.sendQueryParams(c->pg, "commit", 0, NULL, NULL, NULL, NULL, 0) &&
           pq.pipelineSync(c->pg);
}

/* Takes what failed. */
static enum err failure_error(struct postgres_conn *c, struct postgres_failure *f)
{
    enum err e = f->happened ? postgres_error(c, f->result, f->sql) : OK;

    pq.clear(f->result);
    return e;
}

static enum err commit_together(struct postgres_conn *c)
{
    struct postgres_failure f = { 0 };
    bool sent = pipeline_open(c) && send_commit(c);

    pipeline_answers(c, sent, &f);
    PGresult *result = sent ? take_result(c) : NULL;
    bool committed = look_at_result(&f, result, "commit") && is_committed(result);
    if (!f.happened)
        pq.clear(result);
    pipeline_close(c, sent);
    enum err e = failure_error(c, &f);
    if (!committed && !c->lost)
        postgres_conn_do(c, "rollback");
    return e || committed ? e : ERR_INTERNAL;
}

enum err postgres_conn_commit(struct postgres_conn *c)
{
    forget_all_foreseen(c);
    if (c->errand_count)
        return commit_together(c);
    return is_begun(c) ? postgres_conn_do(c, "commit") : OK;
}

void postgres_conn_roll_back(struct postgres_conn *c)
{
    postgres_forget_errands(c);
    if (is_begun(c))
        postgres_conn_do(c, "rollback");
}

void postgres_conn_let_go(struct postgres_conn *c)
{
    postgres_forget_errands(c);
    if (!is_begun(c))
        return;
    c->ending = pq.sendQuery(c->pg, "commit");
    if (!c->ending)
        c->lost = true;
}

enum err postgres_script(struct tx *tx, const char *sql)
{
    enum err e = begin_now(tx->connection);

    if (!e)
        e = postgres_conn_do(tx->connection, sql);
    return e ? tx_fail(tx, e) : OK;
}

/* --- commits that others hear of ------------------------------------------------------ */

/* The transaction has an id before it has a position, which CASE sees to: who looks for the
 * transaction of a missing position knows that its id is not above the newest
 * (cluster/settle.c). */
static const char ADD_FRAME[] =
    "insert into log (position, body) values (case when pg_current_xact_id() is not null "
    "then nextval('log_position') end, $1) returning position";

static bool send_frame(struct postgres_conn *c, const struct postgres_statement *add,
                       struct str body)
{
    const char *bytes[] = { body.p };
    const int length[] = { (int)body.n }, binary[] = { 1 };

    return pq.sendQueryPrepared(c->pg, add->name, 1, bytes, length, binary, 0);
}

static bool send_logged(struct postgres_conn *c, const struct postgres_statement *add,
                        struct str body)
{
    return send_frame(c, add, body) && send_commit(c);
}

/* Its position, if it was told. */
static int64_t frame_answer(struct postgres_conn *c, struct postgres_failure *f)
{
    PGresult *result = take_result(c);

    if (!look_at_result(f, result, ADD_FRAME))
        return 0;
    c->position = strtoll(pq.getvalue(result, 0, 0), NULL, 10);
    pq.clear(result);
    return c->position;
}

/* Whether it is. */
static bool commit_answer(struct postgres_conn *c, struct postgres_failure *f)
{
    PGresult *result = take_result(c);

    if (!look_at_result(f, result, "commit"))
        return false;
    bool committed = is_committed(result);
    pq.clear(result);
    return committed;
}

/* The answers to what send_logged sent; true: it is committed. */
static bool logged_answers(struct postgres_conn *c, struct postgres_failure *f, int64_t *ret)
{
    *ret = frame_answer(c, f);
    return commit_answer(c, f);
}

enum err postgres_conn_commit_logged(struct postgres_conn *c, struct str body, int64_t *ret)
{
    struct postgres_failure f = { 0 };
    struct postgres_statement *add;

    *ret = 0;
    forget_all_foreseen(c);
    enum err e = find_statement(c, ADD_FRAME, 1, &add);
    if (e)
        return e;
    bool sent = pipeline_open(c) && send_logged(c, add, body);
    pipeline_answers(c, sent, &f);
    bool committed = sent && logged_answers(c, &f, ret);
    pipeline_close(c, sent);
    e = failure_error(c, &f);
    if (!e && c->lost)
        e = ERR_UNAVAILABLE;
    return e || committed ? e : ERR_INTERNAL;
}

/* A position that is taken stays taken, and the session of the database remembers its last
 * one, whatever became of the transaction. */
int64_t postgres_conn_untold_position(struct postgres_conn *c)
{
    char text[32];
    int64_t last = c->position;

    if (!last || postgres_conn_ask(c, "select currval('log_position')", text, sizeof text))
        return 0;
    c->position = strtoll(text, NULL, 10);
    return c->position == last ? 0 : c->position;
}

/* --- commits of groups ---------------------------------------------------------------- */

static bool send_group(struct postgres_conn *c, struct work *const *works, unsigned count,
                       const struct postgres_statement *add)
{
    for (unsigned i = 0; i < count; i++)
        if (works[i]->log.n && !send_frame(c, add, works[i]->log))
            return false;
    return send_commit(c);
}

static bool group_answers(struct postgres_conn *c, struct postgres_failure *f,
                          struct work *const *works, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (works[i]->log.n)
            works[i]->position = frame_answer(c, f);
    return commit_answer(c, f);
}

enum err postgres_conn_commit_group(struct postgres_conn *c, struct work *const *works,
                                    unsigned count)
{
    struct postgres_failure f = { 0 };
    struct postgres_statement *add;

    forget_all_foreseen(c);
    enum err e = find_statement(c, ADD_FRAME, 1, &add);
    if (e)
        return e;
    bool sent = pipeline_open(c) && send_group(c, works, count, add);
    pipeline_answers(c, sent, &f);
    bool committed = sent && group_answers(c, &f, works, count);
    pipeline_close(c, sent);
    e = failure_error(c, &f);
    if (!e && c->lost)
        e = ERR_UNAVAILABLE;
    return e || committed ? e : ERR_INTERNAL;
}

/* --- queries in transactions ---------------------------------------------------------- */

static bool sql_reads(const char *sql)
{
    static const char select[] = "select", with[] = "with recursive";

    return strncmp(sql, select, sizeof select - 1) == 0 || strncmp(sql, with, sizeof with - 1) == 0;
}

/* In a group all that is written travels with its commit, so who wants to know what became of it,
 * or to see it, has to have a transaction of its own. */
static bool fits_group(const struct tx *tx, const char *sql)
{
    const struct postgres_conn *c = tx->connection;

    return !c->gathers || (sql_reads(sql) && !has_written(c, tx->work));
}

static PGresult *postgres_exec(struct tx *tx, const struct postgres_statement *st, size_t count,
                               const struct postgres_values *p, const char **sql)
{
    struct postgres_conn *c = tx->connection;

    if (!sql_reads(*sql))
        forget_foreseen(c, tx->work);
    PGresult *result = take_foreseen(c, tx->work, *sql, p, count);
    if (result)
        return result;
    c->began++;
    if (c->begin || c->errand_count)
        return exec_together(c, st, count, p, sql);
    postgres_conn_count(c);
    return postgres_last_result(c, send_statement(c, st, count, p));
}

enum err postgres_query(struct tx *tx, const char *sql, const struct value *values, size_t count,
                        struct rows *ret)
{
    struct postgres_conn *c = tx->connection;
    struct postgres_values p;
    struct postgres_statement *st;

    assert(count <= POSTGRES_MAX_VALUES);
    if (c->until && clock_mono() > c->until) {
        c->is_spent = true;
        return tx_fail(tx, ERR_STORE_RETRY);
    }
    if (!fits_group(tx, sql)) {
        c->leaves = true;
        return tx_fail(tx, ERR_STORE_RETRY);
    }
    enum err e = find_statement(c, sql, count, &st);
    if (e)
        return tx_fail(tx, e);
    postgres_fill_values(&p, tx_arena(tx), values, count);
    if (c->is_over && !is_here(c, tx->work, sql, &p, count)) {
        c->wants_more = true;
        return tx_fail(tx, ERR_STORE_RETRY);
    }
    PGresult *result = postgres_exec(tx, st, count, &p, &sql);
    if (!postgres_is_good(result)) {
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
