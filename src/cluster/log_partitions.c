/* log_partitions.c - partitions of the log: creates the next one in time and drops old ones.
 *
 * Any node may do this work. If several try, the first succeeds, and the others find nothing to do.
 */
#include "base/log.h"
#include "cluster/internal.h"

struct partition_task {
    int64_t part;
    bool done;
};

static const char INSERT_PARTITION[] =
    "insert into log_parts (part, made_at) "
    "values ($1, clock_timestamp()) on conflict (part) do nothing";

static enum err create_partition(struct tx *tx, void *arg)
{
    const struct partition_task *t = arg;
    int64_t made = 0;
    enum err e = tx_exec(tx, INSERT_PARTITION, BIND(v_int(t->part)), &made);

    return e || !made ? e : tx_exec(tx, "select log_make_part($1)", BIND(v_int(t->part)), NULL);
}

/* Partition p + 1 is created when partition p is half full. So partition p was full before p + 2
 * was created, and all rows of p are older than made_at of p + 2. */
static const char SELECT_OLD_PARTITION[] =
    "select p.part from log_parts p join log_parts n on n.part = p.part + 2 "
    "where n.made_at < clock_timestamp() - cast($1 as double precision) * interval '1 minute' "
    "order by p.part limit 1";

static enum err read_expired_partition(struct tx *tx, void *arg)
{
    struct partition_task *t = arg;
    struct rows r;
    enum err e = tx_one(tx, SELECT_OLD_PARTITION, BIND(v_int(LOG_RETENTION_MINUTES)), &r, &t->done);

    t->part = !e && t->done ? row_int(&r, 0) : 0;
    return e;
}

static enum err drop_partition(struct tx *tx, void *arg)
{
    const struct partition_task *t = arg;

    return tx_exec(tx, "select log_drop_part($1)", BIND(v_int(t->part)), NULL);
}

static enum err read_first_partition(struct tx *tx, void *arg)
{
    struct partition_task *t = arg;
    int64_t n = 0;
    enum err e = tx_read_int(tx, "select coalesce(min(part), 0) from log_parts", NO_BIND, &n);

    t->part = e ? 0 : n;
    return e;
}

/* While this process was paused, other nodes may have dropped log rows that it has not read. Then
 * its sessions would miss events without notice, so this node stops. */
static void stop_if_unread_rows_were_dropped(struct cluster *c)
{
    struct partition_task first = { 0 };

    if (cluster_run_transaction(c, STORE_READ, read_first_partition, &first) || c->follow.lost)
        return;
    c->follow.lost = log_sequencer_next_position(c->sequencer) < first.part * PARTITION_POSITIONS;
    if (!c->follow.lost)
        return;
    log_error("cluster: the log no longer has the event at position %lld; this node stops",
              (long long)log_sequencer_next_position(c->sequencer));
    c->options.lost(c->options.arg);
}

void log_partitions_maintain(struct cluster *c)
{
    int64_t next = log_sequencer_next_position(c->sequencer);
    struct partition_task t = { .part = next / PARTITION_POSITIONS + 1 };

    stop_if_unread_rows_were_dropped(c);
    if (next % PARTITION_POSITIONS > PARTITION_POSITIONS / 2)
        cluster_run_transaction(c, STORE_APPEND, create_partition, &t);
    if (!cluster_run_transaction(c, STORE_READ, read_expired_partition, &t) && t.done)
        cluster_run_transaction(c, STORE_APPEND, drop_partition, &t);
}
