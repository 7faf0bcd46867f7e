/* parts.c - partitions of the log: creates the next one in time and drops old ones.
 *
 * Any node may do this; if several try, the first one succeeds and the others find it done. */
#include "base/log.h"
#include "cluster/internal.h"

struct part_task {
    int64_t part;
    bool done;
};

static const char NOTE_PART[] = "insert into log_parts (part, made_at) "
                                "values ($1, clock_timestamp()) on conflict (part) do nothing";

static enum err make_part(struct tx *tx, void *arg)
{
    const struct part_task *t = arg;
    int64_t made = 0;
    enum err e = tx_exec(tx, NOTE_PART, BIND(v_int(t->part)), &made);

    return e || !made ? e : tx_exec(tx, "select log_make_part($1)", BIND(v_int(t->part)), NULL);
}

/* A partition is created when the previous one is half full. So when partition p + 2 was created, p
 * was complete: all rows of p are older than made_at of p + 2. */
static const char FIND_OLD[] =
    "select p.part from log_parts p join log_parts n on n.part = p.part + 2 "
    "where n.made_at < clock_timestamp() - cast($1 as double precision) * interval '1 minute' "
    "order by p.part limit 1";

static enum err find_old_part(struct tx *tx, void *arg)
{
    struct part_task *t = arg;
    struct rows r;
    enum err e = tx_one(tx, FIND_OLD, BIND(v_int(KEEP_MINUTES)), &r, &t->done);

    t->part = !e && t->done ? row_int(&r, 0) : 0;
    return e;
}

static enum err drop_part(struct tx *tx, void *arg)
{
    const struct part_task *t = arg;

    return tx_exec(tx, "select log_drop_part($1)", BIND(v_int(t->part)), NULL);
}

static enum err find_first_part(struct tx *tx, void *arg)
{
    struct part_task *t = arg;
    struct rows r;
    bool found;
    enum err e = tx_one(tx, "select coalesce(min(part), 0) from log_parts", NO_BIND, &r, &found);

    t->part = e ? 0 : row_int(&r, 0);
    return e;
}

/* A process that was paused for long may find that rows it has not read were dropped: its
 * sessions would miss events without notice. */
static void look_behind(struct cluster *c)
{
    struct part_task first = { 0 };

    if (cluster_run(c, STORE_READ, find_first_part, &first) || c->follow.lost)
        return;
    c->follow.lost = line_next(c->line) < first.part * PART_POSITIONS;
    if (!c->follow.lost)
        return;
    log_error("cluster: the log does not reach back to position %lld, where this server stood",
              (long long)line_next(c->line));
    c->options.lost(c->options.arg);
}

void parts_tend(struct cluster *c)
{
    int64_t next = line_next(c->line);
    struct part_task t = { .part = next / PART_POSITIONS + 1 };

    look_behind(c);
    if (next % PART_POSITIONS > PART_POSITIONS / 2)
        cluster_run(c, STORE_APPEND, make_part, &t);
    if (!cluster_run(c, STORE_READ, find_old_part, &t) && t.done)
        cluster_run(c, STORE_APPEND, drop_part, &t);
}
