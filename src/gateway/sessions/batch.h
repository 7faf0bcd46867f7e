/* batch.h - the events of one commit, shared by all loops that deliver them.
 *
 * One allocation has the list of events and one parcel per loop, so that the publisher (usually
 * the writer thread) needs no allocation and no post per event and loop. The batch owns the
 * events until the last loop has released its parcel. */
#ifndef GATEWAY_SESSIONS_BATCH_H
#define GATEWAY_SESSIONS_BATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "net/loop.h"

struct hub;
struct news;
struct news_batch;

/* The position of one loop in a batch: `begun` of its events were started on this loop. */
struct parcel {
    struct post post;
    struct hub *hub;
    struct parcel *next; /* next parcel in the loop's event queue */
    int64_t due_ns;      /* delivery time in ns, if events are delayed */
    struct news_batch *batch;
    size_t begun;
};

struct news_batch {
    unsigned loops;
    _Atomic unsigned unreleased; /* parcels that loops have not released */
    size_t count;
    struct news **news; /* the array is stored after the parcels */
    struct parcel parcels[];
};

/* Creates a batch for this many loops, with capacity for this many events. */
struct news_batch *news_batch_new(unsigned loops, size_t capacity);
/* Appends an event and takes over the caller's reference. */
void news_batch_add(struct news_batch *b, struct news *n);
/* Frees a batch whose parcels were never posted. */
void news_batch_free(struct news_batch *b);

/* Returns the next event of the parcel; there must be one. */
struct news *parcel_begin(struct parcel *p);
bool parcel_is_begun(const struct parcel *p); /* all events of the parcel were started */
/* Returns the number of the parcel's last event. */
uint64_t parcel_number(const struct parcel *p);
/* Releases a loop's parcel; the last release frees the batch. */
void parcel_release(struct parcel *p);

#endif
