/* commit.c - begins, commits and rolls back transactions on a PostgreSQL connection.
 *
 * Deferred statements and rows of the log are sent in one pipeline with COMMIT. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "store/postgres/pipeline.h"

/* Use this array for every COMMIT of a pipeline, because prepared statements are found by the
 * address of their text. */
static const char COMMIT_SQL[] = "commit";

static const char SAVEPOINT_SQL[] = "savepoint before_writes",
                  RETURN_TO_SAVEPOINT_SQL[] = "rollback to savepoint before_writes";

void postgres_conn_begin_transaction(struct postgres_conn *c, const char *how)
{
    postgres_discard_queued_statements(c);
    postgres_conn_read_result_of_pending_commit(c);
    c->begin = how;
    c->began = 0;
    c->culprit = NULL;
    c->commits_with_first_round_trip = c->is_over = c->wants_more = c->rows.may_be_written = false;
    c->ids.conflict = c->group.has_savepoint = false;
    c->rows.written = (struct table_set){ 0 };
    c->rows.commit_is_pending = false;
}

void postgres_conn_begin_one_round_trip_read(struct postgres_conn *c, const char *how)
{
    postgres_conn_begin_transaction(c, how);
    c->commits_with_first_round_trip = true;
}

/* Returns whether BEGIN was sent. BEGIN is sent with the first statement; before that there is
 * nothing to commit or roll back. */
static bool transaction_was_begun(struct postgres_conn *c)
{
    bool begun = (!c->begin || c->group.has_savepoint) && !c->is_over;

    c->begin = NULL;
    return begun;
}

static bool result_is_committed(const PGresult *result)
{
    return postgres_result_is_ok(result) && strcmp(pq.cmdStatus((PGresult *)result), "COMMIT") == 0;
}

/* Returns whether the session was terminated (57P01, admin_shutdown) at a command before COMMIT.
 * Then the transaction did not commit, because PostgreSQL executes a pipeline in order. A proxy
 * that loses its connection does not report this code. */
static bool was_terminated_before_commit(const struct pipeline_failure *f)
{
    const char *state = f->result ? pq.resultErrorField(f->result, PG_DIAG_SQLSTATE) : NULL;

    return f->sql != COMMIT_SQL && state && strcmp(state, "57P01") == 0;
}

/* Converts the failure of a pipeline to an error code and frees its result. */
static enum err error_from_pipeline_failure(struct postgres_conn *c, struct pipeline_failure *f)
{
    c->culprit = f->work;
    if (f->happened && was_terminated_before_commit(f))
        c->rows.may_be_written = false;
    if (f->happened)
        postgres_skip_ids_after_order_conflict(c, f);
    enum err e = f->happened ? postgres_error_from_result(c, f->result, f->sql) : OK;

    pq.clear(f->result);
    return e;
}

static enum err commit_with_queued_statements(struct postgres_conn *c)
{
    struct pipeline_failure f = { 0 };
    bool sent = postgres_pipeline_begin(c) && postgres_pipeline_send_commit(c);

    postgres_pipeline_read_queued_results(c, sent, &f);
    PGresult *result = sent ? pipeline_read_result(c) : NULL;
    bool committed =
        postgres_pipeline_check_result(&f, result, COMMIT_SQL) && result_is_committed(result);
    if (!f.happened)
        pq.clear(result);
    postgres_pipeline_end(c, sent);
    enum err e = error_from_pipeline_failure(c, &f);
    if (!committed && !c->lost)
        postgres_conn_run_command(c, "rollback");
    return e || committed ? e : ERR_INTERNAL;
}

/* --- versions of written tables --------------------------------------------------------- */

void postgres_conn_begin_table_commit(struct postgres_conn *c)
{
    c->rows.commit_is_pending = c->rows.versions && !table_set_is_empty(&c->rows.written);
    if (c->rows.commit_is_pending)
        table_versions_begin_commit(c->rows.versions, &c->rows.written);
}

void postgres_conn_end_table_commit(struct postgres_conn *c)
{
    bool is_known = !c->lost || !c->rows.may_be_written;

    if (c->rows.commit_is_pending && is_known)
        table_versions_end_commit(c->rows.versions, &c->rows.written);
    else if (c->rows.commit_is_pending)
        log_warn("store: the answer to a COMMIT was lost; rows of its tables are not cached until "
                 "the next start");
    c->rows.commit_is_pending = false;
}

enum err postgres_conn_commit(struct postgres_conn *c)
{
    enum err e = OK;

    discard_prefetched_queries(c);
    if (c->queued_count) {
        e = commit_with_queued_statements(c);
    } else if (transaction_was_begun(c)) {
        c->rows.may_be_written = true;
        postgres_conn_begin_table_commit(c);
        e = postgres_conn_run_command(c, COMMIT_SQL);
    }
    postgres_conn_end_table_commit(c);
    return e;
}

void postgres_conn_roll_back(struct postgres_conn *c)
{
    postgres_discard_queued_statements(c);
    if (transaction_was_begun(c))
        postgres_conn_run_command(c, "rollback");
}

void postgres_conn_commit_without_waiting(struct postgres_conn *c)
{
    postgres_discard_queued_statements(c);
    if (!transaction_was_begun(c))
        return;
    c->ending = pq.sendQuery(c->pg, "commit");
    if (!c->ending)
        c->lost = true;
}

/* --- commits that insert an event log row ----------------------------------------------- */

/* CASE assigns the transaction id before the event log position. So if a position is missing in the
 * log, its transaction has an id below any new id (cluster/log_gaps.c). */
static const char INSERT_LOG_ROW[] =
    "insert into log (position, body, recipients) values (case when pg_current_xact_id() is not "
    "null then nextval('log_position') end, $1, $2) returning position";

enum { LOG_ROW_PARAMETERS = 2 };

static bool send_log_row(struct postgres_conn *c, const struct postgres_statement *add,
                         const struct work_item *w)
{
    /* A null pointer is the value NULL. */
    const char *bytes[] = { w->log.p, w->log_recipients.n ? w->log_recipients.p : NULL };
    const int length[] = { (int)w->log.n, (int)w->log_recipients.n }, binary[] = { 1, 1 };

    return pq.sendQueryPrepared(c->pg, add->name, LOG_ROW_PARAMETERS, bytes, length, binary, 0);
}

/* Returns the event log position that the result contains, or 0 if there is no result. */
static int64_t read_log_position(struct postgres_conn *c, struct pipeline_failure *f)
{
    PGresult *result = pipeline_read_result(c);

    if (!postgres_pipeline_check_result(f, result, INSERT_LOG_ROW))
        return 0;
    c->position = strtoll(pq.getvalue(result, 0, 0), NULL, 10);
    pq.clear(result);
    return c->position;
}

/* Returns whether COMMIT succeeded. */
static bool read_commit_result(struct postgres_conn *c, struct pipeline_failure *f)
{
    PGresult *result = pipeline_read_result(c);

    if (!postgres_pipeline_check_result(f, result, COMMIT_SQL))
        return false;
    bool committed = result_is_committed(result);
    pq.clear(result);
    return committed;
}

/* A rollback does not undo nextval, so currval returns the position that the aborted transaction
 * took. After an id conflict (id_order.c) no position was taken, because ids are checked before a
 * position is taken. */
int64_t postgres_conn_unreported_log_position(struct postgres_conn *c)
{
    char text[32];
    int64_t last = c->position;

    if (!last || c->ids.conflict ||
        postgres_conn_query_text(c, "select currval('log_position')", text, sizeof text))
        return 0;
    c->position = strtoll(text, NULL, 10);
    return c->position == last ? 0 : c->position;
}

/* --- group commits -------------------------------------------------------------------- */

static bool send_group_commit(struct postgres_conn *c, struct work_item *const *works,
                              unsigned count, const struct postgres_statement *add)
{
    for (unsigned i = 0; i < count; i++)
        if (works[i]->log.n && !send_log_row(c, add, works[i]))
            return false;
    return postgres_pipeline_send_commit(c);
}

static bool read_group_commit_results(struct postgres_conn *c, struct pipeline_failure *f,
                                      struct work_item *const *works, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (works[i]->log.n)
            works[i]->position = read_log_position(c, f);
    return read_commit_result(c, f);
}

/* Sends a savepoint before the writes, so that they can be repeated after an id conflict. */
static void begin_pipeline_with_savepoint(struct postgres_conn *c)
{
    if (!c->group.retains_rows || c->begin)
        return;
    c->begin = SAVEPOINT_SQL;
    c->group.has_savepoint = true;
}

bool postgres_conn_return_to_savepoint(struct postgres_conn *c)
{
    if (c->lost || !c->ids.conflict || !c->group.has_savepoint)
        return false;
    c->begin = RETURN_TO_SAVEPOINT_SQL;
    c->ids.conflict = c->rows.may_be_written = false;
    return true;
}

enum err postgres_conn_commit_group(struct postgres_conn *c, struct work_item *const *works,
                                    unsigned count)
{
    struct pipeline_failure f = { 0 };
    struct postgres_statement *add;

    discard_prefetched_queries(c);
    begin_pipeline_with_savepoint(c);
    enum err e = find_or_prepare_postgres_statement(c, INSERT_LOG_ROW, LOG_ROW_PARAMETERS, &add);
    if (e)
        return e;
    bool sent = postgres_pipeline_begin(c) && send_group_commit(c, works, count, add);
    postgres_pipeline_read_queued_results(c, sent, &f);
    bool committed = sent && read_group_commit_results(c, &f, works, count);
    postgres_pipeline_end(c, sent);
    e = error_from_pipeline_failure(c, &f);
    postgres_conn_end_table_commit(c);
    if (!e && c->lost && !committed)
        e = ERR_UNAVAILABLE;
    return e || committed ? e : ERR_INTERNAL;
}
