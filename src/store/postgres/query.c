/* query.c - prepared statements, pipelines and rows on a PostgreSQL connection.
 *
 * All rows of a query arrive before the first one is read. Each query is a round trip, so
 * statements are combined in pipelines: BEGIN is sent with the first query, prefetched queries with
 * the query before them, and deferred writes with the next query or with COMMIT. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "store/postgres/pipeline.h"

enum { MAX_STATEMENTS = 512 };

struct postgres_cursor {
    struct row_cursor cursor;
    PGresult *result;
    bool lent; /* the queued statement owns the result, for a restart of the read */
    int at, count;
};

static enum err begin_now(struct postgres_conn *c)
{
    const char *begin = c->begin;

    c->begin = NULL;
    return begin ? postgres_conn_do(c, begin) : OK;
}

void postgres_forget_statements(struct postgres_conn *c)
{
    struct postgres_statement *st;
    size_t at = 0;

    while ((st = map_next(&c->statements, &at)))
        mem_free(st);
    map_clear(&c->statements);
}

/* Deallocates all statements if there are too many, unless some are queued. */
static enum err make_room(struct postgres_conn *c)
{
    if (c->statements.count < MAX_STATEMENTS || c->errand_count)
        return OK;
    enum err e = postgres_conn_do(c, "deallocate all");
    postgres_forget_statements(c);
    return e;
}

static struct postgres_statement *new_statement(struct postgres_conn *c)
{
    struct postgres_statement *st = mem_new(sizeof *st);

    snprintf(st->name, sizeof st->name, "s%u", c->named++);
    return st;
}

static enum err prepare_now(struct postgres_conn *c, const struct postgres_statement *st,
                            const char *sql, size_t count)
{
    enum err e = begin_now(c);

    if (!e)
        e = make_room(c);
    postgres_conn_count(c);
    if (!e)
        e = postgres_outcome(
            c, postgres_last_result(c, pq.sendPrepare(c->pg, st->name, sql, (int)count, NULL)),
            sql);
    return e;
}

enum err postgres_find_statement(struct postgres_conn *c, const char *sql, size_t count,
                                 struct postgres_statement **ret)
{
    uint64_t key = (uint64_t)(uintptr_t)sql;

    *ret = map_get(&c->statements, key);
    if (*ret)
        return OK;
    if (c->on_loop && c->statements.count >= MAX_STATEMENTS) {
        c->wants_room = c->wants_more = c->is_full = true;
        return ERR_STORE_RETRY;
    }
    struct postgres_statement *st = new_statement(c);
    enum err e = c->on_loop ? OK : prepare_now(c, st, sql, count);

    if (e) {
        mem_free(st);
        return e;
    }
    st->prepared = !c->on_loop;
    map_put(&c->statements, key, st);
    *ret = st;
    return OK;
}

bool postgres_send_statement(struct postgres_conn *c, const struct postgres_statement *st,
                             size_t count, const struct postgres_values *p)
{
    return pq.sendQueryPrepared(c->pg, st->name, (int)count, p->text, p->length, p->binary, 0);
}

/* --- queued statements (errands): prefetched queries and deferred writes ---------------- */

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

/* Discards the prefetched queries of a work item, because a write may change their rows. Other work
 * items of a group do not see its writes. */
static void forget_prefetched(struct postgres_conn *c, const struct work *work)
{
    for (unsigned i = c->errand_count; i-- > 0;)
        if (!c->errands[i].writes && c->errands[i].work == work)
            errand_remove(c, i);
}

void postgres_forget_prefetched(struct postgres_conn *c)
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

static bool same_value(const struct postgres_values *p, const struct postgres_values *q, size_t i)
{
    const char *a = p->text[i], *b = q->text[i];

    if (p->binary[i] != q->binary[i] || !a != !b)
        return false;
    if (p->binary[i])
        return p->length[i] == q->length[i] && memcmp(a, b, (size_t)p->length[i]) == 0;
    return !a || strcmp(a, b) == 0;
}

static bool is_errand(const struct postgres_errand *e, const struct work *work, const char *sql,
                      const struct postgres_values *p, size_t count)
{
    if (e->sql != sql || e->work != work || e->count != count || e->writes)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!same_value(p, e->values, i))
            return false;
    return true;
}

static bool is_prefetched(const struct postgres_conn *c, const struct work *work, const char *sql,
                          const struct postgres_values *p, size_t count)
{
    for (unsigned i = 0; i < c->errand_count; i++)
        if (is_errand(&c->errands[i], work, sql, p, count))
            return true;
    return false;
}

static bool has_room(const struct postgres_conn *c)
{
    return c->errand_count < (c->on_loop ? POSTGRES_MOST_ASKED : POSTGRES_MOST_ERRANDS);
}

static enum err errand_add(struct tx *tx, const char *sql, const struct value *values, size_t count,
                           bool writes)
{
    struct postgres_conn *c = tx->connection;
    struct postgres_statement *st;
    enum err e = postgres_find_statement(c, sql, count, &st);

    if (e)
        return tx_fail(tx, e);
    /* On a loop the run has ended when this is sent, so use the work item's arena and copy
     * bytes. */
    struct arena *a = c->on_loop ? c->arena : tx_arena(tx);
    struct postgres_values *p = arena_raw(a, sizeof *p);
    postgres_fill_values(p, a, values, count);
    for (size_t i = 0; c->on_loop && i < count; i++)
        if (p->binary[i])
            p->text[i] = value_copy(a, VALUE_BYTES, p->text[i], (size_t)p->length[i]).s.p;
    if (!writes && is_prefetched(c, tx->work, sql, p, count))
        return OK;
    c->errands[c->errand_count++] = (struct postgres_errand){
        .sql = sql, .statement = st, .values = p, .count = count, .work = tx->work, .writes = writes
    };
    return OK;
}

void postgres_prefetch_add(struct postgres_conn *c, const struct work *work, const char *sql,
                           const struct postgres_values *p, size_t count, unsigned number)
{
    struct postgres_statement *st;

    if (!has_room(c) || is_prefetched(c, work, sql, p, count) ||
        postgres_find_statement(c, sql, count, &st))
        return;
    c->errands[c->errand_count++] = (struct postgres_errand){ .sql = sql,
                                                              .statement = st,
                                                              .values = p,
                                                              .count = count,
                                                              .work = work,
                                                              .guess = (uint8_t)number };
}

/* Returns the rows of a prefetched query; NULL: they have not arrived. */
static PGresult *result_here(struct postgres_conn *c, const struct work *work, const char *sql,
                             const struct postgres_values *p, size_t count)
{
    for (unsigned i = 0; i < c->errand_count; i++)
        if (is_errand(&c->errands[i], work, sql, p, count)) {
            c->errands[i].used = true;
            return c->errands[i].result;
        }
    return NULL;
}

/* Takes the rows of a prefetched query and removes it from the queue. NULL: send the query. */
static PGresult *take_prefetched(struct postgres_conn *c, const struct work *work, const char *sql,
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

void postgres_prefetch(struct tx *tx, const char *sql, const struct value *values, size_t count)
{
    struct postgres_conn *c = tx->connection;

    if (has_room(c))
        errand_add(tx, sql, values, count, false);
}

enum err postgres_exec_soon(struct tx *tx, struct sql sql, const struct value *values, size_t count)
{
    struct postgres_conn *c = tx->connection;

    forget_prefetched(c, tx->work);
    if (!has_room(c))
        return tx_exec(tx, sql, values, count, NULL);
    return errand_add(tx, *sql.text, values, count, true);
}

PGresult *pipeline_take_result(struct postgres_conn *c)
{
    PGresult *result = postgres_next_result(c);

    if (result)
        pq.clear(postgres_next_result(c));
    return result;
}

bool pipeline_look_at(struct postgres_failure *f, PGresult *result, const char *sql)
{
    if (postgres_is_good(result))
        return true;
    if (f->happened)
        pq.clear(result);
    else
        *f = (struct postgres_failure){ .happened = true, .result = result, .sql = sql };
    return false;
}

/* Whether the next pipeline includes the statement. */
static bool errand_goes(const struct postgres_conn *c, const struct postgres_errand *e)
{
    return !e->result && !(e->writes && c->gathers);
}

static bool send_errands(struct postgres_conn *c)
{
    for (unsigned i = 0; i < c->errand_count; i++) {
        const struct postgres_errand *e = &c->errands[i];

        if (errand_goes(c, e) && !postgres_send_statement(c, e->statement, e->count, e->values))
            return false;
    }
    return true;
}

/* Reads the results of queued statements; rows of prefetched queries are stored until a query needs
 * them. */
static void take_errands(struct postgres_conn *c, struct postgres_failure *f)
{
    unsigned kept = 0;

    for (unsigned i = 0; i < c->errand_count; i++) {
        struct postgres_errand e = c->errands[i];

        if (errand_goes(c, &e)) {
            PGresult *result = pipeline_take_result(c);

            bool first = !f->happened;

            if (!pipeline_look_at(f, result, e.sql)) {
                f->work = first ? e.work : f->work;
                continue;
            }
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

bool pipeline_open(struct postgres_conn *c)
{
    return pq.enterPipelineMode(c->pg) &&
           (!c->begin || pq.sendQueryParams(c->pg, c->begin, 0, NULL, NULL, NULL, NULL, 0)) &&
           send_errands(c);
}

void pipeline_answers(struct postgres_conn *c, bool sent, struct postgres_failure *f)
{
    postgres_conn_count(c);
    PGresult *begun = sent && c->begin ? pipeline_take_result(c) : NULL;

    if (sent && c->begin && pipeline_look_at(f, begun, c->begin))
        pq.clear(begun);
    c->begin = NULL;
    if (sent)
        take_errands(c, f);
}

void pipeline_close(struct postgres_conn *c, bool sent)
{
    pq.clear(sent ? postgres_next_result(c) : NULL); /* result of the sync */
    if (!sent || c->lost || !pq.exitPipelineMode(c->pg))
        c->lost = true;
}

bool pipeline_send_commit(struct postgres_conn *c)
{
    c->may_be_written = true;
    return pq.sendQueryParams(c->pg, "commit", 0, NULL, NULL, NULL, NULL, 0) &&
           pq.pipelineSync(c->pg);
}

/* Reads the result of the COMMIT that was sent with a one-round-trip read. */
static void take_commit(struct postgres_conn *c, struct postgres_failure *f)
{
    PGresult *result = pipeline_take_result(c);

    c->is_over = pipeline_look_at(f, result, "commit");
    if (c->is_over)
        pq.clear(result);
}

/* Sends everything in one pipeline and waits for the results. *sql is set to the statement that
 * failed, if any. */
static PGresult *exec_together(struct postgres_conn *c, const struct postgres_statement *st,
                               size_t count, const struct postgres_values *p, const char **sql)
{
    struct postgres_failure f = { 0 };
    bool ends = c->begin && c->at_once;
    bool sent = pipeline_open(c) && postgres_send_statement(c, st, count, p) &&
                (ends ? pipeline_send_commit(c) : pq.pipelineSync(c->pg));

    pipeline_answers(c, sent, &f);
    PGresult *result = sent ? pipeline_take_result(c) : NULL;
    if (sent && ends && !f.happened && postgres_is_good(result))
        take_commit(c, &f);
    else if (sent && ends)
        pq.clear(pipeline_take_result(c));
    pipeline_close(c, sent);
    if (!f.happened)
        return result;
    pq.clear(result);
    c->culprit = f.work;
    *sql = f.sql;
    return f.result;
}

enum err postgres_script(struct tx *tx, const char *sql)
{
    enum err e = begin_now(tx->connection);

    if (!e)
        e = postgres_conn_do(tx->connection, sql);
    return e ? tx_fail(tx, e) : OK;
}

/* --- queries in transactions ---------------------------------------------------------- */

static bool sql_reads(const char *sql)
{
    static const char select[] = "select", with[] = "with recursive";

    return strncmp(sql, select, sizeof select - 1) == 0 || strncmp(sql, with, sizeof with - 1) == 0;
}

/* Whether a statement may run inside a group. Writes of a group are sent with its commit, so a work
 * item that needs the result of a write, or must see it, cannot be part of the group. */
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
        forget_prefetched(c, tx->work);
    PGresult *result = take_prefetched(c, tx->work, *sql, p, count);
    if (result)
        return result;
    c->began++;
    if (c->begin || c->errand_count)
        return exec_together(c, st, count, p, sql);
    postgres_conn_count(c);
    return postgres_last_result(c, postgres_send_statement(c, st, count, p));
}

/* On a loop: returns the rows, or queues the query; then the read runs again when the rows have
 * arrived. */
static PGresult *exec_on_loop(struct tx *tx, const char *sql, const struct value *values,
                              const struct postgres_values *p, size_t count)
{
    struct postgres_conn *c = tx->connection;
    PGresult *result = result_here(c, tx->work, sql, p, count);

    if (result)
        return result;
    c->wants_more = true;
    c->is_full = !has_room(c);
    if (!c->is_full)
        errand_add(tx, sql, values, count, false);
    tx_fail(tx, ERR_STORE_RETRY);
    return NULL;
}

static enum err open_cursor(struct tx *tx, PGresult *result, struct rows *ret)
{
    const struct postgres_conn *c = tx->connection;
    struct postgres_cursor *cursor = arena_alloc(tx_arena(tx), sizeof *cursor);

    cursor->result = result;
    cursor->lent = c->on_loop;
    cursor->count = pq.ntuples(result);
    ret->columns = pq.nfields(result);
    ret->changed = strtoll(pq.cmdTuples(result), NULL, 10);
    tx_add_cursor(tx, &cursor->cursor, ret->columns);
    ret->cursor = &cursor->cursor;
    return OK;
}

enum err postgres_query(struct tx *tx, const char *sql, const struct value *values, size_t count,
                        struct rows *ret)
{
    struct postgres_conn *c = tx->connection;
    struct postgres_values p;
    struct postgres_statement *st;

    assert(count <= POSTGRES_MAX_VALUES);
    if (c->share.until && clock_mono() > c->share.until) {
        c->share.is_spent = true;
        return tx_fail(tx, ERR_STORE_RETRY);
    }
    if (!fits_group(tx, sql)) {
        c->leaves = true;
        return tx_fail(tx, ERR_STORE_RETRY);
    }
    enum err e = postgres_find_statement(c, sql, count, &st);
    if (e)
        return tx_fail(tx, e);
    postgres_fill_values(&p, tx_arena(tx), values, count);
    if (c->on_loop) {
        PGresult *here = exec_on_loop(tx, sql, values, &p, count);

        return here ? open_cursor(tx, here, ret) : ERR_STORE_RETRY;
    }
    if (c->is_over && !result_here(c, tx->work, sql, &p, count)) {
        c->wants_more = true;
        return tx_fail(tx, ERR_STORE_RETRY);
    }
    PGresult *result = postgres_exec(tx, st, count, &p, &sql);
    if (!postgres_is_good(result)) {
        e = postgres_outcome(c, result, sql);
        return tx_fail(tx, e);
    }
    return open_cursor(tx, result, ret);
}

/* Checks the time limit between rows, because processing a row may take longer than fetching it. */
static bool share_is_over(const struct postgres_conn *c)
{
    return c->rows_until && clock_mono() > c->rows_until && clock_thread() > c->rows_spent;
}

bool postgres_next(struct rows *r)
{
    struct postgres_cursor *cursor = (struct postgres_cursor *)r->cursor;
    struct postgres_conn *c = r->tx->connection;

    if (cursor->at >= cursor->count)
        return false;
    if (share_is_over(c)) {
        c->leaves = true;
        r->error = tx_fail(r->tx, ERR_STORE_RETRY);
        return false;
    }
    for (int i = 0; i < r->columns; i++)
        cursor->cursor.row[i] = postgres_column(tx_arena(r->tx), cursor->result, cursor->at, i);
    r->row = cursor->cursor.row;
    cursor->at++;
    return true;
}

enum err postgres_end(struct rows *r)
{
    struct postgres_cursor *cursor = (struct postgres_cursor *)r->cursor;

    if (!cursor->lent)
        pq.clear(cursor->result);
    tx_remove_cursor(r->tx, &cursor->cursor);
    return OK;
}
