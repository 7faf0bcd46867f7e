/* log_partitions.c - partitions of the log: creates the next partition in time and drops old
 * partitions.
 *
 * Any node may create and drop partitions; if several nodes try, the first one succeeds.
 *
 * The log also has messages that users have deleted meanwhile, so old rows must not stay for long.
 * With few events, a partition would stay for weeks, so one node also deletes old rows. With many
 * events, partitions are dropped soon, and deleting rows would cost more than it gains. */
#include <string.h>

#include "base/clock.h"
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
 * was created: all rows of p are older than the time made_at of partition p + 2. */
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

enum err read_first_log_position(struct tx *tx, void *arg)
{
    int64_t *first = arg;

    return tx_read_int(tx, "select coalesce(min(position), 0) from log", NO_BIND, first);
}

/* Stops this node if it has missed log rows, because its sessions would miss events without notice:
 * other nodes may have dropped unread log rows while this process was paused. But if the log never
 * had a row before the next position, missing positions were not dropped: they were aborted, or
 * their transactions are still open. */
enum err stop_node_if_unread_log_rows_dropped(struct cluster *c, bool *ret)
{
    struct delivered_log_entry delivered[DELIVERED_ENTRIES_RECORDED];
    int64_t first = 0, next = log_sequencer_next_position(c->sequencer);
    enum err e = cluster_run_log_transaction(c, STORE_READ, read_first_log_position, &first);

    if (!e && !c->follow.lost && next < first &&
        (c->follow.log_had_rows || log_sequencer_list_delivered_entries(c->sequencer, delivered))) {
        c->follow.lost = true;
        log_error("cluster: the log no longer has the event at position %lld; this node stops",
                  (long long)next);
        c->options.lost(c->options.arg);
    }
    *ret = c->follow.lost;
    return e;
}

/* --- deletion of old rows ------------------------------------------------------------- */

int64_t log_retention_ms = (int64_t)LOG_RETENTION_MINUTES * 60 * 1000;

enum {
    DELETED_PER_HEARTBEAT = 500,
    /* Rows are not deleted if there are more positions than this within the retention time. Their
     * partitions are dropped after two hours at most: (1.5 * PARTITION_POSITIONS / 300 per second)
     * + 15 minutes. */
    DELETION_MAX_POSITIONS = 300 * LOG_RETENTION_MINUTES * 60,
};

static const char DELETE_OLD_ROWS[] = "delete from log where position in (select position from log "
                                      "where position < (select max(position) from log "
                                      "where position <= $1) order by position limit $2)";

static enum err delete_old_rows(struct tx *tx, void *arg)
{
    const int64_t *before = arg;

    return tx_exec(tx, DELETE_OLD_ROWS, BIND(v_int(*before), v_int(DELETED_PER_HEARTBEAT)), NULL);
}

static void record_log_position_sample(struct log_follower *f, int64_t position, int64_t now)
{
    if (f->sample_count && now - f->samples[f->sample_count - 1].at <
                               ms_to_ns(log_retention_ms / LOG_RETENTION_MINUTES))
        return;
    if (f->sample_count == LOG_SAMPLES)
        memmove(f->samples, f->samples + 1, --f->sample_count * sizeof *f->samples);
    f->samples[f->sample_count++] = (struct log_sample){ position, now };
}

/* Deletes rows that were delivered before the retention time. The newest of these rows stays, so
 * that the first position in the log shows which rows were deleted. */
static void delete_rows_after_retention(struct cluster *c)
{
    int64_t now = clock_monotonic_ns(), last = log_sequencer_next_position(c->sequencer) - 1;
    int64_t before = 0, rank, living;

    record_log_position_sample(&c->follow, last, now);
    for (unsigned i = 0; i < c->follow.sample_count; i++)
        if (now - c->follow.samples[i].at >= ms_to_ns(log_retention_ms))
            before = c->follow.samples[i].position;
    cluster_get_node_rank(c, &rank, &living);
    if (before && rank == 0 && last - before <= DELETION_MAX_POSITIONS)
        cluster_run_log_transaction(c, STORE_APPEND, delete_old_rows, &before);
}

void log_partitions_create_and_drop(struct cluster *c)
{
    int64_t next = log_sequencer_next_position(c->sequencer);
    struct partition_task t = { .part = next / PARTITION_POSITIONS + 1 };
    bool dropped;

    stop_node_if_unread_log_rows_dropped(c, &dropped); /* on failure the next heartbeat retries */
    if (next % PARTITION_POSITIONS > PARTITION_POSITIONS / 2)
        cluster_run_log_transaction(c, STORE_APPEND, create_partition, &t);
    if (!cluster_run_log_transaction(c, STORE_READ, read_expired_partition, &t) && t.done)
        cluster_run_log_transaction(c, STORE_APPEND, drop_partition, &t);
    delete_rows_after_retention(c);
}
