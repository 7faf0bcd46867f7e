/* log_gaps.c - gaps in the log: decides whether a missing position will arrive or was aborted.
 *
 * A transaction takes its position before it commits, and its row is visible after the commit. So
 * greater positions may be visible for a moment while the transaction's position is missing. If the
 * transaction is rolled back, the position never appears. The two cases are distinguished like
 * this:
 *
 *   1. A new transaction gets an id, the bound. The transaction that holds a missing position got
 *      its id before the position, so its id is below the bound.
 *   2. Wait until no connection of a node has a transaction with an id below the bound.
 *   3. A position that a later snapshot does not show was aborted.
 *
 * The xmax of the snapshot would be a wrong bound: it follows the newest id that has ended, and
 * newer transactions may already hold positions. With xmax as bound, 0.2 % of all events are lost.
 * tests/unit/cluster/log_gaps.c shows the loss with a similar bound (xmin). */
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "cluster/internal.h"

enum { GAP_MIN_AGE_MS = 5 }; /* most positions arrive earlier, in ms */

struct gap_query {
    struct arena *arena;
    struct str bound;
    bool end;
    int64_t count;
};

struct sql transaction_bound_sql = SQL_TEXT("select cast(pg_current_xact_id() as text)");
int64_t terminate_transactions_after_ms = 1000;

static enum err read_transaction_id_bound(struct tx *tx, void *arg)
{
    struct gap_query *q = arg;
    struct rows r;
    bool found;
    enum err e = tx_one(tx, transaction_bound_sql, NO_BIND, &r, &found);

    if (!e)
        q->bound = str_dup(q->arena, row_text(&r, 0));
    return e;
}

enum err begin_transaction_and_read_id(struct cluster *c, struct arena *arena, struct str *ret)
{
    struct gap_query q = { .arena = arena };
    enum err e = cluster_run_log_transaction(c, STORE_APPEND, read_transaction_id_bound, &q);

    *ret = q.bound;
    return e;
}

#define FROM_OLDER_TRANSACTIONS                                           \
    "from server_connections s join pg_stat_activity a on a.pid = s.pid " \
    "where a.backend_xid is not null and age(a.backend_xid) > "           \
    "age(cast(cast(cast($1 as text) as xid8) as xid))"

static const char COUNT_OLDER_TRANSACTIONS[] = "select count(*) " FROM_OLDER_TRANSACTIONS;
static const char TERMINATE_OLDER_TRANSACTIONS[] =
    "select count(pg_terminate_backend(a.pid)) " FROM_OLDER_TRANSACTIONS;

static enum err count_or_end_older_transactions(struct tx *tx, void *arg)
{
    struct gap_query *q = arg;
    int64_t n = 0;
    enum err e =
        tx_read_int(tx, q->end ? SQL(TERMINATE_OLDER_TRANSACTIONS) : SQL(COUNT_OLDER_TRANSACTIONS),
                    BIND(v_text(q->bound)), &n);

    if (!e)
        q->count = n;
    return e;
}

enum err check_or_end_older_transactions(struct cluster *c, struct str bound, bool end, bool *ret)
{
    struct gap_query q = { .bound = bound, .end = end };
    enum err e = cluster_run_log_transaction(c, STORE_READ, count_or_end_older_transactions, &q);

    *ret = !e && !q.count;
    if (!e && end && q.count)
        log_warn("cluster: terminated %lld transactions that blocked the event log for too long",
                 (long long)q.count);
    return e;
}

/* Reads the log positions up to s->last again. Positions that are still missing were aborted,
 * unless their rows were dropped because of their age. */
static void resolve_log_gap(struct cluster *c)
{
    struct log_gap_check *s = &c->gap_check;
    int64_t last = 0;
    bool more = true, dropped;

    while (more && last < s->last) {
        if (log_follower_read_page(c, &last, &more) ||
            stop_node_if_unread_log_rows_dropped(c, &dropped) || dropped)
            return;
        atomic_fetch_add(
            &c->count.aborted,
            log_sequencer_abort_missing(c->sequencer, more && last < s->last ? last : s->last));
    }
    s->bound_is_set = false;
    s->missing = 0;
}

static void log_gap_check_restart(struct log_gap_check *s, int64_t missing)
{
    s->missing = missing;
    s->since = clock_monotonic_ns();
    s->bound_is_set = false;
}

int64_t log_gap_age_ns(struct cluster *c)
{
    struct log_gap_check *s = &c->gap_check;
    int64_t next = log_sequencer_next_position(c->sequencer);

    if (log_sequencer_greatest_position(c->sequencer) < next) {
        s->missing = 0;
        return -1;
    }
    if (s->missing != next) {
        log_gap_check_restart(s, next);
        atomic_fetch_add(&c->count.gaps, 1);
    }
    return clock_monotonic_ns() - s->since;
}

bool log_gap_run_next_resolution_step(struct cluster *c)
{
    struct log_gap_check *s = &c->gap_check;
    int64_t age = log_gap_age_ns(c);
    bool ended;

    if (age < ms_to_ns(GAP_MIN_AGE_MS))
        return age >= 0;
    if (!s->bound_is_set) {
        arena_reset(s->arena);
        s->last = log_sequencer_greatest_position(c->sequencer);
        s->bound_is_set = !begin_transaction_and_read_id(c, s->arena, &s->bound);
        return true;
    }
    if (!check_or_end_older_transactions(c, s->bound,
                                         age > ms_to_ns(terminate_transactions_after_ms), &ended) &&
        ended)
        resolve_log_gap(c);
    return true;
}
