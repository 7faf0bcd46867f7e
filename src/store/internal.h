/* internal.h - the interface between store.c and the engines, for files of src/store only.
 *
 * store.c and rows.c handle work items, rows and values. An engine (sqlite/, postgres/) handles
 * connections, transactions and statements, and implements struct engine. */
#ifndef STORE_INTERNAL_H
#define STORE_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "base/map.h"
#include "store/folder.h"
#include "store/store.h"

/* Destination of a copy of the database: an open file and an offset in it. */
struct rows_place {
    int fd;
    int64_t at;
};
/* Callback that reserves `size` bytes at the destination. */
typedef enum err rows_place_fn(void *arg, int64_t size, struct rows_place *ret);

struct engine {
    const char *name;
    /* On return the schema is up to date and the threads of the engine run. */
    enum err (*open)(const struct store_options *options, struct store **ret);
    /* Accepts a store whose open failed half-way. */
    void (*close)(struct store *s);
    bool (*ready)(struct store *s);
    void (*submit)(struct store *s, struct work *w);
    void (*turn_end)(struct store *s, struct loop *loop);
    /* Writes a snapshot of the database to a destination that the callback chooses by its size.
     * Checks the copy and logs damage. NULL: not supported; use pg_dump. */
    enum err (*backup)(struct store *s, rows_place_fn *place, void *arg, bool *ret_damaged);
    enum err (*check)(struct store *s);
    enum err (*take)(struct store *s); /* see store_take; NULL: not needed */

    /* Contract of query, next and end: query adds its cursor to tx->open, end removes it; next
     * fills r->row, and after the last row returns false and sets r->changed and r->error. */
    enum err (*query)(struct tx *tx, const char *sql, const struct value *values, size_t count,
                      struct rows *ret);
    bool (*next)(struct rows *r);
    enum err (*end)(struct rows *r);
    /* See tx_prefetch and tx_exec_soon. NULL: queries need no network round trip. */
    void (*prefetch)(struct tx *tx, const char *sql, const struct value *values, size_t count);
    enum err (*exec_soon)(struct tx *tx, struct sql sql, const struct value *values, size_t count);
    unsigned (*lane)(const struct tx *tx); /* see tx_lane; NULL: always 0 */
    bool (*go_aside)(struct tx *tx);       /* see tx_expect_long; NULL: no reads on loops */
    /* See tx_seen. NULL: results cannot be cached. */
    bool (*seen)(struct tx *tx, struct tx_seen *ret);
    bool (*unchanged)(struct tx *tx, const struct tx_seen *since, const uint16_t *slots,
                      size_t count);
    void (*touch)(struct tx *tx, enum noted_rows rows, uint64_t id);
    /* Runs several statements without parameters or results, for migrations. */
    enum err (*script)(struct tx *tx, const char *sql);
    /* Replacements for {id} and {clustered} in migrations. */
    const char *id_word, *clustered_word;
    /* has_older: whether a running server does not know the migration `step` (with `lately`: or a
     * server that ran in the last minute). NULL: only one process uses the database. step_words:
     * SQL that runs before a migration while other servers may use the tables. */
    const char *step_words;
    enum err (*has_older)(struct tx *tx, int64_t step, bool lately, bool *ret);
};

extern const struct engine sqlite_engine, postgres_engine;

/* Number of statements that failed because the database is damaged, in this process. */
uint64_t sqlite_corruptions(void);

struct store {
    const struct engine *engine;
    char *folder;
    int lock; /* exclusive lock on the folder; -1: none held */
    _Atomic uint64_t reads, writes, commits, retries, failures, round_trips, damaged_files;
    _Atomic int64_t
        full_since; /* when the last write found the disk full (clock_mono); 0: not full */
    _Atomic(const char *) retried; /* name of the work that was retried last, or NULL */
    _Atomic uint64_t blobs;        /* counter for names of temporary blob files */
    struct blob_sides *inside;     /* connections for blobs in the database; NULL: blobs are
                                    * files */
    struct blob_cache *cache;      /* file copies of blobs in the database; NULL: blobs are files */
    _Atomic bool unfinished;       /* migrations wait until older servers stop */
    _Atomic bool outgrown;         /* a newer server applied an incompatible migration */
    void (*voided)(void *arg, int64_t position); /* see store_hear_voids; or NULL */
    void *voided_arg;
};

/* One attempt to run one work item. */
struct tx {
    struct store *store;
    struct work *work;
    void *connection;        /* the engine's connection */
    struct row_cursor *open; /* open cursors, newest first */
    enum err failed;         /* error of the first query that failed */
    struct tx_reads *reads;  /* collects the columns that queries read; or NULL */
};

/* The common part of all cursors; first member of the engine's cursor. */
struct row_cursor {
    struct row_cursor *next;
    struct value *row;
};

/* Runs the work's function inside the transaction that the engine has begun, closes the cursors
 * that it left open, and returns its result. */
enum err tx_run(struct tx *tx);

void tx_add_cursor(struct tx *tx, struct row_cursor *c, int columns);
void tx_remove_cursor(struct tx *tx, struct row_cursor *c);

/* Marks the transaction as failed, if it was not; returns e. */
enum err tx_fail(struct tx *tx, enum err e);

/* A read that tries to write is a bug: aborts the process. */
enum err tx_refuse_write(const char *sql);

/* Calls committed and done (done on the work's loop), which may free the work. */
void work_finish(struct store *s, struct work *w, enum err result);

/* Call space_refused after a write found the disk full, and space_found after a commit. */
void space_refused(struct store *s);
void space_found(struct store *s);
/* Limits the log messages about a full disk to one per 10 s. */
bool space_may_log(void);

/* Copies the bytes into the arena and appends a NUL byte. The pointer is never NULL. */
struct value value_copy(struct arena *a, enum value_kind kind, const void *p, size_t n);

/* --- FIFO queue of work items, queue.c ------------------------------------------------ */

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    struct work *first, **last;
    unsigned sleepers;
    bool closed;
};

void queue_init(struct queue *q);
void queue_clear(struct queue *q);
void queue_push(struct queue *q, struct work *w);
/* Puts a linked list of work items back at the head of the queue and wakes all waiting threads. */
void queue_push_back(struct queue *q, struct work *first, struct work *last);
/* Takes up to max work items, linked by next, oldest first. Waits for the first one for up to
 * patience_ms (-1: no timeout). NULL: timeout, or closed and empty. */
struct work *queue_take(struct queue *q, unsigned max, int64_t patience_ms);
/* Takes the oldest work item and those directly behind it that can share its transaction:
 * STORE_APPEND with a prefetch function, each of another owner. */
struct work *queue_take_alike(struct queue *q, unsigned max, int64_t patience_ms);
/* After this call nothing is pushed. Wakes all waiting threads. */
void queue_close(struct queue *q);
bool queue_closed(struct queue *q);

/* Initializes a condition variable that uses the monotonic clock. */
void wait_init(pthread_cond_t *c);
struct timespec wait_deadline(int64_t ms);

/* --- round-robin queues of long reads, lanes.c ---------------------------------------- */

enum lane_name {
    LANE_URGENT, /* run before all other reads */
    LANE_LONG,   /* reads that exceeded LANE_SHARE_MS: run before new reads, but only by some
                  * threads */
    LANE_FRESH,
    LANE_KINDS,
};
/* Time limit of a read on a thread for short reads. The duration of a read is not known in advance:
 * a read that exceeds the limit is aborted and restarts with LANE_LONG. */
enum { LANE_SHARE_MS = 40 };
/* A read may spend the time of this many round trips to the database in addition to its limit. */
enum { LANE_FREE_ROUND_TRIPS = 16 };

struct lanes {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    struct lane_kind {
        struct link turns; /* struct lane, in round-robin order */
        struct map by_owner;
    } kinds[LANE_KINDS];
    unsigned sleepers;
    bool closed;
};

void lanes_init(struct lanes *l);
void lanes_clear(struct lanes *l);
/* Returns false if the queue is closed; then the caller still owns the work item. */
bool lanes_push(struct lanes *l, struct work *w);
/* Waits for up to patience_ms (-1: no timeout) for a read. takes_long: this thread also runs
 * LANE_LONG. NULL: timeout, or closed and empty. */
struct work *lanes_take(struct lanes *l, bool takes_long, int64_t patience_ms);
/* After this call callers push nothing. Wakes all waiting threads. */
void lanes_close(struct lanes *l);
bool lanes_closed(struct lanes *l);

/* --- migrations.c --------------------------------------------------------------------- */

/* Callback that runs a work item on the calling thread, in a transaction of its own. */
typedef enum err run_at_once(struct store *s, struct work *w);

/* Applies the missing migrations; with as_is it only checks that none is missing. The caller makes
 * sure that no other process does the same concurrently. */
enum err migrations_apply(struct store *s, bool as_is, run_at_once *run);
/* Applies the migrations that waited for older servers, if all of those have stopped. */
enum err migrations_finish(struct store *s, run_at_once *run);

/* --- folder.c ------------------------------------------------------------------------- */

/* Creates the folder and its missing parents. Logs failures. */
enum err folder_make(const char *path);
/* Locks the folder for this process. Logs a message if another process has the lock. */
enum err folder_lock(const char *path, int *ret);

/* Creates an unlinked file in TMPDIR, or /var/tmp, for a copy of the database: it disappears when
 * the process ends. Returns -1 on failure and logs it. */
int temporary_file(void);

/* Name of a marker file that exists while a backup is restored into the folder. */
#define RESTORE_MARK "restore.part"

/* --- blobs.c -------------------------------------------------------------------------- */

bool is_blob_name(const char *name);
/* Converts the name of a blob to the name of its marker file (in blobs/.new, until the row of the
 * blob is committed), and back. */
void blob_note_name(const char *blob, char *out, size_t size);
bool is_note_name(const char *note);
void blob_of_note(const char *note, char *out, size_t size);

/* --- blobs in the database, postgres/blobs.c --------------------------------------------- */

struct blob_name {
    const char *name;
    time_t put_at;
};

struct blob_sides *blob_sides_new(void);
void blob_sides_free(struct blob_sides *all); /* accepts NULL */
enum err postgres_blob_put(struct store *s, const char *name, struct str bytes);
enum err postgres_blob_settle(struct store *s, const char *name, bool settled);
/* ERR_NOT_FOUND if there is no such blob. */
enum err postgres_blob_delete(struct store *s, const char *name);
/* Writes the blob to fd, from offset 0; fd -1: only returns the size. ERR_NOT_FOUND: no such
 * blob. */
enum err postgres_blob_read(struct store *s, const char *name, int fd, int64_t *ret_size);
/* Calls found for each blob without a committed row that is at least `seconds` old; -1: for each
 * blob. */
enum err postgres_blobs_each(struct store *s, int64_t seconds,
                             enum err (*found)(void *arg, const struct blob_name *name), void *arg);
/* Locks blobs against deletion by servers (see blobs_hold). The lock lasts until the store is
 * closed. */
enum err postgres_blobs_hold(struct store *s);
bool postgres_blobs_held(struct store *s);

/* --- file copies of blobs in the database, blobs/cache.c ------------------------------- */

#define BLOB_CACHE "blob-cache" /* folder next to blobs/ */

struct blob_cache *blob_cache_new(int64_t most); /* limit in bytes; 0: none */
void blob_cache_free(struct blob_cache *c);      /* accepts NULL */
enum err blob_cache_open_folder(const struct store *s);
/* Opens the cached copy if it was checked against the database in the last hour. */
bool blob_cache_open_near(const struct store *s, const char *name, int *ret_fd, int64_t *ret_size);
/* Opens the cached copy; creates it if there is none. ERR_NOT_FOUND: there is no such blob. */
enum err blob_cache_open(struct store *s, const char *name, int *ret_fd, int64_t *ret_size);
/* Reads the blob from the database without leaving a copy in the cache. */
enum err blob_cache_read(struct store *s, const char *name, int *ret_fd, int64_t *ret_size);
void blob_cache_drop(const struct store *s, const char *name);

/* --- blobs/walk.c --------------------------------------------------------------------- */

/* Creates the file that backups lock. */
void blobs_make_hold(struct store *s);
/* Prevents servers from deleting blobs with a row, until the descriptor is closed. */
enum err blobs_hold(struct store *s, int *ret);

/* Like blob_open, but leaves no copy in the cache if blobs are in the database. */
enum err blob_open_once(struct store *s, const char *name, int *ret_fd, int64_t *ret_size);

/* Callback for each file; fd is open for reading, and the walk closes it. */
typedef enum err blob_found(void *arg, const char *name, int fd, time_t written);
enum err blobs_walk(struct store *s, blob_found *found, void *arg);
enum err blobs_walk_notes(struct store *s, blob_found *found, void *arg);
/* Calls found for all files below a subfolder of the data folder, recursively. */
enum err blobs_walk_folder(const struct store *s, const char *below, blob_found *found, void *arg);

/* Creates the blob folder. If this process has locked the data folder, also removes temporary files
 * that a crash left. */
enum err blobs_open(struct store *s);

#endif
