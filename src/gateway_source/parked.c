/* parked.c - sessions that are put away while no server runs: their rows. */
#include "gateway_source/parked.h"

enum { DROPPED_AT_ONCE = 64 };

static const char DROP[] = "delete from parked_sessions where number in "
                           "(select number from parked_sessions order by number limit $1)";

enum err parked_drop(struct tx *tx, bool *ret_more)
{
    int64_t count = 0;
    enum err e = tx_exec(tx, DROP, BIND(v_int(DROPPED_AT_ONCE)), &count);

    *ret_more = !e && count == DROPPED_AT_ONCE;
    return e;
}

static const char ADD[] = "insert into parked_sessions (number, user_id, until_ms, body) "
                          "values ($1, $2, $3, $4) on conflict (number) do update set "
                          "user_id = excluded.user_id, until_ms = excluded.until_ms, "
                          "body = excluded.body";

/* Pipelined: a server that stops stores thousands. */
enum err parked_add(struct tx *tx, const struct parked_session *p)
{
    return tx_exec_soon(
        tx, ADD,
        BIND(v_int((int64_t)p->number), v_id(p->user_id), v_int(p->until_ms), v_bytes(p->body)));
}

enum err parked_close(struct tx *tx)
{
    return tx_exec(tx,
                   "insert into parking (id, open) values (1, 1) "
                   "on conflict (id) do update set open = 1",
                   NO_BIND, NULL);
}

/* A server that was killed since has told others what these sessions never hear of. */
enum err parked_open(struct tx *tx, bool *ret_some)
{
    struct rows r;
    bool found;
    enum err e = tx_one(tx,
                        "select 1 from parking p where p.open = 1 and exists "
                        "(select 1 from parked_sessions)",
                        NO_BIND, &r, &found);

    if (e)
        return e;
    *ret_some = found;
    return found ? tx_exec(tx, "update parking set open = 0", NO_BIND, NULL) : OK;
}

static const char FIND[] =
    "select body from parked_sessions where number = $1 and user_id = $2 and until_ms > $3";
static const char TAKE[] = "delete from parked_sessions where number = $1";

enum err parked_take(struct tx *tx, uint64_t number, snowflake user_id, int64_t now_ms,
                     struct str *ret)
{
    struct rows r;
    bool found;
    enum err e =
        tx_one(tx, FIND, BIND(v_int((int64_t)number), v_id(user_id), v_int(now_ms)), &r, &found);

    if (e || !found)
        return e;
    *ret = row_bytes(&r, 0);
    return tx_exec(tx, TAKE, BIND(v_int((int64_t)number)), NULL);
}
