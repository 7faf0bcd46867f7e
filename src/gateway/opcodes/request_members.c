/* request_members.c - handles op 8 and op 35, answers with GUILD_MEMBERS_CHUNK.
 *
 * A list of all members is sent in chunks. Every chunk except the last one is full, because clients
 * treat a chunk that is not full as the last one. */
#include "base/clock.h"
#include "base/mem.h"
#include "gateway/opcodes/opcodes.h"
#include "gateway/sessions/session_tasks.h"
#include "gateway/sessions/gateway_loop.h"
#include "gateway/sessions/gateway_socket.h"
#include "gateway/sessions/registry.h"
#include "gateway/sessions/session.h"
#include "gateway/subscriptions/topics.h"
#include "gateway/subscriptions/guild_view.h"
#include "gateway/wire/messages.h"
#include "model/fields/ids.h"
#include "model/fields/types.h"

enum {
    MEMBERS_PER_CHUNK = 1000,
    REQUESTED_IDS_MAX = 100,
    NONCE_MAX = 32,
    QUERY_MAX = 100,
    FULL_LIST_INTERVAL_MS = 30 * 1000,
    FULL_LIST_GUILD_MEMBERS =
        1000, /* size of guilds up to which every member may request all members */
};

struct members_task {
    struct session_task task;
    snowflake guild_id;
    char nonce[NONCE_MAX + 3], query[QUERY_MAX + 1];
    size_t nonce_n, query_n;
    int64_t limit;
    bool all, newest, small_only, first, over, presences;
    snowflake user_ids[REQUESTED_IDS_MAX];
    size_t user_count;
    int64_t index, chunks;
    snowflake after;
    snowflake own;       /* requesting account */
    struct list members; /* items: struct member, in the arena of the store read */
    struct str chunk;    /* JSON of GUILD_MEMBERS_CHUNK, in the arena of the store read */
};

static enum err compute_member_chunk_count(struct members_task *l,
                                           const struct gateway_source *source, struct tx *tx)
{
    int64_t count = 0;
    enum err e = source->member_count(tx, l->guild_id, &count);

    if (l->small_only && count > FULL_LIST_GUILD_MEMBERS)
        count = 0;
    l->over = count == 0;
    l->chunks = count ? (count + MEMBERS_PER_CHUNK - 1) / MEMBERS_PER_CHUNK : 1;
    return e;
}

static bool members_task_begin_chunk_read(struct session_task *e);

static bool found_members_include_user(const struct members_task *l, snowflake id)
{
    const struct member *m = l->members.items;

    for (size_t i = 0; i < l->members.count; i++)
        if (m[i].user_id == id)
            return true;
    return false;
}

static void write_not_found_user_ids_json(const struct members_task *l, struct json_writer *j)
{
    if (!l->user_count)
        return;
    json_write_name(j, "not_found");
    json_begin_array(j);
    for (size_t i = 0; i < l->user_count; i++)
        if (!found_members_include_user(l, l->user_ids[i]))
            json_write_id(j, l->user_ids[i]);
    json_end_array(j);
}

/* Writes the presences of the chunk's members, except the requesting account. */
static void write_member_chunk_presences_json(const struct members_task *l, struct arena *arena,
                                              struct json_writer *j)
{
    const struct member *m = l->members.items;
    struct list ids = { 0 };

    for (size_t i = 0; i < l->members.count; i++)
        if (m[i].user_id != l->own)
            id_list_add(arena, &ids, m[i].user_id);
    json_write_name(j, "presences");
    gateway_write_presences_json(l->task.store_read.gateway_loop->gateway, l->guild_id, &ids, false,
                                 j);
}

static void write_member_chunk_json(const struct members_task *l, struct arena *arena,
                                    struct json_writer *j)
{
    json_begin_object(j);
    json_write_name(j, "guild_id");
    json_write_id(j, l->guild_id);
    json_write_name(j, "members");
    schema_encode(j, &type_members, &l->members);
    json_write_name(j, "chunk_index");
    json_write_int(j, l->index);
    json_write_name(j, "chunk_count");
    json_write_int(j, l->chunks);
    write_not_found_user_ids_json(l, j);
    if (l->presences)
        write_member_chunk_presences_json(l, arena, j);
    if (l->nonce_n) {
        json_write_name(j, "nonce");
        json_write_raw(j, str_slice(l->nonce, l->nonce_n));
    }
    json_end_object(j);
}

static void encode_member_chunk(struct members_task *l, struct arena *arena)
{
    struct buf out;
    struct json_writer j = json_writer_to_buf(&out);

    buf_init(&out, MAX_PAYLOAD);
    write_member_chunk_json(l, arena, &j);
    l->chunk = buf_move_to_arena(&out, arena);
    buf_clear(&out);
}

/* Encodes the chunk on the thread that reads the store, because encoding a thousand members would
 * take too long on the loop. */
static enum err read_member_chunk(struct session_store_read *load, struct tx *tx)
{
    struct members_task *l = container_of(load, struct members_task, task.store_read);
    const struct gateway_source *source = load->gateway_loop->gateway->options.source;
    struct gateway_member_search search = {
        .guild_id = l->guild_id,
        .prefix = str_slice(l->query, l->query_n),
        .user_ids = { l->user_ids, l->user_count },
        .after = l->after,
        .limit = l->all ? MEMBERS_PER_CHUNK : l->limit,
        .newest = l->newest,
    };
    enum err e = OK;

    l->members = (struct list){ 0 };
    if (l->all && l->first)
        e = compute_member_chunk_count(l, source, tx);
    if (!e && !l->over)
        e = source->members(tx, &search, &l->members);
    if (!e)
        encode_member_chunk(l, tx_arena(tx));
    return e;
}

static void members_task_send_chunk(struct session_task *e, enum err error)
{
    struct members_task *l = container_of(e, struct members_task, task);
    const struct member *m = l->members.items;

    if (error) {
        l->members = (struct list){ 0 };
        l->chunks = l->index + 1;
        encode_member_chunk(l, e->store_read.arena);
    }
    session_deliver_payload(e->session, EVENT_GUILD_MEMBERS_CHUNK, l->chunk);
    if (l->members.count)
        l->after = m[l->members.count - 1].user_id;
    l->first = false;
    l->index++;
}

static void members_task_free(struct session_task *e)
{
    mem_free(container_of(e, struct members_task, task));
}

static struct members_task *members_task_new(snowflake guild_id)
{
    struct members_task *l = mem_new(sizeof *l);

    l->task.step = members_task_begin_chunk_read;
    l->task.stepped = members_task_send_chunk;
    l->task.free = members_task_free;
    l->task.needs_socket = true;
    l->guild_id = guild_id;
    l->first = true;
    l->chunks = 1;
    return l;
}

static void members_task_set_nonce(struct members_task *l, struct str nonce)
{
    size_t max = nonce.n && nonce.p[0] == '"' ? NONCE_MAX + 2 : NONCE_MAX;

    if (nonce.n == 0 || nonce.n > max || str_is(nonce, "null"))
        return;
    memcpy(l->nonce, nonce.p, nonce.n);
    l->nonce_n = nonce.n;
}

static void members_task_set_query(struct members_task *l, struct opt_str query)
{
    if (query.given != GIVEN)
        return;
    l->query_n = query.value.n < QUERY_MAX ? query.value.n : QUERY_MAX;
    if (l->query_n)
        memcpy(l->query, query.value.p, l->query_n);
}

/* Parses an id or a list of ids, as strings or numbers; ignores ids beyond REQUESTED_IDS_MAX. */
static struct list parse_user_id_or_ids(struct arena *arena, struct str raw)
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
    if (ids.count > REQUESTED_IDS_MAX)
        ids.count = REQUESTED_IDS_MAX;
    return ids;
}

/* Returns whether the client may get presences with the members. A bot needs the intent
 * GUILD_PRESENCES; a user gets presences in guilds up to SMALL_GUILD_MEMBERS members. */
static bool can_view_presences(const struct session *s, const struct topic_subscription *seat)
{
    const struct guild_view *v = seat->topic->view;

    return s->bot ? s->options.intents & INTENT(GUILD_PRESENCES)
                  : v && v->member_count <= SMALL_GUILD_MEMBERS;
}

static bool can_list_all_members(struct session *s, struct topic_subscription *seat,
                                 struct members_task *l)
{
    if (s->bot)
        return s->options.intents & INTENT(GUILD_MEMBERS);
    l->small_only =
        !(subscription_permissions(seat, 0) &
          (PERMISSION(MANAGE_ROLES) | PERMISSION(KICK_MEMBERS) | PERMISSION(BAN_MEMBERS)));
    return true;
}

static void send_rate_limited_event(struct session *s, const struct members_task *l,
                                    int64_t wait_ms)
{
    struct buf out;
    struct json_writer j = json_writer_to_buf(&out);

    buf_init(&out, MAX_PAYLOAD);
    json_begin_object(&j);
    json_write_name(&j, "opcode");
    json_write_int(&j, OP_REQUEST_MEMBERS);
    json_write_name(&j, "retry_after");
    json_write_real(&j, (double)wait_ms / 1000);
    json_write_name(&j, "meta");
    json_begin_object(&j);
    json_write_name(&j, "guild_id");
    json_write_id(&j, l->guild_id);
    if (l->nonce_n) {
        json_write_name(&j, "nonce");
        json_write_raw(&j, str_slice(l->nonce, l->nonce_n));
    }
    json_end_object(&j);
    json_end_object(&j);
    session_deliver_payload_buf(s, EVENT_RATE_LIMITED, &out);
}

/* Returns whether the session may request all members of the guild now: once per
 * FULL_LIST_INTERVAL_MS. If not, sends RATE_LIMITED. */
static bool session_may_request_full_member_list(struct session *s, struct topic_subscription *seat,
                                                 struct members_task *l)
{
    int64_t now = clock_steady_ms();

    if (!can_list_all_members(s, seat, l)) {
        l->over = true;
        l->all = false;
        return true;
    }
    if (!s->gateway_loop->gateway->options.no_limits && seat->listed_ms &&
        now - seat->listed_ms < FULL_LIST_INTERVAL_MS) {
        send_rate_limited_event(s, l, FULL_LIST_INTERVAL_MS - (now - seat->listed_ms));
        return false;
    }
    seat->listed_ms = now;
    return true;
}

/* Starts to read the next chunk of members. The first read also checks the permission for it. */
static bool members_task_begin_chunk_read(struct session_task *e)
{
    struct members_task *l = container_of(e, struct members_task, task);
    struct topic_subscription *seat =
        session_subscription_find(&e->session->subscriptions, AUDIENCE_GUILD, l->guild_id);

    l->own = e->session->caller.id;
    e->store_read.in_background = !l->user_count;
    if (l->index == l->chunks || (!seat && !l->first))
        return false;
    if (!seat) {
        /* The account is not in the guild: send an empty chunk, for which the client waits. */
        l->over = true;
        l->all = l->presences = false;
        e->store_read.run = read_member_chunk;
        return true;
    }
    if (l->all && l->first && !session_may_request_full_member_list(e->session, seat, l))
        return false;
    l->presences &= can_view_presences(e->session, seat);
    e->store_read.run = read_member_chunk;
    return true;
}

static void begin_members_task(struct session *s, const struct request_members_message *in,
                               snowflake guild_id, struct list users)
{
    int64_t limit = in->limit.given == GIVEN ? in->limit.value : 0;
    /* True if the request has user_ids, even if the list is empty or malformed. */
    bool named = in->user_ids.p && !str_is(in->user_ids, "null");
    struct members_task *l = members_task_new(guild_id);

    members_task_set_nonce(l, in->nonce);
    l->presences = in->presences.given == GIVEN && in->presences.value;
    l->limit = limit < 1 || limit > 100 ? 100 : limit;
    if (users.count) {
        l->user_count = users.count;
        l->limit = (int64_t)users.count;
        memcpy(l->user_ids, users.items, users.count * sizeof *l->user_ids);
    } else {
        members_task_set_query(l, in->query);
        l->all = l->query_n == 0 && limit == 0 && !named;
        l->over = named && l->query_n == 0;
    }
    session_task_begin(s, &l->task);
}

void handle_request_members_opcode(struct gateway_socket *p, int op, struct str raw, const void *d)
{
    const struct request_members_message *in = d;
    struct list guilds = parse_user_id_or_ids(p->gateway_loop->arena, in->guild_id);
    struct list users = parse_user_id_or_ids(p->gateway_loop->arena, in->user_ids);
    const snowflake *ids = guilds.items;

    (void)op, (void)raw;
    if (p->session->bot && guilds.count > 1)
        guilds.count = 1;
    for (size_t i = 0; i < guilds.count; i++)
        begin_members_task(p->session, in, ids[i], users);
}

void handle_search_recent_members_opcode(struct gateway_socket *p, int op, struct str raw,
                                         const void *d)
{
    const struct search_recent_members_message *in = d;

    (void)op, (void)raw;
    struct members_task *l = members_task_new(in->guild_id);
    members_task_set_nonce(l, in->nonce);
    members_task_set_query(l, in->query);
    l->newest = true;
    l->limit = MEMBERS_PER_CHUNK;
    session_task_begin(p->session, &l->task);
}
