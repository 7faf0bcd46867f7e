/* session_request.c - requests a session from its owner node, or takes the data of a stopped node.
 *
 * The store says which node owns the session. A node that is alive gets a release request through
 * the event log, so the request has a log position. A node that was stopped has suspended the
 * session; a node that crashed has left a journal, and with NATS a replica of it on another node.
 * Any node may take over a session that is stored as a row, even one that was released to another
 * node: otherwise a client that changes nodes quickly would never get its session.
 *
 * The store decides, not the replies of nodes: a reply only triggers the next store read. The store
 * is read up to 24 times, every 250 ms or when a reply arrives.
 *
 * With NATS a client waits at most about a second. An owner that does not reply for OWNER_REPLY_MS
 * is treated as dead. From the second read on, this node asks all nodes for a replica; a node
 * without a replica says so. The session has ended if no node has a replica, or if the nodes that
 * may have one did not reply within REPLICA_REPLY_MS. Without NATS only the store knows whether the
 * owner is dead. */
#include "base/clock.h"
#include "base/mem.h"
#include "base/test_faults.h"
#include "cluster/cluster.h"
#include "gateway/fanout/event_bus.h"
#include "gateway/resume/session_transfer.h"
#include "gateway/resume/journal/event_log.h"
#include "gateway/resume/journal/session_owner.h"
#include "gateway/resume/journal/owner_rows.h"
#include "gateway/resume/journal/replica.h"
#include "gateway/resume/missed_events.h"
#include "gateway/resume/crash_recovery.h"
#include "gateway/resume/resume.h"
#include "gateway/resume/session_serialization.h"
#include "gateway/resume/suspended_rows.h"
#include "gateway/sessions/registry.h"

enum {
    STORE_READS_MAX = 24, /* maximum number of store reads, 250 ms apart */
    OWNER_REPLY_MS = 700, /* time for which this node waits for a reply of the session's owner */
    /* Replaces OWNER_REPLY_MS if the owner replies through NATS, so it is alive but slow. */
    SLOW_OWNER_MS = 3000,
    REPLICA_REPLY_MS = 700, /* time for which this node waits for nodes that may have a replica */
    /* Replaces REPLICA_REPLY_MS if one node has replied that its replica has too few events. */
    OTHER_REPLICA_MS = 400,
    REPLICA_RECONNECT_MS = 3000, /* replaces REPLICA_REPLY_MS while NATS is not connected */
};

enum { REFUSALS_MAX = 3, REPLICA_REQUEST_BYTES = 64 };

enum request_state {
    REQUEST_WAITING,
    REQUEST_FOUND_SUSPENDED, /* restored from a suspended row */
    /* the session was recovered from the journal of a crashed node, or from a replica */
    REQUEST_FOUND_CRASHED,
    REQUEST_SESSION_ENDED, /* the session has ended */
};

struct session_request {
    struct list_link link; /* link in the loop's list resume.requests */
    struct session_transfer *transfer;
    struct deadline deadline; /* time of the next store read */
    struct session_store_read store_read;
    uint64_t seen; /* number of the last event that the session was sent */
    /* Number of the last event that this loop had begun when it began to retain events. */
    uint64_t begun;
    struct missed_event_range missed; /* range of the event log after `seen`, up to `begun` */
    struct session_interest interest; /* used while the missed events are read */
    unsigned reads;                   /* number of store reads so far */
    /* reading: a store read is running. reply_received: a reply came since the read began. */
    bool reading, reply_received;
    uint32_t asked; /* node to which the release request was sent, or 0 */
    /* owner for whose replicas this node asked all nodes, or 0 */
    uint32_t replicas_of;
    /* owner to whose sessions the replies in without_copy refer */
    uint32_t without_copy_of;
    int64_t asked_ms, replicas_asked_ms; /* times of these two requests */
    /* a node has replied that its replica has too few events (JOURNAL_SEQ_MISSING) */
    bool is_short;
    unsigned refusals;
    struct map
        /* nodes that replied that they have no replica: a set, key and value are equal */
        without_copy;
    /* Computed before each store read. owner_replies: the owner is in without_copy. no_copies: all
     * other nodes that store replicas are in without_copy. */
    bool owner_replies, no_copies;
    bool abandoned; /* the client's connection is closed, so the session stays in the store */
    /* The following fields are results of the last store read, except `copy`. */
    struct session_move_message release_request;
    enum request_state state;
    bool sends_request;
    bool unfit;       /* the replica that a node has sent is unusable (JOURNAL_UNUSABLE) */
    bool misses;      /* missed events must be read from the event log */
    struct str bytes; /* the serialised session, in the arena of the store read */
    struct buf copy;  /* copy of `bytes` while the event log is read */
};

static void session_request_begin_store_read(struct session_request *q);

/* Checks that the event log still has all missed events. These are the events after the last event
 * that the session was sent, up to the first event that this loop retains. For a recovered session
 * the last sent event is read again, because the crash may have interrupted its delivery. This
 * function only checks; the events are read later, outside the write transaction. */
static enum err check_log_has_missed_events(struct session_request *q, struct tx *tx)
{
    const struct gateway *g = q->store_read.gateway_loop->gateway;
    bool recovered = q->state == REQUEST_FOUND_CRASHED;

    if (!serialized_session_read_last_sent_event(q->bytes, &q->seen) ||
        (q->seen >= q->begun && !recovered))
        return OK;
    uint64_t last = recovered && q->seen > q->begun ? q->seen : q->begun;
    q->missed = missed_event_range_init(q->seen, last, recovered);
    q->missed.settled = (int64_t)(q->begun >> EVENT_NUMBER_BITS);
    int64_t first = 0, end = 0;
    enum err e = read_event_log_range(tx, &first, &end);
    /* The journal of a crashed single node may be ahead of the event log. Then a backup of the
     * database was restored after the crash, and the session has ended. This is detected only on a
     * single node, which compares the journal with the log as it was at its start; in a cluster
     * other nodes may have extended the log since. */
    bool alone = cluster_has_no_other_nodes(g->cluster);
    int64_t known = alone ? (int64_t)(g->first_number >> EVENT_NUMBER_BITS) : end;
    bool log_is_older = recovered && known < q->missed.at + 1;
    q->misses = !e && !log_is_older && !missed_events_are_deleted_from_log(&q->missed, first);
    if (!e && !q->misses)
        q->state = REQUEST_SESSION_ENDED;
    return e;
}

/* If the store has the session as a suspended row, takes over the session. */
static enum err take_over_suspended_session(struct session_request *q, const struct gateway *g,
                                            struct tx *tx, const struct session_owner *owner)
{
    const struct resume_request *r = q->transfer->resumption;
    uint32_t me = cluster_node_identity(g->cluster);
    bool changed = true;
    enum err e = suspended_session_row_read_and_delete(tx, r->number, r->authentication.caller.id,
                                                       clock_ms(), &q->bytes);

    if (!e && q->bytes.n && owner->identity != me)
        e = session_owner_row_compare_and_set(tx, r->number, owner->identity, me, &changed);
    if (e || !q->bytes.n)
        return e;
    q->state = changed ? REQUEST_FOUND_SUSPENDED : REQUEST_WAITING;
    return changed ? check_log_has_missed_events(q, tx) : OK;
}

static void create_release_request(struct session_request *q, const struct gateway *g,
                                   struct tx *tx, uint32_t identity)
{
    const struct resume_request *r = q->transfer->resumption;

    q->release_request = (struct session_move_message){ .kind = MOVE_REQUEST,
                                                        .from = identity,
                                                        .to = cluster_node_identity(g->cluster),
                                                        .number = r->number };
    memcpy(q->release_request.id, r->id, sizeof q->release_request.id);
    cluster_append_session_move_to_log(g->cluster, tx, &q->release_request);
    q->sends_request = true;
}

/* Takes over the session, or ends it, if its owner crashed. Sets *ret to whether the owner is known
 * to be dead; then no release request is sent to it. */
static enum err take_over_session_of_crashed_node(struct session_request *q, struct tx *tx,
                                                  uint32_t identity, bool silent, bool *ret)
{
    const struct gateway *g = q->store_read.gateway_loop->gateway;
    const struct resume_request *r = q->transfer->resumption;
    enum journal_find_result answer;
    enum err e = take_over_crashed_session(g, tx, r, identity, silent, &answer, &q->bytes);

    q->unfit = answer == JOURNAL_UNUSABLE;
    q->is_short = q->is_short || answer == JOURNAL_SEQ_MISSING;
    *ret = answer == JOURNAL_INSUFFICIENT || answer == JOURNAL_FOUND;
    if (e || !*ret)
        return e;
    q->state = answer == JOURNAL_FOUND ? REQUEST_FOUND_CRASHED : REQUEST_SESSION_ENDED;
    if (answer == JOURNAL_FOUND)
        e = check_log_has_missed_events(q, tx);
    if (!e && answer == JOURNAL_FOUND && q->state == REQUEST_SESSION_ENDED)
        e = session_owner_row_delete(tx, r->number, cluster_node_identity(g->cluster));
    /* If the owner was only paused, it reads this release request later and learns that it no
     * longer owns the session. */
    if (!e && silent && q->asked != identity)
        create_release_request(q, g, tx, identity);
    return e;
}

/* Returns whether the owner did not reply in time. If the owner is alive but slow, it learns later
 * that it has lost the session. */
static bool session_owner_does_not_reply(const struct session_request *q,
                                         const struct session_owner *owner)
{
    return !owner->alive ||
           (owner->identity == q->asked &&
            clock_steady_ms() - q->asked_ms >= (q->owner_replies ? SLOW_OWNER_MS : OWNER_REPLY_MS));
}

static void send_replica_request(const struct session_request *q, uint32_t identity)
{
    const struct gateway *g = q->store_read.gateway_loop->gateway;
    const struct resume_request *r = q->transfer->resumption;
    struct buf question;

    buf_init(&question, REPLICA_REQUEST_BYTES);
    append_replica_request(&question, identity, r->number, r->seq,
                           cluster_node_identity(g->cluster));
    cluster_send_message_to_all_nodes(g->cluster, CLUSTER_LEDGERS, buf_as_str(&question));
    buf_clear(&question);
}

static bool nats_is_connected(const struct session_request *q)
{
    const struct gateway *g = q->store_read.gateway_loop->gateway;

    return cluster_count_unconnected_nodes(g->cluster) == 1;
}

/* Returns whether a node may still reply that it has a replica of the session. Requests for a
 * replica are repeated with each store read until a node has sent one, because a message may be
 * lost, and a node that has just started receives no messages yet. */
static bool replicas_can_still_reply(struct session_request *q, uint32_t identity)
{
    bool first = q->replicas_of != identity;

    if (!q->store_read.gateway_loop->gateway->replica || q->unfit)
        return false;
    if (first) {
        q->replicas_of = identity;
        q->replicas_asked_ms = clock_steady_ms();
    }
    if (first || !q->is_short)
        send_replica_request(q, identity);
    if (!first && q->no_copies && nats_is_connected(q))
        return false;
    int64_t limit_ms = !nats_is_connected(q) ? REPLICA_RECONNECT_MS
                       : q->is_short         ? OTHER_REPLICA_MS
                                             : REPLICA_REPLY_MS;
    if (test_fault_is_enabled(TEST_FAULT_PATIENT_RESUME))
        limit_ms *= 8;
    return clock_steady_ms() - q->replicas_asked_ms < limit_ms;
}

static enum err run_session_request(struct session_store_read *l, struct tx *tx)
{
    struct session_request *q = container_of(l, struct session_request, store_read);
    const struct gateway *g = l->gateway_loop->gateway;
    const struct resume_request *r = q->transfer->resumption;
    struct session_owner owner;
    bool dead = false;

    q->state = q->abandoned ? REQUEST_SESSION_ENDED : REQUEST_WAITING;
    q->sends_request = q->misses = false;
    q->bytes = STR("");
    if (q->abandoned)
        return OK;
    enum err e = session_owner_row_read(tx, r->number, r->authentication.caller.id, &owner);
    if (!e && owner.found)
        e = take_over_suspended_session(q, g, tx, &owner);
    if (e || q->bytes.n)
        return e;
    bool elsewhere = owner.identity && owner.identity != cluster_node_identity(g->cluster);
    bool silent = elsewhere && session_owner_does_not_reply(q, &owner);
    if (elsewhere)
        e = take_over_session_of_crashed_node(q, tx, owner.identity, silent, &dead);
    /* Do not ask for replicas before the second store read, because most owners reply before it. */
    bool waits = !e && !dead && elsewhere && (silent || q->reads > 1) &&
                 replicas_can_still_reply(q, owner.identity);
    if (e || dead || (silent && waits))
        return e;
    if (!elsewhere || !owner.alive || (silent && g->replica && nats_is_connected(q)) ||
        q->refusals == REFUSALS_MAX)
        q->state = REQUEST_SESSION_ENDED;
    else if (owner.identity != q->asked)
        create_release_request(q, g, tx, owner.identity);
    return OK;
}

static void on_session_request_committed(struct session_store_read *l)
{
    struct session_request *q = container_of(l, struct session_request, store_read);

    if (q->sends_request)
        cluster_publish_session_move(l->gateway_loop->gateway->cluster, &l->work,
                                     &q->release_request);
}

static void session_request_end(struct session_request *q)
{
    struct session_transfer *h = q->transfer;
    struct str bytes = q->copy.n ? buf_as_str(&q->copy) : q->bytes;

    linked_list_remove(&q->link);
    if (map_find_value(&h->to->resume.requests_by_number, h->resumption->number) == q)
        map_remove_value(&h->to->resume.requests_by_number, h->resumption->number);
    deadline_cancel(&q->deadline);
    if (q->state == REQUEST_FOUND_SUSPENDED)
        session_transfer_deserialize(h, bytes, SESSION_ARRIVING);
    else if (q->state == REQUEST_FOUND_CRASHED)
        session_transfer_deserialize(h, bytes, SESSION_RECOVERED);
    registry_set_loop_of_arriving_session(h->to->gateway, h->resumption->number, NULL);
    buf_clear(&q->copy);
    session_interest_clear(&q->interest);
    map_clear(&q->without_copy);
    mem_free(q);
    session_transfer_finish_on_target_loop(h);
}

static void begin_missed_events_page_read(struct session_request *q);

/* Called after a page of missed events was read. If the read failed, the session ends, because this
 * node has already taken it over. */
static void on_missed_events_page_read(struct session_store_read *l, enum err e)
{
    struct session_request *q = container_of(l, struct session_request, store_read);

    if (!e && missed_events_have_next_page(&q->missed, q->transfer)) {
        begin_missed_events_page_read(q);
        return;
    }
    if (e || !missed_events_are_complete(&q->missed)) {
        q->state = REQUEST_SESSION_ENDED;
        session_owner_delete_by_number(l->gateway_loop, q->transfer->resumption->number);
    }
    session_request_end(q);
}

static enum err run_missed_events_page_read(struct session_store_read *l, struct tx *tx)
{
    struct session_request *q = container_of(l, struct session_request, store_read);

    return read_missed_events_page(&q->missed, q->transfer, tx);
}

static void begin_missed_events_page_read(struct session_request *q)
{
    q->store_read = (struct session_store_read){ .in_background = true,
                                                 .run = run_missed_events_page_read,
                                                 .done = on_missed_events_page_read };
    begin_unordered_session_store_read(q->transfer->to, &q->store_read);
}

/* Thousands of events may be missed, so they are read in pages, in the background. */
static void begin_reading_missed_events(struct session_request *q)
{
    q->reading = true;
    buf_init(&q->copy, q->bytes.n);
    buf_add_str(&q->copy, q->bytes);
    q->missed.interest = &q->interest;
    serialized_session_read_interest(q->bytes, q->transfer->resumption->authentication.caller.id,
                                     &q->interest);
    begin_missed_events_page_read(q);
}

static void on_session_request_done(struct session_store_read *l, enum err e)
{
    struct session_request *q = container_of(l, struct session_request, store_read);

    q->reading = false;
    if (q->without_copy_of != q->replicas_of) {
        /* Drop replies that refer to a former owner. If there was no former owner, all replies
         * refer to the present owner. */
        if (q->without_copy_of)
            map_clear(&q->without_copy);
        q->without_copy_of = q->replicas_of;
    }
    if (e)
        q->state = REQUEST_WAITING;
    else if (q->sends_request) {
        q->asked = q->release_request.from;
        q->asked_ms = clock_steady_ms();
    }
    if (q->state == REQUEST_WAITING && q->reads < STORE_READS_MAX) {
        if (q->reply_received)
            session_request_begin_store_read(q);
        else
            deadline_restart(l->gateway_loop->resume.request_timer, &q->deadline);
        return;
    }
    if (q->misses && (q->state == REQUEST_FOUND_SUSPENDED || q->state == REQUEST_FOUND_CRASHED))
        begin_reading_missed_events(q);
    else
        session_request_end(q);
}

/* Reads the store. A node that takes over a session updates the session's owner row. If two nodes
 * do so, the second transaction is restarted, so no stricter isolation is needed. With stricter
 * isolation all transactions that move sessions would conflict with each other. */
static void session_request_begin_store_read(struct session_request *q)
{
    const struct gateway_loop *here = q->transfer->to;

    q->reads++;
    q->reading = true;
    q->reply_received = false;
    q->abandoned = !q->transfer->resumption->authentication.socket;
    q->owner_replies = map_find_value(&q->without_copy, q->replicas_of);
    q->no_copies =
        here->gateway->replica &&
        all_replica_nodes_are_in_set(here->gateway->replica, q->replicas_of, &q->without_copy);
    deadline_cancel(&q->deadline);
    q->store_read = (struct session_store_read){ .writes = true,
                                                 .own_rows = true,
                                                 .run = run_session_request,
                                                 .committed = on_session_request_committed,
                                                 .done = on_session_request_done };
    begin_unordered_session_store_read(q->transfer->to, &q->store_read);
}

/* While the gateway stops, no read begins, because nothing waits for its end. */
void retry_session_request(struct deadline *d)
{
    struct session_request *q = container_of(d, struct session_request, deadline);

    if (q->transfer->to->gateway->gateway_loop_count)
        session_request_begin_store_read(q);
}

void begin_fetching_session_from_other_node(struct resume_request *r)
{
    struct gateway_loop *here = r->authentication.socket->gateway_loop;
    struct session_request *q = mem_new(sizeof *q);

    q->begun =
        here->begun > here->gateway->first_number ? here->begun : here->gateway->first_number;
    q->transfer = session_transfer_new(r, NULL);
    map_init(&q->without_copy);
    registry_set_loop_of_arriving_session(here->gateway, r->number, here);
    linked_list_append(&here->resume.requests, &q->link);
    map_set_value(&here->resume.requests_by_number, r->number, q);
    session_request_begin_store_read(q);
}

void pending_session_requests_abort(struct gateway_loop *h)
{
    while (!linked_list_is_empty(&h->resume.requests)) {
        struct session_request *q =
            container_of(h->resume.requests.next, struct session_request, link);

        q->state = REQUEST_SESSION_ENDED;
        session_request_end(q);
    }
}

struct session_request_reply {
    struct loop_message post;
    struct gateway_loop *gateway_loop;
    struct session_move_message move;
    /* identity of a node that replied that it has no replica of the session, or 0 */
    uint32_t without_copy;
};

/* Called when a node has replied. After a refusal the store is read again, because the node may
 * have suspended the session just now. The session may also have moved back to the node that
 * refused, so that node may be asked again. */
static void on_session_request_reply_posted(struct loop_message *post)
{
    struct session_request_reply *a = container_of(post, struct session_request_reply, post);
    struct session_request *q =
        map_find_value(&a->gateway_loop->resume.requests_by_number, a->move.number);

    if (q && a->move.kind == MOVE_REFUSED) {
        q->refusals++;
        q->asked = 0;
    }
    /* The reply of a node without a replica is only recorded. The next periodic read evaluates such
     * replies; an immediate read would find nothing new. */
    if (q && a->without_copy)
        map_set_value(&q->without_copy, a->without_copy, (void *)(uintptr_t)a->without_copy);
    bool ignored = !q || a->without_copy;
    mem_free(a);
    if (ignored)
        return;
    q->reply_received = true;
    if (!q->reading)
        session_request_begin_store_read(q);
}

void handle_session_request_reply(struct gateway *g, const struct session_move_message *m,
                                  uint32_t without_copy)
{
    pthread_mutex_lock(&g->publishing);
    for (unsigned i = 0; i < g->gateway_loop_count; i++) {
        struct session_request_reply *a = mem_new(sizeof *a);

        a->post.run = on_session_request_reply_posted;
        a->gateway_loop = g->gateway_loops[i];
        a->move = *m;
        a->without_copy = without_copy;
        loop_post_message(a->gateway_loop->loop, &a->post);
    }
    pthread_mutex_unlock(&g->publishing);
}
