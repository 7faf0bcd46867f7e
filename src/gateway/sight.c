/* sight.c - channels that come into view for somebody, or go out of it.
 *
 * When roles, or who has them, change what somebody can view, people are told of each
 * channel as if it had been made or deleted. Bots know every channel anyway. Which ones
 * these are is worked out here; what they are like is read from the store before the
 * next event. */
#include "gateway/sight.h"

#include <stdlib.h>

#include "base/mem.h"

struct sight {
    struct topic *topic;
    uint32_t seat_count, place_count;
    struct seat **seats;              /* whose view may change */
    const struct place_rule **places; /* channels of the guild */
    bool *seen;                       /* place_count for each seat */
};

/* --- whom it may concern -------------------------------------------------------------- */

static const uint64_t SHOWS = PERMISSION(VIEW_CHANNEL) | PERMISSION(ADMINISTRATOR);

static bool has_role(const struct seat *seat, snowflake id)
{
    for (uint32_t i = 0; i < seat->role_count; i++)
        if (seat->roles[i] == id)
            return true;
    return false;
}

static bool has_other_roles(const struct seat *seat, const struct member *m)
{
    return seat->role_count != m->roles.count ||
           (m->roles.count &&
            memcmp(seat->roles, m->roles.items, m->roles.count * sizeof *seat->roles) != 0);
}

static bool may_change(enum event event, const struct view *v, const struct facts *f)
{
    switch (event) {
    case EVENT_GUILD_ROLE_UPDATE:
        return (view_role(v, f->role_id) ^ f->permissions) & SHOWS;
    case EVENT_GUILD_UPDATE:
        return f->owner_id && f->owner_id != v->owner_id;
    case EVENT_GUILD_ROLE_DELETE:
    case EVENT_GUILD_MEMBER_UPDATE:
        return true;
    default:
        return false;
    }
}

static bool concerns(enum event event, const struct seat *seat, const struct facts *f)
{
    snowflake id = seat->session->caller.id;

    if (seat->session->bot)
        return false;
    switch (event) {
    case EVENT_GUILD_ROLE_UPDATE:
        return f->role_id == seat->topic->id || has_role(seat, f->role_id);
    case EVENT_GUILD_ROLE_DELETE:
        return has_role(seat, f->role_id);
    case EVENT_GUILD_MEMBER_UPDATE:
        return f->about == id && has_other_roles(seat, &f->member);
    default:
        return id == f->owner_id || id == seat->topic->view->owner_id;
    }
}

/* --- before and after ----------------------------------------------------------------- */

static bool sees(struct seat *seat, snowflake channel_id)
{
    return seat_rights(seat, channel_id) & PERMISSION(VIEW_CHANNEL);
}

static int by_id(const void *a, const void *b)
{
    snowflake x = (*(const struct place_rule *const *)a)->id;
    snowflake y = (*(const struct place_rule *const *)b)->id;

    return x < y ? -1 : x > y;
}

/* The oldest first: categories come before what is in them. */
static void list_places(struct sight *s)
{
    const struct view *v = s->topic->view;
    size_t at = 0;

    s->places = mem_new((v->channels.count + 1) * sizeof *s->places);
    for (const struct place_rule *p; (p = map_next(&v->channels, &at));)
        if (!channel_is_thread(p->type))
            s->places[s->place_count++] = p;
    qsort(s->places, s->place_count, sizeof(const struct place_rule *), by_id);
}

static void look(struct sight *s)
{
    s->seen = mem_new((size_t)s->seat_count * s->place_count + 1);
    for (uint32_t i = 0; i < s->seat_count; i++)
        for (uint32_t k = 0; k < s->place_count; k++)
            s->seen[(size_t)i * s->place_count + k] = sees(s->seats[i], s->places[k]->id);
}

struct sight *sight_begin(struct topic *t, enum event event, const struct facts *f)
{
    if (!t->view || !may_change(event, t->view, f))
        return NULL;
    struct sight *s = mem_new(sizeof *s);
    s->topic = t;
    s->seats = mem_new((t->count + 1) * sizeof(struct seat *));
    for (uint32_t i = 0; i < t->count; i++)
        if (concerns(event, t->seats[i], f))
            s->seats[s->seat_count++] = t->seats[i];
    if (s->seat_count) {
        list_places(s);
        look(s);
    }
    return s;
}

/* --- telling -------------------------------------------------------------------------- */

struct change {
    uint64_t session;
    uint32_t place; /* which of the places */
    bool shown;
};

/* A look at the channels, then what each session is told. */
struct unveiling {
    struct load load;
    snowflake guild_id;
    struct change *changes;
    size_t count, cap;
    uint32_t place_count;
    struct spot {
        snowflake id;
        bool wanted;
        struct str payload;   /* p == NULL: it is gone */
        struct news *news[2]; /* hidden, shown */
    } places[];
};

static void note(struct unveiling *u, const struct seat *seat, uint32_t place, bool shown)
{
    if (u->count == u->cap) {
        u->cap = u->cap ? u->cap * 2 : 16;
        u->changes = mem_resize(u->changes, u->cap * sizeof *u->changes);
    }
    u->changes[u->count++] = (struct change){ seat->session->number, place, shown };
    u->places[place].wanted = true;
}

static enum err read_places(struct load *l, struct tx *tx)
{
    struct unveiling *u = container_of(l, struct unveiling, load);
    const struct gateway_source *source = l->hub->gateway->options.source;
    struct buf out;
    enum err e = OK;

    buf_init(&out, MAX_PAYLOAD);
    for (uint32_t i = 0; !e && i < u->place_count; i++) {
        struct json j = json_to(&out);

        if (!u->places[i].wanted)
            continue;
        buf_reset(&out);
        e = source->channel(tx, u->places[i].id, &j);
        if (!e)
            u->places[i].payload = str_dup(tx_arena(tx), buf_str(&out));
        else if (e == ERR_UNKNOWN_CHANNEL)
            e = OK; /* that it is deleted comes next */
    }
    buf_clear(&out);
    return e;
}

static void tell(struct hub *h, struct unveiling *u, const struct change *c)
{
    struct session *s = registry_local(h, c->session);
    struct spot *p = &u->places[c->place];

    if (!s || !p->payload.p || !seat_find(s, SUBJECT_GUILD, u->guild_id))
        return;
    if (!p->news[c->shown])
        p->news[c->shown] = news_new(c->shown ? EVENT_CHANNEL_CREATE : EVENT_CHANNEL_DELETE,
                                     to_viewers(u->guild_id, p->id), p->payload);
    session_dispatch(s, p->news[c->shown], 0);
}

static void tell_all(struct load *l, enum err e)
{
    struct unveiling *u = container_of(l, struct unveiling, load);

    for (size_t i = 0; i < u->count; i++)
        if (!e)
            tell(l->hub, u, &u->changes[i]);
        else /* it would not know what it sees */
            session_invalid_soon(l->hub, u->changes[i].session);
    for (uint32_t i = 0; i < u->place_count; i++) {
        news_unref(u->places[i].news[0]);
        news_unref(u->places[i].news[1]);
    }
    mem_free(u->changes);
    mem_free(u);
}

static void compare(struct sight *s, struct unveiling *u)
{
    for (uint32_t i = 0; i < s->seat_count; i++)
        for (uint32_t k = 0; k < s->place_count; k++) {
            bool now = sees(s->seats[i], s->places[k]->id);

            if (now != s->seen[(size_t)i * s->place_count + k])
                note(u, s->seats[i], k, now);
        }
}

static void unveil(struct sight *s, struct hub *h)
{
    struct unveiling *u = mem_new(sizeof *u + s->place_count * sizeof *u->places);

    u->guild_id = s->topic->id;
    u->place_count = s->place_count;
    for (uint32_t k = 0; k < s->place_count; k++)
        u->places[k].id = s->places[k]->id;
    compare(s, u);
    if (!u->count) {
        mem_free(u);
        return;
    }
    u->load = (struct load){ .quiet = true, .run = read_places, .done = tell_all };
    hub_load_now(h, &u->load);
}

void sight_end(struct sight *s, struct hub *h)
{
    if (!s)
        return;
    if (s->seat_count)
        unveil(s, h);
    mem_free(s->seats);
    mem_free(s->places);
    mem_free(s->seen);
    mem_free(s);
}
