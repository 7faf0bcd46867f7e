/* loop.h - PostgreSQL connection of an event loop, for loop_conn.c and loop_reads.c. */
#ifndef STORE_POSTGRES_LOOP_H
#define STORE_POSTGRES_LOOP_H

#include <uv.h>

#include "store/postgres/pipeline.h"

/* Maximum number of reads whose queries are sent in one round trip. */
enum { READS_PER_ROUND_TRIP = 16 };

enum postgres_loop_reader_state {
    READER_NOT_STARTED,
    READER_CLOSED,
    READER_OPENING,
    READER_OPEN,
    READER_ENDED
};

/* The next expected result of a queued statement. PostgreSQL sends the results in this order. */
enum expected_result_kind { RESULT_OF_PREPARE, END_OF_PREPARE, RESULT_OF_QUERY, END_OF_QUERY };

/* Reads whose queries have not been sent yet. */
struct unsent_loop_reads {
    struct work_item *waiting, **waiting_last;
    unsigned waiting_count;
};

struct postgres_loop_reader {
    struct postgres *pool;
    /* Event loop of the reader. Readable by all threads; only the loop uses the other members. NULL
     * before the first read, and after all libuv handles of the connection are closed. */
    _Atomic(struct loop *) loop;
    struct loop_stop_callback end;
    unsigned references; /* number of open libuv handles, plus one while a connect is pending */
    enum postgres_loop_reader_state state;
    struct postgres_conn conn;
    unsigned silences; /* value of the counter of timed-out connections when this connection was
                        * opened */
    int64_t again_at, wait_ms;
    uv_work_t opening;
    bool opened;
    uv_idle_t before_poll; /* callback before the loop polls */
    uv_timer_t timeout;
    uv_poll_t *socket;
    int events;

    struct unsent_loop_reads queue;
    struct work_item *reads[READS_PER_ROUND_TRIP]; /* reads whose queries were sent */
    unsigned count;
    unsigned rounds;
    bool running;
    bool synced;  /* whether a pipeline sync was sent, which will end the transaction */
    unsigned due; /* number of pipeline syncs that were sent and not answered yet */
    /* Numbers of results that have not arrived yet: of syncs sent before the DEALLOCATE, and of the
     * DEALLOCATE itself. */
    unsigned syncs_before_deallocate, deallocates_due;
    unsigned next; /* index of the queued statement whose result is expected next */
    enum expected_result_kind step;
    int64_t asked_at, received_at; /* times when queries were last sent, and when data was last
                                    * received (monotonic ns) */
    int64_t spent_at; /* CPU time of the thread, in ns, when the current reads began to run */
};

/* --- the connection, loop_conn.c ------------------------------------------------------- */

/* Initializes the reader; call it at the first read of the loop. */
void postgres_loop_reader_start(struct postgres_loop_reader *r, struct loop *loop);
/* Returns whether the connection is open. If it is not, starts to open it, unless the reconnect
 * delay has not ended. */
bool postgres_loop_reader_ensure_connected(struct postgres_loop_reader *r);
/* Sends the bytes that libpq has buffered. Returns false if the connection failed. */
bool postgres_loop_reader_flush(struct postgres_loop_reader *r);
/* Reads from the socket and processes the results. */
void postgres_loop_reader_on_socket_event(struct postgres_loop_reader *r, int status, int events);
/* Closes the connection, delays the next connect, and moves waiting reads to the worker threads. */
void postgres_loop_reader_disconnect(struct postgres_loop_reader *r);

/* --- reads, loop_reads.c --------------------------------------------------------------- */

/* Processes the results that have arrived. Returns false if the connection failed. */
bool postgres_loop_reader_process_results(struct postgres_loop_reader *r);
/* Runs the reads again if the results of all their queries have arrived. */
void postgres_loop_reader_rerun_complete_reads(struct postgres_loop_reader *r);
void postgres_loop_reader_move_reads_to_workers(struct postgres_loop_reader *r);

/* --- cached rows, row_cache.c ----------------------------------------------------------- */

/* Empties the cache of the connection, or creates it. */
void postgres_loop_reader_empty_cache(struct postgres_loop_reader *r);
/* Processes the notifications of tools, which have written rows. */
void postgres_loop_reader_read_notifications(struct postgres_loop_reader *r);
/* Call it when the database has answered the queries that were sent at r->asked_at. */
void postgres_loop_reader_extend_cache_lease(struct postgres_loop_reader *r);
/* Runs a read if all its rows are cached. Returns false if it needs others; then it must run
 * again. */
bool postgres_run_read_from_cache(struct postgres_loop_reader *r, struct work_item *w);

#endif
