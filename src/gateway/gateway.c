/* gateway.c - creates, starts, drains and stops the gateway; accepts WebSocket upgrades. */
#include "gateway/gateway.h"

#include <unistd.h>

#include "base/mem.h"
#include "cluster/cluster.h"
#include "gateway/opcodes/opcodes.h"
#include "gateway/fanout/event_bus.h"
#include "gateway/fanout/dispatch.h"
#include "gateway/fanout/unread_entries.h"
#include "gateway/identify/authentication.h"
#include "gateway/identify/guilds.h"
#include "gateway/resume/log_page_cache.h"
#include "gateway/resume/resume.h"
#include "gateway/member_lists/lists.h"
#include "gateway/resume/suspend.h"
#include "gateway/presence/directory.h"
#include "gateway/presence/presence.h"
#include "gateway/resume/journal/replication.h"
#include "gateway/sessions/delayed_events.h"
#include "gateway/sessions/gateway_loop.h"
#include "gateway/resume/journal/replica.h"
#include "gateway/resume/journal/journal.h"
#include "gateway/sessions/gateway_socket.h"
#include "gateway/sessions/registry.h"
#include "gateway/sessions/sending.h"
#include "gateway/sessions/upcalls.h"

enum { REPLICA_REPLY_MAX_BYTES = 64 * 1024 };

const struct gateway_upcall_functions gateway_upcalls = {
    .event_dispatch_begin = event_dispatch_begin,
    .event_dispatch_continue = event_dispatch_continue,
    .dispatch_drop = event_dispatch_abort,
    .pass_unread_entry = unread_log_entry_drop_or_begin_read,
    .unread_entries_free = unread_entries_free,
    .unread_entries_retry = unread_entries_retry,
    .presence_change = presence_on_session_change,
    .presence_window_ended = on_presence_rate_limit_window_end,
    .sessions_changed = send_session_list_after_local_change,
    .directory_mark = session_directory_mark_session_changed,
    .directory_flush = session_directory_publish_changed_sessions,
    .directory_end = session_directory_remove_session,
    .lists_on_event = member_lists_on_event,
    .lists_on_presence = member_lists_on_presence_change,
    .lists_leave = member_lists_remove_session,
    .lists_free = member_lists_free,
    .guild_join = session_read_joined_guild,
    .moves_continue = release_requested_sessions,
    .resume_request_retry = retry_session_request,
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
    map_init(&g->unauthenticated);
    client_name_table_init(&g->client_names);
    wire_formats_init(&g->dialects);
    online_members_init(&g->online_members);
    pthread_mutex_init(&g->lock, NULL);
    pthread_mutex_init(&g->publishing, NULL);
    return g;
}

void gateway_join_cluster(struct gateway *g, struct cluster *c)
{
    g->cluster = c;
    g->log_pages = event_log_page_cache_new();
    if (cluster_has_nats(c))
        g->directory = session_directory_new(g);
    g->published = (uint64_t)cluster_delivered_position(c) << EVENT_NUMBER_BITS;
    g->first_number = g->published | ((UINT64_C(1) << EVENT_NUMBER_BITS) - 1);
    if (g->options.journal)
        g->journal = journal_open(g->options.journal, cluster_node_identity(c));
    if (g->options.replicates && g->journal && cluster_has_nats(c))
        g->replica = journal_replicas_new(cluster_node_identity(c));
}

void gateway_on_session_move_message(struct gateway *g, const struct session_move_message *m)
{
    if (m->kind == MOVE_REQUEST && m->from == cluster_node_identity(g->cluster))
        handle_session_release_request(g, m);
    else if (m->kind != MOVE_REQUEST && m->to == cluster_node_identity(g->cluster))
        handle_session_request_reply(g, m, 0);
}

void gateway_on_replica_message(struct gateway *g, struct str message)
{
    struct replica_reply reply;

    if (!g->replica)
        return;
    buf_init(&reply.bytes, REPLICA_REPLY_MAX_BYTES);
    replica_handle_message(g->replica, message, &reply);
    if (reply.to && !buf_is_full(&reply.bytes))
        cluster_send_message_to_node(g->cluster, reply.to, CLUSTER_LEDGERS,
                                     buf_as_str(&reply.bytes));
    if (reply.hello)
        cluster_record_heartbeat_of_other_node(g->cluster);
    if (reply.restart)
        journal_replication_resend_loop(g, reply.loop_get_index);
    if (reply.number)
        handle_session_request_reply(
            g, &(struct session_move_message){ .kind = MOVE_RELEASED, .number = reply.number },
            reply.unknown_at);
    buf_clear(&reply.bytes);
}

static void create_gateway_loop(struct loop *loop, void *arg)
{
    struct gateway *g = arg;

    g->gateway_loops[loop_get_index(loop)] = gateway_loop_new(g, loop);
}

void gateway_start(struct gateway *g, struct loops *loops)
{
    unsigned count = loops_get_count(loops);

    g->loops = loops;
    g->gateway_loops = mem_new(count * sizeof *g->gateway_loops);
    g->delivered = mem_new(count * sizeof *g->delivered);
    g->loop_count = count;
    for (unsigned i = 0; i < count; i++)
        loop_run_function_and_wait(loops_get_loop_at(loops, i), create_gateway_loop, g);
    g->gateway_loop_count = count;
}

static bool request_is_for_gateway(const struct http_request *r)
{
    return str_is(r->path, "/") || str_is(r->path, "/gateway") || str_is(r->path, "/gateway/") ||
           gateway_path_is_spacebar(r->path);
}

bool gateway_must_refuse_upgrade(const struct gateway *g, const struct http_request *r)
{
    return r->upgrade_websocket && request_is_for_gateway(r) &&
           (g->draining || (g->cluster && cluster_node_is_isolated(g->cluster)));
}

bool gateway_accept_upgrade(struct gateway *g, const struct http_request *r,
                            struct websocket_handler *ret)
{
    if (!request_is_for_gateway(r) || gateway_must_refuse_upgrade(g, r))
        return false;
    *ret = (struct websocket_handler){
        .arg = (void *)(uintptr_t)wire_format_of_request(&g->dialects, g, r),
        .max_message = MAX_MESSAGE,
        .too_large = CLOSE_BAD_PAYLOAD,
        .max_unsent = UNAUTHENTICATED_UNSENT_MAX,
        .open = gateway_socket_on_open,
        .message = gateway_socket_on_message,
        .closed = gateway_socket_on_closed,
        .shutdown = gateway_socket_on_shutdown,
        .drained = gateway_socket_on_output_sent,
    };
    return true;
}

static void send_reconnect_to_all(struct loop *loop, void *arg)
{
    struct gateway *g = arg;
    struct gateway_loop *h = g->gateway_loops[loop_get_index(loop)];

    for (struct list_link *at = h->peers.next; at != &h->peers; at = at->next) {
        struct gateway_socket *p = container_of(at, struct gateway_socket, link);

        if (!p->closing)
            send_opcode_to_client(p, OP_RECONNECT, STR("null"));
    }
}

void gateway_drain(struct gateway *g, int64_t patience_ms)
{
    if (!g || !g->gateway_loop_count)
        return;
    g->draining = true;
    g->delay_ms = 0;
    for (unsigned i = 0; i < g->gateway_loop_count; i++)
        loop_run_function_and_wait(g->gateway_loops[i]->loop, send_reconnect_to_all, g);
    for (int64_t waited = 0; g->count.connected && waited < patience_ms; waited += 5)
        usleep(5 * 1000);
}

struct busy_check {
    struct gateway *gateway;
    bool busy; /* a loop has running store reads, posted tasks or undelivered events */
};

/* Sets `busy` if the loop has running store reads, posted tasks or undelivered events. */
static void check_if_loop_is_busy(struct loop *loop, void *arg)
{
    struct busy_check *check = arg;
    const struct gateway_loop *h = check->gateway->gateway_loops[loop_get_index(loop)];

    check->busy |= h->reads.count > 0 || h->queue.posted || h->session_tasks.posted ||
                   h->topics.posted || h->list_pieces || h->queue.sending ||
                   has_delayed_events(h) || (h->queue.first && !h->queue.log_is_unreadable);
}

static void wait_until_loops_are_idle(struct gateway *g, unsigned count)
{
    struct busy_check check = { .gateway = g };

    do {
        check.busy = false;
        for (unsigned i = 0; i < count; i++)
            loop_run_function_and_wait(g->gateway_loops[i]->loop, check_if_loop_is_busy, &check);
        if (check.busy)
            usleep(1000);
    } while (check.busy);
}

static void end_gateway_loop(struct loop *loop, void *arg)
{
    struct gateway *g = arg;
    struct gateway_loop *h = g->gateway_loops[loop_get_index(loop)];

    pending_session_releases_free(h);
    pending_session_requests_abort(h);
    gateway_loop_free(h);
    g->gateway_loops[loop_get_index(loop)] = NULL;
}

void gateway_set_event_delay(struct gateway *g, int64_t ms)
{
    g->delay_ms = ms;
}

void gateway_stop(struct gateway *g)
{
    if (!g)
        return;
    g->delay_ms = 0;
    unsigned count = g->gateway_loop_count;

    wait_until_loops_are_idle(g, count);
    /* Set the loop count to 0 first, so that no commit is posted to loops whose state is being
     * freed. */
    pthread_mutex_lock(&g->publishing);
    g->gateway_loop_count = 0;
    pthread_mutex_unlock(&g->publishing);
    wait_until_loops_are_idle(g, count);
    suspend_all_sessions(g, count);
    for (unsigned i = 0; i < count; i++)
        loop_run_function_and_wait(loops_get_loop_at(g->loops, i), end_gateway_loop, g);
}

void gateway_free(struct gateway *g)
{
    size_t at = 0;

    if (!g)
        return;
    session_directory_free(g->directory);
    if (g->unread_entries)
        event_batch_free(g->unread_entries);
    for (struct gateway_account *a; (a = map_next_value(&g->accounts, &at));)
        gateway_account_free(a);
    wire_formats_clear(&g->dialects);
    online_members_free(&g->online_members);
    map_clear(&g->sessions);
    map_clear(&g->remotes);
    map_clear(&g->arriving);
    map_clear(&g->accounts);
    map_clear(&g->unauthenticated);
    client_name_table_clear(&g->client_names);
    pthread_mutex_destroy(&g->lock);
    pthread_mutex_destroy(&g->publishing);
    journal_replicas_free(g->replica);
    event_log_page_cache_free(g->log_pages);
    journal_close(g->journal);
    mem_free(g->delivered);
    mem_free(g->gateway_loops);
    mem_free(g);
}

int64_t gateway_online_member_count(struct gateway *g, snowflake guild_id)
{
    return g ? (int64_t)online_members_count(&g->online_members, guild_id) : 0;
}

static uint64_t sum_delivered_events(const struct gateway *g)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < g->loop_count; i++)
        sum += atomic_load_explicit(&g->delivered[i].n, memory_order_relaxed);
    return sum;
}

void gateway_read_stats(const struct gateway *g, struct gateway_stats *ret)
{
    *ret = (struct gateway_stats){
        .sessions = g->count.session_count,
        .connected = g->count.connected,
        .identified = g->count.identified,
        .resumed = g->count.resumed,
        .recovered = g->count.recovered,
        .missed_log_rows = g->count.missed_log_rows,
        .unread_entries = g->count.unread_entries,
        .replica_node = g->replicated_by,
        .replica_sessions = g->replica ? replica_session_count(g->replica) : 0,
        .published = g->published,
        .delivered = sum_delivered_events(g),
        .disconnected_slow = g->count.disconnected_slow,
        .closed = g->count.closed,
    };
}
