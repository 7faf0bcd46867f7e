/* loop.h - event loops: threads that own sockets, messages between them, and timeouts.
 *
 * A loop is one thread with a libuv event loop. Only its thread may use the objects that belong to
 * it; other threads use loop_post_message. Long work never runs on a loop.
 *
 * src/net owns loops (this file), TLS (tls.h), client addresses (address.h, proxies.h,
 * local_requests.h), the HTTP server (http/), WebSocket frames (websocket/) and outgoing requests
 * and mail (client/). It uses only base/. Start here, then read http/server.h. */
#ifndef NET_LOOP_H
#define NET_LOOP_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "base/links.h"

struct loop;

/* Starts `count` threads. Each calls iteration_end_callback (may be NULL) at the end of a loop
 * iteration, before it waits for events. */
struct loops *loops_start(unsigned count, void (*iteration_end_callback)(struct loop *, void *),
                          void *arg);
/* Stops every loop when its libuv handles are closed, and waits for the threads to end. Before this
 * call, free the servers, fetchers and deadlines of the loops. */
void loops_stop(struct loops *ls);

unsigned loops_get_count(const struct loops *ls);
struct loop *loops_get_loop_at(const struct loops *ls, unsigned i);

unsigned loop_get_index(const struct loop *l);
uv_loop_t *loop_get_uv_loop(struct loop *l);
struct loop *loop_get_current(void);

/* From now on, counts the loop's time as time of the activity `name` (a string literal), for
 * /metrics. Has no effect on other threads. */
void loop_set_measured_activity(const char *name);

/* A message to a loop, embedded in the object that it concerns. Any thread may send messages; the
 * messages of one thread arrive in order. Any number of pending messages needs one wake-up. A loop
 * iteration runs messages for at most 5 ms; the rest runs in later iterations. */
struct loop_message {
    void (*run)(struct loop_message *p);
    struct loop_message *next;
};
void loop_post_message(struct loop *l, struct loop_message *p);

/* loop_free_block_on_thread_pool frees memory on the thread pool, because the kernel needs
 * milliseconds to unmap a large block. Call it on the loop's thread. */
enum { LOOP_POOL_FREE_MIN_BYTES = 8 * 1024 * 1024 }; /* smaller blocks are freed on the loop */
void loop_free_block_on_thread_pool(struct loop *l, void *what, void (*give_back)(void *what));
/* Frees a buffer's memory; if the memory is large, on the thread pool. The buffer is then empty and
 * can be used again. */
struct buf;
void loop_free_buf_on_thread_pool(struct loop *l, struct buf *b);

/* A callback at the end of every loop iteration; runs after iteration_end_callback of loops_start.
 * Add and remove it on the loop's thread. */
struct loop_iteration_callback {
    struct list_link link;
    void (*run)(struct loop_iteration_callback *t);
};
void loop_add_iteration_callback(struct loop *l, struct loop_iteration_callback *t);
void loop_remove_iteration_callback(struct loop_iteration_callback *t);

/* A callback that runs when the loop stops. It closes libuv handles that no other object closes.
 * Add and remove it on the loop's thread. */
struct loop_stop_callback {
    struct list_link link;
    void (*run)(struct loop_stop_callback *e);
};
void loop_add_stop_callback(struct loop *l, struct loop_stop_callback *e);
void loop_remove_stop_callback(struct loop_stop_callback *e);

/* Runs fn(arg) on the loop and waits until it returns. Must not be called on a loop. */
void loop_run_function_and_wait(struct loop *l, void (*fn)(struct loop *, void *), void *arg);

/* --- timeouts ------------------------------------------------------------------------- */

/* A timeout. All timeouts of a list have the same duration, so a restarted timeout moves to the end
 * of the list. Timeouts are checked at most every 250 ms (more often for shorter durations),
 * against the loop's clock or, if movable_clock, against the clock that tests can move. */
struct deadline {
    struct list_link link;
    int64_t at; /* time of expiry, in ms */
};

struct deadline_list;

/* Creates a list of deadlines. `expired` is called on the loop, after the deadline was removed from
 * the list. */
struct deadline_list *deadline_list_new(struct loop *l, int64_t duration_ms, bool movable_clock,
                                        void (*expired)(struct deadline *d));
void deadline_list_free(struct deadline_list *ds); /* does not call expired */
void deadline_restart(struct deadline_list *ds,
                      struct deadline *d); /* starts or restarts a deadline */
void deadline_cancel(struct deadline *d);  /* stops the timeout; does nothing if d is not running */
/* Checks all deadlines of the loop at once; call it after a test has moved the clock, on the loop's
 * thread. */
void loop_expire_due_deadlines(struct loop *l);

#endif
