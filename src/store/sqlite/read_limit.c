/* read_limit.c - time limit of reads, per loop iteration or per read of a background thread. */
#include "base/clock.h"
#include "store/sqlite/sqlite.h"

enum {
    LOOP_LIMIT_NS = 4 * 1000 * 1000, /* in ns: limit for all long reads of one loop iteration
                                      * together */
    BACKGROUND_LIMIT_NS = SHORT_READ_LIMIT_MS * 1000 * 1000,
    MIN_READ_NS = 1000 * 1000, /* in ns: minimum time that each read gets, however many reads the
                                * loop iteration has */
    CLOCK_CHECK_STEPS = 1000,  /* number of steps of SQLite's virtual machine between two calls of
                                * the progress handler, which checks the clock */
};

static int64_t remaining_read_time_ns(const struct sqlite_read_time_limit *limit)
{
    int64_t left = limit->max_ns - limit->used_ns;

    return left > MIN_READ_NS ? left : MIN_READ_NS;
}

/* Progress handler of SQLite; a result other than 0 aborts the statement. Time is measured only
 * from the first call on, because most reads end before that. */
static int abort_if_read_limit_exceeded(void *arg)
{
    struct sqlite_read_time_limit *limit = arg;

    if (!limit->counts)
        return 0;
    int64_t now = clock_monotonic_ns();

    if (!limit->began_ns)
        limit->began_ns = now;
    limit->is_exceeded |= now - limit->began_ns > remaining_read_time_ns(limit);
    return limit->is_exceeded;
}

static void install_progress_handler(struct sqlite_conn *c, int64_t max_ns)
{
    c->read_limit.max_ns = max_ns;
    sqlite3_progress_handler(c->db, CLOCK_CHECK_STEPS, abort_if_read_limit_exceeded,
                             &c->read_limit);
}

void sqlite_set_loop_read_time_limit(struct sqlite_conn *c)
{
    c->read_limit.is_of_loop = true;
    install_progress_handler(c, LOOP_LIMIT_NS);
}

void sqlite_set_background_read_time_limit(struct sqlite_conn *c)
{
    install_progress_handler(c, BACKGROUND_LIMIT_NS);
}

void sqlite_read_time_limit_begin(struct sqlite_conn *c, bool by_row)
{
    c->read_limit.counts = true;
    c->read_limit.by_row = by_row && c->read_limit.is_of_loop;
    c->read_limit.is_exceeded = false;
    c->read_limit.began_ns = 0;
    /* On a background thread each read has a limit of its own, so reset the used time. */
    if (!c->read_limit.is_of_loop)
        c->read_limit.used_ns = 0;
}

bool sqlite_read_time_limit_end(struct sqlite_conn *c)
{
    struct sqlite_read_time_limit *limit = &c->read_limit;
    bool spent = limit->is_exceeded;

    if (limit->began_ns)
        limit->used_ns += clock_monotonic_ns() - limit->began_ns;
    limit->counts = limit->by_row = limit->is_exceeded = false;
    return spent;
}

bool sqlite_move_read_to_background(struct tx *tx)
{
    struct sqlite_read_time_limit *limit = &((struct sqlite_conn *)tx->connection)->read_limit;

    if (limit->is_of_loop && limit->counts)
        limit->is_exceeded = true;
    return limit->is_exceeded;
}

/* Checks the limit between rows: processing a row may take longer than finding it, and the progress
 * handler does not run between rows. */
bool sqlite_read_time_limit_is_exceeded(struct sqlite_conn *c)
{
    return c->read_limit.by_row && abort_if_read_limit_exceeded(&c->read_limit);
}
