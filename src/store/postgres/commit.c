/* commit.c - begins, commits and rolls back transactions on a PostgreSQL connection.
 *
 * Deferred statements and rows of the log are sent in one pipeline with COMMIT. */
#include <stdlib.h>
#include <string.h>

#include "store/postgres/pipeline.h"

/* This address identifies the statement, so use this array for every COMMIT of a pipeline. */
static const char COMMIT[] = "commit";

void postgres_conn_begin(struct postgres_conn *c, const char *how)
{
    postgres_forget_errands(c);
    postgres_conn_settle(c);
    c->begin = how;
    c->began = 0;
    c->culprit = NULL;
    c->at_once = c->is_over = c->wants_more = c->may_be_written = false;
}

void postgres_conn_begin_once(struct postgres_conn *c, const char *how)
{
    postgres_conn_begin(c, how);
    c->at_once = true;
}

/* Whether the transaction was begun. False: no statement was sent, so there is nothing to end. */
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

/* Whether the session was terminated (57P01, admin_shutdown) at a command before COMMIT: then the
 * transaction did not commit, because PostgreSQL executes a pipeline in order. A proxy that loses
 * its connection does not report this code. */
static bool is_ended_before_commit(const struct postgres_failure *f)
{
    const char *state = f->result ? pq.resultErrorField(f->result, PG_DIAG_SQLSTATE) : NULL;

    return f->sql != COMMIT && state && strcmp(state, "57P01") == 0;
}

/* Maps a failure to an error and frees its result. */
static enum err failure_error(struct postgres_conn *c, struct postgres_failure *f)
{
    c->culprit = f->work;
    if (f->happened && is_ended_before_commit(f))
        c->may_be_written = false;
    enum err e = f->happened ? postgres_error(c, f->result, f->sql) : OK;

    pq.clear(f->result);
    return e;
}

static enum err commit_together(struct postgres_conn *c)
{
    struct postgres_failure f = { 0 };
    bool sent = pipeline_open(c) && pipeline_send_commit(c);

    pipeline_answers(c, sent, &f);
    PGresult *result = sent ? pipeline_take_result(c) : NULL;
    bool committed = pipeline_look_at(&f, result, COMMIT) && is_committed(result);
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
    postgres_forget_prefetched(c);
    if (c->errand_count)
        return commit_together(c);
    if (!is_begun(c))
        return OK;
    c->may_be_written = true;
    return postgres_conn_do(c, COMMIT);
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

/* --- commits with a log row ----------------------------------------------------------- */

/* CASE makes sure that the transaction has an id before it gets a position. So the id of a
 * transaction that holds a missing position is never above the newest id (cluster/settle.c). */
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
    return send_frame(c, add, body) && pipeline_send_commit(c);
}

/* Returns the log position; 0: no result. */
static int64_t frame_answer(struct postgres_conn *c, struct postgres_failure *f)
{
    PGresult *result = pipeline_take_result(c);

    if (!pipeline_look_at(f, result, ADD_FRAME))
        return 0;
    c->position = strtoll(pq.getvalue(result, 0, 0), NULL, 10);
    pq.clear(result);
    return c->position;
}

/* Returns whether COMMIT succeeded. */
static bool commit_answer(struct postgres_conn *c, struct postgres_failure *f)
{
    PGresult *result = pipeline_take_result(c);

    if (!pipeline_look_at(f, result, COMMIT))
        return false;
    bool committed = is_committed(result);
    pq.clear(result);
    return committed;
}

/* Reads the results of send_logged. Returns whether COMMIT succeeded. */
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
    postgres_forget_prefetched(c);
    enum err e = postgres_find_statement(c, ADD_FRAME, 1, &add);
    if (e)
        return e;
    bool sent = pipeline_open(c) && send_logged(c, add, body);
    pipeline_answers(c, sent, &f);
    bool committed = sent && logged_answers(c, &f, ret);
    pipeline_close(c, sent);
    e = failure_error(c, &f);
    if (!e && c->lost && !committed)
        e = ERR_UNAVAILABLE;
    return e || committed ? e : ERR_INTERNAL;
}

/* A rollback does not give the position back; currval returns the last position of this session. */
int64_t postgres_conn_untold_position(struct postgres_conn *c)
{
    char text[32];
    int64_t last = c->position;

    if (!last || postgres_conn_ask(c, "select currval('log_position')", text, sizeof text))
        return 0;
    c->position = strtoll(text, NULL, 10);
    return c->position == last ? 0 : c->position;
}

/* --- group commits -------------------------------------------------------------------- */

static bool send_group(struct postgres_conn *c, struct work *const *works, unsigned count,
                       const struct postgres_statement *add)
{
    for (unsigned i = 0; i < count; i++)
        if (works[i]->log.n && !send_frame(c, add, works[i]->log))
            return false;
    return pipeline_send_commit(c);
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

    postgres_forget_prefetched(c);
    enum err e = postgres_find_statement(c, ADD_FRAME, 1, &add);
    if (e)
        return e;
    bool sent = pipeline_open(c) && send_group(c, works, count, add);
    pipeline_answers(c, sent, &f);
    bool committed = sent && group_answers(c, &f, works, count);
    pipeline_close(c, sent);
    e = failure_error(c, &f);
    if (!e && c->lost && !committed)
        e = ERR_UNAVAILABLE;
    return e || committed ? e : ERR_INTERNAL;
}
