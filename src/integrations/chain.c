/* chain.c - runs the steps of a long job one after the other; see step_chain.h. */
#include "integrations/chain.h"

#include <sodium.h>
#include <string.h>

#include "api/api.h"
#include "base/mem.h"

struct chain *chain_new(struct api *api, struct loop *loop, void (*step)(struct chain *c),
                        const char *type, const void *state, size_t size)
{
    struct chain *c = mem_new(sizeof *c);

    *c = (struct chain){ api, loop, mem_new(size), .step = step, .type = type, .size = size };
    memcpy(c->state, state, size);
    return c;
}

void chain_end(struct chain *c)
{
    sodium_memzero(c->state, c->size);
    mem_free(c->state);
    mem_free(c);
}

static void take_step(struct post *p)
{
    struct chain *c = container_of(p, struct chain, post);
    struct api *api = c->api; /* the step may free the chain */

    if (api_draining(api))
        chain_end(c);
    else
        c->step(c);
    api_release(api);
}

void chain_go_on(struct chain *c)
{
    api_hold(c->api);
    c->post.run = take_step;
    loop_post(c->loop, &c->post);
}

void chain_run_with(struct chain *c, enum route_store store, enum err (*run)(struct call *call),
                    void (*done)(struct call *call, enum err e, void *arg), const char *type,
                    const void *data, size_t size)
{
    errand_start(c->api, c->loop,
                 &(struct errand){ .name = "sync",
                                   .store = store,
                                   .run = run,
                                   .done = done,
                                   .type = type,
                                   .data = data,
                                   .size = size,
                                   .arg = c });
}

void chain_run(struct chain *c, enum route_store store, enum err (*run)(struct call *call),
               void (*done)(struct call *call, enum err e, void *arg))
{
    chain_run_with(c, store, run, done, c->type, c->state, c->size);
}

void chain_ended(struct call *call, enum err e, void *arg)
{
    (void)call, (void)e;
    chain_end(arg);
}
