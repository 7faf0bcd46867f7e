/* sqlite.h - structs and functions that the files of the SQLite engine share.
 *
 *   writer.c                 one thread runs all writes; waiting writes share a commit
 *   background_readers.c     reads that take longer than read_limit.c allows on a loop
 *   query.c, query_cache.c   statements, rows, and cached results of repeated queries
 *   row_versions.c           which cached rows a write makes stale (query_dependencies.c)
 *   checkpoint.c             copies the write-ahead log into the database, in portions
 *
 * Uses store/ and SQLite only. Invariants: only the writer writes; a cached row is never older than
 * the snapshot of the read. Start with sqlite.c, then writer.c. */
#ifndef STORE_SQLITE_H
#define STORE_SQLITE_H

#include <pthread.h>
#include <sqlite3.h>

#include "base/stall_meter.h"
#include "base/map.h"
#include "store/cached_rows.h"
#include "store/internal.h"

/* --- one connection, conn.c: used by one thread at a time ----------------------------- */

/* Timeout for file locks. Only another program can hold such a lock on the database file. */
enum { SQLITE_BUSY_TIMEOUT_MS = 5000 };

/* Number of background threads for long reads. The last thread also runs reads that exceeded
 * SHORT_READ_LIMIT_MS. More threads would take CPU time from the loops; with fewer threads, a slow
 * search would delay all other long reads. */
enum { SQLITE_BACKGROUND_READERS = 2 };

/* Time limit of reads, per loop iteration or per read on a background thread. The number of rows is
 * not known in advance, so the time is measured. If a read on a loop exceeds the limit, the read is
 * aborted and restarts on a background thread. A read that exceeds the limit there restarts with
 * READ_PRIORITY_LONG. */
struct sqlite_read_time_limit {
    int64_t max_ns;  /* limit in ns; 0 means no limit */
    bool is_of_loop; /* whether the connection belongs to a loop and there are background threads to
                      * which a read can move */
    bool counts;     /* whether the running read can be restarted, so that its time counts */
    bool by_row;     /* whether the clock is also checked at each row of the running read */
    bool is_exceeded; /* whether the limit was exceeded, so that the read is aborted */
    int64_t began_ns; /* time at which the clock was first checked for this read, in ns; 0 if it was
                       * not checked yet */
    int64_t used_ns;  /* time in ns that all measured reads of this loop iteration have used */
};

struct sqlite_conn {
    sqlite3 *db;
    struct map statements;   /* finds a struct sqlite_prepared_statement by the address of the SQL
                              * text */
    struct map dependencies; /* finds a struct query_dependencies by the address of the SQL text;
                              * freed with the connection */
    struct dependency_collector *collector; /* collects the columns that a statement uses while the
                                             * statement is prepared */
    bool has_lost_track; /* whether SQLite itself has prepared a writing statement, so that the
                          * written columns are unknown */
    unsigned dependencies_age; /* number of times that has_lost_track was set; see
                                * query_dependencies.age */
    struct query_cache *cache; /* query cache, on the connections of loops and of the writer; NULL
                                * on other connections */
    uint64_t number;           /* number of the connection, unique in the process */
    /* For readers: if in_view is set, the rows of a read include at least the first `seen` commits.
     * If in_snapshot is set, BEGIN was executed. SQLite's snapshot begins with the first statement,
     * so a read that finds all its rows in caches does not call SQLite. */
    bool in_view, in_snapshot;
    uint64_t seen;
    bool gave_cached_rows; /* whether rows from a cache were returned to the read before its
                            * snapshot began */
    bool is_outdated; /* whether a commit happened between the cached rows and the snapshot, so that
                       * the read must run again */
    bool has_written; /* set by each writing statement; reset by the code that reads the flag */
    struct sqlite_read_time_limit read_limit; /* time limit of reads */
};

/* Opens the database file, or creates it. Logs failures. */
enum err sqlite_conn_open(const char *path, struct sqlite_conn **ret);
/* Opens a connection that is only used for checkpoints: it needs no schema, which takes 300 KB. */
enum err sqlite_conn_open_for_checkpoints(const char *path, struct sqlite_conn **ret);
void sqlite_conn_close(struct sqlite_conn *c);
/* Makes the connection pause between disk writes (checkpoint_pacing.c). */
void sqlite_conn_enable_write_pacing(struct sqlite_conn *c);
/* With `hurry`, checkpoints write without pauses: used while the writer waits for a checkpoint. */
void checkpoint_set_pacing_disabled(bool hurry);

/* Runs a statement without parameters, such as begin or commit. Returns an SQLite result code. */
#define sqlite_conn_run(c, sql) sqlite_conn_run_sql(c, SQL(sql))
int sqlite_conn_run_sql(struct sqlite_conn *c, struct sql sql);

/* Converts an SQLite result code to an error. Logs codes that operators or developers should know.
 */
enum err sqlite_error_from_code(struct sqlite_conn *c, int code, const char *sql);

/* Begins SQLite's snapshot for a read, unless the snapshot has begun. If the read already got
 * cached rows that may be older than the snapshot, sets is_outdated and returns ERR_STORE_RETRY. */
enum err sqlite_snapshot_begin(struct tx *tx);
/* Returns whether rows from the query cache may be combined with rows that this read gets later. */
bool sqlite_cached_rows_are_consistent(struct sqlite_conn *c);

/* --- time limit of a read, read_limit.c ------------------------------------------------- */

/* The functions sqlite_set_read_limit_of_… set the limit of a connection. The time of a read is
 * measured between sqlite_read_time_limit_begin and sqlite_read_time_limit_end; with by_row, the
 * clock is also checked at each row. sqlite_read_time_limit_end returns true if the limit was
 * exceeded and the result must be discarded. */
void sqlite_set_loop_read_time_limit(struct sqlite_conn *c);
void sqlite_set_background_read_time_limit(struct sqlite_conn *c);
void sqlite_read_time_limit_begin(struct sqlite_conn *c, bool by_row);
bool sqlite_read_time_limit_end(struct sqlite_conn *c);
/* Returns whether the running read has exceeded its time limit. Reads the clock only if
 * sqlite_read_time_limit_begin was called with by_row. */
bool sqlite_read_time_limit_is_exceeded(struct sqlite_conn *c);
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
enum err sqlite_install_row_version_hooks(struct sqlite *q);
/* Marks version slots as changed; call it before the writer changes the rows or columns to which
 * they belong. */
void row_version_slots_mark_changed(struct sqlite *q, const uint16_t *slots, unsigned count);
/* Returns whether none of the version slots has changed since the snapshot that included the first
 * `seen` commits. */
bool row_version_slots_are_unchanged(struct sqlite *q, const uint16_t *slots, size_t count,
                                     uint64_t commits);
/* Implementations of tx_mark_row_changed, tx_get_snapshot_version and
 * tx_row_version_slots_are_unchanged. */
void sqlite_mark_row_changed(struct tx *tx, enum versioned_row_kind rows, uint64_t id);
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
    bool is_volatile; /* whether the result depends on more than rows and parameters, so that it
                       * must not be cached */
    /* Number of the commit for which the written columns were last marked as changed. */
    uint64_t marked;
    unsigned age; /* value of the connection's dependencies_age when the statement was prepared */
    struct query_dependencies *older;
};

/* Registers the SQLite callback that collects the columns of a statement. */
bool sqlite_register_query_dependency_callback(struct sqlite_conn *c);
int sqlite_prepare_with_query_dependencies(struct sqlite_conn *c, const char *sql, unsigned flags,
                                           sqlite3_stmt **ret,
                                           struct query_dependencies **ret_found);
void sqlite_query_dependencies_free(struct sqlite_conn *c);
/* sqlite_invalidate_query_caches invalidates the query caches of all connections.
 * sqlite_mark_columns_of_query_written marks the columns that a statement will write as changed.
 * Call both on the writer thread. */
void sqlite_invalidate_query_caches(struct sqlite *q);
void sqlite_mark_columns_of_query_written(struct sqlite *q, struct query_dependencies *r);

/* --- replaced file functions, file_methods.c --------------------------------------------- */

struct replaced_file_methods {
    const sqlite3_io_methods *original; /* SQLite's function table of the file; NULL before the
                                         * first call of replace_file_methods */
    sqlite3_io_methods replaced; /* copy of SQLite's function table in which some functions are
                                  * replaced */
};

/* Replaces functions in the file's function table; returns false if the file has another table than
 * m->original. */
bool replace_file_methods(struct replaced_file_methods *m, sqlite3_file *file,
                          void (*change)(sqlite3_io_methods *to));

/* --- combined WAL writes, wal_write_buffer.c: called on the writer's thread ------------- */

/* If each commit ends with a sync, buffers the WAL writes of the writer; otherwise does nothing. */
void wal_write_buffer_begin(struct sqlite_conn *c);
void wal_write_buffer_end(void);

/* --- the engine, sqlite.c ------------------------------------------------------------- */

struct sqlite {
    struct store store;
    char *path;

    struct sqlite_conn **readers; /* read connections, indexed by loop_get_index; each loop opens
                                   * its own */
    unsigned reader_count;
    pthread_mutex_t tool_lock;    /* serializes reads of tools, which call
                                   * store_run_transaction_and_wait without a loop */
    struct sqlite_conn *tool;     /* the first loop takes over the one that the start has used */
    struct fair_queue long_reads; /* reads that may take long */
    struct background_reader {
        struct sqlite *engine;
        struct sqlite_conn *conn; /* opened at the thread's first read */
        bool runs_longest_reads;
        pthread_t thread;
        bool has_thread;
    } background_readers[SQLITE_BACKGROUND_READERS];

    /* The members from here on belong to the writer thread; writer is its connection. */
    struct sqlite_conn *writer;
    pthread_t thread;
    bool has_thread;
    struct work_queue queue;
    struct stall_meter meter;
    bool has_no_syncs;
    unsigned savepoint_batches; /* number of coming batches of work items that run with a savepoint
                                 * per work item */
    struct row_version_table versions;
    struct wal_state {
        uint64_t number; /* number of WAL restarts so far */
        int pages;       /* number of pages in the WAL after the last commit */
        int copied; /* number of pages of the WAL that are known to be copied into the database */
        int tried;  /* number of pages in the WAL when a checkpoint was last attempted */
        int waited; /* number of pages in the WAL when a truncation was last attempted */
        int passes; /* number of checkpoints in which the copier thread copied pages since the
                     * writer last copied pages itself */
    } log;

    /* State that the writer and the copier thread share. */
    struct checkpoint_thread {
        pthread_mutex_t lock;
        pthread_cond_t changed;
        bool is_asked, must_stop, has_result;
        uint64_t number; /* wal_state.number of the WAL to copy */
        int copied; /* number of pages, of the WAL with the number .number, that were copied into
                     * the database */
        struct sqlite_conn *conn; /* opened at the first checkpoint */
        pthread_t thread;
        bool has_thread;
    } copier;
};

/* Opens a connection for reads. Its page cache is larger than SQLite's default. */
enum err sqlite_open_read_connection(const char *path, struct sqlite_conn **ret);
/* Runs a read in a snapshot of its own, and releases the snapshot after the read. */
enum err sqlite_run_read_in_own_snapshot(struct store *s, struct work_item *w,
                                         struct sqlite_conn **conn);

/* --- long reads, background_readers.c ------------------------------------------------- */

void background_readers_start(struct sqlite *q);
/* Waits until all queued reads are finished, then stops the background threads. */
void background_readers_stop(struct sqlite *q);

/* --- the writer, writer.c ------------------------------------------------------------- */

void sqlite_writer_start(struct sqlite *q);
/* Waits until all queued writes are finished, then stops the writer thread. */
void sqlite_writer_stop(struct sqlite *q);
/* Runs one work item in its own transaction, on the writer's connection. */
enum err sqlite_run_work_item_alone(struct store *s, struct work_item *w);

/* --- checkpoints, checkpoint.c: called on the writer's thread ------------------------- */

void checkpoint_thread_start(struct sqlite *q);
void checkpoint_thread_stop(struct sqlite *q);
/* Called by the writer after each batch of writes; runs or starts a checkpoint if one is due. */
void checkpoint_run_after_batch(struct sqlite *q);
/* Called after the disk was full: runs a checkpoint, so that SQLite can reuse the WAL's space. */
void checkpoint_free_wal_after_full_disk(struct sqlite *q);
/* Returns whether a checkpoint should run now, if the writer is idle. */
bool checkpoint_is_due_when_idle(const struct sqlite *q);
void checkpoint_run_when_idle(struct sqlite *q);

/* --- tools, tools.c ------------------------------------------------------------------- */

enum err sqlite_copy_database(struct store *s, reserve_copy_destination_fn *location, void *arg,
                              bool *ret_damaged);
enum err sqlite_check_integrity(struct store *s);
/* Runs a pragma that checks the database; logs each fault. Returns true if there is no fault. */
bool sqlite_run_integrity_pragma(sqlite3 *db, const char *pragma);

/* --- a database within another file, embedded_database.c ------------------------------ */

struct embedded_database;

/* Opens, for reading, the database that occupies `size` bytes at offset `base` of the file; if size
 * is 0, creates a database for writing. The caller closes the SQLite database before it closes ret.
 * Logs failures. */
enum err embedded_database_open(int fd, int64_t base, int64_t size, struct embedded_database **ret,
                                sqlite3 **ret_db);
/* Returns the number of bytes that were written to the database. */
int64_t embedded_database_size(const struct embedded_database *i);
/* Accepts NULL. */
void embedded_database_close(struct embedded_database *i);

#endif
