/* line.h - frames of all servers, handed on in the order of their positions.
 *
 * A frame is offered as soon as somebody has it: by the thread that committed it, or by the
 * one that reads the log. It is told when every position before it was told or is known to
 * be void. What is offered twice is told once. */
#ifndef CLUSTER_LINE_H
#define CLUSTER_LINE_H

#include "cluster/frames.h"

struct log_line;

/* Told under the line's lock, so one after the other; by whichever thread offered last. */
struct line_sink {
    void *arg;
    void (*tell)(void *arg, int64_t position, const struct frame *f);
};

struct log_line *line_new(const struct line_sink *sink, int64_t next);
void line_free(struct log_line *l); /* accepts NULL */

/* bytes.n == 0: void. frame: the same, when it is at hand; or NULL. The bytes are copied
 * where they have to wait. What is too far ahead is left to a later offer. */
void line_offer(struct log_line *l, int64_t position, struct str bytes, const struct frame *frame);
/* A frame that came through NATS. If it cannot be read, its position is missing until the frame is
 * offered from the log. */
void line_offer_published(struct log_line *l, int64_t position, struct str bytes);
/* What is missing up to there, and there, is void; how many those were. */
uint64_t line_void(struct log_line *l, int64_t last);

/* A frame that was told, by a hash of its bytes. */
struct line_told {
    int64_t position;
    uint64_t hash;
};
enum { LINE_REMEMBERED = 64 };
/* From now on the last ones are remembered: before the first. */
void line_remember(struct log_line *l);
/* These, in their order; how many they are. */
size_t line_told(struct log_line *l, struct line_told out[LINE_REMEMBERED]);

/* Frames of the log that could not be read: they are passed over, but not silently (see
 * cluster_ready). */
uint64_t line_unreadable(const struct log_line *l);
/* The position that is to be told next. */
int64_t line_next(struct log_line *l);
/* The greatest that was offered; below next: nothing waits. */
int64_t line_head(struct log_line *l);

#endif
