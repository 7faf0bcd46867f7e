/* suspended_rows.c - the table parked_sessions: serialised sessions without an owner node. */
#include "gateway/resume/suspended_rows.h"

enum { SUSPENDED_DELETED_PER_BATCH = 64 };

static const char DELETE_SUSPENDED_BATCH[] =
    "delete from parked_sessions where number in "
    "(select number from parked_sessions order by number limit $1)";

enum err suspended_session_rows_delete_batch(struct tx *tx, bool *ret_more)
{
    int64_t count = 0;
    enum err e =
        tx_exec(tx, DELETE_SUSPENDED_BATCH, BIND(v_int(SUSPENDED_DELETED_PER_BATCH)), &count);

    *ret_more = !e && count == SUSPENDED_DELETED_PER_BATCH;
    return e;
}

static const char INSERT_SUSPENDED[] =
    "insert into parked_sessions (number, user_id, until_ms, body) "
    "values ($1, $2, $3, $4) on conflict (number) do update set "
    "user_id = excluded.user_id, until_ms = excluded.until_ms, "
    "body = excluded.body";

/* Inserts the row of a suspended session. A server that stops inserts rows for all its sessions, so
 * tx_exec_deferred is used to save round trips. */
enum err suspended_session_row_insert(struct tx *tx, const struct suspended_session *p)
{
    return tx_exec_deferred(
        tx, INSERT_SUSPENDED,
        BIND(v_int((int64_t)p->number), v_id(p->user_id), v_int(p->until_ms), v_bytes(p->body)));
}

enum err suspended_session_rows_mark_complete(struct tx *tx)
{
    return tx_exec(tx,
                   "insert into parking (id, open) values (1, 1) "
                   "on conflict (id) do update set open = 1",
                   NO_BIND, NULL);
}

/* Removes the mark "complete" (suspended_session_rows_mark_complete) when the server starts, not
 * when it stops. So the mark is missing if the server is killed later, when it may have sent events
 * that the suspended sessions miss. */
enum err suspended_session_rows_delete_complete_mark(struct tx *tx, bool *ret_any)
{
    bool found;
    enum err e = tx_exists(tx,
                           "select 1 from parking p where p.open = 1 and exists "
                           "(select 1 from parked_sessions)",
                           NO_BIND, &found);

    if (e)
        return e;
    *ret_any = found;
    return found ? tx_exec(tx, "update parking set open = 0", NO_BIND, NULL) : OK;
}

static const char SELECT_SUSPENDED[] =
    "select body from parked_sessions where number = $1 and user_id = $2 and until_ms > $3";
static const char DELETE_SUSPENDED[] = "delete from parked_sessions where number = $1";

enum err suspended_session_row_read_and_delete(struct tx *tx, uint64_t number, snowflake user_id,
                                               int64_t now_ms, struct str *ret)
{
    struct rows r;
    bool found;
    enum err e = tx_one(tx, SELECT_SUSPENDED,
                        BIND(v_int((int64_t)number), v_id(user_id), v_int(now_ms)), &r, &found);

    if (e || !found)
        return e;
    *ret = row_bytes(&r, 0);
    return tx_exec(tx, DELETE_SUSPENDED, BIND(v_int((int64_t)number)), NULL);
}
