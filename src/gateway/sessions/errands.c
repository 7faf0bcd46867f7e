/* errands.c - long tasks of a session, run in steps: sending guilds, answering requests.
 *
 * A step is a store read and the events sent from its result. The next step starts when the
 * socket has accepted these events, so that one session fills neither the loop nor memory. */
#include "gateway/sessions/errands.h"

#include "base/mem.h"
#include "gateway/resume/journal/journal.h"
#include "gateway/sessions/peer.h"
#include "gateway/sessions/registry.h"
#include "gateway/sessions/session.h"

enum { STEPS_A_TURN = 8, ERRANDS_MAX = 256, ERRANDS_OF_ACCOUNT = 1024 };

/* The account's task count needs the gateway's lock, because the account's sessions may be on
 * several loops. */
static void count_errands(struct session *s, unsigned more, unsigned less)
{
    struct gateway *g = s->hub->gateway;

    pthread_mutex_lock(&g->lock);
    struct account *a = map_get(&g->accounts, s->caller.id);
    if (a)
        a->errand_count += more - less;
    pthread_mutex_unlock(&g->lock);
    s->errands->count += more - less;
    journal_note_errands(s);
}

/* The first task of a session is always accepted, because it sends the session's guilds. */
static bool has_too_many(const struct session *s)
{
    struct gateway *g = s->hub->gateway;

    unsigned count = session_errand_count(s);

    if (count == 0 || count == ERRANDS_MAX)
        return count;
    pthread_mutex_lock(&g->lock);
    const struct account *a = map_get(&g->accounts, s->caller.id);
    bool many = a && a->errand_count >= ERRANDS_OF_ACCOUNT;
    pthread_mutex_unlock(&g->lock);
    return many;
}

static struct session_errand *first_errand(const struct session *s)
{
    const struct errand_line *line = s->errands;

    return !line || links_empty(&line->errands)
               ? NULL
               : container_of(line->errands.next, struct session_errand, of_session);
}

static struct errand_line *errand_line(struct session *s)
{
    if (!s->errands) {
        s->errands = mem_new(sizeof *s->errands);
        s->errands->session = s;
        links_init(&s->errands->errands);
    }
    return s->errands;
}

static void errand_line_end(struct session *s)
{
    link_remove(&s->errands->runnable);
    mem_free(s->errands);
    s->errands = NULL;
}

/* Tasks run one after the other, so a request waits until all guilds were sent. The guild task
 * also runs while the session is disconnected; its events go to the replay buffer. A request
 * waits for the next connection, because its response would exceed the replay buffer. */
static bool has_next_step(const struct session *s)
{
    const struct session_errand *e = first_errand(s);

    return e && !e->stepping && (s->peer || !e->needs_socket);
}

static void run_soon(struct hub *h)
{
    if (h->errands.posted || links_empty(&h->errands.runnable))
        return;
    h->errands.posted = true;
    loop_post(h->loop, &h->errands.post);
}

void errands_wake(struct session *s)
{
    if (!s->errands || s->errands->runnable.next || !has_next_step(s))
        return;
    if (session_is_busy(s)) {
        if (!s->peer->closing)
            websocket_await(s->peer->ws);
        return;
    }
    links_append(&s->hub->errands.runnable, &s->errands->runnable);
    run_soon(s->hub);
}

static void errand_step_finish(struct session_errand *e)
{
    struct session *s = e->session;

    link_remove(&e->of_session);
    count_errands(s, 0, 1);
    e->free(e);
    if (links_empty(&s->errands->errands))
        errand_line_end(s);
    errands_wake(s);
}

static void step_done(struct load *l, enum err error)
{
    struct session_errand *e = container_of(l, struct session_errand, load);

    e->stepping = false;
    if (!e->session) {
        e->free(e);
        return;
    }
    e->stepped(e, error);
    errands_wake(e->session);
}

static void begin_step(struct hub *h, struct session_errand *e)
{
    if (!e->step(e)) {
        errand_step_finish(e);
        return;
    }
    e->stepping = true;
    e->load.owner = e->session->caller.id;
    e->load.done = step_done;
    hub_load(h, &e->load);
}

/* Runs the next step of sessions that can continue. A session whose socket has a backlog again
 * waits for its socket. */
void errands_run(struct post *post)
{
    struct hub *h = container_of(post, struct hub, errands.post);

    h->errands.posted = false;
    for (int i = 0; i < STEPS_A_TURN && !links_empty(&h->errands.runnable); i++) {
        struct errand_line *line =
            container_of(h->errands.runnable.next, struct errand_line, runnable);
        struct session *s = line->session;

        link_remove(&line->runnable);
        if (has_next_step(s) && !session_is_busy(s))
            begin_step(h, first_errand(s));
        else
            errands_wake(s);
    }
    run_soon(h);
}

void errand_begin(struct session *s, struct session_errand *e)
{
    if (has_too_many(s)) {
        e->free(e);
        return;
    }
    struct errand_line *line = errand_line(s);
    count_errands(s, 1, 0);
    e->session = s;
    links_append(&line->errands, &e->of_session);
    errands_wake(s);
}

bool errands_stepping(const struct session *s)
{
    const struct link *all = s->errands ? &s->errands->errands : NULL;

    for (const struct link *at = all ? all->next : NULL; at != all; at = at->next)
        if (container_of(at, const struct session_errand, of_session)->stepping)
            return true;
    return false;
}

void errands_detach(struct session *s)
{
    if (s->errands)
        link_remove(&s->errands->runnable);
}

void errands_attach(struct session *s)
{
    errands_wake(s);
}

void errands_drop(struct session *s)
{
    if (!s->errands)
        return;
    for (struct session_errand *e; (e = first_errand(s));) {
        link_remove(&e->of_session);
        e->session = NULL;
        if (!e->stepping)
            e->free(e);
    }
    count_errands(s, 0, s->errands->count);
    errand_line_end(s);
}
