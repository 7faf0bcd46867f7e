/* call_chain.h - a job that consists of many internal calls, run one after the other. The state of
 * the job is one struct without pointers, which is copied into each internal call and overwritten
 * at the end, because it may contain a secret. When a server process stops, its chains end, but the
 * leases of their jobs remain. When a lease has expired, another node continues the job. */
#ifndef INTEGRATIONS_CALL_CHAIN_H
#define INTEGRATIONS_CALL_CHAIN_H

#include "api/jobs/internal_call.h"
#include "net/loop.h"

struct internal_call_chain {
    struct api *api;
    struct loop *loop;
    void *state; /* the caller's struct */

    /* private to call_chain.c */
    struct loop_message post;
    void (*step)(struct internal_call_chain *c);
    const char *type;
    size_t size;
};

/* Creates a chain with a copy of the state. step is the function that
 * internal_call_chain_schedule_next_step calls. type is the tag of the state's struct. */
struct internal_call_chain *internal_call_chain_new(struct api *api, struct loop *loop,
                                                    void (*step)(struct internal_call_chain *c),
                                                    const char *type, const void *state,
                                                    size_t size);
void internal_call_chain_free(struct internal_call_chain *c);

/* Runs the chain's function `step` in a later iteration of the event loop. */
void internal_call_chain_schedule_next_step(struct internal_call_chain *c);

/* Starts an internal call (a call without HTTP request) with a copy of the state as its data.
 * `done` gets the chain as `arg`. */
void internal_call_chain_start_call(struct internal_call_chain *c,
                                    enum route_transaction_kind store,
                                    enum err (*run)(struct call *call),
                                    void (*done)(struct call *call, enum err e, void *arg));
/* Starts an internal call (a call without HTTP request) with other data than the chain's state. */
void internal_call_chain_start_call_with_data(
    struct internal_call_chain *c, enum route_transaction_kind store,
    enum err (*run)(struct call *call), void (*done)(struct call *call, enum err e, void *arg),
    const char *type, const void *data, size_t size);
/* Frees the chain. Use it as the callback `done` of the last internal call of a chain. */
void internal_call_chain_free_after_last_call(struct call *call, enum err e, void *arg);

#endif
