/* sqlite.h - structs and functions that the files of the SQLite engine share.
 *
 *   writer.c                 one thread runs all writes; waiting writes share a commit
 *   background_readers.c     reads that take longer than read_limit.c allows on a loop
 *   query.c, query_cache.c   statements, rows, and cached results of repeated queries
 *   row_versions.c           what a write makes stale, by query_dependencies.c
 *   checkpoint*.c, wal_*.c   copying of the write-ahead log, in portions
 *
 * Uses store/ and SQLite only. Invariants: only the writer writes; a cached row is never older than
 * the snapshot of the read. Start with sqlite.c, then writer.c. */
#ifndef STORE_SQLITE_H
#define STORE_SQLITE_H

#include <pthread.h>
#include <sqlite3.h>

#include "base/stall_meter.h"
#include "base/map.h"
#include "store/internal.h"

/* --- one connection, conn.c: used by one thread at a time ----------------------------- */

/* Timeout for file locks. Only another program can hold such a lock on the database file. */
enum { SQLITE_BUSY_TIMEOUT_MS = 5000 };

/* Number of background threads for long reads. The last thread also runs reads that exceeded
 * SHORT_READ_LIMIT_MS. More threads would take CPU time from the loops; with fewer threads, a slow
 * search would delay all other long reads. */
enum { SQLITE_BACKGROUND_READERS = 2 };

/* Time limit of reads, per loop iteration or per read on a background thread. The number of rows is
 * not known in advance, so the time is measured: a read that exceeds the limit is aborted and
 * restarts on a background thread, or with READ_PRIORITY_LONG. */
struct sqlite_read_limit {
    int64_t max_ns;   /* the limit in ns; 0 means no limit */
    bool is_of_loop;  /* the connection belongs to a loop, and background threads exist */
    bool counts;      /* a read is running that can be restarted */
    bool by_row;      /* the clock is checked at each row */
    bool is_exceeded; /* the limit is exceeded, and the read is aborted */
    int64_t began_ns; /* time of the first clock check; 0 if there was none */
    int64_t used_ns;  /* time used by all measured reads of this loop iteration */
};

struct sqlite_conn {
    sqlite3 *db;
    struct map statements;   /* struct sqlite_prepared_statement by the address of the SQL text */
    struct map dependencies; /* struct query_dependencies by the address of the SQL text; freed with
                              * the connection */
    struct dependency_collector *collector; /* collects columns while a statement is prepared */
    bool has_lost_track;       /* SQLite itself prepared a writing statement, whose columns are
                                * unknown */
    unsigned dependencies_age; /* number of times that has_lost_track was set */
    struct query_cache *cache; /* only for connections of loops and of the writer; otherwise NULL */
    uint64_t number;           /* number of the connection, unique in the process */
    /* For readers: if in_view is set, rows show at least the first `seen` commits; in_snapshot
     * means that BEGIN ran. SQLite's snapshot begins with the first statement, so a read that finds
     * all its rows in caches does not call SQLite. */
    bool in_view, in_snapshot;
    uint64_t seen;
    bool gave_cached_rows; /* cached rows were returned before the snapshot began */
    bool is_outdated;      /* a commit came between the cached rows and the snapshot, so the read
                            * must run again */
    bool has_written;      /* a writing statement ran; the caller resets this flag */
    struct sqlite_read_limit read_limit; /* time limit of reads */
};

/* Opens the database file, or creates it. Logs failures. */
enum err sqlite_conn_open(const char *path, struct sqlite_conn **ret);
void sqlite_conn_close(struct sqlite_conn *c);
/* Makes the connection pause between disk writes (checkpoint_pacing.c). */
void sqlite_conn_enable_write_pacing(struct sqlite_conn *c);
/* With `hurry`, checkpoints write without pauses, because the writer waits for their end. */
void checkpoint_set_pacing_disabled(bool hurry);

/* Runs a statement without parameters, such as begin or commit. Returns an SQLite result code. */
#define sqlite_conn_run(c, sql) sqlite_conn_run_sql(c, SQL(sql))
int sqlite_conn_run_sql(struct sqlite_conn *c, struct sql sql);

/* Converts an SQLite result code to an error. Logs codes that matter to operator or developer. */
enum err sqlite_error_from_code(struct sqlite_conn *c, int code, const char *sql);

/* Begins SQLite's snapshot for a read, unless it has begun. Returns ERR_STORE_RETRY and sets
 * is_outdated if cached rows that were returned before may be older than the snapshot. */
enum err sqlite_snapshot_begin(struct tx *tx);
/* Returns whether cached rows are consistent with the rows of the snapshot. */
bool sqlite_cached_rows_are_consistent(struct sqlite_conn *c);

/* --- time limit of a read, read_limit.c ------------------------------------------------- */

/* read_limit_set_for_… set the limit of a connection. Between sqlite_read_limit_begin and
 * sqlite_read_limit_end the time of a read is measured; with by_row also at each row.
 * sqlite_read_limit_end returns true if the limit was exceeded and the result must be discarded. */
void sqlite_set_read_limit_of_loop(struct sqlite_conn *c);
void sqlite_set_read_limit_of_background(struct sqlite_conn *c);
void sqlite_read_limit_begin(struct sqlite_conn *c, bool by_row);
bool sqlite_read_limit_end(struct sqlite_conn *c);
/* Returns whether the running read has exceeded its time limit. Reads the clock only if
 * sqlite_read_limit_begin was called with by_row. */
bool sqlite_read_limit_is_exceeded(struct sqlite_conn *c);
/* Moves the running read to a background thread by ending its time limit now. Returns false if the
 * read has no limit. */
bool sqlite_move_read_to_background(struct tx *tx);

/* --- queries, query.c ------------------------------------------------------------------- */

enum err sqlite_query(struct tx *tx, const char *sql, const struct value *values, size_t count,
                      struct rows *ret);
bool sqlite_rows_next(struct rows *r);
enum err sqlite_rows_end(struct rows *r);
enum err sqlite_run_script(struct tx *tx, const char *sql);

/* --- versions of rows and columns, row_versions.c --------------------------------------- */

enum { SQLITE_VERSION_BITS = 16 };

struct row_version_table {
    _Atomic uint64_t last[1 << SQLITE_VERSION_BITS]; /* last commit that changed the slot */
    _Atomic uint64_t committing;                     /* last commit that was started */
};

struct sqlite;

/* Installs the update hook and the triggers that report changed rows on the writer's connection. */
enum err sqlite_install_version_hooks(struct sqlite *q);
/* Marks version slots as changed; call it before the writer changes their rows or columns. */
void row_version_slots_mark_changed(struct sqlite *q, const uint16_t *slots, unsigned count);
/* Returns whether no version slot has changed since a snapshot that had seen this many commits. */
bool row_version_slots_are_unchanged(struct sqlite *q, const uint16_t *slots, size_t count,
                                     uint64_t commits);
/* Implementations of tx_mark_row_changed, tx_get_snapshot_version and
 * tx_row_version_slots_are_unchanged. */
void sqlite_mark_row_changed(struct tx *tx, enum versioned_rows rows, uint64_t id);
bool sqlite_get_snapshot_version(struct tx *tx, struct snapshot_version *ret);
bool sqlite_row_version_slots_are_unchanged(struct tx *tx, const struct snapshot_version *since,
                                            const uint16_t *slots, size_t count);

/* --- columns that statements read and write, query_dependencies.c ------------------------ */

struct row_version_slots {
    const uint16_t *all;
    unsigned count;
    bool too_many;
};

struct query_dependencies {
    struct row_version_slots reads, writes;
    bool is_volatile; /* the result depends on more than rows and parameters */
    uint64_t marked;  /* number of the last commit for which the written columns were marked */
    unsigned age;     /* dependencies_age of the connection when the statement was prepared */
    struct query_dependencies *older;
};

/* Registers the SQLite callback that collects the columns of a statement. */
bool sqlite_register_dependency_callback(struct sqlite_conn *c);
int sqlite_prepare_with_dependencies(struct sqlite_conn *c, const char *sql, unsigned flags,
                                     sqlite3_stmt **ret, struct query_dependencies **ret_found);
void sqlite_dependencies_free(struct sqlite_conn *c);
/* Call both on the writer: sqlite_invalidate_query_caches invalidates all query caches;
 * sqlite_mark_columns_written marks the columns that a statement will write as changed. */
void sqlite_invalidate_query_caches(struct sqlite *q);
void sqlite_mark_columns_written(struct sqlite *q, struct query_dependencies *r);

/* --- query cache, query_cache.c: one per connection -------------------------------------- */

struct query_cache *query_cache_new(void);
void query_cache_free(struct query_cache *cache); /* accepts NULL */
uint64_t query_cache_count_hits(const struct query_cache *cache);

/* --- replaced file functions, file_methods.c --------------------------------------------- */

struct replaced_file_methods {
    const sqlite3_io_methods *original; /* original function table; NULL if no file was changed */
    sqlite3_io_methods replaced; /* copy of the function table with some functions replaced */
};

/* Replaces functions in the file's function table; returns false if the file has another table than
 * m->original. */
bool replace_file_methods(struct replaced_file_methods *m, sqlite3_file *file,
                          void (*change)(sqlite3_io_methods *to));

/* --- combined WAL writes, wal_write_buffer.c: called on the writer's thread ------------- */

/* Buffers the WAL writes of the writer, if a commit ends with a sync; otherwise does nothing. */
void wal_write_buffer_begin(struct sqlite_conn *c);
void wal_write_buffer_end(void);

/* --- the engine, sqlite.c ------------------------------------------------------------- */

struct sqlite {
    struct store store;
    char *path;

    struct sqlite_conn **readers; /* indexed by loop_index; opened by that loop */
    unsigned reader_count;
    pthread_mutex_t tool_lock; /* serializes reads of tools, which have no loop */
    struct sqlite_conn *tool;
    struct fair_queue long_reads; /* reads that may take long */
    struct background_reader {
        struct sqlite *engine;
        struct sqlite_conn *conn; /* opened at the thread's first read */
        bool runs_longest_reads;
        pthread_t thread;
        bool has_thread;
    } background_readers[SQLITE_BACKGROUND_READERS];

    struct sqlite_conn *writer; /* the members from here on belong to the writer thread */
    pthread_t thread;
    bool has_thread;
    struct work_queue queue;
    struct stall_meter meter;
    bool has_no_syncs;
    unsigned savepoint_batches; /* number of coming batches that run with savepoints */
    struct row_version_table versions;
    struct wal_state {
        uint64_t number; /* number of WAL restarts so far */
        int pages;       /* pages in the WAL after the last commit */
        int copied;      /* pages of the WAL that are known to be copied into the database */
        int tried;       /* pages in the WAL at the last checkpoint attempt */
        int waited;      /* pages in the WAL at the last truncate attempt */
        int passes;      /* passes of the copier thread that copied pages, since the writer last
                          * copied pages itself */
    } log;

    /* Shared by the writer and the copier thread. */
    struct checkpoint_thread {
        pthread_mutex_t lock;
        pthread_cond_t changed;
        bool is_asked, must_stop, has_result;
        uint64_t number;          /* wal_state.number of the WAL to copy */
        int copied;               /* pages of that WAL that are copied into the database */
        struct sqlite_conn *conn; /* opened at the first checkpoint */
        pthread_t thread;
        bool has_thread;
    } copier;
};

/* Opens a connection for reads, with a larger page cache. */
enum err sqlite_reader_open(const char *path, struct sqlite_conn **ret);
/* Runs a read in a snapshot of its own, and releases the snapshot afterwards. */
enum err sqlite_read_in_own_snapshot(struct store *s, struct work_item *w,
                                     struct sqlite_conn **conn);

/* --- long reads, background_readers.c ------------------------------------------------- */

void background_readers_start(struct sqlite *q);
/* Finishes all waiting reads, then stops the threads. */
void background_readers_stop(struct sqlite *q);

/* --- the writer, writer.c ------------------------------------------------------------- */

void sqlite_writer_start(struct sqlite *q);
/* Finishes all waiting writes, then stops the writer thread. */
void sqlite_writer_stop(struct sqlite *q);
/* Runs one work item in its own transaction, on the writer's connection. */
enum err sqlite_run_work_item_alone(struct store *s, struct work_item *w);

/* --- checkpoints, checkpoint.c: called on the writer's thread ------------------------- */

void checkpoint_thread_start(struct sqlite *q);
void checkpoint_thread_stop(struct sqlite *q);
/* Call it after each batch of writes. */
void checkpoint_run_after_batch(struct sqlite *q);
/* After a full disk: runs a checkpoint, after which SQLite can reuse the space of the WAL. */
void checkpoint_free_wal_space(struct sqlite *q);
/* Returns whether a checkpoint should run when the writer is idle. */
bool checkpoint_is_due_when_idle(const struct sqlite *q);
void checkpoint_run_when_idle(struct sqlite *q);

/* --- tools, tools.c ------------------------------------------------------------------- */

enum err sqlite_copy_database(struct store *s, reserve_copy_destination_fn *location, void *arg,
                              bool *ret_damaged);
enum err sqlite_check_integrity(struct store *s);
/* Runs a pragma that checks the database; logs each fault. Returns true if there is no fault. */
bool sqlite_run_check_pragma(sqlite3 *db, const char *pragma);

/* --- a database within another file, embedded_database.c ------------------------------ */

struct embedded_database;

/* Opens the database that occupies `size` bytes at offset `base` of the file, for reading; if size
 * is 0, creates one for writing. The caller closes the SQLite database first, then *ret. Logs
 * failures. */
enum err embedded_database_open(int fd, int64_t base, int64_t size, struct embedded_database **ret,
                                sqlite3 **ret_db);
/* Returns the number of bytes written to the database. */
int64_t embedded_database_size(const struct embedded_database *i);
/* Accepts NULL. */
void embedded_database_close(struct embedded_database *i);

#endif
