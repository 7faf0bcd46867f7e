/* conn.c - one SQLite connection: opening, prepared statements, snapshots, error codes. */
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "store/sqlite/cursor.h"

enum { MAX_STATEMENTS = 512 };

static _Atomic uint64_t corruption_count;

uint64_t sqlite_count_corruptions(void)
{
    return atomic_load_explicit(&corruption_count, memory_order_relaxed);
}

static bool is_corruption_code(int code)
{
    return (code & 0xff) == SQLITE_CORRUPT || (code & 0xff) == SQLITE_NOTADB;
}

static void count_corruption(void)
{
    if (atomic_fetch_add_explicit(&corruption_count, 1, memory_order_relaxed) == 0)
        log_error("store: the database is damaged; 'guildhall check' lists the faults. Stop the "
                  "server and restore the last good backup");
}

enum err sqlite_error_from_code(struct sqlite_conn *c, int code, const char *sql)
{
    int extended = sqlite3_extended_errcode(c->db);

    if (extended == SQLITE_CONSTRAINT_UNIQUE || extended == SQLITE_CONSTRAINT_PRIMARYKEY ||
        extended == SQLITE_CONSTRAINT_ROWID)
        return ERR_STORE_CONFLICT;
    if (c->read_limit.is_exceeded)
        return ERR_STORE_RETRY;
    if ((code & 0xff) != SQLITE_FULL || disk_full_message_may_be_logged())
        log_error("store: SQLite refused an SQL statement: %s (code %d); statement: %s",
                  sqlite3_errmsg(c->db), extended, sql);
    if (is_corruption_code(code))
        count_corruption();
    switch (code & 0xff) {
    case SQLITE_FULL:
        return ERR_STORAGE_FULL;
    case SQLITE_BUSY:
    case SQLITE_IOERR:
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
        return ERR_UNAVAILABLE;
    default:
        return ERR_INTERNAL;
    }
}

static void prepared_statement_free(struct sqlite_prepared_statement *st)
{
    sqlite3_finalize(st->stmt);
    mem_free(st);
}

/* Finds for each parameter $1, $2 … the number that SQLite uses for it: SQLite numbers parameters
 * in the order in which they appear. */
static bool map_parameter_numbers(struct sqlite_prepared_statement *st, int count)
{
    st->parameters = sqlite3_bind_parameter_count(st->stmt);
    if (st->parameters != count || count > SQLITE_MAX_PARAMETERS)
        return false;
    for (int i = 0; i < count; i++) {
        char name[8];

        sqlite3_snprintf(sizeof name, name, "$%d", i + 1);
        int number = sqlite3_bind_parameter_index(st->stmt, name);
        if (number == 0)
            return false;
        st->parameter_numbers[i] = (unsigned char)number;
    }
    return true;
}

static enum err prepare_statement(struct sqlite_conn *c, const char *sql, int count, bool temporary,
                                  struct sqlite_prepared_statement **ret)
{
    struct sqlite_prepared_statement *st = mem_new(sizeof *st);
    int code = sqlite_prepare_with_query_dependencies(
        c, sql, temporary ? 0 : SQLITE_PREPARE_PERSISTENT, &st->stmt, &st->dependencies);
    enum err e = code == SQLITE_OK ? OK : sqlite_error_from_code(c, code, sql);

    st->temporary = temporary;
    st->reads_only = !e && sqlite3_stmt_readonly(st->stmt);
    if (!e && !map_parameter_numbers(st, count)) {
        log_error(
            "store: bug: %d values were given for a statement with another number of parameters: %s",
            count, sql);
        e = ERR_INTERNAL;
    }
    if (e) {
        prepared_statement_free(st);
        return e;
    }
    *ret = st;
    return OK;
}

/* Frees all statements. A statement in use becomes temporary, and is freed when its cursor ends. */
void sqlite_free_prepared_statements(struct sqlite_conn *c)
{
    struct sqlite_prepared_statement *st;
    size_t at = 0;

    while ((st = map_next_value(&c->statements, &at))) {
        if (st->busy)
            st->temporary = true;
        else
            prepared_statement_free(st);
    }
    map_clear(&c->statements);
}

enum err sqlite_statement_acquire(struct sqlite_conn *c, const char *sql, int count,
                                  struct sqlite_prepared_statement **ret)
{
    uint64_t key = (uint64_t)(uintptr_t)sql;
    struct sqlite_prepared_statement *st = map_find_value(&c->statements, key);

    assert(!st || strcmp(sqlite3_sql(st->stmt), sql) == 0);
    if (!st || st->busy) {
        enum err e = prepare_statement(c, sql, count, st != NULL, &st);

        if (e)
            return e;
        if (!st->temporary) {
            if (c->statements.count >= MAX_STATEMENTS)
                sqlite_free_prepared_statements(c);
            map_set_value(&c->statements, key, st);
        }
    }
    st->busy = true;
    *ret = st;
    return OK;
}

void sqlite_statement_release(struct sqlite_prepared_statement *st)
{
    st->busy = false;
    if (st->temporary)
        prepared_statement_free(st);
}

static const char settings[] = "pragma journal_mode = wal;"
                               "pragma synchronous = full;"
                               "pragma foreign_keys = on;"
                               "pragma temp_store = memory;";
/* Opens the WAL, but does not parse the schema. */
static const char checkpoint_settings[] = "pragma schema_version;";
static const char read_only_settings[] = "pragma temp_store = memory;"
                                         "select count(*) from sqlite_schema;";

static void configure_sqlite_library(void)
{
    /* Disable memory statistics, because they need a lock that all threads share. */
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    /* Allocate pages of the page cache one by one: SQLite would allocate the first 20 (87 KB) of
     * each connection at once, and write to all of them. */
    sqlite3_config(SQLITE_CONFIG_PAGECACHE, NULL, 0, 0);
}

/* --- read-only file systems ------------------------------------------------------------ */

static bool file_system_is_read_only(const char *path)
{
    return access(path, W_OK) != 0 && errno == EROFS;
}

/* Opens the database on a disk that is read-only, or a snapshot of one. If there is no WAL file, no
 * process has the database open, so SQLite can read it without locks. If there is a WAL file,
 * SQLite must read it, too. */
static int open_database_read_only(const char *path, sqlite3 **ret)
{
    enum { FLAGS = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX };
    char log[PATH_MAX], uri[3 * PATH_MAX + 32] = "file:";
    size_t n = strlen(uri);

    if (strlen(path) + sizeof "-wal" > sizeof log)
        return SQLITE_CANTOPEN;
    snprintf(log, sizeof log, "%s-wal", path);
    for (const char *p = path; *p; p++)
        n += (size_t)snprintf(uri + n, sizeof uri - n, strchr("?#%", *p) ? "%%%02x" : "%c", *p);
    if (access(log, F_OK) != 0)
        snprintf(uri + n, sizeof uri - n, "?immutable=1");
    return sqlite3_open_v2(uri, ret, FLAGS, NULL);
}

static enum err open_connection(const char *path, const char *pragmas, struct sqlite_conn **ret)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    static _Atomic uint64_t opened;
    struct sqlite_conn *c = mem_new(sizeof *c);
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;

    pthread_once(&once, configure_sqlite_library);
    map_init(&c->statements);
    map_init(&c->dependencies);
    c->number = ++opened;
    bool read_only = file_system_is_read_only(path);
    int code = read_only ? open_database_read_only(path, &c->db)
                         : sqlite3_open_v2(path, &c->db, flags, NULL);
    if (code != SQLITE_OK || sqlite3_busy_timeout(c->db, SQLITE_BUSY_TIMEOUT_MS) != SQLITE_OK ||
        !sqlite_register_query_dependency_callback(c) ||
        sqlite3_exec(c->db, read_only ? read_only_settings : pragmas, NULL, NULL, NULL) !=
            SQLITE_OK) {
        log_error("store: cannot open the database '%s': %s", path, sqlite3_errmsg(c->db));
        if (is_corruption_code(sqlite3_errcode(c->db)))
            count_corruption();
        sqlite_conn_close(c);
        return ERR_UNAVAILABLE;
    }
    /* Release the pages of the schema, if it was parsed (100 KB). */
    sqlite3_db_release_memory(c->db);
    *ret = c;
    return OK;
}

enum err sqlite_conn_open(const char *path, struct sqlite_conn **ret)
{
    return open_connection(path, settings, ret);
}

enum err sqlite_conn_open_for_checkpoints(const char *path, struct sqlite_conn **ret)
{
    return open_connection(path, checkpoint_settings, ret);
}

void sqlite_conn_close(struct sqlite_conn *c)
{
    if (!c)
        return;
    sqlite_free_prepared_statements(c);
    sqlite_query_dependencies_free(c);
    query_cache_free(c->cache);
    sqlite3_close(c->db);
    mem_free(c);
}

int sqlite_conn_run_sql(struct sqlite_conn *c, struct sql sql)
{
    struct sqlite_prepared_statement *st;

    if (sqlite_statement_acquire(c, *sql.text, 0, &st))
        return sqlite3_errcode(c->db);
    sqlite3_step(st->stmt);
    int code = sqlite3_reset(st->stmt);
    sqlite_statement_release(st);
    return code;
}

/* Passes NULL instead of a database name to sqlite3_txn_state, which saves a lookup. Readers have
 * only one database, and a transaction of the writer always uses the main database first. */
static bool connection_is_in_transaction(struct sqlite_conn *c)
{
    return sqlite3_txn_state(c->db, NULL) != SQLITE_TXN_NONE;
}

/* Makes sure that the connection has a snapshot. BEGIN alone does not suffice: SQLite takes the
 * snapshot at the first statement. */
static bool ensure_connection_has_snapshot(struct sqlite_conn *c)
{
    return connection_is_in_transaction(c) ||
           (sqlite_conn_run(c, "pragma schema_version") == SQLITE_OK &&
            connection_is_in_transaction(c));
}

/* Returns whether cached rows may be combined with rows that this read gets later. Before the
 * snapshot begins, the result is also true, because check_snapshot_is_current detects a commit
 * between the cached rows and the snapshot. */
bool sqlite_cached_rows_are_consistent(struct sqlite_conn *c)
{
    if (c->in_snapshot)
        return ensure_connection_has_snapshot(c);
    c->gave_cached_rows = true;
    return true;
}

static enum err check_snapshot_is_current(struct sqlite *q, struct sqlite_conn *c)
{
    if (!ensure_connection_has_snapshot(c))
        return ERR_UNAVAILABLE;
    c->gave_cached_rows = false;
    c->is_outdated = atomic_load_explicit(&q->versions.committing, memory_order_acquire) != c->seen;
    return c->is_outdated ? ERR_STORE_RETRY : OK;
}

enum err sqlite_snapshot_begin(struct tx *tx)
{
    struct sqlite_conn *c = tx->connection;

    if (c->in_snapshot)
        return OK;
    int code = sqlite_conn_run(c, "begin");
    if (code != SQLITE_OK)
        return tx_mark_transaction_failed(tx, sqlite_error_from_code(c, code, "begin"));
    c->in_snapshot = true;
    enum err e =
        c->gave_cached_rows ? check_snapshot_is_current((struct sqlite *)tx->store, c) : OK;
    return e ? tx_mark_transaction_failed(tx, e) : OK;
}
