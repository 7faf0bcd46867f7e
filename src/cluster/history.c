/* history.c - checks after each reconnect that the database still has the frames that were
 * delivered.
 *
 * A standby without synchronous replication may lack the last commits after a failover, and
 * assign their positions again. So the last delivered frames are compared with the log.
 * Delivered events cannot be taken back: if some are missing, this server stops and sessions
 * start again. */
#include "base/hash.h"
#include "base/log.h"
#include "cluster/internal.h"

struct history_look {
    size_t count;
    struct line_told told[LINE_REMEMBERED];
    int64_t gone; /* first position that differs; or 0 */
};

static const char FIND_FIRST[] = "select coalesce(min(position), 0) from log";
static const char FIND_TOLD[] = "select position, body from log where position between $1 and $2";

/* Marks the delivered frame that this row contains. */
static void history_compare(struct history_look *h, const struct rows *r, bool *kept)
{
    for (size_t i = 0; i < h->count; i++)
        if (h->told[i].position == row_int(r, 0))
            kept[i] = hash_str(row_bytes(r, 1)) == h->told[i].hash;
}

/* Old partitions of the log are dropped, so positions before its first row are ignored. */
static enum err history_read(struct tx *tx, void *arg)
{
    struct history_look *h = arg;
    bool kept[LINE_REMEMBERED] = { false }, found;
    struct rows r;
    enum err e = tx_one(tx, FIND_FIRST, NO_BIND, &r, &found);
    int64_t first = e ? 0 : row_int(&r, 0);

    h->gone = 0;
    if (!e)
        e = tx_query(tx, FIND_TOLD,
                     BIND(v_int(h->told[0].position), v_int(h->told[h->count - 1].position)), &r);
    if (e)
        return e;
    while (rows_next(&r))
        history_compare(h, &r, kept);
    for (size_t i = 0; i < h->count && !h->gone; i++)
        if (!kept[i] && h->told[i].position >= first)
            h->gone = h->told[i].position;
    return rows_end(&r);
}

/* Makes all existing sessions unresumable, and skips the positions that were delivered. */
static enum err history_end(struct tx *tx, void *arg)
{
    const struct cluster *c = arg;
    enum err e = tx_exec(tx, "delete from session_homes", NO_BIND, NULL);

    if (!e)
        e = tx_exec(tx, "select setval('log_position', $1) from log_position where last_value < $1",
                    BIND(v_int(line_next(c->line))), NULL);
    return e;
}

enum err history_look(struct cluster *c)
{
    unsigned connections = store_side_connections(c->side);
    struct history_look h;

    if (c->follow.lost || connections == c->follow.looked_back)
        return OK;
    h.count = line_told(c->line, h.told);
    enum err e = h.count ? cluster_run(c, STORE_READ, history_read, &h) : OK;
    if (!e && h.count && h.gone) {
        log_error("cluster: the database does not have what was told at position %lld: it has gone "
                  "back, as a standby does that lacks the last commits, or a restored backup; this "
                  "server ends, and sessions begin anew",
                  (long long)h.gone);
        e = cluster_run(c, STORE_WRITE, history_end, c);
        if (!e) {
            c->follow.lost = true;
            c->options.lost(c->options.arg);
        }
    }
    if (!e)
        c->follow.looked_back = connections;
    return e;
}
