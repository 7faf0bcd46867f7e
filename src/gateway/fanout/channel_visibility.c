/* channel_visibility.c - sends CHANNEL_CREATE and CHANNEL_DELETE to users who gain or lose
 * channels.
 *
 * A user gains a channel when it becomes visible to the user, for example because a role, the roles
 * of the member or the guild's owner change. Bots do not need this, because they know all channels.
 * Only the values that the event changed are stored. A session's former permissions are computed
 * from these values when the session is processed, so no table of sessions and channels is needed.
 * Channels are read from the store when the first session needs their payload. */
#include "gateway/fanout/channel_visibility.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "gateway/fanout/thread_sync.h"
#include "gateway/sessions/gateway_loop.h"
#include "gateway/sessions/registry.h"
#include "gateway/sessions/session.h"
#include "gateway/subscriptions/topics.h"
#include "gateway/subscriptions/guild_view.h"
#include "gateway/wire/gateway_event.h"
#include "gateway/wire/protocol.h"

enum {
    OVERWRITES_PER_TICK = 16,
    CHANNELS_PER_READ = 32, /* channels per store read */
    /* Cost of one search for channels to read from the store, in budget ticks (budget.h). */
    FIND_CHANNELS_TICKS = 256,
    READ_CHANNELS_NS = 3 * 1000 * 1000, /* time limit of one store read of channels, in ns */
};

struct visibility_channel {
    /* Overwrites of the channel in the guild view. No event changes them during the delivery. */
    const struct channel_overwrites *rule;
    snowflake id;
    bool wanted, read, known;
    struct str payload; /* JSON of the channel, in the arena of the store read */
    /* Events to send: [0] is CHANNEL_DELETE, [1] is CHANNEL_CREATE; both NULL if it is deleted. */
    struct gateway_event *events[2];
};

/* The roles of a member before the event. Each session of the member has its own copy: a session
 * that subscribed after the commit of the event has the new roles already. */
struct old_roles {
    uint64_t session;
    snowflake *ids;
    uint32_t count;
};

struct visibility_changes {
    struct session_store_read store_read;
    snowflake guild_id;
    enum event event;

    /* The next fields, up to role_sets, have the values from before the event. */
    snowflake owner_id, role_id;
    uint64_t permissions;    /* former permissions of the role role_id */
    struct old_roles *roles; /* array: the former roles of each session of the member */
    uint32_t role_sets;

    uint64_t session; /* number of the session that is being processed, or 0 */
    uint32_t at;      /* index of that session's next channel */
    bool failed;      /* a store read failed */
    struct visibility_channel *channels;
    uint32_t channel_count;
    snowflake *gained; /* ids of the channels that became visible to the session being processed */
    uint32_t gained_count, gained_cap;
    bool gained_threads; /* a gained channel can have threads */
};

static const uint64_t VIEW_PERMISSIONS = PERMISSION(VIEW_CHANNEL) | PERMISSION(ADMINISTRATOR);

static bool subscription_has_role(const struct topic_subscription *seat, snowflake id)
{
    for (uint32_t i = 0; i < seat->role_count; i++)
        if (seat->roles[i] == id)
            return true;
    return false;
}

static bool subscription_roles_have_changed(const struct topic_subscription *seat,
                                            const struct event_routing *f)
{
    return seat->role_count != f->count ||
           (f->count &&
            memcmp(seat->roles, event_routing_get_ids(f), f->count * sizeof *seat->roles) != 0);
}

static const struct old_roles *find_old_roles_of_session(const struct visibility_changes *s,
                                                         const struct topic_subscription *seat)
{
    for (uint32_t i = 0; i < s->role_sets; i++)
        if (s->roles[i].session == seat->session->number)
            return &s->roles[i];
    return NULL;
}

static bool event_can_change_visibility(const struct event_delivery *d)
{
    const struct guild_view *v = d->topic->view;
    const struct event_routing *f = d->routing;

    switch (d->event->type) {
    case EVENT_GUILD_ROLE_UPDATE:
        return (guild_view_role_permissions(v, f->role.id) ^ f->role.permissions) &
               VIEW_PERMISSIONS;
    case EVENT_GUILD_UPDATE:
        return f->guild.owner_id && f->guild.owner_id != v->owner_id;
    case EVENT_GUILD_ROLE_DELETE:
        return true;
    case EVENT_GUILD_MEMBER_UPDATE:
        return topic_find(&d->gateway_loop->topics, AUDIENCE_USER, event_routing_get_user_id(f));
    default:
        return false;
    }
}

/* Returns whether the session must be notified of channels that become visible. Bots know all
 * channels, but a bot needs the Discord threads of channels that become visible to it. */
static bool session_needs_channel_visibility_changes(const struct session *s)
{
    return !s->bot || s->options.intents & INTENT(GUILDS);
}

static bool visibility_change_affects_session(const struct visibility_changes *s,
                                              const struct event_delivery *d,
                                              const struct topic_subscription *seat)
{
    snowflake id = seat->session->caller.id;

    /* If a session has just moved to this loop, its former loop has sent CHANNEL_CREATE and
     * CHANNEL_DELETE for this event. */
    if (!session_needs_channel_visibility_changes(seat->session) ||
        d->event->number <= seat->session->resume.delivered_elsewhere)
        return false;
    switch (s->event) {
    case EVENT_GUILD_ROLE_UPDATE:
        return s->role_id == s->guild_id || subscription_has_role(seat, s->role_id);
    case EVENT_GUILD_ROLE_DELETE:
        return subscription_has_role(seat, s->role_id);
    case EVENT_GUILD_MEMBER_UPDATE:
        return id == event_routing_get_user_id(d->routing) && find_old_roles_of_session(s, seat);
    default:
        return id == s->owner_id || id == d->routing->guild.owner_id;
    }
}

static void record_old_roles(struct visibility_changes *s, const struct topic_subscription *seat)
{
    struct old_roles *old;

    s->roles = mem_resize(s->roles, (s->role_sets + 1) * sizeof *s->roles);
    old = &s->roles[s->role_sets++];
    *old = (struct old_roles){ .session = seat->session->number, .count = seat->role_count };
    old->ids = mem_resize(NULL, (seat->role_count + 1) * sizeof *old->ids);
    if (seat->role_count)
        memcpy(old->ids, seat->roles, seat->role_count * sizeof *old->ids);
}

static void free_old_roles(struct visibility_changes *s)
{
    for (uint32_t i = 0; i < s->role_sets; i++)
        mem_free(s->roles[i].ids);
    s->role_sets = 0;
}

/* Records the roles that each session of the member has before the event. */
static void record_member_old_roles(struct visibility_changes *s, const struct event_delivery *d)
{
    const struct topic *own =
        topic_find(&d->gateway_loop->topics, AUDIENCE_USER, event_routing_get_user_id(d->routing));

    for (uint32_t i = 0; own && i < own->count; i++) {
        const struct topic_subscription *seat = session_subscription_find(
            &own->subscriptions[i]->session->subscriptions, AUDIENCE_GUILD, s->guild_id);

        if (seat && session_needs_channel_visibility_changes(seat->session) &&
            subscription_roles_have_changed(seat, d->routing))
            record_old_roles(s, seat);
    }
}

struct visibility_changes *channel_visibility_changes_new(const struct event_delivery *d)
{
    if (!event_can_change_visibility(d))
        return NULL;
    struct visibility_changes *s = mem_new(sizeof *s);
    s->guild_id = d->topic->id;
    s->event = d->event->type;
    s->owner_id = d->topic->view->owner_id;
    s->role_id = d->routing->kind == ROUTING_ROLE ? d->routing->role.id : 0;
    s->permissions = s->role_id ? guild_view_role_permissions(d->topic->view, s->role_id) : 0;
    if (s->event == EVENT_GUILD_MEMBER_UPDATE)
        record_member_old_roles(s, d);
    return s;
}

static void free_visibility_channels(struct visibility_changes *s)
{
    for (uint32_t i = 0; i < s->channel_count; i++) {
        gateway_event_unref(s->channels[i].events[0]);
        gateway_event_unref(s->channels[i].events[1]);
    }
    mem_free(s->channels);
}

void channel_visibility_changes_free(struct visibility_changes *s)
{
    if (!s)
        return;
    free_visibility_channels(s);
    free_old_roles(s);
    mem_free(s->roles);
    mem_free(s->gained);
    mem_free(s);
}

static int compare_channel_ids(const void *a, const void *b)
{
    snowflake x = ((const struct visibility_channel *)a)->id,
              y = ((const struct visibility_channel *)b)->id;

    return x < y ? -1 : x > y;
}

/* Collects the guild's channels sorted by id, so that categories come before their channels. */
static void collect_guild_channels(struct visibility_changes *s, const struct guild_view *v)
{
    size_t at = 0;

    s->channels = mem_new((v->channels.count + 1) * sizeof *s->channels);
    for (const struct channel_overwrites *p; (p = map_next_value(&v->channels, &at));)
        if (!channel_is_thread(p->type))
            s->channels[s->channel_count++] = (struct visibility_channel){ .rule = p, .id = p->id };
    qsort(s->channels, s->channel_count, sizeof *s->channels, compare_channel_ids);
}

/* Returns the member's permission input without a timeout, because a timeout does not remove
 * VIEW_CHANNEL. */
struct permission_computation_input subscription_get_permissions_ignoring_timeout(
    const struct topic_subscription *seat)
{
    const struct guild_view *v = seat->topic->view;
    struct permission_computation_input who = {
        .guild_id = v->guild_id,
        .user_id = seat->session->caller.id,
        .owner = v->owner_id == seat->session->caller.id,
        .base = guild_view_role_permissions(v, v->guild_id),
        .roles = seat->roles,
        .role_count = seat->role_count,
    };

    for (uint32_t i = 0; i < seat->role_count; i++)
        who.base |= guild_view_role_permissions(v, seat->roles[i]);
    return who;
}

static uint64_t role_permissions_before_event(const struct visibility_changes *s,
                                              const struct guild_view *v, snowflake id)
{
    return id == s->role_id ? s->permissions : guild_view_role_permissions(v, id);
}

static struct permission_computation_input get_member_access_before_event(
    const struct visibility_changes *s, const struct topic_subscription *seat)
{
    const struct guild_view *v = seat->topic->view;
    const struct old_roles *old = find_old_roles_of_session(s, seat);
    struct permission_computation_input who = {
        .guild_id = v->guild_id,
        .user_id = seat->session->caller.id,
        .owner = s->owner_id == seat->session->caller.id,
        .base = role_permissions_before_event(s, v, v->guild_id),
        .roles = old ? old->ids : seat->roles,
        .role_count = old ? old->count : seat->role_count,
    };

    for (size_t i = 0; i < who.role_count; i++)
        who.base |= role_permissions_before_event(s, v, who.roles[i]);
    return who;
}

struct permissions_change {
    struct permission_computation_input before, now;
};

bool member_can_view_channel(const struct permission_computation_input *who,
                             const struct channel_overwrites *p)
{
    return permissions_in_channel(who, p->type, p->overwrites, p->count, false) &
           PERMISSION(VIEW_CHANNEL);
}

static bool member_channel_visibility_changes(const struct permissions_change *c,
                                              const struct visibility_channel *p, bool *ret_shown)
{
    *ret_shown = member_can_view_channel(&c->now, p->rule);
    return member_can_view_channel(&c->before, p->rule) != *ret_shown;
}

static uint32_t compute_channel_check_cost(const struct visibility_channel *p)
{
    return 1 + p->rule->count / OVERWRITES_PER_TICK;
}

static enum err read_channel_payload(struct visibility_changes *s, struct visibility_channel *p,
                                     struct tx *tx)
{
    const struct gateway_source *source = s->store_read.gateway_loop->gateway->options.source;
    struct buf out;
    struct json_writer j = json_writer_to_buf(&out);

    buf_init(&out, MAX_PAYLOAD);
    enum err e = source->channel(tx, p->id, &j);
    if (!e)
        p->payload = buf_move_to_arena(&out, tx_arena(tx));
    buf_clear(&out);
    if (e == ERR_UNKNOWN_CHANNEL)
        e = OK; /* the channel is deleted; its CHANNEL_DELETE event follows */
    p->read = !e;
    return e;
}

/* Reads the JSON of channels from the store. First frees the results of an earlier run, because the
 * store restarts long reads in the background. */
static enum err read_channel_payloads(struct session_store_read *l, struct tx *tx)
{
    struct visibility_changes *s = container_of(l, struct visibility_changes, store_read);
    int64_t end = clock_monotonic_ns() + READ_CHANNELS_NS;
    enum err e = OK;

    for (uint32_t i = s->at; i < s->channel_count; i++) {
        s->channels[i].read = false;
        s->channels[i].payload = (struct str){ 0 };
    }
    for (uint32_t i = s->at; i < s->channel_count && !e && clock_monotonic_ns() < end; i++)
        if (s->channels[i].wanted && !s->channels[i].known)
            e = read_channel_payload(s, &s->channels[i], tx);
    return e;
}

static void on_channel_payloads_read(struct session_store_read *l, enum err e)
{
    struct visibility_changes *s = container_of(l, struct visibility_changes, store_read);

    s->failed = e != OK;
    for (uint32_t i = s->at; i < s->channel_count; i++) {
        struct visibility_channel *p = &s->channels[i];

        p->known |= p->read;
        if (p->payload.p)
            p->events[1] = gateway_event_new(
                EVENT_CHANNEL_CREATE, audience_of_channel_viewers(s->guild_id, p->id), p->payload);
        p->payload = (struct str){ 0 };
    }
}

/* Starts to read the next channels that become visible or invisible to the session. */
static void begin_channel_payloads_read(struct visibility_changes *s,
                                        const struct permissions_change *c, struct gateway_loop *h)
{
    uint32_t wanted = 0, ticks = 0;
    bool shown;

    for (uint32_t i = s->at;
         i < s->channel_count && wanted < CHANNELS_PER_READ && ticks < FIND_CHANNELS_TICKS; i++) {
        struct visibility_channel *p = &s->channels[i];

        ticks += compute_channel_check_cost(p);
        if (!p->known && member_channel_visibility_changes(c, p, &shown))
            wanted += p->wanted = true;
    }
    s->store_read = (struct session_store_read){ .blocks_events = true,
                                                 .run = read_channel_payloads,
                                                 .done = on_channel_payloads_read };
    begin_unordered_session_store_read(h, &s->store_read);
}

bool channel_type_has_threads(int64_t type)
{
    return type == CHANNEL_TEXT || type == CHANNEL_ANNOUNCEMENT || channel_is_forum_or_media(type);
}

static void record_channel_now_visible(struct visibility_changes *s,
                                       const struct visibility_channel *p)
{
    if (s->gained_count == s->gained_cap) {
        s->gained_cap = s->gained_cap ? s->gained_cap * 2 : 16;
        s->gained = mem_resize(s->gained, s->gained_cap * sizeof *s->gained);
    }
    s->gained[s->gained_count++] = p->id;
    s->gained_threads |= channel_type_has_threads(p->rule->type);
}

static void send_threads_of_gained_channels(struct visibility_changes *s, struct session *to)
{
    if (s->gained_threads)
        begin_sending_thread_list_sync(to, s->guild_id, s->gained, s->gained_count);
    s->gained_count = 0;
    s->gained_threads = false;
}

static void send_channel_create_or_delete(const struct visibility_changes *s,
                                          struct visibility_channel *p, struct session *to,
                                          bool shown)
{
    if (!p->events[1])
        return;
    if (!shown && !p->events[0])
        p->events[0] =
            gateway_event_new(EVENT_CHANNEL_DELETE, audience_of_channel_viewers(s->guild_id, p->id),
                              gateway_event_get_payload(p->events[1]));
    session_deliver_event(to, p->events[shown], 0);
}

static bool send_channel_creates_and_deletes(struct visibility_changes *s,
                                             const struct permissions_change *c,
                                             struct topic_subscription *seat)
{
    struct gateway_loop *h = seat->session->gateway_loop;
    bool shown;

    for (; s->at < s->channel_count; s->at++) {
        struct visibility_channel *p = &s->channels[s->at];

        if (loop_event_time_is_used_up(h, compute_channel_check_cost(p)))
            return false;
        if (!member_channel_visibility_changes(c, p, &shown))
            continue;
        if (seat->session->bot) {
            if (shown)
                record_channel_now_visible(s, p);
            continue;
        }
        if (s->failed) {
            /* The client would have wrong channels without this read, so it must identify. */
            session_schedule_invalidation(h, s->session);
            return true;
        }
        if (!p->known) {
            begin_channel_payloads_read(s, c, h);
            return false;
        }
        send_channel_create_or_delete(s, p, seat->session, shown);
        if (shown)
            record_channel_now_visible(s, p);
    }
    return true;
}

bool session_has_unsent_visibility_changes(const struct visibility_changes *s,
                                           const struct topic_subscription *seat)
{
    return s->session == seat->session->number;
}

bool channel_visibility_changes_send(struct visibility_changes *s, const struct event_delivery *d,
                                     struct topic_subscription *seat)
{
    if (!session_has_unsent_visibility_changes(s, seat)) {
        if (!visibility_change_affects_session(s, d, seat))
            return true;
        if (!s->channels)
            collect_guild_channels(s, seat->topic->view);
        s->session = seat->session->number;
        s->at = 0;
        if (s->event == EVENT_GUILD_ROLE_DELETE) {
            free_old_roles(s); /* frees the old roles of the previous session */
            record_old_roles(s, seat);
            subscription_remove_role(seat, s->role_id);
        }
    }
    struct permissions_change c = { get_member_access_before_event(s, seat),
                                    subscription_get_permissions_ignoring_timeout(seat) };
    if (!send_channel_creates_and_deletes(s, &c, seat))
        return false;
    send_threads_of_gained_channels(s, seat->session);
    s->session = 0;
    return true;
}
