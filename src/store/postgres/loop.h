/* loop.h - a loop's PostgreSQL connection and the reads on it: for loop_conn.c and loop_reads.c. */
#ifndef STORE_POSTGRES_LOOP_H
#define STORE_POSTGRES_LOOP_H

#include <uv.h>

#include "store/postgres/pipeline.h"

enum { MOST_READS = 16 }; /* reads whose queries are sent in one round trip */

enum reader_state { READER_NEW, READER_CLOSED, READER_OPENING, READER_OPEN, READER_ENDED };

/* The next expected result of a queued statement. */
enum answer_step { PREPARED, PREPARED_END, ANSWERED, ANSWERED_END };

/* Reads that have not been sent yet. */
struct reader_queue {
    struct work *waiting, **waiting_last;
    unsigned waiting_count;
};

struct postgres_reader {
    struct postgres *pool;
    /* Readable by all threads; the other members belong to the loop. NULL: no read yet, or all
     * handles are closed. */
    _Atomic(struct loop *) loop;
    struct loop_end end;
    unsigned holds; /* references: handles of the loop, and a pending connect */
    enum reader_state state;
    struct postgres_conn conn;
    unsigned silences; /* value of pool->silences when the connection was opened */
    int64_t again_at, wait_ms;
    uv_work_t opening;
    bool opened;
    uv_idle_t soon; /* callback before the loop polls */
    uv_timer_t look;
    uv_poll_t *socket;
    int events;

    struct reader_queue queue;
    struct work *reads[MOST_READS]; /* reads whose queries were sent */
    unsigned count;
    unsigned rounds;
    bool running;
    bool synced;                   /* a sync was sent, which ends the transaction */
    unsigned due;                  /* syncs without an answer */
    unsigned room_after, room_due; /* syncs before DEALLOCATE, and results of DEALLOCATE, that are
                                    * still due */
    unsigned next;                 /* index of the queued statement whose result is expected next */
    enum answer_step step;
    int64_t asked_at, heard_at; /* when queries were sent, and when data was last received */
    int64_t spent_at;           /* CPU time of the thread when the current runs began */
    struct prefetcher prefetcher;
};

/* --- the connection, loop_conn.c ------------------------------------------------------- */

/* Call it at the first read of the loop. */
void reader_begin(struct postgres_reader *r, struct loop *loop);
/* Returns whether the connection is open; starts to open it if it is time. */
bool reader_reach(struct postgres_reader *r);
/* Sends buffered bytes. False: the connection failed. */
bool reader_flush(struct postgres_reader *r);
/* Reads from the socket and processes the results. */
void reader_hear(struct postgres_reader *r, int status, int events);
/* Closes the connection, delays the next connect, and moves waiting reads to the workers. */
void reader_hang_up(struct postgres_reader *r);

/* --- reads, loop_reads.c --------------------------------------------------------------- */

/* Processes the results that have arrived. False: the connection failed. */
bool reader_take_answers(struct postgres_reader *r);
/* Runs the reads again if all results have arrived. */
void reader_answered(struct postgres_reader *r);
/* Moves all reads of the loop to the workers. */
void reader_pass_on_all(struct postgres_reader *r);

#endif
