/* dispatch.c - delivers each event to its subscribers, within the loop's time budget.
 *
 * Permissions that an event changes are updated before its delivery; roles, channels and guilds
 * that it deletes are removed afterwards, so a session receives the last event that it may see.
 * Delivery to many subscriptions continues over several loop iterations; topic->told counts
 * those that have the event. No subscription is added in between, because store reads wait for
 * the end of the event. */
#include "gateway/fanout/dispatch.h"

#include "base/mem.h"
#include "gateway/fanout/delivery.h"
#include "gateway/fanout/sight.h"
#include "gateway/resume/journal/replication.h"
#include "gateway/sessions/hub.h"
#include "gateway/sessions/registry.h"
#include "gateway/sessions/session.h"
#include "gateway/sessions/upcalls.h"
#include "gateway/views/known.h"
#include "gateway/views/topics.h"
#include "gateway/views/view.h"
#include "gateway/wire/news.h"

/* An event for more than CROWD sessions is written to each socket immediately: bytes collected
 * until the end of the iteration would leave the CPU caches before they are sent. */
enum { CROWD = 32, BYTES_OF_TICK = 4096 };

/* Prefetches the sessions after subscription i. Each step follows a pointer that was prefetched
 * for an earlier subscription. */
static void fetch_ahead(const struct topic *t, uint32_t i)
{
    if (i + 6 < t->count)
        __builtin_prefetch(t->seats[i + 6]);
    if (i + 5 < t->count) {
        const char *s = (const char *)t->seats[i + 5]->session;

        __builtin_prefetch(s);
        __builtin_prefetch(s + 64);
        __builtin_prefetch(s + 128);
    }
    if (i + 4 < t->count) {
        const struct session *s = t->seats[i + 4]->session;

        if (s->peer)
            __builtin_prefetch(s->peer);
        if (s->replay.newest)
            __builtin_prefetch(s->replay.newest);
    }
    if (i + 3 < t->count && t->seats[i + 3]->session->peer)
        websocket_fetch(t->seats[i + 3]->session->peer->ws);
    if (i + 2 < t->count && t->seats[i + 2]->session->peer)
        websocket_fetch_more(t->seats[i + 2]->session->peer->ws);
    if (i + 2 < t->count && t->seats[i + 2]->session->replay.newest)
        replay_fetch(&t->seats[i + 2]->session->replay);
}

/* --- changes before delivery ---------------------------------------------------------- */

/* Updates the roles of all subscriptions that the member's sessions on this loop have to the
 * guild. */
static void change_member(const struct delivery *d)
{
    struct topic *own = topic_find(&d->hub->topics, SUBJECT_USER, facts_about(d->facts));

    for (uint32_t i = 0; own && i < own->count; i++) {
        struct seat *seat = seat_find(&own->seats[i]->session->seats, SUBJECT_GUILD, d->topic->id);

        if (seat && !known_has(&seat->known, d->news->number))
            seat_set_roles(seat, facts_ids(d->facts), d->facts->count,
                           d->facts->member.restrained_until);
    }
}

static void change_view(const struct delivery *d, struct guild_view *v)
{
    const struct facts *f = d->facts;

    if (d->news->event == EVENT_GUILD_MEMBER_UPDATE && v)
        change_member(d);
    if (!v || known_has(&v->known, d->news->number))
        return;
    switch (d->news->event) {
    case EVENT_GUILD_UPDATE:
        if (f->guild.owner_id)
            v->owner_id = f->guild.owner_id;
        break;
    case EVENT_GUILD_ROLE_CREATE:
    case EVENT_GUILD_ROLE_UPDATE:
        view_set_role(v, f->role.id, f->role.permissions);
        break;
    case EVENT_GUILD_ROLE_DELETE:
        view_drop_role(v, f->role.id);
        break;
    case EVENT_CHANNEL_CREATE:
    case EVENT_CHANNEL_UPDATE:
        view_set_channel(v, f->channel.id, f->channel.type, facts_overwrites(f), f->count);
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

/* Applies the event to a subscription after its delivery. May free the subscription and, with
 * the last one, its topic. */
static void change_seat(const struct delivery *d, struct seat *seat)
{
    if (d->news->event == EVENT_GUILD_ROLE_DELETE)
        seat_drop_role(seat, d->facts->role.id);
    else if (d->news->event == EVENT_GUILD_DELETE)
        seat_leave(&seat->session->seats, seat);
}

/* GUILD_CREATE and GUILD_DELETE to an account add or remove its sessions' subscriptions. */
static void move_session(const struct delivery *d, struct session *s)
{
    struct seat *seat;

    switch (d->news->event) {
    case EVENT_GUILD_CREATE:
        if (session_covers(s, d->facts->guild.id))
            gateway_upcalls.guild_join(s, d->facts->guild.id,
                                       delivery_is_read_later(d) && delivery_receives(d, s));
        break;
    case EVENT_GUILD_DELETE:
        seat = seat_find(&s->seats, SUBJECT_GUILD, d->facts->guild.id);
        if (seat)
            seat_leave(&s->seats, seat);
        break;
    default:
        break;
    }
}

/* Returns false if more has to be sent to the session, in a later iteration or after a store
 * read. */
static bool tell_seat(struct delivery *d, struct seat *seat)
{
    if (d->sight && sight_is_telling(d->sight, seat))
        return sight_tell(d->sight, d, seat);
    if (!(d->changed && changed_channel_tell(d->changed, d, seat)))
        delivery_give(d, seat);
    return !d->sight || sight_tell(d->sight, d, seat);
}

static void finish_seat(struct delivery *d, struct seat *seat, bool known)
{
    d->topic->told++;
    if (d->topic->kind == SUBJECT_GUILD)
        change_seat(d, seat);
    else if (d->topic->kind == SUBJECT_USER && !known)
        move_session(d, seat->session);
}

/* Returns the budget ticks per session. GUILD_CREATE makes each session read the store, and a
 * long payload is copied for each session, so both cost more. */
static uint32_t ticks_of(const struct delivery *d)
{
    uint32_t bytes = (uint32_t)(news_payload(d->news).n / BYTES_OF_TICK);

    return d->news->event == EVENT_GUILD_CREATE ? BUDGET_TICKS : 1 + bytes;
}

static bool tell_all(struct delivery *d)
{
    uint32_t ticks = ticks_of(d);

    while (d->topic && d->topic->told < d->topic->count) {
        struct topic *t = d->topic;
        struct seat *seat = t->seats[t->told];

        if (d->crowd)
            fetch_ahead(t, t->told);
        bool known = delivery_is_known(d, seat);
        if (!known && !tell_seat(d, seat))
            return false;
        finish_seat(d, seat, known);
        if (hub_is_spent(d->hub, ticks))
            return false;
    }
    return true;
}

static void end_delivery(struct delivery *d)
{
    struct topic *t = d->topic;

    sight_free(d->sight);
    changed_channel_free(d->changed);
    if (!t)
        return;
    t->told = 0;
    if (t->view && d->news->event == EVENT_CHANNEL_DELETE)
        view_drop_channel(t->view, d->facts->channel.id);
    else if (t->view && d->news->event == EVENT_GUILD_ROLE_DELETE)
        view_drop_overwrites(t->view, d->facts->role.id);
}

static void tell_session(const struct delivery *d)
{
    struct session *s = registry_local(d->hub, d->news->to.id);

    if (s && delivery_receives(d, s))
        session_dispatch(s, d->news, 0);
}

/* Each loop has one struct delivery, which is reused for every event. */
static struct delivery *delivery_at_hand(struct hub *h)
{
    if (!h->queue.delivery) {
        h->queue.delivery = mem_new(sizeof *h->queue.delivery);
        h->topics.at_hand = &h->queue.delivery->topic;
    }
    return h->queue.delivery;
}

void dispatch_begin(struct hub *h, struct news *n)
{
    struct delivery *d = delivery_at_hand(h);

    *d = delivery_of(h, n);
    if (n->to.kind == SUBJECT_SESSION) {
        tell_session(d);
        return;
    }
    struct topic *t = topic_find(&h->topics, n->to.kind, n->to.id);
    if (!t)
        return;
    d->topic = t;
    if (t->view) {
        d->sight = sight_begin(d);
        d->changed = changed_channel_begin(d);
    }
    change_view(d, t->view);
    d->crowd = t->count > CROWD && !h->queue.first && !replication_comes_first(h);
}

bool dispatch_continue(struct hub *h)
{
    struct delivery *d = h->queue.delivery;

    if (d->topic && !tell_all(d))
        return false;
    dispatch_drop(h);
    return true;
}

void dispatch_drop(struct hub *h)
{
    struct delivery *d = h->queue.delivery;

    if (!d || !d->news)
        return;
    end_delivery(d);
    d->news = NULL;
    d->topic = NULL;
    d->sight = NULL;
    d->changed = NULL;
}

/* A user session that arrives from another loop gets these changes from seen_channels.h instead. */
static bool is_told_by_sight(const struct session *s, const struct news *n)
{
    return !s->bot && n->to.kind == SUBJECT_GUILD &&
           (n->event == EVENT_CHANNEL_CREATE || n->event == EVENT_CHANNEL_DELETE);
}

void dispatch_to(struct session *s, struct news *n)
{
    bool own = n->to.kind == SUBJECT_SESSION;
    struct seat *seat = own ? NULL : seat_find(&s->seats, n->to.kind, n->to.id);

    if (own ? n->to.id != s->number : !seat || is_told_by_sight(s, n))
        return;
    struct delivery d = delivery_of(s->hub, n);
    if (own) {
        if (delivery_receives(&d, s))
            session_dispatch(s, n, 0);
        return;
    }
    if (delivery_is_known(&d, seat))
        return;
    delivery_give(&d, seat);
    if (n->to.kind == SUBJECT_USER)
        move_session(&d, s);
    else if (n->event == EVENT_GUILD_DELETE && n->to.kind == SUBJECT_GUILD)
        seat_leave(&s->seats, seat);
}
