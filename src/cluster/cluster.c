/* cluster.c - joins and leaves the cluster, publishes log entries, delivers them on this node. */
#include "cluster/cluster.h"

#include <sodium.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/test_faults.h"
#include "cluster/internal.h"

enum { READY_MAX_LAG_MS = 5000, START_TIMEOUT_MS = 10000 };

/* Delivers voice changes. Must be called before the events of the log entry are delivered, so that
 * a muted user is silent before clients are notified. fact.claim identifies a socket of the node
 * that wrote the entry, so it is cleared on other nodes. */
static void deliver_voice_changes(struct cluster *c, const struct log_entry *f)
{
    for (const struct voice_state_change *v = f->voices; v; v = v->next) {
        struct relay_voice_state fact = v->state;

        if (f->origin != c->identity)
            fact.claim = 0;
        c->options.voice(c->options.arg, &fact);
    }
}

static void deliver_log_entry(void *arg, int64_t position, const struct log_entry *f)
{
    struct cluster *c = arg;

    /* Revocations of this node took effect when they were committed, so only handle others. */
    if (f->origin != c->identity && f->revocations) {
        for (const struct revocation_record *o = f->revocations; o; o = o->next)
            c->options.revoke(c->options.arg, o);
        atomic_store(&c->to_ack, position);
        /* Wake the log thread, because the node that revoked the credential waits for an
         * acknowledgement of this node. */
        log_follower_wake(c);
    }
    deliver_voice_changes(c, f);
    if (f->announced &&
        !(f->origin == c->identity && test_fault_is_enabled(TEST_FAULT_EARLY_EVENTS)))
        c->options.publish_events(c->options.arg, position, f->announced);
    /* Deliver a session move after all events of earlier entries, so that the session has received
     * these events. */
    if (f->move && (f->move->from == c->identity || f->move->to == c->identity))
        c->options.move(c->options.arg, f->move);
}

static bool node_needs_log_entry(void *arg, const struct log_entry_address *a)
{
    const struct cluster *c = arg;

    return !test_fault_is_enabled(TEST_FAULT_NO_SUBSCRIPTIONS) &&
           interest_set_matches_log_address(c->interest, a);
}

static void skip_log_entry(void *arg, int64_t position, const struct log_entry_address *a)
{
    struct cluster *c = arg;

    atomic_fetch_add(&c->count.passed_over, 1);
    c->options.pass_over(c->options.arg, position, a);
}

void cluster_append_log_entry(struct cluster *c, struct tx *tx, struct log_entry f)
{
    f.origin = c->identity;
    if (test_fault_is_enabled(TEST_FAULT_EARLY_EVENTS) && f.announced)
        c->options.publish_events(c->options.arg, 0, f.announced);
    if (!log_entry_must_be_stored(&f))
        return;
    struct str bytes = log_entry_encode(&f, tx_arena(tx)), recipients = STR("");
    struct log_entry_address address;
    if (!c->options.alone && log_address_from_entry(&f, bytes, &address))
        recipients = log_recipients_encode(&address, tx_arena(tx));
    tx_set_event_log_row(tx, bytes, recipients);
}

static void offer_local_log_entry(struct cluster *c, const struct work_item *w,
                                  const struct log_entry *f)
{
    atomic_fetch_add(&c->count.frames_own, 1);
    if (c->options.alone) {
        /* Missing positions were aborted, because with SQLite this process is the only writer. */
        log_sequencer_abort_missing(c->sequencer, w->position - 1);
        log_sequencer_offer_entry(c->sequencer, w->position, w->log, f);
        return;
    }
    cluster_nats_publish_log_entry(c, w->position, w->log, f);
    log_sequencer_offer_entry(c->sequencer, w->position, w->log, f);
    /* If an earlier position is missing, another node has assigned it. Read the log, which has the
     * entry or will have it soon. */
    if (log_sequencer_next_position(c->sequencer) <= w->position)
        log_follower_wake_soon(c);
}

/* Called when the transaction of a log position was aborted. Offers the position to the sequencer
 * immediately, so that later entries need not wait until the log is read. */
static void on_log_position_aborted(void *arg, int64_t position)
{
    struct cluster *c = arg;

    log_sequencer_offer_entry(c->sequencer, position, STR(""), NULL);
}

/* Publishes transient events. They are not in the event log, so a node that misses the message
 * never receives them. */
static void publish_transient_events(struct cluster *c, struct log_entry *f)
{
    if (atomic_load(&c->nats.connected)) {
        struct arena *arena = arena_new();

        cluster_nats_publish_log_entry(c, 0, log_entry_encode(f, arena), f);
        arena_free(arena);
    }
    c->options.publish_events(c->options.arg, 0, f->announced);
}

void cluster_publish_log_entry(struct cluster *c, const struct work_item *w, struct log_entry f)
{
    f.origin = c->identity;
    if (!w->position) {
        if (f.announced)
            publish_transient_events(c, &f);
        return;
    }
    offer_local_log_entry(c, w, &f);
}

void cluster_append_session_move_to_log(struct cluster *c, struct tx *tx,
                                        const struct session_move_message *m)
{
    struct log_entry f = { .origin = c->identity, .move = m };

    tx_set_event_log_row(tx, log_entry_encode(&f, tx_arena(tx)), STR(""));
}

void cluster_publish_session_move(struct cluster *c, const struct work_item *w,
                                  const struct session_move_message *m)
{
    struct log_entry f = { .origin = c->identity, .move = m };

    if (w->position)
        offer_local_log_entry(c, w, &f);
}

uint32_t cluster_node_identity(const struct cluster *c)
{
    return c->identity;
}

bool cluster_has_no_other_nodes(const struct cluster *c)
{
    return c->options.alone;
}

int64_t cluster_delivered_position(const struct cluster *c)
{
    return log_sequencer_next_position(c->sequencer) - 1;
}

void cluster_add_interest_in_guild_or_user(struct cluster *c, enum audience_kind kind, snowflake id)
{
    if (c->interest)
        interest_set_add_guild_or_user(c->interest, log_address_key(kind, id));
}

void cluster_remove_interest_in_guild_or_user(struct cluster *c, enum audience_kind kind,
                                              snowflake id)
{
    if (c->interest)
        interest_set_remove_guild_or_user(c->interest, log_address_key(kind, id));
}

void cluster_stop_after_lost_events(struct cluster *c)
{
    c->options.lost(c->options.arg);
}

static enum err read_next_log_position(struct tx *tx, void *arg)
{
    int64_t *next = arg;
    struct rows r;
    bool found;
    enum err e = tx_one(tx, "select last_value, is_called from log_position", NO_BIND, &r, &found);

    if (!e)
        *next = row_int(&r, 0) + row_bool(&r, 1);
    if (!e && *next > LOG_POSITION_MAX / 10 * 9)
        log_warn(
            "cluster: position %lld of the event log is near the limit of %lld, at which writes "
            "fail; move the data to a new database (guildhall move)",
            (long long)*next, (long long)LOG_POSITION_MAX);
    return e;
}

/* Finds the next position of the event log, and waits until all transactions with earlier positions
 * have ended, so that every later read of the database sees their writes. */
static enum err find_log_position_to_start(struct cluster *c, int64_t *ret)
{
    struct str bound;
    bool ended = false;
    int64_t since = clock_monotonic_ns();
    enum err e = cluster_run_log_transaction(c, STORE_READ, read_next_log_position, ret);

    if (!e)
        e = begin_transaction_and_read_id(c, c->arena, &bound);
    while (!e && !ended) {
        e = check_or_end_older_transactions(c, bound, false, &ended);
        if (!ended)
            nanosleep(&(struct timespec){ .tv_nsec = 2 * 1000000 }, NULL);
        if (!ended && clock_monotonic_ns() - since > ms_to_ns(START_TIMEOUT_MS)) {
            log_error("cluster: cannot start while a transaction of another node is open");
            e = ERR_UNAVAILABLE;
        }
    }
    return e;
}

static enum err read_position_after_log_end(struct tx *tx, void *arg)
{
    int64_t *next = arg;
    int64_t n = 0;
    enum err e = tx_read_int(tx, "select coalesce(max(position), 0) from log", NO_BIND, &n);

    if (!e)
        *next = n + 1;
    return e;
}

static enum err join_as_single_node(struct cluster *c, int64_t *ret)
{
    c->identity = 1 + randombytes_uniform(UINT32_MAX - 1);
    atomic_store(&c->count.nodes, 1);
    return store_run_transaction_and_wait(c->options.store, STORE_READ, c->arena,
                                          read_position_after_log_end, ret);
}

static enum err join_cluster(struct cluster *c, int64_t *ret)
{
    int64_t first = 0;

    c->identity = store_process_identity(c->options.store);
    c->node = node_number_of_process_identity(c->identity);
    c->side = store_connection_new(c->options.store);
    enum err e = cluster_node_register(c);
    if (!e)
        e = find_log_position_to_start(c, ret);
    if (!e)
        e = cluster_run_log_transaction(c, STORE_READ, read_first_log_position, &first);
    c->follow.log_had_rows = first && first < *ret;
    return e ? e : cluster_nats_open(c);
}

static void init_wakeup_condition(struct cluster *c)
{
    pthread_condattr_t attr;

    pthread_mutex_init(&c->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&c->woken, &attr);
    pthread_condattr_destroy(&attr);
}

enum err cluster_open(const struct cluster_options *options, struct cluster **ret)
{
    struct cluster *c = mem_new(sizeof *c);
    int64_t next = 0;

    c->options = *options;
    c->arena = arena_new();
    c->gap_check.arena = arena_new();
    linked_list_init(&c->waits);
    init_wakeup_condition(c);
    enum err e = options->alone ? join_as_single_node(c, &next) : join_cluster(c, &next);
    if (e) {
        log_error("cluster: cannot register this server as node %u in the database", c->node);
        cluster_close(c);
        return e;
    }
    if (!options->alone)
        c->interest = interest_set_new(cluster_nats_set_subscribed_to_part, c);
    struct log_entry_sink sink = { c, deliver_log_entry, node_needs_log_entry, skip_log_entry };
    c->sequencer = log_sequencer_new(&sink, next);
    if (!options->alone)
        log_sequencer_enable_delivered_list(c->sequencer);
    store_set_aborted_log_position_callback(options->store, on_log_position_aborted, c);
    *ret = c;
    return OK;
}

void cluster_start(struct cluster *c)
{
    if (c->options.alone)
        return;
    /* Declare no node dead for two lease periods, because this node has not observed heartbeats of
     * other nodes yet. */
    c->follow.declare_dead_at = clock_monotonic_ns() + ms_to_ns(2 * NODE_LEASE_MS);
    if (pthread_create(&c->thread, NULL, log_follower_thread, c) != 0) {
        log_error("cluster: cannot start the thread that follows the event log");
        abort();
    }
    c->has_thread = true;
    cluster_nats_start(c);
}

void cluster_close(struct cluster *c)
{
    if (!c)
        return;
    store_set_aborted_log_position_callback(c->options.store, NULL, NULL);
    pthread_mutex_lock(&c->lock);
    c->ending = true;
    pthread_cond_signal(&c->woken);
    pthread_mutex_unlock(&c->lock);
    if (c->has_thread)
        pthread_join(c->thread, NULL);
    cluster_nats_close(c); /* close NATS only after the log thread, which uses it, has ended */
    if (c->sequencer && c->side)
        cluster_node_unregister(c);
    log_sequencer_free(c->sequencer);
    interest_set_free(c->interest);
    store_connection_free(c->side);
    pthread_cond_destroy(&c->woken);
    pthread_mutex_destroy(&c->lock);
    arena_free(c->gap_check.arena);
    arena_free(c->arena);
    mem_free(c);
}

void cluster_get_node_rank(const struct cluster *c, int64_t *ret_rank, int64_t *ret_living)
{
    uint64_t living = atomic_load(&c->count.nodes), rank = atomic_load(&c->rank);

    *ret_living = living > 1 ? (int64_t)living : 1;
    *ret_rank = rank < living ? (int64_t)rank : 0;
}

static int64_t log_lag_ms(const struct cluster *c)
{
    int64_t fresh_at = atomic_load(&c->fresh_at);

    return fresh_at ? (clock_monotonic_ns() - fresh_at) / 1000000 : READY_MAX_LAG_MS;
}

bool cluster_is_ready(const struct cluster *c)
{
    return !log_sequencer_unreadable_count(c->sequencer) &&
           (c->options.alone || (log_lag_ms(c) < READY_MAX_LAG_MS && !atomic_load(&c->clock_off)));
}

enum {
    PEER_HEARTBEAT_MAX_AGE_MS = 2000,
    /* Additional time for an outage of the database that affects all nodes, because some nodes
     * reconnect later than others. */
    RECONNECT_SLACK_MS = 6000,
};

void cluster_record_heartbeat_of_other_node(struct cluster *c)
{
    int64_t now = clock_monotonic_ns();

    if (now - atomic_load(&c->nats.peer_heartbeat_at) > ms_to_ns(PEER_HEARTBEAT_MAX_AGE_MS))
        atomic_store(&c->nats.peer_heartbeats_since, now);
    atomic_store(&c->nats.peer_heartbeat_at, now);
}

bool cluster_node_is_isolated(const struct cluster *c)
{
    int64_t now = clock_monotonic_ns();

    if (!c->nats.nats || !atomic_load(&c->fresh_at) || log_lag_ms(c) < READY_MAX_LAG_MS ||
        c->count.nodes < 2)
        return false;
    return !atomic_load(&c->nats.connected) ||
           (now - atomic_load(&c->nats.peer_heartbeat_at) < ms_to_ns(PEER_HEARTBEAT_MAX_AGE_MS) &&
            now - atomic_load(&c->nats.peer_heartbeats_since) > ms_to_ns(RECONNECT_SLACK_MS));
}

unsigned cluster_count_unconnected_nodes(const struct cluster *c)
{
    uint64_t nodes = atomic_load_explicit(&c->count.nodes, memory_order_relaxed);

    return atomic_load(&c->nats.connected) || nodes < 1 ? 1 : (unsigned)nodes;
}

void cluster_read_stats(const struct cluster *c, struct cluster_stats *ret)
{
    *ret = (struct cluster_stats){
        .position = log_sequencer_next_position(c->sequencer) - 1,
        .frames_own = c->count.frames_own,
        .frames_read = c->count.frames_read,
        .bytes_read = c->count.bytes_read,
        .gaps = c->count.gaps,
        .aborted = c->count.aborted,
        .unreadable = log_sequencer_unreadable_count(c->sequencer),
        .behind_ms = c->options.alone ? 0 : (uint64_t)log_lag_ms(c),
        .nodes = c->count.nodes,
        .offset_ms = c->offset_ms,
        .frames_received = c->nats.received,
        .frames_refused = c->nats.refused,
        .passed_over = c->count.passed_over,
        .entries_received = c->nats.entries_received,
        .entry_bytes_received = c->nats.entry_bytes_received,
        .sends_by_address = c->nats.all_use_addresses,
        .has_wire = c->nats.nats,
        .connected = c->nats.connected,
    };
}
