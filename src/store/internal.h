/* internal.h - the interface between store.c and the engines, for files of src/store only.
 *
 * store.c and rows.c handle work items, rows and values. An engine (sqlite/, postgres/) handles
 * connections, transactions and statements, and implements struct store_engine. */
#ifndef STORE_INTERNAL_H
#define STORE_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "base/map.h"
#include "store/folder.h"
#include "store/store.h"

/* Destination of a copy of the database: an open file, and the offset at which the copy begins. */
struct database_copy_destination {
    int fd;
    int64_t offset;
};
/* Callback that chooses a destination with space for `size` bytes. */
typedef enum err reserve_copy_destination_fn(void *arg, int64_t size,
                                             struct database_copy_destination *ret);

struct store_engine {
    const char *name;
    /* Opens the store: when open returns, the schema is up to date and the engine's threads run. */
    enum err (*open)(const struct store_options *options, struct store **ret);
    /* close also accepts a store whose open function has failed. */
    void (*close)(struct store *s);
    bool (*ready)(struct store *s);
    void (*submit)(struct store *s, struct work_item *w);
    /* For engines with standbys, otherwise NULL: see store_may_read_standby. write_ended is called
     * before the owner of a write learns its result. */
    bool (*may_read_standby)(const struct store *s, uint64_t owner);
    void (*write_ended)(struct store *s, uint64_t owner);
    void (*add_stats)(const struct store *s, struct store_stats *ret);
    void (*iteration_end)(struct store *s, struct loop *loop);
    /* Writes a snapshot of the database to a destination that the callback chooses by its size.
     * Checks the copy and logs damage. NULL if the engine has no backup function (use pg_dump). */
    enum err (*backup)(struct store *s, reserve_copy_destination_fn *location, void *arg,
                       bool *ret_damaged);
    enum err (*check)(struct store *s);
    enum err (*lock_exclusive)(struct store *s); /* see store_lock_exclusive; NULL if not needed */

    /* query starts a statement and adds its cursor to tx->open; end removes it. next reads one row
     * into r->row; after the last row, next returns false and sets r->changed and r->error. */
    enum err (*query)(struct tx *tx, const char *sql, const struct value *values, size_t count,
                      struct rows *ret);
    bool (*next)(struct rows *r);
    enum err (*end)(struct rows *r);
    /* Implements tx_exec_deferred. NULL if queries of this engine need no network round trip. */
    enum err (*exec_deferred)(struct tx *tx, struct sql sql, const struct value *values,
                              size_t count);
    /* Implements tx_make_ids_visible_in_order. NULL if the engine commits all writes on one thread,
     * so that ids become visible in order anyway. */
    void (*order_id)(struct tx *tx, uint64_t stream, uint64_t id);
    unsigned (*counter_shard)(
        const struct tx *tx); /* see tx_get_counter_shard; NULL means always 0 */
    /* Implements tx_require_background_thread; NULL if the engine runs no reads on event loops. */
    bool (*move_to_background)(struct tx *tx);
    /* Implements tx_get_snapshot_version. NULL if results of this engine cannot be cached. */
    bool (*snapshot_version)(struct tx *tx, struct snapshot_version *ret);
    bool (*slots_unchanged)(struct tx *tx, const struct snapshot_version *since,
                            const uint16_t *slots, size_t count);
    void (*mark_row_changed)(struct tx *tx, enum versioned_row_kind rows, uint64_t id);
    /* Runs several statements without parameters or results, for migrations. */
    enum err (*script)(struct tx *tx, const char *sql);
    /* SQL that replaces the placeholders {id} and {clustered} in migrations. */
    const char *id_sql, *clustered_sql;
    /* has_older sets *ret to whether a server is running that does not know the migration `step`,
     * or with `lately`, was running in the last minute. NULL if only one process uses the database.
     * before_migration_sql is SQL that runs before a migration while other servers may run. */
    const char *before_migration_sql;
    enum err (*has_older)(struct tx *tx, int64_t step, bool lately, bool *ret);
};

extern const struct store_engine sqlite_engine, postgres_engine;

/* Returns how many statements of this process failed because the database is damaged. */
uint64_t sqlite_count_corruptions(void);

struct store {
    const struct store_engine *engine;
    char *folder;
    int lock; /* descriptor of the folder's exclusive lock; -1 if this process has not locked the
               * folder */
    _Atomic uint64_t reads, writes, commits, retries, failures, round_trips, damaged_files;
    _Atomic int64_t full_since;    /* time at which the disk was found full (monotonic ns); 0 means
                                    * that it is not full */
    _Atomic(const char *) retried; /* name of the work item that was retried last, or NULL */
    _Atomic uint64_t blobs;        /* counter that makes the names of temporary blob files unique */
    const struct remote_blobs *remote_blobs;   /* operations on blobs in the database or in object
                                                * storage; NULL if blobs are files in .folder */
    struct blob_connections *blob_connections; /* PostgreSQL: connections for remote blobs */
    struct object_storage *objects; /* object storage that contains the blobs; NULL if blobs are
                                     * elsewhere */
    bool blob_redirects;            /* see store_options */
    struct blob_cache *cache;       /* file copies of remote blobs; NULL if blobs are files */
    _Atomic bool unfinished;        /* migrations wait until older servers stop */
    _Atomic bool outgrown; /* whether a newer server has applied a migration with which this program
                            * cannot work */
    void (*position_aborted)(
        void *arg, int64_t position); /* see store_set_aborted_log_position_callback; or NULL */
    void *position_aborted_arg;
};

/* The transaction in which a work item runs. If the work item is retried, each attempt has its own
 * struct tx. */
struct tx {
    struct store *store;
    struct work_item *work;
    void *connection;              /* the engine's connection */
    struct row_cursor *open;       /* open cursors, newest first */
    enum err failed;               /* error of the first query that failed, or OK */
    struct tx_dependencies *reads; /* collects the columns that queries read; NULL if the caller
                                    * does not need them */
};

/* An id of tx_make_ids_visible_in_order. */
struct created_stream_id {
    struct created_stream_id *next;
    uint64_t stream, id;
};

/* Cursor members that both engines need; first member of each engine's own cursor struct. */
struct row_cursor {
    struct row_cursor *next;
    struct value *row;
};

/* Runs the work item's function inside the transaction that the engine has begun, closes the
 * cursors that the function left open, and returns its result. */
enum err tx_run_work_item(struct tx *tx);

void tx_add_cursor(struct tx *tx, struct row_cursor *c, int columns);
void tx_remove_cursor(struct tx *tx, struct row_cursor *c);

/* Marks the transaction as failed with error e, unless it has failed already. Returns e. */
enum err tx_mark_transaction_failed(struct tx *tx, enum err e);

/* Aborts the process, because a read transaction that tries to write is a bug. */
enum err tx_abort_process_on_write_in_read(const char *sql);

/* Calls the functions committed and done of the work item (done on the work item's loop). These
 * functions may free the work item. */
void work_item_call_callbacks(struct store *s, struct work_item *w, enum err result);

/* Call store_set_disk_full after a write failed because the disk is full, store_clear_disk_full
 * after a commit. */
void store_set_disk_full(struct store *s);
void store_clear_disk_full(struct store *s);
/* Returns whether a message about a full disk may be logged now; true at most once per 10 s. */
bool disk_full_message_may_be_logged(void);

/* Copies n bytes into the arena and appends a NUL byte. The copy's pointer is never NULL. */
struct value copy_column_value_to_arena(struct arena *a, enum value_kind kind, const void *p,
                                        size_t n);

/* --- FIFO queue of work items, queue.c ------------------------------------------------ */

struct work_queue {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    struct work_item *first, **last;
    unsigned sleepers;
    bool closed;
};

void work_queue_init(struct work_queue *q);
void work_queue_clear(struct work_queue *q);
void work_queue_push(struct work_queue *q, struct work_item *w);
/* Puts a linked list of work items back at the head of the queue. Wakes all waiting threads. */
void work_queue_push_front(struct work_queue *q, struct work_item *first, struct work_item *last);
/* Removes up to max work items from the head of the queue and returns them as a list, oldest first.
 * Waits up to timeout_ms (-1 means no timeout) for the first work item. Returns NULL after the
 * timeout, or if the queue is closed and empty. */
struct work_item *work_queue_pop_batch(struct work_queue *q, unsigned max, int64_t timeout_ms);
/* Removes the oldest work item, and the items directly behind it that can share its transaction:
 * STORE_APPEND items with may_share set, each of a different owner. */
struct work_item *work_queue_pop_items_of_one_commit(struct work_queue *q, unsigned max,
                                                     int64_t timeout_ms);
bool work_item_can_share_transaction(const struct work_item *w);
/* Closes the queue: after this call nothing may be pushed. Wakes all waiting threads. */
void work_queue_close(struct work_queue *q);
bool work_queue_is_closed(struct work_queue *q);

void init_condition_with_monotonic_clock(pthread_cond_t *c);
struct timespec timespec_after_ms(int64_t ms);

/* --- round-robin queues of long reads, fair_queue.c ----------------------------------- */

enum read_priority {
    READ_PRIORITY_URGENT, /* runs before all other reads */
    READ_PRIORITY_LONG, /* a read that exceeded SHORT_READ_LIMIT_MS; runs before new reads, but only
                         * on threads that run long reads */
    READ_PRIORITY_NEW,
    READ_PRIORITY_COUNT,
};
/* Time limit of a read on a thread for short reads. The duration of a read is not known in advance:
 * a read that exceeds the limit is aborted and restarts with READ_PRIORITY_LONG. */
enum { SHORT_READ_LIMIT_MS = 40 };
/* Number of round trips to the database whose time does not count towards a read's time limit. */
enum { UNCOUNTED_ROUND_TRIPS = 16 };

struct fair_queue {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    struct fair_queue_priority {
        struct list_link
            round_robin; /* list of struct owner_queue: the first owner's read runs next */
        struct map by_owner;
    } by_priority[READ_PRIORITY_COUNT];
    unsigned sleepers;
    bool closed;
};

void fair_queue_init(struct fair_queue *l);
void fair_queue_clear(struct fair_queue *l);
/* Queues a read. Returns false if the queue is closed; then the caller still owns the work item. */
bool fair_queue_push(struct fair_queue *l, struct work_item *w);
/* Waits up to timeout_ms for a read (-1 means no timeout). If runs_long is set, the thread also
 * gets READ_PRIORITY_LONG reads. Returns NULL after the timeout, or if the queue is closed and
 * empty. */
struct work_item *fair_queue_pop(struct fair_queue *l, bool runs_long, int64_t timeout_ms);
/* Closes the queue: after this call nothing may be pushed. Wakes all waiting threads. */
void fair_queue_close(struct fair_queue *l);
bool fair_queue_is_closed(struct fair_queue *l);

/* --- migrations.c --------------------------------------------------------------------- */

/* Callback that runs a work item on the calling thread, in a transaction of its own. */
typedef enum err run_work_item_in_transaction_fn(struct store *s, struct work_item *w);

/* Applies the missing migrations. If as_is is set, only checks that no migration is missing. The
 * caller makes sure that no other process applies migrations at the same time. */
enum err migrations_apply(struct store *s, bool as_is, run_work_item_in_transaction_fn *run);
/* Applies the migrations that wait for older servers, if all older servers have stopped. */
enum err migrations_apply_postponed(struct store *s, run_work_item_in_transaction_fn *run);

/* --- folder.c ------------------------------------------------------------------------- */

/* Creates the folder and its missing parents. Logs failures. */
enum err folder_create(const char *path);
/* Locks the folder for this process. Logs an error if another process holds the lock. */
enum err lock_data_folder(const char *path, int *ret);

/* Creates an unlinked file in TMPDIR, or in /var/tmp, for a copy of the database. The file
 * disappears when the process ends. Returns -1 and logs the reason on failure. */
int temporary_file_create(void);

/* Name of a marker file that exists while a backup is restored into the folder. */
#define RESTORE_MARKER_FILE "restore.part"

/* --- blobs.c -------------------------------------------------------------------------- */

bool is_blob_name(const char *name);
/* blob_format_uncommitted_marker_name converts a blob's name to the name of its marker file,
 * blob_name_from_uncommitted_marker the reverse. The marker file is in blobs/.new until the row of
 * the blob is committed. */
void blob_format_uncommitted_marker_name(const char *blob, char *out, size_t size);
bool is_uncommitted_blob_marker_name(const char *marker);
void blob_name_from_uncommitted_marker(const char *marker, char *out, size_t size);

/* --- blobs in the database or in object storage ----------------------------------------- */

struct stored_blob {
    const char *name;
    time_t put_at;
};

/* Operations on remote blobs. blobs.c, cache.c and walk.c access remote blobs only through these
 * functions. */
struct remote_blobs {
    enum err (*put)(struct store *s, const char *name, struct str bytes);
    enum err (*set_committed)(struct store *s, const char *name, bool committed);
    /* Deletes a blob. Returns ERR_NOT_FOUND if there is no such blob. */
    enum err (*delete)(struct store *s, const char *name);
    /* Writes the blob to fd, from offset 0; if fd is -1, only returns the size. Returns
     * ERR_NOT_FOUND if there is no such blob. */
    enum err (*read)(struct store *s, const char *name, int fd, int64_t *ret_size);
    /* Calls `found` for each blob that has no committed row and is at least `seconds` old. If
     * seconds is -1, calls it for every blob. */
    enum err (*list)(struct store *s, int64_t seconds,
                     enum err (*found)(void *arg, const struct stored_blob *name), void *arg);
};
extern const struct remote_blobs database_blobs, object_blobs;

/* Sets the members remote_blobs, objects and cache of the store as the options say. Logs an invalid
 * option. */
enum err remote_blobs_init(struct store *s, const struct store_options *o);
void remote_blobs_clear(struct store *s);
/* A second location for the blobs of a store, used while blobs are moved. store_swap_blob_locations
 * exchanges the two locations. */
struct blob_location {
    const struct remote_blobs *remote_blobs;
    struct object_storage *objects;
    struct blob_cache *cache;
};
void store_swap_blob_locations(struct store *s, struct blob_location *location);
/* Compares the blob location of the options with the location that the database has stored: fails
 * if they differ; stores the location if the database has none. If `writes` is set, as at the end
 * of a move, stores the location without a check. */
enum err blobs_compare_or_store_location(struct store *s, bool writes);
/* Logs that the blobs are in the location `stored` and not where the options say; if stored.p is
 * NULL, logs that they are not in the bucket `address`. Returns an error. */
enum err blobs_log_wrong_location(const char *address, struct str stored);

/* --- blobs in the database, blobs/database.c --------------------------------------------- */

struct blob_connections *blob_connections_new(void);
void blob_connections_free(struct blob_connections *all); /* accepts NULL */
/* Runs a short transaction. On PostgreSQL it has a connection of its own, so that it does not queue
 * behind requests. */
enum err run_transaction_on_blob_connection(struct store *s, enum transaction_mode mode,
                                            enum err (*run)(struct tx *tx, void *arg), void *arg);

/* Rows (name, time in seconds) of blobs, read a page at a time. */
enum { STORED_BLOBS_PER_PAGE = 256 };
struct stored_blob_page {
    char after[256]; /* name of the last blob read: the next query continues after this name. Blob
                      * names are shorter than 256 bytes */
    struct arena *arena;
    int64_t seconds; /* minimum age of the blobs; -1 means all blobs */
    size_t count;
    struct stored_blob blobs[STORED_BLOBS_PER_PAGE];
};
enum err stored_blob_page_read(struct stored_blob_page *p, struct rows *r);
/* Calls `found` for each blob. `read` queries a page and calls stored_blob_page_read. */
enum err stored_blob_pages_visit(struct store *s, enum err (*read)(struct tx *tx, void *page),
                                 int64_t seconds,
                                 enum err (*found)(void *arg, const struct stored_blob *blob),
                                 void *arg);
/* Locks blobs against deletion by servers (see blobs_lock_deletion). The lock lasts until the store
 * is closed. */
enum err postgres_lock_blob_deletion(struct store *s);
bool postgres_blob_deletion_is_locked(struct store *s);

/* --- file copies of remote blobs, blobs/cache.c ------------------------------- */

#define BLOB_CACHE_FOLDER "blob-cache" /* folder next to blobs/ */

/* most: maximum size of the cache in bytes; 0 means no limit. */
struct blob_cache *blob_cache_new(int64_t most);
void blob_cache_free(struct blob_cache *c); /* accepts NULL */
enum err blob_cache_open_folder(const struct store *s);
/* Opens the cached copy of a blob, if the copy was checked against the storage in the last hour. */
bool blob_cache_open_recently_checked(const struct store *s, const char *name, int *ret_fd,
                                      int64_t *ret_size);
/* Opens or creates the cached copy of a blob. Returns ERR_NOT_FOUND if there is no such blob. */
enum err blob_cache_open(struct store *s, const char *name, int *ret_fd, int64_t *ret_size);
/* Opens a temporary copy of a remote blob, which does not stay in the cache. */
enum err remote_blob_open_temporary_copy(struct store *s, const char *name, int *ret_fd,
                                         int64_t *ret_size);
void blob_cache_delete(const struct store *s, const char *name);

/* --- blobs/walk.c --------------------------------------------------------------------- */

/* Creates the file that backups lock to prevent the deletion of blobs. */
void blobs_create_deletion_lock_file(struct store *s);
/* Prevents servers from deleting blobs that have a row, until the caller closes *ret. */
enum err blobs_lock_deletion(struct store *s, int *ret);

/* Opens a blob like blob_open, but leaves no copy in the cache if blobs are remote. */
enum err blob_open_without_caching(struct store *s, const char *name, int *ret_fd,
                                   int64_t *ret_size);

/* Callback for each file: fd is open for reading, and the caller of the callback closes it. */
typedef enum err visit_blob_file_fn(void *arg, const char *name, int fd, time_t written);
enum err blobs_visit_all(struct store *s, visit_blob_file_fn *found, void *arg);
enum err uncommitted_blob_markers_visit_all(struct store *s, visit_blob_file_fn *found, void *arg);
/* Calls `found` for all files below a subfolder of the data folder, recursively. */
enum err blobs_visit_folder(const struct store *s, const char *below, visit_blob_file_fn *found,
                            void *arg);

/* Creates the blob folder. If this process has locked the data folder, also removes temporary files
 * that a crash left. */
enum err blobs_open_folder(struct store *s);

#endif
