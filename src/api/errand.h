/* errand.h - work that nobody called for: effects of gateway opcodes, deadlines, syncs.
 *
 * An errand runs like a handler, with a struct call of its own: call_emit, call_drop_blob
 * and whatever takes a call work as ever. Nothing is replied: call->exchange and
 * call->route are NULL. */
#ifndef API_ERRAND_H
#define API_ERRAND_H

#include "api/call.h"

struct errand {
    const char *name;            /* a literal, for those who look for what takes long; or NULL */
    const struct caller *caller; /* for whom; copied; NULL: the server itself */
    enum route_store store;      /* READ or WRITE */
    /* May be NULL: what takes long, on the pool, once and before the transaction. What it
     * puts into call->data is there afterwards. After an error there is no transaction. */
    enum err (*compute)(struct call *call);
    /* Inside the transaction; may run more than once. call->data is a copy of data. */
    enum err (*run)(struct call *call);
    /* On the loop, after the commit; the call goes when it returns. May be NULL: then a
     * failure is logged. */
    void (*done)(struct call *call, enum err e, void *arg);
    const void *data; /* flat: pointers in it are the caller's business */
    size_t size;
    void *arg;
};

/* On that loop's thread. May be done before it returns (a read of SQLite is). */
void errand_start(struct api *api, struct loop *loop, const struct errand *e);

#endif
