/* session.c - a session: its state, sending of events, RESUME, disconnection, move between
 * loops. */
#include "gateway/sessions/session.h"

#include <sodium.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/planted.h"
#include "gateway/resume/journal/replication.h"
#include "gateway/sessions/errands.h"
#include "gateway/resume/journal/owner.h"
#include "gateway/sessions/hub.h"
#include "gateway/resume/journal/journal.h"
#include "gateway/sessions/packing.h"
#include "gateway/sessions/peer.h"
#include "gateway/sessions/recording.h"
#include "gateway/sessions/registry.h"
#include "gateway/sessions/sending.h"
#include "gateway/sessions/upcalls.h"
#include "gateway/wire/news.h"

struct session *session_new(struct hub *h, const struct caller *caller)
{
    unsigned char bytes[SESSION_ID / 2];
    char id[SESSION_ID + 1];

    randombytes_buf(bytes, sizeof bytes);
    sodium_bin2hex(id, sizeof id, bytes, sizeof bytes);
    return session_new_known(h, caller, id);
}

struct session *session_new_known(struct hub *h, const struct caller *caller, const char *id)
{
    struct session *s = mem_new(sizeof *s);
    unsigned char bytes[SESSION_ID / 2] = { 0 };

    sodium_hex2bin(bytes, sizeof bytes, id, strlen(id), NULL, NULL, NULL);
    memcpy(&s->number, bytes, sizeof s->number);
    memcpy(s->id_rest, bytes + sizeof s->number, sizeof s->id_rest);
    s->caller = *caller;
    s->bot = caller->kind == CALLER_BOT;
    s->hub = h;
    s->seats = (struct seats){ .session = s, .user_id = caller->id, .topics = &h->topics };
    s->options.shard_count = 1;
    links_init(&s->lists);
    links_append(&h->sessions, &s->link);
    return s;
}

void session_set_client(struct session *s, const char *client)
{
    struct gateway *g = s->hub->gateway;

    pthread_mutex_lock(&g->lock);
    const char *before = s->client;
    s->client = client_name_take(&g->client_names, client);
    if (before)
        client_name_drop(&g->client_names, before);
    pthread_mutex_unlock(&g->lock);
}

void session_id_write(const struct session *s, char out[SESSION_ID + 1])
{
    unsigned char bytes[SESSION_ID / 2];

    memcpy(bytes, &s->number, sizeof s->number);
    memcpy(bytes + sizeof s->number, s->id_rest, sizeof s->id_rest);
    sodium_bin2hex(out, SESSION_ID + 1, bytes, sizeof bytes);
}

bool session_is_called(const struct session *s, struct str id)
{
    char own[SESSION_ID + 1];

    session_id_write(s, own);
    return str_eq(str_of(own), id);
}

struct own_presence *session_own_presence(struct session *s)
{
    if (!s->own) {
        s->own = mem_new(sizeof *s->own);
        s->own->session = s;
    }
    return s->own;
}

/* A new session is not replicated yet. */
struct session_sync *session_sync(struct session *s)
{
    if (!s->sync) {
        s->sync = mem_new(sizeof *s->sync);
        s->sync->session = s;
        s->sync->whole = true;
    }
    return s->sync;
}

static void absence_end(struct session *s)
{
    if (!s->absence)
        return;
    deadline_drop(&s->absence->away);
    deadline_drop(&s->absence->fade);
    mem_free(s->absence);
    s->absence = NULL;
}

static void own_presence_free(struct own_presence *own)
{
    if (!own)
        return;
    deadline_drop(&own->window);
    mem_free((void *)(uintptr_t)own->activities.p);
    mem_free(own);
}

static bool watches_presences(const struct session *s)
{
    return session_is_ready(s) && s->bot && s->options.intents & INTENT(GUILD_PRESENCES);
}

static void client_name_end(struct session *s)
{
    struct gateway *g = s->hub->gateway;

    if (!s->client)
        return;
    pthread_mutex_lock(&g->lock);
    client_name_drop(&g->client_names, s->client);
    pthread_mutex_unlock(&g->lock);
}

void session_end(struct session *s)
{
    struct gateway *g = s->hub->gateway;
    /* The session's next owner announces the presence: other users must not see the account
     * offline meanwhile. */
    bool stays_shown =
        s->state == SESSION_SUSPENDED || (s->state == SESSION_MOVING && g->directory);

    if (!stays_shown)
        gateway_upcalls.presence_change(s, true);
    if (s->peer)
        peer_become_stranger(s->peer);
    if (g->options.hooks.ended && s->listed && s->state != SESSION_SUSPENDED) {
        struct gateway_caller who = session_caller(s);

        g->options.hooks.ended(g->options.hooks.arg, &who);
    }
    errands_drop(s);
    gateway_upcalls.lists_leave(s, true);
    if (g->cluster && session_is_ready(s) && !session_continues(s))
        session_owner_remove(s);
    journal_end(s);
    registry_remove(g, s);
    if (session_is_ready(s) && !s->bot && !g->draining)
        gateway_upcalls.sessions_changed(s);
    absence_end(s);
    seats_clear(&s->seats);
    gateway_upcalls.directory_end(s);
    if (watches_presences(s))
        atomic_fetch_sub(&g->watchers, 1);
    link_remove(&s->link);
    replay_clear(&s->replay);
    own_presence_free(s->own);
    mem_free(s->sync);
    client_name_end(s);
    mem_free(s);
}

_Static_assert(sizeof((struct gateway_caller){ 0 }).session_id == SESSION_ID + 1,
               "an id of a session fits");

struct gateway_caller session_caller(const struct session *s)
{
    struct gateway_caller c = { .caller = &s->caller,
                                .session = s->number,
                                .address = s->peer ? websocket_remote(s->peer->ws) : STR(""),
                                .client = (enum client_kind)s->presence.kind };

    session_id_write(s, c.session_id);
    return c;
}

struct gateway_viewer session_viewer(const struct session *s)
{
    return (struct gateway_viewer){
        .gateway = s->hub->gateway,
        .user_id = s->caller.id,
        .application_id = s->caller.application_id,
        .bot = s->bot,
        .intents = s->options.intents,
        .capabilities = s->options.capabilities,
        .large_threshold = s->large_threshold,
    };
}

bool session_covers(const struct session *s, snowflake guild_id)
{
    return (guild_id >> 22) % s->options.shard_count == s->options.shard_id;
}

#define TO(state) (1U << SESSION_##state)

static const unsigned allowed[SESSION_STATES] = {
    [SESSION_IDENTIFYING] = TO(LIVE) | TO(ARRIVING) | TO(RECOVERED),
    [SESSION_LIVE] = TO(DISCONNECTED) | TO(SUSPENDED),
    [SESSION_DISCONNECTED] = TO(LIVE) | TO(ARRIVING) | TO(MOVING) | TO(SUSPENDED),
    [SESSION_ARRIVING] = TO(LIVE) | TO(DISCONNECTED),
    [SESSION_RECOVERED] = TO(LIVE) | TO(DISCONNECTED),
    [SESSION_MOVING] = 0,
    [SESSION_SUSPENDED] = 0,
};

bool session_may_become(enum session_state from, enum session_state to)
{
    return from == to || allowed[from] & 1U << to;
}

void session_set_state(struct session *s, enum session_state state)
{
    struct gateway *g = s->hub->gateway;

    if (!session_may_become(s->state, state)) {
        log_error("gateway: invalid change of a session from state %u to state %u", s->state,
                  (unsigned)state);
        abort();
    }
    pthread_mutex_lock(&g->lock);
    s->state = (unsigned char)state;
    pthread_mutex_unlock(&g->lock);
}

/* Disconnects a client that is too far behind; the client may resume. Until then unsent events
 * wait in the replay buffer at almost no cost. */
static void session_cut(struct session *s)
{
    atomic_fetch_add_explicit(&s->hub->gateway->count.cut, 1, memory_order_relaxed);
    peer_close(s->peer, CLOSE_UNKNOWN, "too slow");
}

static void send_one(struct session *s, uint64_t seq, struct news *n, unsigned form)
{
    record_dispatch(s->peer, seq, n, form);
    if (is_long_news(n))
        packing_begin(s->peer, seq, n, form);
    else
        send_dispatch(s->peer, seq, n, form);
}

void session_send(struct session *s)
{
    struct peer *p = s->peer;

    while (!p->closing && s->output.sent < s->seq) {
        if (p->packing)
            return;
        if (s->seq - s->output.sent > s->replay.count) {
            session_cut(s);
        } else if (websocket_waiting(p->ws) > MAX_QUEUED) {
            websocket_await(p->ws);
            return;
        } else {
            uint32_t at = s->replay.count - (uint32_t)(s->seq - s->output.sent);
            const struct kept *k = replay_at(&s->replay, at);

            if (s->output.sent >= s->output.replay_end)
                s->behind_bytes -= (uint32_t)news_payload(k->news).n;
            send_one(s, ++s->output.sent, k->news, k->form);
        }
    }
    errands_wake(s);
}

static bool is_too_far_behind(const struct session *s)
{
    uint64_t from = s->output.sent > s->output.replay_end ? s->output.sent : s->output.replay_end;

    return s->seq - from > BEHIND_COUNT || s->behind_bytes > BEHIND_BYTES ||
           s->seq - s->output.sent > s->replay.count;
}

/* Tasks wait while the socket has a backlog: two large guilds in a row would exceed the limit of
 * unsent bytes. A disconnected session has no backlog, because its events go to the replay
 * buffer. */
bool session_is_busy(const struct session *s)
{
    return s->peer && (s->peer->packing || s->output.sent < s->seq ||
                       websocket_waiting(s->peer->ws) > MAX_QUEUED);
}

/* Sends the newest event of the replay buffer, or lets it wait behind earlier events. */
static void send_newest(struct session *s, struct news *n, unsigned form)
{
    struct peer *p = s->peer;

    if (p->closing)
        return;
    if (s->output.sent + 1 == s->seq && !p->packing && websocket_waiting(p->ws) <= MAX_QUEUED) {
        s->output.sent = s->seq;
        send_one(s, s->seq, n, form);
        return;
    }
    s->behind_bytes += (uint32_t)news_payload(n).n;
    if (is_too_far_behind(s))
        session_cut(s);
    else
        websocket_await(p->ws);
}

/* Returns the number that the journal records for the event. RESUMED need not be replayed: a
 * client that did not receive it resumes again. */
static uint64_t sent_as(const struct news *n)
{
    if (n->number)
        return n->number;
    bool fleeting = n->event == EVENT_RESUMED || event_info(n->event)->flags & EVENT_FLEETING;

    return fleeting ? SENT_TRANSIENT : SENT_RESPONSE;
}

void session_dispatch(struct session *s, struct news *n, unsigned form)
{
    s->seq++;
    if (s->resume.slot) {
        journal_note(s->resume.slot, s->seq,
                     fault_planted(PLANTED_BLIND_LEDGER) ? SENT_TRANSIENT : sent_as(n));
        replication_mark(s);
    }
    if (n->event != EVENT_READY)
        replay_add(&s->replay, n, form, hub_second(s->hub));
    if (s->peer)
        send_newest(s, n, form);
    hub_count_delivered(s->hub);
}

void session_tell(struct session *s, enum event event, struct str payload)
{
    struct news *n = news_new(event, to_session(s->number), payload);

    session_dispatch(s, n, 0);
    news_unref(n);
}

void session_tell_buf(struct session *s, enum event event, struct buf *payload)
{
    if (buf_full(payload)) {
        log_warn("gateway: invalidated a session because its %s event exceeds the size limit",
                 event_name(event));
        session_invalid_soon(s->hub, s->number);
    } else {
        session_tell(s, event, buf_str(payload));
    }
    buf_clear(payload);
}

void session_replay(struct session *s, uint64_t seq)
{
    s->output.sent = seq;
    s->output.replay_end = s->seq;
    s->behind_bytes = 0;
    session_send(s);
    session_tell(s, EVENT_RESUMED, STR("{\"_trace\":" GATEWAY_TRACE "}"));
}

void session_invalid(struct peer *p)
{
    if (p->session) {
        session_end(p->session);
        peer_invalidate_soon(p);
    } else {
        peer_become_stranger(p);
    }
    if (!p->closing)
        send_op(p, OP_INVALID_SESSION, STR("false"));
}

struct invalid_post {
    struct post post;
    struct hub *hub;
    uint64_t number;
};

static void invalid_post_run(struct post *post)
{
    struct invalid_post *x = container_of(post, struct invalid_post, post);
    struct session *s = registry_local(x->hub, x->number);

    if (s && s->peer)
        session_invalid(s->peer);
    else if (s)
        session_end(s); /* the client gets op 9 at its next RESUME */
    mem_free(x);
}

void session_invalid_soon(struct hub *h, uint64_t number)
{
    struct invalid_post *x = mem_new(sizeof *x);

    *x = (struct invalid_post){ .post.run = invalid_post_run, .hub = h, .number = number };
    loop_post(h->loop, &x->post);
}

void session_lose_peer(struct session *s)
{
    session_set_state(s, SESSION_DISCONNECTED);
    if (!s->absence) {
        s->absence = mem_new(sizeof *s->absence);
        s->absence->session = s;
    }
    deadline_touch(s->hub->timers.away, &s->absence->away);
    if (!s->presence.faded)
        deadline_touch(s->hub->timers.fading, &s->absence->fade);
    errands_wake(s);
}

static void set_faded(struct session *s, bool faded)
{
    struct gateway *g = s->hub->gateway;

    pthread_mutex_lock(&g->lock);
    s->presence.faded = faded;
    pthread_mutex_unlock(&g->lock);
    gateway_upcalls.presence_change(s, false);
}

void session_faded(struct deadline *d)
{
    set_faded(container_of(d, struct session_absence, fade)->session, true);
}

void session_regain(struct session *s)
{
    absence_end(s);
    if (s->presence.faded)
        set_faded(s, false);
}

void session_expired(struct deadline *d)
{
    session_end(container_of(d, struct session_absence, away)->session);
}

/* --- moving to another loop ----------------------------------------------------------- */

void session_detach(struct session *s)
{
    absence_end(s);
    if (s->own)
        deadline_drop(&s->own->window);
    errands_detach(s);
    gateway_upcalls.lists_leave(s, false);
    link_remove(&s->link);
    if (s->sync) {
        link_remove(&s->sync->unpublished);
        link_remove(&s->sync->unreplicated);
    }
}

void session_attach(struct session *s, struct hub *h)
{
    pthread_mutex_lock(&h->gateway->lock);
    s->hub = h;
    pthread_mutex_unlock(&h->gateway->lock);
    s->seats.topics = &h->topics;
    links_append(&h->sessions, &s->link);
    errands_attach(s);
    if (s->sync)
        s->sync->round = 0; /* replication rounds are counted per loop */
    replication_mark_all(s);
    if (s->presence.due && s->own)
        deadline_touch(h->timers.windows, &s->own->window);
}
