/* postgres.h - structs and functions that the files of the PostgreSQL engine share.
 *
 *   worker.c, group.c    a worker's thread: work items one by one, or several in one transaction
 *   loop_reads.c         idempotent reads on the connection of an event loop, without blocking
 *   query.c, commit.c    statements, pipelines and transactions on a connection (conn.c)
 *   standby/             reads on a standby, whose answer may be a moment old
 *   prefetch.c           learns which queries follow the first one, and sends them with it
 *   commit_order.c       calls the functions work_item.committed in commit order
 *   id_order.c           makes ids of a stream visible in increasing order
 *   table_versions.c     which cached rows a commit makes stale (server that is not in a cluster)
 *   server_identity.c    which servers use the database; server_versions.c: in which versions
 *
 * Uses store/ and libpq only. Invariants: a work item runs again after a conflict or a lost
 * connection, but never if its COMMIT may have succeeded; in a cluster nothing is cached, because
 * other servers may write. For a faster read start with loop_reads.c and prefetch.c, else with
 * worker.c. */
#ifndef STORE_POSTGRES_H
#define STORE_POSTGRES_H

#include "base/links.h"
#include "base/map.h"
#include "store/cached_rows.h"
#include "store/internal.h"
#include "store/postgres/libpq.h"
#include "store/postgres/row_cache/table_versions.h"

/* --- one connection, conn.c: used by one thread at a time ----------------------------- */

enum {
    POSTGRES_QUEUE_MAX = 256,
    POSTGRES_GROUP_MAX = 16,
    POSTGRES_STATISTICS_SLOTS = 1 << 12,
    POSTGRES_WRITE_LOCKS = 48, /* ThreadSanitizer allows a thread 64 locks */
};
struct postgres_statement;
struct postgres_parameters;
struct postgres;
struct id_order;
struct learned_query;

/* Time limit of a running read. A read that exceeds it is aborted and queued again
 * (fair_queue.c). */
struct postgres_read_time_limit {
    int64_t until;             /* time at which the limit ends (monotonic ns); 0 means no limit */
    unsigned free_round_trips; /* number of coming round trips that do not count: their time is
                                * added to the limit */
    int64_t round_trip_ns;     /* duration of the shortest round trip so far in ns; 0 if none was
                                * measured */
    bool is_exceeded;          /* the running read exceeded the limit */
    bool has_short_timeout;    /* statement_timeout is set to SHORT_READ_LIMIT_MS */
};

/* Channel of the notifications that empty the caches of a server: a tool has written rows (with the
 * payload 'schema': has changed tables). */
#define ROWS_CHANNEL "'guildhall_rows_' || hashtext(current_schema())"

struct postgres_conn {
    PGconn *pg;             /* NULL if not connected */
    unsigned counter_shard; /* see tx_get_counter_shard */
    struct map statements;  /* finds a struct postgres_statement by the address of the SQL text */
    unsigned named; /* number of statements prepared so far; makes the names of statements unique */
    bool lost;      /* the connection failed */
    bool timed_out; /* whether the connection timed out; then other connections to the database may
                     * be dead, too */
    int answer_timeout_ms; /* timeout for a result in ms; 0 means no timeout */
    struct postgres_read_time_limit time_limit;
    _Atomic uint64_t *round_trips; /* counter for metrics, or NULL */
    const char *begin; /* BEGIN statement of the transaction if it was not sent yet, otherwise
                        * NULL */
    int64_t position;  /* last event log position that this connection got, or 0 */
    bool ending; /* COMMIT of a read was sent, but the result of the COMMIT was not read yet */
    bool commits_with_first_round_trip; /* the running read sends COMMIT together with its first
                                         * round trip */
    bool is_over;    /* the COMMIT that was sent with the first round trip has succeeded */
    bool wants_more; /* the read needs another query after that COMMIT; it must start again in
                      * a new transaction */
    unsigned began;  /* number of round trips of this transaction so far */
    const struct work_item *culprit; /* if a queued statement failed: the work item to which it
                                      * belongs; otherwise NULL */
    struct ordered_ids {             /* ids of the transaction (id_order.c) */
        uint64_t parts; /* bit set of the parts (sets of streams, see id_order.c) in which this
                         * transaction created ids */
        uint64_t first; /* the least of these ids */
        struct list_link link; /* link in id_order.open; linked while parts is not 0 */
        bool conflict;         /* the commit failed because of tx_make_ids_visible_in_order */
    } ids;
    struct postgres_row_cache {
        struct table_versions *versions; /* NULL for connections of tools and of clusters */
        struct query_cache *cache;       /* on a loop; NULL if rows are not cached */
        uint64_t clock; /* table_versions.clock before the first query of the running reads */
        int64_t until;  /* until when the cached rows may be used (monotonic ns): another server may
                         * have started if the database has closed this connection meanwhile */
        bool is_only_source;      /* the running read must not send a query */
        struct table_set written; /* tables that the transaction may have written */
        bool commit_is_pending;   /* table_versions_begin_commit was called */
        bool may_be_written; /* whether COMMIT was sent, so that the transaction may be committed */
    } rows;
    struct group_commit_state {
        bool runs;     /* a group commit is running: writes are sent together with its COMMIT */
        bool collects; /* the first queries of its work items are collected: they are only queued */
        bool retains_rows;  /* rows of its queries stay queued until its end, because its work items
                             * may run again in the same transaction */
        bool has_savepoint; /* its transaction has a savepoint before its writes */
    } group;
    bool must_leave; /* the running work item must leave the group commit, or the loop, and run
                      * elsewhere */
    bool on_loop; /* the connection belongs to a loop and never blocks: queries are only queued */
    bool is_full; /* the queue of statements is full */
    bool has_too_many_statements;  /* too many prepared statements: deallocate them */
    struct prefetcher *prefetcher; /* NULL if queries are not prefetched */
    struct arena *arena;           /* memory for queued statements */
    struct row_time_limit {        /* on a loop: limit of a measured read, checked between rows */
        int64_t until;  /* time at which the limit ends (monotonic ns); 0 means no limit */
        int64_t cpu_ns; /* CPU time of the thread in ns; the limit applies only if the thread has
                         * also used this much CPU time */
    } row_time_limit;
    unsigned queued_count;
    struct queued_statement {
        const char *sql;
        struct postgres_statement *statement;
        const struct postgres_parameters *values;
        size_t count;
        const struct work_item *work; /* work item that needs the statement */
        bool writes;   /* the statement is a deferred write and not a prefetched query */
        bool prepares; /* whether PREPARE is sent together with this statement */
        bool used;     /* the work item used the rows */
        bool cached;   /* the rows were stored in the cache, or were not wanted there */
        struct learned_query *learned; /* NULL if not learned (prefetch.c) */
        PGresult *result; /* the rows of a prefetched query; NULL until they have arrived */
    } queued[POSTGRES_QUEUE_MAX +
             2]; /* the last two are for postgres_enqueue_last_write_statement */
};

/* Opens the connection. Returns false if that fails; logs the reason if `log` is set. */
bool postgres_conn_open(struct postgres_conn *c, const char *where, bool log);
/* For servers: sets timeouts, locks out tools that need the database exclusively, and takes the
 * lock that shows this server's identity to other servers (server_identity.c). Returns false and
 * logs an error if a tool has locked the database. */
bool postgres_conn_register_server(struct postgres_conn *c, struct postgres *p);
/* For a tool that needs the database exclusively: prevents servers from using the database until
 * the tool's connection ends. */
enum err postgres_prevent_server_connections(struct tx *tx);
/* Sets the statement timeout of the database: to SHORT_READ_LIMIT_MS if `hurry` is set, otherwise
 * a little shorter than answer_timeout_ms. */
bool postgres_conn_set_timeout(struct postgres_conn *c, bool hurry);
void postgres_conn_close(struct postgres_conn *c);
/* Returns whether an idle connection is still open. */
bool postgres_conn_is_open(struct postgres_conn *c);

/* Runs a command without parameters or rows. */
enum err postgres_conn_run_command(struct postgres_conn *c, const char *sql);
/* Runs a query without parameters. Returns the first column of the first row as text, or "" if
 * there is no row. */
enum err postgres_conn_query_text(struct postgres_conn *c, const char *sql, char *out, size_t size);

/* Counts a round trip for which a caller waits, and extends the time limit of the running read. */
void postgres_conn_count_round_trip(struct postgres_conn *c);
/* Reads the result of a COMMIT that was sent earlier without waiting for the result. */
void postgres_conn_read_result_of_pending_commit(struct postgres_conn *c);

/* Reads all results of the command that was just sent. Returns the last result, or the first failed
 * one, or NULL if the connection is lost. */
PGresult *postgres_read_last_result(struct postgres_conn *c, int sent);
PGresult *postgres_read_next_result(struct postgres_conn *c);
/* Returns whether OpenSSL has decrypted bytes that libpq has not read; poll does not see them. */
bool postgres_conn_has_unread_tls_bytes(const struct postgres_conn *c);
bool postgres_result_is_ok(const PGresult *result);
/* Converts a failed result to an error code. Logs errors that no caller handles. */
enum err postgres_error_from_result(struct postgres_conn *c, const PGresult *result,
                                    const char *sql);
/* Converts any result to OK or an error code, and frees the result. */
enum err postgres_check_and_free_result(struct postgres_conn *c, PGresult *result, const char *sql);

/* --- transactions, commit.c ----------------------------------------------------------- */

/* Begins a transaction with the statement `how` ("begin …"), sent together with the first query. */
void postgres_conn_begin_transaction(struct postgres_conn *c, const char *how);
/* Begins a read that usually needs one round trip: COMMIT is sent with the first query. If the read
 * needs another round trip, it fails and c->wants_more is set. */
void postgres_conn_begin_one_round_trip_read(struct postgres_conn *c, const char *how);
enum err postgres_conn_commit(struct postgres_conn *c);
/* After a failed commit and its rollback: returns the event log position that the transaction took
 * but did not report. Returns 0 if it took none, or if the connection never had a position. */
int64_t postgres_conn_unreported_log_position(struct postgres_conn *c);
/* Commits work items together with their event log rows. Sets the position of each item with a row,
 * even after a failure; 0 if the position is unknown. */
enum err postgres_conn_commit_group(struct postgres_conn *c, struct work_item *const *works,
                                    unsigned count);
/* After an id conflict (id_order.c) of a group commit that retains rows: the transaction continues
 * at the savepoint before its writes. Returns false if the transaction must be rolled back. */
bool postgres_conn_return_to_savepoint(struct postgres_conn *c);
void postgres_conn_roll_back(struct postgres_conn *c);
/* Sends the COMMIT of a read, but does not wait for the result. */
void postgres_conn_commit_without_waiting(struct postgres_conn *c);

/* Call it before COMMIT is sent, and after its result was read or is known to be missing. */
void postgres_conn_begin_table_commit(struct postgres_conn *c);
void postgres_conn_end_table_commit(struct postgres_conn *c);

/* --- queries, query.c ------------------------------------------------------------------ */

void postgres_free_prepared_statements(struct postgres_conn *c);
void postgres_discard_queued_statements(struct postgres_conn *c);
void postgres_discard_statements_of_work_item(struct postgres_conn *c,
                                              const struct work_item *work);
/* Queues a statement that is sent as the last one before the event log rows and COMMIT. */
enum err postgres_enqueue_last_write_statement(struct tx *tx, const char *sql,
                                               const struct value *values, size_t count);
/* Queues the check of tx_make_ids_visible_in_order for all ids of the work items, if there are any
 * (id_order.c). May wait for transactions of this process that have created smaller ids. */
enum err postgres_enqueue_id_order_check(struct tx *tx, struct work_item *const *works,
                                         unsigned count);
void postgres_record_created_stream_id(struct tx *tx, uint64_t stream, uint64_t id);
/* Wakes transactions that wait until this connection's transaction, which has created smaller ids,
 * has ended. */
void postgres_wake_waiters_for_earlier_ids(struct postgres *p, struct postgres_conn *c);
void postgres_id_order_init(struct id_order *order);
void postgres_id_order_clear(struct id_order *order);
enum err postgres_exec_deferred(struct tx *tx, struct sql sql, const struct value *values,
                                size_t count);
enum err postgres_query(struct tx *tx, const char *sql, const struct value *values, size_t count,
                        struct rows *ret);
/* Returns whether an SQL text only reads. */
bool postgres_sql_is_select(const char *sql);
bool postgres_rows_next(struct rows *r);
enum err postgres_rows_end(struct rows *r);
enum err postgres_run_script(struct tx *tx, const char *sql);

/* --- cached rows of a loop, row_cache.c --------------------------------------------------- */

/* Returns the cached rows of a query if the running read may use them, otherwise NULL. */
struct cached_rows *postgres_find_cached_rows(struct postgres_conn *c, const char *sql,
                                              const struct postgres_parameters *p, size_t count);
/* Caches the rows of a query that have arrived, if they are wanted and still valid. */
void postgres_cache_rows(struct tx *tx, struct queued_statement *e);

/* --- parameters and columns, values.c ------------------------------------------------- */

enum { POSTGRES_MAX_VALUES = 64 };
struct postgres_parameters {
    const char *text[POSTGRES_MAX_VALUES];
    int length[POSTGRES_MAX_VALUES];
    int binary[POSTGRES_MAX_VALUES];
};

/* Converts query parameters for libpq. Copies text to the arena. */
void postgres_encode_parameters(struct postgres_parameters *p, struct arena *a,
                                const struct value *values, size_t count);
const char *postgres_format_int(struct arena *a, int64_t i);
struct value postgres_decode_column(struct arena *a, const PGresult *result, int row, int i);

/* --- connected servers, peers.c ------------------------------------------------------- */

/* First number of the advisory lock that each connection of a server holds; the second number is
 * the server's identity. */
#define SERVER_LOCK_CLASS "(7166183 # hashtext(current_schema()))"

/* Creates a random identity for this server process. If `alone` is set, the identity says that no
 * other server may use the database. */
uint32_t postgres_identity_new(bool alone);
/* Returns whether all connected servers can share the database with this server. Logs a server that
 * cannot. Waits up to most_ms for it to stop. */
bool postgres_check_other_servers(struct postgres_conn *c, uint32_t identity, int most_ms);

/* --- versions, versions.c -------------------------------------------------------------- */

/* Returns whether this program can use the current schema; if not, logs it and sets store.outgrown.
 * Called at each connect, because a newer server may have applied migrations meanwhile. */
bool postgres_schema_is_usable(struct postgres_conn *c, struct postgres *p);
enum err postgres_read_whether_older_servers_run(struct tx *tx, int64_t step, bool lately,
                                                 bool *ret);
/* Terminates the connections of servers that do not know the migration `step`. */
enum err postgres_terminate_older_servers(struct tx *tx, int64_t step);

/* --- shared blob folder, blobs/shared_folder.c ----------------------------------------- */

/* Creates a mark file in the blob folder and fails if the mark file of another node is missing.
 * Call it before other nodes can see this one, while holding the start lock. */
enum err postgres_check_nodes_share_blob_folder(struct postgres *p, struct postgres_conn *c);
void postgres_delete_node_mark_in_blob_folder(const struct postgres *p);

/* --- blobs in the database, blobs/database.c ------------------------------------------- */

/* Fails if blobs are in the folder but expected in the database, or vice versa. */
enum err postgres_check_blob_location(const struct postgres *p, struct postgres_conn *c);

/* --- commit order, commit_order.c ----------------------------------------------------- */

struct postgres_commit_order {
    pthread_mutex_t lock;
    struct list_link works; /* work items, in the order in which COMMIT was sent */
    bool finishing;         /* a thread is finishing work items */
};

void postgres_commit_order_init(struct postgres_commit_order *l);
void postgres_commit_order_clear(struct postgres_commit_order *l);
/* Appends a work item to the list. Call it before COMMIT is sent. */
void postgres_commit_order_add_work_item(struct postgres_commit_order *l, struct work_item *w);
/* Removes a work item whose commit failed or whose result is unknown; the caller finishes it. */
void postgres_commit_order_remove_work_item(struct postgres_commit_order *l, struct store *s,
                                            struct work_item *w);
/* Marks the work item as committed. This thread or another one finishes it after all work items
 * before it in commit order. */
void postgres_commit_order_finish_work_item(struct postgres_commit_order *l, struct store *s,
                                            struct work_item *w);

/* --- workers, worker.c ---------------------------------------------------------------- */

struct postgres_worker {
    struct postgres *pool;
    bool runs_long_reads;    /* the worker runs reads that may take long */
    bool runs_longest_reads; /* the worker also runs reads that exceeded SHORT_READ_LIMIT_MS */
    bool is_separate;        /* the worker belongs to a store_connection and ignores write_locks */
    bool is_standby; /* the connection is to a standby (standby/): it is never opened here, and a
                      * read is tried once */
    struct postgres_conn conn;
    pthread_t thread;
    bool has_thread;
    int64_t wait_ms;      /* delay before the next connection attempt, in ms */
    unsigned silences;    /* pool->silences when the connection was opened */
    unsigned connections; /* number of connects so far */
    unsigned random;      /* state of the random number generator */
};

struct postgres {
    struct store store;
    char *where; /* connection string; never logged, because it may contain a password */
    bool serves; /* the process is a server (see postgres_conn_register_server), not a tool */
    bool shared; /* other nodes share the database; this node then has a mark file in the blob
                  * folder */
    uint32_t identity;
    struct work_queue queue;
    struct fair_queue long_reads; /* reads that may take long */
    struct postgres_commit_order commit_order;
    struct id_order {
        pthread_mutex_t lock;
        pthread_cond_t changed;
        struct list_link open; /* list of connections whose running transactions have created ids
                                * (ordered_ids.link) */
    } id_order;
    struct read_statistics {
        _Atomic uint16_t both;
    } statistics[POSTGRES_STATISTICS_SLOTS]; /* statistics per name of a work item; the index is the
                                              * hash of the name */
    struct table_versions versions;
    struct prefetcher {
        pthread_mutex_t lock;
        struct map by_key;          /* struct learned_queries by work_item.prefetch.key */
        struct related_id *related; /* without the lock */
    } prefetcher;
    /* Locks for writes, indexed by postgres_get_write_lock_index. A work item that conflicted too
     * often locks its lock exclusively. */
    pthread_rwlock_t write_locks[POSTGRES_WRITE_LOCKS];
    _Atomic unsigned connected;        /* number of connected workers */
    _Atomic unsigned silences;         /* number of connections that timed out */
    atomic_bool unreachable_logged;    /* whether it was logged that all workers are disconnected */
    struct postgres_worker *finishing; /* see store_connection_apply_postponed_migrations */
    unsigned count;        /* number of workers; the last ones of the array run long reads */
    unsigned reader_count; /* number of loops that have a connection of their own */
    struct postgres_loop_reader *readers;
    struct postgres_worker *workers;
    struct postgres_standby *standby; /* NULL if no standby is configured */
};

/* Queues the work item for the workers, or for the workers that run long reads. */
void postgres_enqueue_work_item_for_workers(struct postgres *p, struct work_item *w);
/* Returns the counter shard of a worker: a number above 0 that no other worker on any node has. See
 * tx_get_counter_shard. */
unsigned postgres_get_counter_shard_of_worker(unsigned worker);
/* Connects if the worker has no connection. Returns false on failure; then the caller retries after
 * wait_ms. */
bool postgres_worker_connect(struct postgres_worker *w, bool log);
/* Runs a work item with all retries. If the work item succeeds and has a committed function, it
 * stays in the commit order until the caller calls postgres_worker_finish_work_item. */
enum err postgres_worker_run_work_item(struct postgres_worker *w, struct work_item *work);
/* Returns the index of the write lock of a work item. Work items share a lock if they probably
 * change the same rows: appends of one account, or writes with the same first id of the request. */
unsigned postgres_get_write_lock_index(const struct work_item *work);
/* BEGIN statements, indexed by enum transaction_mode. */
extern const char *const postgres_begin_sql[];
/* Tries to connect repeatedly, until the work item has waited for 5 s. */
bool postgres_worker_connect_with_retry(struct postgres_worker *w, const struct work_item *work);
void postgres_worker_disconnect(struct postgres_worker *w);
/* Runs a read with a time limit. Returns whether the limit was exceeded and the read must
 * restart. */
bool postgres_worker_run_read_with_time_limit(struct postgres_worker *w, struct work_item *work,
                                              enum err *ret);
/* Marks an event log position as aborted, so that other nodes do not wait for it. */
void postgres_mark_log_position_aborted(struct postgres_worker *w, int64_t position);
/* Finishes a work item. A work item in the commit order is finished after all before it. */
void postgres_worker_finish_work_item(struct postgres_worker *w, struct work_item *work,
                                      enum err e);
void postgres_worker_close_connection(struct postgres_worker *w);
void *postgres_worker_thread(void *arg);

/* --- statistics of reads, read_statistics.c -------------------------------------------- */

/* Returns whether recent reads with the work item's name needed at most this many round trips. */
bool same_name_reads_need_at_most_round_trips(struct postgres *p, const struct work_item *work,
                                              unsigned round_trips);
bool same_name_reads_may_run_on_loop(struct postgres *p, const struct work_item *work);
/* Records that a read with the name of this work item needed at least `round_trips` round trips. */
void same_name_reads_record_round_trips(struct postgres *p, const struct work_item *work,
                                        unsigned round_trips);
/* Makes reads with the name of this work item run on the worker threads for a while. */
void same_name_reads_disallow_on_loops(struct postgres *p, const struct work_item *work);

/* --- prefetched queries, prefetch.c ------------------------------------------------------ */

void query_prefetcher_init(struct prefetcher *h);
void query_prefetcher_clear(struct prefetcher *h);
/* Call it for each SELECT that is not queued already. For the first query of an attempt to run the
 * work item, also queues the queries that usually follow the first one. A later query is learned
 * for the next time. */
enum err query_prefetcher_prefetch_or_learn_query(struct postgres_conn *c, struct work_item *w,
                                                  const char *sql,
                                                  const struct postgres_parameters *p,
                                                  size_t count);
/* Call it for a SELECT whose rows are cached: learned queries belong to the first one. */
void query_prefetcher_note_first_query(struct postgres_conn *c, struct work_item *w,
                                       const char *sql, const struct postgres_parameters *p,
                                       size_t count);
/* Records whether the rows of a prefetched query were used; call it when the rows are discarded. */
void query_prefetcher_record_result_use(struct prefetcher *h, struct learned_query *q, bool used);
/* Queues a learned query, unless it is queued already. */
enum err postgres_enqueue_learned_query(struct postgres_conn *c, const struct work_item *work,
                                        const char *sql, const struct postgres_parameters *p,
                                        size_t count, struct learned_query *learned);

/* --- reads on loops, loop_reads.c ------------------------------------------------------- */

struct postgres_loop_reader;
/* Runs a read on its loop's connection; call it on that loop. If it returns false, run the read on
 * a worker thread. */
bool postgres_run_read_on_loop(struct postgres *p, struct work_item *w);

void postgres_loop_readers_init(struct postgres *p, unsigned count);
/* Moves unfinished reads to the workers and closes the connections of the loops. */
void postgres_loop_readers_close(struct postgres *p);

/* --- group commit, group.c ------------------------------------------------------------- */

/* Runs the work items of the linked list as a group commit, and finishes them. */
void postgres_run_items_in_group_commit(struct postgres_worker *w, struct work_item *first);

#endif
