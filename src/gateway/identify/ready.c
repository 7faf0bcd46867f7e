/* ready.c - reads, writes and sends READY and READY_SUPPLEMENTAL. */
#include <stdio.h>

#include "base/mem.h"
#include "gateway/capabilities.h"
#include "gateway/identify/identification.h"
#include "gateway/presence/presence.h"
#include "gateway/resume/journal/session_owner.h"
#include "gateway/sessions/gateway_loop.h"
#include "gateway/resume/journal/journal.h"
#include "gateway/sessions/gateway_socket.h"
#include "gateway/sessions/registry.h"
#include "gateway/sessions/session.h"
#include "gateway/subscriptions/topics.h"
#include "gateway/wire/gateway_event.h"
#include "model/fields/ids.h"
#include "model/login_ids.h"

enum {
    READY_USUAL_BYTES = 24 * 1024, /* initial capacity */
    /* Maximum total size of the guilds in READY; further guilds are sent after READY. */
    READY_GUILDS_MAX_BYTES = 4 * 1024 * 1024,
};

static void write_session_fields_json(const struct parsed_identify_fields *i,
                                      const struct gateway_socket *p, struct json_writer *j)
{
    char id[SESSION_ID + 1];

    session_id_format(i->session, id);
    json_write_name(j, "v");
    json_write_int(j, p->dialect->version);
    json_write_name(j, "session_id");
    json_write_text(j, str_of(id));
    json_write_name(j, "session_type");
    json_write_text(j, STR("normal"));
    if (i->has_shard) {
        json_write_name(j, "shard");
        json_begin_array(j);
        json_write_int(j, i->shard[0]);
        json_write_int(j, i->shard[1]);
        json_end_array(j);
    }
    json_write_name(j, "_trace");
    json_write_raw(j, STR(GATEWAY_TRACE));
}

/* Writes resume_gateway_url. Its host is that of the option public_url, else that of the client's
 * Host header, else the local address of the socket, so the URL always leads to this server. */
static void write_resume_url_json(const struct gateway_socket *p, struct json_writer *j)
{
    const char *set = p->gateway_loop->gateway->options.public_url;
    struct str host = str_slice(p->dialect->host, p->dialect->host_n);
    bool secure = websocket_uses_tls(p->ws);
    struct buf url;

    if (set) {
        secure = str_starts_with(str_of(set), STR("https://"));
        host = str_skip_bytes(str_of(set), secure ? 8 : 7);
    }
    buf_init(&url, 4096);
    buf_add_str(&url, secure ? STR("wss://") : STR("ws://"));
    if (host.n)
        buf_add_str(&url, host);
    else
        websocket_append_local_host(p->ws, &url);
    json_write_name(j, "resume_gateway_url");
    json_write_text(j, buf_as_str(&url));
    buf_clear(&url);
}

/* Writes the identifiers of the login that the token belongs to; all sessions of a login have the
 * same identifiers. */
static void write_login_ids_json(const struct session *s, struct json_writer *j)
{
    char uuid[LOGIN_ID_SIZE], hash[LOGIN_HASH_SIZE];

    login_session_write_public_ids(s->caller.session, uuid, hash);
    json_write_name(j, "static_client_session_id");
    json_write_text(j, str_of(uuid));
    json_write_name(j, "auth_session_id_hash");
    json_write_text(j, str_of(hash));
}

/* Writes the fields of READY that need no store read. */
static void write_ready_fields_without_store(struct parsed_identify_fields *i)
{
    struct json_writer j = json_writer_to_buf(&i->own_fields);

    buf_init(&i->own_fields, MAX_PAYLOAD);
    json_begin_object(&j);
    write_session_fields_json(i, i->authentication.socket, &j);
    write_resume_url_json(i->authentication.socket, &j);
    if (!i->session->bot)
        write_login_ids_json(i->session, &j);
}

static void write_bot_guilds_json(const struct parsed_identify_fields *i, struct json_writer *j)
{
    const snowflake *ids = i->guilds.items;

    json_write_name(j, "guilds");
    json_begin_array(j);
    for (size_t k = 0; k < i->guilds.count; k++)
        write_ready_unavailable_guild_json(NULL, ids[k], j);
    json_end_array(j);
    json_write_name(j, "application");
    json_begin_object(j);
    json_write_name(j, "id");
    json_write_id(j, i->authentication.application_id);
    json_write_name(j, "flags");
    json_write_int(j, i->authentication.application_flags);
    json_write_name(j, "flags_new");
    json_write_id(j, (uint64_t)i->authentication.application_flags);
    json_end_object(j);
}

static void remove_guilds_of_other_shards(const struct session *s, struct list *guilds)
{
    snowflake *ids = guilds->items;
    size_t n = 0;

    for (size_t k = 0; k < guilds->count; k++)
        if (session_shard_has_guild(s, ids[k]))
            ids[n++] = ids[k];
    guilds->count = n;
}

/* Reads one guild for READY; writes nothing if the account has left the guild. If a guild makes
 * READY too long, this guild and all guilds after it are sent after READY. */
static enum err read_ready_guild(struct parsed_identify_fields *i, struct tx *tx,
                                 const struct payload_recipient *v, struct json_writer *out,
                                 struct guild_subscription_data *f)
{
    struct json_writer before = *out;
    size_t begin = out->out->n;
    struct ready_event_writer_position mark = ready_event_writer_get_position(v->ready_writer);
    bool late = i->late_guilds.count;
    enum err e =
        late ? OK : read_guild_subscription_data(i->store_read.gateway_loop, tx, v, out, f);

    if (e ||
        (!late &&
         out->out->n + ready_event_writer_count_bytes(v->ready_writer) <= READY_GUILDS_MAX_BYTES &&
         !buf_is_full(out->out)))
        return e;
    buf_truncate(out->out, begin);
    *out = before;
    ready_event_writer_truncate_to_position(v->ready_writer, &mark);
    write_ready_unavailable_guild_json(v->ready_writer, f->guild_id, out);
    /* Do not subscribe the session to this guild before its GUILD_CREATE is sent. */
    f->is_gone = true;
    id_list_add(tx_arena(tx), &i->late_guilds, f->guild_id);
    return OK;
}

static enum err read_ready_guilds(struct parsed_identify_fields *i, struct tx *tx,
                                  const struct payload_recipient *v, struct json_writer *out)
{
    const snowflake *ids = i->guilds.items;
    struct guild_subscription_data *all =
        arena_array(tx_arena(tx), struct guild_subscription_data, i->guilds.count + 1);

    json_write_name(out, "guilds");
    json_begin_array(out);
    for (size_t k = 0; k < i->guilds.count; k++) {
        all[k] = (struct guild_subscription_data){ ids[k], .wants_view = true, .lacks_view = true };
        for (size_t n = 0; n < i->guild_setup_count; n++)
            if (i->guild_setups[n].guild_id == ids[k])
                all[k] = i->guild_setups[n];
        enum err e = read_ready_guild(i, tx, v, out, &all[k]);
        if (e)
            return e;
    }
    json_end_array(out);
    i->guilds.items = all;
    return OK;
}

static enum err write_ready_json(struct parsed_identify_fields *i, struct tx *tx,
                                 const struct payload_recipient *v, struct json_writer *out,
                                 struct json_writer *more)
{
    struct gateway *g = i->store_read.gateway_loop->gateway;
    enum err e = OK;

    buf_add_str(out->out, buf_as_str(&i->own_fields));
    out->comma = true;
    if (v->bot)
        write_bot_guilds_json(i, out);
    else
        e = read_ready_guilds(i, tx, v, out);
    if (!e)
        e = g->options.source->ready(tx, v, out);
    if (!e && !v->bot) {
        json_write_name(out, "sessions");
        write_session_list_json(g, v->user_id, out);
        ready_event_writer_write_collected_lists(v->ready_writer, g, &i->friends, out, more);
    }
    json_end_object(out);
    return e;
}

/* Creates READY, and READY_SUPPLEMENTAL if the capabilities require it. */
static enum err create_ready_events(struct parsed_identify_fields *i, struct tx *tx,
                                    struct payload_recipient v)
{
    struct audience to = audience_of_session(i->session->number);
    struct ready_event_writer shape;
    struct buf out, more;
    struct json_writer j = json_writer_to_buf(&out), k = json_writer_to_buf(&more);

    event_payload_buffer_init(&out, MAX_PAYLOAD);
    buf_reserve(&out, i->own_fields.n + READY_USUAL_BYTES);
    buf_init(&more, MAX_PAYLOAD);
    ready_event_writer_init(&shape, v.capabilities, v.user_id);
    if (!v.bot)
        v.ready_writer = &shape;
    enum err e = write_ready_json(i, tx, &v, &j, &k);
    if (!e && (buf_is_full(&out) || buf_is_full(&more) || ready_event_writer_is_full(&shape)))
        e = ERR_ENTITY_TOO_LARGE;
    if (!e)
        i->ready = gateway_event_from_buf(EVENT_READY, to, &out);
    if (!e && more.n)
        i->more = gateway_event_new(EVENT_READY_SUPPLEMENTAL, to, buf_as_str(&more));
    ready_event_writer_clear(&shape);
    buf_clear(&out);
    buf_clear(&more);
    return e;
}

static void release_ready_events(struct parsed_identify_fields *i)
{
    gateway_event_unref(i->ready);
    gateway_event_unref(i->more);
    i->ready = i->more = NULL;
    i->late_guilds = (struct list){ 0 };
}

static enum err read_ready_data(struct session_store_read *l, struct tx *tx)
{
    struct parsed_identify_fields *i = container_of(l, struct parsed_identify_fields, store_read);
    const struct gateway_source *source = l->gateway_loop->gateway->options.source;
    struct payload_recipient v = i->viewer;

    release_ready_events(i);
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
    remove_guilds_of_other_shards(i->session, &i->guilds);
    return create_ready_events(i, tx, v);
}

static void subscribe_ready_session(struct parsed_identify_fields *i)
{
    struct session *s = i->session;

    subscription_set_snapshot_positions(
        session_subscription_add(&s->subscriptions, AUDIENCE_USER, s->caller.id),
        s->gateway_loop->reads.seen);
    for (size_t k = 0; k < i->guilds.count && !s->bot; k++) {
        struct topic_subscription *seat = guild_subscription_data_subscribe_session(
            s, (struct guild_subscription_data *)i->guilds.items + k);

        if (seat)
            subscription_set_snapshot_positions(seat, s->gateway_loop->reads.seen);
    }
}

/* Connects the session to running calls of its private channels, as if it had sent op 13. */
static void connect_session_to_running_calls(const struct parsed_identify_fields *i)
{
    const struct gateway_hooks *hooks = &i->session->gateway_loop->gateway->options.hooks;
    struct gateway_hook_session who = gateway_hook_session_from_session(i->session);
    const snowflake *ids = i->calls.items;
    char d[64];

    for (size_t k = 0; k < i->calls.count && hooks->voice; k++) {
        int n = snprintf(d, sizeof d, "{\"channel_id\":\"%llu\"}", (unsigned long long)ids[k]);

        hooks->voice(hooks->arg, &who, OP_CALL_CONNECT, str_slice(d, (size_t)n));
    }
}

/* Allocates one struct guild_subscription_data per guild, which the loop initializes later. */
static void allocate_guild_subscription_data(struct parsed_identify_fields *i, size_t count)
{
    mem_free(i->guild_setups);
    i->guild_setup_count = count;
    i->guild_setups = mem_new((count + 1) * sizeof *i->guild_setups);
}

static void init_guild_subscription_data(struct parsed_identify_fields *i, struct gateway_loop *h)
{
    const snowflake *ids = i->authentication.guilds.items;

    if (i->viewer.bot)
        return;
    allocate_guild_subscription_data(i, i->authentication.guilds.count);
    for (size_t k = 0; k < i->guild_setup_count; k++)
        guild_subscription_data_init(h, ids[k], &i->guild_setups[k]);
}

/* Repeats the store read of READY, because a guild view has changed since the read began. The loop
 * delivers no events until the read ends. */
static void repeat_ready_read(struct parsed_identify_fields *i, struct gateway_loop *h)
{
    const struct guild_subscription_data *all = i->guilds.items;

    allocate_guild_subscription_data(i, i->guilds.count);
    for (size_t k = 0; k < i->guild_setup_count; k++)
        guild_subscription_data_init(h, all[k].guild_id, &i->guild_setups[k]);
    begin_unordered_session_store_read(h, &i->store_read);
}

static bool ready_is_outdated(const struct parsed_identify_fields *i, const struct gateway_loop *h)
{
    const struct guild_subscription_data *all = i->guilds.items;

    for (size_t k = 0; k < i->guilds.count && !i->viewer.bot; k++)
        if (guild_subscription_data_is_outdated(h, &all[k]))
            return true;
    return false;
}

static void on_ready_read(struct session_store_read *l, enum err e)
{
    struct parsed_identify_fields *i = container_of(l, struct parsed_identify_fields, store_read);
    struct session *s = i->session;
    struct gateway *g = l->gateway_loop->gateway;
    struct gateway_socket *p = i->authentication.socket;

    if (e || !p || p->closing || s->revoked) {
        gateway_authentication_end(&i->authentication);
        if (p && s->revoked)
            gateway_socket_close(p, CLOSE_BAD_TOKEN, "authentication failed");
        else if (p)
            gateway_socket_close(p, CLOSE_UNKNOWN, "internal error");
        session_end(s);
        identify_fields_free(i);
        return;
    }
    if (ready_is_outdated(i, l->gateway_loop)) {
        repeat_ready_read(i, l->gateway_loop);
        return;
    }
    gateway_authentication_end(&i->authentication);
    s->presences = l->since;
    subscribe_ready_session(i);
    /* Spacebar's servers ignore "compress" in IDENTIFY. Spacebar's client Fermi sets it, but
     * expects uncompressed messages. */
    p->compress = i->compress && !p->dialect->spacebar;
    gateway_socket_attach_session(p, s);
    session_deliver_event(s, i->ready, 0);
    if (i->more)
        session_deliver_event(s, i->more, 0);
    connect_session_to_running_calls(i);
    if (s->bot && i->guilds.count)
        begin_sending_guild_creates(s, &i->guilds);
    else if (i->late_guilds.count)
        begin_sending_guild_creates(s, &i->late_guilds);
    if (!s->bot)
        send_session_list_after_local_change(s);
    if (s->bot && s->options.intents & INTENT(GUILD_PRESENCES))
        atomic_fetch_add(&g->presence_bots, 1);
    presence_on_session_begin(s, s->bot ? NULL : &i->friends);
    if (g->cluster)
        session_owner_insert(s);
    journal_add_session(s);
    journal_set_session_loop(s);
    atomic_fetch_add(&g->count.identified, 1);
    identify_fields_free(i);
}

void begin_sending_ready(struct parsed_identify_fields *i, struct gateway_loop *h)
{
    init_guild_subscription_data(i, h);
    write_ready_fields_without_store(i);
    i->store_read.run = read_ready_data;
    i->store_read.done = on_ready_read;
    i->store_read.in_background = i->guild_setup_count > MANY_GUILDS_FOR_LOOP;
    i->store_read.owner = i->viewer.user_id;
    begin_ordered_session_store_read(h, &i->store_read);
}
