/* dispatch.c - each event to those who may see it, and to nobody else.
 *
 * What an event changes about rights is taken over before it is delivered, what it
 * takes away after: somebody hears of the last thing it may hear of. */
#include "base/mem.h"
#include "gateway/capabilities.h"
#include "gateway/facts.h"
#include "gateway/internal.h"
#include "gateway/sight.h"

struct delivery {
    struct hub *hub;
    struct news *news;
    const struct event_info *info;
    struct facts facts;
    bool crowd; /* it is for many, and nothing else waits to leave with it */
};

/* What so many are told is written to each at once: gathered until the end of the turn it
 * would leave the caches and come back. */
enum { CROWD = 32 };

/* --- who ------------------------------------------------------------------------------ */

/* In which part of a session's world the event is: its intents count there. */
static unsigned intents_here(const struct delivery *d)
{
    unsigned all = d->info->intents, private = all & INTENTS_PRIVATE;

    switch (d->news->to.kind) {
    case SUBJECT_GUILD:
        return all & ~INTENTS_PRIVATE;
    case SUBJECT_CHANNEL:
        return private;
    default:
        /* A message for one account is private, wherever it is. */
        return private ? private : all;
    }
}

static bool about_itself(const struct delivery *d, const struct session *s)
{
    return d->facts.about && d->facts.about == s->caller.id;
}

static bool asked_for(const struct delivery *d, const struct session *s)
{
    unsigned intents = intents_here(d);

    if (s->bot && d->info->flags & EVENT_TO_USERS)
        return false;
    if (!d->info->intents || intents & s->intents || (!intents && !s->bot))
        return true;
    return d->info->flags & EVENT_OWN && about_itself(d, s);
}

/* A user's event is for one shard: that of its guild, else the first. */
static bool shard_covers(const struct delivery *d, const struct session *s)
{
    snowflake guild_id = d->news->guild_id;

    if (d->news->to.kind == SUBJECT_GUILD || d->news->to.kind == SUBJECT_SESSION)
        return true;
    if (d->news->event == EVENT_GUILD_CREATE || d->news->event == EVENT_GUILD_DELETE)
        guild_id = d->facts.id;
    return guild_id ? session_covers(s, guild_id) : s->shard_id == 0;
}

/* Of itself an account hears also where it cannot look. */
static bool has_rights(const struct delivery *d, struct seat *seat)
{
    const struct subject *to = &d->news->to;
    bool own = d->info->flags & EVENT_OWN && about_itself(d, seat->session);

    if (to->hidden_id && (own || seat_rights(seat, to->hidden_id) & PERMISSION(VIEW_CHANNEL)))
        return false;
    if (own)
        return true;

    if (to->kind != SUBJECT_GUILD || !(to->channel_id || to->any_of))
        return true;
    if (seat->session->bot && d->info->flags & EVENT_BY_INTENT)
        return true;
    bool looks = to->channel_id && !(seat->session->bot && d->info->flags & EVENT_STRUCTURE);
    if (!looks && !to->any_of)
        return true;
    uint64_t rights = seat_rights(seat, to->channel_id);
    return (!looks || rights & PERMISSION(VIEW_CHANNEL)) && (!to->any_of || rights & to->any_of);
}

static bool receives(const struct delivery *d, const struct session *s)
{
    if ((s->bot || s->intents) && !asked_for(d, s))
        return false;
    if (d->news->except && d->news->except == s->number)
        return false;
    if (!shard_covers(d, s) || (d->news->number && d->news->number <= s->seen))
        return false;
    switch (d->news->event) {
    case EVENT_USER_SETTINGS_UPDATE:
        return !(s->capabilities & CAPABILITY_NO_SETTINGS);
    case EVENT_PRESENCE_UPDATE:
    case EVENT_GUILD_MEMBER_REMOVE: /* the one who went is told that the guild is gone */
        return !about_itself(d, s);
    default:
        return true;
    }
}

/* --- what ----------------------------------------------------------------------------- */

static bool mentions(const struct delivery *d, snowflake id)
{
    const snowflake *ids = d->facts.mentioned.items;

    for (size_t i = 0; i < d->facts.mentioned.count; i++)
        if (ids[i] == id)
            return true;
    return false;
}

static unsigned form_for(const struct delivery *d, const struct session *s)
{
    bool hidden = d->info->flags & EVENT_CONTENT && s->bot && d->news->to.kind == SUBJECT_GUILD &&
                  !(s->intents & INTENT(MESSAGE_CONTENT));

    if (!hidden || d->facts.author == s->caller.id || mentions(d, s->caller.id))
        return 0;
    return NEWS_EMPTIED;
}

/* People watch each other come and go in small guilds only. */
static bool is_crowded(const struct delivery *d, const struct seat *seat)
{
    const struct view *v = seat->topic->view;
    enum event event = d->news->event;

    if (event != EVENT_PRESENCE_UPDATE && event != EVENT_GUILD_MEMBER_ADD)
        return false;
    return d->news->to.kind == SUBJECT_GUILD && !seat->session->bot &&
           !about_itself(d, seat->session) && !(v && v->member_count <= SMALL_GUILD);
}

static void deliver(const struct delivery *d, struct seat *seat)
{
    struct session *s = seat->session;

    if (receives(d, s) && !is_crowded(d, seat) && has_rights(d, seat))
        session_dispatch(s, d->news, form_for(d, s));
    else
        return;
    if (d->crowd && s->peer)
        websocket_flush(s->peer->ws);
}

/* In a crowd the next ones are fetched while this one is written to. Each step follows a
 * pointer that the step before it brought near, one session earlier. */
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
        if (s->replay.ring)
            __builtin_prefetch(replay_at(&s->replay, s->replay.count));
    }
    if (i + 3 < t->count && t->seats[i + 3]->session->peer)
        websocket_fetch(t->seats[i + 3]->session->peer->ws);
    if (i + 2 < t->count && t->seats[i + 2]->session->peer)
        websocket_fetch_more(t->seats[i + 2]->session->peer->ws);
}

static void deliver_all(struct delivery *d, struct topic *t)
{
    d->crowd = t->count > CROWD && !d->hub->queue;
    for (uint32_t i = 0; i < t->count; i++) {
        if (d->crowd)
            fetch_ahead(t, i);
        deliver(d, t->seats[i]);
    }
}

/* --- changes -------------------------------------------------------------------------- */

static void change_members(struct delivery *d, struct topic *t)
{
    for (uint32_t i = 0; i < t->count; i++)
        if (t->seats[i]->session->caller.id == d->facts.about)
            seat_set_member(t->seats[i], &d->facts.member);
}

/* Before delivery. */
static void change_view(struct delivery *d, struct topic *t)
{
    struct view *v = t->view;

    if (!v)
        return;
    switch (d->news->event) {
    case EVENT_GUILD_UPDATE:
        if (d->facts.owner_id)
            v->owner_id = d->facts.owner_id;
        break;
    case EVENT_GUILD_ROLE_CREATE:
    case EVENT_GUILD_ROLE_UPDATE:
        view_set_role(v, d->facts.role_id, d->facts.permissions);
        break;
    case EVENT_GUILD_ROLE_DELETE:
        view_drop_role(v, d->facts.role_id);
        for (uint32_t i = 0; i < t->count; i++)
            seat_drop_role(t->seats[i], d->facts.role_id);
        break;
    case EVENT_CHANNEL_CREATE:
    case EVENT_CHANNEL_UPDATE:
    case EVENT_THREAD_CREATE:
    case EVENT_THREAD_UPDATE:
        view_set_channel(v, &d->facts.channel);
        break;
    case EVENT_GUILD_MEMBER_UPDATE:
        change_members(d, t);
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

/* After delivery; the topic may be gone after it. */
static void take_away(struct delivery *d, struct topic *t)
{
    switch (d->news->event) {
    case EVENT_CHANNEL_DELETE:
    case EVENT_THREAD_DELETE:
        if (t->view)
            view_drop_channel(t->view, d->facts.id);
        break;
    case EVENT_GUILD_DELETE:
        for (uint32_t n = t->count; n; n--)
            seat_leave(t->seats[n - 1]);
        break;
    default:
        break;
    }
}

/* What an event to an account means for where its sessions sit. */
static void move_sessions(struct delivery *d, struct session *s)
{
    struct seat *seat;

    switch (d->news->event) {
    case EVENT_GUILD_CREATE:
        if (session_covers(s, d->facts.id))
            guild_join(s, d->facts.id);
        break;
    case EVENT_GUILD_DELETE:
        seat = seat_find(s, SUBJECT_GUILD, d->facts.id);
        if (seat)
            seat_leave(seat);
        break;
    case EVENT_CHANNEL_CREATE:
        if (channel_is_private(d->facts.channel.type) && s->shard_id == 0)
            seat_take(s, SUBJECT_CHANNEL, d->facts.id);
        break;
    case EVENT_CHANNEL_DELETE:
        /* A direct channel that was put aside is still heard of; a group is left. */
        seat = seat_find(s, SUBJECT_CHANNEL, d->facts.id);
        if (seat && d->facts.channel.type == CHANNEL_GROUP)
            seat_leave(seat);
        break;
    default:
        break;
    }
}

/* --- channels that come into view or go out of it ------------------------------------- */

static bool sees(struct seat *seat, snowflake channel_id)
{
    return seat_rights(seat, channel_id) & PERMISSION(VIEW_CHANNEL);
}

/* A changed channel is for users a new one, or gone, when they could not see it
 * before, or cannot any more. */
static void deliver_changed_channel(struct delivery *d, struct topic *t)
{
    bool *before = mem_new(t->count + 1);
    struct news *shown = NULL, *hidden = NULL;
    struct str payload = news_payload(d->news);

    for (uint32_t i = 0; i < t->count; i++)
        before[i] = sees(t->seats[i], d->facts.id);
    change_view(d, t);
    for (uint32_t i = 0; i < t->count; i++) {
        struct session *s = t->seats[i]->session;
        bool now = sees(t->seats[i], d->facts.id);

        if (s->bot || now == before[i] || !receives(d, s)) {
            deliver(d, t->seats[i]);
        } else if (now) {
            shown = shown ? shown : news_new(EVENT_CHANNEL_CREATE, d->news->to, payload);
            session_dispatch(s, shown, 0);
        } else {
            hidden = hidden ? hidden : news_new(EVENT_CHANNEL_DELETE, d->news->to, payload);
            session_dispatch(s, hidden, 0);
        }
    }
    news_unref(shown);
    news_unref(hidden);
    mem_free(before);
}

/* --- all of it ------------------------------------------------------------------------ */

static bool delivery_begin(struct delivery *d, struct hub *h, struct news *n)
{
    *d = (struct delivery){ .hub = h, .news = n, .info = event_info(n->event) };
    return facts_read(n->event, news_payload(n), h->scratch, &d->facts);
}

static void dispatch_to_one(struct hub *h, struct news *n)
{
    struct delivery d;
    struct session *s = registry_local(h, n->to.id);

    if (s && delivery_begin(&d, h, n) && receives(&d, s))
        session_dispatch(s, n, 0);
}

void dispatch(struct hub *h, struct news *n)
{
    struct delivery d;

    if (n->to.kind == SUBJECT_SESSION) {
        dispatch_to_one(h, n);
        return;
    }
    struct topic *t = topic_find(h, n->to.kind, n->to.id);
    if (!t || !delivery_begin(&d, h, n))
        return;
    if (n->event == EVENT_CHANNEL_UPDATE && t->view) {
        deliver_changed_channel(&d, t);
        return;
    }
    struct sight *sight = sight_begin(t, n->event, &d.facts);
    change_view(&d, t);
    deliver_all(&d, t);
    sight_end(sight, h);
    if (n->to.kind == SUBJECT_GUILD) {
        take_away(&d, t);
    } else if (n->to.kind == SUBJECT_USER) {
        for (uint32_t i = 0; i < t->count; i++)
            move_sessions(&d, t->seats[i]->session);
    }
}

void dispatch_to(struct session *s, struct news *n)
{
    struct seat *seat = seat_find(s, n->to.kind, n->to.id);
    struct delivery d;

    if (n->to.kind == SUBJECT_SESSION ? n->to.id != s->number : !seat)
        return;
    if (!delivery_begin(&d, s->hub, n))
        return;
    if (n->to.kind == SUBJECT_SESSION) {
        if (receives(&d, s))
            session_dispatch(s, n, 0);
        return;
    }
    deliver(&d, seat);
    if (n->to.kind == SUBJECT_USER)
        move_sessions(&d, s);
}
