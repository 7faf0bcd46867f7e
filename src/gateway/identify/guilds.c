/* guilds.c - subscribes sessions to their guilds and sends GUILD_CREATE. */
#include "gateway/capabilities.h"
#include "gateway/identify/guilds.h"

#include <stdio.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/test_faults.h"
#include "gateway/presence/presence.h"
#include "gateway/sessions/session_tasks.h"
#include "gateway/sessions/gateway_loop.h"
#include "gateway/sessions/registry.h"
#include "gateway/sessions/session.h"
#include "gateway/subscriptions/snapshot_positions.h"
#include "gateway/subscriptions/topics.h"
#include "gateway/subscriptions/guild_view.h"
#include "gateway/wire/gateway_event.h"
#include "gateway/wire/protocol.h"

static bool error_means_guild_is_gone(enum err e)
{
    return e == ERR_UNKNOWN_GUILD || e == ERR_UNKNOWN_MEMBER || e == ERR_MISSING_ACCESS;
}

enum err read_guild_subscription_data(struct gateway_loop *h, struct tx *tx,
                                      const struct payload_recipient *v,
                                      struct json_writer *payload,
                                      struct guild_subscription_data *f)
{
    const struct gateway_source *source = h->gateway->options.source;

    f->is_gone = false;
    enum err e = source->member(tx, f->guild_id, v->user_id, &f->member);
    if (!e && f->wants_view)
        e = source->guild_permission_data(tx, f->guild_id, &f->guild, &f->channels);
    if (!e && payload)
        e = source->guild(tx, &f->member, v, payload);
    f->is_gone = error_means_guild_is_gone(e);
    return f->is_gone ? OK : e;
}

/* Decides, on the loop and before the store read, whether it must include the guild view. */
void guild_subscription_data_init(struct gateway_loop *h, snowflake guild_id,
                                  struct guild_subscription_data *f)
{
    struct topic *t = topic_find(&h->topics, AUDIENCE_GUILD, guild_id);

    bool lacks = !(t && t->view);

    *f = (struct guild_subscription_data){ .guild_id = guild_id,
                                           .lacks_view = lacks,
                                           .wants_view = lacks || test_fault_is_enabled(
                                                                      TEST_FAULT_CHECK_VIEWS) };
}

bool guild_subscription_data_is_outdated(const struct gateway_loop *h,
                                         const struct guild_subscription_data *f)
{
    const struct topic *t = topic_find(&h->topics, AUDIENCE_GUILD, f->guild_id);
    const struct guild_view *v = t ? t->view : NULL;

    if (f->is_gone || !f->lacks_view)
        return !f->is_gone && !v;
    return v && !snapshot_log_positions_include_all(h->reads.seen, v->snapshot_positions);
}

struct topic_subscription *guild_subscription_data_subscribe_session(
    struct session *s, const struct guild_subscription_data *f)
{
    if (f->is_gone)
        return NULL;
    struct topic_subscription *seat =
        session_subscription_add(&s->subscriptions, AUDIENCE_GUILD, f->guild_id);
    struct topic *t = seat->topic;

    if (f->wants_view && !t->view) {
        t->view = guild_view_new(&f->guild, &f->channels);
        t->view->snapshot_positions = snapshot_log_positions_ref(s->gateway_loop->reads.seen);
    } else if (f->wants_view && !s->gateway_loop->reads.ahead &&
               test_fault_is_enabled(TEST_FAULT_CHECK_VIEWS)) {
        guild_view_log_differences_from_store(t->view, &f->guild, &f->channels);
    }
    subscription_set_roles(seat, f->member.roles.items, f->member.roles.count,
                           member_restricted_until(&f->member));
    return seat;
}

struct guild_join_read {
    struct session_store_read store_read;
    uint64_t session;
    struct payload_recipient viewer;
    struct guild_subscription_data setup;
    struct gateway_event *event; /* GUILD_CREATE, if it must be sent */
};

static enum err read_joined_guild(struct session_store_read *l, struct tx *tx)
{
    struct guild_join_read *j = container_of(l, struct guild_join_read, store_read);

    return read_guild_subscription_data(l->gateway_loop, tx, &j->viewer, NULL, &j->setup);
}

/* Reads a guild in the form of Spacebar's GUILD_CREATE: its fields are in "properties", and its
 * members have "id" and "guild_id". */
static enum err read_guild_in_spacebar_form(struct guild_join_read *j, struct tx *tx,
                                            struct buf *out)
{
    struct payload_recipient v = j->viewer;
    struct json_writer json = json_writer_to_buf(out);
    struct ready_event_writer shape;

    ready_event_writer_init(&shape, CAPABILITY_USERS | CAPABILITY_PROPERTIES | CAPABILITY_SPACEBAR,
                            v.user_id);
    v.ready_writer = &shape;
    enum err e = read_guild_subscription_data(j->store_read.gateway_loop, tx, &v, &json, &j->setup);
    if (!e && !j->setup.is_gone && out->n) {
        /* READY_LIST_MEMBERS of `shape` has only this guild's members: no other guild was written.
         */
        struct str members = str_skip_bytes(buf_as_str(&shape.texts[READY_LIST_MEMBERS]), 1);

        buf_truncate(out, out->n - 1);
        buf_add_lit(out, ",\"members\":");
        buf_add_str(out, members);
        buf_add_lit(out, ",\"presences\":[]}");
        if (ready_event_writer_is_full(&shape))
            e = ERR_ENTITY_TOO_LARGE;
    }
    ready_event_writer_clear(&shape);
    return e;
}

static enum err read_joined_guild_with_json(struct session_store_read *l, struct tx *tx)
{
    struct guild_join_read *j = container_of(l, struct guild_join_read, store_read);
    struct buf out;
    struct json_writer json = json_writer_to_buf(&out);

    /* Release the result of an earlier run, because the store may run this function again. */
    gateway_event_unref(j->event);
    j->event = NULL;
    buf_init(&out, MAX_PAYLOAD);
    enum err e =
        j->viewer.capabilities & CAPABILITY_SPACEBAR
            ? read_guild_in_spacebar_form(j, tx, &out)
            : read_guild_subscription_data(l->gateway_loop, tx, &j->viewer, &json, &j->setup);
    if (!e && buf_is_full(&out))
        e = ERR_ENTITY_TOO_LARGE;
    if (!e && !j->setup.is_gone)
        j->event = gateway_event_new(EVENT_GUILD_CREATE, audience_of_session(j->session),
                                     buf_as_str(&out));
    buf_clear(&out);
    return e;
}

static void on_joined_guild_read(struct session_store_read *l, enum err e)
{
    struct guild_join_read *j = container_of(l, struct guild_join_read, store_read);
    struct session *s = registry_find_session_on_loop(l->gateway_loop, j->session);

    if (s && !e && guild_subscription_data_is_outdated(l->gateway_loop, &j->setup)) {
        guild_subscription_data_init(l->gateway_loop, j->setup.guild_id, &j->setup);
        begin_unordered_session_store_read(l->gateway_loop, l);
        return;
    }
    if (s && !e && guild_subscription_data_subscribe_session(s, &j->setup)) {
        if (j->event)
            session_deliver_event(s, j->event, 0);
        presence_announce_to_guild(s, j->setup.guild_id);
    } else if (s && e) {
        /* The client must identify again, because it lacks the guild that could not be read. */
        session_schedule_invalidation(l->gateway_loop, j->session);
    }
    gateway_event_unref(j->event);
    mem_free(j);
}

void session_read_joined_guild(struct session *s, snowflake guild_id, bool is_received)
{
    struct guild_join_read *j = mem_new(sizeof *j);

    j->store_read = (struct session_store_read){ .blocks_events = true,
                                                 .in_background = is_received,
                                                 .owner = s->caller.id,
                                                 .run = is_received ? read_joined_guild_with_json
                                                                    : read_joined_guild,
                                                 .done = on_joined_guild_read };
    j->session = s->number;
    j->viewer = payload_recipient_of_session(s);
    guild_subscription_data_init(s->gateway_loop, guild_id, &j->setup);
    begin_unordered_session_store_read(s->gateway_loop, &j->store_read);
}

struct guild_sending_task {
    struct session_task task;
    struct guild_subscription_data setup;
    struct gateway_event *event; /* GUILD_CREATE, or NULL */
    struct payload_recipient viewer;
    uint64_t session;
    size_t at, count;
    snowflake guilds[];
};

/* Returns whether the session receives events of guilds. A user session that declared no intents
 * receives all events; a bot needs an intent for guilds. */
static bool session_receives_guild_events(bool bot, uint32_t intents)
{
    return intents & INTENT(GUILDS) || (!bot && !intents);
}

static void release_guild_create_event(struct guild_sending_task *a)
{
    gateway_event_unref(a->event);
    a->event = NULL;
}

/* Creates GUILD_CREATE. Returns false if the payload is too large. */
static bool build_guild_create_event(struct guild_sending_task *a, const struct buf *guild)
{
    struct buf out;

    buf_init(&out, MAX_PAYLOAD);
    buf_add_lit(&out, "{\"unavailable\":false,");
    buf_add_str(&out, str_skip_bytes(buf_as_str(guild), 1));
    bool whole = !buf_is_full(guild) && !buf_is_full(&out);
    if (whole)
        a->event = gateway_event_new(EVENT_GUILD_CREATE, audience_of_session(a->session),
                                     buf_as_str(&out));
    buf_clear(&out);
    return whole;
}

static enum err guild_creates_task_read_guild(struct session_store_read *l, struct tx *tx)
{
    struct guild_sending_task *a = container_of(l, struct guild_sending_task, task.store_read);
    struct buf out;
    struct json_writer j = json_writer_to_buf(&out);

    release_guild_create_event(a);
    if (!session_receives_guild_events(a->viewer.bot, a->viewer.intents))
        return read_guild_subscription_data(l->gateway_loop, tx, &a->viewer, NULL, &a->setup);
    buf_init(&out, MAX_PAYLOAD);
    enum err e = read_guild_subscription_data(l->gateway_loop, tx, &a->viewer, &j, &a->setup);
    if (!e && !a->setup.is_gone && !build_guild_create_event(a, &out))
        e = ERR_ENTITY_TOO_LARGE;
    buf_clear(&out);
    return e;
}

static bool guild_creates_task_begin_read(struct session_task *e)
{
    struct guild_sending_task *a = container_of(e, struct guild_sending_task, task);

    if (a->at == a->count)
        return false;
    guild_subscription_data_init(e->session->gateway_loop, a->guilds[a->at++], &a->setup);
    e->store_read.run = guild_creates_task_read_guild;
    e->store_read.in_background = true;
    return true;
}

static void guild_creates_task_on_guild_read(struct session_task *e, enum err error)
{
    struct guild_sending_task *a = container_of(e, struct guild_sending_task, task);
    struct session *s = e->session;
    char payload[64];

    if (error) {
        int n = snprintf(payload, sizeof payload, "{\"id\":\"%llu\",\"unavailable\":true}",
                         (unsigned long long)a->setup.guild_id);

        if (session_receives_guild_events(s->bot, s->options.intents))
            session_deliver_payload(s, EVENT_GUILD_DELETE, str_slice(payload, (size_t)n));
        return;
    }
    if (guild_subscription_data_is_outdated(s->gateway_loop, &a->setup)) {
        a->at--;
        return;
    }
    struct topic_subscription *seat = guild_subscription_data_subscribe_session(s, &a->setup);
    if (!seat)
        return;
    subscription_set_snapshot_positions(seat, s->gateway_loop->reads.seen);
    if (a->event)
        session_deliver_event(s, a->event, 0);
    release_guild_create_event(a);
    presence_announce_to_guild(s, a->setup.guild_id);
    const struct gateway_hooks *hooks = &s->gateway_loop->gateway->options.hooks;
    if (s->bot && hooks->entered) {
        struct gateway_hook_session who = gateway_hook_session_from_session(s);

        hooks->entered(hooks->arg, &who, a->setup.guild_id);
    }
}

static void guild_creates_task_free(struct session_task *e)
{
    struct guild_sending_task *a = container_of(e, struct guild_sending_task, task);

    release_guild_create_event(a);
    mem_free(a);
}

void begin_sending_guild_creates(struct session *s, const struct list *guilds)
{
    struct guild_sending_task *a = mem_new(sizeof *a + guilds->count * sizeof *a->guilds);

    a->task.step = guild_creates_task_begin_read;
    a->task.stepped = guild_creates_task_on_guild_read;
    a->task.free = guild_creates_task_free;
    a->viewer = payload_recipient_of_session(s);
    a->session = s->number;
    a->count = guilds->count;
    memcpy(a->guilds, guilds->items, guilds->count * sizeof *a->guilds);
    session_task_begin(s, &a->task);
}
