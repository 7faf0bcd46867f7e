/* errand.c - work that nobody called for, from its start to its commit. */
#include "api/errand.h"

#include <stdatomic.h>
#include <string.h>

#include "api/internal.h"
#include "base/log.h"
#include "base/mem.h"

struct running {
    struct life life;
    struct errand errand;
};

static struct running *of_work(struct work *w)
{
    return container_of(w, struct running, life.call.work);
}

static enum err run(struct work *w, struct tx *tx)
{
    struct running *r = of_work(w);
    struct call *call = &r->life.call;

    call->tx = tx;
    attempt_forget(&r->life);
    enum err e = r->errand.run(call);
    call->tx = NULL;
    return e ? e : call->announce_error;
}

static void done(struct work *w, enum err e)
{
    struct running *r = of_work(w);
    struct call *call = &r->life.call;
    struct arena *arena = call->arena;
    struct api *api = call->api;

    loop_part(r->errand.name);
    if (e)
        blobs_delete(call, call->kept);
    if (r->errand.done)
        r->errand.done(call, e, r->errand.arg);
    else if (e)
        log_warn("errand: %s", error_info(e)->message);
    buf_clear(&call->reply);
    buf_clear(&call->headers);
    arena_free(arena);
    atomic_fetch_sub_explicit(&api->running, 1, memory_order_release);
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
        .run = run,
        .committed = call_committed,
        .done = done,
        .arena = arena,
    };
    atomic_fetch_add_explicit(&api->running, 1, memory_order_relaxed);
    store_submit(api->options.store, &call->work);
}
