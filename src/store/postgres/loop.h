/* loop.h - a loop's own connection to PostgreSQL and the reads that are asked on it: for
 * the two files that see to them. */
#ifndef STORE_POSTGRES_LOOP_H
#define STORE_POSTGRES_LOOP_H

#include <uv.h>

#include "store/postgres/pipeline.h"

enum { MOST_READS = 16 }; /* that are asked together */

enum reader_state { READER_NEW, READER_CLOSED, READER_OPENING, READER_OPEN, READER_ENDED };

/* Of the answers to an errand. */
enum answer_step { PREPARED, PREPARED_END, ANSWERED, ANSWERED_END };

/* Reads that have not been sent yet. */
struct reader_queue {
    struct work *waiting, **waiting_last;
    unsigned waiting_count;
};

struct postgres_reader {
    struct postgres *pool;
    /* For all threads; the rest is the loop's. NULL: nothing was read there yet, or nothing of the
     * loop is left here. */
    _Atomic(struct loop *) loop;
    struct loop_end end;
    unsigned holds; /* handles of the loop, and a connection that is being opened */
    enum reader_state state;
    struct postgres_conn conn;
    unsigned silences; /* of the pool, when it connected */
    int64_t again_at, wait_ms;
    uv_work_t opening;
    bool opened;
    uv_idle_t soon; /* runs before the loop waits again */
    uv_timer_t look;
    uv_poll_t *socket;
    int events;

    struct reader_queue queue;
    struct work *reads[MOST_READS]; /* that have asked, and are not answered yet */
    unsigned count;
    unsigned rounds;
    bool running;
    bool synced;                   /* the transaction ends with what was sent last */
    unsigned due;                  /* syncs that were not answered */
    unsigned room_after, room_due; /* so many of them before the answers to reader_make_room */
    unsigned next;                 /* errand that is answered next … */
    enum answer_step step;
    int64_t asked_at, heard_at; /* heard_at: of the last sign of life since */
    int64_t spent_at;           /* processor time of the loop, when these runs began */
    struct prefetcher prefetcher;
};

/* --- the connection, postgres_loop_conn.c ---------------------------------------------- */

/* At the first read of its loop. */
void reader_begin(struct postgres_reader *r, struct loop *loop);
/* Whether it is open; is begun to be opened, if that may be. */
bool reader_reach(struct postgres_reader *r);
/* Sends what was written. False: it is of no more use. */
bool reader_flush(struct postgres_reader *r);
/* Takes what has come, and goes on with it. */
void reader_hear(struct postgres_reader *r, int status, int events);
/* Gives it up, for a while; what waits for it is the workers'. */
void reader_hang_up(struct postgres_reader *r);

/* --- reads on it, postgres_loop_reads.c ------------------------------------------------ */

/* Takes the answers that are here. False: the connection is of no more use. */
bool reader_take_answers(struct postgres_reader *r);
/* Runs those that have what they asked for. */
void reader_answered(struct postgres_reader *r);
/* All that it has, to the workers. */
void reader_pass_on_all(struct postgres_reader *r);

#endif
