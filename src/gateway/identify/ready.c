/* ready.c - reads, writes and sends READY and READY_SUPPLEMENTAL. */
#include <stdio.h>

#include "base/mem.h"
#include "gateway/capabilities.h"
#include "gateway/identify/identification.h"
#include "gateway/presence/presence.h"
#include "gateway/resume/journal/owner.h"
#include "gateway/sessions/hub.h"
#include "gateway/resume/journal/journal.h"
#include "gateway/sessions/peer.h"
#include "gateway/sessions/registry.h"
#include "gateway/sessions/session.h"
#include "gateway/views/topics.h"
#include "gateway/wire/news.h"
#include "model/fields/ids.h"
#include "model/login.h"

enum {
    USUAL_READY = 24 * 1024, /* initial capacity */
    /* Limit of guild bytes in READY; further guilds are sent after READY. */
    MOST_GUILDS = 4 * 1024 * 1024,
};

static void write_own(const struct identification *i, const struct peer *p, struct json *j)
{
    char id[SESSION_ID + 1];

    session_id_write(i->session, id);
    json_name(j, "v");
    json_int(j, p->dialect->version);
    json_name(j, "session_id");
    json_text(j, str_of(id));
    json_name(j, "session_type");
    json_text(j, STR("normal"));
    if (i->has_shard) {
        json_name(j, "shard");
        json_array(j);
        json_int(j, i->shard[0]);
        json_int(j, i->shard[1]);
        json_array_end(j);
    }
    json_name(j, "_trace");
    json_raw(j, STR(GATEWAY_TRACE));
}

/* resume_gateway_url is the Host that the client used, without a query. Without a stored Host it
 * is the local address of the socket, so the URL always leads to this server. */
static void write_url(const struct peer *p, struct json *j)
{
    const char *set = p->hub->gateway->options.public_url;
    struct str host = str_slice(p->dialect->host, p->dialect->host_n);
    bool secure = websocket_secure(p->ws);
    struct buf url;

    if (set) {
        secure = str_starts(str_of(set), STR("https://"));
        host = str_from(str_of(set), secure ? 8 : 7);
    }
    buf_init(&url, 4096);
    buf_add_str(&url, secure ? STR("wss://") : STR("ws://"));
    if (host.n)
        buf_add_str(&url, host);
    else
        websocket_add_own_host(p->ws, &url);
    json_name(j, "resume_gateway_url");
    json_text(j, buf_str(&url));
    buf_clear(&url);
}

/* Writes the identifiers of the login that the token belongs to; all sockets of a login have the
 * same. */
static void write_login(const struct session *s, struct json *j)
{
    char uuid[LOGIN_ID_SIZE], hash[LOGIN_HASH_SIZE];

    login_names(s->caller.session, uuid, hash);
    json_name(j, "static_client_session_id");
    json_text(j, str_of(uuid));
    json_name(j, "auth_session_id_hash");
    json_text(j, str_of(hash));
}

/* Writes the fields that the loop knows, before the store is read. */
static void write_before(struct identification *i)
{
    struct json j = json_to(&i->own);

    buf_init(&i->own, MAX_PAYLOAD);
    json_object(&j);
    write_own(i, i->greeting.peer, &j);
    write_url(i->greeting.peer, &j);
    if (!i->session->bot)
        write_login(i->session, &j);
}

static void write_bot(const struct identification *i, struct json *j)
{
    const snowflake *ids = i->guilds.items;

    json_name(j, "guilds");
    json_array(j);
    for (size_t k = 0; k < i->guilds.count; k++)
        shape_late_guild(NULL, ids[k], j);
    json_array_end(j);
    json_name(j, "application");
    json_object(j);
    json_name(j, "id");
    json_id(j, i->greeting.application_id);
    json_name(j, "flags");
    json_int(j, i->greeting.application_flags);
    json_name(j, "flags_new");
    json_id(j, (uint64_t)i->greeting.application_flags);
    json_object_end(j);
}

/* Removes guilds of other shards, in place. */
static void keep_covered(const struct session *s, struct list *guilds)
{
    snowflake *ids = guilds->items;
    size_t n = 0;

    for (size_t k = 0; k < guilds->count; k++)
        if (session_covers(s, ids[k]))
            ids[n++] = ids[k];
    guilds->count = n;
}

/* Writes nothing for a guild that the account has left. The first guild that makes READY too
 * long, and all after it, are sent after READY. */
static enum err read_users_guild(struct identification *i, struct tx *tx,
                                 const struct gateway_viewer *v, struct json *out,
                                 struct guild_facts *f)
{
    struct json before = *out;
    size_t begin = out->out->n;
    struct shape_mark mark = shape_mark(v->shape);
    bool late = i->late.count;
    enum err e = late ? OK : guild_facts_read(i->load.hub, tx, v, out, f);

    if (e || (!late && out->out->n + shape_bytes(v->shape) <= MOST_GUILDS && !buf_full(out->out)))
        return e;
    buf_cut(out->out, begin);
    *out = before;
    shape_return(v->shape, &mark);
    shape_late_guild(v->shape, f->guild_id, out);
    f->gone = true; /* READY does not subscribe the session to this guild */
    ids_add(tx_arena(tx), &i->late, f->guild_id);
    return OK;
}

static enum err read_users_guilds(struct identification *i, struct tx *tx,
                                  const struct gateway_viewer *v, struct json *out)
{
    const snowflake *ids = i->guilds.items;
    struct guild_facts *all = arena_array(tx_arena(tx), struct guild_facts, i->guilds.count + 1);

    json_name(out, "guilds");
    json_array(out);
    for (size_t k = 0; k < i->guilds.count; k++) {
        all[k] = (struct guild_facts){ ids[k], .wants_view = true, .lacks_view = true };
        for (size_t n = 0; n < i->fact_count; n++)
            if (i->facts[n].guild_id == ids[k])
                all[k] = i->facts[n];
        enum err e = read_users_guild(i, tx, v, out, &all[k]);
        if (e)
            return e;
    }
    json_array_end(out);
    i->guilds.items = all;
    return OK;
}

static enum err write_ready(struct identification *i, struct tx *tx, const struct gateway_viewer *v,
                            struct json *out, struct json *more)
{
    struct gateway *g = i->load.hub->gateway;
    enum err e = OK;

    buf_add_str(out->out, buf_str(&i->own));
    out->comma = true;
    if (v->bot)
        write_bot(i, out);
    else
        e = read_users_guilds(i, tx, v, out);
    if (!e)
        e = g->options.source->ready(tx, v, out);
    if (!e && !v->bot) {
        json_name(out, "sessions");
        sessions_write(g, v->user_id, out);
        shape_end(v->shape, g, &i->friends, out, more);
    }
    json_object_end(out);
    return e;
}

/* Creates READY, and READY_SUPPLEMENTAL if the capabilities require it. */
static enum err make_ready(struct identification *i, struct tx *tx, struct gateway_viewer v)
{
    struct subject to = to_session(i->session->number);
    struct ready_shape shape;
    struct buf out, more;
    struct json j = json_to(&out), k = json_to(&more);

    news_write_begin(&out, MAX_PAYLOAD);
    buf_room(&out, i->own.n + USUAL_READY);
    buf_init(&more, MAX_PAYLOAD);
    shape_init(&shape, v.capabilities, v.user_id);
    if (!v.bot)
        v.shape = &shape;
    enum err e = write_ready(i, tx, &v, &j, &k);
    if (!e && (buf_full(&out) || buf_full(&more) || shape_full(&shape)))
        e = ERR_ENTITY_TOO_LARGE;
    if (!e)
        i->ready = news_taking(EVENT_READY, to, &out);
    if (!e && more.n)
        i->more = news_new(EVENT_READY_SUPPLEMENTAL, to, buf_str(&more));
    shape_clear(&shape);
    buf_clear(&out);
    buf_clear(&more);
    return e;
}

static void forget_ready(struct identification *i)
{
    news_unref(i->ready);
    news_unref(i->more);
    i->ready = i->more = NULL;
    i->late = (struct list){ 0 };
}

static enum err read_ready(struct load *l, struct tx *tx)
{
    struct identification *i = container_of(l, struct identification, load);
    const struct gateway_source *source = l->hub->gateway->options.source;
    struct gateway_viewer v = i->viewer;

    forget_ready(i);
    enum err e = source->guilds(tx, v.user_id, &i->guilds);
    if (!e)
        e = source->user(tx, v.user_id, &v.user);
    if (!e && !v.bot)
        e = source->friends(tx, v.user_id, &i->friends);
    v.friends = &i->friends;
    if (!e && !v.bot && v.capabilities & CAPABILITY_CALLS)
        e = source->calls(tx, v.user_id, &i->calls);
    if (e)
        return e;
    keep_covered(i->session, &i->guilds);
    return make_ready(i, tx, v);
}

static void ready_take_seats(struct identification *i)
{
    struct session *s = i->session;

    seat_know(seat_take(&s->seats, SUBJECT_USER, s->caller.id), s->hub->reads.seen);
    for (size_t k = 0; k < i->guilds.count && !s->bot; k++) {
        struct seat *seat = guild_facts_apply(s, (struct guild_facts *)i->guilds.items + k);

        if (seat)
            seat_know(seat, s->hub->reads.seen);
    }
}

/* Connects the session to each running call, as if its client had sent op 13. */
static void tell_calls(const struct identification *i)
{
    const struct gateway_hooks *hooks = &i->session->hub->gateway->options.hooks;
    struct gateway_caller who = session_caller(i->session);
    const snowflake *ids = i->calls.items;
    char d[64];

    for (size_t k = 0; k < i->calls.count && hooks->voice; k++) {
        int n = snprintf(d, sizeof d, "{\"channel_id\":\"%llu\"}", (unsigned long long)ids[k]);

        hooks->voice(hooks->arg, &who, OP_CALL_CONNECT, str_slice(d, (size_t)n));
    }
}

/* Allocates the guild setups that the loop prepares before the read. */
static void facts_make_room(struct identification *i, size_t count)
{
    mem_free(i->facts);
    i->fact_count = count;
    i->facts = mem_new((count + 1) * sizeof *i->facts);
}

static void prepare_facts(struct identification *i, struct hub *h)
{
    const snowflake *ids = i->greeting.guilds.items;

    if (i->viewer.bot)
        return;
    facts_make_room(i, i->greeting.guilds.count);
    for (size_t k = 0; k < i->fact_count; k++)
        guild_facts_begin(h, ids[k], &i->facts[k]);
}

/* Repeats the read with the current guild views, before the next event. */
static void read_again(struct identification *i, struct hub *h)
{
    const struct guild_facts *all = i->guilds.items;

    facts_make_room(i, i->guilds.count);
    for (size_t k = 0; k < i->fact_count; k++)
        guild_facts_begin(h, all[k].guild_id, &i->facts[k]);
    hub_load_now(h, &i->load);
}

static bool ready_is_outrun(const struct identification *i, const struct hub *h)
{
    const struct guild_facts *all = i->guilds.items;

    for (size_t k = 0; k < i->guilds.count && !i->viewer.bot; k++)
        if (guild_facts_outrun(h, &all[k]))
            return true;
    return false;
}

static void ready_finish(struct load *l, enum err e)
{
    struct identification *i = container_of(l, struct identification, load);
    struct session *s = i->session;
    struct gateway *g = l->hub->gateway;
    struct peer *p = i->greeting.peer;

    if (e || !p || p->closing || s->revoked) {
        greeting_end(&i->greeting);
        if (p && s->revoked)
            peer_close(p, CLOSE_BAD_TOKEN, "authentication failed");
        else if (p)
            peer_close(p, CLOSE_UNKNOWN, "internal error");
        session_end(s);
        identification_free(i);
        return;
    }
    if (ready_is_outrun(i, l->hub)) {
        read_again(i, l->hub);
        return;
    }
    greeting_end(&i->greeting);
    s->presences = l->since;
    ready_take_seats(i);
    p->compress = i->compress;
    peer_become(p, s);
    session_dispatch(s, i->ready, 0);
    if (i->more)
        session_dispatch(s, i->more, 0);
    tell_calls(i);
    if (s->bot && i->guilds.count)
        arrival_begin(s, &i->guilds);
    else if (i->late.count)
        arrival_begin(s, &i->late);
    if (!s->bot)
        sessions_changed(s);
    if (s->bot && s->options.intents & INTENT(GUILD_PRESENCES))
        atomic_fetch_add(&g->watchers, 1);
    presence_begin(s, s->bot ? NULL : &i->friends);
    if (g->cluster)
        session_owner_add(s);
    journal_begin(s);
    journal_settle(s);
    atomic_fetch_add(&g->count.identified, 1);
    identification_free(i);
}

void ready_begin(struct identification *i, struct hub *h)
{
    prepare_facts(i, h);
    write_before(i);
    i->load.run = read_ready;
    i->load.done = ready_finish;
    i->load.aside = i->fact_count > MANY_GUILDS;
    i->load.owner = i->viewer.user_id;
    hub_load(h, &i->load);
}
