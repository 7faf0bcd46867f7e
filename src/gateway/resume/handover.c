/* handover.c - moves a session to the loop of its client's connection and sends missed events.
 *
 * The target loop requests the session from the source loop. The source first processes every
 * event that the target had begun at the time of the request; the target retains the events that
 * it begins from then on. So the session gets each event exactly once. */
#include "gateway/resume/handover.h"

#include "base/mem.h"
#include "gateway/fanout/dispatch.h"
#include "gateway/member_lists/lists.h"
#include "gateway/resume/journal/journal.h"
#include "gateway/resume/journal/recent.h"
#include "gateway/resume/recovery.h"
#include "gateway/resume/resume.h"
#include "gateway/sessions/errands.h"
#include "gateway/sessions/hub.h"
#include "gateway/sessions/registry.h"
#include "gateway/views/topics.h"
#include "gateway/wire/news.h"

/* --- the source loop ------------------------------------------------------------------ */

static void handover_requested(struct post *post);
static void handover_posted(struct post *post);

/* Stores the session's guilds and the channels that its user can view, and unsubscribes it. */
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

/* Forwards the request if the session has moved to another loop since it was requested. */
static bool handover_follow(struct handover *h)
{
    struct hub *hub = registry_hub(h->from->gateway, h->resumption->number);

    if (!hub || hub == h->from)
        return false;
    h->from = hub;
    h->post.run = handover_requested;
    loop_post(hub->loop, &h->post);
    return true;
}

static void handover_take(struct handover *h, struct session *s)
{
    struct gateway *g = h->from->gateway;

    session_take_from_peer(s);
    session_set_state(s, SESSION_ARRIVING);
    h->session = s;
    pack_seats(h, s);
    s->resume.seen = h->from->position;
    journal_unsettle(s);
    session_detach(s);
    pthread_mutex_lock(&g->lock);
    s->hub = h->to;
    pthread_mutex_unlock(&g->lock);
}

static void handover_leave(struct handover *h)
{
    struct session *s = registry_local(h->from, h->resumption->number);

    link_remove(&h->link);
    if (!s && handover_follow(h))
        return;
    if (resume_is_theirs(s, h->resumption)) {
        if (resume_is_superseded(s, h->resumption))
            h->resumption->verdict = RESUME_SUPERSEDED;
        else
            handover_take(h, s);
    }
    h->post.run = handover_posted;
    loop_post(h->to->loop, &h->post);
}

static void handover_requested(struct post *post)
{
    struct handover *h = container_of(post, struct handover, post);

    links_append(&h->from->resume.leaving, &h->link);
    handovers_continue(h->from);
}

/* A session does not leave while the store is read for it, because the result would be lost, nor
 * in the middle of an event, which it may or may not have received. A session that is itself
 * moving to this loop has to arrive first. A session that moves to another node is requested
 * there later. */
static bool may_leave(const struct handover *o, struct hub *h)
{
    const struct session *s = registry_local(h, o->resumption->number);

    if (!s && registry_hub(h->gateway, o->resumption->number) == h)
        return false;
    if (s && s->state == SESSION_MOVING)
        return false;
    return h->position >= o->least && h->position == h->begun && !h->reads.blocking &&
           !(s && errands_stepping(s));
}

void handovers_continue(struct hub *h)
{
    struct link *at = h->resume.leaving.next;

    while (at != &h->resume.leaving) {
        struct handover *o = container_of(at, struct handover, link);

        at = at->next;
        if (may_leave(o, h))
            handover_leave(o);
    }
    releases_continue(h);
}

/* --- the target loop: permissions ----------------------------------------------------- */

static void handover_expect(struct handover *h)
{
    h->since = recent_end(&h->to->resume.recent);
    links_append(&h->to->resume.arriving, &h->awaited);
}

/* Drops the retained events that no other transfer needs. */
static void handover_unexpect(struct handover *h)
{
    struct hub *to = h->to;
    uint64_t needed = recent_end(&to->resume.recent);

    link_remove(&h->awaited);
    for (struct link *at = to->resume.arriving.next; at != &to->resume.arriving; at = at->next) {
        uint64_t since = container_of(at, struct handover, awaited)->since;

        needed = since < needed ? since : needed;
    }
    /* Suspended sessions need all events since the start, whenever their clients resume. */
    if (to->resume.recording)
        needed = 0;
    recent_trim(&to->resume.recent, needed);
}

static void handover_end(struct handover *h, struct session *s)
{
    handover_unexpect(h);
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

/* If the guild is deleted, or the account has left it, the GUILD_DELETE event may not have
 * reached this loop yet: a subscription without permissions waits for it. */
static void take_seats(struct handover *h, struct session *s)
{
    seat_take(&s->seats, SUBJECT_USER, s->caller.id);
    for (size_t i = 0; i < h->guild_count; i++) {
        const struct seat *seat = guild_facts_apply(s, &h->facts[i]);

        if (!seat)
            seat_take(&s->seats, SUBJECT_GUILD, h->facts[i].guild_id);
        else if (!s->bot && s->state != SESSION_RECOVERED)
            seen_channels_compare(&h->seen, seat, &h->changes);
    }
}

/* --- the target loop: missed events --------------------------------------------------- */

static void catch_up_end(struct handover *h, struct session *s)
{
    struct hub *to = h->to;

    to->reads.blocking--;
    to->reads.count--;
    if (s) {
        journal_settle(s);
        if (!s->peer) /* a newer connection may have resumed the session */
            session_lose_peer(s);
        lists_return(s);
    }
    handover_end(h, s);
    hub_pump(to);
}

/* Returns NULL if all missed events are sent. */
static struct news *next_missed(struct handover *h)
{
    if (h->missed_at < h->missed_count)
        return h->missed[h->missed_at++];
    return recent_at(&h->to->resume.recent, h->recent_at++);
}

/* A session may have missed thousands of events: sending them uses the time budget of events. */
static void catch_up_continue(struct post *post)
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

/* Sends the events that this loop has begun since the request, except those whose number shows
 * that the source loop has sent them. The session is subscribed, so new events wait meanwhile. */
static void catch_up(struct handover *h, struct session *s)
{
    h->to->reads.blocking++;
    h->to->reads.count++;
    atomic_fetch_add(&h->to->gateway->count.recovered, s->state == SESSION_RECOVERED);
    journal_begin(s);
    seen_channels_tell(&h->changes, s);
    h->recent_at = recent_after(&h->to->resume.recent, h->since, s->resume.seen);
    h->post.run = catch_up_continue;
    catch_up_continue(&h->post);
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
        session_end(s); /* the client would have wrong channels */
    handover_end(h, NULL);
}

/* --- the target loop: arrival --------------------------------------------------------- */

static void rights_read(struct load *l, enum err e);

static void begin_rights(struct handover *h)
{
    for (size_t i = 0; i < h->guild_count; i++)
        guild_facts_begin(h->to, h->facts[i].guild_id, &h->facts[i]);
    h->load = (struct load){
        .quiet = true,
        .aside = h->guild_count > MANY_GUILDS,
        .run = read_rights,
        .done = rights_read,
    };
}

static bool is_outdated(const struct handover *h)
{
    for (size_t i = 0; i < h->guild_count; i++)
        if (guild_facts_outrun(h->to, &h->facts[i]))
            return true;
    return false;
}

static void rights_read(struct load *l, enum err e)
{
    struct handover *h = container_of(l, struct handover, load);
    struct session *s = h->session;

    if (!e && is_outdated(h)) {
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
    take_seats(h, s);
    if (s->state == SESSION_RECOVERED && !recovery_is_exact(h, s)) {
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

/* Reads the session's owner from the store, because the session has left this process or has
 * ended. */
static bool handover_request(struct handover *h)
{
    struct resumption *r = h->resumption;

    if (!h->from || !h->to->gateway->cluster || r->verdict == RESUME_SUPERSEDED ||
        !r->greeting.peer)
        return false;
    handover_unexpect(h);
    mem_free(h);
    request_begin(r);
    return true;
}

void handover_arrive(struct handover *h)
{
    if (!h->session && handover_request(h))
        return;
    if (!h->session) {
        handover_end(h, NULL);
        return;
    }
    h->viewer = session_viewer(h->session);
    begin_rights(h);
    /* The source loop may have sent the session an event that this loop's guild view does not
     * have yet; a comparison of channels would undo it. So wait for that event. The event
     * numbers of another process are not comparable. */
    hub_load_after(h->to, &h->load, h->from ? h->session->resume.seen : 0);
}

static void handover_posted(struct post *post)
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
    handover_expect(h);
    return h;
}

void handover_begin(struct resumption *r, struct hub *from)
{
    struct handover *h = handover_new(r, from);

    h->post.run = handover_requested;
    loop_post(from->loop, &h->post);
}
