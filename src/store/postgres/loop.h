/* loop.h - a loop's PostgreSQL connection and the reads on it: for loop_conn.c and loop_reads.c. */
#ifndef STORE_POSTGRES_LOOP_H
#define STORE_POSTGRES_LOOP_H

#include <uv.h>

#include "store/postgres/pipeline.h"

enum { MOST_READS = 16 }; /* reads that are sent together */

enum reader_state { READER_NEW, READER_CLOSED, READER_OPENING, READER_OPEN, READER_ENDED };

/* Which answer to a queued statement comes next. */
enum answer_step { PREPARED, PREPARED_END, ANSWERED, ANSWERED_END };

/* Reads that have not been sent yet. */
struct reader_queue {
    struct work *waiting, **waiting_last;
    unsigned waiting_count;
};

struct postgres_reader {
    struct postgres *pool;
    /* Readable by all threads; the rest is the loop's. NULL: no read yet, or all handles closed. */
    _Atomic(struct loop *) loop;
    struct loop_end end;
    unsigned holds; /* references: handles of the loop, and a pending connect */
    enum reader_state state;
    struct postgres_conn conn;
    unsigned silences; /* pool->silences at connect */
    int64_t again_at, wait_ms;
    uv_work_t opening;
    bool opened;
    uv_idle_t soon; /* runs before the loop polls */
    uv_timer_t look;
    uv_poll_t *socket;
    int events;

    struct reader_queue queue;
    struct work *reads[MOST_READS]; /* sent, not answered yet */
    unsigned count;
    unsigned rounds;
    bool running;
    bool synced;                   /* a sync was sent: the transaction ends with it */
    unsigned due;                  /* syncs without an answer */
    unsigned room_after, room_due; /* syncs before, and missing answers to, DEALLOCATE */
    unsigned next;                 /* queued statement that is answered next */
    enum answer_step step;
    int64_t asked_at, heard_at; /* heard_at: last data received since */
    int64_t spent_at;           /* CPU time of the thread when these runs began */
    struct prefetcher prefetcher;
};

/* --- the connection, loop_conn.c ------------------------------------------------------- */

/* Call it at the first read of the loop. */
void reader_begin(struct postgres_reader *r, struct loop *loop);
/* Returns whether the connection is open; starts to open it, if allowed. */
bool reader_reach(struct postgres_reader *r);
/* Sends buffered bytes. False: the connection failed. */
bool reader_flush(struct postgres_reader *r);
/* Reads from the socket and processes the answers. */
void reader_hear(struct postgres_reader *r, int status, int events);
/* Closes the connection and delays the next connect; waiting reads go to the workers. */
void reader_hang_up(struct postgres_reader *r);

/* --- reads, loop_reads.c --------------------------------------------------------------- */

/* Processes the answers that have arrived. False: the connection failed. */
bool reader_take_answers(struct postgres_reader *r);
/* Runs the reads again if all answers have arrived. */
void reader_answered(struct postgres_reader *r);
/* Hands all reads to the workers. */
void reader_pass_on_all(struct postgres_reader *r);

#endif
