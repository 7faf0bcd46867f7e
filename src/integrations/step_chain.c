/* step_chain.c - runs the internal calls of a long job one after the other. */
#include "integrations/step_chain.h"

#include <sodium.h>
#include <string.h>

#include "api/api.h"
#include "base/mem.h"

struct step_chain *step_chain_new(struct api *api, struct loop *loop,
                                  void (*step)(struct step_chain *c), const char *type,
                                  const void *state, size_t size)
{
    struct step_chain *c = mem_new(sizeof *c);

    *c = (struct step_chain){ api, loop, mem_new(size), .step = step, .type = type, .size = size };
    memcpy(c->state, state, size);
    return c;
}

void step_chain_free(struct step_chain *c)
{
    sodium_memzero(c->state, c->size);
    mem_free(c->state);
    mem_free(c);
}

static void run_next_step(struct loop_message *p)
{
    struct step_chain *c = container_of(p, struct step_chain, post);
    struct api *api = c->api; /* the step may free the chain */

    if (api_is_draining(api))
        step_chain_free(c);
    else
        c->step(c);
    api_background_work_end(api);
}

void step_chain_continue(struct step_chain *c)
{
    api_background_work_begin(c->api);
    c->post.run = run_next_step;
    loop_post(c->loop, &c->post);
}

void step_chain_run_with_data(struct step_chain *c, enum route_store store,
                              enum err (*run)(struct call *call),
                              void (*done)(struct call *call, enum err e, void *arg),
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

void step_chain_run(struct step_chain *c, enum route_store store,
                    enum err (*run)(struct call *call),
                    void (*done)(struct call *call, enum err e, void *arg))
{
    step_chain_run_with_data(c, store, run, done, c->type, c->state, c->size);
}

void step_chain_on_last_step(struct call *call, enum err e, void *arg)
{
    (void)call, (void)e;
    step_chain_free(arg);
}
