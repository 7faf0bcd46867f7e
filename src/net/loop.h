/* loop.h - threads that own sockets.
 *
 * A loop is one thread with an event loop (libuv). Whatever belongs to a loop is
 * touched by its thread alone; other threads reach it only through loop_post.
 * Things that take long never run here. */
#ifndef NET_LOOP_H
#define NET_LOOP_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "base/links.h"

struct loop;

/* Starts count threads; each calls on_turn_end (may be NULL) when it is about to
 * wait for the next events. */
struct loops *loops_start(unsigned count, void (*on_turn_end)(struct loop *, void *), void *arg);
/* Asks every loop to stop once its handles are closed, and waits. Servers,
 * fetchers and deadlines that live on them are freed before. */
void loops_stop(struct loops *ls);

unsigned loops_count(const struct loops *ls);
struct loop *loops_at(const struct loops *ls, unsigned i);

unsigned loop_index(const struct loop *l);
uv_loop_t *loop_uv(struct loop *l);
/* The loop whose thread this is, or NULL. */
struct loop *loop_current(void);

/* On a loop's thread: what follows is done for `name`, a literal. Elsewhere: nothing. The
 * longest parts are shown by /metrics. */
void loop_part(const char *name);

/* A message to a loop, embedded in what it is about; from any thread. Messages
 * of one thread arrive in order. Costs one wake-up for any number of waiting
 * messages; those that take more than 5 ms together take several turns. */
struct post {
    void (*run)(struct post *p);
    struct post *next;
};
void loop_post(struct loop *l, struct post *p);

/* Gives memory back on the pool: where it is much the kernel takes milliseconds to unmap it.
 * On the loop's thread only. */
enum { LOOP_DISPOSE_LEAST = 8 * 1024 * 1024 }; /* less stays with the process (mem_keep_freed) */
void loop_dispose(struct loop *l, void *what, void (*give_back)(void *what));
/* The same for what is in a buffer, if it is much; the buffer is empty and usable again. */
struct buf;
void loop_dispose_buf(struct loop *l, struct buf *b);

/* Something to do whenever the loop is about to wait, after on_turn_end: what
 * gathered during the turn leaves then. On the loop's thread only. */
struct turn_end {
    struct link link;
    void (*run)(struct turn_end *t);
};
void loop_add_turn_end(struct loop *l, struct turn_end *t);
void loop_drop_turn_end(struct turn_end *t);

/* Something to do on the loop's thread when it ends: handles that nobody else closes are closed
 * then. On the loop's thread only. */
struct loop_end {
    struct link link;
    void (*run)(struct loop_end *e);
};
void loop_add_end(struct loop *l, struct loop_end *e);
void loop_drop_end(struct loop_end *e);

/* Runs fn(arg) on the loop and waits for it; from another thread only. */
void loop_call(struct loop *l, void (*fn)(struct loop *, void *), void *arg);

/* --- deadlines ------------------------------------------------------------------------ */

/* Many things with the same patience: kept in order of their deadline, so that
 * touching one is moving it to the end of a list. Checked at most four times a
 * second (more often where they wait for less than that), by the real clock or, for interface
 * deadlines, by the clock tests can move. A loop that waits for nothing soon is not woken. */
struct deadline {
    struct link link;
    int64_t at; /* milliseconds */
};

struct deadlines;

/* expired is called on the loop; the deadline is out of the list by then. */
struct deadlines *deadlines_new(struct loop *l, int64_t patience_ms, bool movable_clock,
                                void (*expired)(struct deadline *d));
void deadlines_free(struct deadlines *ds);                     /* what still runs is dropped */
void deadline_touch(struct deadlines *ds, struct deadline *d); /* (re)starts it */
void deadline_drop(struct deadline *d);                        /* fine when not running */
/* On the loop's thread: looks at all deadlines now, for whoever has moved the clock. */
void loop_check_deadlines(struct loop *l);

#endif
