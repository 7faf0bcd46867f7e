/* store_reads.h - transactions that a loop runs in the store.
 *
 * A session is set up from a snapshot of the store and sent every event after it. So events wait in
 * the queue while such a read runs, and a read begins when the queue is empty: no event falls
 * between the two. If the queue does not become empty, the read begins when all events are sent
 * that were in the queue before it; the session then gets some events that its snapshot has
 * already. */
#ifndef GATEWAY_SESSIONS_STORE_READS_H
#define GATEWAY_SESSIONS_STORE_READS_H

#include "base/links.h"
#include "json/schema.h"
#include "store/store.h"

struct hub;
struct known_positions;

/* A transaction, with what is done after it. */
struct load {
    struct work work;
    struct link link;
    struct hub *hub;
    struct arena *arena;
    bool quiet;       /* events wait while it runs */
    bool writes;      /* a write transaction */
    bool own_rows;    /* one whose rows no other write depends on: see STORE_APPEND */
    bool aside;       /* a background read, which may take long */
    uint64_t owner;   /* for the scheduling of background reads; 0: none */
    uint64_t after;   /* begins after this event */
    uint64_t since;   /* number of the last event published before it began */
    int64_t told;     /* log position of the last event delivered before it began */
    int64_t passed;   /* log position that all events had passed then; with PLANTED_WATCH_VIEWS */
    struct list seen; /* log positions (int64_t) from `told` on that it saw; if it is quiet */
    enum err (*run)(struct load *l, struct tx *tx);
    void (*committed)(struct load *l);        /* after a write, on a thread of the store; or NULL */
    void (*done)(struct load *l, enum err e); /* frees the object that it is part of */
};

struct store_reads {
    struct link waiting;          /* struct load: quiet ones that have not begun */
    unsigned blocking;            /* running ones that events wait for */
    unsigned count;               /* all running ones */
    struct known_positions *seen; /* while a load is done: the positions that it saw; or NULL */
    bool ahead; /* the same: it saw commits whose events are still queued on this loop */
};

void hub_load(struct hub *h, struct load *l); /* quiet */
/* The same, and not before the event of this number, which reaches every loop, was delivered. */
void hub_load_after(struct hub *h, struct load *l, uint64_t number);
void hub_load_now(struct hub *h, struct load *l); /* without waiting for events */

/* For the queue: whether the next quiet read may begin, all events before it being delivered; and
 * begins some. */
bool reads_are_due(const struct hub *h);
void reads_begin_due(struct hub *h);

#endif
