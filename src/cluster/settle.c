/* settle.c - gaps in the log: decides whether a missing position will arrive or was aborted.
 *
 * A transaction takes its position before it commits, and the row is visible after the commit.
 * So for a moment greater positions are visible before it. If the transaction is rolled back,
 * the position never appears. The two cases are distinguished like this:
 *
 *   1. A new transaction gets an id, the bound. The transaction that holds a missing position got
 *      its id before the position, so its id is below the bound.
 *   2. Wait until no connection of a server has a transaction with an id below the bound.
 *   3. A position that a later snapshot does not show was aborted.
 *
 * The xmax of the snapshot would be a wrong bound: it follows the newest id that has ended, and
 * newer transactions may be running and hold positions already. With it 0.2 % of all events are
 * lost. tests/unit/cluster/settle.c shows the loss with a similar bound (xmin). */
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "cluster/internal.h"

enum { SETTLE_MS = 5 }; /* most positions arrive earlier */

struct settle_question {
    struct arena *arena;
    struct str bound;
    bool end;
    int64_t count;
};

struct sql settle_bound_sql = SQL_TEXT("select cast(pg_current_xact_id() as text)");
int64_t settle_end_ms = 1000;

static enum err read_bound(struct tx *tx, void *arg)
{
    struct settle_question *q = arg;
    struct rows r;
    bool found;
    enum err e = tx_one(tx, settle_bound_sql, NO_BIND, &r, &found);

    if (!e)
        q->bound = str_dup(q->arena, row_text(&r, 0));
    return e;
}

enum err settle_bound(struct cluster *c, struct arena *arena, struct str *ret)
{
    struct settle_question q = { .arena = arena };
    enum err e = cluster_run(c, STORE_APPEND, read_bound, &q);

    *ret = q.bound;
    return e;
}

#define OLDER                                                             \
    "from server_connections s join pg_stat_activity a on a.pid = s.pid " \
    "where a.backend_xid is not null and age(a.backend_xid) > "           \
    "age(cast(cast(cast($1 as text) as xid8) as xid))"

static const char COUNT_OLDER[] = "select count(*) " OLDER;
static const char END_OLDER[] = "select count(pg_terminate_backend(a.pid)) " OLDER;

static enum err count_older(struct tx *tx, void *arg)
{
    struct settle_question *q = arg;
    struct rows r;
    bool found;
    enum err e =
        tx_one(tx, q->end ? SQL(END_OLDER) : SQL(COUNT_OLDER), BIND(v_text(q->bound)), &r, &found);

    if (!e)
        q->count = row_int(&r, 0);
    return e;
}

enum err settle_ended(struct cluster *c, struct str bound, bool end, bool *ret)
{
    struct settle_question q = { .bound = bound, .end = end };
    enum err e = cluster_run(c, STORE_READ, count_older, &q);

    *ret = !e && !q.count;
    if (!e && end && q.count)
        log_warn("cluster: terminated %lld transactions that blocked the event log",
                 (long long)q.count);
    return e;
}

/* Reads all positions up to s->last; positions that are missing then are aborted. */
static void settle_all(struct cluster *c)
{
    struct settling *s = &c->settling;
    int64_t last = 0;
    bool more = true;

    while (more && last < s->last) {
        if (tail_read(c, &last, &more))
            return;
        atomic_fetch_add(&c->count.voids,
                         line_void(c->line, more && last < s->last ? last : s->last));
    }
    s->asked = false;
    s->missing = 0;
}

static void settle_forget(struct settling *s, int64_t missing)
{
    s->missing = missing;
    s->since = clock_mono();
    s->asked = false;
}

int64_t settle_age(struct cluster *c)
{
    struct settling *s = &c->settling;
    int64_t next = line_next(c->line);

    if (line_head(c->line) < next) {
        s->missing = 0;
        return -1;
    }
    if (s->missing != next) {
        settle_forget(s, next);
        atomic_fetch_add(&c->count.holes, 1);
    }
    return clock_mono() - s->since;
}

bool settle_step(struct cluster *c)
{
    struct settling *s = &c->settling;
    int64_t age = settle_age(c);
    bool ended;

    if (age < ms_to_ns(SETTLE_MS))
        return age >= 0;
    if (!s->asked) {
        arena_reset(s->arena);
        s->last = line_head(c->line);
        s->asked = !settle_bound(c, s->arena, &s->bound);
        return true;
    }
    if (!settle_ended(c, s->bound, age > ms_to_ns(settle_end_ms), &ended) && ended)
        settle_all(c);
    return true;
}
