/* history.c - whether the database still has what was told.
 *
 * A standby that takes over without having been synchronous may lack what was acknowledged and told
 * last, and gives the same positions again. So with each new connection the last frames that were
 * told are looked for in the log. What is gone cannot be taken back from sessions: they begin anew,
 * at servers that begin anew. */
#include "base/hash.h"
#include "base/log.h"
#include "cluster/internal.h"

struct history_look {
    size_t count;
    struct line_told told[LINE_REMEMBERED];
    int64_t gone; /* the first position that is not what was told; or 0 */
};

static const char FIND_FIRST[] = "select coalesce(min(position), 0) from log";
static const char FIND_TOLD[] = "select position, body from log where position between $1 and $2";

/* Whether the rows, one after the other, have it. */
static void history_compare(struct history_look *h, const struct rows *r, bool *kept)
{
    for (size_t i = 0; i < h->count; i++)
        if (h->told[i].position == row_int(r, 0))
            kept[i] = hash_str(row_bytes(r, 1)) == h->told[i].hash;
}

/* Old parts of the log are dropped: what is older than all of it proves nothing. */
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

/* No session from before goes on anywhere, and no position that was told is given again. */
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
