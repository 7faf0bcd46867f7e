/* members.c - handles op 8 and op 35 with GUILD_MEMBERS_CHUNK.
 *
 * A full list is sent chunk by chunk. Every chunk but the last is full, because clients treat a
 * shorter chunk as the last. */
#include "base/clock.h"
#include "base/mem.h"
#include "gateway/opcodes/opcodes.h"
#include "gateway/sessions/errands.h"
#include "gateway/sessions/hub.h"
#include "gateway/sessions/peer.h"
#include "gateway/sessions/registry.h"
#include "gateway/sessions/session.h"
#include "gateway/views/topics.h"
#include "gateway/views/view.h"
#include "gateway/wire/messages.h"
#include "model/fields/ids.h"
#include "model/fields/types.h"

enum {
    CHUNK = 1000,
    IDS_MAX = 100,
    NONCE_MAX = 32,
    QUERY_MAX = 100,
    PAUSE_MS = 30 * 1000,
    OPEN_GUILD = 1000, /* in guilds up to this size every member may request the full list */
};

struct listing {
    struct session_errand errand;
    snowflake guild_id;
    char nonce[NONCE_MAX + 3], query[QUERY_MAX + 1];
    size_t nonce_n, query_n;
    int64_t limit;
    bool all, newest, small_only, first, over, presences;
    snowflake user_ids[IDS_MAX];
    size_t user_count;
    int64_t index, chunks;
    snowflake after;
    snowflake own;       /* requesting account */
    struct list members; /* struct member, in the arena of the store read */
    struct str chunk;    /* in the arena of the store read */
};

static enum err count_chunks(struct listing *l, const struct gateway_source *source, struct tx *tx)
{
    int64_t count = 0;
    enum err e = source->member_count(tx, l->guild_id, &count);

    if (l->small_only && count > OPEN_GUILD)
        count = 0;
    l->over = count == 0;
    l->chunks = count ? (count + CHUNK - 1) / CHUNK : 1;
    return e;
}

static bool member_step(struct session_errand *e);

static bool is_found(const struct listing *l, snowflake id)
{
    const struct member *m = l->members.items;

    for (size_t i = 0; i < l->members.count; i++)
        if (m[i].user_id == id)
            return true;
    return false;
}

static void write_not_found(const struct listing *l, struct json *j)
{
    if (!l->user_count)
        return;
    json_name(j, "not_found");
    json_array(j);
    for (size_t i = 0; i < l->user_count; i++)
        if (!is_found(l, l->user_ids[i]))
            json_id(j, l->user_ids[i]);
    json_array_end(j);
}

/* Writes the presences of the chunk's members, except the requesting account. */
static void chunk_write_presences(const struct listing *l, struct arena *arena, struct json *j)
{
    const struct member *m = l->members.items;
    struct list ids = { 0 };

    for (size_t i = 0; i < l->members.count; i++)
        if (m[i].user_id != l->own)
            ids_add(arena, &ids, m[i].user_id);
    json_name(j, "presences");
    gateway_presences(l->errand.load.hub->gateway, l->guild_id, &ids, false, j);
}

static void write_chunk(const struct listing *l, struct arena *arena, struct json *j)
{
    json_object(j);
    json_name(j, "guild_id");
    json_id(j, l->guild_id);
    json_name(j, "members");
    schema_encode(j, &type_members, &l->members);
    json_name(j, "chunk_index");
    json_int(j, l->index);
    json_name(j, "chunk_count");
    json_int(j, l->chunks);
    write_not_found(l, j);
    if (l->presences)
        chunk_write_presences(l, arena, j);
    if (l->nonce_n) {
        json_name(j, "nonce");
        json_raw(j, str_slice(l->nonce, l->nonce_n));
    }
    json_object_end(j);
}

static void make_chunk(struct listing *l, struct arena *arena)
{
    struct buf out;
    struct json j = json_to(&out);

    buf_init(&out, MAX_PAYLOAD);
    write_chunk(l, arena, &j);
    l->chunk = buf_take(&out, arena);
    buf_clear(&out);
}

/* Encodes the chunk in the thread that reads the store, because a thousand members take too long
 * for the loop. */
static enum err member_look(struct load *load, struct tx *tx)
{
    struct listing *l = container_of(load, struct listing, errand.load);
    const struct gateway_source *source = load->hub->gateway->options.source;
    struct gateway_search search = {
        .guild_id = l->guild_id,
        .prefix = str_slice(l->query, l->query_n),
        .user_ids = { l->user_ids, l->user_count },
        .after = l->after,
        .limit = l->all ? CHUNK : l->limit,
        .newest = l->newest,
    };
    enum err e = OK;

    l->members = (struct list){ 0 };
    if (l->all && l->first)
        e = count_chunks(l, source, tx);
    if (!e && !l->over)
        e = source->members(tx, &search, &l->members);
    if (!e)
        make_chunk(l, tx_arena(tx));
    return e;
}

static void member_stepped(struct session_errand *e, enum err error)
{
    struct listing *l = container_of(e, struct listing, errand);
    const struct member *m = l->members.items;

    if (error) {
        l->members = (struct list){ 0 };
        l->chunks = l->index + 1;
        make_chunk(l, e->load.arena);
    }
    session_tell(e->session, EVENT_GUILD_MEMBERS_CHUNK, l->chunk);
    if (l->members.count)
        l->after = m[l->members.count - 1].user_id;
    l->first = false;
    l->index++;
}

static void free_listing(struct session_errand *e)
{
    mem_free(container_of(e, struct listing, errand));
}

static struct listing *listing_new(snowflake guild_id)
{
    struct listing *l = mem_new(sizeof *l);

    l->errand.step = member_step;
    l->errand.stepped = member_stepped;
    l->errand.free = free_listing;
    l->errand.needs_socket = true;
    l->guild_id = guild_id;
    l->first = true;
    l->chunks = 1;
    return l;
}

static void set_nonce(struct listing *l, struct str nonce)
{
    size_t max = nonce.n && nonce.p[0] == '"' ? NONCE_MAX + 2 : NONCE_MAX;

    if (nonce.n == 0 || nonce.n > max || str_is(nonce, "null"))
        return;
    memcpy(l->nonce, nonce.p, nonce.n);
    l->nonce_n = nonce.n;
}

static void set_query(struct listing *l, struct opt_str query)
{
    if (query.given != GIVEN)
        return;
    l->query_n = query.value.n < QUERY_MAX ? query.value.n : QUERY_MAX;
    if (l->query_n)
        memcpy(l->query, query.value.p, l->query_n);
}

/* Parses one id or a list of ids, as strings or numbers; ignores all beyond IDS_MAX. */
static struct list read_ids(struct arena *arena, struct str raw)
{
    static const struct type one = { .kind = KIND_ID };
    static const struct type many = { .kind = KIND_ARRAY, .max = MAX_FROM_USER, .of = &one };
    struct form form = { .arena = arena };
    struct list none = { 0 };
    void *found;

    if (!raw.p || str_is(raw, "null"))
        return none;
    if (schema_decode(raw.p[0] == '[' ? &many : &one, raw, &form, &found))
        return none;
    struct list ids = raw.p[0] == '[' ? *(struct list *)found : (struct list){ found, 1 };
    if (ids.count > IDS_MAX)
        ids.count = IDS_MAX;
    return ids;
}

/* Bots need the intent GUILD_PRESENCES; users get presences in guilds up to SMALL_GUILD members. */
static bool may_see_presences(const struct session *s, const struct seat *seat)
{
    const struct guild_view *v = seat->topic->view;

    return s->bot ? s->options.intents & INTENT(GUILD_PRESENCES)
                  : v && v->member_count <= SMALL_GUILD;
}

static bool may_list_all(struct session *s, struct seat *seat, struct listing *l)
{
    if (s->bot)
        return s->options.intents & INTENT(GUILD_MEMBERS);
    l->small_only = !(seat_rights(seat, 0) & (PERMISSION(MANAGE_ROLES) | PERMISSION(KICK_MEMBERS) |
                                              PERMISSION(BAN_MEMBERS)));
    return true;
}

static void tell_limited(struct session *s, const struct listing *l, int64_t wait_ms)
{
    struct buf out;
    struct json j = json_to(&out);

    buf_init(&out, MAX_PAYLOAD);
    json_object(&j);
    json_name(&j, "opcode");
    json_int(&j, OP_REQUEST_MEMBERS);
    json_name(&j, "retry_after");
    json_real(&j, (double)wait_ms / 1000);
    json_name(&j, "meta");
    json_object(&j);
    json_name(&j, "guild_id");
    json_id(&j, l->guild_id);
    if (l->nonce_n) {
        json_name(&j, "nonce");
        json_raw(&j, str_slice(l->nonce, l->nonce_n));
    }
    json_object_end(&j);
    json_object_end(&j);
    session_tell_buf(s, EVENT_RATE_LIMITED, &out);
}

/* A session may request all members of a guild once per PAUSE_MS. Returns false if RATE_LIMITED
 * was sent. */
static bool begin_all(struct session *s, struct seat *seat, struct listing *l)
{
    int64_t now = clock_steady_ms();

    if (!may_list_all(s, seat, l)) {
        l->over = true;
        l->all = false;
        return true;
    }
    if (!s->hub->gateway->options.no_limits && seat->listed_ms &&
        now - seat->listed_ms < PAUSE_MS) {
        tell_limited(s, l, PAUSE_MS - (now - seat->listed_ms));
        return false;
    }
    seat->listed_ms = now;
    return true;
}

/* The first step also checks the permission to list all members. */
static bool member_step(struct session_errand *e)
{
    struct listing *l = container_of(e, struct listing, errand);
    struct seat *seat = seat_find(&e->session->seats, SUBJECT_GUILD, l->guild_id);

    l->own = e->session->caller.id;
    e->load.aside = !l->user_count;
    if (l->index == l->chunks || (!seat && !l->first))
        return false;
    if (!seat) {
        /* A session that is not in the guild gets an empty chunk, because its client waits for
         * one. */
        l->over = true;
        l->all = l->presences = false;
        e->load.run = member_look;
        return true;
    }
    if (l->all && l->first && !begin_all(e->session, seat, l))
        return false;
    l->presences &= may_see_presences(e->session, seat);
    e->load.run = member_look;
    return true;
}

static void member_request(struct session *s, const struct request_members *in, snowflake guild_id,
                           struct list users)
{
    int64_t limit = in->limit.given == GIVEN ? in->limit.value : 0;
    /* True even if the list is empty or malformed. */
    bool named = in->user_ids.p && !str_is(in->user_ids, "null");
    struct listing *l = listing_new(guild_id);

    set_nonce(l, in->nonce);
    l->presences = in->presences.given == GIVEN && in->presences.value;
    l->limit = limit < 1 || limit > 100 ? 100 : limit;
    if (users.count) {
        l->user_count = users.count;
        l->limit = (int64_t)users.count;
        memcpy(l->user_ids, users.items, users.count * sizeof *l->user_ids);
    } else {
        set_query(l, in->query);
        l->all = l->query_n == 0 && limit == 0 && !named;
        l->over = named && l->query_n == 0;
    }
    errand_begin(s, &l->errand);
}

void handle_request_members(struct peer *p, int op, struct str raw, const void *d)
{
    const struct request_members *in = d;
    struct list guilds = read_ids(p->hub->arena, in->guild_id);
    struct list users = read_ids(p->hub->arena, in->user_ids);
    const snowflake *ids = guilds.items;

    (void)op, (void)raw;
    if (p->session->bot && guilds.count > 1)
        guilds.count = 1;
    for (size_t i = 0; i < guilds.count; i++)
        member_request(p->session, in, ids[i], users);
}

void handle_search_recent(struct peer *p, int op, struct str raw, const void *d)
{
    const struct search_recent *in = d;

    (void)op, (void)raw;
    struct listing *l = listing_new(in->guild_id);
    set_nonce(l, in->nonce);
    set_query(l, in->query);
    l->newest = true;
    l->limit = CHUNK;
    errand_begin(p->session, &l->errand);
}
