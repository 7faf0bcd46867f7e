/* store_reads.h - store transactions of a loop, ordered with its events.
 *
 * A session is set up from a snapshot of the store and receives every later event. So events
 * wait in the queue while such a "quiet" read runs, and the read begins when the queue is empty.
 * If the queue does not become empty, the read begins after the events that were queued before
 * it; the session then gets some events that its snapshot already includes. */
#ifndef GATEWAY_SESSIONS_STORE_READS_H
#define GATEWAY_SESSIONS_STORE_READS_H

#include "base/links.h"
#include "json/schema.h"
#include "store/store.h"

struct hub;
struct known_positions;

/* A store transaction with its callbacks. */
struct load {
    struct work work;
    struct link link;
    struct hub *hub;
    struct arena *arena;
    bool quiet;       /* events wait while the transaction runs */
    bool writes;      /* a write transaction */
    bool own_rows;    /* a write that no other write depends on: STORE_APPEND */
    bool aside;       /* a read in the background, which may take long */
    uint64_t owner;   /* for round-robin scheduling of background reads; 0: none */
    uint64_t after;   /* begins after the event with this number */
    uint64_t since;   /* number of the last event published before the transaction began */
    int64_t told;     /* log position of the last event delivered before the transaction began */
    int64_t passed;   /* log position that all events had passed then; for PLANTED_WATCH_VIEWS */
    struct list seen; /* log positions (int64_t) after `told` that a quiet read saw */
    enum err (*run)(struct load *l, struct tx *tx);
    void (*committed)(struct load *l);        /* called after a write, on a store thread; or NULL */
    void (*done)(struct load *l, enum err e); /* frees the containing object */
};

struct store_reads {
    struct link waiting;          /* items: struct load; quiet reads that have not begun */
    unsigned blocking;            /* number of running reads that events wait for */
    unsigned count;               /* number of all running reads */
    struct known_positions *seen; /* while done() runs: log positions that the read saw; or NULL */
    bool ahead; /* while done() runs: the read saw commits whose events are still queued */
};

void hub_load(struct hub *h, struct load *l); /* starts a quiet read */
/* Starts a quiet read after the event with this number was delivered; every loop gets that
 * event. */
void hub_load_after(struct hub *h, struct load *l, uint64_t number);
void hub_load_now(struct hub *h, struct load *l); /* starts a read that does not wait for events */

/* Used by the event queue. reads_are_due: whether the next quiet read may begin, because all
 * events before it are delivered. reads_begin_due starts up to LOADS_AT_ONCE of them. */
bool reads_are_due(const struct hub *h);
void reads_begin_due(struct hub *h);

#endif
