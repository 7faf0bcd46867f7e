/* store.h - the persistent store: transactions, queries and blobs, on SQLite or PostgreSQL.
 *
 * src/store owns the database connections, the schema migrations, the blob files, backups and the
 * move between engines. It uses base/ and net/loop.h only. A work item (struct work_item) is a
 * function that runs inside one transaction. The engine decides where it runs:
 *
 *   SQLite      Reads run on the calling loop, on that loop's connection. Reads that may take long,
 *               or take longer than a few milliseconds, are (re)started on background threads.
 *               All writes run on one writer thread, which commits all waiting writes together.
 *   PostgreSQL  Idempotent reads are sent from the calling loop without blocking. Everything else
 *               runs on a pool of workers with a connection each; long reads have their own.
 *
 * Invariants: done runs on the submitting loop, after the commit; committed runs in commit order.
 * Start reading with struct work_item and tx_query below, then internal.h (struct store_engine). */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/errors.h"
#include "base/links.h"
#include "base/snowflake.h"
#include "base/str.h"
#include "net/loop.h"

struct store;
struct tx;
struct object_storage_options;
struct object_storage_stats;

enum transaction_mode {
    STORE_NONE,
    STORE_READ,
    /* Serializable isolation: the result is as if all transactions ran one after the other. */
    STORE_WRITE,
    /* Repeatable read on PostgreSQL: two transactions conflict if they change the same row, but not
     * if one reads rows that the other changes. Use STORE_APPEND only to insert rows that no other
     * STORE_APPEND transaction reads to make a decision, such as messages. Rows that the work item
     * has read may change before its commit. */
    STORE_APPEND,
};

struct store_options {
    const char *folder;   /* folder of the SQLite database and of the blobs; created if missing */
    const char *postgres; /* "postgres://…" or "host=/run/…"; NULL means SQLite */
    bool serves;          /* whether the caller is a server; then statements get timeouts */
    bool shared; /* PostgreSQL: whether other nodes use the same database and read its event log */
    bool read_only_tool; /* whether the caller is a tool that only reads; a server may be running on
                          * the same data */
    bool as_is; /* whether to fail if the database is missing or its schema is outdated, instead of
                 * creating or migrating it */
    bool moves; /* whether the caller is the move tool (move.h); only that tool may open a partly
                 * moved database */
    bool blobs_inside; /* PostgreSQL: whether blobs are in the database; then the folder contains
                        * cached copies of some blobs */
    /* Object storage that contains the blobs; NULL if blobs are elsewhere. */
    const struct object_storage_options *objects;
    bool blob_redirects; /* with objects: blob_append_presigned_url allows direct downloads */
    int64_t blob_cache;  /* maximum size of the blob cache in bytes; 0 means no limit */
    bool no_sync;        /* SQLite: whether commits return without waiting for fsync */
    /* PostgreSQL: number of worker connections for short transactions; 0 means 4. */
    unsigned workers;
    const char *standby;    /* PostgreSQL: connection string of a standby; NULL means none */
    int64_t standby_lag_ms; /* how old the data of the standby may be */
    unsigned
        readers; /* number of loops that submit reads; each loop_get_index is below this number */
};

/* Opens or creates the database and applies migrations. Logs a message on failure. */
enum err store_open(const struct store_options *options, struct store **ret);
/* Finishes all submitted work, then closes the store. During and after this call do not submit work
 * or call store_release_snapshot_of_loop_iteration. Loops with pending work must still run. Accepts
 * NULL. */
void store_close(struct store *s);

/* Fails if a server runs on the database, and prevents servers from starting until the store is
 * closed. For tools that change data which servers cache. On SQLite, opening the store already
 * locks out servers. */
enum err store_lock_exclusive(struct store *s);

/* Returns "sqlite" or "postgres". */
const char *store_engine_name(const struct store *s);

/* Returns whether the database is reachable (for /readyz). */
bool store_is_reachable(struct store *s);
/* Returns whether the last writes failed because the disk is full. Callable from any thread. */
bool store_disk_is_full(struct store *s);

/* --- work items ----------------------------------------------------------------------- */

enum { WORK_ITEM_MAX_IDS = 16 };
/* A transaction to run. Embed it in the caller's struct; it must exist until done was called. */
struct work_item {
    enum transaction_mode mode;
    bool in_background; /* whether the read may take long; it then runs on a background thread */
    bool measured; /* whether the read is usually short: it starts on the loop, checks the clock at
                    * each row, and restarts on a background thread if it exceeds its time limit */
    /* owner is an account id or a hash of an address; 0 means the server itself. Background reads
     * are scheduled round-robin by owner. An urgent read runs before all other background reads;
     * set `urgent` if many callers wait for the result. */
    uint64_t owner;
    bool urgent;
    const char *name;  /* string literal that names the work item in metrics and traces, or NULL */
    struct loop *loop; /* loop on which done is called; NULL means a thread of the store */
    /* The function of the work item. Runs inside the transaction, possibly more than once (after a
     * serialization failure, or when a long read restarts on a background thread), so it must not
     * depend on an earlier run. If it returns an error, or a buffer in the arena was truncated
     * (ERR_ENTITY_TOO_LARGE), its own writes are rolled back, and only those. Strings that it reads
     * live in tx_arena. */
    enum err (*run)(struct work_item *w, struct tx *tx);
    bool is_idempotent;    /* STORE_READ: whether run is idempotent, so that the store may abort and
                            * restart it */
    bool may_read_standby; /* STORE_READ: whether a standby may run the read, so that its result may
                            * be a moment old. If the read fails there, the primary runs it. */
    bool may_share; /* STORE_APPEND: whether this work item may share a transaction with work items
                     * of other owners; the items do not see each other's writes */
    /* Ids of the request; 0 means absent. PostgreSQL learns which query parameters are equal to
     * these ids, or depend on the first id, and prefetches the queries (postgres/prefetch.c). */
    uint64_t ids[WORK_ITEM_MAX_IDS];
    unsigned id_count;
    /* Callback, or NULL. Called after the commit of this work item's writes and before `done`, on a
     * thread of the store. Calls for different work items are made one at a time and in commit
     * order: a work item that saw or overwrote the writes of another one comes after it. */
    void (*committed)(struct work_item *w);
    /* Called at the end with the result of run, or the reason why the commit failed:
     * ERR_STORAGE_FULL if the disk is full; ERR_UNAVAILABLE if the database is unreachable or not
     * writable, or the connection was lost during the commit (then it is unknown whether the commit
     * succeeded); ERR_STORE_RETRY after too many conflicts. */
    void (*done)(struct work_item *w, enum err e);
    struct arena *arena; /* memory for copies of rows */

    /* The members from here on are private to the store. */
    struct loop_message post;
    struct work_item *next;
    bool is_long;   /* the read exceeded SHORT_READ_LIMIT_MS */
    bool by_itself; /* PostgreSQL: for a write, that it must not join a group commit; for a read,
                     * that the predicted number of its round trips was wrong */
    struct {        /* PostgreSQL: learned queries (postgres/prefetch.c) */
        enum { PREFETCH_NOT_BEGUN, PREFETCH_LEARNS, PREFETCH_ENDED } phase;
        uint64_t key; /* 0 means not set yet */
    } prefetch;
    int64_t since;
    enum err result;
    struct str log, log_recipients; /* row of the event log, see tx_set_event_log_row */
    int64_t position;               /* position of the row `log` in the event log */
    struct created_stream_id
        *ordered_ids;             /* see tx_make_ids_visible_in_order; reset before each run */
    struct list_link commit_link; /* PostgreSQL: link in the list of the commit order */
    bool in_commit_order; /* PostgreSQL: whether commit_link is in the list of the commit order */
    bool answered;        /* PostgreSQL: whether the database has acknowledged COMMIT */
};

static inline bool work_item_is_write(const struct work_item *w)
{
    return w->mode == STORE_WRITE || w->mode == STORE_APPEND;
}

/* Submits a work item; call it on w->loop. On SQLite, a read may call done before this returns. */
void store_submit_work_item(struct store *s, struct work_item *w);

/* Returns whether a standby would now run reads of this owner that may be a moment old: it is up to
 * date, and has the owner's last write. Callable from any thread. */
bool store_may_read_standby(const struct store *s, uint64_t owner);

/* Runs a transaction and waits until it has ended; for tools and tests without loops. */
enum err store_run_transaction_and_wait(struct store *s, enum transaction_mode mode,
                                        struct arena *arena,
                                        enum err (*run)(struct tx *tx, void *arg), void *arg);

/* A separate PostgreSQL connection for one thread, so that its work does not queue behind requests.
 * store_connection_run_transaction is store_run_transaction_and_wait on this connection. Free the
 * connection before the store is closed. */
struct store_connection;
struct store_connection *store_connection_new(struct store *s);
enum err store_connection_run_transaction(struct store_connection *side, enum transaction_mode mode,
                                          struct arena *arena,
                                          enum err (*run)(struct tx *tx, void *arg), void *arg);
void store_connection_free(struct store_connection *side); /* accepts NULL */
/* Returns how often the connection was opened. After a reconnect the database may be another
 * server, such as a promoted replica. */
unsigned store_connection_count_connects(const struct store_connection *side);

/* Returns the number of the newest migration that this program knows. */
int64_t store_schema_number(void);
/* During a rolling upgrade servers of two versions share a PostgreSQL database.
 * store_has_postponed_migrations returns whether migrations wait until the older servers stop;
 * store_schema_is_too_new returns whether a newer server applied migrations with which this program
 * cannot work. */
bool store_has_postponed_migrations(const struct store *s);
bool store_schema_is_too_new(const struct store *s);
/* Applies postponed migrations if no older server runs, and ends connections of older servers. */
enum err store_connection_apply_postponed_migrations(struct store_connection *side);

/* Returns the number by which the database view server_connections identifies this process (column
 * identity). */
uint32_t store_process_identity(const struct store *s);
unsigned node_number_of_process_identity(uint32_t identity);

/* Releases the snapshot that the reads of a loop iteration shared; call it at the end of each
 * iteration. An old snapshot would delay checkpoints. */
void store_release_snapshot_of_loop_iteration(struct store *s, struct loop *loop);

/* --- queries -------------------------------------------------------------------------- */

struct arena *tx_arena(struct tx *tx);
/* Changes the arena to which rows are copied. Returns the previous arena, to restore it. */
struct arena *tx_replace_arena(struct tx *tx, struct arena *a);

/* Returns the number of a counter shard: 0 if the engine has a single writer, otherwise a number
 * that no other running work item on any node has. With one counter row per shard, concurrent
 * transactions do not update the same row. */
unsigned tx_get_counter_shard(const struct tx *tx);

/* Call it before a long computation without queries. On a loop, the function returns an error,
 * which the work item must return: the store then restarts the read in the background. On another
 * thread, the function returns OK. */
enum err tx_require_background_thread(struct tx *tx);

/* Kinds of rows with row versions, for caches. On SQLite (one writing process) each column, each
 * row of these tables and the set of rows of an owner has a version slot. A cached result stays
 * valid for later reads of the same thread until one of its slots changes. */
enum versioned_row_kind {
    VERSIONED_MESSAGES,
    VERSIONED_USERS,
    VERSIONED_CHANNELS,
    VERSIONED_COMMANDS,
    VERSIONED_RELATIONSHIPS, /* version of an account's relationships; the id is the account id */
    VERSIONED_MEMBERS /* version of a guild's members and their roles; the id is the guild id */
};
struct snapshot_version {
    uint64_t connection, commits;
};
/* Sets ret to the version of this read's snapshot, which says how many commits the snapshot
 * includes at least. Returns false for writes, and on PostgreSQL. */
bool tx_get_snapshot_version(struct tx *tx, struct snapshot_version *ret);
uint16_t row_version_slot(enum versioned_row_kind rows, snowflake id);
/* Returns whether no version slot has changed since an earlier read of the same connection. */
bool tx_row_version_slots_are_unchanged(struct tx *tx, const struct snapshot_version *since,
                                        const uint16_t *slots, size_t count);
/* tx_record_query_dependencies collects the version slots of all columns that later queries read,
 * until it is called with NULL. */
enum { TX_DEPENDENCIES_MAX = 256 };
struct tx_dependencies {
    uint16_t slots[TX_DEPENDENCIES_MAX];
    size_t count;
    bool is_unknown; /* whether the dependencies are not completely known, because they exceed
                      * `slots` or are not rows, such as the time; then do not cache the result */
};
void tx_record_query_dependencies(struct tx *tx, struct tx_dependencies *to);

/* Marks the version slot of an id as changed. Needed only for inserts: no cached result depends on
 * a new id, so the code that inserts a command marks the slot of its application. */
void tx_mark_row_changed(struct tx *tx, enum versioned_row_kind rows, snowflake id);

/* tx_set_event_log_row sets the event that this transaction publishes, as one row of the event
 * log, and its recipients (empty: all nodes). SQLite does not store recipients. After the commit
 * work->position is the row's position. The bytes must outlive the work item. */
enum { STORE_LOG_ROWS_RETAINED = 20000 };
void tx_set_event_log_row(struct tx *tx, struct str body, struct str recipients);
/* Makes the ids of a stream visible in increasing order: if a greater id of the stream was
 * committed since `run` created `id`, the work item runs again and must create a new id. On SQLite
 * no check is needed, because one writer runs and commits one work item after the other. */
void tx_make_ids_visible_in_order(struct tx *tx, uint64_t stream, uint64_t id);
/* Registers a callback that gets the event log positions of aborted transactions. Call it before
 * the first commit. The callback runs on any thread, as soon as the abort is certain. */
void store_set_aborted_log_position_callback(struct store *s,
                                             void (*aborted)(void *arg, int64_t position),
                                             void *arg);

enum value_kind { VALUE_NULL, VALUE_INT, VALUE_REAL, VALUE_TEXT, VALUE_BYTES };

struct value {
    enum value_kind kind;
    union {
        int64_t i;
        double d;
        struct str s;
    };
};

static inline struct value v_int(int64_t i)
{
    return (struct value){ .kind = VALUE_INT, .i = i };
}
static inline struct value v_id(snowflake id)
{
    return (struct value){ .kind = VALUE_INT, .i = (int64_t)id };
}
static inline struct value v_real(double d)
{
    return (struct value){ .kind = VALUE_REAL, .d = d };
}
static inline struct value v_text(struct str s)
{
    return (struct value){ .kind = VALUE_TEXT, .s = s };
}
static inline struct value v_bytes(struct str s)
{
    return (struct value){ .kind = VALUE_BYTES, .s = s };
}
static inline struct value v_null(void)
{
    return (struct value){ .kind = VALUE_NULL };
}

/* The parameters $1, $2, … of a query: BIND(v_id(me), v_text(name)) or NO_BIND. */
#define BIND(...)                          \
    (const struct value[]){ __VA_ARGS__ }, \
        sizeof((const struct value[]){ __VA_ARGS__ }) / sizeof(struct value)
#define NO_BIND NULL, 0

/* Iterates over the rows of one query. */
struct rows {
    struct tx *tx;
    struct row_cursor *cursor; /* NULL after rows_end */
    const struct value *row;   /* the current row, in the arena */
    int columns;
    int64_t changed; /* number of changed rows, known after the last row */
    enum err error;
    bool lent;   /* whether text and bytes of a column are valid only until the next row */
    bool single; /* whether the caller reads only the first row */
};

/* The text of a statement. Prepared statements are cached by the address of their text, so the text
 * must be a string literal or a static const array of char. SQL() does not compile with anything
 * else, such as text that is built at run time. The functions below accept a literal, a static
 * array or a struct sql. A helper takes a struct sql and is called with SQL(FIND); a table of
 * statements has rows of SQL_TEXT("delete from notes where user_id = $1"). */
struct sql {
    const char (*text)[];
};
#define SQL_TEXT(literal) \
    {                     \
        &"" literal       \
    }
/* clang-format off */
#define SQL(words) SQL_NUMBERED(words, __COUNTER__)
#define SQL_NUMBERED(words, n) SQL_CHECKED(words, n)
#define SQL_CHECKED(words, n)                                                                     \
    ({                                                                                            \
        static const void *const sql_##n =                                                        \
            _Generic((__typeof__(words) *)0, const char(*)[]: (words), default: (const void *)0); \
        (void)sql_##n;                                                                            \
        _Generic((__typeof__(words) *)0, const char(*)[]: (struct sql){ sql_##n },                \
            struct sql *: (words), const struct sql *: (words));                                  \
    })
/* clang-format on */

/* Write SQL that both engines understand: $1, on conflict … do update, returning. The text must use
 * all of $1 … $count. PostgreSQL infers the type of a parameter from its context; where the context
 * is not enough, write cast($1 as bigint).
 *
 * Values must live until rows_end. Text with a NUL byte, which PostgreSQL cannot store, is
 * ERR_BAD_REQUEST on both engines. Do not write to a table while you iterate over its rows. Always
 * call rows_end, also after rows_next returned false: it returns the error. The first query that
 * fails fails the transaction: later queries return the same error. */
#define tx_query(tx, sql, ...) tx_query_sql(tx, SQL(sql), __VA_ARGS__)
enum err tx_query_sql(struct tx *tx, struct sql sql, const struct value *values, size_t count,
                      struct rows *ret);
bool rows_next(struct rows *r);
enum err rows_end(struct rows *r);

/* The functions row_… return columns (from 0) of the current row; NULL is 0, false or empty. Text
 * and bytes are copied to the arena and outlive the rows, unless .lent was set before. */
bool row_column_is_null(const struct rows *r, int column);
int64_t row_int(const struct rows *r, int column);
snowflake row_id(const struct rows *r, int column);
double row_real(const struct rows *r, int column);
bool row_bool(const struct rows *r, int column);
struct str row_text(const struct rows *r, int column);
struct str row_bytes(const struct rows *r, int column);

/* Runs a statement without rows. Sets *ret_changed, if not NULL, to the number of changed rows. */
#define tx_exec(tx, sql, ...) tx_exec_sql(tx, SQL(sql), __VA_ARGS__)
enum err tx_exec_sql(struct tx *tx, struct sql sql, const struct value *values, size_t count,
                     int64_t *ret_changed);

/* Returns whether each query needs a network round trip; if so, callers should send queries
 * together. */
bool tx_queries_need_round_trips(const struct tx *tx);
bool store_queries_need_round_trips(const struct store *s);

/* Runs a statement like tx_exec, for writes that cannot violate a unique key and whose result is
 * not needed before the commit. PostgreSQL sends the write with the next query or with the commit,
 * which then fails if the write fails. Byte values must live until the write is sent. */
#define tx_exec_deferred(tx, sql, ...) tx_exec_deferred_sql(tx, SQL(sql), __VA_ARGS__)
enum err tx_exec_deferred_sql(struct tx *tx, struct sql sql, const struct value *values,
                              size_t count);

/* Runs a query for at most one row; sets ret_found to whether the row exists. Needs no rows_end. */
#define tx_one(tx, sql, ...) tx_query_one_sql(tx, SQL(sql), __VA_ARGS__)
enum err tx_query_one_sql(struct tx *tx, struct sql sql, const struct value *values, size_t count,
                          struct rows *ret, bool *ret_found);
/* Runs a query for one row, like tx_one. Returns the error `otherwise` if there is no row. */
#define tx_one_or(tx, sql, ...) tx_query_one_or_error_sql(tx, SQL(sql), __VA_ARGS__)
enum err tx_query_one_or_error_sql(struct tx *tx, struct sql sql, const struct value *values,
                                   size_t count, enum err otherwise, struct rows *ret);
/* Sets ret to whether the query returns a row. */
#define tx_exists(tx, sql, ...) tx_exists_sql(tx, SQL(sql), __VA_ARGS__)
enum err tx_exists_sql(struct tx *tx, struct sql sql, const struct value *values, size_t count,
                       bool *ret);
/* Reads the first column of the query's first row as an integer; 0 if there is no row. */
#define tx_read_int(tx, sql, ...) tx_read_int_sql(tx, SQL(sql), __VA_ARGS__)
enum err tx_read_int_sql(struct tx *tx, struct sql sql, const struct value *values, size_t count,
                         int64_t *ret);
/* Reads an id like tx_read_int. */
#define tx_read_id(tx, sql, ...) tx_read_id_sql(tx, SQL(sql), __VA_ARGS__)
enum err tx_read_id_sql(struct tx *tx, struct sql sql, const struct value *values, size_t count,
                        snowflake *ret);

/* Returns whether the error e is a violation of a unique key. The transaction has failed: the work
 * item must return an error. To continue instead, write `on conflict do nothing` and count the
 * changed rows. */
#define ERR_IS_CONFLICT(e) ((e) == ERR_STORE_CONFLICT)

/* --- blobs ---------------------------------------------------------------------------- */

/* Blobs are stored files, such as avatars and attachments. A name is "area/a/b.ext" of [a-z0-9_.-].
 * When blob_put returns, the blob is complete and synced, or absent. blob_put blocks on the disk:
 * do not call it on a loop or inside a transaction. */
enum err blob_put(struct store *s, const char *name, struct str bytes);
/* Records that the database row of the blob is committed. Before this call, blobs_list_uncommitted
 * lists the blob. */
enum err blob_mark_row_committed(struct store *s, const char *name);
/* Lists blobs that are at least `seconds` old and whose row is not known to be committed. */
enum err blobs_list_uncommitted(struct store *s, int64_t seconds,
                                void (*found)(void *arg, const char *name), void *arg);
/* Returns whether a backup is running. During a backup, do not delete blobs, even if their rows
 * were deleted. */
bool blobs_deletion_is_locked(struct store *s);
/* Returns whether this process has locked the data folder. */
bool store_has_locked_data_folder(const struct store *s);
/* Opens a blob for reading; the caller closes the fd. Returns ERR_NOT_FOUND if there is no such
 * blob. If blobs are not in the folder, it may block on the network: do not call it on a loop. */
enum err blob_open(struct store *s, const char *name, int *ret_fd, int64_t *ret_size);
/* Opens a blob and compares its size with `size`, the size in its database row (-1 if unknown). If
 * the blob is missing or has another size, logs the fault and returns ERR_FILE_DAMAGED. */
enum err blob_open_and_check_size(struct store *s, const char *name, int64_t size, int *ret_fd,
                                  int64_t *ret_size);
/* Size of a blob digest: BLAKE2b-256 in hex, as stored in the table `files`. */
enum { BLOB_DIGEST_SIZE = 65 };
void blob_compute_digest(struct str bytes, char ret[BLOB_DIGEST_SIZE]);
/* Returns whether blobs are in the database or in object storage. The folder then has cached copies
 * of some blobs. */
bool blobs_are_remote(const struct store *s);
/* Opens a blob without a request to another server. Returns false if the caller must call
 * blob_open. */
bool blob_open_without_network(struct store *s, const char *name, int *ret_fd, int64_t *ret_size);
/* Appends a URL at which everybody can read the blob for `seconds`, with these response headers.
 * Returns false if this server sends blobs itself. */
bool blob_append_presigned_url(const struct store *s, const char *name, int seconds,
                               struct str content_type, struct str disposition,
                               struct str cache_control, struct buf *out);
/* Appends the origin (scheme and host) of the presigned URLs; returns false if this server sends
 * all blobs itself. */
bool blobs_append_presigned_url_origin(const struct store *s, struct buf *out);
/* Reads the statistics of the object storage. Returns false if blobs are not in object storage. */
bool store_read_object_storage_stats(const struct store *s, struct object_storage_stats *ret);
/* Deletes a blob. Returns ERR_NOT_FOUND if there is no such blob. */
enum err blob_delete(struct store *s, const char *name);

/* Checks the integrity of the database, for tests and `guildhall check`; logs each fault. */
enum err store_check_integrity(struct store *s);

/* For /metrics. */
struct store_stats {
    uint64_t reads, writes, commits, retries, failures;
    uint64_t round_trips;   /* number of round trips to PostgreSQL for which a caller waited */
    uint64_t corruptions;   /* number of statements that failed because the SQLite database is
                             * damaged */
    uint64_t damaged_files; /* number of requested blobs that were missing or had the wrong size */
    bool has_standby;       /* a standby is configured; otherwise the next members are 0 */
    bool standby_is_used;
    int64_t standby_lag_ms;                    /* age of the standby's data; -1 if it is unknown */
    uint64_t standby_reads, standby_fallbacks; /* reads that the standby answered; that the primary
                                                * ran after all */
    const char *retried; /* name of the work item that was last run again after a conflict or lost
                          * connection, or NULL */
};
void store_read_stats(struct store *s, struct store_stats *ret);

#endif
