/* line.h - delivers the frames of all nodes in the order of their positions.
 *
 * Each thread that has a frame offers it: the thread that committed it, the NATS thread, and the
 * thread that reads the log. A frame is delivered when every earlier position was delivered or
 * is known to be aborted. Duplicates are ignored. */
#ifndef CLUSTER_LINE_H
#define CLUSTER_LINE_H

#include "cluster/frames.h"

struct log_line;

/* Receives the frames, with the lock held, one call at a time, on the thread that made the last
 * offer. */
struct line_sink {
    void *arg;
    void (*tell)(void *arg, int64_t position, const struct frame *f);
};

struct log_line *line_new(const struct line_sink *sink, int64_t next);
void line_free(struct log_line *l); /* accepts NULL */

/* Offers a frame. bytes.n == 0: the position was aborted. frame: the decoded bytes, if
 * available; or NULL. Bytes that must wait are copied. A position too far ahead is ignored; it
 * must be offered again. */
void line_offer(struct log_line *l, int64_t position, struct str bytes, const struct frame *frame);
/* Offers a frame from NATS. If it cannot be decoded, the position is missing until the log
 * offers it. */
void line_offer_published(struct log_line *l, int64_t position, struct str bytes);
/* Treats all missing positions up to `last` as aborted. Returns their number. */
uint64_t line_void(struct log_line *l, int64_t last);

/* A delivered frame: its position and a hash of its bytes. */
struct line_told {
    int64_t position;
    uint64_t hash;
};
enum { LINE_REMEMBERED = 64 };
/* Enables the recording of delivered frames; call it before the first offer. */
void line_remember(struct log_line *l);
/* Returns the last delivered frames, in order, and their number. */
size_t line_told(struct log_line *l, struct line_told out[LINE_REMEMBERED]);

/* Returns the number of frames of the log that could not be decoded and were skipped (see
 * cluster_ready). */
uint64_t line_unreadable(const struct log_line *l);
/* Returns the position that is delivered next. */
int64_t line_next(struct log_line *l);
/* Returns the greatest position offered; if it is below line_next, no frame waits. */
int64_t line_head(struct log_line *l);

#endif
