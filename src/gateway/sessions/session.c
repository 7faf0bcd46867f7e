/* session.c - a session: its state, sending, RESUME, disconnection, move between loops. */
#include "gateway/sessions/session.h"

#include <sodium.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/test_faults.h"
#include "gateway/resume/journal/replication.h"
#include "gateway/sessions/session_tasks.h"
#include "gateway/resume/journal/session_owner.h"
#include "gateway/sessions/gateway_loop.h"
#include "gateway/resume/journal/journal.h"
#include "gateway/sessions/background_encoding.h"
#include "gateway/sessions/gateway_socket.h"
#include "gateway/sessions/traffic_recording.h"
#include "gateway/sessions/registry.h"
#include "gateway/sessions/sending.h"
#include "gateway/sessions/upcalls.h"
#include "gateway/wire/gateway_event.h"

static struct session *session_new_with_id_bytes(struct gateway_loop *h,
                                                 const struct caller *caller,
                                                 const unsigned char id[SESSION_ID / 2])
{
    struct session *s = mem_new(sizeof *s);

    memcpy(&s->number, id, sizeof s->number);
    memcpy(s->id_rest, id + sizeof s->number, sizeof s->id_rest);
    s->caller = *caller;
    s->bot = caller->kind == CALLER_BOT;
    s->gateway_loop = h;
    s->subscriptions =
        (struct session_subscriptions){ .session = s, .user_id = caller->id, .topics = &h->topics };
    s->options.shard_count = 1;
    linked_list_init(&s->lists);
    linked_list_append(&h->sessions, &s->link);
    return s;
}

struct session *session_new(struct gateway_loop *h, const struct caller *caller)
{
    unsigned char bytes[SESSION_ID / 2];

    randombytes_buf(bytes, sizeof bytes);
    return session_new_with_id_bytes(h, caller, bytes);
}

struct session *session_new_with_id(struct gateway_loop *h, const struct caller *caller,
                                    const char *id)
{
    unsigned char bytes[SESSION_ID / 2] = { 0 };

    sodium_hex2bin(bytes, sizeof bytes, id, strlen(id), NULL, NULL, NULL);
    return session_new_with_id_bytes(h, caller, bytes);
}

void session_set_client_name(struct session *s, const char *client)
{
    struct gateway *g = s->gateway_loop->gateway;

    pthread_mutex_lock(&g->lock);
    const char *before = s->client;
    s->client = client_name_ref(&g->client_names, client);
    if (before)
        client_name_unref(&g->client_names, before);
    pthread_mutex_unlock(&g->lock);
}

/* sodium_bin2hex is not used, because it takes four times as long, and a session formats its id
 * five times. */
void session_id_format(const struct session *s, char out[SESSION_ID + 1])
{
    static const char digits[] = "0123456789abcdef";
    unsigned char bytes[SESSION_ID / 2];

    memcpy(bytes, &s->number, sizeof s->number);
    memcpy(bytes + sizeof s->number, s->id_rest, sizeof s->id_rest);
    for (size_t i = 0; i < sizeof bytes; i++) {
        *out++ = digits[bytes[i] >> 4];
        *out++ = digits[bytes[i] & 0x0f];
    }
    *out = '\0';
}

bool session_has_id(const struct session *s, struct str id)
{
    char own[SESSION_ID + 1];

    session_id_format(s, own);
    return str_eq(str_of(own), id);
}

struct client_presence *session_get_or_create_presence_state(struct session *s)
{
    if (!s->client_presence) {
        s->client_presence = mem_new(sizeof *s->client_presence);
        s->client_presence->session = s;
    }
    return s->client_presence;
}

/* Returns the cluster state of the session. Creates it if needed; then the whole session is marked
 * as unsent, because it is not replicated yet. */
struct session_cluster_state *session_get_or_create_cluster_state(struct session *s)
{
    if (!s->sync) {
        s->sync = mem_new(sizeof *s->sync);
        s->sync->session = s;
        s->sync->whole = true;
    }
    return s->sync;
}

static void session_disconnect_state_free(struct session *s)
{
    if (!s->absence)
        return;
    deadline_cancel(&s->absence->away);
    deadline_cancel(&s->absence->show_offline);
    mem_free(s->absence);
    s->absence = NULL;
}

static void client_presence_free(struct client_presence *own)
{
    if (!own)
        return;
    deadline_cancel(&own->window);
    mem_free((void *)(uintptr_t)own->activities.p);
    mem_free(own);
}

static bool bot_receives_presences(const struct session *s)
{
    return session_is_ready(s) && s->bot && s->options.intents & INTENT(GUILD_PRESENCES);
}

static void session_unref_client_name(struct session *s)
{
    struct gateway *g = s->gateway_loop->gateway;

    if (!s->client)
        return;
    pthread_mutex_lock(&g->lock);
    client_name_unref(&g->client_names, s->client);
    pthread_mutex_unlock(&g->lock);
}

void session_end(struct session *s)
{
    struct gateway *g = s->gateway_loop->gateway;
    /* Do not show the account as offline if another node continues the session, because that node
     * announces the presence. */
    bool stays_shown =
        s->state == SESSION_SUSPENDED || (s->state == SESSION_MOVING && g->directory);

    if (!stays_shown)
        gateway_upcalls.presence_change(s, true);
    if (s->socket)
        gateway_socket_detach_session(s->socket);
    if (g->options.hooks.ended && s->listed && s->state != SESSION_SUSPENDED) {
        struct gateway_hook_session who = gateway_hook_session_from_session(s);

        g->options.hooks.ended(g->options.hooks.arg, &who);
    }
    session_tasks_abort(s);
    gateway_upcalls.lists_leave(s, true);
    if (g->cluster && session_is_ready(s) && !session_continues_in_other_process(s))
        session_owner_delete(s);
    journal_remove_session(s);
    registry_remove_session(g, s);
    if (session_is_ready(s) && !s->bot && !g->draining)
        gateway_upcalls.sessions_changed(s);
    session_disconnect_state_free(s);
    session_subscriptions_clear(&s->subscriptions);
    gateway_upcalls.directory_end(s);
    if (bot_receives_presences(s))
        atomic_fetch_sub(&g->presence_bots, 1);
    linked_list_remove(&s->link);
    replay_buffer_clear(&s->replay);
    client_presence_free(s->client_presence);
    mem_free(s->sync);
    session_unref_client_name(s);
    mem_free(s);
}

_Static_assert(sizeof((struct gateway_hook_session){ 0 }).session_id == SESSION_ID + 1,
               "a session id fits into its field");

struct gateway_hook_session gateway_hook_session_from_session(const struct session *s)
{
    struct gateway_hook_session c = { .caller = &s->caller,
                                      .session = s->number,
                                      .address = s->socket
                                                     ? websocket_get_client_address(s->socket->ws)
                                                     : STR(""),
                                      .client = (enum client_kind)s->presence.kind };

    session_id_format(s, c.session_id);
    return c;
}

struct payload_recipient payload_recipient_of_session(const struct session *s)
{
    return (struct payload_recipient){
        .gateway = s->gateway_loop->gateway,
        .user_id = s->caller.id,
        .application_id = s->caller.application_id,
        .bot = s->bot,
        .intents = s->options.intents,
        .capabilities = s->options.capabilities,
        .large_threshold = s->large_threshold,
    };
}

bool session_shard_has_guild(const struct session *s, snowflake guild_id)
{
    return (guild_id >> 22) % s->options.shard_count == s->options.shard_id;
}

#define TO(state) (1U << SESSION_##state)

static const unsigned allowed_transitions[SESSION_STATES] = {
    [SESSION_IDENTIFYING] = TO(LIVE) | TO(ARRIVING) | TO(RECOVERED),
    [SESSION_LIVE] = TO(DISCONNECTED) | TO(SUSPENDED),
    [SESSION_DISCONNECTED] = TO(LIVE) | TO(ARRIVING) | TO(MOVING) | TO(SUSPENDED),
    [SESSION_ARRIVING] = TO(LIVE) | TO(DISCONNECTED),
    [SESSION_RECOVERED] = TO(LIVE) | TO(DISCONNECTED),
    [SESSION_MOVING] = 0,
    [SESSION_SUSPENDED] = 0,
};

bool session_can_change_state(enum session_state from, enum session_state to)
{
    return from == to || allowed_transitions[from] & 1U << to;
}

void session_set_state(struct session *s, enum session_state state)
{
    struct gateway *g = s->gateway_loop->gateway;

    if (!session_can_change_state(s->state, state)) {
        log_error("gateway: bug: a session changed from state %u to state %u, which is not allowed",
                  s->state, (unsigned)state);
        abort();
    }
    pthread_mutex_lock(&g->lock);
    s->state = (unsigned char)state;
    pthread_mutex_unlock(&g->lock);
}

/* Disconnects a client that is too far behind; the client may resume. Unsent events then wait in
 * the replay buffer, at almost no cost. */
static void disconnect_slow_client(struct session *s)
{
    atomic_fetch_add_explicit(&s->gateway_loop->gateway->count.disconnected_slow, 1,
                              memory_order_relaxed);
    gateway_socket_close(s->socket, CLOSE_UNKNOWN, "the client reads too slowly");
}

static void send_event_to_socket(struct session *s, uint64_t seq, struct gateway_event *n,
                                 unsigned form)
{
    record_dispatch_as_traffic(s->socket, seq, n, form);
    if (event_payload_is_too_long_for_loop(n))
        background_encoding_begin(s->socket, seq, n, form);
    else
        send_dispatch_to_client(s->socket, seq, n, form);
}

void session_send_events_from_replay_buffer(struct session *s)
{
    struct gateway_socket *p = s->socket;

    while (!p->closing && s->output.sent < s->seq) {
        if (p->encoding)
            return;
        if (s->seq - s->output.sent > s->replay.count) {
            disconnect_slow_client(s);
        } else if (websocket_count_unsent_bytes(p->ws) > SOCKET_UNSENT_MAX) {
            websocket_notify_when_all_is_sent(p->ws);
            return;
        } else {
            uint32_t at = s->replay.count - (uint32_t)(s->seq - s->output.sent);
            const struct replay_entry *k = replay_buffer_entry_at(&s->replay, at);

            if (s->output.sent >= s->output.replay_end)
                s->behind_bytes -= (uint32_t)gateway_event_get_payload(k->event).n;
            send_event_to_socket(s, ++s->output.sent, k->event, k->form);
        }
    }
    session_tasks_continue(s);
}

static bool client_is_too_far_behind(const struct session *s)
{
    uint64_t from = s->output.sent > s->output.replay_end ? s->output.sent : s->output.replay_end;

    return s->seq - from > BEHIND_COUNT || s->behind_bytes > BEHIND_BYTES ||
           s->seq - s->output.sent > s->replay.count;
}

/* Returns whether the socket has a backlog. Session tasks wait then, because two large guilds in a
 * row would exceed the limit of unsent bytes. A disconnected session has no backlog, because its
 * events go to the replay buffer. */
bool session_has_unsent_data(const struct session *s)
{
    return s->socket && (s->socket->encoding || s->output.sent < s->seq ||
                         websocket_count_unsent_bytes(s->socket->ws) > SOCKET_UNSENT_MAX);
}

/* Sends the newest event of the replay buffer, or leaves it there until earlier events are sent. */
static void send_or_queue_newest_event(struct session *s, struct gateway_event *n, unsigned form)
{
    struct gateway_socket *p = s->socket;

    if (p->closing)
        return;
    if (s->output.sent + 1 == s->seq && !p->encoding &&
        websocket_count_unsent_bytes(p->ws) <= SOCKET_UNSENT_MAX) {
        s->output.sent = s->seq;
        send_event_to_socket(s, s->seq, n, form);
        return;
    }
    s->behind_bytes += (uint32_t)gateway_event_get_payload(n).n;
    if (client_is_too_far_behind(s))
        disconnect_slow_client(s);
    else
        websocket_notify_when_all_is_sent(p->ws);
}

/* Returns the number that the journal records for the event. RESUMED need not be replayed: a client
 * that did not receive it resumes again. */
static uint64_t number_of_event_for_journal(const struct gateway_event *n)
{
    if (n->number)
        return n->number;
    bool fleeting =
        n->type == EVENT_RESUMED || get_properties_of_event_type(n->type)->flags & EVENT_FLEETING;

    return fleeting ? NUMBER_TRANSIENT : NUMBER_RESPONSE;
}

void session_deliver_event(struct session *s, struct gateway_event *n, unsigned form)
{
    s->seq++;
    if (s->resume.slot) {
        journal_record_dispatch(s->resume.slot, s->seq,
                                test_fault_is_enabled(TEST_FAULT_EMPTY_JOURNAL)
                                    ? NUMBER_TRANSIENT
                                    : number_of_event_for_journal(n));
        journal_replication_mark_records_unsent(s);
    }
    if (n->type != EVENT_READY)
        replay_buffer_add(&s->replay, n, form, gateway_loop_time_s(s->gateway_loop));
    if (s->socket)
        send_or_queue_newest_event(s, n, form);
    count_delivered_event(s->gateway_loop);
}

void session_deliver_payload(struct session *s, enum event event, struct str payload)
{
    struct gateway_event *n = gateway_event_new(event, audience_of_session(s->number), payload);

    session_deliver_event(s, n, 0);
    gateway_event_unref(n);
}

void session_deliver_payload_buf(struct session *s, enum event event, struct buf *payload)
{
    if (buf_is_full(payload)) {
        log_warn("gateway: invalidated a session because its %s event exceeds the size limit",
                 get_name_of_event_type(event));
        session_schedule_invalidation(s->gateway_loop, s->number);
    } else {
        session_deliver_payload(s, event, buf_as_str(payload));
    }
    buf_clear(payload);
}

void session_replay_events_after(struct session *s, uint64_t seq)
{
    s->output.sent = seq;
    s->output.replay_end = s->seq;
    s->behind_bytes = 0;
    session_send_events_from_replay_buffer(s);
    session_deliver_payload(s, EVENT_RESUMED, STR("{\"_trace\":" GATEWAY_TRACE "}"));
}

void session_invalidate_and_end(struct gateway_socket *p)
{
    if (p->session) {
        session_end(p->session);
        gateway_socket_start_reidentify_timeout(p);
    } else {
        gateway_socket_detach_session(p);
    }
    if (!p->closing)
        send_opcode_to_client(p, OP_INVALID_SESSION, STR("false"));
}

struct invalid_post {
    struct loop_message post;
    struct gateway_loop *gateway_loop;
    uint64_t number;
};

static void on_session_invalidation_posted(struct loop_message *post)
{
    struct invalid_post *x = container_of(post, struct invalid_post, post);
    struct session *s = registry_find_session_on_loop(x->gateway_loop, x->number);

    if (s && s->socket)
        session_invalidate_and_end(s->socket);
    else if (s)
        session_end(s); /* the client gets op 9 when it tries to resume */
    mem_free(x);
}

void session_schedule_invalidation(struct gateway_loop *h, uint64_t number)
{
    struct invalid_post *x = mem_new(sizeof *x);

    *x = (struct invalid_post){ .post.run = on_session_invalidation_posted,
                                .gateway_loop = h,
                                .number = number };
    loop_post_message(h->loop, &x->post);
}

void session_on_socket_closed(struct session *s)
{
    session_set_state(s, SESSION_DISCONNECTED);
    if (!s->absence) {
        s->absence = mem_new(sizeof *s->absence);
        s->absence->session = s;
    }
    deadline_restart(s->gateway_loop->timers.away, &s->absence->away);
    if (!s->presence.shown_offline)
        deadline_restart(s->gateway_loop->timers.showing_offline, &s->absence->show_offline);
    session_tasks_continue(s);
}

static void session_set_presence_shown_offline(struct session *s, bool was_shown_offline)
{
    struct gateway *g = s->gateway_loop->gateway;

    pthread_mutex_lock(&g->lock);
    s->presence.shown_offline = was_shown_offline;
    pthread_mutex_unlock(&g->lock);
    gateway_upcalls.presence_change(s, false);
}

void on_session_offline_deadline(struct deadline *d)
{
    session_set_presence_shown_offline(
        container_of(d, struct session_disconnect_deadlines, show_offline)->session, true);
}

void session_on_client_reconnected(struct session *s)
{
    session_disconnect_state_free(s);
    if (s->presence.shown_offline)
        session_set_presence_shown_offline(s, false);
}

void on_session_expired(struct deadline *d)
{
    session_end(container_of(d, struct session_disconnect_deadlines, away)->session);
}

/* --- moving to another loop ----------------------------------------------------------- */

void session_detach_from_loop(struct session *s)
{
    session_disconnect_state_free(s);
    if (s->client_presence)
        deadline_cancel(&s->client_presence->window);
    session_tasks_detach_from_loop(s);
    gateway_upcalls.lists_leave(s, false);
    linked_list_remove(&s->link);
    if (s->sync) {
        linked_list_remove(&s->sync->unpublished);
        linked_list_remove(&s->sync->unreplicated);
    }
}

void session_attach_to_loop(struct session *s, struct gateway_loop *h)
{
    pthread_mutex_lock(&h->gateway->lock);
    s->gateway_loop = h;
    pthread_mutex_unlock(&h->gateway->lock);
    s->subscriptions.topics = &h->topics;
    linked_list_append(&h->sessions, &s->link);
    session_tasks_attach_to_loop(s);
    if (s->sync)
        s->sync->round = 0; /* replication rounds are counted per loop */
    journal_replication_mark_session_unsent(s);
    if (s->presence.due && s->client_presence)
        deadline_restart(h->timers.windows, &s->client_presence->window);
}
