/* ready.c - READY: what a session is told first. */
#include <stdio.h>

#include "base/mem.h"
#include "gateway/capabilities.h"
#include "gateway/identification.h"
#include "gateway/opcodes.h"
#include "gateway/presence.h"
#include "model/ids.h"
#include "model/login.h"

enum {
    USUAL_READY = 12 * 1024,       /* room to begin with */
    MOST_GUILDS = 4 * 1024 * 1024, /* bytes of guilds; the others come after it */
    OWN_PART = 2048,
};

static void write_own(const struct identification *i, const struct peer *p, struct json *j)
{
    const struct session *s = i->session;

    json_name(j, "v");
    json_int(j, p->dialect->version);
    json_name(j, "session_id");
    json_text(j, str_of(s->id));
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
    json_raw(j, STR("[\"guildhall\"]"));
}

/* Where to come back to: what the client called us, without a query. */
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
    buf_add_str(&url, host);
    json_name(j, "resume_gateway_url");
    json_text(j, buf_str(&url));
    buf_clear(&url);
}

/* Names of the login that the token came from: the same for all its sockets. */
static void write_login(const struct session *s, struct json *j)
{
    char uuid[LOGIN_ID_SIZE], hash[LOGIN_HASH_SIZE];

    login_hash(s->caller.session, hash);
    login_id(s->caller.session, uuid);
    json_name(j, "static_client_session_id");
    json_text(j, str_of(uuid));
    json_name(j, "auth_session_id_hash");
    json_text(j, str_of(hash));
}

/* What the loop knows of the session, before the store is asked. */
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

/* A guild that comes later, in a GUILD_CREATE of its own. */
static void write_unavailable(struct json *j, snowflake guild_id)
{
    json_object(j);
    json_name(j, "id");
    json_id(j, guild_id);
    json_name(j, "unavailable");
    json_bool(j, true);
    json_object_end(j);
}

static void write_bot(const struct identification *i, struct json *j)
{
    const snowflake *ids = i->guilds.items;

    json_name(j, "guilds");
    json_array(j);
    for (size_t k = 0; k < i->guilds.count; k++)
        write_unavailable(j, ids[k]);
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

/* Only the guilds of its shard, in place. */
static void keep_covered(const struct session *s, struct list *guilds)
{
    snowflake *ids = guilds->items;
    size_t n = 0;

    for (size_t k = 0; k < guilds->count; k++)
        if (session_covers(s, ids[k]))
            ids[n++] = ids[k];
    guilds->count = n;
}

/* A guild that was left meanwhile has written nothing; one that makes it too much comes
 * later, as all after it do. */
static enum err read_users_guild(struct identification *i, struct tx *tx,
                                 const struct gateway_viewer *v, struct json *out,
                                 struct guild_facts *f)
{
    struct json before = *out;
    size_t begin = out->out->n;
    bool late = i->late.count;
    enum err e = late ? OK : guild_facts_read(i->load.hub, tx, v, out, f);

    if (e || (!late && out->out->n <= MOST_GUILDS && !buf_full(out->out)))
        return e;
    buf_cut(out->out, begin);
    *out = before;
    write_unavailable(out, f->guild_id);
    f->gone = true; /* for now */
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
        all[k] = (struct guild_facts){ .guild_id = ids[k], .wants_view = true };
        for (size_t n = 0; n < i->fact_count; n++)
            if (i->facts[n].guild_id == ids[k])
                all[k].wants_view = i->facts[n].wants_view;
        enum err e = read_users_guild(i, tx, v, out, &all[k]);
        if (e)
            return e;
    }
    json_array_end(out);
    i->guilds.items = all;
    return OK;
}

/* --- written where it is read: it may have megabytes ---------------------------------- */

static struct news *news_of(const struct session *s, enum event event, const struct buf *payload)
{
    return buf_full(payload) ? NULL : news_new(event, to_session(s->number), buf_str(payload));
}

/* As the client's capabilities want it, and what follows it then; otherwise as it is. */
static void shape(struct identification *i, struct arena *arena, const struct buf *plain)
{
    const struct session *s = i->session;
    struct buf ready, more;

    buf_init(&ready, MAX_PAYLOAD);
    buf_init(&more, MAX_PAYLOAD);
    bool ok =
        capabilities_apply(s->capabilities, buf_str(plain), s->caller.id, arena, &ready, &more);
    i->ready = news_of(s, EVENT_READY, ok ? &ready : plain);
    if (ok && capabilities_supplement(s->capabilities)) {
        i->more = news_of(s, EVENT_READY_SUPPLEMENTAL, &more);
        if (!i->more)
            arena_spoil(arena);
    }
    buf_clear(&ready);
    buf_clear(&more);
}

/* Guilds and all else that the store says are in `rest`. */
static enum err write_whole(struct identification *i, struct tx *tx, const struct buf *rest)
{
    struct gateway *g = i->load.hub->gateway;
    const struct session *s = i->session;
    struct buf out;
    struct json j = json_to(&out);

    buf_init(&out, MAX_PAYLOAD);
    buf_room(&out, i->own.n + rest->n + OWN_PART);
    buf_add_str(&out, buf_str(&i->own));
    j.comma = true;
    if (!s->bot) {
        json_name(&j, "sessions");
        sessions_write(g, s->caller.id, &j);
        json_name(&j, "presences");
        gateway_presences(g, 0, &i->friends, &j);
    }
    if (rest->n)
        buf_add_lit(&out, ",");
    buf_add_str(&out, buf_str(rest));
    buf_add_lit(&out, "}");
    if (buf_full(&out) || s->bot || !(s->capabilities & CAPABILITIES_KNOWN))
        i->ready = news_of(s, EVENT_READY, &out);
    else
        shape(i, tx_arena(tx), &out);
    buf_clear(&out);
    return i->ready ? OK : ERR_ENTITY_TOO_LARGE;
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
    struct buf out;
    struct json j = json_to(&out);

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
    buf_init(&out, MAX_PAYLOAD);
    buf_room(&out, USUAL_READY);
    if (v.bot)
        write_bot(i, &j);
    else
        e = read_users_guilds(i, tx, &v, &j);
    if (!e)
        e = source->ready(tx, &v, &j);
    if (!e)
        e = buf_full(&out) ? ERR_ENTITY_TOO_LARGE : write_whole(i, tx, &out);
    buf_clear(&out);
    return e;
}

static void take_seats(struct identification *i)
{
    struct session *s = i->session;

    seat_take(s, SUBJECT_USER, s->caller.id);
    for (size_t k = 0; k < i->guilds.count && !s->bot; k++)
        guild_facts_apply(s, (struct guild_facts *)i->guilds.items + k);
}

/* As if it had asked for each. */
static void tell_calls(const struct identification *i)
{
    const struct gateway_hooks *hooks = &i->session->hub->gateway->options.hooks;
    struct gateway_caller who = session_caller(i->session);
    const snowflake *ids = i->calls.items;
    char d[64];

    for (size_t k = 0; k < i->calls.count && hooks->command; k++) {
        int n = snprintf(d, sizeof d, "{\"channel_id\":\"%llu\"}", (unsigned long long)ids[k]);

        hooks->command(hooks->arg, &who, OP_CALL_CONNECT, str_slice(d, (size_t)n));
    }
}

static void ready(struct load *l, enum err e)
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
    greeting_end(&i->greeting);
    s->presences = l->since;
    take_seats(i);
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
    if (s->bot && s->intents & INTENT(GUILD_PRESENCES))
        atomic_fetch_add(&g->watchers, 1);
    presence_begin(s, s->bot ? NULL : &i->friends);
    atomic_fetch_add(&g->identified, 1);
    identification_free(i);
}

static void prepare_facts(struct identification *i, struct hub *h)
{
    const snowflake *ids = i->greeting.guilds.items;

    if (i->viewer.bot)
        return;
    i->fact_count = i->greeting.guilds.count;
    i->facts = mem_new((i->fact_count + 1) * sizeof *i->facts);
    for (size_t k = 0; k < i->fact_count; k++)
        guild_facts_begin(h, ids[k], &i->facts[k]);
}

void ready_begin(struct identification *i, struct hub *h)
{
    prepare_facts(i, h);
    write_before(i);
    i->load.run = read_ready;
    i->load.done = ready;
    i->load.aside = i->fact_count > MANY_GUILDS;
    hub_load(h, &i->load);
}
