/* gateway_loop.c - creates and frees the gateway's state on one event loop; runs its work after
 * each loop iteration. */
#include "gateway/sessions/gateway_loop.h"

#include "base/log.h"
#include "base/mem.h"
#include "cluster/cluster.h"
#include "gateway/resume/journal/journal.h"
#include "gateway/resume/journal/replication.h"
#include "gateway/sessions/session_tasks.h"
#include "gateway/sessions/gateway_socket.h"
#include "gateway/sessions/registry.h"
#include "gateway/sessions/sending.h"
#include "gateway/sessions/session.h"
#include "gateway/sessions/upcalls.h"
#include "gateway/wire/compressor.h"

enum {
    CUT_OFF_CHECK_MS = 50,
    LOG_READ_RETRY_MS = 100, /* see fanout/unread_entries.h */
    /* Limits the time of one check, because closing 10,000 sockets takes about 200 ms. */
    CUT_OFF_SOCKETS_PER_CHECK = 400,
};

/* Closes sockets if this node is cut off from the database and the other nodes: its sessions then
 * receive no events, and other nodes take them over. The clients get op 7 (RECONNECT) before their
 * sockets are closed. */
static void close_sockets_if_node_is_isolated(struct deadline *d)
{
    struct gateway_loop *h = container_of(d, struct gateway_loop, timers.cut_off_check);
    unsigned closed = 0;

    deadline_restart(h->timers.cut_off, &h->timers.cut_off_check);
    if (!cluster_node_is_isolated(h->gateway->cluster))
        return;
    for (struct list_link *at = h->peers.next;
         at != &h->peers && closed < CUT_OFF_SOCKETS_PER_CHECK; at = at->next) {
        struct gateway_socket *p = container_of(at, struct gateway_socket, link);

        if (p->closing)
            continue;
        send_opcode_to_client(p, OP_RECONNECT, STR("null"));
        gateway_socket_close(p, CLOSE_GOING_AWAY, "");
        closed++;
    }
    if (closed)
        log_warn("gateway: closed %u sockets, because this node is cut off from the database; "
                 "clients can resume on other nodes",
                 closed);
}

static void create_loop_timers(struct gateway_loop_timers *t, const struct gateway *g,
                               struct loop *loop)
{
    unsigned hello_ms = g->options.hello_ms ? g->options.hello_ms : HELLO_MS;

    t->hellos = deadline_list_new(loop, hello_ms, false, on_gateway_hello_due);
    t->unauthenticated =
        deadline_list_new(loop, UNAUTHENTICATED_MS, true, on_gateway_authentication_timeout);
    t->overdue = deadline_list_new(loop, HEARTBEAT_OVERDUE_MS, true, on_gateway_heartbeat_overdue);
    t->dead = deadline_list_new(loop, HEARTBEAT_DEAD_MS, true, on_gateway_heartbeat_timeout);
    t->invalidated = deadline_list_new(loop, INVALIDATED_MS, true, on_gateway_reidentify_timeout);
    t->away = deadline_list_new(loop, SESSION_EXPIRY_MS, true, on_session_expired);
    t->showing_offline =
        deadline_list_new(loop, SHOW_OFFLINE_MS, true, on_session_offline_deadline);
    t->windows = deadline_list_new(loop, PRESENCE_MS, true, gateway_upcalls.presence_window_ended);
    t->cut_off =
        deadline_list_new(loop, CUT_OFF_CHECK_MS, false, close_sockets_if_node_is_isolated);
    t->log_reads =
        deadline_list_new(loop, LOG_READ_RETRY_MS, false, gateway_upcalls.unread_entries_retry);
    if (g->cluster && cluster_has_nats(g->cluster))
        deadline_restart(t->cut_off, &t->cut_off_check);
}

static void free_loop_timers(struct gateway_loop_timers *t)
{
    deadline_list_free(t->hellos);
    deadline_list_free(t->unauthenticated);
    deadline_list_free(t->overdue);
    deadline_list_free(t->dead);
    deadline_list_free(t->invalidated);
    deadline_list_free(t->away);
    deadline_list_free(t->showing_offline);
    deadline_list_free(t->windows);
    deadline_list_free(t->cut_off);
    deadline_list_free(t->log_reads);
}

/* Called when a topic is created or freed. This node receives and reads log entries of other nodes
 * only for guilds and users that have a topic on one of its loops. */
static void update_interest_of_node(struct topics *all, const struct topic *t, bool exists)
{
    struct cluster *c = container_of(all, struct gateway_loop, topics)->gateway->cluster;

    if (exists)
        cluster_add_interest_in_guild_or_user(c, t->kind, t->id);
    else
        cluster_remove_interest_in_guild_or_user(c, t->kind, t->id);
}

static void gateway_loop_end_iteration(struct loop_iteration_callback *t)
{
    struct gateway_loop *h = container_of(t, struct gateway_loop, iteration_end);

    iteration_time_budget_reset(&h->budget);
    if (h->framed)
        shared_frames_release_events(h->frames);
    h->framed = false;
    if (!linked_list_is_empty(&h->unpublished))
        gateway_upcalls.directory_flush(h);
    /* Send the journal records of this iteration to the replica before the bytes of this iteration
     * are sent to clients. */
    journal_replication_send_unsent_records(h);
}

static void on_guild_change_of_session(struct session *s, snowflake guild_id)
{
    journal_record_guild_change(s, guild_id);
    if (s->gateway_loop->gateway->directory)
        gateway_upcalls.directory_mark(s);
}

struct gateway_loop *gateway_loop_new(struct gateway *g, struct loop *loop)
{
    struct gateway_loop *h = mem_new(sizeof *h);

    h->gateway = g;
    h->loop = loop;
    h->delivered = &g->delivered[loop_get_index(loop)];
    h->begun = h->position = g->published;
    linked_list_init(&h->peers);
    linked_list_init(&h->sessions);
    linked_list_init(&h->authentications);
    linked_list_init(&h->reads.waiting);
    linked_list_init(&h->session_tasks.runnable);
    linked_list_init(&h->unpublished);
    topics_init(&h->topics, loop);
    h->topics.online_members = &g->online_members;
    if (g->cluster && !cluster_has_no_other_nodes(g->cluster))
        h->topics.on_topic_change = update_interest_of_node;
    h->topics.on_guild_change = on_guild_change_of_session;
    h->queue.end = &h->queue.first;
    h->arena = arena_new();
    h->packer = deflate_compressor_new();
    buf_init(&h->out, MAX_ENCODED_MESSAGE);
    buf_init(&h->in, MAX_MESSAGE * 8);
    create_loop_timers(&h->timers, g, loop);
    loop_resume_init(h);
    h->iteration_end.run = gateway_loop_end_iteration;
    h->queue.post.run = event_queue_on_continuation_posted;
    h->session_tasks.post.run = run_session_tasks_of_loop;
    loop_add_iteration_callback(loop, &h->iteration_end);
    return h;
}

void gateway_loop_free(struct gateway_loop *h)
{
    if (!h)
        return;
    topics_set_loop_is_stopping(&h->topics);
    while (!linked_list_is_empty(&h->sessions))
        session_end(container_of(h->sessions.next, struct session, link));
    gateway_upcalls.lists_free(h);
    event_queue_clear(h);
    loop_resume_clear(h);
    topics_clear(&h->topics);
    loop_remove_iteration_callback(&h->iteration_end);
    free_loop_timers(&h->timers);
    deflate_compressor_free(h->packer);
    shared_frames_free(h->frames);
    buf_clear(&h->out);
    buf_clear(&h->in);
    arena_free(h->arena);
    mem_free(h);
}
