/* id_order.c - makes ids of a stream (the messages of a channel) visible in increasing order.
 *
 * A transaction creates ids before it commits, so a transaction with a smaller id may commit after
 * one with a greater id, and a client that reads the ids after the greatest one that it knows would
 * never see the smaller one. So the last statement before the COMMIT, in the same round trip, takes
 * a lock of the stream until the commit and compares the new ids with the last committed one. If
 * the committed id is greater, the transaction fails and runs again with a new id; in a cluster,
 * often only its writes run again (group.c). The snapshot of the transaction cannot show the last
 * committed id, so it is stored in a sequence (migration 0106).
 *
 * The lock is taken last and in the order of parts, so a transaction that holds it waits for no
 * other lock, and there are no deadlocks. Readers wait for nothing. Streams with the same hash
 * share a part: they wait for each other's commits and may repeat a transaction without need.
 *
 * If no other node shares the database, retries are avoided: a transaction waits before its commit
 * until those that created an id of the same part earlier have ended, at most EARLIER_ID_WAIT_MS,
 * because an earlier transaction may wait for a row lock of the later one. Transactions are ordered
 * by their first id, so they cannot wait for each other in a circle. With several nodes the wait
 * would cause more conflicts than it avoids: with a database 5 ms away and 16 writers, 160 instead
 * of 100 retries of 1,100 messages.
 *
 * Other nodes create ids with their own clocks. After a conflict this process continues after the
 * committed id, unless that is more than CLOCK_DIFFERENCE_MAX_MS ahead: then the clock of the node
 * that created the committed id is wrong, and its ids have no order. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/snowflake.h"
#include "store/postgres/pipeline.h"

enum {
    ID_ORDER_PARTS = 64, /* number of parts into which streams are hashed; equal to the number of
                          * sequences that migration 0106 creates */
    /* In ms: a committed id that is further in the future was created with a wrong clock. Four
     * times the clock difference above which a node reports that it is not ready. */
    CLOCK_DIFFERENCE_MAX_MS = 1000,
    EARLIER_ID_WAIT_MS = 100,
    ID_TEXT_MAX = 3 * 21, /* characters of three numbers with separators */
};

static const char COMMIT_IN_ID_ORDER[] =
    "select commit_in_id_order(cast(cast($1 as text) as bigint[]), cast($2 as bigint))";

/* --- order within this process ------------------------------------------------------------ */

void postgres_id_order_init(struct id_order *order)
{
    pthread_condattr_t attributes;

    pthread_mutex_init(&order->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&order->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    linked_list_init(&order->open);
}

void postgres_id_order_clear(struct id_order *order)
{
    pthread_cond_destroy(&order->changed);
    pthread_mutex_destroy(&order->lock);
}

static unsigned get_id_range_of_stream(uint64_t stream)
{
    return (unsigned)(hash_u64(stream) % ID_ORDER_PARTS);
}

void postgres_record_created_stream_id(struct tx *tx, uint64_t stream, uint64_t id)
{
    struct id_order *order = &container_of(tx->store, struct postgres, store)->id_order;
    struct postgres_conn *c = tx->connection;

    pthread_mutex_lock(&order->lock);
    if (!c->ids.parts) {
        linked_list_append(&order->open, &c->ids.link);
        c->ids.first = id;
    }
    c->ids.parts |= UINT64_C(1) << get_id_range_of_stream(stream);
    pthread_mutex_unlock(&order->lock);
}

void postgres_wake_waiters_for_earlier_ids(struct postgres *p, struct postgres_conn *c)
{
    if (!c->ids.parts) /* .parts is read without the lock, because only this thread changes it */
        return;
    pthread_mutex_lock(&p->id_order.lock);
    linked_list_remove(&c->ids.link);
    c->ids.parts = 0;
    pthread_cond_broadcast(&p->id_order.changed);
    pthread_mutex_unlock(&p->id_order.lock);
}

static bool transactions_with_earlier_ids_are_open(const struct id_order *order,
                                                   const struct postgres_conn *c)
{
    for (const struct list_link *at = order->open.next; at != &order->open; at = at->next) {
        const struct postgres_conn *other = container_of(at, struct postgres_conn, ids.link);

        if (other != c && other->ids.first < c->ids.first && other->ids.parts & c->ids.parts)
            return true;
    }
    return false;
}

static void wait_for_earlier_ids(struct id_order *order, const struct postgres_conn *c)
{
    int64_t until = clock_monotonic_ns() + (int64_t)EARLIER_ID_WAIT_MS * 1000000;
    struct timespec at = { .tv_sec = until / 1000000000, .tv_nsec = (long)(until % 1000000000) };
    int timed_out = 0;

    pthread_mutex_lock(&order->lock);
    while (!timed_out && transactions_with_earlier_ids_are_open(order, c))
        timed_out = pthread_cond_timedwait(&order->changed, &order->lock, &at);
    pthread_mutex_unlock(&order->lock);
}

/* --- order among all processes -------------------------------------------------------------- */

struct id_range {
    uint64_t least, greatest; /* smallest and greatest id that a transaction created in the streams
                               * of one part; greatest is 0 if there are no ids */
};

static void id_ranges_add_work_item(struct id_range *ranges, const struct work_item *work)
{
    for (const struct created_stream_id *o = work->ordered_ids; o; o = o->next) {
        struct id_range *r = &ranges[get_id_range_of_stream(o->stream)];

        if (!r->greatest || o->id < r->least)
            r->least = o->id;
        if (o->id > r->greatest)
            r->greatest = o->id;
    }
}

/* Returns all id ranges as the text of an SQL array; an empty text if there are no ids. */
static struct str encode_id_ranges(struct arena *arena, const struct id_range *ranges)
{
    struct buf text;

    buf_init(&text, ID_ORDER_PARTS * ID_TEXT_MAX);
    for (unsigned part = 0; part < ID_ORDER_PARTS; part++)
        if (ranges[part].greatest)
            buf_printf(&text, "%c%u,%llu,%llu", text.n ? ',' : '{', part,
                       (unsigned long long)ranges[part].least,
                       (unsigned long long)ranges[part].greatest);
    if (text.n)
        buf_add_lit(&text, "}");
    struct str copy = str_dup(arena, buf_as_str(&text));
    buf_clear(&text);
    return copy;
}

enum err postgres_enqueue_id_order_check(struct tx *tx, struct work_item *const *works,
                                         unsigned count)
{
    struct postgres_conn *c = tx->connection;
    struct id_range ranges[ID_ORDER_PARTS] = { 0 };
    bool any = false;

    for (unsigned i = 0; i < count; i++) {
        id_ranges_add_work_item(ranges, works[i]);
        any = any || works[i]->ordered_ids;
    }
    if (!any)
        return OK;
    struct postgres *p = container_of(tx->store, struct postgres, store);
    if (!p->shared)
        wait_for_earlier_ids(&p->id_order, c);
    struct str text = encode_id_ranges(tx_arena(tx), ranges);
    snowflake far_future = snowflake_from_ms(clock_ms() + CLOCK_DIFFERENCE_MAX_MS);
    enum err e = postgres_enqueue_last_write_statement(
        tx, COMMIT_IN_ID_ORDER, BIND(v_text(text), v_int((int64_t)far_future)));
    /* An id conflict is not the fault of a single work item. */
    if (!e)
        c->queued[c->queued_count - 1].work = NULL;
    return e;
}

void postgres_skip_ids_after_order_conflict(struct postgres_conn *c,
                                            const struct pipeline_failure *f)
{
    const char *state = f->result ? pq.resultErrorField(f->result, PG_DIAG_SQLSTATE) : NULL;

    if (f->sql != COMMIT_IN_ID_ORDER || !state || strcmp(state, "40001") != 0)
        return;
    const char *last_id = pq.resultErrorField(f->result, PG_DIAG_MESSAGE_PRIMARY);
    snowflake_set_minimum(strtoull(last_id ? last_id : "0", NULL, 10));
    c->ids.conflict = true;
}
