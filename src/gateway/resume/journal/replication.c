/* replication.c - sends the records of this node's journal to its replica. */
#include "gateway/resume/journal/replication.h"

#include <limits.h>

#include "base/mem.h"
#include "base/test_faults.h"
#include "base/serial.h"
#include "cluster/cluster.h"
#include "gateway/resume/journal/replica.h"
#include "gateway/resume/journal/journal_file.h"
#include "gateway/sessions/registry.h"

enum {
    MESSAGE_MAX_BYTES = 1 << 20,
    HELLO_MAX_BYTES = 64,
    /* A replication message is sent immediately when it has this size in bytes. */
    SEND_AT_BYTES = 256 * 1024,
    ROUND_TICKS = 10,       /* seconds */
    RESEND_PAUSE_TICKS = 3, /* seconds between two full resends after lost messages */
    STEP_MS = 250,
    ROUND_STEPS = ROUND_TICKS * 1000 / STEP_MS,
    STEP_MIN_SESSIONS = 256,     /* minimum number of sessions per step */
    STEP_MAX_BYTES = 512 * 1024, /* maximum number of bytes per step */
    /* No session is resent while more bytes than this are waiting to be sent to NATS. */
    ROUND_MAX_UNSENT_BYTES = 1 << 20,
};

void append_replica_message_header(struct buf *out, uint32_t identity, unsigned hub,
                                   uint64_t message, uint64_t position)
{
    serialize_u64(out, REPLICA_RECORDS);
    serialize_u64(out, identity);
    serialize_u64(out, JOURNAL_MAGIC);
    serialize_u64(out, hub);
    serialize_u64(out, message);
    serialize_u64(out, position);
}

void append_whole_session_record(struct buf *out, uint64_t number, const struct journal_slot *slot,
                                 uint64_t hub_position)
{
    serialize_u64(out, RECORD_WHOLE_SESSION);
    serialize_u64(out, number);
    serialize_u64(out, journal_slot_last_sent_event(slot, hub_position));
    buf_add(out, (const void *)slot, offsetof(struct journal_slot, presence));
    serialize_bytes(out, str_slice(slot->presence, slot->presence_n));
}

bool append_sent_events_record(struct buf *out, uint64_t number, const struct journal_slot *slot,
                               uint64_t after)
{
    uint64_t count = slot->seq - after;

    if (count >= JOURNAL_SENT_MAX)
        return false;
    if (test_fault_is_enabled(TEST_FAULT_EMPTY_REPLICA))
        return true;
    serialize_u64(out, RECORD_SENT_EVENTS);
    serialize_u64(out, number);
    serialize_u64(out, slot->seq);
    serialize_u64(out, count);
    for (uint64_t seq = after + 1; seq <= slot->seq; seq++)
        serialize_u64(out, slot->sent[seq % JOURNAL_SENT_MAX]);
    return true;
}

void append_session_end_record(struct buf *out, uint64_t number)
{
    serialize_u64(out, RECORD_SESSION_END);
    serialize_u64(out, number);
}

/* Sends the collected records and the loop's event position. Position 0 leaves the replica's
 * position unchanged; it is used if sessions with newer events have unsent records. */
static void replication_send_message(struct journal_replication_of_loop *c, uint64_t position)
{
    const struct gateway *g = c->gateway_loop->gateway;
    struct buf message;

    buf_init(&message, MESSAGE_MAX_BYTES);
    append_replica_message_header(&message, cluster_node_identity(g->cluster),
                                  loop_get_index(c->gateway_loop->loop), ++c->messages, position);
    buf_add_str(&message, buf_as_str(&c->out));
    buf_reset(&c->out);
    /* A message whose buffer overflowed is not sent. The replica notices the gap in the message
     * numbers, as if NATS had lost the message. */
    if (!buf_is_full(&message))
        cluster_send_message_to_node(g->cluster, c->node, CLUSTER_LEDGERS, buf_as_str(&message));
    buf_clear(&message);
}

static void append_unsent_records_of_session(struct journal_replication_of_loop *c,
                                             struct session *s)
{
    struct session_cluster_state *sync = session_get_or_create_cluster_state(s);

    linked_list_remove(&sync->unreplicated);
    if (!s->resume.slot)
        return;
    if (sync->whole ||
        !append_sent_events_record(&c->out, s->number, s->resume.slot, sync->replicated_seq))
        append_whole_session_record(&c->out, s->number, s->resume.slot, c->gateway_loop->position);
    sync->whole = false;
    sync->replicated_seq = s->seq;
    if (c->out.n >= SEND_AT_BYTES)
        replication_send_message(c, 0);
}

static void discard_unsent_records(struct journal_replication_of_loop *c)
{
    while (!linked_list_is_empty(&c->unsent))
        linked_list_remove(c->unsent.next);
    buf_reset(&c->out);
}

void journal_replication_send_unsent_records(struct gateway_loop *h)
{
    struct journal_replication_of_loop *c = h->resume.replication;

    if (!c || (linked_list_is_empty(&c->unsent) && !c->out.n))
        return;
    if (!c->node) {
        discard_unsent_records(c);
        return;
    }
    while (!linked_list_is_empty(&c->unsent))
        append_unsent_records_of_session(
            c, container_of(c->unsent.next, struct session_cluster_state, unreplicated)->session);
    replication_send_message(c, h->position);
}

void journal_replication_mark_session_unsent(struct session *s)
{
    if (s->sync)
        s->sync->whole = true;
    if (s->resume.slot)
        journal_replication_mark_records_unsent(s);
}

void journal_replication_send_session_now(struct session *s)
{
    struct journal_replication_of_loop *c = s->gateway_loop->resume.replication;

    if (!c || !c->node || !s->resume.slot)
        return;
    session_get_or_create_cluster_state(s)->whole = true;
    append_unsent_records_of_session(c, s);
    /* send the record now, before the session's next loop can send records */
    replication_send_message(c, 0);
}

void journal_replication_record_session_end(struct session *s)
{
    struct journal_replication_of_loop *c = s->gateway_loop->resume.replication;

    if (s->sync)
        linked_list_remove(&s->sync->unreplicated);
    if (!c || !c->node || !s->resume.slot)
        return;
    append_session_end_record(&c->out, s->number);
    if (c->out.n >= SEND_AT_BYTES)
        replication_send_message(c, 0);
}

/* Returns the approximate size of a whole session in a message, in bytes. */
static size_t session_record_size(const struct session *s)
{
    return offsetof(struct journal_slot, presence) +
           (s->resume.slot ? s->resume.slot->presence_n : 0);
}

/* Marks the next session as unsent and moves it to the end of the loop's list. Returns false if all
 * sessions were marked in this full resend. */
static bool resend_round_mark_next_session(struct journal_replication_of_loop *c, size_t *bytes)
{
    struct list_link *list = &c->gateway_loop->sessions;

    if (linked_list_is_empty(list))
        return false;
    struct session *s = container_of(list->next, struct session, link);
    if (session_get_or_create_cluster_state(s)->round == c->round)
        return false;
    s->sync->round = c->round;
    linked_list_remove(&s->link);
    linked_list_append(list, &s->link);
    journal_replication_mark_session_unsent(s);
    *bytes += session_record_size(s);
    c->marked++;
    return true;
}

/* Marks sessions as unsent. The number of sessions per step is chosen so that a full resend of as
 * many sessions as last time takes about ROUND_TICKS seconds. */
bool journal_replication_mark_sessions_to_resend(struct journal_replication_of_loop *c,
                                                 size_t unsent)
{
    size_t size = c->marked > c->round_size ? c->marked : c->round_size;
    size_t share = size / ROUND_STEPS + 1, bytes = 0;

    if (share < STEP_MIN_SESSIONS)
        share = STEP_MIN_SESSIONS;
    if (unsent > ROUND_MAX_UNSENT_BYTES)
        return true;
    for (; share && bytes < STEP_MAX_BYTES; share--)
        if (!resend_round_mark_next_session(c, &bytes)) {
            c->round_size = c->marked;
            return false;
        }
    return true;
}

static void resend_round_continue(struct journal_replication_of_loop *c)
{
    const struct gateway *g = c->gateway_loop->gateway;

    c->round_runs =
        !g->draining && c->node &&
        journal_replication_mark_sessions_to_resend(c, cluster_count_unsent_nats_bytes(g->cluster));
    if (c->round_runs)
        deadline_restart(c->steps, &c->step);
}

static void on_resend_round_step_due(struct deadline *d)
{
    resend_round_continue(container_of(d, struct journal_replication_of_loop, step));
}

/* Begins a full resend ("round"), which marks all sessions as unsent. If a full resend is running,
 * it is replaced by the new one, and its timer continues. */
static void resend_round_begin(struct journal_replication_of_loop *c)
{
    c->round++;
    c->ticks = 0;
    c->marked = 0;
    if (c->restart_due)
        c->pause_ticks = RESEND_PAUSE_TICKS;
    c->restart_due = false;
    if (!c->round_runs)
        resend_round_continue(c);
}

struct journal_replication_of_loop *journal_replication_new(struct gateway_loop *h)
{
    struct journal_replication_of_loop *c;

    if (!h->gateway->replica)
        return NULL;
    c = mem_new(sizeof *c);
    c->gateway_loop = h;
    c->round = 1;
    c->steps = deadline_list_new(h->loop, STEP_MS, false, on_resend_round_step_due);
    linked_list_init(&c->unsent);
    buf_init(&c->out, MESSAGE_MAX_BYTES);
    return c;
}

void journal_replication_free(struct journal_replication_of_loop *c)
{
    if (!c)
        return;
    deadline_list_free(c->steps);
    buf_clear(&c->out);
    mem_free(c);
}

struct replication_tick {
    struct loop_message post;
    struct gateway_loop *gateway_loop;
    uint32_t node;
    bool restart;
};

/* Returns whether a full resend must begin. If the replica has lost messages, the next full resend
 * begins after a pause, because more messages would overload a node that loses messages already. */
bool journal_replication_must_start_resending(struct journal_replication_of_loop *c, bool restart)
{
    c->restart_due |= restart;
    if (!restart) {
        c->ticks++;
        c->pause_ticks -= c->pause_ticks > 0;
    }
    if (c->restart_due)
        return !c->pause_ticks;
    return c->ticks >= ROUND_TICKS && !c->round_runs;
}

static void set_replica_node(struct journal_replication_of_loop *c, uint32_t node)
{
    c->node = node;
    c->messages = 0;
    c->restart_due = true;
    resend_round_begin(c);
}

/* Runs once a second: sends the loop's event position even if there are no records to send. */
static void on_replication_tick(struct loop_message *post)
{
    struct replication_tick *t = container_of(post, struct replication_tick, post);
    struct journal_replication_of_loop *c = t->gateway_loop->resume.replication;

    if (!t->restart && c->node != t->node)
        set_replica_node(c, t->node);
    else if (journal_replication_must_start_resending(c, t->restart))
        resend_round_begin(c);
    journal_replication_send_unsent_records(t->gateway_loop);
    if (c->node)
        replication_send_message(c, t->gateway_loop->position);
    atomic_store(&t->gateway_loop->gateway->replicated_by, c->node);
    mem_free(t);
}

/* Needs the lock g->publishing. */
static void post_replication_tick(struct gateway *g, unsigned hub, uint32_t node, bool restart)
{
    struct replication_tick *t = mem_new(sizeof *t);

    *t = (struct replication_tick){ .post.run = on_replication_tick,
                                    .gateway_loop = g->gateway_loops[hub],
                                    .node = node,
                                    .restart = restart };
    loop_post_message(t->gateway_loop->loop, &t->post);
}

/* Calls on_replication_tick once on each of the loops with indexes from `from` to `to` - 1. */
static void post_replication_ticks(struct gateway *g, unsigned from, unsigned to, uint32_t node,
                                   bool restart)
{
    pthread_mutex_lock(&g->publishing);
    for (unsigned i = from; g->replica && !g->draining && i < to && i < g->gateway_loop_count; i++)
        post_replication_tick(g, i, node, restart);
    pthread_mutex_unlock(&g->publishing);
}

static void publish_replica_hello(struct gateway *g)
{
    struct buf message;

    buf_init(&message, HELLO_MAX_BYTES);
    append_replica_hello(&message, cluster_node_identity(g->cluster));
    cluster_send_message_to_all_nodes(g->cluster, CLUSTER_LEDGERS, buf_as_str(&message));
    buf_clear(&message);
}

void journal_replication_on_live_nodes_changed(struct gateway *g, const uint32_t *identities,
                                               size_t count)
{
    if (!g->replica)
        return;
    publish_replica_hello(g);
    post_replication_ticks(
        g, 0, UINT_MAX,
        choose_replica_node(g->replica, cluster_node_identity(g->cluster), identities, count),
        false);
}

void journal_replication_resend_all_loops(struct gateway *g)
{
    if (!g->replica)
        return;
    publish_replica_hello(g);
    post_replication_ticks(g, 0, UINT_MAX, 0, true);
}

void journal_replication_resend_loop(struct gateway *g, unsigned hub)
{
    if (g->replica)
        post_replication_ticks(g, hub, hub + 1, 0, true);
}
