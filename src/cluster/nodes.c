/* nodes.c - cluster membership: one row per node, with a heartbeat every second.
 *
 * Times are those of the database's clock, because clocks of nodes may differ. A node without a
 * heartbeat for five seconds is declared dead: other nodes terminate its database connections,
 * which ends its transactions. If the node was only paused, it reconnects, reads the log from its
 * position and delivers the missed events. */
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/test_faults.h"
#include "cluster/internal.h"

struct node_row {
    struct cluster *cluster;
    char name[256];
    int64_t ids_until;
    /* Number of a living node that uses another format of log entries, or 0. */
    int64_t foreign;
    bool others_differ;
};

/* Selects the time up to which ids were generated with a node number. If another host takes over
 * the number and its clock is behind, it must not generate the same ids again. */
static const char SELECT_IDS_UNTIL[] = "select ids_until from nodes where node = $1 and name <> $2";
static const char INSERT_NODE[] =
    "insert into nodes (node, identity, name, state, seen_at, begun_at, ids_until, position, "
    "sessions, version, settings, address, schema, frames) values ($1, $2, $3, 1, "
    "clock_timestamp(), clock_timestamp(), $4, 0, 0, $5, $6, $7, $8, $9) "
    "on conflict (node) do update set "
    "identity = excluded.identity, name = excluded.name, state = 1, seen_at = excluded.seen_at, "
    "begun_at = excluded.begun_at, ids_until = excluded.ids_until, position = 0, sessions = 0, "
    "version = excluded.version, settings = excluded.settings, address = excluded.address, "
    "schema = excluded.schema, frames = excluded.frames, voice = ''";
/* Finds a living node whose format of log entries differs, so that the nodes cannot decode each
 * other's events. */
static const char SELECT_OTHER_FRAME_FORMAT[] =
    "select node from nodes where node <> $1 and state <> 3 and frames not in (0, $2) and "
    "seen_at > clock_timestamp() - cast($3 as double precision) * interval '1 millisecond' limit 1";
static const char SELECT_OTHER_SETTINGS[] =
    "select 1 from nodes where node <> $1 and state = 1 and settings <> $2 limit 1";

static enum err insert_node(struct tx *tx, void *arg)
{
    struct node_row *n = arg;
    const struct cluster *c = n->cluster;
    struct str name = str_of(n->name);
    struct rows r;
    bool found;
    enum err e = tx_one(tx, SELECT_IDS_UNTIL, BIND(v_int(c->node), v_text(name)), &r, &found);

    n->ids_until = !e && found ? row_int(&r, 0) : 0;
    if (!e)
        e = tx_one(tx, SELECT_OTHER_FRAME_FORMAT,
                   BIND(v_int(c->node), v_int(LOG_ENTRY_FORMAT), v_int(NODE_LEASE_MS)), &r, &found);
    n->foreign = !e && found ? row_int(&r, 0) : 0;
    if (e || n->foreign)
        return e;
    if (!e)
        e = tx_exec(tx, INSERT_NODE,
                    BIND(v_int(c->node), v_int(c->identity), v_text(name),
                         v_int(clock_ms() + NODE_LEASE_MS), v_text(str_of(c->options.version)),
                         v_text(c->options.settings), v_text(str_of(c->options.address)),
                         v_int(store_schema_number()), v_int(LOG_ENTRY_FORMAT)),
                    NULL);
    if (!e)
        e = tx_one(tx, SELECT_OTHER_SETTINGS, BIND(v_int(c->node), v_text(c->options.settings)), &r,
                   &n->others_differ);
    return e;
}

static void wait_until_clock_passes(int64_t until_ms)
{
    while (clock_ms() <= until_ms)
        nanosleep(&(struct timespec){ .tv_nsec = 10 * 1000000 }, NULL);
}

enum err cluster_node_register(struct cluster *c)
{
    struct node_row n = { .cluster = c };

    gethostname(n.name, sizeof n.name - 1);
    enum err e = cluster_run_log_transaction(c, STORE_WRITE, insert_node, &n);
    if (e)
        return e;
    if (n.foreign) {
        log_error("cluster: node %lld uses another format of the event log, so its version cannot "
                  "run together with this one; stop the older servers first",
                  (long long)n.foreign);
        return ERR_UNAVAILABLE;
    }
    if (n.others_differ)
        log_warn("cluster: the settings of other nodes differ from those of this node (limits, "
                 "regions and so on), so responses depend on the node; use the same settings");
    wait_until_clock_passes(n.ids_until);
    return OK;
}

static const char UPDATE_HEARTBEAT[] =
    "update nodes set state = 1, seen_at = clock_timestamp(), ids_until = $3, position = $4, "
    "sessions = $5 where node = $1 and identity = $2";
static const char COUNT_NODES[] =
    "select count(*), count(*) filter (where node < $1), "
    "cast(extract(epoch from clock_timestamp()) * 1000 as bigint) from nodes where state = 1";

/* Returns a lower bound of how far this node's clock is ahead of the database's clock; negative if
 * behind. The database read its clock between before_ms and after_ms of this node's clock. */
static int64_t offset_to_database_clock(int64_t before_ms, int64_t database_ms, int64_t after_ms)
{
    if (database_ms < before_ms)
        return before_ms - database_ms;
    return database_ms > after_ms ? after_ms - database_ms : 0;
}

/* Selects how far the clocks of other nodes were ahead of the database's clock at their last
 * heartbeats. Heartbeats from before the database's clock was stepped are excluded. */
static const char SELECT_CLOCK_OFFSETS[] =
    "select ids_until - $2 - cast(extract(epoch from seen_at) * 1000 as bigint) from nodes "
    "where state = 1 and node <> $1 "
    "and abs(extract(epoch from clock_timestamp() - seen_at)) * 1000 < cast($2 as bigint)";

static enum err compare_clock_with_other_nodes(struct cluster *c, struct tx *tx, int64_t offset_ms,
                                               bool *ret_agree)
{
    int64_t others[64]; /* clock offsets of other nodes; at most 64 nodes are compared */
    size_t count = 0;
    struct rows r;
    enum err e = tx_query(tx, SELECT_CLOCK_OFFSETS, BIND(v_int(c->node), v_int(NODE_LEASE_MS)), &r);

    if (e)
        return e;
    while (count < sizeof others / sizeof *others && rows_next(&r))
        others[count++] = row_int(&r, 0);
    *ret_agree = node_clock_is_correct(offset_ms, others, count);
    return rows_end(&r);
}

static void record_clock_offset(struct cluster *c, int64_t offset_ms,
                                const struct database_clock_sample *read_step, bool agrees)
{
    bool was_off = c->clocks.is_off;

    if (database_clock_jumped(&c->clocks, read_step)) {
        c->follow.declare_dead_at = read_step->after + ms_to_ns(2 * NODE_LEASE_MS);
        log_warn("cluster: the database's clock jumped by %lld ms; no node is declared dead for "
                 "%d seconds",
                 (long long)(read_step->database_ms - c->clocks.last.database_ms -
                             (read_step->after - c->clocks.last.after) / 1000000),
                 2 * NODE_LEASE_MS / 1000);
    }
    node_clock_check_record_sample(&c->clocks, read_step, agrees);
    atomic_store(&c->offset_ms, offset_ms);
    atomic_store(&c->clock_off, c->clocks.is_off);
    if (c->clocks.is_off != was_off)
        log_warn("cluster: the clock of this node is %lld ms ahead of the database's%s",
                 (long long)offset_ms,
                 was_off ? "" : "; /readyz fails until both, or most nodes, agree");
}

static enum err update_heartbeat(struct tx *tx, void *arg)
{
    struct cluster *c = arg;
    struct rows r;
    bool found;
    enum err e = tx_exec(tx, UPDATE_HEARTBEAT,
                         BIND(v_int(c->node), v_int(c->identity), v_int(clock_ms() + NODE_LEASE_MS),
                              v_int(log_sequencer_next_position(c->sequencer) - 1),
                              v_int((int64_t)c->options.sessions(c->options.arg))),
                         NULL);

    int64_t before = clock_ms();
    struct database_clock_sample read_step = { .before = clock_monotonic_ns() };
    if (!e)
        e = tx_one(tx, COUNT_NODES, BIND(v_int(c->node)), &r, &found);
    if (e)
        return e;
    read_step.after = clock_monotonic_ns();
    read_step.database_ms = row_int(&r, 2);
    atomic_store(&c->count.nodes, (uint64_t)row_int(&r, 0));
    atomic_store(&c->rank, (uint64_t)row_int(&r, 1));
    int64_t offset = offset_to_database_clock(before, read_step.database_ms, clock_ms());
    bool agree = node_clock_is_correct(offset, NULL, 0);
    if (!agree)
        e = compare_clock_with_other_nodes(c, tx, offset, &agree);
    if (!e)
        record_clock_offset(c, offset, &read_step, agree);
    return e;
}

static const char SELECT_LIVING_NODES[] = "select identity from nodes where state = 1";

struct living_nodes {
    uint32_t identities[1024]; /* at most 1024 nodes */
    size_t count;
};

static enum err read_living_nodes(struct tx *tx, void *arg)
{
    struct living_nodes *n = arg;
    struct rows r;
    enum err e = tx_query(tx, SELECT_LIVING_NODES, NO_BIND, &r);

    n->count = 0;
    if (e)
        return e;
    while (n->count < sizeof n->identities / sizeof *n->identities && rows_next(&r))
        n->identities[n->count++] = (uint32_t)row_int(&r, 0);
    return rows_end(&r);
}

/* Calls options.living, outside of the transaction, because options.living may take long. */
static enum err report_living_nodes(struct cluster *c)
{
    struct living_nodes n;
    enum err e = cluster_run_log_transaction(c, STORE_READ, read_living_nodes, &n);

    if (e)
        return e;
    cluster_nats_announce_log_address_support(c);
    cluster_nats_check_log_address_support(c, n.identities, n.count);
    c->options.living(c->options.arg, n.identities, n.count);
    return OK;
}

/* abs() also finds heartbeats in the future, from before the database's clock was set back. */
static const char UPDATE_DEAD_NODES[] =
    "update nodes set state = 3 where node in (select node from nodes where state = 1 and "
    "abs(extract(epoch from clock_timestamp() - seen_at)) * 1000 > cast($1 as bigint) "
    "order by node limit $2) returning node, identity";
static const char TERMINATE_NODE_CONNECTIONS[] =
    "select count(pg_terminate_backend(pid)) from server_connections where identity = $1";

static enum err declare_nodes_dead(struct tx *tx, void *arg)
{
    /* Maximum number of nodes declared dead per heartbeat; more wait for the next heartbeat. */
    enum { AT_ONCE = 16 };
    int64_t dead[AT_ONCE][2];
    size_t count = 0;
    struct rows r;
    bool found;
    enum err e = tx_query(tx, UPDATE_DEAD_NODES, BIND(v_int(NODE_LEASE_MS), v_int(AT_ONCE)), &r);

    (void)arg;
    if (e)
        return e;
    for (; count < AT_ONCE && rows_next(&r); count++) {
        dead[count][0] = row_int(&r, 0);
        dead[count][1] = row_int(&r, 1);
    }
    e = rows_end(&r);
    for (size_t i = 0; i < count && !e; i++) {
        if (!test_fault_is_enabled(TEST_FAULT_NO_FENCING))
            e = tx_one(tx, TERMINATE_NODE_CONNECTIONS, BIND(v_int(dead[i][1])), &r, &found);
        if (!e)
            log_warn("cluster: node %lld sent no heartbeat for %d seconds and is declared dead",
                     (long long)dead[i][0], NODE_LEASE_MS / 1000);
    }
    return e;
}

/* Returns whether this node may declare other nodes dead. If this node could not reach the database
 * for almost a lease period, it declares no node dead for two lease periods, because other nodes
 * may have had the same problem and may reconnect later. */
static bool may_declare_nodes_dead(struct cluster *c)
{
    int64_t now = clock_monotonic_ns();

    if (c->follow.last_heartbeat_at &&
        now - c->follow.last_heartbeat_at > ms_to_ns(NODE_LEASE_MS - 2 * HEARTBEAT_INTERVAL_MS))
        c->follow.declare_dead_at = now + ms_to_ns(2 * NODE_LEASE_MS);
    c->follow.last_heartbeat_at = now;
    return now >= c->follow.declare_dead_at;
}

/* Logs a warning if too many nodes poll the log. Each node that polls reads each log entry: with
 * ten nodes 205 statements per message were measured. */
static void warn_if_too_many_nodes_poll(struct cluster *c)
{
    uint64_t nodes = atomic_load(&c->count.nodes);

    if (c->options.bus.n || nodes <= POLLING_NODES_MAX || c->follow.warned_of_polling)
        return;
    c->follow.warned_of_polling = true;
    log_warn(
        "cluster: %llu nodes poll the database (bus = poll), which is meant for at most %d; use "
        "NATS (bus = nats://...)",
        (unsigned long long)nodes, POLLING_NODES_MAX);
}

enum err cluster_node_write_heartbeat(struct cluster *c)
{
    enum err e = cluster_run_log_transaction(c, STORE_APPEND, update_heartbeat, c);

    if (!e)
        warn_if_too_many_nodes_poll(c);
    if (!e && may_declare_nodes_dead(c))
        e = cluster_run_log_transaction(c, STORE_APPEND, declare_nodes_dead, c);
    if (!e && c->options.living)
        e = report_living_nodes(c);
    return e;
}

static const char UPDATE_NODE_POSITION[] = "update nodes set position = $3, ids_until = $4, "
                                           "seen_at = clock_timestamp() "
                                           "where node = $1 and identity = $2";

static enum err update_node_log_position(struct tx *tx, void *arg)
{
    struct cluster *c = arg;

    return tx_exec(tx, UPDATE_NODE_POSITION,
                   BIND(v_int(c->node), v_int(c->identity),
                        v_int(log_sequencer_next_position(c->sequencer) - 1),
                        v_int(clock_ms() + NODE_LEASE_MS)),
                   NULL);
}

enum err cluster_node_publish_log_position(struct cluster *c)
{
    return cluster_run_log_transaction(c, STORE_APPEND, update_node_log_position, c);
}

static const char SELECT_LEAST_POSITION[] =
    "select coalesce(min(position), cast(9223372036854775807 as bigint)) from nodes "
    "where node <> $1 and state = 1";

struct least_position {
    unsigned node;
    int64_t position;
};

static enum err read_least_log_position(struct tx *tx, void *arg)
{
    struct least_position *l = arg;
    int64_t n = 0;
    enum err e = tx_read_int(tx, SELECT_LEAST_POSITION, BIND(v_int(l->node)), &n);

    if (!e)
        l->position = n;
    return e;
}

enum err read_least_log_position_of_nodes(struct cluster *c, int64_t *ret)
{
    struct least_position l = { .node = c->node };
    enum err e = cluster_run_log_transaction(c, STORE_READ, read_least_log_position, &l);

    *ret = l.position;
    return e;
}

static enum err delete_node(struct tx *tx, void *arg)
{
    const struct cluster *c = arg;

    return tx_exec(tx, "delete from nodes where node = $1 and identity = $2",
                   BIND(v_int(c->node), v_int(c->identity)), NULL);
}

void cluster_node_unregister(struct cluster *c)
{
    cluster_run_log_transaction(c, STORE_APPEND, delete_node, c);
}
