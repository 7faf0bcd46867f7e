/* batch.h - the events of one commit, on their way to the loops.
 *
 * One block holds the parcels of all loops and the list of the events, so that an event costs
 * its publisher, who is the writer more often than not, neither an allocation nor a post for
 * each loop. The events are the batch's: a loop needs no reference of its own as long as it has
 * not released its parcel. */
#ifndef GATEWAY_SESSIONS_BATCH_H
#define GATEWAY_SESSIONS_BATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "net/loop.h"

struct hub;
struct news;
struct news_batch;

/* A loop's share of a batch: all of its events, of which so many were begun there. */
struct parcel {
    struct post post;
    struct hub *hub;
    struct parcel *next; /* in the hub's line */
    int64_t due_ns;      /* of one that is delayed */
    struct news_batch *batch;
    size_t begun;
};

struct news_batch {
    unsigned loops;
    _Atomic unsigned unreleased; /* of their parcels */
    size_t count;
    struct news **news; /* behind the parcels */
    struct parcel parcels[];
};

/* For so many loops, with room for so many events. */
struct news_batch *news_batch_new(unsigned loops, size_t capacity);
/* Takes the reference. */
void news_batch_add(struct news_batch *b, struct news *n);
/* Frees one whose parcels were never sent. */
void news_batch_free(struct news_batch *b);

/* The event that is begun next, which there must be. */
struct news *parcel_begin(struct parcel *p);
bool parcel_is_begun(const struct parcel *p); /* all of it */
/* The number of its last event. */
uint64_t parcel_number(const struct parcel *p);
/* The loop is done with it; whoever is the last to say so frees the batch. */
void parcel_release(struct parcel *p);

#endif
