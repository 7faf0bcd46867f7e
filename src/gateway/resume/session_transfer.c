/* session_transfer.c - moves a session to the loop of its client's connection and sends missed
 * events.
 *
 * The loop of the connection (target) requests the session from the loop that has it (source). The
 * source first delivers every event whose delivery the target had begun at the time of the request.
 * The target retains the events whose delivery it begins after the request. So the session gets
 * each event exactly once. */
#include "gateway/resume/session_transfer.h"

#include "base/mem.h"
#include "gateway/fanout/dispatch.h"
#include "gateway/member_lists/lists.h"
#include "gateway/resume/journal/journal.h"
#include "gateway/resume/journal/retained_events.h"
#include "gateway/resume/crash_recovery.h"
#include "gateway/resume/retained_entries.h"
#include "gateway/resume/resume.h"
#include "gateway/sessions/session_tasks.h"
#include "gateway/sessions/gateway_loop.h"
#include "gateway/sessions/registry.h"
#include "gateway/subscriptions/topics.h"
#include "gateway/wire/gateway_event.h"

/* --- the source loop ------------------------------------------------------------------ */

static void on_session_transfer_requested(struct loop_message *post);
static void on_session_arrival_posted(struct loop_message *post);

/* Stores the session's guilds, and the channels that its user can view, in the transfer. Then
 * unsubscribes the session. */
static void move_subscriptions_to_transfer(struct session_transfer *h, struct session *s)
{
    h->guild_setups = mem_new((s->subscriptions.count + 1) * sizeof *h->guild_setups);
    while (s->subscriptions.count) {
        struct topic_subscription *seat = s->subscriptions.items[s->subscriptions.count - 1];

        if (seat->topic->kind == AUDIENCE_GUILD) {
            h->guild_setups[h->guild_count++].guild_id = seat->topic->id;
            if (!s->bot)
                visible_channels_add_all_of_subscription(&h->visible_before, seat);
        }
        session_subscription_remove(&s->subscriptions, seat);
    }
}

/* Forwards the request if the session has moved to another loop since it was requested. */
static bool forward_transfer_request(struct session_transfer *h)
{
    struct gateway_loop *hub =
        registry_find_loop_of_session(h->from->gateway, h->resumption->number);

    if (!hub || hub == h->from)
        return false;
    h->from = hub;
    h->post.run = on_session_transfer_requested;
    loop_post_message(hub->loop, &h->post);
    return true;
}

static void detach_session_for_transfer(struct session_transfer *h, struct session *s)
{
    struct gateway *g = h->from->gateway;

    session_close_connection(s);
    session_set_state(s, SESSION_ARRIVING);
    h->session = s;
    move_subscriptions_to_transfer(h, s);
    s->resume.delivered_elsewhere = h->from->position;
    journal_set_session_in_transit(s);
    session_detach_from_loop(s);
    pthread_mutex_lock(&g->lock);
    s->gateway_loop = h->to;
    pthread_mutex_unlock(&g->lock);
}

static void move_session_from_source_loop(struct session_transfer *h)
{
    struct session *s = registry_find_session_on_loop(h->from, h->resumption->number);

    linked_list_remove(&h->link);
    if (!s && forward_transfer_request(h))
        return;
    if (session_belongs_to_client(s, h->resumption)) {
        if (resume_was_done_by_newer_connection(s, h->resumption))
            h->resumption->objection = RESUME_SUPERSEDED;
        else
            detach_session_for_transfer(h, s);
    }
    h->post.run = on_session_arrival_posted;
    loop_post_message(h->to->loop, &h->post);
}

static void on_session_transfer_requested(struct loop_message *post)
{
    struct session_transfer *h = container_of(post, struct session_transfer, post);

    linked_list_append(&h->from->resume.leaving_transfers, &h->link);
    release_requested_sessions(h->from);
}

/* Returns whether the session can leave its loop. It stays while the store is read for it, because
 * the result would be lost. It stays during the delivery of an event, because it may already have
 * received this event. A session that is still moving to this loop must arrive first. A session
 * that moves to another node is requested from that node later. */
static bool session_can_leave_its_loop(const struct session_transfer *o, struct gateway_loop *h)
{
    const struct session *s = registry_find_session_on_loop(h, o->resumption->number);

    if (!s && registry_find_loop_of_session(h->gateway, o->resumption->number) == h)
        return false;
    if (s && s->state == SESSION_MOVING)
        return false;
    return h->position >= o->least && h->position == h->begun && !h->reads.blocking &&
           !(s && session_task_is_running(s));
}

void release_requested_sessions(struct gateway_loop *h)
{
    struct list_link *at = h->resume.leaving_transfers.next;

    while (at != &h->resume.leaving_transfers) {
        struct session_transfer *o = container_of(at, struct session_transfer, link);

        at = at->next;
        if (session_can_leave_its_loop(o, h))
            move_session_from_source_loop(o);
    }
    continue_pending_session_releases(h);
}

/* --- lists of events ------------------------------------------------------------------- */

void event_list_add(struct event_list *l, struct gateway_event *n)
{
    if (l->count == l->cap) {
        l->cap = l->cap ? l->cap * 2 : 64;
        l->items = mem_resize(l->items, l->cap * sizeof *l->items);
    }
    l->items[l->count++] = gateway_event_ref(n);
}

void event_list_truncate(struct event_list *l, size_t count)
{
    while (l->count > count)
        gateway_event_unref(l->items[--l->count]);
}

void event_list_clear(struct event_list *l)
{
    event_list_truncate(l, 0);
    mem_free(l->items);
    *l = (struct event_list){ 0 };
}

/* --- the target loop: permissions ----------------------------------------------------- */

static void begin_retaining_events(struct session_transfer *h)
{
    h->since = retained_events_end(&h->to->resume.retained);
    linked_list_append(&h->to->resume.arriving, &h->of_target);
}

/* Drops the retained events that no transfer needs any more; called when a transfer ends. */
static void end_retaining_events(struct session_transfer *h)
{
    struct gateway_loop *to = h->to;
    uint64_t needed = retained_events_end(&to->resume.retained);

    linked_list_remove(&h->of_target);
    for (struct list_link *at = to->resume.arriving.next; at != &to->resume.arriving;
         at = at->next) {
        uint64_t since = container_of(at, struct session_transfer, of_target)->since;

        needed = since < needed ? since : needed;
    }
    /* Drop no events, because suspended sessions need all events since the process started. */
    if (to->resume.retains_all)
        needed = 0;
    retained_events_drop_before(&to->resume.retained, needed);
}

static void session_transfer_end(struct session_transfer *h, struct session *s)
{
    end_retaining_events(h);
    resume_send_result_to_client(h->resumption, s);
    mem_free(h->guild_setups);
    event_list_clear(&h->missed);
    session_transfer_clear_unread_log_entries(h);
    visible_channels_clear(&h->visible_before);
    visible_channels_clear(&h->channel_changes);
    mem_free(h);
}

static enum err read_guild_permissions(struct session_store_read *l, struct tx *tx)
{
    struct session_transfer *h = container_of(l, struct session_transfer, store_read);

    for (size_t i = 0; i < h->guild_count; i++) {
        enum err e = read_guild_subscription_data(l->gateway_loop, tx, &h->viewer, NULL,
                                                  &h->guild_setups[i]);

        if (e)
            return e;
    }
    return OK;
}

/* Subscribes the session to its guilds. If the store has no such guild or membership any more,
 * GUILD_DELETE may still be queued: the session then gets a subscription without permissions, so
 * that it receives this event. */
static void subscribe_transferred_session(struct session_transfer *h, struct session *s)
{
    session_subscription_add(&s->subscriptions, AUDIENCE_USER, s->caller.id);
    for (size_t i = 0; i < h->guild_count; i++) {
        const struct topic_subscription *seat =
            guild_subscription_data_subscribe_session(s, &h->guild_setups[i]);

        if (!seat)
            session_subscription_add(&s->subscriptions, AUDIENCE_GUILD,
                                     h->guild_setups[i].guild_id);
        else if (!s->bot && s->state != SESSION_RECOVERED)
            visible_channels_add_differences(&h->visible_before, seat, &h->channel_changes);
    }
}

/* --- the target loop: missed events --------------------------------------------------- */

static void end_sending_missed_events(struct session_transfer *h, struct session *s)
{
    struct gateway_loop *to = h->to;

    to->reads.blocking--;
    to->reads.count--;
    if (s) {
        journal_set_session_loop(s);
        /* If a newer connection has already resumed the session, do not disconnect it. */
        if (!s->socket)
            session_on_socket_closed(s);
        member_lists_on_session_moved_to_loop(s);
    }
    session_transfer_end(h, s);
    event_queue_deliver_events(to);
}

/* Returns the next missed event of the session, or NULL if all were sent. */
static struct gateway_event *next_missed_event(struct session_transfer *h)
{
    if (h->missed_at < h->missed.count)
        return h->missed.items[h->missed_at++];
    return retained_event_at(&h->to->resume.retained, h->recent_at++);
}

/* Sends some missed events, within the time budget for events, because there may be thousands.
 * Posts itself again until all missed events are sent. */
static void continue_sending_missed_events(struct loop_message *post)
{
    struct session_transfer *h = container_of(post, struct session_transfer, post);
    struct session *s = registry_find_session_on_loop(h->to, h->resumption->number);
    struct gateway_event *n;

    loop_set_measured_activity("sessions");
    while (s && (n = next_missed_event(h))) {
        if (!event_is_unread_log_entry(n))
            deliver_missed_event_to_session(s, n);
        if (loop_event_time_is_used_up(h->to, 1)) {
            loop_post_message(h->to->loop, &h->post);
            return;
        }
    }
    end_sending_missed_events(h, s);
}

/* Sends the missed events: the events whose delivery began on this loop since the request, without
 * those that the source loop has already sent according to their numbers. New events wait
 * meanwhile, because the session is subscribed. */
static void begin_sending_missed_events(struct session_transfer *h, struct session *s)
{
    h->to->reads.blocking++;
    h->to->reads.count++;
    atomic_fetch_add(&h->to->gateway->count.recovered, s->state == SESSION_RECOVERED);
    journal_add_session(s);
    visible_channels_send_changes(&h->channel_changes, s);
    h->recent_at = retained_events_find_after(&h->to->resume.retained, h->since,
                                              s->resume.delivered_elsewhere);
    h->post.run = continue_sending_missed_events;
    continue_sending_missed_events(&h->post);
}

static enum err read_channels_with_new_visibility(struct session_store_read *l, struct tx *tx)
{
    struct session_transfer *h = container_of(l, struct session_transfer, store_read);

    return visible_channels_read_channel_json(&h->channel_changes,
                                              l->gateway_loop->gateway->options.source, tx);
}

static void on_channels_with_new_visibility_read(struct session_store_read *l, enum err e)
{
    struct session_transfer *h = container_of(l, struct session_transfer, store_read);
    struct session *s = registry_find_session_on_loop(l->gateway_loop, h->resumption->number);

    if (s && !e) {
        begin_sending_missed_events(h, s);
        return;
    }
    if (s)
        /* The client would have wrong channels without this read, so the session ends. */
        session_end(s);
    session_transfer_end(h, NULL);
}

/* --- the target loop: arrival --------------------------------------------------------- */

static void on_guild_permissions_read(struct session_store_read *l, enum err e);

static void init_guild_permissions_read(struct session_transfer *h)
{
    for (size_t i = 0; i < h->guild_count; i++)
        guild_subscription_data_init(h->to, h->guild_setups[i].guild_id, &h->guild_setups[i]);
    h->store_read = (struct session_store_read){
        .blocks_events = true,
        .in_background = h->guild_count > MANY_GUILDS_FOR_LOOP,
        .run = read_guild_permissions,
        .done = on_guild_permissions_read,
    };
}

static bool guild_permissions_are_outdated(const struct session_transfer *h)
{
    for (size_t i = 0; i < h->guild_count; i++)
        if (guild_subscription_data_is_outdated(h->to, &h->guild_setups[i]))
            return true;
    return false;
}

/* Called when the session has its subscriptions and all retained events that it needs were read. */
static void continue_arrival(struct session_transfer *h, struct session *s)
{
    if (s->state == SESSION_RECOVERED && !recovered_session_can_continue(h, s)) {
        session_end(s);
        session_transfer_end(h, NULL);
        return;
    }
    if (!h->channel_changes.count) {
        begin_sending_missed_events(h, s);
        return;
    }
    h->store_read = (struct session_store_read){
        .blocks_events = true,
        .in_background = h->channel_changes.count > MANY_CHANNELS_FOR_LOOP,
        .run = read_channels_with_new_visibility,
        .done = on_channels_with_new_visibility_read,
    };
    begin_unordered_session_store_read(h->to, &h->store_read);
}

static enum err read_unread_entries_of_transfer(struct session_store_read *l, struct tx *tx)
{
    return session_transfer_read_unread_log_entries(
        container_of(l, struct session_transfer, store_read), tx);
}

static void on_unread_entries_of_transfer_read(struct session_store_read *l, enum err e)
{
    struct session_transfer *h = container_of(l, struct session_transfer, store_read);
    struct session *s = registry_find_session_on_loop(l->gateway_loop, h->resumption->number);

    if (s && !e && session_transfer_merge_unread_log_entries(h, s)) {
        continue_arrival(h, s);
        return;
    }
    if (s)
        session_end(s); /* the client would miss events */
    session_transfer_end(h, NULL);
}

enum { MANY_ENTRIES_FOR_LOOP = 32 };

static void begin_reading_unread_entries(struct session_transfer *h)
{
    h->store_read = (struct session_store_read){
        .blocks_events = true,
        .in_background = h->unread.entries.count > MANY_ENTRIES_FOR_LOOP,
        .run = read_unread_entries_of_transfer,
        .done = on_unread_entries_of_transfer_read,
    };
    begin_unordered_session_store_read(h->to, &h->store_read);
}

static void on_guild_permissions_read(struct session_store_read *l, enum err e)
{
    struct session_transfer *h = container_of(l, struct session_transfer, store_read);
    struct session *s = h->session;

    if (!e && guild_permissions_are_outdated(h)) {
        init_guild_permissions_read(h);
        begin_unordered_session_store_read(h->to, &h->store_read);
        return;
    }
    session_attach_to_loop(s, h->to);
    if (e || s->revoked) {
        session_end(s);
        session_transfer_end(h, NULL);
        return;
    }
    subscribe_transferred_session(h, s);
    if (session_transfer_find_unread_log_entries(h, s))
        begin_reading_unread_entries(h);
    else
        continue_arrival(h, s);
}

/* Called when the session is no longer in this process: reads from the store which node owns the
 * session. Returns false if no other node can own it. */
static bool request_session_from_other_node(struct session_transfer *h)
{
    struct resume_request *r = h->resumption;

    if (!h->from || !h->to->gateway->cluster || r->objection == RESUME_SUPERSEDED ||
        !r->authentication.socket)
        return false;
    end_retaining_events(h);
    mem_free(h);
    begin_fetching_session_from_other_node(r);
    return true;
}

void session_transfer_finish_on_target_loop(struct session_transfer *h)
{
    if (!h->session && request_session_from_other_node(h))
        return;
    if (!h->session) {
        session_transfer_end(h, NULL);
        return;
    }
    h->viewer = payload_recipient_of_session(h->session);
    init_guild_permissions_read(h);
    /* Wait until this loop has delivered the last event that the source loop sent to the session.
     * Otherwise this loop's guild view would lack the event, and the comparison of visible channels
     * would undo its changes. Sessions of another process do not wait, because its event numbers
     * are not comparable. */
    begin_session_store_read_after_event(h->to, &h->store_read,
                                         h->from ? h->session->resume.delivered_elsewhere : 0);
}

static void on_session_arrival_posted(struct loop_message *post)
{
    session_transfer_finish_on_target_loop(container_of(post, struct session_transfer, post));
}

struct session_transfer *session_transfer_new(struct resume_request *r, struct gateway_loop *from)
{
    struct session_transfer *h = mem_new(sizeof *h);

    h->from = from;
    h->to = r->authentication.socket->gateway_loop;
    h->resumption = r;
    h->least = h->to->begun;
    begin_retaining_events(h);
    return h;
}

void session_transfer_begin(struct resume_request *r, struct gateway_loop *from)
{
    struct session_transfer *h = session_transfer_new(r, from);

    h->post.run = on_session_transfer_requested;
    loop_post_message(from->loop, &h->post);
}
