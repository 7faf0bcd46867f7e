/* guilds.c - subscribes sessions to their guilds and sends GUILD_CREATE. */
#include "gateway/identify/guilds.h"

#include <stdio.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/planted.h"
#include "gateway/presence/presence.h"
#include "gateway/sessions/errands.h"
#include "gateway/sessions/hub.h"
#include "gateway/sessions/registry.h"
#include "gateway/sessions/session.h"
#include "gateway/views/known.h"
#include "gateway/views/topics.h"
#include "gateway/views/view.h"
#include "gateway/wire/news.h"
#include "gateway/wire/protocol.h"

static bool is_gone(enum err e)
{
    return e == ERR_UNKNOWN_GUILD || e == ERR_UNKNOWN_MEMBER || e == ERR_MISSING_ACCESS;
}

enum err guild_facts_read(struct hub *h, struct tx *tx, const struct gateway_viewer *v,
                          struct json *payload, struct guild_facts *f)
{
    const struct gateway_source *source = h->gateway->options.source;

    f->gone = false;
    enum err e = source->member(tx, f->guild_id, v->user_id, &f->member);
    if (!e && f->wants_view)
        e = source->view(tx, f->guild_id, &f->guild, &f->channels);
    if (!e && payload)
        e = source->guild(tx, &f->member, v, payload);
    f->gone = is_gone(e);
    return f->gone ? OK : e;
}

/* Checks on the loop, before the read, whether the loop needs the guild view. */
void guild_facts_begin(struct hub *h, snowflake guild_id, struct guild_facts *f)
{
    struct topic *t = topic_find(&h->topics, SUBJECT_GUILD, guild_id);

    bool lacks = !(t && t->view);

    *f = (struct guild_facts){ .guild_id = guild_id,
                               .lacks_view = lacks,
                               .wants_view = lacks || fault_planted(PLANTED_WATCH_VIEWS) };
}

bool guild_facts_outrun(const struct hub *h, const struct guild_facts *f)
{
    const struct topic *t = topic_find(&h->topics, SUBJECT_GUILD, f->guild_id);
    const struct guild_view *v = t ? t->view : NULL;

    if (f->gone || !f->lacks_view)
        return !f->gone && !v;
    return v && !known_covers(h->reads.seen, v->known);
}

struct seat *guild_facts_apply(struct session *s, const struct guild_facts *f)
{
    if (f->gone)
        return NULL;
    struct seat *seat = seat_take(&s->seats, SUBJECT_GUILD, f->guild_id);
    struct topic *t = seat->topic;

    if (f->wants_view && !t->view) {
        t->view = view_new(&f->guild, &f->channels);
        t->view->known = known_ref(s->hub->reads.seen);
    } else if (f->wants_view && !s->hub->reads.ahead && fault_planted(PLANTED_WATCH_VIEWS)) {
        view_watch(t->view, &f->guild, &f->channels);
    }
    seat_set_roles(seat, f->member.roles.items, f->member.roles.count,
                   member_restrained_until(&f->member));
    return seat;
}

struct join {
    struct load load;
    uint64_t session;
    struct gateway_viewer viewer;
    struct guild_facts facts;
    struct news *news; /* GUILD_CREATE, if it is to be sent */
};

static enum err join_read(struct load *l, struct tx *tx)
{
    struct join *j = container_of(l, struct join, load);

    return guild_facts_read(l->hub, tx, &j->viewer, NULL, &j->facts);
}

static enum err join_read_all(struct load *l, struct tx *tx)
{
    struct join *j = container_of(l, struct join, load);
    struct buf out;
    struct json json = json_to(&out);

    news_unref(j->news); /* reset, because the store may run this function again */
    j->news = NULL;
    buf_init(&out, MAX_PAYLOAD);
    enum err e = guild_facts_read(l->hub, tx, &j->viewer, &json, &j->facts);
    if (!e && buf_full(&out))
        e = ERR_ENTITY_TOO_LARGE;
    if (!e && !j->facts.gone)
        j->news = news_new(EVENT_GUILD_CREATE, to_session(j->session), buf_str(&out));
    buf_clear(&out);
    return e;
}

static void join_done(struct load *l, enum err e)
{
    struct join *j = container_of(l, struct join, load);
    struct session *s = registry_local(l->hub, j->session);

    if (s && !e && guild_facts_outrun(l->hub, &j->facts)) {
        guild_facts_begin(l->hub, j->facts.guild_id, &j->facts);
        hub_load_now(l->hub, l);
        return;
    }
    if (s && !e && guild_facts_apply(s, &j->facts)) {
        if (j->news)
            session_dispatch(s, j->news, 0);
        presence_arrive(s, j->facts.guild_id);
    } else if (s && e) {
        session_invalid_soon(l->hub, j->session); /* the client would miss the guild */
    }
    news_unref(j->news);
    mem_free(j);
}

void guild_join(struct session *s, snowflake guild_id, bool is_told)
{
    struct join *j = mem_new(sizeof *j);

    j->load = (struct load){ .quiet = true,
                             .aside = is_told,
                             .owner = s->caller.id,
                             .run = is_told ? join_read_all : join_read,
                             .done = join_done };
    j->session = s->number;
    j->viewer = session_viewer(s);
    guild_facts_begin(s->hub, guild_id, &j->facts);
    hub_load_now(s->hub, &j->load);
}

struct guild_arrival {
    struct session_errand errand;
    struct guild_facts facts;
    struct news *news; /* GUILD_CREATE, or NULL */
    struct gateway_viewer viewer;
    uint64_t session;
    size_t at, count;
    snowflake guilds[];
};

/* A user session without intents receives all events. */
static bool hears_of_guilds(bool bot, uint32_t intents)
{
    return intents & INTENT(GUILDS) || (!bot && !intents);
}

static void arrival_forget(struct guild_arrival *a)
{
    news_unref(a->news);
    a->news = NULL;
}

/* Returns false if the payload is too large. */
static bool make_news(struct guild_arrival *a, const struct buf *guild)
{
    struct buf out;

    buf_init(&out, MAX_PAYLOAD);
    buf_add_lit(&out, "{\"unavailable\":false,");
    buf_add_str(&out, str_from(buf_str(guild), 1));
    bool whole = !buf_full(guild) && !buf_full(&out);
    if (whole)
        a->news = news_new(EVENT_GUILD_CREATE, to_session(a->session), buf_str(&out));
    buf_clear(&out);
    return whole;
}

static enum err arrival_read(struct load *l, struct tx *tx)
{
    struct guild_arrival *a = container_of(l, struct guild_arrival, errand.load);
    struct buf out;
    struct json j = json_to(&out);

    arrival_forget(a);
    if (!hears_of_guilds(a->viewer.bot, a->viewer.intents))
        return guild_facts_read(l->hub, tx, &a->viewer, NULL, &a->facts);
    buf_init(&out, MAX_PAYLOAD);
    enum err e = guild_facts_read(l->hub, tx, &a->viewer, &j, &a->facts);
    if (!e && !a->facts.gone && !make_news(a, &out))
        e = ERR_ENTITY_TOO_LARGE;
    buf_clear(&out);
    return e;
}

static bool arrival_step(struct session_errand *e)
{
    struct guild_arrival *a = container_of(e, struct guild_arrival, errand);

    if (a->at == a->count)
        return false;
    guild_facts_begin(e->session->hub, a->guilds[a->at++], &a->facts);
    e->load.run = arrival_read;
    e->load.aside = true;
    return true;
}

static void arrival_stepped(struct session_errand *e, enum err error)
{
    struct guild_arrival *a = container_of(e, struct guild_arrival, errand);
    struct session *s = e->session;
    char payload[64];

    if (error) {
        int n = snprintf(payload, sizeof payload, "{\"id\":\"%llu\",\"unavailable\":true}",
                         (unsigned long long)a->facts.guild_id);

        if (hears_of_guilds(s->bot, s->options.intents))
            session_tell(s, EVENT_GUILD_DELETE, str_slice(payload, (size_t)n));
        return;
    }
    if (guild_facts_outrun(s->hub, &a->facts)) {
        a->at--;
        return;
    }
    struct seat *seat = guild_facts_apply(s, &a->facts);
    if (!seat)
        return;
    seat_know(seat, s->hub->reads.seen);
    if (a->news)
        session_dispatch(s, a->news, 0);
    arrival_forget(a);
    presence_arrive(s, a->facts.guild_id);
    const struct gateway_hooks *hooks = &s->hub->gateway->options.hooks;
    if (s->bot && hooks->entered) {
        struct gateway_caller who = session_caller(s);

        hooks->entered(hooks->arg, &who, a->facts.guild_id);
    }
}

static void arrival_free(struct session_errand *e)
{
    struct guild_arrival *a = container_of(e, struct guild_arrival, errand);

    arrival_forget(a);
    mem_free(a);
}

void arrival_begin(struct session *s, const struct list *guilds)
{
    struct guild_arrival *a = mem_new(sizeof *a + guilds->count * sizeof *a->guilds);

    a->errand.step = arrival_step;
    a->errand.stepped = arrival_stepped;
    a->errand.free = arrival_free;
    a->viewer = session_viewer(s);
    a->session = s->number;
    a->count = guilds->count;
    memcpy(a->guilds, guilds->items, guilds->count * sizeof *a->guilds);
    errand_begin(s, &a->errand);
}
