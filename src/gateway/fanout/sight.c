/* sight.c - CHANNEL_CREATE and CHANNEL_DELETE for channels that users gain or lose.
 *
 * When a role, a member's roles or the owner change, users receive these events for each channel
 * that they gain or lose; bots know all channels anyway. Only the values that the event changed
 * are stored. A session's former permissions are computed from them when the session is
 * processed, so no table of sessions and channels is needed. Channels are read from the store
 * when the first session needs their payload. */
#include "gateway/fanout/sight.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "gateway/fanout/thread_sync.h"
#include "gateway/sessions/hub.h"
#include "gateway/sessions/registry.h"
#include "gateway/sessions/session.h"
#include "gateway/views/topics.h"
#include "gateway/views/view.h"
#include "gateway/wire/news.h"
#include "gateway/wire/protocol.h"

enum {
    OVERWRITES_A_TICK = 16,
    LOOK_PLACES = 32,          /* channels per store read */
    LOOK_TICKS = 256,          /* budget for finding channels to read */
    LOOK_NS = 3 * 1000 * 1000, /* time limit of a store read */
};

struct sight_place {
    /* In the guild view, which no event changes during the delivery. */
    const struct place_rule *rule;
    snowflake id;
    bool wanted, read, known;
    struct str payload;   /* in the arena of the store read */
    struct news *news[2]; /* CHANNEL_DELETE, CHANNEL_CREATE; both NULL: the channel is deleted */
};

/* The roles of a session before the event. Stored per session, because a new subscription may
 * have the new roles already. */
struct old_roles {
    uint64_t session;
    snowflake *ids;
    uint32_t count;
};

struct sight_report {
    struct load load;
    snowflake guild_id;
    enum event event;

    /* State of the guild before the event. */
    snowflake owner_id, role_id;
    uint64_t permissions;    /* former permissions of the role role_id */
    struct old_roles *roles; /* former roles of the member's sessions */
    uint32_t role_sets;

    uint64_t session; /* number of the session in progress, or 0 */
    uint32_t at;      /* index of the next channel of the session in progress */
    bool failed;      /* a store read failed */
    struct sight_place *places;
    uint32_t place_count;
    snowflake *gained; /* channels that the session in progress gained */
    uint32_t gained_count, gained_cap;
    bool gained_threads; /* a gained channel can have threads */
};

static const uint64_t SHOWS = PERMISSION(VIEW_CHANNEL) | PERMISSION(ADMINISTRATOR);

static bool has_role(const struct seat *seat, snowflake id)
{
    for (uint32_t i = 0; i < seat->role_count; i++)
        if (seat->roles[i] == id)
            return true;
    return false;
}

static bool has_other_roles(const struct seat *seat, const struct facts *f)
{
    return seat->role_count != f->count ||
           (f->count && memcmp(seat->roles, facts_ids(f), f->count * sizeof *seat->roles) != 0);
}

static const struct old_roles *old_roles_of(const struct sight_report *s, const struct seat *seat)
{
    for (uint32_t i = 0; i < s->role_sets; i++)
        if (s->roles[i].session == seat->session->number)
            return &s->roles[i];
    return NULL;
}

static bool may_change(const struct delivery *d)
{
    const struct guild_view *v = d->topic->view;
    const struct facts *f = d->facts;

    switch (d->news->event) {
    case EVENT_GUILD_ROLE_UPDATE:
        return (view_role(v, f->role.id) ^ f->role.permissions) & SHOWS;
    case EVENT_GUILD_UPDATE:
        return f->guild.owner_id && f->guild.owner_id != v->owner_id;
    case EVENT_GUILD_ROLE_DELETE:
        return true;
    case EVENT_GUILD_MEMBER_UPDATE:
        return topic_find(&d->hub->topics, SUBJECT_USER, facts_about(f));
    default:
        return false;
    }
}

/* Bots know all channels, but need the threads of channels that they can view now. */
static bool hears_of_sight(const struct session *s)
{
    return !s->bot || s->options.intents & INTENT(GUILDS);
}

static bool sight_concerns(const struct sight_report *s, const struct delivery *d,
                           const struct seat *seat)
{
    snowflake id = seat->session->caller.id;

    /* The session's former loop delivered the event and sent the channel changes. */
    if (!hears_of_sight(seat->session) || d->news->number <= seat->session->resume.seen)
        return false;
    switch (s->event) {
    case EVENT_GUILD_ROLE_UPDATE:
        return s->role_id == s->guild_id || has_role(seat, s->role_id);
    case EVENT_GUILD_ROLE_DELETE:
        return has_role(seat, s->role_id);
    case EVENT_GUILD_MEMBER_UPDATE:
        return id == facts_about(d->facts) && old_roles_of(s, seat);
    default:
        return id == s->owner_id || id == d->facts->guild.owner_id;
    }
}

static void note_roles(struct sight_report *s, const struct seat *seat)
{
    struct old_roles *old;

    s->roles = mem_resize(s->roles, (s->role_sets + 1) * sizeof *s->roles);
    old = &s->roles[s->role_sets++];
    *old = (struct old_roles){ .session = seat->session->number, .count = seat->role_count };
    old->ids = mem_resize(NULL, (seat->role_count + 1) * sizeof *old->ids);
    if (seat->role_count)
        memcpy(old->ids, seat->roles, seat->role_count * sizeof *old->ids);
}

static void forget_roles(struct sight_report *s)
{
    for (uint32_t i = 0; i < s->role_sets; i++)
        mem_free(s->roles[i].ids);
    s->role_sets = 0;
}

/* Records the roles of all sessions of the member. */
static void note_member(struct sight_report *s, const struct delivery *d)
{
    const struct topic *own = topic_find(&d->hub->topics, SUBJECT_USER, facts_about(d->facts));

    for (uint32_t i = 0; own && i < own->count; i++) {
        const struct seat *seat =
            seat_find(&own->seats[i]->session->seats, SUBJECT_GUILD, s->guild_id);

        if (seat && hears_of_sight(seat->session) && has_other_roles(seat, d->facts))
            note_roles(s, seat);
    }
}

struct sight_report *sight_begin(const struct delivery *d)
{
    if (!may_change(d))
        return NULL;
    struct sight_report *s = mem_new(sizeof *s);
    s->guild_id = d->topic->id;
    s->event = d->news->event;
    s->owner_id = d->topic->view->owner_id;
    s->role_id = d->facts->kind == FACTS_ROLE ? d->facts->role.id : 0;
    s->permissions = s->role_id ? view_role(d->topic->view, s->role_id) : 0;
    if (s->event == EVENT_GUILD_MEMBER_UPDATE)
        note_member(s, d);
    return s;
}

static void free_places(struct sight_report *s)
{
    for (uint32_t i = 0; i < s->place_count; i++) {
        news_unref(s->places[i].news[0]);
        news_unref(s->places[i].news[1]);
    }
    mem_free(s->places);
}

void sight_free(struct sight_report *s)
{
    if (!s)
        return;
    free_places(s);
    forget_roles(s);
    mem_free(s->roles);
    mem_free(s->gained);
    mem_free(s);
}

static int compare_places(const void *a, const void *b)
{
    snowflake x = ((const struct sight_place *)a)->id, y = ((const struct sight_place *)b)->id;

    return x < y ? -1 : x > y;
}

/* Collects the channels sorted by id, so that categories come before their channels. */
static void list_places(struct sight_report *s, const struct guild_view *v)
{
    size_t at = 0;

    s->places = mem_new((v->channels.count + 1) * sizeof *s->places);
    for (const struct place_rule *p; (p = map_next(&v->channels, &at));)
        if (!channel_is_thread(p->type))
            s->places[s->place_count++] = (struct sight_place){ .rule = p, .id = p->id };
    qsort(s->places, s->place_count, sizeof *s->places, compare_places);
}

/* Ignores timeouts, because they do not remove VIEW_CHANNEL. */
struct rights_of sight_rights(const struct seat *seat)
{
    const struct guild_view *v = seat->topic->view;
    struct rights_of who = {
        .guild_id = v->guild_id,
        .user_id = seat->session->caller.id,
        .owner = v->owner_id == seat->session->caller.id,
        .base = view_role(v, v->guild_id),
        .roles = seat->roles,
        .role_count = seat->role_count,
    };

    for (uint32_t i = 0; i < seat->role_count; i++)
        who.base |= view_role(v, seat->roles[i]);
    return who;
}

static uint64_t permissions_before(const struct sight_report *s, const struct guild_view *v,
                                   snowflake id)
{
    return id == s->role_id ? s->permissions : view_role(v, id);
}

static struct rights_of rights_before(const struct sight_report *s, const struct seat *seat)
{
    const struct guild_view *v = seat->topic->view;
    const struct old_roles *old = old_roles_of(s, seat);
    struct rights_of who = {
        .guild_id = v->guild_id,
        .user_id = seat->session->caller.id,
        .owner = s->owner_id == seat->session->caller.id,
        .base = permissions_before(s, v, v->guild_id),
        .roles = old ? old->ids : seat->roles,
        .role_count = old ? old->count : seat->role_count,
    };

    for (size_t i = 0; i < who.role_count; i++)
        who.base |= permissions_before(s, v, who.roles[i]);
    return who;
}

struct sight_change {
    struct rights_of before, now;
};

bool sight_shows(const struct rights_of *who, const struct place_rule *p)
{
    return rights_in_channel(who, p->type, p->overwrites, p->count, false) &
           PERMISSION(VIEW_CHANNEL);
}

static bool place_changes(const struct sight_change *c, const struct sight_place *p,
                          bool *ret_shown)
{
    *ret_shown = sight_shows(&c->now, p->rule);
    return sight_shows(&c->before, p->rule) != *ret_shown;
}

static uint32_t place_ticks(const struct sight_place *p)
{
    return 1 + p->rule->count / OVERWRITES_A_TICK;
}

static enum err read_place(struct sight_report *s, struct sight_place *p, struct tx *tx)
{
    const struct gateway_source *source = s->load.hub->gateway->options.source;
    struct buf out;
    struct json j = json_to(&out);

    buf_init(&out, MAX_PAYLOAD);
    enum err e = source->channel(tx, p->id, &j);
    if (!e)
        p->payload = buf_take(&out, tx_arena(tx));
    buf_clear(&out);
    if (e == ERR_UNKNOWN_CHANNEL)
        e = OK; /* the channel is deleted; its CHANNEL_DELETE event follows */
    p->read = !e;
    return e;
}

/* A read that takes too long on the loop is restarted in the background, so results of the first
 * run are reset. */
static enum err read_places(struct load *l, struct tx *tx)
{
    struct sight_report *s = container_of(l, struct sight_report, load);
    int64_t end = clock_mono() + LOOK_NS;
    enum err e = OK;

    for (uint32_t i = s->at; i < s->place_count; i++) {
        s->places[i].read = false;
        s->places[i].payload = (struct str){ 0 };
    }
    for (uint32_t i = s->at; i < s->place_count && !e && clock_mono() < end; i++)
        if (s->places[i].wanted && !s->places[i].known)
            e = read_place(s, &s->places[i], tx);
    return e;
}

static void places_read(struct load *l, enum err e)
{
    struct sight_report *s = container_of(l, struct sight_report, load);

    s->failed = e != OK;
    for (uint32_t i = s->at; i < s->place_count; i++) {
        struct sight_place *p = &s->places[i];

        p->known |= p->read;
        if (p->payload.p)
            p->news[1] = news_new(EVENT_CHANNEL_CREATE, to_viewers(s->guild_id, p->id), p->payload);
        p->payload = (struct str){ 0 };
    }
}

/* Starts to read the next channels that the session gains or loses. */
static void look_at_places(struct sight_report *s, const struct sight_change *c, struct hub *h)
{
    uint32_t wanted = 0, ticks = 0;
    bool shown;

    for (uint32_t i = s->at; i < s->place_count && wanted < LOOK_PLACES && ticks < LOOK_TICKS;
         i++) {
        struct sight_place *p = &s->places[i];

        ticks += place_ticks(p);
        if (!p->known && place_changes(c, p, &shown))
            wanted += p->wanted = true;
    }
    s->load = (struct load){ .quiet = true, .run = read_places, .done = places_read };
    hub_load_now(h, &s->load);
}

bool sight_may_have_threads(int64_t type)
{
    return type == CHANNEL_TEXT || type == CHANNEL_NEWS || channel_holds_posts(type);
}

static void note_gained(struct sight_report *s, const struct sight_place *p)
{
    if (s->gained_count == s->gained_cap) {
        s->gained_cap = s->gained_cap ? s->gained_cap * 2 : 16;
        s->gained = mem_resize(s->gained, s->gained_cap * sizeof *s->gained);
    }
    s->gained[s->gained_count++] = p->id;
    s->gained_threads |= sight_may_have_threads(p->rule->type);
}

static void tell_gained(struct sight_report *s, struct session *to)
{
    if (s->gained_threads)
        thread_sync_begin(to, s->guild_id, s->gained, s->gained_count);
    s->gained_count = 0;
    s->gained_threads = false;
}

static void tell_place(const struct sight_report *s, struct sight_place *p, struct session *to,
                       bool shown)
{
    if (!p->news[1])
        return;
    if (!shown && !p->news[0])
        p->news[0] = news_new(EVENT_CHANNEL_DELETE, to_viewers(s->guild_id, p->id),
                              news_payload(p->news[1]));
    session_dispatch(to, p->news[shown], 0);
}

static bool tell_places(struct sight_report *s, const struct sight_change *c, struct seat *seat)
{
    struct hub *h = seat->session->hub;
    bool shown;

    for (; s->at < s->place_count; s->at++) {
        struct sight_place *p = &s->places[s->at];

        if (hub_is_spent(h, place_ticks(p)))
            return false;
        if (!place_changes(c, p, &shown))
            continue;
        if (seat->session->bot) {
            if (shown)
                note_gained(s, p);
            continue;
        }
        if (s->failed) {
            /* The client would have wrong channels, so it has to identify again. */
            session_invalid_soon(h, s->session);
            return true;
        }
        if (!p->known) {
            look_at_places(s, c, h);
            return false;
        }
        tell_place(s, p, seat->session, shown);
        if (shown)
            note_gained(s, p);
    }
    return true;
}

bool sight_is_telling(const struct sight_report *s, const struct seat *seat)
{
    return s->session == seat->session->number;
}

bool sight_tell(struct sight_report *s, const struct delivery *d, struct seat *seat)
{
    if (!sight_is_telling(s, seat)) {
        if (!sight_concerns(s, d, seat))
            return true;
        if (!s->places)
            list_places(s, seat->topic->view);
        s->session = seat->session->number;
        s->at = 0;
        if (s->event == EVENT_GUILD_ROLE_DELETE) {
            forget_roles(s); /* frees the roles of the previous session */
            note_roles(s, seat);
            seat_drop_role(seat, s->role_id);
        }
    }
    struct sight_change c = { rights_before(s, seat), sight_rights(seat) };
    if (!tell_places(s, &c, seat))
        return false;
    tell_gained(s, seat->session);
    s->session = 0;
    return true;
}
