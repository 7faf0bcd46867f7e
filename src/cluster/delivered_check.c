/* delivered_check.c - checks after each reconnect that the database still has the delivered log
 * entries.
 *
 * After a failover, a standby without synchronous replication may lack the last commits, and assign
 * the same log positions to other commits. So the last delivered entries are compared with the log.
 * Delivered events cannot be revoked: if some of them are missing in the log, this node stops, and
 * clients must IDENTIFY again. */
#include "base/hash.h"
#include "base/log.h"
#include "cluster/internal.h"

struct delivered_check {
    size_t count;
    struct delivered_log_entry delivered[DELIVERED_ENTRIES_RECORDED];
    /* First delivered log position whose log row is missing or changed; 0 if there is none. */
    int64_t gone;
};

static const char SELECT_FIRST_POSITION[] = "select coalesce(min(position), 0) from log";
static const char SELECT_DELIVERED[] =
    "select position, body from log where position between $1 and $2";

/* Marks the delivered entry at the position of the log row if both have the same content. */
static void mark_entry_found_in_log(struct delivered_check *h, const struct rows *r, bool *retained)
{
    for (size_t i = 0; i < h->count; i++)
        if (h->delivered[i].position == row_int(r, 0))
            retained[i] = hash_str(row_bytes(r, 1)) == h->delivered[i].hash;
}

/* Compares delivered entries with the log. Positions before the first row of the log are ignored,
 * because old partitions of the log are dropped. */
static enum err compare_delivered_entries_with_log(struct tx *tx, void *arg)
{
    struct delivered_check *h = arg;
    bool retained[DELIVERED_ENTRIES_RECORDED] = { false }, found;
    struct rows r;
    enum err e = tx_one(tx, SELECT_FIRST_POSITION, NO_BIND, &r, &found);
    int64_t first = e ? 0 : row_int(&r, 0);

    h->gone = 0;
    if (!e)
        e = tx_query(
            tx, SELECT_DELIVERED,
            BIND(v_int(h->delivered[0].position), v_int(h->delivered[h->count - 1].position)), &r);
    if (e)
        return e;
    while (rows_next(&r))
        mark_entry_found_in_log(h, &r, retained);
    for (size_t i = 0; i < h->count && !h->gone; i++)
        if (!retained[i] && h->delivered[i].position >= first)
            h->gone = h->delivered[i].position;
    return rows_end(&r);
}

/* Makes all sessions of the cluster unresumable, because they may have received lost events. Then
 * makes sure that new log entries get positions that were never delivered. */
static enum err reset_after_lost_log_entries(struct tx *tx, void *arg)
{
    const struct cluster *c = arg;
    enum err e = tx_exec(tx, "delete from session_homes", NO_BIND, NULL);

    if (!e)
        e = tx_exec(tx, "select setval('log_position', $1) from log_position where last_value < $1",
                    BIND(v_int(log_sequencer_next_position(c->sequencer))), NULL);
    return e;
}

enum err stop_node_if_log_lacks_delivered_entries(struct cluster *c)
{
    unsigned connections = store_connection_count_connects(c->side);
    struct delivered_check h;

    if (c->follow.lost || connections == c->follow.checked_connections)
        return OK;
    h.count = log_sequencer_list_delivered_entries(c->sequencer, h.delivered);
    enum err e =
        h.count ? cluster_run_log_transaction(c, STORE_READ, compare_delivered_entries_with_log, &h)
                : OK;
    if (!e && h.count && h.gone) {
        log_error("cluster: the database lost the committed event %lld, as after a failover to a "
                  "standby without the last commits or a restored backup; this server stops, and "
                  "clients must identify again",
                  (long long)h.gone);
        e = cluster_run_log_transaction(c, STORE_WRITE, reset_after_lost_log_entries, c);
        if (!e) {
            c->follow.lost = true;
            c->options.lost(c->options.arg);
        }
    }
    if (!e)
        c->follow.checked_connections = connections;
    return e;
}
