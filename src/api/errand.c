/* errand.c - work that nobody called for, from its start to its commit. */
#include "api/errand.h"

#include <stdatomic.h>
#include <string.h>

#include "api/internal.h"
#include "base/log.h"
#include "base/mem.h"

struct running {
    struct life life; /* its compute stage is the errand's */
    struct errand errand;
};

static struct running *of_work(struct work *w)
{
    return container_of(w, struct running, life.call.work);
}

static enum err errand_run(struct work *w, struct tx *tx)
{
    struct running *r = of_work(w);
    struct call *call = &r->life.call;

    call->tx = tx;
    attempt_forget(&r->life);
    enum err e = r->errand.run(call);
    if (!e && call->kept)
        e = files_record(call);
    call->tx = NULL;
    return e ? e : call->announce_error;
}

static void errand_finish(struct running *r, enum err e)
{
    struct call *call = &r->life.call;
    struct arena *arena = call->arena;
    struct api *api = call->api;

    loop_part(r->errand.name);
    files_finish(call, e);
    if (r->errand.done)
        r->errand.done(call, e, r->errand.arg);
    else if (e)
        log_warn("errand: %s", error_info(e)->message);
    buf_clear(&call->reply);
    buf_clear(&call->headers);
    arena_free(arena);
    atomic_fetch_sub_explicit(&api->running, 1, memory_order_release);
}

static void errand_done(struct work *w, enum err e)
{
    errand_finish(of_work(w), e);
}

static void errand_compute(uv_work_t *w)
{
    struct running *r = container_of(w, struct running, life.compute);

    r->life.computed = r->errand.compute(&r->life.call);
}

static void errand_computed(uv_work_t *w, int status)
{
    struct running *r = container_of(w, struct running, life.compute);
    struct call *call = &r->life.call;

    if (status || r->life.computed)
        errand_finish(r, r->life.computed ? r->life.computed : ERR_UNAVAILABLE);
    else
        store_submit(call->api->options.store, &call->work);
}

void errand_start(struct api *api, struct loop *loop, const struct errand *e)
{
    struct arena *arena = arena_new();
    struct running *r = arena_alloc(arena, sizeof *r);
    struct call *call = &r->life.call;

    r->errand = *e;
    call_init(call, api, arena, loop);
    if (e->caller) {
        r->life.caller = *e->caller;
        call->caller = &r->life.caller;
    }
    if (e->size) {
        call->data = arena_alloc(arena, e->size);
        memcpy(call->data, e->data, e->size);
    }
    call->work = (struct work){
        .mode = e->store == ROUTE_STORE_READ ? STORE_READ : STORE_WRITE,
        .name = e->name,
        .loop = loop,
        .run = errand_run,
        .committed = call_committed,
        .done = errand_done,
        .arena = arena,
    };
    atomic_fetch_add_explicit(&api->running, 1, memory_order_relaxed);
    if (e->compute)
        uv_queue_work(loop_uv(loop), &r->life.compute, errand_compute, errand_computed);
    else
        store_submit(api->options.store, &call->work);
}
