/* dispatch.c - delivers each event to its subscribers, within the loop's time budget.
 *
 * Permissions that an event changes are updated before its delivery; roles, channels and guilds
 * that it deletes are removed afterwards, so a session receives the last event that it may see.
 * Delivery to many subscriptions continues over several loop iterations; topic->delivered_count is
 * the number of subscriptions that got the event. No subscription is added meanwhile, because
 * subscribing needs a store read, and store reads wait for the end of the delivery. */
#include "gateway/fanout/dispatch.h"

#include "base/mem.h"
#include "gateway/fanout/delivery.h"
#include "gateway/fanout/channel_visibility.h"
#include "gateway/resume/journal/replication.h"
#include "gateway/sessions/gateway_loop.h"
#include "gateway/sessions/registry.h"
#include "gateway/sessions/session.h"
#include "gateway/sessions/upcalls.h"
#include "gateway/subscriptions/snapshot_positions.h"
#include "gateway/subscriptions/topics.h"
#include "gateway/subscriptions/guild_view.h"
#include "gateway/wire/gateway_event.h"

/* An event for more than MANY_RECIPIENTS sessions is written to each socket immediately: bytes
 * collected until the end of the iteration would leave the CPU caches before they are sent. */
enum { MANY_RECIPIENTS = 32, PAYLOAD_BYTES_PER_TICK = 4096 };

/* Prefetches the sessions after subscription i into the CPU cache. Each statement follows a pointer
 * whose memory an earlier call of this function has prefetched. */
static void prefetch_memory_of_next_sessions(const struct topic *t, uint32_t i)
{
    if (i + 6 < t->count)
        __builtin_prefetch(t->subscriptions[i + 6]);
    if (i + 5 < t->count) {
        const char *s = (const char *)t->subscriptions[i + 5]->session;

        __builtin_prefetch(s);
        __builtin_prefetch(s + 64);
        __builtin_prefetch(s + 128);
    }
    if (i + 4 < t->count) {
        const struct session *s = t->subscriptions[i + 4]->session;

        if (s->socket)
            __builtin_prefetch(s->socket);
        if (s->replay.newest)
            __builtin_prefetch(s->replay.newest);
    }
    if (i + 3 < t->count && t->subscriptions[i + 3]->session->socket)
        websocket_prefetch_into_cpu_cache(t->subscriptions[i + 3]->session->socket->ws);
    if (i + 2 < t->count && t->subscriptions[i + 2]->session->socket)
        websocket_prefetch_connection_into_cpu_cache(t->subscriptions[i + 2]->session->socket->ws);
    if (i + 2 < t->count && t->subscriptions[i + 2]->session->replay.newest)
        replay_buffer_cpu_prefetch_next_entry(&t->subscriptions[i + 2]->session->replay);
}

/* --- changes before delivery ---------------------------------------------------------- */

/* Updates the member's roles in the guild subscriptions of the member's sessions on this loop. */
static void update_member_roles(const struct event_delivery *d)
{
    struct topic *own =
        topic_find(&d->gateway_loop->topics, AUDIENCE_USER, event_routing_get_user_id(d->routing));

    for (uint32_t i = 0; own && i < own->count; i++) {
        struct topic_subscription *seat = session_subscription_find(
            &own->subscriptions[i]->session->subscriptions, AUDIENCE_GUILD, d->topic->id);

        if (seat && !snapshot_includes_event(&seat->snapshot_positions, d->event->number))
            subscription_set_roles(seat, event_routing_get_ids(d->routing), d->routing->count,
                                   d->routing->member.restrained_until);
    }
}

static void apply_event_to_guild_view(const struct event_delivery *d, struct guild_view *v)
{
    const struct event_routing *f = d->routing;

    if (d->event->type == EVENT_GUILD_MEMBER_UPDATE && v)
        update_member_roles(d);
    if (!v || snapshot_includes_event(&v->snapshot_positions, d->event->number))
        return;
    switch (d->event->type) {
    case EVENT_GUILD_UPDATE:
        if (f->guild.owner_id)
            v->owner_id = f->guild.owner_id;
        break;
    case EVENT_GUILD_ROLE_CREATE:
    case EVENT_GUILD_ROLE_UPDATE:
        guild_view_set_role(v, f->role.id, f->role.permissions);
        break;
    case EVENT_GUILD_ROLE_DELETE:
        guild_view_remove_role(v, f->role.id);
        break;
    case EVENT_CHANNEL_CREATE:
    case EVENT_CHANNEL_UPDATE:
        guild_view_set_channel(v, f->channel.id, f->channel.type, event_routing_get_overwrites(f),
                               f->count);
        break;
    case EVENT_GUILD_MEMBER_ADD:
        v->member_count++;
        break;
    case EVENT_GUILD_MEMBER_REMOVE:
        v->member_count--;
        break;
    default:
        break;
    }
}

/* --- changes after delivery ----------------------------------------------------------- */

/* Updates a subscription after the event was delivered to it. May free the subscription, and the
 * topic if it has no other subscription. */
static void apply_event_to_subscription(const struct event_delivery *d,
                                        struct topic_subscription *seat)
{
    if (d->event->type == EVENT_GUILD_ROLE_DELETE)
        subscription_remove_role(seat, d->routing->role.id);
    else if (d->event->type == EVENT_GUILD_DELETE)
        session_subscription_remove(&seat->session->subscriptions, seat);
}

/* Applies GUILD_CREATE or GUILD_DELETE to the subscriptions of one session of the account. */
static void update_session_guilds(const struct event_delivery *d, struct session *s)
{
    struct topic_subscription *seat;

    switch (d->event->type) {
    case EVENT_GUILD_CREATE:
        if (session_shard_has_guild(s, d->routing->guild.id))
            gateway_upcalls.guild_join(s, d->routing->guild.id,
                                       session_must_read_guild_from_store(d, s) &&
                                           session_receives_event(d, s));
        break;
    case EVENT_GUILD_DELETE:
        seat = session_subscription_find(&s->subscriptions, AUDIENCE_GUILD, d->routing->guild.id);
        if (seat)
            session_subscription_remove(&s->subscriptions, seat);
        break;
    default:
        break;
    }
}

/* Delivers the event to one subscription. Returns false if more must be sent to the session, in a
 * later loop iteration or after a store read. */
static bool deliver_event_and_update_subscription(struct event_delivery *d,
                                                  struct topic_subscription *seat)
{
    if (d->visibility && session_has_unsent_visibility_changes(d->visibility, seat))
        return channel_visibility_changes_send(d->visibility, d, seat);
    if (!(d->changed && channel_viewer_change_send_to_subscriber(d->changed, d, seat)))
        deliver_event_to_subscription(d, seat);
    return !d->visibility || channel_visibility_changes_send(d->visibility, d, seat);
}

static void finish_event_delivery_to_subscription(struct event_delivery *d,
                                                  struct topic_subscription *seat, bool known)
{
    d->topic->delivered_count++;
    if (d->topic->kind == AUDIENCE_GUILD)
        apply_event_to_subscription(d, seat);
    else if (d->topic->kind == AUDIENCE_USER && !known)
        update_session_guilds(d, seat->session);
}

/* Returns the cost of the delivery to one session, in budget ticks. GUILD_CREATE makes each session
 * read the store, and a long payload is copied for each session, so both cost more. */
static uint32_t delivery_cost_per_session(const struct event_delivery *d)
{
    uint32_t bytes = (uint32_t)(gateway_event_get_payload(d->event).n / PAYLOAD_BYTES_PER_TICK);

    return d->event->type == EVENT_GUILD_CREATE ? BUDGET_TICKS : 1 + bytes;
}

static bool deliver_event_to_all_subscriptions(struct event_delivery *d)
{
    uint32_t ticks = delivery_cost_per_session(d);

    while (d->topic && d->topic->delivered_count < d->topic->count) {
        struct topic *t = d->topic;
        struct topic_subscription *seat = t->subscriptions[t->delivered_count];

        if (d->write_at_once)
            prefetch_memory_of_next_sessions(t, t->delivered_count);
        bool known = subscription_snapshot_includes_event(d, seat);
        if (!known && !deliver_event_and_update_subscription(d, seat))
            return false;
        finish_event_delivery_to_subscription(d, seat, known);
        if (loop_event_time_is_used_up(d->gateway_loop, ticks))
            return false;
    }
    return true;
}

static void event_delivery_end(struct event_delivery *d)
{
    struct topic *t = d->topic;

    channel_visibility_changes_free(d->visibility);
    channel_viewer_change_free(d->changed);
    if (!t)
        return;
    t->delivered_count = 0;
    if (t->view && d->event->type == EVENT_CHANNEL_DELETE)
        guild_view_remove_channel(t->view, d->routing->channel.id);
    else if (t->view && d->event->type == EVENT_GUILD_ROLE_DELETE)
        guild_view_remove_overwrites_of_role(t->view, d->routing->role.id);
}

static void deliver_event_to_single_session(const struct event_delivery *d)
{
    struct session *s = registry_find_session_on_loop(d->gateway_loop, d->event->to.id);

    if (s && session_receives_event(d, s))
        session_deliver_event(s, d->event, 0);
}

/* Returns the loop's struct event_delivery, which is reused for every event. */
static struct event_delivery *get_event_delivery_of_loop(struct gateway_loop *h)
{
    if (!h->queue.delivery) {
        h->queue.delivery = mem_new(sizeof *h->queue.delivery);
        h->topics.delivering = &h->queue.delivery->topic;
    }
    return h->queue.delivery;
}

void event_dispatch_begin(struct gateway_loop *h, struct gateway_event *n)
{
    struct event_delivery *d = get_event_delivery_of_loop(h);

    *d = event_delivery_new(h, n);
    if (n->to.kind == AUDIENCE_SESSION) {
        deliver_event_to_single_session(d);
        return;
    }
    struct topic *t = topic_find(&h->topics, n->to.kind, n->to.id);
    if (!t)
        return;
    d->topic = t;
    if (t->view) {
        d->visibility = channel_visibility_changes_new(d);
        d->changed = channel_viewer_change_new(d);
    }
    apply_event_to_guild_view(d, t->view);
    d->write_at_once = t->count > MANY_RECIPIENTS && !h->queue.first &&
                       !client_output_waits_for_journal_replication(h);
}

bool event_dispatch_continue(struct gateway_loop *h)
{
    struct event_delivery *d = h->queue.delivery;

    if (d->topic && !deliver_event_to_all_subscriptions(d))
        return false;
    event_dispatch_abort(h);
    return true;
}

void event_dispatch_abort(struct gateway_loop *h)
{
    struct event_delivery *d = h->queue.delivery;

    if (!d || !d->event)
        return;
    event_delivery_end(d);
    d->event = NULL;
    d->topic = NULL;
    d->visibility = NULL;
    d->changed = NULL;
}

/* Returns whether this missed event must not be sent to a session that arrives from another loop.
 * visible_channels.c sends CHANNEL_CREATE and CHANNEL_DELETE to the session instead. */
static bool is_sent_by_channel_visibility(const struct session *s, const struct gateway_event *n)
{
    return !s->bot && n->to.kind == AUDIENCE_GUILD &&
           (n->type == EVENT_CHANNEL_CREATE || n->type == EVENT_CHANNEL_DELETE);
}

/* Sends the guild as it is now: the session has missed the later events of the guild, because it
 * had no subscription of it. */
static void send_guild_that_was_joined_meanwhile(const struct event_delivery *d, struct session *s)
{
    if (session_shard_has_guild(s, d->routing->guild.id))
        gateway_upcalls.guild_join(s, d->routing->guild.id, session_receives_event(d, s));
}

void deliver_missed_event_to_session(struct session *s, struct gateway_event *n)
{
    bool own = n->to.kind == AUDIENCE_SESSION;
    struct topic_subscription *seat =
        own ? NULL : session_subscription_find(&s->subscriptions, n->to.kind, n->to.id);

    if (own ? n->to.id != s->number : !seat || is_sent_by_channel_visibility(s, n))
        return;
    struct event_delivery d = event_delivery_new(s->gateway_loop, n);
    if (own) {
        if (session_receives_event(&d, s))
            session_deliver_event(s, n, 0);
        return;
    }
    if (subscription_snapshot_includes_event(&d, seat))
        return;
    if (n->type == EVENT_GUILD_CREATE && n->to.kind == AUDIENCE_USER) {
        send_guild_that_was_joined_meanwhile(&d, s);
        return;
    }
    deliver_event_to_subscription(&d, seat);
    if (n->to.kind == AUDIENCE_USER)
        update_session_guilds(&d, s);
    else if (n->type == EVENT_GUILD_DELETE && n->to.kind == AUDIENCE_GUILD)
        session_subscription_remove(&s->subscriptions, seat);
}
