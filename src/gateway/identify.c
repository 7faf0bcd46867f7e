/* identify.c - a new session: checks in their fixed order, then READY. */
#include <sodium.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/mem.h"
#include "gateway/capabilities.h"
#include "gateway/greeting.h"
#include "gateway/opcodes.h"
#include "gateway/presence.h"
#include "json/read.h"
#include "model/login.h"

enum {
    SHARDS_MAX = 16384,
    THRESHOLD_MIN = 25,
    THRESHOLD_MAX = 250,
    THRESHOLD_BOT = 50,
    USUAL_READY = 12 * 1024, /* room to begin with */
    OWN_PART = 2048,
};

/* Application flags that allow a privileged intent: the full and the limited one. */
static const struct {
    unsigned intent;
    int64_t flags;
} privileged[] = {
    { INTENT(GUILD_PRESENCES), 1 << 12 | 1 << 13 },
    { INTENT(GUILD_MEMBERS), 1 << 14 | 1 << 15 },
    { INTENT(MESSAGE_CONTENT), 1 << 18 | 1 << 19 },
};

/* Bits that mean something for users alone; libraries set them all the same. */
static const unsigned INTENTS_OF_USERS = 1u << 18 | 1u << 19 | 1u << 22 | 1u << 23;

struct identification {
    struct greeting greeting; /* first look */
    struct load load;         /* second: everything READY holds */
    struct session *session;
    int64_t shard[2], intents;
    bool has_shard, bad_shard, has_intents, bad_intents, compress;
    int64_t large_threshold, capabilities;
    unsigned char status;
    struct buf activities; /* JSON, as the client says it */
    char client[64];

    struct gateway_viewer viewer;
    struct guild_facts *facts; /* of users' guilds; those the first look found */
    size_t fact_count;
    struct list guilds, private_channels, friends, calls;
    struct str ready;
};

/* --- what the client said ------------------------------------------------------------- */

static bool read_int(struct str raw, int64_t *ret)
{
    return raw.p && str_to_i64(raw, ret);
}

static bool read_shard(struct str raw, struct arena *arena, int64_t shard[2])
{
    struct json_reader r;
    struct json_number n;
    int count = 0;

    json_reader_init(&r, raw, arena);
    if (json_peek(&r) != JSON_ARRAY)
        return false;
    for (json_enter(&r); json_next_item(&r); count++) {
        if (count == 2 || json_peek(&r) != JSON_NUMBER || !json_take_number(&r, &n) ||
            n.kind != NUMBER_INT)
            return false;
        shard[count] = n.i;
    }
    return count == 2 && shard[1] >= 1 && shard[1] <= SHARDS_MAX && shard[0] >= 0 &&
           shard[0] < shard[1];
}

static bool is_given(struct str raw)
{
    return raw.p && !str_is(raw, "null");
}

/* "os|browser|device", for lists of sessions. */
static void note_client(struct identification *i, const struct client_properties *c)
{
    struct str parts[] = { c->os, c->browser, c->device };
    size_t n = 0;

    for (size_t k = 0; k < COUNT_OF(parts); k++) {
        struct str s = parts[k];
        size_t room = sizeof i->client - 2 - n;

        if (s.n >= 2 && s.p[0] == '"')
            s = str_slice(s.p + 1, s.n - 2);
        for (size_t at = 0; at < s.n && at < 20 && room--; at++)
            i->client[n++] = s.p[at] >= ' ' && s.p[at] < 127 && s.p[at] != '"' && s.p[at] != '\\'
                                 ? s.p[at]
                                 : '_';
        if (k < 2)
            i->client[n++] = '|';
    }
}

static void note_wishes(struct identification *i, struct arena *arena, const struct identify *d)
{
    i->has_shard = is_given(d->shard);
    i->bad_shard = i->has_shard && !read_shard(d->shard, arena, i->shard);
    i->has_intents = is_given(d->intents);
    i->bad_intents = i->has_intents && (!read_int(d->intents, &i->intents) || i->intents < 0 ||
                                        i->intents >> INTENT_BITS);
    i->compress = d->compress.given == GIVEN && d->compress.value;
    i->large_threshold = d->large_threshold.given == GIVEN ? d->large_threshold.value : 0;
    i->capabilities = d->capabilities.given == GIVEN ? d->capabilities.value : 0;
    i->status = PRESENCE_ONLINE;
    buf_init(&i->activities, MAX_FROM_USER);
    if (d->presence) {
        i->status = (unsigned char)presence_status(d->presence->status, PRESENCE_ONLINE);
        buf_add_str(&i->activities, presence_activities(d->presence));
    }
    if (d->properties)
        note_client(i, d->properties);
    if (!i->has_shard || i->bad_shard) {
        i->shard[0] = 0;
        i->shard[1] = 1;
    }
}

/* --- checks ------------------------------------------------------------------------------ */

static enum close_code check_intents(const struct identification *i)
{
    if (i->bad_intents)
        return CLOSE_BAD_INTENTS;
    if (i->greeting.caller.kind != CALLER_BOT)
        return 0;
    if (!i->has_intents)
        return CLOSE_BAD_INTENTS;
    for (size_t k = 0; k < COUNT_OF(privileged); k++)
        if (i->intents & privileged[k].intent &&
            !(i->greeting.application_flags & privileged[k].flags))
            return CLOSE_FORBIDDEN_INTENTS;
    return 0;
}

static bool too_many_guilds(const struct identification *i)
{
    unsigned max = i->greeting.peer->hub->gateway->options.max_guilds;
    const snowflake *ids = i->greeting.guilds.items;
    size_t covered = 0;

    for (size_t k = 0; k < i->greeting.guilds.count; k++)
        covered += (ids[k] >> 22) % (uint64_t)i->shard[1] == (uint64_t)i->shard[0];
    return i->greeting.caller.kind == CALLER_BOT && covered > (max ? max : 2500);
}

static enum close_code check(const struct identification *i)
{
    if (i->bad_shard)
        return CLOSE_BAD_SHARD;
    enum close_code code = check_intents(i);
    if (code)
        return code;
    return too_many_guilds(i) ? CLOSE_NEEDS_SHARDS : 0;
}

static const char *reason_of(enum close_code code)
{
    switch (code) {
    case CLOSE_BAD_SHARD:
        return "invalid shard";
    case CLOSE_BAD_INTENTS:
        return "invalid intents";
    case CLOSE_FORBIDDEN_INTENTS:
        return "disallowed intents";
    case CLOSE_NEEDS_SHARDS:
        return "sharding required";
    default:
        return "too many sessions";
    }
}

/* --- READY ---------------------------------------------------------------------------------- */

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

static void write_bot(const struct identification *i, struct json *j)
{
    const snowflake *ids = i->guilds.items;

    json_name(j, "guilds");
    json_array(j);
    for (size_t k = 0; k < i->guilds.count; k++) {
        json_object(j);
        json_name(j, "id");
        json_id(j, ids[k]);
        json_name(j, "unavailable");
        json_bool(j, true);
        json_object_end(j);
    }
    json_array_end(j);
    json_name(j, "application");
    json_object(j);
    json_name(j, "id");
    json_id(j, i->greeting.application_id);
    json_name(j, "flags");
    json_int(j, i->greeting.application_flags);
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

/* A guild that was left meanwhile has written nothing. */
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
        enum err e = guild_facts_read(i->load.hub, tx, v, out, &all[k]);
        if (e)
            return e;
    }
    json_array_end(out);
    i->guilds.items = all;
    return OK;
}

static enum err read_ready(struct load *l, struct tx *tx)
{
    struct identification *i = container_of(l, struct identification, load);
    const struct gateway_source *source = l->hub->gateway->options.source;
    struct gateway_viewer v = i->viewer;
    struct buf out;
    struct json j = json_to(&out);

    enum err e = source->guilds(tx, v.user_id, &i->guilds);
    if (!e)
        e = source->private_channels(tx, v.user_id, &i->private_channels);
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
        i->ready = str_dup(tx_arena(tx), buf_str(&out));
    buf_clear(&out);
    return e;
}

static void take_seats(struct identification *i)
{
    struct session *s = i->session;
    const snowflake *channels = i->private_channels.items;

    seat_take(s, SUBJECT_USER, s->caller.id);
    for (size_t k = 0; k < i->private_channels.count && s->shard_id == 0; k++)
        seat_take(s, SUBJECT_CHANNEL, channels[k]);
    for (size_t k = 0; k < i->guilds.count && !s->bot; k++)
        guild_facts_apply(s, (struct guild_facts *)i->guilds.items + k);
}

/* Names of the login that the token came from: the same for all its sockets. */
static void write_login(const struct session *s, struct json *j)
{
    unsigned char digest[crypto_hash_sha256_BYTES];
    char uuid[LOGIN_ID_SIZE];
    char hash[sodium_base64_ENCODED_LEN(sizeof digest, sodium_base64_VARIANT_ORIGINAL)];

    crypto_hash_sha256(digest, s->caller.session, sizeof s->caller.session);
    sodium_bin2base64(hash, sizeof hash, digest, sizeof digest, sodium_base64_VARIANT_ORIGINAL);
    login_id(s->caller.session, uuid);
    json_name(j, "static_client_session_id");
    json_text(j, str_of(uuid));
    json_name(j, "auth_session_id_hash");
    json_text(j, str_of(hash));
}

/* As the client's capabilities want it, and what follows it then. */
static void tell_shaped(struct session *s, struct str plain)
{
    struct buf ready, more;
    bool ok;

    buf_init(&ready, MAX_PAYLOAD);
    buf_init(&more, MAX_PAYLOAD);
    ok = capabilities_apply(s->capabilities, plain, s->caller.id, s->hub->arena, &ready, &more);
    session_tell(s, EVENT_READY, ok ? buf_str(&ready) : plain);
    if (ok && capabilities_supplement(s->capabilities))
        session_tell(s, EVENT_READY_SUPPLEMENTAL, buf_str(&more));
    buf_clear(&ready);
    buf_clear(&more);
}

static void tell_ready(struct identification *i, struct peer *p)
{
    struct buf out;
    struct json j = json_to(&out);

    buf_init(&out, MAX_PAYLOAD);
    buf_room(&out, i->ready.n + OWN_PART);
    json_object(&j);
    write_own(i, p, &j);
    write_url(p, &j);
    if (!i->session->bot) {
        write_login(i->session, &j);
        json_name(&j, "sessions");
        sessions_write(p->hub->gateway, i->session->caller.id, &j);
        json_name(&j, "presences");
        gateway_presences(p->hub->gateway, 0, &i->friends, &j);
    }
    if (i->ready.n)
        buf_add_lit(&out, ",");
    buf_add_str(&out, i->ready);
    json_object_end(&j);
    if (i->session->bot || !(i->session->capabilities & CAPABILITIES_KNOWN))
        session_tell(i->session, EVENT_READY, buf_str(&out));
    else
        tell_shaped(i->session, buf_str(&out));
    buf_clear(&out);
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

static void identification_free(struct identification *i)
{
    buf_clear(&i->activities);
    mem_free(i->facts);
    mem_free(i);
}

static void ready(struct load *l, enum err e)
{
    struct identification *i = container_of(l, struct identification, load);
    struct session *s = i->session;
    struct gateway *g = l->hub->gateway;
    struct peer *p = i->greeting.peer;

    if (e || !p || p->closing) {
        greeting_end(&i->greeting);
        if (p)
            peer_close(p, CLOSE_UNKNOWN, "internal error");
        session_end(s);
        identification_free(i);
        return;
    }
    greeting_end(&i->greeting);
    take_seats(i);
    p->compress = i->compress;
    peer_become(p, s);
    tell_ready(i, p);
    tell_calls(i);
    if (s->bot && i->guilds.count)
        arrival_begin(s, &i->guilds);
    if (!s->bot)
        sessions_changed(s);
    if (s->bot && s->intents & INTENT(GUILD_PRESENCES))
        atomic_fetch_add(&g->watchers, 1);
    presence_begin(s, s->bot ? NULL : &i->friends);
    atomic_fetch_add(&g->identified, 1);
    identification_free(i);
}

/* --- from one look to the next ------------------------------------------------------------- */

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

static struct session *make_session(struct identification *i, struct hub *h)
{
    struct session *s = session_new(h, &i->greeting.caller);

    s->caller.application_id = i->greeting.application_id;
    s->intents = (uint32_t)i->intents & (s->bot ? ~INTENTS_OF_USERS : ~0u);
    s->shard_id = (uint32_t)i->shard[0];
    s->shard_count = (uint32_t)i->shard[1];
    s->capabilities = i->capabilities;
    s->large_threshold = i->large_threshold ? i->large_threshold
                         : s->bot           ? THRESHOLD_BOT
                                            : THRESHOLD_MAX;
    if (s->large_threshold < THRESHOLD_MIN)
        s->large_threshold = THRESHOLD_MIN;
    if (s->large_threshold > THRESHOLD_MAX)
        s->large_threshold = THRESHOLD_MAX;
    s->status = i->status;
    session_set_activities(s, buf_str(&i->activities), h->arena);
    memcpy(s->client, i->client, sizeof s->client);
    return s;
}

static void refuse(struct identification *i, enum close_code code)
{
    struct peer *p = greeting_end(&i->greeting);

    if (code)
        peer_close(p, code, reason_of(code));
    else
        session_invalid(p);
    identification_free(i);
}

/* --- how many there were today, for after a restart ------------------------------------- */

struct start_note {
    struct load load;
    snowflake bot_id;
    int64_t day, starts;
};

static enum err write_start(struct load *l, struct tx *tx)
{
    struct start_note *n = container_of(l, struct start_note, load);

    return l->hub->gateway->options.source->set_starts(tx, n->bot_id, n->day, n->starts);
}

static void start_written(struct load *l, enum err e)
{
    (void)e; /* then it counts until the process ends */
    mem_free(container_of(l, struct start_note, load));
}

/* Beside the session: nobody waits for it. */
static void note_start(struct hub *h, snowflake bot_id, int64_t starts)
{
    struct start_note *n = mem_new(sizeof *n);

    n->load = (struct load){ .writes = true, .run = write_start, .done = start_written };
    n->bot_id = bot_id;
    n->day = registry_today();
    n->starts = starts;
    hub_load_now(h, &n->load);
}

/* --- both looks done, one after the other -------------------------------------------------- */

static void known(struct greeting *g)
{
    struct identification *i = container_of(g, struct identification, greeting);
    struct hub *h = g->peer->hub;
    enum close_code code = check(i);

    if (code) {
        refuse(i, code);
        return;
    }
    i->session = make_session(i, h);
    if (!registry_add(h->gateway, i->session)) {
        session_end(i->session);
        refuse(i, CLOSE_TOO_MANY_SESSIONS);
        return;
    }
    int64_t starts;
    if (!registry_may_start(h->gateway, g->caller.id, i->session->shard_id, g->starts, &starts)) {
        session_end(i->session);
        refuse(i, 0);
        return;
    }
    if (starts && i->session->bot)
        note_start(h, g->caller.id, starts);
    i->viewer = session_viewer(i->session);
    snprintf(i->viewer.address, sizeof i->viewer.address, "%.*s",
             STR_FMT(websocket_remote(g->peer->ws)));
    prepare_facts(i, h);
    i->load.run = read_ready;
    i->load.done = ready;
    hub_load(h, &i->load);
}

void handle_identify(struct peer *p, int op, struct str raw, const void *d)
{
    const struct identify *in = d;
    struct identification *i = mem_new(sizeof *i);

    (void)op, (void)raw;
    note_wishes(i, p->hub->arena, in);
    if (!greeting_init(&i->greeting, p, in->token)) {
        peer_close(p, CLOSE_BAD_TOKEN, "authentication failed");
        identification_free(i);
        return;
    }
    i->greeting.known = known;
    i->greeting.wants_guilds = true;
    greeting_begin(&i->greeting);
}
