/* internal_call.c - internal calls: calls without an HTTP exchange, which begin at DECODE. */
#include "api/jobs/internal_call.h"

#include <stdatomic.h>
#include <string.h>

#include "api/internal.h"
#include "base/log.h"
#include "base/mem.h"

struct running_internal_call {
    struct call_context run;
    struct internal_call definition;
    struct route row; /* a route without handler, because the stages of an internal call need a
                       * route */
};

enum err internal_call_decode(struct call *call)
{
    const struct running_internal_call *r =
        container_of(call, const struct running_internal_call, run.call);

    return r->definition.decode ? r->definition.decode(call) : OK;
}

void internal_call_finish_and_free(struct call_context *run, enum err e)
{
    const struct running_internal_call *r =
        container_of(run, const struct running_internal_call, run);
    struct call *call = &run->call;
    struct arena *arena = call->arena;
    struct api *api = call->api;

    call_delete_unused_blobs(call, e);
    if (r->definition.done)
        r->definition.done(call, e, r->definition.arg);
    else if (e)
        log_warn("api: a background task (internal call) failed: %s", error_info(e)->message);
    buf_clear(&call->reply);
    buf_clear(&run->response.headers);
    arena_free(arena);
    atomic_fetch_sub_explicit(&api->running, 1, memory_order_release);
}

void internal_call_start(struct api *api, struct loop *loop, const struct internal_call *e)
{
    struct arena *arena = arena_new();
    struct running_internal_call *r = arena_alloc(arena, sizeof *r);
    struct call *call = &r->run.call;

    r->definition = *e;
    r->row = (struct route){
        .name = e->name ? e->name : "internal-call",
        .store = e->store,
        .handle = e->run,
    };
    call_context_init(&r->run, api, arena, loop);
    call->route = &r->row;
    if (e->caller) {
        r->run.caller = *e->caller;
        call->caller = &r->run.caller;
    }
    if (e->size)
        memcpy(call_store_stage_data(call, e->type, e->size), e->data, e->size);
    else if (e->data)
        call_store_borrowed_stage_data(call, e->type, (void *)e->data);
    atomic_fetch_add_explicit(&api->running, 1, memory_order_relaxed);
    start_internal_call_at_decode_stage(&r->run, e->long_input);
}
