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
    PGresult *result; /* NULL if the rows are cached */
    struct cached_rows *cached;
    bool lent; /* the queued statement still owns the result, because the read may restart and need
                * it again */
    int at, count;
};

static enum err send_pending_begin(struct postgres_conn *c)
{
    const char *begin = c->begin;

    c->begin = NULL;
    return begin ? postgres_conn_run_command(c, begin) : OK;
}

void postgres_free_prepared_statements(struct postgres_conn *c)
{
    struct postgres_statement *st;
    size_t at = 0;

    while ((st = map_next_value(&c->statements, &at)))
        mem_free(st);
    map_clear(&c->statements);
}

/* If there are too many prepared statements, deallocates all of them, unless some are queued. */
static enum err deallocate_statements_if_too_many(struct postgres_conn *c)
{
    if (c->statements.count < MAX_STATEMENTS || c->queued_count)
        return OK;
    enum err e = send_pending_begin(c);
    if (!e)
        e = postgres_conn_run_command(c, "deallocate all");
    postgres_free_prepared_statements(c);
    return e;
}

static struct postgres_statement *prepared_statement_new(struct postgres_conn *c, const char *sql)
{
    struct postgres_statement *st = mem_new(sizeof *st);

    st->sql = sql;
    st->tables = c->rows.versions ? table_versions_find_statement(c->rows.versions, sql) : NULL;
    snprintf(st->name, sizeof st->name, "s%u", c->named++);
    return st;
}

/* Returns the prepared statement of the SQL text. A new statement is prepared in the same round
 * trip as its first use. */
static enum err find_postgres_statement(struct postgres_conn *c, const char *sql,
                                        struct postgres_statement **ret)
{
    uint64_t key = (uint64_t)(uintptr_t)sql;
    enum err e = OK;

    *ret = map_find_value(&c->statements, key);
    if (*ret)
        return OK;
    if (c->on_loop && c->statements.count >= MAX_STATEMENTS) {
        c->has_too_many_statements = c->wants_more = c->is_full = true;
        return ERR_STORE_RETRY;
    }
    if (!c->on_loop)
        e = deallocate_statements_if_too_many(c);
    if (e)
        return e;
    *ret = prepared_statement_new(c, sql);
    map_set_value(&c->statements, key, *ret);
    return OK;
}

enum err find_or_prepare_postgres_statement(struct postgres_conn *c, const char *sql, size_t count,
                                            struct postgres_statement **ret)
{
    enum err e = find_postgres_statement(c, sql, ret);

    if (!e && !(*ret)->prepared)
        e = send_pending_begin(c);
    if (e || (*ret)->prepared)
        return e;
    postgres_conn_count_round_trip(c);
    int sent = pq.sendPrepare(c->pg, (*ret)->name, sql, (int)count, NULL);
    e = postgres_check_and_free_result(c, postgres_read_last_result(c, sent), sql);
    (*ret)->prepared = !e;
    return e;
}

static bool send_prepared_statement(struct postgres_conn *c, const struct postgres_statement *st,
                                    size_t count, const struct postgres_parameters *p)
{
    if (st->tables)
        table_set_add(&c->rows.written, &st->tables->writes);
    return pq.sendQueryPrepared(c->pg, st->name, (int)count, p->text, p->length, p->binary, 0);
}

bool postgres_pipeline_send_statement(struct postgres_conn *c, struct queued_statement *e)
{
    e->prepares = !e->statement->prepared;
    if (e->prepares && !pq.sendPrepare(c->pg, e->statement->name, e->sql, (int)e->count, NULL))
        return false;
    e->statement->prepared = true;
    return send_prepared_statement(c, e->statement, e->count, e->values);
}

/* --- queued statements: prefetched queries and deferred writes --------------------------- */

static void remove_queued_statement(struct postgres_conn *c, unsigned i)
{
    struct queued_statement *e = &c->queued[i];

    if (e->learned && (e->result || e->used))
        query_prefetcher_record_result_use(c->prefetcher, e->learned, e->used);
    pq.clear(e->result);
    c->queued_count--;
    memmove(&c->queued[i], &c->queued[i + 1], (c->queued_count - i) * sizeof *c->queued);
}

void postgres_discard_queued_statements(struct postgres_conn *c)
{
    while (c->queued_count)
        remove_queued_statement(c, c->queued_count - 1);
}

/* Discards the prefetched queries of a work item, because a write may change their rows. Prefetched
 * queries of the other work items of a group stay, because they do not see the write. */
static void discard_prefetched_queries_of_work_item(struct tx *tx)
{
    struct postgres_conn *c = tx->connection;

    tx->work->prefetch.phase = PREFETCH_ENDED;
    if (c->group.retains_rows) /* a group's work item cannot query after its write */
        return;
    for (unsigned i = c->queued_count; i-- > 0;)
        if (!c->queued[i].writes && c->queued[i].work == tx->work)
            remove_queued_statement(c, i);
}

void discard_prefetched_queries(struct postgres_conn *c)
{
    for (unsigned i = c->queued_count; i-- > 0;)
        if (!c->queued[i].writes && !(c->group.retains_rows && c->queued[i].result))
            remove_queued_statement(c, i);
}

void postgres_discard_statements_of_work_item(struct postgres_conn *c, const struct work_item *work)
{
    for (unsigned i = c->queued_count; i-- > 0;)
        if (c->queued[i].work == work)
            remove_queued_statement(c, i);
}

static bool has_deferred_write(const struct postgres_conn *c, const struct work_item *work)
{
    for (unsigned i = 0; i < c->queued_count; i++)
        if (c->queued[i].writes && c->queued[i].work == work)
            return true;
    return false;
}

static bool query_parameters_are_equal(const struct postgres_parameters *p,
                                       const struct postgres_parameters *q, size_t i)
{
    const char *a = p->text[i], *b = q->text[i];

    if (p->binary[i] != q->binary[i] || !a != !b)
        return false;
    if (p->binary[i])
        return p->length[i] == q->length[i] && memcmp(a, b, (size_t)p->length[i]) == 0;
    return !a || strcmp(a, b) == 0;
}

static bool queued_statement_matches(const struct queued_statement *e, const struct work_item *work,
                                     const char *sql, const struct postgres_parameters *p,
                                     size_t count)
{
    if (e->sql != sql || e->work != work || e->count != count || e->writes)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!query_parameters_are_equal(p, e->values, i))
            return false;
    return true;
}

static bool is_query_queued(const struct postgres_conn *c, const struct work_item *work,
                            const char *sql, const struct postgres_parameters *p, size_t count)
{
    for (unsigned i = 0; i < c->queued_count; i++)
        if (queued_statement_matches(&c->queued[i], work, sql, p, count))
            return true;
    return false;
}

static bool statement_queue_has_space(const struct postgres_conn *c)
{
    return c->queued_count < POSTGRES_QUEUE_MAX;
}

/* Returns whether queries are only queued: then the work item runs again when the rows have
 * arrived. */
static bool work_item_only_queues_queries(const struct postgres_conn *c)
{
    return c->on_loop || c->group.collects;
}

static enum err enqueue_postgres_statement(struct tx *tx, const char *sql,
                                           const struct value *values, size_t count, bool writes)
{
    struct postgres_conn *c = tx->connection;
    struct postgres_statement *st;
    enum err e = find_postgres_statement(c, sql, &st);

    if (e)
        return tx_mark_transaction_failed(tx, e);
    /* Copy the parameters of a statement that is only queued to the work item's arena, because it
     * is sent after the work item's function has returned. */
    bool copies = work_item_only_queues_queries(c) || c->group.retains_rows;
    struct arena *a = copies ? c->arena : tx_arena(tx);
    struct postgres_parameters *p = arena_alloc_unzeroed(a, sizeof *p);
    postgres_encode_parameters(p, a, values, count);
    for (size_t i = 0; copies && i < count; i++)
        if (p->binary[i])
            p->text[i] =
                copy_column_value_to_arena(a, VALUE_BYTES, p->text[i], (size_t)p->length[i]).s.p;
    if (!writes && is_query_queued(c, tx->work, sql, p, count))
        return OK;
    c->queued[c->queued_count++] = (struct queued_statement){
        .sql = sql, .statement = st, .values = p, .count = count, .work = tx->work, .writes = writes
    };
    return OK;
}

enum err postgres_enqueue_learned_query(struct postgres_conn *c, const struct work_item *work,
                                        const char *sql, const struct postgres_parameters *p,
                                        size_t count, struct learned_query *learned)
{
    struct postgres_statement *st;

    if (!statement_queue_has_space(c) || is_query_queued(c, work, sql, p, count) ||
        postgres_find_cached_rows(c, sql, p, count))
        return OK;
    enum err e = find_postgres_statement(c, sql, &st);

    if (!e)
        c->queued[c->queued_count++] = (struct queued_statement){ .sql = sql,
                                                                  .statement = st,
                                                                  .values = p,
                                                                  .count = count,
                                                                  .work = work,
                                                                  .learned = learned };
    return e;
}

/* Returns a prefetched query if its rows have arrived, otherwise NULL. */
static struct queued_statement *find_prefetched_query(struct postgres_conn *c,
                                                      const struct work_item *work, const char *sql,
                                                      const struct postgres_parameters *p,
                                                      size_t count)
{
    for (unsigned i = 0; i < c->queued_count; i++)
        if (queued_statement_matches(&c->queued[i], work, sql, p, count)) {
            c->queued[i].used = true;
            return c->queued[i].result ? &c->queued[i] : NULL;
        }
    return NULL;
}

/* Removes a prefetched query and returns its rows. Returns NULL if the query must be sent. */
static PGresult *pop_prefetched_result(struct postgres_conn *c, const struct work_item *work,
                                       const char *sql, const struct postgres_parameters *p,
                                       size_t count)
{
    for (unsigned i = 0; i < c->queued_count; i++) {
        struct queued_statement *e = &c->queued[i];

        if (queued_statement_matches(e, work, sql, p, count)) {
            PGresult *result = e->result;

            e->used = true;
            e->result = NULL;
            remove_queued_statement(c, i);
            return result;
        }
    }
    return NULL;
}

enum err postgres_exec_deferred(struct tx *tx, struct sql sql, const struct value *values,
                                size_t count)
{
    struct postgres_conn *c = tx->connection;

    discard_prefetched_queries_of_work_item(tx);
    if (!statement_queue_has_space(c))
        return tx_exec(tx, sql, values, count, NULL);
    return enqueue_postgres_statement(tx, *sql.text, values, count, true);
}

enum err postgres_enqueue_last_write_statement(struct tx *tx, const char *sql,
                                               const struct value *values, size_t count)
{
    return enqueue_postgres_statement(tx, sql, values, count, true);
}

PGresult *pipeline_read_result(struct postgres_conn *c)
{
    PGresult *result = postgres_read_next_result(c);

    if (result)
        pq.clear(postgres_read_next_result(c));
    return result;
}

bool postgres_pipeline_check_result(struct pipeline_failure *f, PGresult *result, const char *sql)
{
    if (postgres_result_is_ok(result))
        return true;
    if (f->happened)
        pq.clear(result);
    else
        *f = (struct pipeline_failure){ .happened = true, .result = result, .sql = sql };
    return false;
}

/* Returns whether the next pipeline includes the queued statement. */
static bool query_is_sent_with_next_pipeline(const struct postgres_conn *c,
                                             const struct queued_statement *e)
{
    return !e->result && !(e->writes && c->group.runs);
}

static bool send_queued_statements(struct postgres_conn *c)
{
    for (unsigned i = 0; i < c->queued_count; i++) {
        struct queued_statement *e = &c->queued[i];

        if (query_is_sent_with_next_pipeline(c, e) && !postgres_pipeline_send_statement(c, e))
            return false;
    }
    return true;
}

/* Reads the result of PREPARE, if PREPARE was sent, and then returns the result of the
 * statement. */
static PGresult *read_statement_result(struct postgres_conn *c, const struct queued_statement *e,
                                       struct pipeline_failure *f)
{
    PGresult *prepared = e->prepares ? pipeline_read_result(c) : NULL;

    if (e->prepares && postgres_pipeline_check_result(f, prepared, e->sql))
        pq.clear(prepared);
    else if (e->prepares)
        e->statement->prepared = false;
    return pipeline_read_result(c);
}

/* Reads the results of queued statements; stores rows of prefetched queries until a query needs
 * them. */
static void read_queued_results(struct postgres_conn *c, struct pipeline_failure *f)
{
    unsigned remaining = 0;

    for (unsigned i = 0; i < c->queued_count; i++) {
        struct queued_statement e = c->queued[i];

        if (query_is_sent_with_next_pipeline(c, &e)) {
            bool first = !f->happened;
            PGresult *result = read_statement_result(c, &e, f);

            if (!postgres_pipeline_check_result(f, result, e.sql)) {
                f->work = first ? e.work : f->work;
                continue;
            }
            if (e.writes) {
                pq.clear(result);
                continue;
            }
            e.result = result;
        }
        c->queued[remaining++] = e;
    }
    c->queued_count = remaining;
}

bool postgres_pipeline_begin(struct postgres_conn *c)
{
    return pq.enterPipelineMode(c->pg) &&
           (!c->begin || pq.sendQueryParams(c->pg, c->begin, 0, NULL, NULL, NULL, NULL, 0)) &&
           send_queued_statements(c);
}

void postgres_pipeline_read_queued_results(struct postgres_conn *c, bool sent,
                                           struct pipeline_failure *f)
{
    postgres_conn_count_round_trip(c);
    PGresult *begun = sent && c->begin ? pipeline_read_result(c) : NULL;

    if (sent && c->begin && postgres_pipeline_check_result(f, begun, c->begin))
        pq.clear(begun);
    c->begin = NULL;
    if (sent)
        read_queued_results(c, f);
}

void postgres_pipeline_end(struct postgres_conn *c, bool sent)
{
    pq.clear(sent ? postgres_read_next_result(c) : NULL); /* result of the pipeline sync */
    if (!sent || c->lost || !pq.exitPipelineMode(c->pg))
        c->lost = true;
}

bool postgres_pipeline_send_commit(struct postgres_conn *c)
{
    c->rows.may_be_written = true;
    postgres_conn_begin_table_commit(c);
    return pq.sendQueryParams(c->pg, "commit", 0, NULL, NULL, NULL, NULL, 0) &&
           pq.pipelineSync(c->pg);
}

/* Reads the result of the COMMIT that was sent together with the query of a one-round-trip read. */
static void read_commit_of_one_round_trip(struct postgres_conn *c, struct pipeline_failure *f)
{
    PGresult *result = pipeline_read_result(c);

    c->is_over = postgres_pipeline_check_result(f, result, "commit");
    if (c->is_over)
        pq.clear(result);
}

/* Sends the queued statements and the statement st in one pipeline and waits for the results. Sets
 * *sql to the statement that failed, if any. */
static PGresult *exec_in_pipeline(struct postgres_conn *c, struct postgres_statement *st,
                                  size_t count, const struct postgres_parameters *p,
                                  const char **sql)
{
    struct pipeline_failure f = { 0 };
    struct queued_statement last = { .sql = *sql, .statement = st, .values = p, .count = count };
    bool ends = c->begin && c->commits_with_first_round_trip;
    bool sent = postgres_pipeline_begin(c) && postgres_pipeline_send_statement(c, &last) &&
                (ends ? postgres_pipeline_send_commit(c) : pq.pipelineSync(c->pg));

    postgres_pipeline_read_queued_results(c, sent, &f);
    PGresult *result = sent ? read_statement_result(c, &last, &f) : NULL;
    if (sent && ends && !f.happened && postgres_result_is_ok(result))
        read_commit_of_one_round_trip(c, &f);
    else if (sent && ends)
        pq.clear(pipeline_read_result(c));
    postgres_pipeline_end(c, sent);
    if (!f.happened)
        return result;
    pq.clear(result);
    c->culprit = f.work;
    *sql = f.sql;
    return f.result;
}

enum err postgres_run_script(struct tx *tx, const char *sql)
{
    enum err e = send_pending_begin(tx->connection);

    table_versions_disable(&((struct postgres *)tx->store)->versions);
    if (!e)
        e = postgres_conn_run_command(tx->connection, sql);
    return e ? tx_mark_transaction_failed(tx, e) : OK;
}

/* --- queries in transactions ---------------------------------------------------------- */

bool postgres_sql_is_select(const char *sql)
{
    static const char select[] = "select", with[] = "with recursive";

    return strncmp(sql, select, sizeof select - 1) == 0 || strncmp(sql, with, sizeof with - 1) == 0;
}

/* Returns whether a statement may run inside a group commit. Writes of a group are sent with its
 * COMMIT, so a work item that needs the result of a write, or must see it, runs alone. */
static bool statement_may_run_in_group(const struct tx *tx, const char *sql)
{
    const struct postgres_conn *c = tx->connection;

    return !c->group.runs || (postgres_sql_is_select(sql) && !has_deferred_write(c, tx->work));
}

static PGresult *exec_statement(struct tx *tx, struct postgres_statement *st, size_t count,
                                const struct postgres_parameters *p, const char **sql)
{
    struct postgres_conn *c = tx->connection;

    if (!postgres_sql_is_select(*sql))
        discard_prefetched_queries_of_work_item(tx);
    PGresult *result = pop_prefetched_result(c, tx->work, *sql, p, count);
    if (result)
        return result;
    c->began++;
    if (c->begin || c->queued_count || !st->prepared)
        return exec_in_pipeline(c, st, count, p, sql);
    postgres_conn_count_round_trip(c);
    return postgres_read_last_result(c, send_prepared_statement(c, st, count, p));
}

/* Returns the rows of a query if they have arrived. Otherwise queues the query; the read runs again
 * when the rows have arrived. */
static PGresult *queue_or_find_query(struct tx *tx, const char *sql, const struct value *values,
                                     const struct postgres_parameters *p, size_t count)
{
    struct postgres_conn *c = tx->connection;
    struct queued_statement *e = find_prefetched_query(c, tx->work, sql, p, count);

    if (e && c->rows.cache)
        postgres_cache_rows(tx, e);
    if (e)
        return e->result;
    c->wants_more = true;
    c->is_full = !statement_queue_has_space(c);
    if (!c->is_full)
        enqueue_postgres_statement(tx, sql, values, count, false);
    tx_mark_transaction_failed(tx, ERR_STORE_RETRY);
    return NULL;
}

static enum err open_result_cursor(struct tx *tx, PGresult *result, struct rows *ret)
{
    const struct postgres_conn *c = tx->connection;
    struct postgres_cursor *cursor = arena_alloc(tx_arena(tx), sizeof *cursor);

    cursor->result = result;
    cursor->lent = c->on_loop || c->group.retains_rows;
    cursor->count = pq.ntuples(result);
    ret->columns = pq.nfields(result);
    ret->changed = strtoll(pq.cmdTuples(result), NULL, 10);
    tx_add_cursor(tx, &cursor->cursor, ret->columns);
    ret->cursor = &cursor->cursor;
    return OK;
}

/* Sends the queued queries and stores their rows in the queue. */
static enum err fetch_queued_queries(struct postgres_conn *c)
{
    struct pipeline_failure f = { 0 };
    bool sent = postgres_pipeline_begin(c) && pq.pipelineSync(c->pg);

    postgres_pipeline_read_queued_results(c, sent, &f);
    postgres_pipeline_end(c, sent);
    c->culprit = f.work;
    if (!f.happened)
        return c->lost ? ERR_UNAVAILABLE : OK;
    return postgres_check_and_free_result(c, f.result, f.sql);
}

/* Sends a query that is not queued yet, and all queued ones. Their rows stay in the queue. */
static enum err fetch_and_retain_rows(struct tx *tx, const char *sql, const struct value *values,
                                      size_t count)
{
    struct postgres_conn *c = tx->connection;

    if (!statement_queue_has_space(c)) {
        c->must_leave = true;
        return tx_mark_transaction_failed(tx, ERR_STORE_RETRY);
    }
    c->began++;
    enum err e = enqueue_postgres_statement(tx, sql, values, count, false);
    if (!e)
        e = fetch_queued_queries(c);
    return e ? tx_mark_transaction_failed(tx, e) : OK;
}

/* Finds or fetches the rows of a query. They stay in the queue, because the work items of the group
 * may run again. */
static enum err open_retained_cursor(struct tx *tx, const char *sql, const struct value *values,
                                     const struct postgres_parameters *p, size_t count,
                                     struct rows *ret)
{
    struct postgres_conn *c = tx->connection;
    const struct queued_statement *found = find_prefetched_query(c, tx->work, sql, p, count);
    enum err e = found ? OK : fetch_and_retain_rows(tx, sql, values, count);

    if (e)
        return e;
    if (!found)
        found = find_prefetched_query(c, tx->work, sql, p, count);
    return found ? open_result_cursor(tx, found->result, ret)
                 : tx_mark_transaction_failed(tx, ERR_INTERNAL);
}

static enum err open_cached_cursor(struct tx *tx, struct cached_rows *rows, const char *sql,
                                   const struct postgres_parameters *p, size_t count,
                                   struct rows *ret)
{
    struct postgres_conn *c = tx->connection;
    struct postgres_cursor *cursor = arena_alloc(tx_arena(tx), sizeof *cursor);

    query_prefetcher_note_first_query(c, tx->work, sql, p, count);
    query_cache_use_rows(c->rows.cache, rows);
    cursor->cached = rows;
    cursor->count = (int)rows->rows;
    ret->columns = rows->columns;
    tx_add_cursor(tx, &cursor->cursor, ret->columns);
    ret->cursor = &cursor->cursor;
    return OK;
}

enum err postgres_query(struct tx *tx, const char *sql, const struct value *values, size_t count,
                        struct rows *ret)
{
    struct postgres_conn *c = tx->connection;
    struct postgres_parameters p;
    struct postgres_statement *st;

    assert(count <= POSTGRES_MAX_VALUES);
    if (c->time_limit.until && clock_monotonic_ns() > c->time_limit.until) {
        c->time_limit.is_exceeded = true;
        return tx_mark_transaction_failed(tx, ERR_STORE_RETRY);
    }
    if (!statement_may_run_in_group(tx, sql)) {
        c->must_leave = true;
        return tx_mark_transaction_failed(tx, ERR_STORE_RETRY);
    }
    enum err e = OK;
    postgres_encode_parameters(&p, tx_arena(tx), values, count);
    struct cached_rows *cached = postgres_find_cached_rows(c, sql, &p, count);
    if (cached)
        return open_cached_cursor(tx, cached, sql, &p, count, ret);
    if (c->rows.is_only_source) {
        c->wants_more = true;
        return tx_mark_transaction_failed(tx, ERR_STORE_RETRY);
    }
    if (postgres_sql_is_select(sql) && !is_query_queued(c, tx->work, sql, &p, count))
        e = query_prefetcher_prefetch_or_learn_query(c, tx->work, sql, &p, count);
    if (!e) /* find the statement after the prefetch, because a prefetch may free all statements of
             * the connection */
        e = find_postgres_statement(c, sql, &st);
    if (e)
        return tx_mark_transaction_failed(tx, e);
    if (work_item_only_queues_queries(c)) {
        PGresult *here = queue_or_find_query(tx, sql, values, &p, count);

        return here ? open_result_cursor(tx, here, ret) : ERR_STORE_RETRY;
    }
    if (c->is_over && !find_prefetched_query(c, tx->work, sql, &p, count)) {
        c->wants_more = true;
        return tx_mark_transaction_failed(tx, ERR_STORE_RETRY);
    }
    if (c->group.retains_rows)
        return open_retained_cursor(tx, sql, values, &p, count, ret);
    PGresult *result = exec_statement(tx, st, count, &p, &sql);
    if (!postgres_result_is_ok(result)) {
        e = postgres_check_and_free_result(c, result, sql);
        return tx_mark_transaction_failed(tx, e);
    }
    return open_result_cursor(tx, result, ret);
}

/* Checks the time limit of the read at each row, because processing the rows may take longer than
 * fetching them. */
static bool read_time_limit_is_exceeded(const struct postgres_conn *c)
{
    return c->row_time_limit.until && clock_monotonic_ns() > c->row_time_limit.until &&
           clock_thread_cpu_ns() > c->row_time_limit.cpu_ns;
}

bool postgres_rows_next(struct rows *r)
{
    struct postgres_cursor *cursor = (struct postgres_cursor *)r->cursor;
    struct postgres_conn *c = r->tx->connection;

    if (cursor->at >= cursor->count)
        return false;
    if (read_time_limit_is_exceeded(c)) {
        c->must_leave = true;
        r->error = tx_mark_transaction_failed(r->tx, ERR_STORE_RETRY);
        return false;
    }
    if (cursor->cached)
        cached_rows_copy_row(cursor->cached, (unsigned)cursor->at, r->lent ? NULL : tx_arena(r->tx),
                             cursor->cursor.row);
    for (int i = 0; i < r->columns && !cursor->cached; i++)
        cursor->cursor.row[i] =
            postgres_decode_column(tx_arena(r->tx), cursor->result, cursor->at, i);
    r->row = cursor->cursor.row;
    cursor->at++;
    return true;
}

enum err postgres_rows_end(struct rows *r)
{
    struct postgres_cursor *cursor = (struct postgres_cursor *)r->cursor;

    if (cursor->cached)
        cached_rows_unref(&cursor->cached->entry);
    else if (!cursor->lent)
        pq.clear(cursor->result);
    tx_remove_cursor(r->tx, &cursor->cursor);
    return OK;
}
