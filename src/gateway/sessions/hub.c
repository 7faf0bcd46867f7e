/* hub.c - a loop's share of the gateway: events in line, and looks at the store.
 *
 * A session is set up from what the store says at one moment and told of
 * everything after it. So events stand in line while such a look is running, and
 * a new one begins only when the line is empty: nothing falls between the two. In a line
 * that does not get empty it begins when all is told that stood there before it; the session
 * then hears again of some of what it has read.
 *
 * Events take at most a few milliseconds of a turn, also in the middle of one that many
 * hear. An event is finished before the next one begins. */
#include "gateway/sessions/hub.h"

#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/planted.h"
#include "cluster/cluster.h"
#include "gateway/resume/journal/replication.h"
#include "gateway/sessions/delays.h"
#include "gateway/sessions/errands.h"
#include "gateway/resume/journal/event_log.h"
#include "gateway/resume/journal/journal.h"
#include "gateway/sessions/peer.h"
#include "gateway/sessions/registry.h"
#include "gateway/sessions/session.h"
#include "gateway/sessions/upcalls.h"
#include "gateway/views/known.h"
#include "gateway/wire/news.h"
#include "gateway/wire/pack.h"

enum {
    LOADS_AT_ONCE = 8,
    SHARE_NS = 5 * 1000 * 1000, /* of a turn, for events */
    EVENT_TICKS = 4,            /* of an event that nobody hears */
    MOST_SEEN = 4096,           /* positions; of more some is told again */
    MAX_RECORDED = 64 * 1024 * 1024,
    FETCH_MS = 250, /* until the store is asked again for a session of another server */
};

static void hub_pump_on(struct post *post);
static void recording_expired(struct deadline *d);

struct hub *hub_new(struct gateway *g, struct loop *loop)
{
    struct hub *h = mem_new(sizeof *h);

    h->gateway = g;
    h->loop = loop;
    h->delivered = &g->delivered[loop_index(loop)];
    h->begun = h->position = g->published;
    h->journal_position = journal_hub_position(g->journal, loop_index(loop));
    if (h->journal_position)
        atomic_store(h->journal_position, h->position);
    h->replication = replication_new(h);
    links_init(&h->peers);
    links_init(&h->sessions);
    links_init(&h->greetings);
    links_init(&h->waiting);
    links_init(&h->guests);
    links_init(&h->wanted);
    links_init(&h->fetches);
    map_init(&h->fetches_by_number);
    links_init(&h->expected);
    links_init(&h->runnable);
    links_init(&h->unpublished);
    topics_init(&h->topics, loop);
    h->topics.crowds = &g->crowds;
    if (g->directory)
        h->topics.moved = gateway_upcalls.directory_mark;
    h->queue_end = &h->queue;
    h->arena = arena_new();
    h->packer = packer_new();
    buf_init(&h->out, MAX_SENT);
    buf_init(&h->in, MAX_MESSAGE * 8);
    h->hellos = deadlines_new(loop, g->options.hello_ms ? g->options.hello_ms : HELLO_MS, false,
                              peer_hello_due);
    h->strangers = deadlines_new(loop, STRANGER_MS, true, peer_expired_stranger);
    h->overdue = deadlines_new(loop, OVERDUE_MS, true, peer_expired_overdue);
    h->dead = deadlines_new(loop, DEAD_MS, true, peer_expired_dead);
    h->invalidated = deadlines_new(loop, INVALIDATED_MS, true, peer_expired_invalidated);
    h->away = deadlines_new(loop, AWAY_MS, true, session_expired);
    h->fading = deadlines_new(loop, FADE_MS, true, session_faded);
    h->windows = deadlines_new(loop, PRESENCE_MS, true, gateway_upcalls.presence_window_ended);
    h->fetching = deadlines_new(loop, FETCH_MS, false, gateway_upcalls.request_again);
    h->recordings = deadlines_new(loop, AWAY_MS, true, recording_expired);
    h->turn_end.run = hub_turn_end;
    h->pump_post.run = hub_pump_on;
    h->errands_post.run = errands_run;
    loop_add_turn_end(loop, &h->turn_end);
    return h;
}

/* One with more events stands in line for them. */
static void release_at_hand(struct hub *h)
{
    if (h->at_hand && parcel_is_begun(h->at_hand))
        parcel_release(h->at_hand);
    h->at_hand = NULL;
}

static void drop_queue(struct hub *h)
{
    for (struct parcel *p = h->queue, *next; p; p = next) {
        next = p->next;
        parcel_release(p);
    }
    h->queue = NULL;
    h->queue_end = &h->queue;
}

void hub_free(struct hub *h)
{
    if (!h)
        return;
    topics_close(&h->topics);
    while (!links_empty(&h->sessions))
        session_end(container_of(h->sessions.next, struct session, link));
    gateway_upcalls.lists_free(h);
    gateway_upcalls.dispatch_drop(h);
    release_at_hand(h);
    drop_queue(h);
    delays_free(h);
    mem_free(h->delivery);
    replication_free(h->replication);
    recent_clear(&h->recent);
    map_clear(&h->fetches_by_number);
    topics_clear(&h->topics);
    loop_drop_turn_end(&h->turn_end);
    deadlines_free(h->hellos);
    deadlines_free(h->strangers);
    deadlines_free(h->overdue);
    deadlines_free(h->dead);
    deadlines_free(h->invalidated);
    deadlines_free(h->away);
    deadlines_free(h->fading);
    deadlines_free(h->windows);
    deadlines_free(h->recordings);
    deadlines_free(h->fetching);
    packer_free(h->packer);
    frames_clear(h->frames);
    buf_clear(&h->out);
    buf_clear(&h->in);
    arena_free(h->arena);
    mem_free(h);
}

/* --- looks at the store --------------------------------------------------------------- */

static void load_committed(struct work *w)
{
    struct load *l = container_of(w, struct load, work);

    l->committed(l);
}

/* Of three that begin together one is the first to look and the last to end. */
static void look_dawdle(unsigned turn, bool at_end)
{
    static const unsigned wait_ms[3][2] = { { 0, 600 }, { 300, 0 }, { 200, 0 } };

    nanosleep(&(struct timespec){ .tv_nsec = wait_ms[turn % 3][at_end] * 1000000L }, NULL);
}

static enum err run_load(struct work *w, struct tx *tx)
{
    static _Atomic unsigned turns;
    struct load *l = container_of(w, struct load, work);
    const struct gateway *g = l->hub->gateway;
    bool dawdles = planted(PLANTED_LATE_LOOKS) && l->after;
    unsigned turn = dawdles ? atomic_fetch_add(&turns, 1) : 0;

    if (dawdles)
        look_dawdle(turn, false);
    enum err e = l->run(l, tx);
    if (dawdles)
        look_dawdle(turn, true);

    if (!e && l->quiet && g->cluster)
        e = event_log_positions(tx, l->told, MOST_SEEN, &l->seen);
    return e;
}

/* Whether it has seen something that was not told yet; of what was told then all has arrived by
 * now. */
static bool load_is_ahead(const struct load *l)
{
    const int64_t *seen = l->seen.items;

    return l->hub->queue || l->hub->telling ||
           (l->seen.count && seen[l->seen.count - 1] > l->passed);
}

static void load_done(struct work *w, enum err e)
{
    struct load *l = container_of(w, struct load, work);
    struct hub *h = l->hub;
    struct arena *arena = l->arena;

    loop_part("sessions");
    if (l->quiet)
        h->running--;
    h->looked = known_new(&l->seen);
    h->looked_ahead = load_is_ahead(l);
    l->done(l, e);
    known_unref(h->looked);
    h->looked = NULL;
    arena_free(arena);
    h->loads--;
    hub_pump(h);
}

static void load_begin(struct hub *h, struct load *l)
{
    l->hub = h;
    l->since = atomic_load(&h->gateway->published);
    l->told = (int64_t)(h->position >> NUMBERS_OF_POSITION);
    l->seen = (struct list){ 0 };
    if (planted(PLANTED_WATCH_VIEWS) && h->gateway->cluster)
        l->passed = cluster_position(h->gateway->cluster);
    l->arena = arena_new();
    l->work = (struct work){
        .mode = l->own_rows ? STORE_APPEND
                : l->writes ? STORE_WRITE
                            : STORE_READ,
        .aside = l->aside,
        .owner = l->owner,
        .urgent = l->quiet, /* everybody's events wait until it ends */
        .name = "session",
        .loop = h->loop,
        .run = run_load,
        .committed = l->committed ? load_committed : NULL,
        .done = load_done,
        .arena = l->arena,
    };
    if (l->quiet)
        h->running++;
    h->loads++;
    store_submit(h->gateway->options.store, &l->work);
}

void hub_load_now(struct hub *h, struct load *l)
{
    load_begin(h, l);
}

/* --- events in line ------------------------------------------------------------------- */

void hub_take(struct hub *h, struct parcel *p)
{
    *h->queue_end = p;
    h->queue_end = &p->next;
}

void hub_receive(struct post *post)
{
    struct parcel *p = container_of(post, struct parcel, post);
    struct hub *h = p->hub;

    if (delays_keep(h, p))
        return;
    hub_take(h, p);
    hub_pump(h);
}

/* The number of the last event in line; of the last that was begun, when the line is empty. */
static uint64_t last_in_line(const struct hub *h)
{
    return h->queue ? parcel_number(container_of(h->queue_end, struct parcel, next)) : h->begun;
}

void hub_load_after(struct hub *h, struct load *l, uint64_t number)
{
    uint64_t last = last_in_line(h);

    l->quiet = true;
    l->after = number > last ? number : last;
    links_append(&h->waiting, &l->link);
    hub_pump(h);
}

void hub_load(struct hub *h, struct load *l)
{
    hub_load_after(h, l, 0);
}

/* --- what those missed who come back after a restart ---------------------------------- */

/* Who comes back later begins anew. */
static void stop_recording(struct hub *h)
{
    h->recording = false;
    deadline_drop(&h->recording_end);
    if (links_empty(&h->expected))
        recent_trim(&h->recent, recent_end(&h->recent));
}

static void recording_expired(struct deadline *d)
{
    stop_recording(container_of(d, struct hub, recording_end));
}

void hub_record(struct hub *h)
{
    h->recording = true;
    deadline_touch(h->recordings, &h->recording_end);
}

static void record_event(struct hub *h, struct news *n)
{
    recent_add(&h->recent, n);
    h->recorded += h->recording ? news_payload(n).n : 0;
    if (h->recording && h->recorded > MAX_RECORDED)
        stop_recording(h);
}

static void begin_event(struct hub *h)
{
    struct parcel *p = h->queue;
    struct news *n = parcel_begin(p);

    if (parcel_is_begun(p)) {
        h->queue = p->next;
        if (!h->queue)
            h->queue_end = &h->queue;
    }
    if (h->recording || !links_empty(&h->expected))
        record_event(h, n);
    h->begun = n->number;
    h->at_hand = p;
    h->telling = true;
    gateway_upcalls.dispatch_begin(h, n);
    if (h->rosters)
        gateway_upcalls.lists_hear(h, n);
}

static void continue_event(struct hub *h)
{
    if (!gateway_upcalls.dispatch_continue(h))
        return;
    release_at_hand(h);
    h->telling = false;
    h->position = h->begun;
    if (h->journal_position && !planted(PLANTED_BLIND_LEDGER))
        atomic_store_explicit(h->journal_position, h->position, memory_order_release);
    hub_is_spent(h, EVENT_TICKS);
    if (!links_empty(&h->guests) || !links_empty(&h->wanted))
        gateway_upcalls.handovers_continue(h);
}

/* The next load, when all is told that stood in line before it; or NULL. */
static struct load *due_load(const struct hub *h)
{
    if (links_empty(&h->waiting))
        return NULL;
    struct load *first = container_of(h->waiting.next, struct load, link);

    return first->after <= h->position ? first : NULL;
}

static void begin_waiting(struct hub *h)
{
    struct load *l;

    h->held_up = false;
    for (int i = 0; i < LOADS_AT_ONCE && (l = due_load(h)); i++) {
        link_remove(&l->link);
        load_begin(h, l);
        if (hub_is_spent(h, HUB_TICKS))
            return;
    }
}

static void pump_later(struct hub *h)
{
    if (!h->telling && !h->queue && links_empty(&h->waiting))
        return;
    h->held_up = true;
    h->pump_posted = true;
    loop_post(h->loop, &h->pump_post);
}

/* One step; false: nothing can be done now. */
static bool pump_once(struct hub *h)
{
    if (h->telling)
        continue_event(h);
    else if ((!h->queue || h->held_up) && due_load(h))
        begin_waiting(h);
    else if (h->queue)
        begin_event(h);
    else
        return false;
    return true;
}

void hub_pump(struct hub *h)
{
    if (h->pumping || h->pump_posted)
        return;
    h->pumping = true;
    loop_part("events");
    while (!h->running && !h->spent && pump_once(h))
        ;
    h->pumping = false;
    gateway_upcalls.handovers_continue(h);
    if (h->spent && !h->running)
        pump_later(h);
}

static void hub_pump_on(struct post *post)
{
    struct hub *h = container_of(post, struct hub, pump_post);

    h->pump_posted = false;
    hub_pump(h);
}

/* --- shares of a turn ----------------------------------------------------------------- */

bool hub_look_at_clock(struct hub *h)
{
    int64_t now = clock_mono();

    h->ticks = 0;
    if (!h->turn_began)
        h->turn_began = now;
    h->spent |= now - h->turn_began > SHARE_NS;
    return h->spent;
}

void hub_turn_end(struct turn_end *t)
{
    struct hub *h = container_of(t, struct hub, turn_end);

    h->turn_began = 0;
    h->second = 0;
    h->spent = false;
    if (h->framed)
        frames_forget(h->frames);
    h->framed = false;
    if (!links_empty(&h->unpublished))
        gateway_upcalls.directory_flush(h);
    replication_flush(h); /* before the server sends what was gathered in this turn */
}
