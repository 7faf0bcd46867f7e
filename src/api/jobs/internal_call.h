/* internal_call.h - internal calls: work that no HTTP request started, such as gateway opcodes,
 * jobs and syncs.
 *
 * An internal call runs like a handler, with its own struct call and the same stages from DECODE
 * on, so call_emit_event and all functions that take a call work. call->exchange is NULL: there is
 * no response. */
#ifndef API_INTERNAL_CALL_H
#define API_INTERNAL_CALL_H

#include "api/call.h"

struct internal_call {
    const char *name; /* name of the work in metrics and in log messages about slow work, a string
                       * literal, or NULL */
    const struct caller *caller; /* caller on whose behalf the work runs (copied); NULL means the
                                  * server */
    enum route_transaction_kind store; /* ROUTE_STORE_READ, _APPEND or _WRITE */
    /* Decodes external input before any transaction. Runs on the loop, or on the thread pool if
     * long_input is set. May set call->read and call->compute like route->prepare. May be NULL. */
    enum err (*decode)(struct call *call);
    bool long_input;
    /* Callback that runs in the transaction of the internal call; may be called more than once. */
    enum err (*run)(struct call *call);
    /* Called on the loop after the commit; the call is freed when it returns. If NULL, failures are
     * logged. */
    void (*done)(struct call *call, enum err e, void *arg);
    /* Data that the callbacks get by call_get_stage_data; type is the tag of its struct. If size is
     * not 0, `size` bytes are copied, but not the memory that they point to. If size is 0, only the
     * pointer is stored, and the data must outlive the call. */
    const char *type;
    const void *data;
    size_t size;
    void *arg;
};

/* Starts an internal call on this loop; call it on the loop's thread. The internal call may end
 * before this function returns, for example if it only reads from SQLite. */
void internal_call_start(struct api *api, struct loop *loop, const struct internal_call *e);

#endif
