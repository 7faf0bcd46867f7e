/* batch.h - the events of one commit, shared by all loops that deliver them.
 *
 * One allocation holds the list of events and one parcel per loop, so that the publisher (usually
 * the writer thread) needs no allocation and no post per event and loop. The batch owns the events:
 * a loop needs no reference of its own until it has released its parcel. */
#ifndef GATEWAY_SESSIONS_BATCH_H
#define GATEWAY_SESSIONS_BATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "net/loop.h"

struct hub;
struct news;
struct news_batch;

/* A loop's handle on a batch: all of its events, of which `begun` were started on this loop. */
struct parcel {
    struct post post;
    struct hub *hub;
    struct parcel *next; /* in the hub's queue */
    int64_t due_ns;      /* delivery time, if delayed */
    struct news_batch *batch;
    size_t begun;
};

struct news_batch {
    unsigned loops;
    _Atomic unsigned unreleased; /* parcels that loops still use */
    size_t count;
    struct news **news; /* stored after the parcels */
    struct parcel parcels[];
};

/* For this many loops, with capacity for this many events. */
struct news_batch *news_batch_new(unsigned loops, size_t capacity);
/* Takes over the caller's reference. */
void news_batch_add(struct news_batch *b, struct news *n);
/* Frees a batch whose parcels were never posted. */
void news_batch_free(struct news_batch *b);

/* Returns the next event; there must be one. */
struct news *parcel_begin(struct parcel *p);
bool parcel_is_begun(const struct parcel *p); /* all events */
/* The number of the parcel's last event. */
uint64_t parcel_number(const struct parcel *p);
/* The loop no longer uses it; the last loop to release frees the batch. */
void parcel_release(struct parcel *p);

#endif
