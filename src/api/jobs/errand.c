/* errand.c - internal calls: calls without an HTTP exchange, which begin at DECODE. */
#include "api/jobs/errand.h"

#include <stdatomic.h>
#include <string.h>

#include "api/internal.h"
#include "base/log.h"
#include "base/mem.h"

struct running {
    struct call_run run;
    struct errand errand;
    struct route row; /* route that the stages of this call use */
};

enum err errand_decode(struct call *call)
{
    const struct running *r = container_of(call, const struct running, run.call);

    return r->errand.decode ? r->errand.decode(call) : OK;
}

void errand_end(struct call_run *run, enum err e)
{
    const struct running *r = container_of(run, const struct running, run);
    struct call *call = &run->call;
    struct arena *arena = call->arena;
    struct api *api = call->api;

    files_finish(call, e);
    if (r->errand.done)
        r->errand.done(call, e, r->errand.arg);
    else if (e)
        log_warn("api: an internal call failed: %s", error_info(e)->message);
    buf_clear(&call->reply);
    buf_clear(&run->answer.headers);
    arena_free(arena);
    atomic_fetch_sub_explicit(&api->running, 1, memory_order_release);
}

void errand_start(struct api *api, struct loop *loop, const struct errand *e)
{
    struct arena *arena = arena_new();
    struct running *r = arena_alloc(arena, sizeof *r);
    struct call *call = &r->run.call;

    r->errand = *e;
    r->row = (struct route){
        .name = e->name ? e->name : "errand",
        .store = e->store == ROUTE_STORE_READ ? ROUTE_STORE_READ : ROUTE_STORE_WRITE,
        .handle = e->run,
    };
    call_init(&r->run, api, arena, loop);
    call->route = &r->row;
    if (e->caller) {
        r->run.caller = *e->caller;
        call->caller = &r->run.caller;
    }
    if (e->size)
        memcpy(call_pass(call, e->type, e->size), e->data, e->size);
    else if (e->data)
        call_lend(call, e->type, (void *)e->data);
    atomic_fetch_add_explicit(&api->running, 1, memory_order_relaxed);
    run_follow(&r->run, e->long_input);
}
