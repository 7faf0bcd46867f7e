/* call_chain.c - runs the internal calls of a long job one after the other. */
#include "integrations/call_chain.h"

#include <sodium.h>
#include <string.h>

#include "api/api.h"
#include "base/mem.h"

struct internal_call_chain *internal_call_chain_new(struct api *api, struct loop *loop,
                                                    void (*step)(struct internal_call_chain *c),
                                                    const char *type, const void *state,
                                                    size_t size)
{
    struct internal_call_chain *c = mem_new(sizeof *c);

    *c = (struct internal_call_chain){ api,          loop,         mem_new(size),
                                       .step = step, .type = type, .size = size };
    memcpy(c->state, state, size);
    return c;
}

void internal_call_chain_free(struct internal_call_chain *c)
{
    sodium_memzero(c->state, c->size);
    mem_free(c->state);
    mem_free(c);
}

static void run_next_call_of_chain(struct loop_message *p)
{
    struct internal_call_chain *c = container_of(p, struct internal_call_chain, post);
    struct api *api = c->api; /* the step may free the chain */

    if (api_is_draining(api))
        internal_call_chain_free(c);
    else
        c->step(c);
    api_record_background_work_end(api);
}

void internal_call_chain_schedule_next_step(struct internal_call_chain *c)
{
    api_record_background_work_start(c->api);
    c->post.run = run_next_call_of_chain;
    loop_post_message(c->loop, &c->post);
}

void internal_call_chain_start_call_with_data(
    struct internal_call_chain *c, enum route_transaction_kind store,
    enum err (*run)(struct call *call), void (*done)(struct call *call, enum err e, void *arg),
    const char *type, const void *data, size_t size)
{
    internal_call_start(c->api, c->loop,
                        &(struct internal_call){ .name = "sync",
                                                 .store = store,
                                                 .run = run,
                                                 .done = done,
                                                 .type = type,
                                                 .data = data,
                                                 .size = size,
                                                 .arg = c });
}

void internal_call_chain_start_call(struct internal_call_chain *c,
                                    enum route_transaction_kind store,
                                    enum err (*run)(struct call *call),
                                    void (*done)(struct call *call, enum err e, void *arg))
{
    internal_call_chain_start_call_with_data(c, store, run, done, c->type, c->state, c->size);
}

void internal_call_chain_free_after_last_call(struct call *call, enum err e, void *arg)
{
    (void)call, (void)e;
    internal_call_chain_free(arg);
}
