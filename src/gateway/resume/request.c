/* request.c - gets a session from the node that owns it, or from the data of a stopped node.
 *
 * The store tells which node owns the session. A node that is alive gets a release request
 * through the event log, so the request has a log position. A node that was stopped has
 * suspended the session; a node that crashed has left a journal, and with NATS a replica of it
 * on another node. Any node may take over a session that is stored as a row, even one that was
 * released to another node: a client that changes nodes quickly would never get its session
 * otherwise.
 *
 * The store decides, not the replies of nodes: a reply only triggers the next read. The store is
 * read up to 24 times, every 250 ms or when a reply arrives. */
#include "base/clock.h"
#include "base/mem.h"
#include "cluster/cluster.h"
#include "gateway/fanout/bus.h"
#include "gateway/resume/handover.h"
#include "gateway/resume/journal/event_log.h"
#include "gateway/resume/journal/owner.h"
#include "gateway/resume/journal/owner_rows.h"
#include "gateway/resume/journal/replica.h"
#include "gateway/resume/missed.h"
#include "gateway/resume/recovery.h"
#include "gateway/resume/resume.h"
#include "gateway/resume/session_bytes.h"
#include "gateway/resume/suspended_rows.h"
#include "gateway/sessions/registry.h"

/* Waiting times, counted in reads of the store, which are 250 ms apart. */
enum {
    MOST_READS = 24,
    SILENT_READS = 4,   /* for a reply of the owner */
    REPLICA_READS = 12, /* for replies of replicas */
    SHORT_READS = 2,    /* for other replicas after one has replied JOURNAL_SHORT */
};

enum { MOST_REFUSALS = 3, QUESTION_BYTES = 64 };

enum request_state {
    REQUEST_WAITING,
    REQUEST_TAKEN,     /* from a suspended row */
    REQUEST_RECOVERED, /* from a journal or its replica */
    REQUEST_GONE,      /* the session has ended */
};

struct session_request {
    struct link link; /* in the list of its loop */
    struct handover *handover;
    struct deadline deadline; /* time of the next store read */
    struct load load;
    uint64_t seen;  /* number of the last event that the session was sent */
    uint64_t begun; /* last event that this loop had begun when it started to retain events */
    struct missed_events missed;          /* events of the log between `seen` and `begun` */
    unsigned reads;                       /* number of store reads */
    bool reading, answered;               /* a read is running; a reply arrived meanwhile */
    uint32_t asked;                       /* node that got the release request; 0: none */
    uint32_t replicas_of;                 /* node whose replicas were requested; 0: none */
    unsigned asked_at, replicas_asked_at; /* values of `reads` at these requests */
    unsigned short_at;                    /* value of `reads` at the first JOURNAL_SHORT; 0: none */
    unsigned refusals;
    bool abandoned; /* the connection is closed: the session stays in the store */
    /* Results of one store read: */
    struct session_move question;
    enum request_state state;
    bool asks;
    bool unfit;       /* no replica is usable */
    bool misses;      /* there are missed events to read from the log */
    struct str bytes; /* the session, in the arena of the read */
    struct buf copy;  /* copy of `bytes` while the log is read */
};

static void request_read(struct session_request *q);

/* The session missed the events between the last one that it was sent and the first one that
 * this loop retains. The crash may have interrupted the last event of a recovered session, so
 * that event is read too. This function only checks that the log has the events; they are read
 * outside the write transaction. */
static enum err find_missed(struct session_request *q, struct tx *tx)
{
    const struct gateway *g = q->load.hub->gateway;
    bool recovered = q->state == REQUEST_RECOVERED;

    if (!session_bytes_seen(q->bytes, &q->seen) || (q->seen >= q->begun && !recovered))
        return OK;
    uint64_t last = recovered && q->seen > q->begun ? q->seen : q->begun;
    q->missed = missed_between(q->seen, last, recovered);
    int64_t first = 0, end = 0;
    enum err e = event_log_range(tx, &first, &end);
    /* A journal that is ahead of the log which this process found at its start shows that a
     * backup was restored since. In a cluster other nodes may have extended the log. */
    bool alone = cluster_is_alone(g->cluster);
    int64_t known = alone ? (int64_t)(g->older >> NUMBERS_OF_POSITION) : end;
    bool log_is_older = recovered && known < q->missed.at + 1;
    q->misses = !e && !log_is_older && !missed_is_cut(&q->missed, first);
    if (!e && !q->misses)
        q->state = REQUEST_GONE;
    return e;
}

/* Takes over the session if the store has it as a suspended row. */
static enum err take_suspended(struct session_request *q, const struct gateway *g, struct tx *tx,
                               const struct session_owner *owner)
{
    const struct resumption *r = q->handover->resumption;
    uint32_t me = cluster_identity(g->cluster);
    bool changed = true;
    enum err e = suspended_row_take(tx, r->number, r->greeting.caller.id, clock_ms(), &q->bytes);

    if (!e && q->bytes.n && owner->identity != me)
        e = owner_row_change(tx, r->number, owner->identity, me, &changed);
    if (e || !q->bytes.n)
        return e;
    q->state = changed ? REQUEST_TAKEN : REQUEST_WAITING;
    return changed ? find_missed(q, tx) : OK;
}

static void ask_owner(struct session_request *q, const struct gateway *g, struct tx *tx,
                      uint32_t identity)
{
    const struct resumption *r = q->handover->resumption;

    q->question = (struct session_move){
        .kind = MOVE_ASK, .from = identity, .to = cluster_identity(g->cluster), .number = r->number
    };
    memcpy(q->question.id, r->id, sizeof q->question.id);
    cluster_log_move(g->cluster, tx, &q->question);
    q->asks = true;
}

/* *ret: the owner is known to be dead and needs no release request. */
static enum err take_recovered(struct session_request *q, struct tx *tx, uint32_t identity,
                               bool silent, bool *ret)
{
    const struct gateway *g = q->load.hub->gateway;
    const struct resumption *r = q->handover->resumption;
    enum journal_verdict answer;
    enum err e = recovery_take(g, tx, r, identity, silent, &answer, &q->bytes);

    q->unfit = answer == JOURNAL_UNFIT;
    if (answer == JOURNAL_SHORT && !q->short_at)
        q->short_at = q->reads;
    *ret = answer == JOURNAL_GONE || answer == JOURNAL_FOUND;
    if (e || !*ret)
        return e;
    q->state = answer == JOURNAL_FOUND ? REQUEST_RECOVERED : REQUEST_GONE;
    if (answer == JOURNAL_FOUND)
        e = find_missed(q, tx);
    if (!e && answer == JOURNAL_FOUND && q->state == REQUEST_GONE)
        e = owner_row_remove(tx, r->number, cluster_identity(g->cluster));
    /* An owner that was only paused reads the release request and finds that it no longer owns
     * the session. */
    if (!e && silent && q->asked != identity)
        ask_owner(q, g, tx, identity);
    return e;
}

/* Returns whether the owner does not reply. An owner that is only slow finds later that it lost
 * the session. */
static bool is_silent(const struct session_request *q, const struct session_owner *owner)
{
    return !owner->alive || (owner->identity == q->asked && q->reads - q->asked_at >= SILENT_READS);
}

static void ask_replicas(const struct session_request *q, uint32_t identity)
{
    const struct gateway *g = q->load.hub->gateway;
    const struct resumption *r = q->handover->resumption;
    struct buf question;

    buf_init(&question, QUESTION_BYTES);
    replica_write_question(&question, identity, r->number, r->seq, cluster_identity(g->cluster));
    cluster_tell(g->cluster, CLUSTER_LEDGERS, buf_str(&question));
    buf_clear(&question);
}

/* Returns whether a node may still reply that it has a replica. Replicas are requested at each
 * read until one has replied, because a message may be lost, and a node that has just started
 * does not receive messages yet. */
static bool replicas_may_answer(struct session_request *q, uint32_t identity)
{
    bool first = q->replicas_of != identity;

    if (!q->load.hub->gateway->replica || q->unfit)
        return false;
    if (first) {
        q->replicas_of = identity;
        q->replicas_asked_at = q->reads;
    }
    if (first || !q->short_at)
        ask_replicas(q, identity);
    if (q->short_at && q->reads - q->short_at >= SHORT_READS)
        return false;
    return q->reads - q->replicas_asked_at < REPLICA_READS;
}

static enum err request_run(struct load *l, struct tx *tx)
{
    struct session_request *q = container_of(l, struct session_request, load);
    const struct gateway *g = l->hub->gateway;
    const struct resumption *r = q->handover->resumption;
    struct session_owner owner;
    bool dead = false;

    q->state = q->abandoned ? REQUEST_GONE : REQUEST_WAITING;
    q->asks = q->misses = false;
    q->bytes = STR("");
    if (q->abandoned)
        return OK;
    enum err e = owner_row_find(tx, r->number, r->greeting.caller.id, &owner);
    if (!e && owner.found)
        e = take_suspended(q, g, tx, &owner);
    if (e || q->bytes.n)
        return e;
    bool elsewhere = owner.identity && owner.identity != cluster_identity(g->cluster);
    bool silent = elsewhere && is_silent(q, &owner);
    if (elsewhere)
        e = take_recovered(q, tx, owner.identity, silent, &dead);
    if (e || dead || (silent && replicas_may_answer(q, owner.identity)))
        return e;
    if (!elsewhere || !owner.alive || q->refusals == MOST_REFUSALS)
        q->state = REQUEST_GONE;
    else if (owner.identity != q->asked)
        ask_owner(q, g, tx, owner.identity);
    return OK;
}

static void request_committed(struct load *l)
{
    struct session_request *q = container_of(l, struct session_request, load);

    if (q->asks)
        cluster_moved(l->hub->gateway->cluster, &l->work, &q->question);
}

static void request_end(struct session_request *q)
{
    struct handover *h = q->handover;
    struct str bytes = q->copy.n ? buf_str(&q->copy) : q->bytes;

    link_remove(&q->link);
    if (map_get(&h->to->resume.requests_by_number, h->resumption->number) == q)
        map_remove(&h->to->resume.requests_by_number, h->resumption->number);
    deadline_drop(&q->deadline);
    if (q->state == REQUEST_TAKEN)
        handover_unpack(h, bytes, SESSION_ARRIVING);
    else if (q->state == REQUEST_RECOVERED)
        handover_unpack(h, bytes, SESSION_RECOVERED);
    registry_expect(h->to->gateway, h->resumption->number, NULL);
    buf_clear(&q->copy);
    mem_free(q);
    handover_arrive(h);
}

static void missed_read_next(struct session_request *q);

/* If the missed events of a session that was taken over cannot be read, the session ends. */
static void missed_page_done(struct load *l, enum err e)
{
    struct session_request *q = container_of(l, struct session_request, load);

    if (!e && missed_goes_on(&q->missed, q->handover)) {
        missed_read_next(q);
        return;
    }
    if (e || !missed_is_whole(&q->missed)) {
        q->state = REQUEST_GONE;
        session_owner_remove_number(l->hub, q->handover->resumption->number);
    }
    request_end(q);
}

static enum err missed_page_run(struct load *l, struct tx *tx)
{
    struct session_request *q = container_of(l, struct session_request, load);

    return missed_read_page(&q->missed, q->handover, tx);
}

static void missed_read_next(struct session_request *q)
{
    q->load = (struct load){ .aside = true, .run = missed_page_run, .done = missed_page_done };
    hub_load_now(q->handover->to, &q->load);
}

/* Thousands of events may be missed, so they are read in pages, in the background. */
static void missed_begin(struct session_request *q)
{
    q->reading = true;
    buf_init(&q->copy, q->bytes.n);
    buf_add_str(&q->copy, q->bytes);
    missed_read_next(q);
}

static void request_done(struct load *l, enum err e)
{
    struct session_request *q = container_of(l, struct session_request, load);

    q->reading = false;
    if (e)
        q->state = REQUEST_WAITING;
    else if (q->asks) {
        q->asked = q->question.from;
        q->asked_at = q->reads;
    }
    if (q->state == REQUEST_WAITING && q->reads < MOST_READS) {
        if (q->answered)
            request_read(q);
        else
            deadline_touch(l->hub->resume.request_timer, &q->deadline);
        return;
    }
    if (q->misses && (q->state == REQUEST_TAKEN || q->state == REQUEST_RECOVERED))
        missed_begin(q);
    else
        request_end(q);
}

/* A node that takes over a session updates its row; of two such transactions the second
 * restarts, so no stricter isolation is needed. Stricter isolation would make every session that
 * moves conflict with every other. */
static void request_read(struct session_request *q)
{
    q->reads++;
    q->reading = true;
    q->answered = false;
    q->abandoned = !q->handover->resumption->greeting.peer;
    deadline_drop(&q->deadline);
    q->load = (struct load){ .writes = true,
                             .own_rows = true,
                             .run = request_run,
                             .committed = request_committed,
                             .done = request_done };
    hub_load_now(q->handover->to, &q->load);
}

void request_again(struct deadline *d)
{
    request_read(container_of(d, struct session_request, deadline));
}

void request_begin(struct resumption *r)
{
    struct hub *here = r->greeting.peer->hub;
    struct session_request *q = mem_new(sizeof *q);

    q->begun = here->begun > here->gateway->older ? here->begun : here->gateway->older;
    q->handover = handover_new(r, NULL);
    registry_expect(here->gateway, r->number, here);
    links_append(&here->resume.requests, &q->link);
    map_put(&here->resume.requests_by_number, r->number, q);
    request_read(q);
}

void requests_drop(struct hub *h)
{
    while (!links_empty(&h->resume.requests)) {
        struct session_request *q =
            container_of(h->resume.requests.next, struct session_request, link);

        q->state = REQUEST_GONE;
        request_end(q);
    }
}

struct request_answer {
    struct post post;
    struct hub *hub;
    struct session_move move;
};

/* Reads the store even after a refusal, because the session may have been suspended just now.
 * The session may also have moved back to the refusing node, so that node may be asked again. */
static void answer_arrived(struct post *post)
{
    struct request_answer *a = container_of(post, struct request_answer, post);
    struct session_request *q = map_get(&a->hub->resume.requests_by_number, a->move.number);

    if (q && a->move.kind == MOVE_GONE) {
        q->refusals++;
        q->asked = 0;
    }
    mem_free(a);
    if (!q)
        return;
    q->answered = true;
    if (!q->reading)
        request_read(q);
}

void request_answered(struct gateway *g, const struct session_move *m)
{
    pthread_mutex_lock(&g->publishing);
    for (unsigned i = 0; i < g->hub_count; i++) {
        struct request_answer *a = mem_new(sizeof *a);

        a->post.run = answer_arrived;
        a->hub = g->hubs[i];
        a->move = *m;
        loop_post(a->hub->loop, &a->post);
    }
    pthread_mutex_unlock(&g->publishing);
}
