/* resume.c - a session that comes back, on whichever loop its socket is.
 *
 * A session that lives on another loop is asked for. That loop first looks at every
 * event that this one has seen when it asked; this one notes what it sees from then
 * on. So when the session has moved it is told each event exactly once. */
#include "base/mem.h"
#include "cluster/cluster.h"
#include "gateway/fanout/dispatch.h"
#include "gateway/resume/handover.h"
#include "gateway/resume/moves.h"
#include "gateway/member_lists/lists.h"
#include "gateway/resume/recovery.h"
#include "gateway/sessions/errands.h"
#include "gateway/sessions/hub.h"
#include "gateway/sessions/peer.h"
#include "gateway/resume/journal/recent.h"
#include "gateway/sessions/registry.h"
#include "gateway/views/topics.h"
#include "gateway/wire/messages.h"
#include "gateway/wire/news.h"
#include "json/read.h"

/* --- two sockets that want the same one ----------------------------------------------- */

static void resume_lose(struct peer *p)
{
    peer_close(p, CLOSE_UNKNOWN, "taken over by another connection");
}

/* A client gives a socket up and opens the next one, and two loops may read what the two
 * said in the other order, or a session be on its way to the first when the second asks.
 * Sockets are numbered when they are greeted, which clients wait for: the newest keeps the
 * session, whoever is read last. */
static bool is_late(const struct session *s, const struct resumption *r)
{
    return s->peer && s->turn > r->turn;
}

void session_take_from_peer(struct session *s)
{
    struct peer *old = s->peer;

    if (!old)
        return;
    old->session = NULL;
    s->peer = NULL;
    resume_lose(old);
}

/* --- the end of it -------------------------------------------------------------------- */

static void answer_peer(struct peer *p, const struct resumption *r, struct session *s)
{
    if (r->greeting.revoked) {
        peer_close(p, CLOSE_BAD_TOKEN, "authentication failed");
        return;
    }
    if (r->late || (s && is_late(s, r))) {
        resume_lose(p);
        return;
    }
    const struct gateway_hooks *hooks = &p->hub->gateway->options.hooks;

    if (!s) {
        if (hooks->refused)
            hooks->refused(hooks->arg, r->greeting.caller.id);
        session_invalid(p);
        return;
    }
    if (r->bad_seq || r->seq > s->seq) {
        peer_close(p, CLOSE_BAD_SEQUENCE, "invalid sequence");
        return;
    }
    session_take_from_peer(s);
    if (s->seq - r->seq > s->replay.count) {
        session_end(s);
        session_invalid(p);
        return;
    }
    s->turn = r->turn;
    session_bind(s, &r->greeting);
    session_regain(s);
    peer_become(p, s);
    session_replay(s, r->seq);
    atomic_fetch_add(&s->hub->gateway->resumed, 1);
    if (hooks->resumed) {
        struct gateway_caller who = session_caller(s);

        hooks->resumed(hooks->arg, &who);
    }
}

static void resume_answer(struct resumption *r, struct session *s)
{
    struct peer *p = greeting_end(&r->greeting);

    if (p && !p->closing)
        answer_peer(p, r, s);
    mem_free(r);
}

static bool is_theirs(const struct session *s, const struct resumption *r)
{
    return s && !s->revoked && s->caller.id == r->greeting.caller.id &&
           s->caller.kind == r->greeting.caller.kind && session_is_called(s, str_of(r->id));
}

/* --- the giver ------------------------------------------------------------------------ */

static void resume_arrive(struct post *post);

/* Notes where the session sat and what it saw from there, and takes its seats away. */
static void pack_seats(struct handover *h, struct session *s)
{
    h->facts = mem_new((s->seats.count + 1) * sizeof *h->facts);
    while (s->seats.count) {
        struct seat *seat = s->seats.items[s->seats.count - 1];

        if (seat->topic->kind == SUBJECT_GUILD) {
            h->facts[h->guild_count++].guild_id = seat->topic->id;
            if (!s->bot)
                seen_channels_add(&h->seen, seat);
        }
        seat_leave(&s->seats, seat);
    }
}

static void resume_asked(struct post *post);

/* The session has moved on since it was asked for here: the question follows it. */
static bool pass_on(struct handover *h)
{
    struct hub *home = registry_home(h->from->gateway, h->resumption->number);

    if (!home || home == h->from)
        return false;
    h->from = home;
    h->post.run = resume_asked;
    loop_post(home->loop, &h->post);
    return true;
}

static void resume_give(struct handover *h)
{
    struct session *s = registry_local(h->from, h->resumption->number);
    struct gateway *g = h->from->gateway;

    link_remove(&h->link);
    if (!s && pass_on(h))
        return;
    bool theirs = is_theirs(s, h->resumption);
    h->resumption->late = theirs && is_late(s, h->resumption);
    if (theirs && !h->resumption->late) {
        session_take_from_peer(s);
        h->session = s;
        pack_seats(h, s);
        s->seen = h->from->position;
        ledger_unsettle(s);
        session_detach(s);
        pthread_mutex_lock(&g->lock);
        s->hub = h->to;
        pthread_mutex_unlock(&g->lock);
    }
    h->post.run = resume_arrive;
    loop_post(h->to->loop, &h->post);
}

static void resume_asked(struct post *post)
{
    struct handover *h = container_of(post, struct handover, post);

    links_append(&h->from->guests, &h->link);
    handovers_continue(h->from);
}

/* A session stays during a look at the store for it, whose result would be lost, and during an
 * event, which it may have heard or not. One that is itself on its way here has to arrive first. */
static bool may_give(const struct handover *o, struct hub *h)
{
    const struct session *s = registry_local(h, o->resumption->number);

    if (!s && registry_home(h->gateway, o->resumption->number) == h)
        return false;
    /* One that goes to another server is asked for there, when it has gone. */
    if (s && s->moving)
        return false;
    return h->position >= o->least && h->position == h->begun && !h->running &&
           !(s && errands_stepping(s));
}

void handovers_continue(struct hub *h)
{
    struct link *at = h->guests.next;

    while (at != &h->guests) {
        struct handover *o = container_of(at, struct handover, link);

        at = at->next;
        if (may_give(o, h))
            resume_give(o);
    }
    gives_continue(h);
}

/* --- the receiver --------------------------------------------------------------------- */

static void expect_session(struct handover *h)
{
    h->since = recent_end(&h->to->recent);
    links_append(&h->to->expected, &h->awaited);
}

/* Drops the events before the oldest question: no session that is expected needs them. */
static void stop_expecting(struct handover *h)
{
    struct hub *to = h->to;
    uint64_t needed = recent_end(&to->recent);

    link_remove(&h->awaited);
    /* One that wakes needs all there is, whenever it asked. */
    for (struct link *at = to->expected.next; at != &to->expected; at = at->next) {
        uint64_t since = container_of(at, struct handover, awaited)->since;

        needed = since < needed ? since : needed;
    }
    if (to->recording)
        needed = 0;
    recent_trim(&to->recent, needed);
}

void handover_end(struct handover *h, struct session *s)
{
    stop_expecting(h);
    resume_answer(h->resumption, s);
    mem_free(h->facts);
    for (size_t i = 0; i < h->missed_count; i++)
        news_unref(h->missed[i]);
    mem_free(h->missed);
    seen_channels_clear(&h->seen);
    seen_channels_clear(&h->changes);
    mem_free(h);
}

static enum err read_rights(struct load *l, struct tx *tx)
{
    struct handover *h = container_of(l, struct handover, load);

    for (size_t i = 0; i < h->guild_count; i++) {
        enum err e = guild_facts_read(l->hub, tx, &h->viewer, NULL, &h->facts[i]);

        if (e)
            return e;
    }
    return OK;
}

/* The guild is gone, or the account from it, but the event that says so may be still to come
 * here: the seat waits for it, without rights. */
static void await_goodbye(struct session *s, snowflake guild_id)
{
    seat_take(&s->seats, SUBJECT_GUILD, guild_id);
}

static void handover_take_seats(struct handover *h, struct session *s)
{
    seat_take(&s->seats, SUBJECT_USER, s->caller.id);
    for (size_t i = 0; i < h->guild_count; i++) {
        const struct seat *seat = guild_facts_apply(s, &h->facts[i]);

        if (!seat)
            await_goodbye(s, h->facts[i].guild_id);
        else if (!s->bot && !h->recovered)
            seen_channels_compare(&h->seen, seat, &h->changes);
    }
}

static void catch_up_end(struct handover *h, struct session *s)
{
    struct hub *to = h->to;

    to->running--;
    to->loads--;
    if (s) {
        ledger_settle(s);
        atomic_fetch_add(&to->gateway->recovered, h->recovered);
        if (!s->peer) /* a newer socket may have it already */
            session_lose_peer(s);
        lists_return(s);
    }
    handover_end(h, s);
    hub_pump(to);
}

/* What it is told next; NULL: it has been told everything. */
static struct news *next_missed(struct handover *h)
{
    if (h->missed_at < h->missed_count)
        return h->missed[h->missed_at++];
    return recent_at(&h->to->recent, h->recent_at++);
}

/* It may have missed thousands: they have the share of the turn that events have. */
static void catch_up_on(struct post *post)
{
    struct handover *h = container_of(post, struct handover, post);
    struct session *s = registry_local(h->to, h->resumption->number);
    struct news *n;

    loop_part("sessions");
    while (s && (n = next_missed(h))) {
        dispatch_to(s, n);
        if (hub_is_spent(h->to, 1)) {
            loop_post(h->to->loop, &h->post);
            return;
        }
    }
    catch_up_end(h, s);
}

/* Tells it what this loop has begun since it asked; what the other has told already is known
 * by its number. It has its seats by now, so events wait until it has been told. */
static void catch_up(struct handover *h, struct session *s)
{
    h->to->running++;
    h->to->loads++;
    ledger_take(s);
    seen_channels_tell(&h->changes, s);
    h->recent_at = recent_after(&h->to->recent, h->since, s->seen);
    h->post.run = catch_up_on;
    catch_up_on(&h->post);
}

static enum err read_changes(struct load *l, struct tx *tx)
{
    struct handover *h = container_of(l, struct handover, load);

    return seen_channels_read(&h->changes, l->hub->gateway->options.source, tx);
}

static void changes_read(struct load *l, enum err e)
{
    struct handover *h = container_of(l, struct handover, load);
    struct session *s = registry_local(l->hub, h->resumption->number);

    if (s && !e) {
        catch_up(h, s);
        return;
    }
    if (s)
        session_end(s); /* its client would not know which channels it sees */
    handover_end(h, NULL);
}

static void resume_settle(struct load *l, enum err e);

static void begin_rights(struct handover *h)
{
    for (size_t i = 0; i < h->guild_count; i++)
        guild_facts_begin(h->to, h->facts[i].guild_id, &h->facts[i]);
    h->load = (struct load){
        .quiet = true,
        .aside = h->guild_count > MANY_GUILDS,
        .run = read_rights,
        .done = resume_settle,
    };
}

static bool is_outrun(const struct handover *h)
{
    for (size_t i = 0; i < h->guild_count; i++)
        if (guild_facts_outrun(h->to, &h->facts[i]))
            return true;
    return false;
}

static void resume_settle(struct load *l, enum err e)
{
    struct handover *h = container_of(l, struct handover, load);
    struct session *s = h->session;

    if (!e && is_outrun(h)) {
        begin_rights(h);
        hub_load_now(h->to, &h->load);
        return;
    }
    session_attach(s, h->to);
    if (e || s->revoked) {
        session_end(s);
        handover_end(h, NULL);
        return;
    }
    handover_take_seats(h, s);
    if (h->recovered && !recovery_is_exact(h, s)) {
        session_end(s);
        handover_end(h, NULL);
        return;
    }
    if (!h->changes.count) {
        catch_up(h, s);
        return;
    }
    h->load = (struct load){
        .quiet = true,
        .aside = h->changes.count > MANY_CHANNELS,
        .run = read_changes,
        .done = changes_read,
    };
    hub_load_now(h->to, &h->load);
}

/* It has left the loop where it was, for another server or for good: the store knows. */
static bool follow_away(struct handover *h)
{
    struct resumption *r = h->resumption;

    if (!h->from || !h->to->gateway->cluster || r->late || !r->greeting.peer)
        return false;
    stop_expecting(h);
    mem_free(h);
    fetch_begin(r);
    return true;
}

void handover_arrive(struct handover *h)
{
    if (!h->session && follow_away(h))
        return;
    if (!h->session) {
        handover_end(h, NULL);
        return;
    }
    h->viewer = session_viewer(h->session);
    begin_rights(h);
    /* It may have overtaken an event that the other loop has told it of: this loop's view does not
     * have that yet, and a comparison would take it back. Other servers count otherwise. */
    hub_load_after(h->to, &h->load, h->from ? h->session->seen : 0);
}

static void resume_arrive(struct post *post)
{
    handover_arrive(container_of(post, struct handover, post));
}

struct handover *handover_new(struct resumption *r, struct hub *from)
{
    struct handover *h = mem_new(sizeof *h);

    h->from = from;
    h->to = r->greeting.peer->hub;
    h->resumption = r;
    h->least = h->to->begun;
    expect_session(h);
    return h;
}

static void resume_ask(struct hub *from, struct resumption *r)
{
    struct handover *h = handover_new(r, from);

    h->post.run = resume_asked;
    loop_post(from->loop, &h->post);
}

/* --- op 6 ----------------------------------------------------------------------------- */

static void resume_known(struct greeting *g)
{
    struct resumption *r = container_of(g, struct resumption, greeting);
    struct hub *here = g->peer->hub;
    struct hub *home = registry_home(here->gateway, r->number);
    struct session *s = registry_local(here, r->number);

    /* What became of it stands in the log, and is known here in a moment. */
    if (g->elsewhere && !(s && s->moving) && registry_has(here->gateway, r->number)) {
        struct peer *p = greeting_end(g);

        peer_close(p, CLOSE_UNKNOWN, "this server has to catch up");
        mem_free(r);
        return;
    }
    /* A session that is on its way to this loop is asked for here, too, and waited for; so is one
     * that is about to leave it. */
    if (home && (!s || s->moving)) {
        resume_ask(home, r);
        return;
    }
    if (!s && r->id[0] && here->gateway->cluster) {
        fetch_begin(r);
        return;
    }
    if (!s && here->recording) {
        wake_begin(r);
        return;
    }
    resume_answer(r, is_theirs(s, r) ? s : NULL);
}

/* Whether it is here, and there may be other servers. */
static bool may_be_elsewhere(struct gateway *g, uint64_t number)
{
    return g->cluster && !cluster_is_alone(g->cluster) && registry_has(g, number);
}

static void resume_drop(struct greeting *g)
{
    mem_free(container_of(g, struct resumption, greeting));
}

void handle_resume(struct peer *p, int op, struct str raw, const void *d)
{
    const struct resume *in = d;
    struct resumption *r = mem_new(sizeof *r);
    int64_t seq;

    (void)op, (void)raw;
    r->turn = p->turn;
    r->bad_seq = !json_raw_int(in->seq, &seq) || seq < 0;
    r->seq = r->bad_seq ? 0 : (uint64_t)seq;
    /* An id that cannot be ours is answered like one that we have forgotten. */
    if (session_id_read(in->session_id, &r->number))
        memcpy(r->id, in->session_id.p, SESSION_ID);
    if (!greeting_init(&r->greeting, p, in->token)) {
        peer_close(p, CLOSE_BAD_TOKEN, "authentication failed");
        mem_free(r);
        return;
    }
    r->greeting.known = resume_known;
    r->greeting.drop = resume_drop;
    if (may_be_elsewhere(p->hub->gateway, r->number))
        r->greeting.number = r->number;
    greeting_begin(&r->greeting);
}
