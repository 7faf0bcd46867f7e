/* gateway.c - creates, starts, drains and stops the gateway of a process; the WebSocket upgrade. */
#include "gateway/gateway.h"

#include <unistd.h>

#include "base/mem.h"
#include "cluster/cluster.h"
#include "gateway/opcodes/opcodes.h"
#include "gateway/fanout/bus.h"
#include "gateway/fanout/dispatch.h"
#include "gateway/identify/greeting.h"
#include "gateway/identify/guilds.h"
#include "gateway/resume/resume.h"
#include "gateway/member_lists/lists.h"
#include "gateway/resume/suspend.h"
#include "gateway/presence/directory.h"
#include "gateway/presence/presence.h"
#include "gateway/resume/journal/replication.h"
#include "gateway/sessions/delays.h"
#include "gateway/sessions/hub.h"
#include "gateway/resume/journal/replica.h"
#include "gateway/resume/journal/journal.h"
#include "gateway/sessions/peer.h"
#include "gateway/sessions/registry.h"
#include "gateway/sessions/sending.h"
#include "gateway/sessions/upcalls.h"

enum { MAX_KEPT_BYTES = 64 * 1024 };

const struct gateway_upcalls gateway_upcalls = {
    .dispatch_begin = dispatch_begin,
    .dispatch_continue = dispatch_continue,
    .dispatch_drop = dispatch_drop,
    .presence_change = presence_change,
    .presence_window_ended = presence_window_ended,
    .sessions_changed = sessions_changed,
    .directory_mark = directory_mark,
    .directory_flush = directory_flush,
    .directory_end = directory_end,
    .lists_hear = lists_hear,
    .lists_hear_presence = lists_hear_presence,
    .lists_leave = lists_leave,
    .lists_free = lists_free,
    .guild_join = guild_join,
    .handovers_continue = handovers_continue,
    .request_again = request_again,
    .opcode_find = opcode_find,
};

struct gateway *gateway_new(const struct gateway_options *options)
{
    struct gateway *g = mem_new(sizeof *g);

    g->options = *options;
    map_init(&g->sessions);
    map_init(&g->remotes);
    map_init(&g->arriving);
    map_init(&g->accounts);
    map_init(&g->strangers);
    client_names_init(&g->client_names);
    dialects_init(&g->dialects);
    crowds_init(&g->crowds);
    pthread_mutex_init(&g->lock, NULL);
    pthread_mutex_init(&g->publishing, NULL);
    return g;
}

void gateway_share(struct gateway *g, struct cluster *c)
{
    g->cluster = c;
    if (cluster_has_wire(c))
        g->directory = directory_new(g);
    g->published = (uint64_t)cluster_position(c) << NUMBERS_OF_POSITION;
    g->older = g->published | ((UINT64_C(1) << NUMBERS_OF_POSITION) - 1);
    if (g->options.journal)
        g->journal = journal_open(g->options.journal, cluster_identity(c));
    if (g->options.replicates && g->journal && cluster_has_wire(c))
        g->replica = replica_new();
}

void gateway_move(struct gateway *g, const struct session_move *m)
{
    if (m->kind == MOVE_ASK && m->from == cluster_identity(g->cluster))
        release_requested(g, m);
    else if (m->kind != MOVE_ASK && m->to == cluster_identity(g->cluster))
        request_answered(g, m);
}

void gateway_hear_ledger(struct gateway *g, struct str message)
{
    struct replica_reply reply;

    if (!g->replica)
        return;
    buf_init(&reply.bytes, MAX_KEPT_BYTES);
    replica_receive(g->replica, message, &reply);
    if (reply.to && !buf_full(&reply.bytes))
        cluster_tell_one(g->cluster, reply.to, CLUSTER_LEDGERS, buf_str(&reply.bytes));
    if (reply.restart)
        replication_restart_hub(g, reply.hub);
    if (reply.number)
        request_answered(g, &(struct session_move){ .kind = MOVE_GIVEN, .number = reply.number });
    buf_clear(&reply.bytes);
}

static void make_hub(struct loop *loop, void *arg)
{
    struct gateway *g = arg;

    g->hubs[loop_index(loop)] = hub_new(g, loop);
}

void gateway_start(struct gateway *g, struct loops *loops)
{
    unsigned count = loops_count(loops);

    g->loops = loops;
    g->hubs = mem_new(count * sizeof *g->hubs);
    g->delivered = mem_new(count * sizeof *g->delivered);
    g->loop_count = count;
    for (unsigned i = 0; i < count; i++)
        loop_call(loops_at(loops, i), make_hub, g);
    g->hub_count = count;
}

bool gateway_upgrade(struct gateway *g, const struct http_request *r, struct websocket_handler *ret)
{
    if (!str_is(r->path, "/") && !str_is(r->path, "/gateway") && !str_is(r->path, "/gateway/"))
        return false;
    *ret = (struct websocket_handler){
        .arg = (void *)(uintptr_t)dialect_find(&g->dialects, g, r),
        .max_message = MAX_MESSAGE,
        .too_large = CLOSE_BAD_PAYLOAD,
        .max_waiting = STRANGER_WAITING,
        .open = peer_open,
        .message = peer_message,
        .closed = peer_closed,
        .shutdown = peer_shutdown,
        .drained = peer_drained,
    };
    return true;
}

static void send_away(struct loop *loop, void *arg)
{
    struct gateway *g = arg;
    struct hub *h = g->hubs[loop_index(loop)];

    for (struct link *at = h->peers.next; at != &h->peers; at = at->next) {
        struct peer *p = container_of(at, struct peer, link);

        if (!p->closing)
            send_op(p, OP_RECONNECT, STR("null"));
    }
}

void gateway_drain(struct gateway *g, int64_t patience_ms)
{
    if (!g || !g->hub_count)
        return;
    g->draining = true;
    g->delay_ms = 0;
    for (unsigned i = 0; i < g->hub_count; i++)
        loop_call(g->hubs[i]->loop, send_away, g);
    for (int64_t waited = 0; g->count.connected && waited < patience_ms; waited += 5)
        usleep(5 * 1000);
}

/* Sets g->busy if the loop has running store reads, posted tasks or undelivered events. */
static void look_busy(struct loop *loop, void *arg)
{
    struct gateway *g = arg;
    const struct hub *h = g->hubs[loop_index(loop)];

    g->busy |= h->reads.count > 0 || h->queue.posted || h->errands.posted || h->topics.posted ||
               h->list_pieces || h->queue.first || h->queue.sending || delays_wait(h);
}

static void wait_for_loads(struct gateway *g, unsigned count)
{
    do {
        g->busy = false;
        for (unsigned i = 0; i < count; i++)
            loop_call(g->hubs[i]->loop, look_busy, g);
        if (g->busy)
            usleep(1000);
    } while (g->busy);
}

static void end_hub(struct loop *loop, void *arg)
{
    struct gateway *g = arg;
    struct hub *h = g->hubs[loop_index(loop)];

    releases_drop(h);
    requests_drop(h);
    hub_free(h);
    g->hubs[loop_index(loop)] = NULL;
}

void gateway_set_delay(struct gateway *g, int64_t ms)
{
    g->delay_ms = ms;
}

void gateway_stop(struct gateway *g)
{
    if (!g)
        return;
    g->delay_ms = 0;
    unsigned count = g->hub_count;

    wait_for_loads(g, count);
    /* Set the count to 0 first, so that no later commit is posted to a loop whose state is being
     * freed. */
    pthread_mutex_lock(&g->publishing);
    g->hub_count = 0;
    pthread_mutex_unlock(&g->publishing);
    wait_for_loads(g, count);
    suspend_sessions(g, count);
    for (unsigned i = 0; i < count; i++)
        loop_call(loops_at(g->loops, i), end_hub, g);
}

void gateway_free(struct gateway *g)
{
    size_t at = 0;

    if (!g)
        return;
    directory_free(g->directory);
    for (struct account *a; (a = map_next(&g->accounts, &at));)
        account_free(a);
    dialects_clear(&g->dialects);
    crowds_clear(&g->crowds);
    map_clear(&g->sessions);
    map_clear(&g->remotes);
    map_clear(&g->arriving);
    map_clear(&g->accounts);
    map_clear(&g->strangers);
    client_names_clear(&g->client_names);
    pthread_mutex_destroy(&g->lock);
    pthread_mutex_destroy(&g->publishing);
    replica_free(g->replica);
    journal_close(g->journal);
    mem_free(g->delivered);
    mem_free(g->hubs);
    mem_free(g);
}

int64_t gateway_online(struct gateway *g, snowflake guild_id)
{
    return g ? (int64_t)crowd_count(&g->crowds, guild_id) : 0;
}

static uint64_t count_delivered(const struct gateway *g)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < g->loop_count; i++)
        sum += atomic_load_explicit(&g->delivered[i].n, memory_order_relaxed);
    return sum;
}

void gateway_stats(const struct gateway *g, struct gateway_stats *ret)
{
    *ret = (struct gateway_stats){
        .sessions = g->count.session_count,
        .connected = g->count.connected,
        .identified = g->count.identified,
        .resumed = g->count.resumed,
        .recovered = g->count.recovered,
        .kept_by = g->replicated_by,
        .kept = g->replica ? replica_count(g->replica) : 0,
        .published = g->published,
        .delivered = count_delivered(g),
        .cut = g->count.cut,
        .closed = g->count.closed,
    };
}
