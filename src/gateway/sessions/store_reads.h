/* store_reads.h - store transactions of a loop, ordered with its events.
 *
 * A session is set up from a snapshot of the store and then receives every later event. So events
 * wait in the queue while such an ordered read runs, and the read begins when the queue is empty.
 * If the queue does not become empty, the read begins after the events that were queued before it.
 * The session may then get events whose changes its snapshot already includes. */
#ifndef GATEWAY_SESSIONS_STORE_READS_H
#define GATEWAY_SESSIONS_STORE_READS_H

#include "base/links.h"
#include "json/schema.h"
#include "store/store.h"

struct gateway_loop;
struct snapshot_positions;

/* A store transaction with its callbacks. */
struct session_store_read {
    struct work_item work;
    struct list_link link;
    struct gateway_loop *gateway_loop;
    struct arena *arena;
    bool blocks_events; /* ordered read: no events are delivered while the transaction runs */
    bool writes;        /* the transaction writes */
    bool own_rows; /* the write runs as STORE_APPEND, because no other write depends on its rows */
    bool in_background; /* the read may take long, so it runs on a background thread of the store */
    /* Account id, for round-robin scheduling of background reads; 0 if no account is known. */
    uint64_t owner;
    uint64_t after; /* number of an event: the read begins after this event was delivered */
    uint64_t since; /* number of the last event that was published before the transaction began */
    /* Log position of the last event that was delivered before the transaction began. */
    int64_t delivered_position;
    /* Log position up to which events were delivered when the read began; for
     * TEST_FAULT_CHECK_VIEWS. */
    int64_t passed;
    /* Log positions (int64_t) after delivered_position whose commits the read saw. */
    struct list seen;
    enum err (*run)(struct session_store_read *l, struct tx *tx);
    void (*committed)(
        struct session_store_read *l); /* called after the write, on a store thread; or NULL */
    void (*done)(struct session_store_read *l, enum err e); /* frees the containing struct */
};

struct session_store_reads {
    struct list_link
        waiting;       /* ordered reads that have not begun; items: struct session_store_read */
    unsigned blocking; /* number of running reads during which no events are delivered */
    unsigned count;    /* number of all running reads */
    struct snapshot_positions
        *seen;  /* Log positions in `seen` of the current read while done() runs, otherwise NULL. */
    bool ahead; /* while done() runs: the read has seen commits whose events are still queued */
};

void begin_ordered_session_store_read(struct gateway_loop *h,
                                      struct session_store_read *l); /* starts an ordered read */
/* Starts an ordered read after the event with this number was delivered on this loop. Every loop
 * gets every event number. */
void begin_session_store_read_after_event(struct gateway_loop *h, struct session_store_read *l,
                                          uint64_t number);
void begin_unordered_session_store_read(
    struct gateway_loop *h,
    struct session_store_read *l); /* starts a read during which events are delivered */

/* Called by the event queue. next_ordered_session_store_read_is_due returns whether the next
 * ordered read may begin, because all events before it were delivered.
 * begin_due_ordered_session_store_reads starts some of these reads. */
bool next_ordered_session_store_read_is_due(const struct gateway_loop *h);
void begin_due_ordered_session_store_reads(struct gateway_loop *h);

#endif
