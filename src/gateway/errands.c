/* errands.c - work for a session that would take too long at once.
 *
 * Each step is a look at the store and what is told from it. The next one follows
 * when the socket has taken what is there, so that neither the loop nor memory is
 * filled by one session. */
#include "base/mem.h"
#include "gateway/internal.h"

enum { STEPS_A_TURN = 8, ERRANDS_MAX = 256 };

static void finish(struct errand *e)
{
    list_remove(&e->link);
    list_remove(&e->of_session);
    e->session->errand_count--;
    e->free(e);
}

static void run_soon(struct hub *h)
{
    if (h->errands_posted || list_empty(&h->errands))
        return;
    h->errands_posted = true;
    loop_post(h->loop, &h->errands_post);
}

static void step_done(struct load *l, enum err error)
{
    struct errand *e = container_of(l, struct errand, load);

    e->stepping = false;
    if (!e->session) {
        e->free(e);
        return;
    }
    e->stepped(e, error);
    run_soon(l->hub);
}

/* Its socket has something left to take. Two large guilds in a row would be more than a
 * session may be behind. */
static bool is_busy(const struct session *s)
{
    return s->sent < s->seq || websocket_waiting(s->peer->ws) > MAX_QUEUED;
}

/* One after the other: what is asked for waits until the guilds are there. A session
 * that is away does not read; its dispatches are kept for it all the same. */
static bool may_step(const struct errand *e)
{
    const struct session *s = e->session;

    return !e->stepping && s->errands.next == &e->of_session && !(s->peer && is_busy(s));
}

static struct errand *next_errand(struct hub *h)
{
    for (struct link *at = h->errands.next; at != &h->errands; at = at->next)
        if (may_step(container_of(at, struct errand, link)))
            return container_of(at, struct errand, link);
    return NULL;
}

void errands_run(struct post *post)
{
    struct hub *h = container_of(post, struct hub, errands_post);
    struct errand *e;

    h->errands_posted = false;
    for (int i = 0; i < STEPS_A_TURN && (e = next_errand(h)); i++) {
        if (!e->step(e)) {
            finish(e);
            continue;
        }
        e->stepping = true;
        e->load.done = step_done;
        /* To the end of the line: others have their turn too. */
        list_remove(&e->link);
        list_append(&h->errands, &e->link);
        hub_load(h, &e->load);
    }
    if (next_errand(h))
        run_soon(h);
}

/* What waited for a socket to take more may go on. */
void errands_turn(struct hub *h)
{
    if (next_errand(h))
        run_soon(h);
}

void errand_begin(struct session *s, struct errand *e)
{
    if (s->errand_count == ERRANDS_MAX) {
        e->free(e);
        return;
    }
    s->errand_count++;
    e->session = s;
    list_append(&s->hub->errands, &e->link);
    list_append(&s->errands, &e->of_session);
    run_soon(s->hub);
}

bool errands_stepping(const struct session *s)
{
    for (const struct link *at = s->errands.next; at != &s->errands; at = at->next)
        if (container_of(at, const struct errand, of_session)->stepping)
            return true;
    return false;
}

void errands_detach(struct session *s)
{
    for (struct link *at = s->errands.next; at != &s->errands; at = at->next)
        list_remove(&container_of(at, struct errand, of_session)->link);
}

void errands_attach(struct session *s)
{
    for (struct link *at = s->errands.next; at != &s->errands; at = at->next)
        list_append(&s->hub->errands, &container_of(at, struct errand, of_session)->link);
    run_soon(s->hub);
}

void errands_drop(struct session *s)
{
    while (!list_empty(&s->errands)) {
        struct errand *e = container_of(s->errands.next, struct errand, of_session);

        list_remove(&e->of_session);
        list_remove(&e->link);
        e->session = NULL;
        if (!e->stepping)
            e->free(e);
    }
    s->errand_count = 0;
}
