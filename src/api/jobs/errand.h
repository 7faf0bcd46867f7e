/* errand.h - work that nobody called for: effects of gateway opcodes, deadlines, syncs.
 *
 * An errand runs like a handler, with a struct call of its own: call_emit, call_drop_blob
 * and whatever takes a call work as ever, and it goes through the same stages. Nothing is
 * replied: call->exchange is NULL. */
#ifndef API_ERRAND_H
#define API_ERRAND_H

#include "api/call.h"

struct errand {
    const char *name;            /* a literal, for those who look for what takes long; or NULL */
    const struct caller *caller; /* for whom; copied; NULL: the server itself */
    enum route_store store;      /* READ or WRITE */
    /* May be NULL: reads what came from elsewhere, once and before any transaction, on the loop
     * or, with long_input, on the pool. As a row's prepare it may ask for look and compute. */
    enum err (*decode)(struct call *call);
    bool long_input;
    /* Inside the transaction; may run more than once. */
    enum err (*run)(struct call *call);
    /* On the loop, after the commit; the call goes when it returns. May be NULL: then a
     * failure is logged. */
    void (*done)(struct call *call, enum err e, void *arg);
    /* For call_passed, with the tag of its struct: a copy of so many bytes (pointers in it are
     * the caller's business), or with size 0 the thing itself, which outlives the errand. */
    const char *type;
    const void *data;
    size_t size;
    void *arg;
};

/* On that loop's thread. May be done before it returns (a read of SQLite is). */
void errand_start(struct api *api, struct loop *loop, const struct errand *e);

#endif
