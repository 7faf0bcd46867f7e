/* frame_sequencer.h - delivers the log entries of all nodes in the order of their positions.
 *
 * Each thread that has a log entry offers it: the thread that committed it, the NATS thread, and
 * the thread that reads the log. An entry is delivered when every earlier position was delivered
 * or is known to be aborted. Duplicates are ignored. */
#ifndef CLUSTER_FRAME_SEQUENCER_H
#define CLUSTER_FRAME_SEQUENCER_H

#include "cluster/frames.h"

struct frame_sequencer;

/* Receives the log entries in order, one call at a time, with the lock held, on the thread that
 * made the last offer. */
struct frame_sink {
    void *arg;
    void (*deliver)(void *arg, int64_t position, const struct frame *f);
};

struct frame_sequencer *frame_sequencer_new(const struct frame_sink *sink, int64_t next);
void frame_sequencer_free(struct frame_sequencer *l); /* accepts NULL */

/* Offers a log entry. If bytes.n is 0, the position was aborted. frame contains the decoded bytes,
 * or is NULL. Bytes that must wait are copied. A position too far ahead is ignored and must be
 * offered again. */
void frame_sequencer_offer(struct frame_sequencer *l, int64_t position, struct str bytes,
                           const struct frame *frame);
/* Offers a log entry from NATS. If it cannot be decoded, its position counts as missing until the
 * thread that reads the log offers it. */
void frame_sequencer_offer_published(struct frame_sequencer *l, int64_t position, struct str bytes);
/* Treats all missing positions up to `last` as aborted. Returns their number. */
uint64_t frame_sequencer_abort_missing(struct frame_sequencer *l, int64_t last);

/* Position of a delivered log entry and a hash of its bytes. */
struct delivered_frame {
    int64_t position;
    uint64_t hash;
};
enum { DELIVERED_FRAMES_RECORDED = 64 };
/* Enables the recording of delivered log entries; call it before the first offer. */
void frame_sequencer_record_delivered(struct frame_sequencer *l);
/* Returns the last delivered log entries, in order, and their number. */
size_t frame_sequencer_delivered(struct frame_sequencer *l,
                                 struct delivered_frame out[DELIVERED_FRAMES_RECORDED]);

/* Returns the number of log entries that could not be decoded and were skipped (see
 * cluster_is_ready). */
uint64_t frame_sequencer_unreadable_count(const struct frame_sequencer *l);
/* Returns the position that will be delivered next. */
int64_t frame_sequencer_next_position(struct frame_sequencer *l);
/* Returns the greatest position offered. If it is below frame_sequencer_next_position, no log entry
 * is waiting. */
int64_t frame_sequencer_greatest_position(struct frame_sequencer *l);

#endif
