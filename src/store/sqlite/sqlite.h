/* sqlite.h - structs and functions that the files of the SQLite engine share. */
#ifndef STORE_SQLITE_H
#define STORE_SQLITE_H

#include <pthread.h>
#include <sqlite3.h>

#include "base/stall_meter.h"
#include "base/map.h"
#include "store/internal.h"

/* --- one connection, conn.c: used by one thread at a time ----------------------------- */

/* Timeout for locks, which only another program can hold on the database file. */
enum { SQLITE_BUSY_TIMEOUT_MS = 5000 };

/* Number of background threads for long reads. The last one also runs reads that exceeded
 * SHORT_READ_LIMIT_MS. More threads would take CPU time from the loops; with fewer, a slow search
 * would delay all others. */
enum { SQLITE_BACKGROUND_READERS = 2 };

/* Time limit of reads, per loop iteration or per read on a background thread. The number of rows is
 * not known in advance, so the time is measured: a read that exceeds the limit is aborted and
 * restarts on a background thread, or with READ_PRIORITY_LONG. */
struct sqlite_read_limit {
    int64_t max_ns;   /* the limit; 0: no limit */
    bool is_of_loop;  /* the connection belongs to a loop, and background threads exist */
    bool counts;      /* a read runs that can be restarted */
    bool by_row;      /* the clock is checked at each row */
    bool is_exceeded; /* the limit is exceeded, and the read is aborted */
    int64_t began_ns; /* time of the first clock check; 0: none yet */
    int64_t used_ns;  /* time used by all measured reads of this loop iteration */
};

struct sqlite_conn {
    sqlite3 *db;
    struct map statements;   /* by the address of the SQL text */
    struct map dependencies; /* by the address of the SQL text; they live as long as the
                              * connection */
    struct dependency_collector *collector; /* collects columns while a statement is prepared */
    bool has_lost_track;       /* SQLite itself prepared a writing statement, so its columns
                                * are unknown */
    unsigned dependencies_age; /* how often has_lost_track was set */
    struct query_cache *cache; /* of a loop's connection or the writer's; or NULL */
    uint64_t number;           /* unique in the process */
    /* Readers: rows show at least `seen` commits. SQLite's snapshot begins with the first
     * statement, so a read that finds all its rows in caches does not call SQLite. */
    bool in_view, in_snapshot;
    uint64_t seen;
    bool gave_cached_rows; /* cached rows were returned before the snapshot began */
    bool is_outdated;      /* a commit came between cached rows and the snapshot: run the read
                            * again */
    bool has_written;      /* a writing statement ran; the caller resets this */
    struct sqlite_read_limit read_limit; /* time limit of reads */
};

/* Opens the file, or creates it. Logs failures. */
enum err sqlite_conn_open(const char *path, struct sqlite_conn **ret);
void sqlite_conn_close(struct sqlite_conn *c);
/* Paces the disk writes of the connection (paced.c). */
void sqlite_conn_pace_writes(struct sqlite_conn *c);
/* hurry: write without pauses, because a caller waits for the end of the checkpoint. */
void sqlite_pacing_disable(bool hurry);

/* Runs a statement without parameters, such as begin or commit. Returns an SQLite code. */
#define sqlite_conn_run(c, sql) sqlite_conn_run_sql(c, SQL(sql))
int sqlite_conn_run_sql(struct sqlite_conn *c, struct sql sql);

/* Maps an SQLite code to an error. Logs codes that concern the operator or a developer. */
enum err sqlite_error_from_code(struct sqlite_conn *c, int code, const char *sql);

/* Begins SQLite's snapshot for a read, unless it has one. ERR_STORE_RETRY with is_outdated: cached
 * rows that were returned before may be older than the snapshot. */
enum err sqlite_snapshot_begin(struct tx *tx);
/* Whether cached rows are consistent with the rows of the snapshot. */
bool sqlite_may_use_cached_rows(struct sqlite_conn *c);

/* --- time limit of a read, share.c ------------------------------------------------------ */

/* watch functions set the limit of a connection. Between begin and end the time of a read is
 * measured; by_row: also at each row. end returns true if the limit was exceeded and the result
 * must be discarded. */
void read_limit_set_for_loop(struct sqlite_conn *c);
void read_limit_set_for_background(struct sqlite_conn *c);
void read_limit_begin(struct sqlite_conn *c, bool by_row);
bool read_limit_end(struct sqlite_conn *c);
/* Checks the clock between two rows, if the read was begun with by_row. */
bool read_limit_is_exceeded(struct sqlite_conn *c);
/* Makes the running read exceed its limit. False: the read has no limit. */
bool sqlite_move_to_background(struct tx *tx);

/* --- queries, query.c ------------------------------------------------------------------- */

enum err sqlite_query(struct tx *tx, const char *sql, const struct value *values, size_t count,
                      struct rows *ret);
bool sqlite_rows_next(struct rows *r);
enum err sqlite_rows_end(struct rows *r);
enum err sqlite_run_script(struct tx *tx, const char *sql);

/* --- versions of rows and columns, row_versions.c --------------------------------------- */

enum { SQLITE_VERSION_BITS = 16 };

struct row_version_table {
    _Atomic uint64_t last[1 << SQLITE_VERSION_BITS]; /* by slot: last commit that changed it */
    _Atomic uint64_t committing;                     /* last commit that was started */
};

struct sqlite;

/* Installs the update hook and the triggers on the writer's connection. */
enum err sqlite_install_version_hooks(struct sqlite *q);
/* Call it before the writer changes the rows or columns of these slots. */
void row_slots_mark_changed(struct sqlite *q, const uint16_t *slots, unsigned count);
/* Whether no slot changed since a snapshot that had seen so many commits. */
bool row_slots_unchanged(struct sqlite *q, const uint16_t *slots, size_t count, uint64_t commits);
/* See tx_mark_row_changed, tx_snapshot_version, tx_slots_unchanged. */
void sqlite_mark_row_changed(struct tx *tx, enum versioned_rows rows, uint64_t id);
bool sqlite_snapshot_version(struct tx *tx, struct snapshot_version *ret);
bool sqlite_tx_slots_unchanged(struct tx *tx, const struct snapshot_version *since,
                               const uint16_t *slots, size_t count);

/* --- columns that statements read and write, query_dependencies.c ------------------------ */

struct version_slots {
    const uint16_t *all;
    unsigned count;
    bool too_many;
};

struct query_dependencies {
    struct version_slots reads, writes;
    bool is_volatile; /* the result does not depend on rows and parameters alone */
    uint64_t marked;  /* number of the last commit for which the written columns were marked */
    unsigned age;     /* dependencies_age of the connection when the statement was prepared */
    struct query_dependencies *older;
};

/* Registers the SQLite callback that collects columns. */
bool sqlite_register_dependency_callback(struct sqlite_conn *c);
int sqlite_prepare_with_dependencies(struct sqlite_conn *c, const char *sql, unsigned flags,
                                     sqlite3_stmt **ret, struct query_dependencies **ret_found);
void sqlite_dependencies_free(struct sqlite_conn *c);
/* For the writer: sqlite_invalidate_query_caches invalidates all query caches;
 * sqlite_mark_columns_written marks the columns that a statement will write. */
void sqlite_invalidate_query_caches(struct sqlite *q);
void sqlite_mark_columns_written(struct sqlite *q, struct query_dependencies *r);

/* --- query cache, query_cache.c: one per connection -------------------------------------- */

struct query_cache *query_cache_new(void);
void query_cache_free(struct query_cache *cache); /* accepts NULL */
/* Number of cache hits. */
uint64_t query_cache_count_hits(const struct query_cache *cache);

/* --- replaced file functions, methods.c -------------------------------------------------- */

struct replaced_file_methods {
    const sqlite3_io_methods *original; /* original table; NULL: no file was changed yet */
    sqlite3_io_methods replaced;        /* copy of the table with some functions replaced */
};

/* Installs the changed function table. False: the file does not have the original one. */
bool replace_file_methods(struct replaced_file_methods *m, sqlite3_file *file,
                          void (*change)(sqlite3_io_methods *to));

/* --- combined WAL writes, gather.c: called on the writer's thread ----------------------- */

/* Buffers WAL writes of the writer; does nothing where a commit does not end with a sync. */
void wal_write_buffer_begin(struct sqlite_conn *c);
void wal_write_buffer_end(void);

/* --- the engine, sqlite.c ------------------------------------------------------------- */

struct sqlite {
    struct store store;
    char *path;

    struct sqlite_conn **readers; /* by loop_index; opened by that loop */
    unsigned reader_count;
    pthread_mutex_t tool_lock; /* serializes reads without a loop */
    struct sqlite_conn *tool;
    struct fair_queue long_reads; /* reads that may take long */
    struct background_reader {
        struct sqlite *engine;
        struct sqlite_conn *conn; /* opened at the first read */
        bool runs_longest_reads;
        pthread_t thread;
        bool has_thread;
    } background_readers[SQLITE_BACKGROUND_READERS];

    struct sqlite_conn *writer; /* this and all members below belong to the writer */
    pthread_t thread;
    bool has_thread;
    struct queue queue;
    struct stall_meter meter;
    bool has_no_syncs;
    unsigned savepoint_batches; /* batches that still run with savepoints */
    struct row_version_table versions;
    struct wal_state {
        uint64_t number; /* number of WAL restarts */
        int pages;       /* pages in the WAL after the last commit */
        int copied;      /* pages that are known to be copied into the database */
        int tried;       /* pages in the WAL at the last checkpoint attempt */
        int waited;      /* pages in the WAL at the last truncate attempt */
        int passes;      /* passes of the copier thread that copied pages, since the writer copied
                          * itself */
    } log;

    /* Shared by the writer and the copier thread. */
    struct checkpoint_thread {
        pthread_mutex_t lock;
        pthread_cond_t changed;
        bool is_asked, must_stop, has_result;
        uint64_t number;          /* number of the WAL to copy */
        int copied;               /* pages of that WAL in the database */
        struct sqlite_conn *conn; /* opened at the first checkpoint */
        pthread_t thread;
        bool has_thread;
    } copier;
};

/* Opens a connection for reads, with a larger page cache. */
enum err sqlite_reader_open(const char *path, struct sqlite_conn **ret);
/* Runs a read in a snapshot of its own, which is released afterwards. */
enum err sqlite_read_in_own_snapshot(struct store *s, struct work_item *w,
                                     struct sqlite_conn **conn);

/* --- long reads, aside.c -------------------------------------------------------------- */

void background_readers_start(struct sqlite *q);
/* Finishes all waiting reads. */
void background_readers_stop(struct sqlite *q);

/* --- the writer, writer.c ------------------------------------------------------------- */

void sqlite_writer_start(struct sqlite *q);
/* Finishes all waiting writes. */
void sqlite_writer_stop(struct sqlite *q);
/* Runs one work item in its own transaction, on the writer's connection. */
enum err sqlite_run_work_item_alone(struct store *s, struct work_item *w);

/* --- checkpoints, log.c: called on the writer's thread -------------------------------- */

void checkpoint_start(struct sqlite *q);
void checkpoint_stop(struct sqlite *q);
/* Call it after each batch. */
void checkpoint_after_batch(struct sqlite *q);
/* After a full disk: runs a checkpoint, which frees space in the WAL. */
void checkpoint_free_wal_space(struct sqlite *q);
/* Whether a checkpoint should run when the writer is idle. */
bool checkpoint_is_due_when_idle(const struct sqlite *q);
void checkpoint_when_idle(struct sqlite *q);

/* --- tools, tools.c ------------------------------------------------------------------- */

enum err sqlite_copy_database(struct store *s, copy_destination_fn *location, void *arg,
                              bool *ret_damaged);
enum err sqlite_check_integrity(struct store *s);
/* Runs a pragma that checks the database; logs each fault. True: no fault. */
bool sqlite_run_check_pragma(sqlite3 *db, const char *pragma);

/* --- a database within another file, into.c ------------------------------------------- */

struct embedded_database;

/* Opens the database that occupies `size` bytes at offset `base` of the file for reading; size 0:
 * creates one for writing. The caller closes both, the database first. Logs failures. */
enum err embedded_database_open(int fd, int64_t base, int64_t size, struct embedded_database **ret,
                                sqlite3 **ret_db);
/* Returns the number of bytes written. */
int64_t embedded_database_size(const struct embedded_database *i);
/* Accepts NULL. */
void embedded_database_close(struct embedded_database *i);

#endif
