/* homes.c - which server of a cluster has a session, and what the log says: rows. */
#include "gateway_source/homes.h"

#include "base/planted.h"
#include "model/fields/ids.h"

static const char NOTE[] = "insert into session_homes (number, user_id, identity) "
                           "values ($1, $2, $3) on conflict (number) do nothing";

enum err home_row_note(struct tx *tx, uint64_t number, snowflake user_id, uint32_t identity)
{
    return tx_exec(tx, NOTE, BIND(v_int((int64_t)number), v_id(user_id), v_int(identity)), NULL);
}

static const char FORGET[] = "delete from session_homes where number = $1 and identity = $2";

enum err home_row_forget(struct tx *tx, uint64_t number, uint32_t identity)
{
    return tx_exec(tx, FORGET, BIND(v_int((int64_t)number), v_int(identity)), NULL);
}

static const char MOVE[] = "update session_homes set identity = $3 where number = $1 and "
                           "identity = $2";

enum err home_row_move(struct tx *tx, uint64_t number, uint32_t from, uint32_t to, bool *ret)
{
    int64_t changed = 0;
    enum err e = tx_exec(tx, MOVE, BIND(v_int((int64_t)number), v_int(from), v_int(to)), &changed);

    *ret = !e && (changed == 1 || planted(PLANTED_TWO_OWNERS));
    return e;
}

static const char FIND[] = "select h.identity, exists (select 1 from nodes n where n.identity = "
                           "h.identity and n.state = 1) from session_homes h where h.number = $1 "
                           "and h.user_id = $2";

enum err home_row_find(struct tx *tx, uint64_t number, snowflake user_id, struct session_home *ret)
{
    struct rows r;
    bool found;
    enum err e = tx_one(tx, FIND, BIND(v_int((int64_t)number), v_id(user_id)), &r, &found);

    *ret = (struct session_home){ .found = !e && found };
    if (ret->found) {
        ret->identity = (uint32_t)row_int(&r, 0);
        ret->alive = row_bool(&r, 1);
    }
    return e;
}

static const char TIDY_PARKED[] = "delete from parked_sessions where until_ms < $1";
static const char TIDY_UNPARKED[] =
    "delete from session_homes where identity = 0 and not exists "
    "(select 1 from parked_sessions p where p.number = session_homes.number)";
static const char FIND_GONE[] =
    "select distinct h.identity from session_homes h where h.identity <> 0 and (h.identity = $1 or "
    "not exists (select 1 from nodes n where n.identity = h.identity and n.state = 1))";
static const char TIDY_HOMES[] = "delete from session_homes where identity = $1";

static const char MISS[] = "insert into past_servers (identity, missed_ms) values ($1, $2) "
                           "on conflict (identity) do nothing";
static const char FIND_MISSED[] = "select 1 from past_servers where identity = $1 and "
                                  "missed_ms > $2";
static const char TIDY_MISSED[] = "delete from past_servers where missed_ms <= $1";
/* Who only stood still is missed anew when they go. */
static const char TIDY_RETURNED[] = "delete from past_servers where identity in "
                                    "(select n.identity from nodes n where n.state = 1)";

/* Nobody sees a server end: it counts from when it was first missed. */
static enum err was_just_missed(struct tx *tx, snowflake identity, int64_t patience_ms,
                                int64_t now_ms, bool *ret)
{
    struct rows r;

    *ret = false;
    if (!patience_ms)
        return OK;
    enum err e = tx_exec(tx, MISS, BIND(v_id(identity), v_int(now_ms)), NULL);
    return e ? e
             : tx_one(tx, FIND_MISSED, BIND(v_id(identity), v_int(now_ms - patience_ms)), &r, ret);
}

static enum err tidy_gone(struct tx *tx, uint32_t identity, const struct list *kept,
                          int64_t patience_ms, int64_t now_ms)
{
    struct list gone;
    enum err e = tx_ids(tx, FIND_GONE, BIND(v_int(identity)), &gone);

    for (size_t i = 0; i < gone.count && !e; i++) {
        snowflake id = ((const snowflake *)gone.items)[i];

        bool waits = false;
        if (id != identity && ids_hold(kept, id))
            continue;
        if (id != identity)
            e = was_just_missed(tx, id, patience_ms, now_ms, &waits);
        if (!e && !waits)
            e = tx_exec(tx, TIDY_HOMES, BIND(v_id(id)), NULL);
    }
    return e ? e : tx_exec(tx, TIDY_MISSED, BIND(v_int(now_ms - patience_ms)), NULL);
}

enum err home_rows_tidy(struct tx *tx, uint32_t identity, const struct list *kept,
                        int64_t patience_ms, int64_t now_ms)
{
    enum err e = tx_exec(tx, TIDY_PARKED, BIND(v_int(now_ms)), NULL);

    if (!e)
        e = tx_exec(tx, TIDY_UNPARKED, NO_BIND, NULL);
    if (!e)
        e = tx_exec(tx, TIDY_RETURNED, NO_BIND, NULL);
    return e ? e : tidy_gone(tx, identity, kept, patience_ms, now_ms);
}

/* Each of the two alone is one step in the index. */
static const char LOG_RANGE[] = "select coalesce((select min(position) from log), 0), "
                                "coalesce((select max(position) from log), 0)";

enum err log_range_read(struct tx *tx, int64_t *ret_first, int64_t *ret_last)
{
    struct rows r;
    bool found;
    enum err e = tx_one(tx, LOG_RANGE, NO_BIND, &r, &found);

    if (!e) {
        *ret_first = row_int(&r, 0);
        *ret_last = row_int(&r, 1);
    }
    return e;
}

static const char LOG_POSITIONS[] =
    "select position from log where position >= $1 order by position limit $2";

enum err log_positions_read(struct tx *tx, int64_t from, int64_t limit, struct list *ret)
{
    struct rows r;
    enum err e = tx_query(tx, LOG_POSITIONS, BIND(v_int(from), v_int(limit)), &r);

    *ret = (struct list){ 0 };
    if (e)
        return e;
    while (rows_next(&r))
        *(int64_t *)list_add(tx_arena(tx), ret, sizeof(int64_t)) = row_int(&r, 0);
    return rows_end(&r);
}

static const char LOG_ROWS[] = "select position, body from log where position > $1 and "
                               "position <= $2 order by position limit $3";

enum err log_rows_read(struct tx *tx, int64_t after, int64_t last, int64_t limit, struct list *ret)
{
    struct rows r;
    size_t cap = 64;
    struct log_row *rows = arena_array(tx_arena(tx), struct log_row, cap);
    enum err e = tx_query(tx, LOG_ROWS, BIND(v_int(after), v_int(last), v_int(limit)), &r);

    if (e)
        return e;
    for (ret->count = 0; rows_next(&r); ret->count++) {
        if (ret->count == cap) {
            struct log_row *more = arena_array(tx_arena(tx), struct log_row, cap * 2);

            memcpy(more, rows, cap * sizeof *rows);
            rows = more;
            cap *= 2;
        }
        rows[ret->count] = (struct log_row){ row_int(&r, 0), row_bytes(&r, 1) };
    }
    ret->items = rows;
    return rows_end(&r);
}
