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
    struct map statements;          /* by the address of the SQL */
    struct map dependencies;        /* the same; kept as long as the connection */
    struct sqlite_finding *finding; /* collects the columns of a statement that is prepared */
    bool has_lost_track;            /* SQLite prepared by itself a statement that writes */
    unsigned dependencies_age;      /* how often that has happened */
    struct query_cache *cache;      /* a loop's, or the writer's; or NULL */
    uint64_t number;                /* no two have the same */
    /* Readers: what is read is of this many commits, or more. SQLite's snapshot begins with the
     * first statement, so that a read which finds everything in caches does not call SQLite. */
    bool in_view, in_snapshot;
    uint64_t seen;
    bool has_given;   /* cached rows, before there was a snapshot */
    bool is_outdated; /* … which came after another commit: the read has to run again */
    bool has_written; /* since somebody set it to false: a statement that writes was asked for */
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
#define sqlite_conn_do(c, sql) sqlite_conn_do_sql(c, SQL(sql))
int sqlite_conn_do_sql(struct sqlite_conn *c, struct sql sql);

/* What an SQLite code means to a caller; logs those that an operator or a
 * developer should know of. */
enum err sqlite_error(struct sqlite_conn *c, int code, const char *sql);

/* Begins SQLite's snapshot of a read, unless it has one. ERR_STORE_RETRY, with is_outdated: cached
 * rows that were given out may be older. */
enum err sqlite_snapshot_begin(struct tx *tx);
/* Whether cached rows can be given out beside those of the snapshot. */
bool sqlite_may_give(struct sqlite_conn *c);

/* --- a share of a turn, sqlite_share.c -------------------------------------------------- */

/* The connection belongs to a loop, or to a thread aside: its reads between begin and end have a
 * share of a turn. by_row: the clock is looked at for each row, not only within long statements.
 * True at the end: it was more than that, and what was read is of no use. */
void sqlite_share_watch(struct sqlite_conn *c);
void sqlite_share_watch_aside(struct sqlite_conn *c);
void sqlite_share_begin(struct sqlite_conn *c, bool by_row);
bool sqlite_share_end(struct sqlite_conn *c);
/* Between two rows of a read that is looked at by row. */
bool sqlite_share_over(struct sqlite_conn *c);
/* The read that runs gives its share up. False: it has none. */
bool sqlite_go_aside(struct tx *tx);

/* --- questions, sqlite_query.c ---------------------------------------------------------- */

enum err sqlite_query(struct tx *tx, const char *sql, const struct value *values, size_t count,
                      struct rows *ret);
bool sqlite_next(struct rows *r);
enum err sqlite_end(struct rows *r);
enum err sqlite_script(struct tx *tx, const char *sql);

/* --- versions of rows and columns, row_versions.c --------------------------------------- */

enum { SQLITE_VERSION_BITS = 16 };

struct sqlite_versions {
    _Atomic uint64_t last[1 << SQLITE_VERSION_BITS]; /* by slot: the last commit that changed it */
    _Atomic uint64_t committing;                     /* the last commit that was begun */
};

struct sqlite;

/* The writer's connection reports changed rows from now on. */
enum err sqlite_versions_begin(struct sqlite *q);
/* The writer is about to change them. */
void sqlite_slots_change(struct sqlite *q, const uint16_t *slots, unsigned count);
/* Whether none of them was changed since a snapshot that had seen so many commits. */
bool sqlite_slots_unchanged(struct sqlite *q, const uint16_t *slots, size_t count,
                            uint64_t commits);
/* See tx_touch, tx_seen, tx_unchanged. */
void sqlite_touch(struct tx *tx, enum noted_rows rows, uint64_t id);
bool sqlite_seen(struct tx *tx, struct tx_seen *ret);
bool sqlite_unchanged(struct tx *tx, const struct tx_seen *since, const uint16_t *slots,
                      size_t count);

/* --- columns that statements read and write, query_dependencies.c ------------------------ */

struct sqlite_slots {
    const uint16_t *all;
    unsigned count;
    bool too_many;
};

struct query_dependencies {
    struct sqlite_slots reads, writes;
    bool is_volatile; /* rows and parameters do not decide what it returns */
    uint64_t marked;  /* its writes, for the commit of this number */
    unsigned age;     /* dependencies_age of the connection when this was collected */
    struct query_dependencies *older;
};

/* The connection collects the columns of its statements. */
bool sqlite_dependencies_begin(struct sqlite_conn *c);
int sqlite_dependencies_prepare(struct sqlite_conn *c, const char *sql, unsigned flags,
                                sqlite3_stmt **ret, struct query_dependencies **ret_found);
void sqlite_dependencies_clear(struct sqlite_conn *c);
/* The writer's: nobody knows which columns are written; the same of a statement, before it runs. */
void sqlite_columns_change(struct sqlite *q);
void sqlite_dependencies_write(struct sqlite *q, struct query_dependencies *r);

/* --- cached rows of statements, query_cache.c: of one connection ------------------------- */

struct query_cache *query_cache_new(void);
void query_cache_free(struct query_cache *cache); /* accepts NULL */
/* How often rows came from the cache. */
uint64_t query_cache_hits(const struct query_cache *cache);

/* --- files with functions of their own, sqlite_methods.c --------------------------------- */

struct sqlite_methods {
    const sqlite3_io_methods *usual; /* of all files of that kind; NULL: none was changed yet */
    sqlite3_io_methods own;          /* the same, but for some */
};

/* The file has our own from now on. False: it has not the usual ones. */
bool sqlite_methods_change(struct sqlite_methods *m, sqlite3_file *file,
                           void (*change)(sqlite3_io_methods *to));

/* --- the log's file, sqlite_gather.c: for the writer's thread, at its beginning and end - */

/* Does nothing where a commit does not end with its sync. */
void sqlite_gather_begin(struct sqlite_conn *c);
void sqlite_gather_end(void);

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
    unsigned wary; /* so many batches more are run with savepoints */
    struct sqlite_versions versions;
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

enum err sqlite_backup(struct store *s, rows_place_fn *place, void *arg, bool *ret_damaged);
enum err sqlite_check(struct store *s);
/* Whether a pragma that looks for faults finds none; logs each. */
bool sqlite_finds_nothing(sqlite3 *db, const char *pragma);

/* --- a copy within another file, sqlite_into.c ---------------------------------------- */

struct sqlite_into;

/* The database of this size at this offset of the file, to read it; size 0: a new one, to write it.
 * Close both, the database first. Logs. */
enum err sqlite_into_open(int fd, int64_t base, int64_t size, struct sqlite_into **ret,
                          sqlite3 **ret_db);
/* Bytes that were written. */
int64_t sqlite_into_size(const struct sqlite_into *i);
/* Accepts NULL. */
void sqlite_into_close(struct sqlite_into *i);

#endif
