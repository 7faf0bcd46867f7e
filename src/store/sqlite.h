/* sqlite.h - what the files of the SQLite engine share. */
#ifndef STORE_SQLITE_H
#define STORE_SQLITE_H

#include <pthread.h>
#include <sqlite3.h>

#include "base/hold.h"
#include "base/map.h"
#include "store/internal.h"

/* --- one connection, sqlite_conn.c: used by one thread at a time ---------------------- */

/* Only somebody else's program on the same file can keep us waiting. */
enum { SQLITE_BUSY_MS = 5000 };

/* Threads for long reads, of which the last takes those that have had their share (lanes.c). More
 * would take processors from the loops, fewer would let one slow search hold up all others. */
enum { SQLITE_ASIDES = 2 };

/* What a read may take of the turn of a loop, or of a thread aside. Nobody knows beforehand how
 * many rows it has to look at, so it is measured: one that takes more is broken off and begins
 * anew aside, or among the long ones there. */
struct sqlite_share {
    int64_t most_ns;  /* of a turn; 0: nothing is measured */
    bool is_loops;    /* the connection is a loop's, and there are threads aside */
    bool counts;      /* a read runs that may go aside */
    bool by_row;      /* … and each of its rows is looked at */
    bool is_spent;    /* it was broken off */
    int64_t began_ns; /* 0: it has not taken long enough to be measured */
    int64_t taken_ns; /* by all that were measured in this turn */
};

struct sqlite_conn {
    sqlite3 *db;
    struct map statements; /* by the address of the SQL */
    uint64_t number;       /* no two have the same */
    /* Readers: a snapshot is open, as of this many commits. */
    bool in_snapshot;
    uint64_t seen;
    struct sqlite_share share; /* of a loop's turn */
};

/* Opens the file, which is made when missing; logs. */
enum err sqlite_conn_open(const char *path, struct sqlite_conn **ret);
void sqlite_conn_close(struct sqlite_conn *c);
/* What it writes goes to the disk a little at a time (sqlite_paced.c). */
void sqlite_conn_pace(struct sqlite_conn *c);
/* From now on without pauses, or with them again: somebody waits for the end. */
void sqlite_pace_hurry(bool hurry);

/* A statement of ours without parameters: begin, commit, savepoint … Returns an
 * SQLite code, logged when bad. */
int sqlite_conn_do(struct sqlite_conn *c, const char *sql);

/* What an SQLite code means to a caller; logs those that an operator or a
 * developer should know of. */
enum err sqlite_error(struct sqlite_conn *c, int code, const char *sql);

/* The connection belongs to a loop, or to a thread aside: its reads between begin and end have a
 * share of a turn. by_row: the clock is looked at for each row, not only within long statements.
 * True at the end: it was more than that, and what was read is of no use. */
void sqlite_share_watch(struct sqlite_conn *c);
void sqlite_share_watch_aside(struct sqlite_conn *c);
void sqlite_share_begin(struct sqlite_conn *c, bool by_row);
bool sqlite_share_end(struct sqlite_conn *c);
/* The read that runs gives its share up. False: it has none. */
bool sqlite_go_aside(struct tx *tx);

enum err sqlite_query(struct tx *tx, const char *sql, const struct value *values, size_t count,
                      struct rows *ret);
bool sqlite_next(struct rows *r);
enum err sqlite_end(struct rows *r);
uint64_t sqlite_version(struct tx *tx);
enum err sqlite_script(struct tx *tx, const char *sql);

/* --- rows that were changed, sqlite_touched.c ----------------------------------------- */

enum { TOUCHED_BITS = 16, TOUCHED_AT_ONCE = 2048 };

struct sqlite_touched {
    _Atomic uint64_t last[1 << TOUCHED_BITS]; /* by slot: the number of a commit */
    _Atomic uint64_t all;                     /* of one that changed too many to note */
    /* The writer's: slots of what its transaction has changed. */
    uint16_t noted[TOUCHED_AT_ONCE];
    unsigned count;
    bool too_many;
};

/* --- the engine, sqlite.c ------------------------------------------------------------- */

struct sqlite {
    struct store store;
    char *path;

    struct sqlite_conn **readers; /* by loop_index; opened by that loop */
    unsigned reader_count;
    pthread_mutex_t tool_lock; /* reads that come from no loop take turns */
    struct sqlite_conn *tool;
    struct lanes aside; /* reads that may take long */
    struct sqlite_aside {
        struct sqlite *engine;
        struct sqlite_conn *conn; /* opened at its first read */
        bool takes_long;
        pthread_t thread;
        bool has_thread;
    } asides[SQLITE_ASIDES];

    struct sqlite_conn *writer; /* the writer thread's, as is all below */
    pthread_t thread;
    bool has_thread;
    struct queue queue;
    struct hold_meter meter;
    bool has_no_syncs;
    struct sqlite_touched touched;
    struct sqlite_log {
        uint64_t number; /* of the logs since the start: it is started afresh now and then */
        int pages;       /* in it after the last commit */
        int copied;      /* of them, known to be in the database */
        int tried;       /* so many there were when it was last to be copied */
        int waited;      /* the same, when it was to be emptied */
        int passes;      /* of the thread that copied some, since the writer copied itself */
    } log;

    /* Shared by the writer and the thread that copies. */
    struct sqlite_copier {
        pthread_mutex_t lock;
        pthread_cond_t changed;
        bool is_asked, must_stop, has_news;
        uint64_t number;          /* of the log it was asked to copy */
        int copied;               /* of it */
        struct sqlite_conn *conn; /* its own; opened when first needed */
        pthread_t thread;
        bool has_thread;
    } copier;
};

/* The writer's connection notes rows from now on. */
enum err sqlite_touched_begin(struct sqlite *q);
/* Before the commit of this number. */
void sqlite_touched_commit(struct sqlite *q, uint64_t number);
void sqlite_touch(struct tx *tx, enum noted_rows rows, uint64_t id);
bool sqlite_seen(struct tx *tx, struct tx_seen *ret);
bool sqlite_row_changed(struct tx *tx, const struct tx_seen *since, enum noted_rows rows,
                        uint64_t id);

/* A connection that only reads. */
enum err sqlite_reader_open(const char *path, struct sqlite_conn **ret);
/* Reads with a snapshot of its own that is given up afterwards. */
enum err sqlite_read_once(struct store *s, struct work *w, struct sqlite_conn **conn);

/* --- long reads, sqlite_aside.c ------------------------------------------------------- */

void sqlite_asides_start(struct sqlite *q);
/* Finishes what is waiting. */
void sqlite_asides_stop(struct sqlite *q);

/* --- the writer, sqlite_writer.c ------------------------------------------------------ */

void sqlite_writer_start(struct sqlite *q);
/* Finishes what is waiting. */
void sqlite_writer_stop(struct sqlite *q);
/* One work in a transaction of its own, on the writer's connection. */
enum err sqlite_run_alone(struct store *s, struct work *w);

/* --- the write-ahead log, sqlite_log.c: for the writer's thread ----------------------- */

void sqlite_log_start(struct sqlite *q);
void sqlite_log_stop(struct sqlite *q);
/* After each batch. */
void sqlite_log_tend(struct sqlite *q);
/* When the disk was full: room in the log is the room there is. */
void sqlite_log_make_room(struct sqlite *q);
/* Whether the log is to be copied as soon as nothing else is to do, and that moment. */
bool sqlite_log_wants_rest(const struct sqlite *q);
void sqlite_log_rest(struct sqlite *q);

/* --- tools, sqlite_tools.c ------------------------------------------------------------ */

enum err sqlite_backup(struct store *s, rows_place_fn *place, void *arg);
enum err sqlite_check(struct store *s);

/* --- a copy within another file, sqlite_into.c ---------------------------------------- */

struct sqlite_into;

/* An empty database at this place of the file; close both, the database first. Logs. */
enum err sqlite_into_open(int fd, int64_t base, struct sqlite_into **ret, sqlite3 **ret_db);
/* Bytes that were written. */
int64_t sqlite_into_size(const struct sqlite_into *i);
/* Accepts NULL. */
void sqlite_into_close(struct sqlite_into *i);

#endif
