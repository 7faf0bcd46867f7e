/* internal_call.h - internal calls: work without an HTTP client, such as gateway opcodes, jobs,
 * syncs.
 *
 * An internal call runs like a handler, with its own struct call and the same stages from DECODE
 * on, so call_emit and all functions that take a call work. call->exchange is NULL: there is no
 * response. */
#ifndef API_INTERNAL_CALL_H
#define API_INTERNAL_CALL_H

#include "api/call.h"

struct internal_call {
    const char *name;            /* a literal, for finding slow work; or NULL */
    const struct caller *caller; /* runs on behalf of this caller; copied; NULL: the server */
    enum route_store store;      /* READ or WRITE */
    /* Decodes external input once, before any transaction, on the loop or, with long_input, on the
     * pool. Like route->prepare it may set call->read and call->compute. May be NULL. */
    enum err (*decode)(struct call *call);
    bool long_input;
    /* Runs in the transaction; may run more than once. */
    enum err (*run)(struct call *call);
    /* Called on the loop after the commit; the call is freed when it returns. May be NULL: failures
     * are then logged. */
    void (*done)(struct call *call, enum err e, void *arg);
    /* Data for call_passed_data, with the tag of its struct: a copy of `size` bytes (not of what
     * they point to), or with size 0 the pointer itself, whose target must outlive the call. */
    const char *type;
    const void *data;
    size_t size;
    void *arg;
};

/* Starts an internal call, on that loop's thread. The call may finish before this returns, as a
 * read on SQLite does. */
void internal_call_start(struct api *api, struct loop *loop, const struct internal_call *e);

#endif
