/* owner_rows.c - the table session_homes: the node that owns each session. */
#include "gateway/resume/journal/owner_rows.h"

#include "base/planted.h"
#include "model/fields/ids.h"

static const char ADD[] = "insert into session_homes (number, user_id, identity) "
                          "values ($1, $2, $3) on conflict (number) do nothing";

enum err owner_row_add(struct tx *tx, uint64_t number, snowflake user_id, uint32_t identity)
{
    return tx_exec(tx, ADD, BIND(v_int((int64_t)number), v_id(user_id), v_int(identity)), NULL);
}

static const char REMOVE[] = "delete from session_homes where number = $1 and identity = $2";

enum err owner_row_remove(struct tx *tx, uint64_t number, uint32_t identity)
{
    return tx_exec(tx, REMOVE, BIND(v_int((int64_t)number), v_int(identity)), NULL);
}

static const char CHANGE[] = "update session_homes set identity = $3 where number = $1 and "
                             "identity = $2";

enum err owner_row_change(struct tx *tx, uint64_t number, uint32_t from, uint32_t to, bool *ret)
{
    int64_t changed = 0;
    enum err e =
        tx_exec(tx, CHANGE, BIND(v_int((int64_t)number), v_int(from), v_int(to)), &changed);

    *ret = !e && (changed == 1 || fault_planted(PLANTED_TWO_OWNERS));
    return e;
}

static const char FIND[] = "select h.identity, exists (select 1 from nodes n where n.identity = "
                           "h.identity and n.state = 1) from session_homes h where h.number = $1 "
                           "and h.user_id = $2";

enum err owner_row_find(struct tx *tx, uint64_t number, snowflake user_id,
                        struct session_owner *ret)
{
    struct rows r;
    bool found;
    enum err e = tx_one(tx, FIND, BIND(v_int((int64_t)number), v_id(user_id)), &r, &found);

    *ret = (struct session_owner){ .found = !e && found };
    if (ret->found) {
        ret->identity = (uint32_t)row_int(&r, 0);
        ret->alive = row_bool(&r, 1);
    }
    return e;
}

static const char PRUNE_SUSPENDED[] = "delete from parked_sessions where until_ms < $1";
static const char PRUNE_UNSUSPENDED[] =
    "delete from session_homes where identity = 0 and not exists "
    "(select 1 from parked_sessions p where p.number = session_homes.number)";
static const char FIND_DEAD[] =
    "select distinct h.identity from session_homes h where h.identity <> 0 and (h.identity = $1 or "
    "not exists (select 1 from nodes n where n.identity = h.identity and n.state = 1))";
static const char REMOVE_ALL[] = "delete from session_homes where identity = $1";

static const char MISS[] = "insert into past_servers (identity, missed_ms) values ($1, $2) "
                           "on conflict (identity) do nothing";
static const char FIND_RECENTLY_MISSED[] = "select 1 from past_servers where identity = $1 and "
                                           "missed_ms > $2";
static const char PRUNE_MISSED[] = "delete from past_servers where missed_ms <= $1";
/* A node that was only paused is alive again: a later stop starts a new grace period. */
static const char PRUNE_RETURNED[] = "delete from past_servers where identity in "
                                     "(select n.identity from nodes n where n.state = 1)";

/* A crash leaves no timestamp, so the time counts from when the node was first found missing. */
static enum err was_recently_missed(struct tx *tx, snowflake identity, int64_t grace_ms,
                                    int64_t now_ms, bool *ret)
{
    struct rows r;

    *ret = false;
    if (!grace_ms)
        return OK;
    enum err e = tx_exec(tx, MISS, BIND(v_id(identity), v_int(now_ms)), NULL);
    return e ? e
             : tx_one(tx, FIND_RECENTLY_MISSED, BIND(v_id(identity), v_int(now_ms - grace_ms)), &r,
                      ret);
}

static enum err prune_dead_nodes(struct tx *tx, uint32_t identity, const struct list *with_journal,
                                 int64_t grace_ms, int64_t now_ms)
{
    struct list dead;
    enum err e = tx_ids(tx, FIND_DEAD, BIND(v_int(identity)), &dead);

    for (size_t i = 0; i < dead.count && !e; i++) {
        snowflake id = ((const snowflake *)dead.items)[i];

        bool waits = false;
        if (id != identity && ids_hold(with_journal, id))
            continue;
        if (id != identity)
            e = was_recently_missed(tx, id, grace_ms, now_ms, &waits);
        if (!e && !waits)
            e = tx_exec(tx, REMOVE_ALL, BIND(v_id(id)), NULL);
    }
    return e ? e : tx_exec(tx, PRUNE_MISSED, BIND(v_int(now_ms - grace_ms)), NULL);
}

enum err owner_rows_prune(struct tx *tx, uint32_t identity, const struct list *with_journal,
                          int64_t grace_ms, int64_t now_ms)
{
    enum err e = tx_exec(tx, PRUNE_SUSPENDED, BIND(v_int(now_ms)), NULL);

    if (!e)
        e = tx_exec(tx, PRUNE_UNSUSPENDED, NO_BIND, NULL);
    if (!e)
        e = tx_exec(tx, PRUNE_RETURNED, NO_BIND, NULL);
    return e ? e : prune_dead_nodes(tx, identity, with_journal, grace_ms, now_ms);
}
