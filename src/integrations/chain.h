/* chain.h - work of a job that takes many errands, one after the other.
 *
 * What it knows is one flat struct, which travels through the errands and is wiped in the
 * end: there may be a secret in it. A server that stops ends its chains; the job's lease
 * stays, and whoever takes the job when it has run out begins anew or goes on. */
#ifndef INTEGRATIONS_CHAIN_H
#define INTEGRATIONS_CHAIN_H

#include "api/jobs/errand.h"
#include "net/loop.h"

struct chain {
    struct api *api;
    struct loop *loop;
    void *state; /* the caller's struct */

    /* the chain's own */
    struct post post;
    void (*step)(struct chain *c);
    const char *type;
    size_t size;
};

/* step: what chain_go_on comes back with. The state, a struct with this tag, is copied. */
struct chain *chain_new(struct api *api, struct loop *loop, void (*step)(struct chain *c),
                        const char *type, const void *state, size_t size);
void chain_end(struct chain *c);

/* The next step, after the loop has seen to others. */
void chain_go_on(struct chain *c);

/* An errand whose data is a copy of the state, and whose argument is the chain. */
void chain_run(struct chain *c, enum route_store store, enum err (*run)(struct call *call),
               void (*done)(struct call *call, enum err e, void *arg));
/* The same with other data. */
void chain_run_with(struct chain *c, enum route_store store, enum err (*run)(struct call *call),
                    void (*done)(struct call *call, enum err e, void *arg), const char *type,
                    const void *data, size_t size);
/* For done: it was the last one. */
void chain_ended(struct call *call, enum err e, void *arg);

#endif
