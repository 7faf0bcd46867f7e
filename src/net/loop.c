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
    struct loop *loop; /* array of `count` elements */
    void (*on_iteration_end)(struct loop *, void *);
    void *arg;
};

enum {
    MAX_MESSAGES_NS = 5 * 1000 * 1000
}; /* time limit, in ns, for the messages of one loop iteration */

static _Thread_local struct loop *current;

/* --- messages -------------------------------------------------------------------------- */

void loop_post_message(struct loop *l, struct loop_message *p)
{
    struct loop_message *newest = atomic_load_explicit(&l->messages, memory_order_relaxed);

    do
        p->next = newest;
    while (!atomic_compare_exchange_weak_explicit(&l->messages, &newest, p, memory_order_release,
                                                  memory_order_relaxed));
    /* If the list was not empty, another thread has already woken the loop, so do not wake it. */
    if (newest)
        return;
    /* uv_async_send checks with a relaxed load whether a wake-up is pending. On ARM that load may
     * happen before the new message is visible. The load could then return a wake-up that the loop
     * has already consumed, and the loop would sleep with this message in its list. */
    atomic_thread_fence(memory_order_seq_cst);
    uv_async_send(&l->wake);
}

static struct loop_message *reverse_message_order(struct loop_message *p)
{
    struct loop_message *list = NULL;

    while (p) {
        struct loop_message *next = p->next;

        p->next = list;
        list = p;
        p = next;
    }
    return list;
}

/* Moves the messages that were posted to the end of the list of messages that the loop will run. */
static void collect_posted_messages(struct loop *l)
{
    struct loop_message *newest =
        atomic_exchange_explicit(&l->messages, NULL, memory_order_acquire);
    struct loop_message **end = l->waiting ? &l->waiting_last->next : &l->waiting;

    if (!newest)
        return;
    *end = reverse_message_order(newest);
    l->waiting_last = newest;
}

/* Runs messages for a limited time per loop iteration, because thousands may arrive at once. A
 * stopping loop runs all messages, because it has no further iteration. */
static void run_posted_messages(uv_async_t *wake)
{
    struct loop *l = container_of(wake, struct loop, wake);
    int64_t until = clock_monotonic_ns() + MAX_MESSAGES_NS;

    loop_set_measured_activity("posts");
    collect_posted_messages(l);
    while (l->waiting && (l->stops || clock_monotonic_ns() < until)) {
        struct loop_message *p = l->waiting;

        l->waiting = p->next; /* p->run may free p */
        p->run(p);
    }
    if (l->waiting)
        uv_async_send(&l->wake);
}

struct blocking_call {
    struct loop_message post;
    struct loop *loop;
    void (*fn)(struct loop *, void *);
    void *arg;
    sem_t done;
};

static void run_call_of_waiting_thread(struct loop_message *p)
{
    struct blocking_call *c = container_of(p, struct blocking_call, post);

    c->fn(c->loop, c->arg);
    sem_post(&c->done);
}

void loop_run_function_and_wait(struct loop *l, void (*fn)(struct loop *, void *), void *arg)
{
    struct blocking_call c = {
        .post.run = run_call_of_waiting_thread, .loop = l, .fn = fn, .arg = arg
    };

    sem_init(&c.done, 0, 0);
    loop_post_message(l, &c.post);
    while (sem_wait(&c.done) != 0)
        ; /* repeat if a signal interrupted the read */
    sem_destroy(&c.done);
}

/* --- freeing memory on the thread pool ------------------------------------------------- */

struct pool_free {
    uv_work_t work;
    void *what;
    void (*give_back)(void *what);
};

static void free_object_on_pool(uv_work_t *w)
{
    struct pool_free *d = container_of(w, struct pool_free, work);

    d->give_back(d->what);
}

static void on_object_freed_on_pool(uv_work_t *w, int status)
{
    (void)status;
    mem_free(container_of(w, struct pool_free, work));
}

void loop_free_block_on_thread_pool(struct loop *l, void *what, void (*give_back)(void *what))
{
    struct pool_free *d = mem_new(sizeof *d);

    d->what = what;
    d->give_back = give_back;
    uv_queue_work(&l->uv, &d->work, free_object_on_pool, on_object_freed_on_pool);
}

void loop_free_buf_on_thread_pool(struct loop *l, struct buf *b)
{
    if (b->cap >= LOOP_POOL_FREE_MIN_BYTES) {
        loop_free_block_on_thread_pool(l, b->p, mem_free);
        buf_init(b, b->max);
    }
    buf_clear(b);
}

void loop_add_iteration_callback(struct loop *l, struct loop_iteration_callback *t)
{
    linked_list_append(&l->iteration_ends, &t->link);
}

void loop_remove_iteration_callback(struct loop_iteration_callback *t)
{
    linked_list_remove(&t->link);
}

static void on_iteration_end(uv_prepare_t *prepare)
{
    struct loop *l = container_of(prepare, struct loop, prepare);
    struct list_link *at = l->iteration_ends.next;

    loop_set_measured_activity("end_of_turn");
    if (l->all->on_iteration_end)
        l->all->on_iteration_end(l, l->all->arg);
    while (at != &l->iteration_ends) {
        struct loop_iteration_callback *t = container_of(at, struct loop_iteration_callback, link);

        at = at->next;
        t->run(t);
    }
    stall_meter_end_iteration(&l->meter);
}

void loop_add_stop_callback(struct loop *l, struct loop_stop_callback *e)
{
    linked_list_append(&l->ends, &e->link);
}

void loop_remove_stop_callback(struct loop_stop_callback *e)
{
    linked_list_remove(&e->link);
}

static void run_loop_end_callbacks(struct loop *l)
{
    while (!linked_list_is_empty(&l->ends)) {
        struct loop_stop_callback *e = container_of(l->ends.next, struct loop_stop_callback, link);

        linked_list_remove(&e->link);
        e->run(e);
    }
}

/* --- starting and stopping ------------------------------------------------------------ */

/* Unreferences the loop's own libuv handles, so that the loop ends when all other handles are
 * closed. */
static void on_loop_stop_message(struct loop_message *p)
{
    struct loop *l = container_of(p, struct loop, stop);

    l->stops = true;
    uv_unref((uv_handle_t *)&l->wake);
    uv_unref((uv_handle_t *)&l->prepare);
}

static void *run_loop_thread(void *arg)
{
    struct loop *l = arg;

    current = l;
    uv_run(&l->uv, UV_RUN_DEFAULT);
    run_loop_end_callbacks(l);
    loop_close_deadlines(l);
    uv_close((uv_handle_t *)&l->prepare, NULL);
    uv_close((uv_handle_t *)&l->wake, NULL);
    uv_run(&l->uv, UV_RUN_DEFAULT);
    if (uv_loop_close(&l->uv) != 0)
        log_error("loop: bug: some handles of event loop %u were not closed when it ended",
                  l->index);
    return NULL;
}

static void abort_on_loop_error(int result, const char *what)
{
    if (result == 0)
        return;
    log_error("loop: the server cannot %s: %s", what, uv_strerror(result < 0 ? result : -result));
    abort();
}

static void start_loop_thread(struct loop *l, struct loops *all, unsigned index)
{
    l->all = all;
    l->index = index;
    l->stop.run = on_loop_stop_message;
    l->meter.kind = "turn";
    linked_list_init(&l->iteration_ends);
    linked_list_init(&l->ends);
    abort_on_loop_error(uv_loop_init(&l->uv), "create an event loop");
    abort_on_loop_error(uv_async_init(&l->uv, &l->wake, run_posted_messages),
                        "create a wake-up handle");
    uv_prepare_init(&l->uv, &l->prepare);
    uv_prepare_start(&l->prepare, on_iteration_end);
    loop_init_deadlines(l);
    abort_on_loop_error(pthread_create(&l->thread, NULL, run_loop_thread, l),
                        "start the thread of an event loop");
}

struct loops *loops_start(unsigned count, void (*iteration_end_callback)(struct loop *, void *),
                          void *arg)
{
    struct loops *ls = mem_new(sizeof *ls);

    ls->count = count;
    ls->loop = mem_new(count * sizeof *ls->loop);
    ls->on_iteration_end = iteration_end_callback;
    ls->arg = arg;
    for (unsigned i = 0; i < count; i++)
        start_loop_thread(&ls->loop[i], ls, i);
    return ls;
}

void loops_stop(struct loops *ls)
{
    if (!ls)
        return;
    for (unsigned i = 0; i < ls->count; i++)
        loop_post_message(&ls->loop[i], &ls->loop[i].stop);
    for (unsigned i = 0; i < ls->count; i++)
        pthread_join(ls->loop[i].thread, NULL);
    mem_free(ls->loop);
    mem_free(ls);
}

unsigned loops_get_count(const struct loops *ls)
{
    return ls->count;
}

struct loop *loops_get_loop_at(const struct loops *ls, unsigned i)
{
    return &ls->loop[i];
}

unsigned loop_get_index(const struct loop *l)
{
    return l->index;
}

uv_loop_t *loop_get_uv_loop(struct loop *l)
{
    return &l->uv;
}

struct loop *loop_get_current(void)
{
    return current;
}

void loop_set_measured_activity(const char *name)
{
    if (current)
        stall_meter_begin_measuring_activity(&current->meter, name);
}
