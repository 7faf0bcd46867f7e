/* loop.c - event loops: threads that own sockets, and messages to them. */
#include "net/loop.h"

#include <semaphore.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "net/loop_internal.h"

struct loops {
    unsigned count;
    struct loop *loop; /* array of `count` loops */
    void (*on_turn_end)(struct loop *, void *);
    void *arg;
};

enum { POSTS_NS = 5 * 1000 * 1000 }; /* time limit for messages per loop iteration */

static _Thread_local struct loop *current;

/* --- posts ---------------------------------------------------------------------------- */

void loop_post(struct loop *l, struct post *p)
{
    struct post *newest = atomic_load_explicit(&l->posts, memory_order_relaxed);

    do
        p->next = newest;
    while (!atomic_compare_exchange_weak_explicit(&l->posts, &newest, p, memory_order_release,
                                                  memory_order_relaxed));
    /* If the list was not empty, another thread has already woken the loop. */
    if (newest)
        return;
    /* uv_async_send checks with a relaxed load whether a wake-up is pending. On ARM that load may
     * happen before the new message is visible: it would see a wake-up that the loop has already
     * consumed, and the loop would sleep with this message in its list. */
    atomic_thread_fence(memory_order_seq_cst);
    uv_async_send(&l->wake);
}

static struct post *oldest_first(struct post *p)
{
    struct post *list = NULL;

    while (p) {
        struct post *next = p->next;

        p->next = list;
        list = p;
        p = next;
    }
    return list;
}

/* Appends new messages to those that wait to be run. */
static void gather_posts(struct loop *l)
{
    struct post *newest = atomic_exchange_explicit(&l->posts, NULL, memory_order_acquire);
    struct post **end = l->waiting ? &l->waiting_last->next : &l->waiting;

    if (!newest)
        return;
    *end = oldest_first(newest);
    l->waiting_last = newest;
}

/* Runs messages for a limited time per loop iteration, because thousands may arrive at once. A
 * stopping loop runs all, because it has no further iteration. */
static void run_posts(uv_async_t *wake)
{
    struct loop *l = container_of(wake, struct loop, wake);
    int64_t until = clock_mono() + POSTS_NS;

    loop_part("posts");
    gather_posts(l);
    while (l->waiting && (l->stops || clock_mono() < until)) {
        struct post *p = l->waiting;

        l->waiting = p->next; /* run may free p */
        p->run(p);
    }
    if (l->waiting)
        uv_async_send(&l->wake);
}

struct call_on {
    struct post post;
    struct loop *loop;
    void (*fn)(struct loop *, void *);
    void *arg;
    sem_t done;
};

static void run_call(struct post *p)
{
    struct call_on *c = container_of(p, struct call_on, post);

    c->fn(c->loop, c->arg);
    sem_post(&c->done);
}

void loop_call(struct loop *l, void (*fn)(struct loop *, void *), void *arg)
{
    struct call_on c = { .post.run = run_call, .loop = l, .fn = fn, .arg = arg };

    sem_init(&c.done, 0, 0);
    loop_post(l, &c.post);
    while (sem_wait(&c.done) != 0)
        ; /* interrupted by a signal */
    sem_destroy(&c.done);
}

/* --- freeing memory on the thread pool ------------------------------------------------- */

struct disposal {
    uv_work_t work;
    void *what;
    void (*give_back)(void *what);
};

static void disposal_run(uv_work_t *w)
{
    struct disposal *d = container_of(w, struct disposal, work);

    d->give_back(d->what);
}

static void disposal_done(uv_work_t *w, int status)
{
    (void)status;
    mem_free(container_of(w, struct disposal, work));
}

void loop_dispose(struct loop *l, void *what, void (*give_back)(void *what))
{
    struct disposal *d = mem_new(sizeof *d);

    d->what = what;
    d->give_back = give_back;
    uv_queue_work(&l->uv, &d->work, disposal_run, disposal_done);
}

void loop_dispose_buf(struct loop *l, struct buf *b)
{
    if (b->cap >= LOOP_DISPOSE_LEAST) {
        loop_dispose(l, b->p, mem_free);
        buf_init(b, b->max);
    }
    buf_clear(b);
}

/* --- the end of a loop iteration ------------------------------------------------------ */

void loop_add_turn_end(struct loop *l, struct turn_end *t)
{
    links_append(&l->turn_ends, &t->link);
}

void loop_drop_turn_end(struct turn_end *t)
{
    link_remove(&t->link);
}

static void end_turn(uv_prepare_t *turn)
{
    struct loop *l = container_of(turn, struct loop, turn);
    struct link *at = l->turn_ends.next;

    loop_part("end_of_turn");
    if (l->all->on_turn_end)
        l->all->on_turn_end(l, l->all->arg);
    while (at != &l->turn_ends) {
        struct turn_end *t = container_of(at, struct turn_end, link);

        at = at->next;
        t->run(t);
    }
    hold_end(&l->meter);
}

/* --- the end of a loop ---------------------------------------------------------------- */

void loop_add_end(struct loop *l, struct loop_end *e)
{
    links_append(&l->ends, &e->link);
}

void loop_drop_end(struct loop_end *e)
{
    link_remove(&e->link);
}

static void run_ends(struct loop *l)
{
    while (!links_empty(&l->ends)) {
        struct loop_end *e = container_of(l->ends.next, struct loop_end, link);

        link_remove(&e->link);
        e->run(e);
    }
}

/* --- starting and stopping ------------------------------------------------------------ */

/* Removes the loop's own references: only handles of its users keep a stopping loop running. */
static void loop_stop(struct post *p)
{
    struct loop *l = container_of(p, struct loop, stop);

    l->stops = true;
    uv_unref((uv_handle_t *)&l->wake);
    uv_unref((uv_handle_t *)&l->turn);
}

static void *run_loop(void *arg)
{
    struct loop *l = arg;

    current = l;
    uv_run(&l->uv, UV_RUN_DEFAULT);
    run_ends(l);
    deadlines_close_loop(l);
    uv_close((uv_handle_t *)&l->turn, NULL);
    uv_close((uv_handle_t *)&l->wake, NULL);
    uv_run(&l->uv, UV_RUN_DEFAULT);
    if (uv_loop_close(&l->uv) != 0)
        log_error("loop %u: some handles were not closed when the loop ended", l->index);
    return NULL;
}

static void loop_check(int result, const char *what)
{
    if (result == 0)
        return;
    log_error("loop: cannot %s: %s", what, uv_strerror(result < 0 ? result : -result));
    abort();
}

static void loop_start(struct loop *l, struct loops *all, unsigned index)
{
    l->all = all;
    l->index = index;
    l->stop.run = loop_stop;
    l->meter.kind = "turn";
    links_init(&l->turn_ends);
    links_init(&l->ends);
    loop_check(uv_loop_init(&l->uv), "create an event loop");
    loop_check(uv_async_init(&l->uv, &l->wake, run_posts), "create a wake-up handle");
    uv_prepare_init(&l->uv, &l->turn);
    uv_prepare_start(&l->turn, end_turn);
    deadlines_init_loop(l);
    loop_check(pthread_create(&l->thread, NULL, run_loop, l), "start the thread of an event loop");
}

struct loops *loops_start(unsigned count, void (*on_turn_end)(struct loop *, void *), void *arg)
{
    struct loops *ls = mem_new(sizeof *ls);

    ls->count = count;
    ls->loop = mem_new(count * sizeof *ls->loop);
    ls->on_turn_end = on_turn_end;
    ls->arg = arg;
    for (unsigned i = 0; i < count; i++)
        loop_start(&ls->loop[i], ls, i);
    return ls;
}

void loops_stop(struct loops *ls)
{
    if (!ls)
        return;
    for (unsigned i = 0; i < ls->count; i++)
        loop_post(&ls->loop[i], &ls->loop[i].stop);
    for (unsigned i = 0; i < ls->count; i++)
        pthread_join(ls->loop[i].thread, NULL);
    mem_free(ls->loop);
    mem_free(ls);
}

unsigned loops_count(const struct loops *ls)
{
    return ls->count;
}

struct loop *loops_at(const struct loops *ls, unsigned i)
{
    return &ls->loop[i];
}

unsigned loop_index(const struct loop *l)
{
    return l->index;
}

uv_loop_t *loop_uv(struct loop *l)
{
    return &l->uv;
}

struct loop *loop_current(void)
{
    return current;
}

void loop_part(const char *name)
{
    if (current)
        hold_part(&current->meter, name);
}
