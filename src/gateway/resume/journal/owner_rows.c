/* owner_rows.c - the table session_homes, which says which node owns a session. */
#include "gateway/resume/journal/owner_rows.h"

#include "base/test_faults.h"
#include "model/fields/ids.h"

static const char INSERT_OWNER[] = "insert into session_homes (number, user_id, identity) "
                                   "values ($1, $2, $3) on conflict (number) do nothing";

enum err session_owner_row_insert(struct tx *tx, uint64_t number, snowflake user_id,
                                  uint32_t identity)
{
    return tx_exec(tx, INSERT_OWNER, BIND(v_int((int64_t)number), v_id(user_id), v_int(identity)),
                   NULL);
}

static const char DELETE_OWNER[] = "delete from session_homes where number = $1 and identity = $2";

enum err session_owner_row_delete(struct tx *tx, uint64_t number, uint32_t identity)
{
    return tx_exec(tx, DELETE_OWNER, BIND(v_int((int64_t)number), v_int(identity)), NULL);
}

static const char UPDATE_OWNER[] = "update session_homes set identity = $3 where number = $1 and "
                                   "identity = $2";

enum err session_owner_row_compare_and_set(struct tx *tx, uint64_t number, uint32_t from,
                                           uint32_t to, bool *ret)
{
    int64_t changed = 0;
    enum err e =
        tx_exec(tx, UPDATE_OWNER, BIND(v_int((int64_t)number), v_int(from), v_int(to)), &changed);

    *ret = !e && (changed == 1 || test_fault_is_enabled(TEST_FAULT_TWO_OWNERS));
    return e;
}

static const char SELECT_OWNER[] =
    "select h.identity, exists (select 1 from nodes n where n.identity = "
    "h.identity and n.state = 1) from session_homes h where h.number = $1 "
    "and h.user_id = $2";

enum err session_owner_row_read(struct tx *tx, uint64_t number, snowflake user_id,
                                struct session_owner *ret)
{
    struct rows r;
    bool found;
    enum err e = tx_one(tx, SELECT_OWNER, BIND(v_int((int64_t)number), v_id(user_id)), &r, &found);

    *ret = (struct session_owner){ .found = !e && found };
    if (ret->found) {
        ret->identity = (uint32_t)row_int(&r, 0);
        ret->alive = row_bool(&r, 1);
    }
    return e;
}

static const char DELETE_EXPIRED_SUSPENDED[] = "delete from parked_sessions where until_ms < $1";
static const char DELETE_OWNERLESS[] =
    "delete from session_homes where identity = 0 and not exists "
    "(select 1 from parked_sessions p where p.number = session_homes.number)";
static const char SELECT_DEAD_NODES[] =
    "select distinct h.identity from session_homes h where h.identity <> 0 and (h.identity = $1 or "
    "not exists (select 1 from nodes n where n.identity = h.identity and n.state = 1))";
static const char DELETE_ROWS_OF_NODE[] = "delete from session_homes where identity = $1";

static const char INSERT_MISSING_NODE[] =
    "insert into past_servers (identity, missed_ms) values ($1, $2) "
    "on conflict (identity) do nothing";
static const char SELECT_RECENTLY_MISSING[] = "select 1 from past_servers where identity = $1 and "
                                              "missed_ms > $2";
static const char DELETE_OLD_MISSING[] = "delete from past_servers where missed_ms <= $1";
/* Deletes the record that a node was missing, because it is alive again: when it is missing next
 * time, a new grace period begins. */
static const char DELETE_RETURNED_NODES[] = "delete from past_servers where identity in "
                                            "(select n.identity from nodes n where n.state = 1)";

/* Sets *ret to whether the node has been missing for less than grace_ms. Because a crash leaves no
 * timestamp, the time counts from when the node was first found missing. */
static enum err node_is_recently_missing(struct tx *tx, snowflake identity, int64_t grace_ms,
                                         int64_t now_ms, bool *ret)
{
    *ret = false;
    if (!grace_ms)
        return OK;
    enum err e = tx_exec(tx, INSERT_MISSING_NODE, BIND(v_id(identity), v_int(now_ms)), NULL);
    return e ? e
             : tx_exists(tx, SELECT_RECENTLY_MISSING,
                         BIND(v_id(identity), v_int(now_ms - grace_ms)), ret);
}

static enum err delete_rows_of_dead_nodes(struct tx *tx, uint32_t identity,
                                          const struct list *with_journal, int64_t grace_ms,
                                          int64_t now_ms)
{
    struct list dead;
    enum err e = tx_read_ids(tx, SELECT_DEAD_NODES, BIND(v_int(identity)), &dead);

    for (size_t i = 0; i < dead.count && !e; i++) {
        snowflake id = ((const snowflake *)dead.items)[i];

        bool waits = false;
        if (id != identity && id_list_contains(with_journal, id))
            continue;
        if (id != identity)
            e = node_is_recently_missing(tx, id, grace_ms, now_ms, &waits);
        if (!e && !waits)
            e = tx_exec(tx, DELETE_ROWS_OF_NODE, BIND(v_id(id)), NULL);
    }
    return e ? e : tx_exec(tx, DELETE_OLD_MISSING, BIND(v_int(now_ms - grace_ms)), NULL);
}

enum err session_owner_rows_prune(struct tx *tx, uint32_t identity, const struct list *with_journal,
                                  int64_t grace_ms, int64_t now_ms)
{
    enum err e = tx_exec(tx, DELETE_EXPIRED_SUSPENDED, BIND(v_int(now_ms)), NULL);

    if (!e)
        e = tx_exec(tx, DELETE_OWNERLESS, NO_BIND, NULL);
    if (!e)
        e = tx_exec(tx, DELETE_RETURNED_NODES, NO_BIND, NULL);
    return e ? e : delete_rows_of_dead_nodes(tx, identity, with_journal, grace_ms, now_ms);
}
