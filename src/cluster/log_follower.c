/* log_follower.c - the thread that reads the event log and does periodic work.
 *
 * The thread reads the log from the next undelivered position on. Entries of
 * this node, and those that came through NATS, have usually been delivered already.
 * It reads the position and the recipients of each entry, but the entry itself only if one of its
 * guilds and users may have a session on this node. If a session starts between the read and the
 * turn of an entry, the position counts as missing and is read again.
 *
 * Concurrent commits of one node often cause gaps of missing positions, most of which close within
 * a millisecond. So a gap triggers a read only after 2 ms. */
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/test_faults.h"
#include "cluster/internal.h"

enum {
    READ_INTERVAL_ALONE_MS = 50, /* interval of log reads in ms, without other nodes */
    /* Interval of log reads in ms, with other nodes and while NATS is connected. */
    READ_INTERVAL_NATS_MS = 50,
    /* Interval of log reads in ms, with other nodes but without NATS. */
    READ_INTERVAL_IDLE_MS = 10,
    /* Replaces READ_INTERVAL_IDLE_MS while other nodes commit, or a reply waits for them. */
    READ_INTERVAL_BUSY_MS = 2,
    /* Time in ms for which other nodes count as busy after one of their log entries. */
    BUSY_AFTER_FRAME_MS = 200,
    LOG_PAGE_ROWS = 512,
    WAIT_AFTER_FAILURE_MS = 100,
};

void log_follower_wake(struct cluster *c)
{
    pthread_mutex_lock(&c->lock);
    c->wake_now = true;
    pthread_cond_signal(&c->woken);
    pthread_mutex_unlock(&c->lock);
}

void log_follower_wake_soon(struct cluster *c)
{
    int64_t at = clock_monotonic_ns() + ms_to_ns(READ_INTERVAL_BUSY_MS),
            missing = log_sequencer_next_position(c->sequencer);

    pthread_mutex_lock(&c->lock);
    if (!c->inspect) {
        c->inspect = at;
        c->search_for = missing;
        pthread_cond_signal(&c->woken);
    }
    pthread_mutex_unlock(&c->lock);
}

struct page_read {
    struct cluster *cluster;
    int64_t last;
    uint64_t count, bytes;
};

/* $3: the parts of this node (interest_set_copy_nats_parts). */
static const char SELECT_LOG_PAGE[] =
    "select position, case when log_recipients_include(recipients, $3) then body end, recipients "
    "from log where position >= $1 order by position limit $2";

/* Offers a row of the log. body is empty if the transaction was aborted, or if this node had no
 * session of the recipients when the log was read. */
static void offer_log_row(struct cluster *c, int64_t position, struct str body,
                          struct str recipients)
{
    struct log_entry_address address;
    bool addressed = recipients.n && log_recipients_decode(recipients, &address);

    if (addressed)
        log_sequencer_offer_address_of_entry(c->sequencer, position, &address, STR(""));
    else if (recipients.n && !body.n)
        body = recipients; /* counts as an entry that cannot be decoded */
    if (body.n || !addressed)
        log_sequencer_offer_entry(c->sequencer, position, body, NULL);
}

static enum err read_page_of_log_rows(struct tx *tx, void *arg)
{
    struct page_read *p = arg;
    struct cluster *c = p->cluster;
    unsigned char parts[LOG_PARTS / 8];
    struct rows r;

    p->last = 0;
    p->count = p->bytes = 0;
    interest_set_copy_nats_parts(c->interest, parts);
    enum err e =
        tx_query(tx, SELECT_LOG_PAGE,
                 BIND(v_int(log_sequencer_next_position(c->sequencer)), v_int(LOG_PAGE_ROWS),
                      v_bytes(str_slice((const char *)parts, sizeof parts))),
                 &r);
    if (e)
        return e;
    for (; rows_next(&r); p->count++) {
        p->last = row_int(&r, 0);
        p->bytes += row_bytes(&r, 1).n;
        offer_log_row(c, p->last, row_bytes(&r, 1), row_bytes(&r, 2));
    }
    return rows_end(&r);
}

enum err log_follower_read_page(struct cluster *c, int64_t *ret_last, bool *ret_more)
{
    struct page_read p = { .cluster = c };
    bool reads =
        !test_fault_is_enabled(TEST_FAULT_NO_LOG_FOLLOWER) || !atomic_load(&c->nats.connected);

    arena_reset(c->arena);
    enum err e = reads ? cluster_run_log_transaction(c, STORE_READ, read_page_of_log_rows, &p) : OK;
    *ret_last = p.last;
    *ret_more = p.count == LOG_PAGE_ROWS;
    atomic_fetch_add(&c->count.frames_read, p.count);
    atomic_fetch_add(&c->count.bytes_read, p.bytes);
    return e;
}

/* Called after a log query that was sent at the time `asked`. Its result contains all revocations
 * that were committed before `asked`. Credentials that are still cached after these revocations
 * were valid at the time `asked`. */
static void record_time_of_log_read(struct cluster *c, int64_t asked, int64_t last)
{
    if (last && log_sequencer_next_position(c->sequencer) <= last)
        return;
    atomic_store(&c->fresh_at, asked);
    c->options.credentials_valid_until(c->options.arg, asked + ms_to_ns(CREDENTIALS_FRESH_MS));
}

static enum err read_log_to_end(struct cluster *c)
{
    int64_t last;
    bool more = true;

    while (more) {
        int64_t asked = clock_monotonic_ns();
        enum err e = log_follower_read_page(c, &last, &more);

        if (e)
            return e;
        if (last)
            c->follow.busy_until = asked + ms_to_ns(BUSY_AFTER_FRAME_MS);
        if (!more)
            record_time_of_log_read(c, asked, last);
        /* Do not read the next page if this page begins after a gap, because it was not delivered.
         */
        more = more && log_sequencer_next_position(c->sequencer) > last;
    }
    return OK;
}

static enum err run_heartbeat_if_due(struct cluster *c)
{
    int64_t now = clock_monotonic_ns();

    if (now - c->follow.beat_at < ms_to_ns(HEARTBEAT_INTERVAL_MS))
        return OK;
    c->follow.beat_at = now;
    enum err e = cluster_node_write_heartbeat(c);
    if (!e)
        log_partitions_create_and_drop(c);
    if (!e && store_has_postponed_migrations(c->options.store))
        store_connection_apply_postponed_migrations(
            c->side); /* on failure the next heartbeat retries */
    return e;
}

/* Stops this node if the database schema is newer than this program: while this process was paused,
 * newer nodes may have applied a migration. Afterwards this node cannot connect, and its sessions
 * continue on other nodes. */
static void stop_if_schema_is_newer(struct cluster *c)
{
    if (c->follow.lost || !store_schema_is_too_new(c->options.store))
        return;
    c->follow.lost = true;
    c->options.lost(c->options.arg);
}

/* Publishes the log position up to which this node has applied revocations. Nodes that revoked a
 * credential wait for it. */
static enum err acknowledge_revocations(struct cluster *c)
{
    int64_t to_ack = atomic_load(&c->to_ack);

    if (to_ack <= c->follow.acked)
        return OK;
    enum err e = cluster_node_publish_log_position(c);
    if (!e)
        c->follow.acked = to_ack;
    return e;
}

static struct timespec timespec_from_ns(int64_t ns)
{
    return (struct timespec){ .tv_sec = ns / 1000000000, .tv_nsec = (long)(ns % 1000000000) };
}

/* Sleeps until the time `until`, or until log_follower_wake was called; returns whether it was. */
static bool sleep_until_time_or_woken(struct cluster *c, int64_t until)
{
    pthread_mutex_lock(&c->lock);
    while (!c->wake_now && !c->ending) {
        int64_t first = c->inspect && c->inspect < until ? c->inspect : until;
        struct timespec at = timespec_from_ns(first);

        if (clock_monotonic_ns() >= first)
            break;
        pthread_cond_timedwait(&c->woken, &c->lock, &at);
    }
    bool hurried = c->wake_now;
    c->follow.missed = c->inspect && clock_monotonic_ns() >= c->inspect ? c->search_for : 0;
    c->wake_now = false;
    c->inspect = 0;
    pthread_mutex_unlock(&c->lock);
    return hurried;
}

static bool cluster_thread_must_end(struct cluster *c)
{
    pthread_mutex_lock(&c->lock);
    bool ending = c->ending;
    pthread_mutex_unlock(&c->lock);
    return ending;
}

/* Returns the interval between two periodic reads of the log, in ms. */
static int64_t log_read_interval_ms(struct cluster *c)
{
    if (atomic_load(&c->count.nodes) == 1)
        return READ_INTERVAL_ALONE_MS;
    if (atomic_load(&c->nats.connected))
        return READ_INTERVAL_NATS_MS;
    return clock_monotonic_ns() < c->follow.busy_until ? READ_INTERVAL_BUSY_MS
                                                       : READ_INTERVAL_IDLE_MS;
}

static bool log_read_is_due(struct cluster *c)
{
    return clock_monotonic_ns() >= c->follow.follow_at ||
           log_gap_age_ns(c) >= ms_to_ns(READ_INTERVAL_BUSY_MS) ||
           c->follow.missed == log_sequencer_next_position(c->sequencer);
}

/* Does all work of the log thread that is due. Returns the time of the next run. */
static int64_t log_follower_run_once(struct cluster *c, bool hurried)
{
    enum err e = OK;

    if (hurried || log_read_is_due(c)) {
        e = read_log_to_end(c);
        c->follow.follow_at = clock_monotonic_ns() + ms_to_ns(log_read_interval_ms(c));
    }
    if (!e)
        e = stop_node_if_log_lacks_delivered_entries(c);
    if (!e)
        e = acknowledge_revocations(c);
    if (!e)
        e = run_heartbeat_if_due(c);
    if (e)
        stop_if_schema_is_newer(c);
    /* Also done if NATS is not connected, so that counts do not accumulate. */
    if (c->options.bus.n)
        c->options.send_counts(c->options.arg);
    c->options.publish_passed_over(c->options.arg);
    bool missing = !e && log_gap_run_next_resolution_step(c);
    bool waited = cluster_finish_log_position_waits(c);
    if (e && !waited)
        c->follow.follow_at = clock_monotonic_ns() + ms_to_ns(WAIT_AFTER_FAILURE_MS);
    int64_t soon = clock_monotonic_ns() + ms_to_ns(READ_INTERVAL_BUSY_MS);
    return (missing || waited) && soon < c->follow.follow_at ? soon : c->follow.follow_at;
}

void *log_follower_thread(void *arg)
{
    struct cluster *c = arg;
    bool hurried = true;

    while (!cluster_thread_must_end(c))
        hurried = sleep_until_time_or_woken(c, log_follower_run_once(c, hurried));
    return NULL;
}
