/* hub.c - a loop's share of the gateway: events in line, and looks at the store.
 *
 * A session is set up from what the store says at one moment and told of
 * everything after it. So events stand in line while such a look is running, and
 * a new one begins only when the line is empty: nothing falls between the two. */
#include "base/mem.h"
#include "gateway/internal.h"
#include "gateway/presence.h"

enum { LOADS_AT_ONCE = 8 };

struct hub *hub_new(struct gateway *g, struct loop *loop)
{
    struct hub *h = mem_new(sizeof *h);

    h->gateway = g;
    h->loop = loop;
    list_init(&h->peers);
    list_init(&h->sessions);
    list_init(&h->greetings);
    list_init(&h->waiting);
    list_init(&h->guests);
    list_init(&h->errands);
    map_init(&h->topics);
    h->queue_end = &h->queue;
    h->arena = arena_new();
    h->scratch = arena_new();
    h->packer = packer_new();
    buf_init(&h->out, MAX_PAYLOAD);
    buf_init(&h->in, MAX_MESSAGE * 8);
    h->strangers = deadlines_new(loop, STRANGER_MS, true, peer_expired_stranger);
    h->overdue = deadlines_new(loop, OVERDUE_MS, true, peer_expired_overdue);
    h->dead = deadlines_new(loop, DEAD_MS, true, peer_expired_dead);
    h->doomed = deadlines_new(loop, DOOMED_MS, true, peer_expired_doomed);
    h->away = deadlines_new(loop, AWAY_MS, true, session_expired);
    h->fading = deadlines_new(loop, FADE_MS, true, session_faded);
    h->windows = deadlines_new(loop, PRESENCE_MS, true, presence_window_ended);
    h->turn_end.run = errands_turn;
    h->errands_post.run = errands_run;
    loop_add_turn_end(loop, &h->turn_end);
    return h;
}

static void drop_queue(struct hub *h)
{
    for (struct parcel *p = h->queue, *next; p; p = next) {
        next = p->next;
        news_unref(p->news);
        mem_free(p);
    }
    h->queue = NULL;
    h->queue_end = &h->queue;
}

void hub_free(struct hub *h)
{
    if (!h)
        return;
    while (!list_empty(&h->sessions))
        session_end(container_of(h->sessions.next, struct session, link));
    drop_queue(h);
    hub_log_clear(h);
    mem_free(h->log);
    topics_free(h);
    loop_drop_turn_end(&h->turn_end);
    deadlines_free(h->strangers);
    deadlines_free(h->overdue);
    deadlines_free(h->dead);
    deadlines_free(h->doomed);
    deadlines_free(h->away);
    deadlines_free(h->fading);
    deadlines_free(h->windows);
    packer_free(h->packer);
    buf_clear(&h->out);
    buf_clear(&h->in);
    arena_free(h->arena);
    arena_free(h->scratch);
    mem_free(h);
}

/* --- looks at the store --------------------------------------------------------------- */

static enum err run_load(struct work *w, struct tx *tx)
{
    struct load *l = container_of(w, struct load, work);

    return l->run(l, tx);
}

static void load_done(struct work *w, enum err e)
{
    struct load *l = container_of(w, struct load, work);
    struct hub *h = l->hub;
    struct arena *arena = l->arena;

    loop_part("sessions");
    if (l->quiet)
        h->running--;
    l->done(l, e);
    arena_free(arena);
    h->loads--;
    hub_pump(h);
}

static void begin(struct hub *h, struct load *l)
{
    l->hub = h;
    l->arena = arena_new();
    l->work = (struct work){
        .mode = l->writes ? STORE_WRITE : STORE_READ,
        .aside = l->aside,
        .name = "session",
        .loop = h->loop,
        .run = run_load,
        .done = load_done,
        .arena = l->arena,
    };
    if (l->quiet)
        h->running++;
    h->loads++;
    store_submit(h->gateway->options.store, &l->work);
}

void hub_load(struct hub *h, struct load *l)
{
    l->quiet = true;
    list_append(&h->waiting, &l->link);
    hub_pump(h);
}

void hub_load_now(struct hub *h, struct load *l)
{
    begin(h, l);
}

/* --- events in line ------------------------------------------------------------------- */

void hub_receive(struct post *post)
{
    struct parcel *p = container_of(post, struct parcel, post);
    struct hub *h = p->hub;

    *h->queue_end = p;
    h->queue_end = &p->next;
    hub_pump(h);
}

static void log_news(struct hub *h, struct news *n)
{
    if (h->log_count == h->log_cap) {
        h->log_cap = h->log_cap ? h->log_cap * 2 : 64;
        h->log = mem_resize(h->log, h->log_cap * sizeof *h->log);
    }
    h->log[h->log_count++] = news_ref(n);
}

void hub_log_clear(struct hub *h)
{
    for (size_t i = 0; i < h->log_count; i++)
        news_unref(h->log[i]);
    h->log_count = 0;
}

static void take_event(struct hub *h)
{
    struct parcel *p = h->queue;

    h->queue = p->next;
    if (!h->queue)
        h->queue_end = &h->queue;
    arena_reset(h->scratch);
    if (h->expected)
        log_news(h, p->news);
    dispatch(h, p->news);
    h->position = p->news->number;
    news_unref(p->news);
    mem_free(p);
}

static void begin_waiting(struct hub *h)
{
    for (int i = 0; i < LOADS_AT_ONCE && !list_empty(&h->waiting); i++) {
        struct load *l = container_of(h->waiting.next, struct load, link);

        list_remove(&l->link);
        begin(h, l);
    }
}

void hub_pump(struct hub *h)
{
    if (h->pumping)
        return;
    h->pumping = true;
    loop_part("events");
    while (!h->running && (h->queue || !list_empty(&h->waiting))) {
        if (h->queue)
            take_event(h);
        else
            begin_waiting(h);
    }
    arena_reset(h->scratch);
    h->pumping = false;
    handovers_continue(h);
}
