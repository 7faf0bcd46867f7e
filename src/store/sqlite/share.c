/* share.c - time limit of a read on a loop iteration or on a background thread. */
#include "base/clock.h"
#include "store/sqlite/sqlite.h"

enum {
    LOOP_SHARE_NS = 4 * 1000 * 1000, /* for all long reads of one loop iteration */
    ASIDE_SHARE_NS = LANE_SHARE_MS * 1000 * 1000,
    LEAST_NS = 1000 * 1000, /* minimum per read, however many reads there are */
    SHARE_STEPS = 1000,     /* SQLite VM steps between two clock checks */
};

static int64_t share_left(const struct sqlite_share *share)
{
    int64_t left = share->most_ns - share->taken_ns;

    return left > LEAST_NS ? left : LEAST_NS;
}

/* Progress handler of SQLite; a result other than 0 aborts the statement. Most reads end before the
 * first call, so the time is measured from there. */
static int look_at_share(void *arg)
{
    struct sqlite_share *share = arg;

    if (!share->counts)
        return 0;
    int64_t now = clock_mono();

    if (!share->began_ns)
        share->began_ns = now;
    share->is_spent |= now - share->began_ns > share_left(share);
    return share->is_spent;
}

static void share_watch(struct sqlite_conn *c, int64_t most_ns)
{
    c->share.most_ns = most_ns;
    sqlite3_progress_handler(c->db, SHARE_STEPS, look_at_share, &c->share);
}

void sqlite_share_watch(struct sqlite_conn *c)
{
    c->share.is_loops = true;
    share_watch(c, LOOP_SHARE_NS);
}

void sqlite_share_watch_aside(struct sqlite_conn *c)
{
    share_watch(c, ASIDE_SHARE_NS);
}

void sqlite_share_begin(struct sqlite_conn *c, bool by_row)
{
    c->share.counts = true;
    c->share.by_row = by_row && c->share.is_loops;
    c->share.is_spent = false;
    c->share.began_ns = 0;
    /* On a background thread each read has its own limit. */
    if (!c->share.is_loops)
        c->share.taken_ns = 0;
}

bool sqlite_share_end(struct sqlite_conn *c)
{
    struct sqlite_share *share = &c->share;
    bool spent = share->is_spent;

    if (share->began_ns)
        share->taken_ns += clock_mono() - share->began_ns;
    share->counts = share->by_row = share->is_spent = false;
    return spent;
}

bool sqlite_go_aside(struct tx *tx)
{
    struct sqlite_share *share = &((struct sqlite_conn *)tx->connection)->share;

    if (share->is_loops && share->counts)
        share->is_spent = true;
    return share->is_spent;
}

/* Checks the limit between rows: processing a row may take longer than finding it, and the progress
 * handler does not run then. */
bool sqlite_share_over(struct sqlite_conn *c)
{
    return c->share.by_row && look_at_share(&c->share);
}
