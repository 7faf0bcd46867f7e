/* sqlite_conn.c - one connection to SQLite: statements, parameters, rows. */
#include <assert.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "store/sqlite.h"

enum { MAX_STATEMENTS = 512, MAX_PARAMETERS = 64 };

/* A prepared statement. The cached one of an SQL text serves one cursor at a
 * time; who needs it meanwhile gets one of its own, gone with its cursor. */
struct sqlite_statement {
    sqlite3_stmt *stmt;
    struct sqlite_reach *reach; /* the connection's */
    bool busy, temporary, reads_only;
    int parameters;
    unsigned char place[MAX_PARAMETERS]; /* of $1, $2 … among SQLite's own numbers */
};

struct sqlite_cursor {
    struct row_cursor cursor;
    struct sqlite_statement *statement; /* NULL: its rows were read before, … */
    const struct recalled *recalled;    /* … and are these */
    unsigned next_row;
    struct sqlite_asking *asking; /* to be remembered; or NULL */
    const char *sql;
    bool at_end;
};

/* --- errors --------------------------------------------------------------------------- */

enum err sqlite_error(struct sqlite_conn *c, int code, const char *sql)
{
    int extended = sqlite3_extended_errcode(c->db);

    if (extended == SQLITE_CONSTRAINT_UNIQUE || extended == SQLITE_CONSTRAINT_PRIMARYKEY ||
        extended == SQLITE_CONSTRAINT_ROWID)
        return ERR_STORE_CONFLICT;
    if (c->share.is_spent)
        return ERR_STORE_RETRY;
    log_error("store: %s (%d) in: %s", sqlite3_errmsg(c->db), extended, sql);
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

/* --- a share of a turn ---------------------------------------------------------------- */

enum {
    LOOP_SHARE_NS = 4 * 1000 * 1000, /* for reads that are long enough to be measured */
    ASIDE_SHARE_NS = LANE_SHARE_MS * 1000 * 1000,
    LEAST_NS = 1000 * 1000, /* for each of them, however many there are */
    SHARE_STEPS = 1000,     /* of SQLite's machine between two looks at the clock */
};

static int64_t share_left(const struct sqlite_share *share)
{
    int64_t left = share->most_ns - share->taken_ns;

    return left > LEAST_NS ? left : LEAST_NS;
}

/* Called by SQLite every so many steps; other than 0: the statement is broken off. Most reads
 * end before they come here, so the clock begins with the first time. */
static int look_at_share(void *arg)
{
    struct sqlite_share *share = arg;

    if (!share->counts)
        return 0;
    int64_t now = clock_mono();

    if (!share->began_ns)
        share->began_ns = now;
    share->is_spent |= now - share->began_ns > share_left(share);
    return share->is_spent;
}

static void share_watch(struct sqlite_conn *c, int64_t most_ns)
{
    c->share.most_ns = most_ns;
    sqlite3_progress_handler(c->db, SHARE_STEPS, look_at_share, &c->share);
}

void sqlite_share_watch(struct sqlite_conn *c)
{
    c->share.is_loops = true;
    share_watch(c, LOOP_SHARE_NS);
}

void sqlite_share_watch_aside(struct sqlite_conn *c)
{
    share_watch(c, ASIDE_SHARE_NS);
}

void sqlite_share_begin(struct sqlite_conn *c, bool by_row)
{
    c->share.counts = true;
    c->share.by_row = by_row && c->share.is_loops;
    c->share.is_spent = false;
    c->share.began_ns = 0;
    /* Aside each is a turn of its own. */
    if (!c->share.is_loops)
        c->share.taken_ns = 0;
}

bool sqlite_share_end(struct sqlite_conn *c)
{
    struct sqlite_share *share = &c->share;
    bool spent = share->is_spent;

    if (share->began_ns)
        share->taken_ns += clock_mono() - share->began_ns;
    share->counts = share->by_row = share->is_spent = false;
    return spent;
}

bool sqlite_go_aside(struct tx *tx)
{
    struct sqlite_share *share = &((struct sqlite_conn *)tx->connection)->share;

    if (share->is_loops && share->counts)
        share->is_spent = true;
    return share->is_spent;
}

/* --- statements ----------------------------------------------------------------------- */

static void statement_free(struct sqlite_statement *st)
{
    sqlite3_finalize(st->stmt);
    mem_free(st);
}

/* SQLite numbers parameters as they appear; ours carry their number. */
static bool find_places(struct sqlite_statement *st, int count)
{
    st->parameters = sqlite3_bind_parameter_count(st->stmt);
    if (st->parameters != count || count > MAX_PARAMETERS)
        return false;
    for (int i = 0; i < count; i++) {
        char name[8];

        sqlite3_snprintf(sizeof name, name, "$%d", i + 1);
        int place = sqlite3_bind_parameter_index(st->stmt, name);
        if (place == 0)
            return false;
        st->place[i] = (unsigned char)place;
    }
    return true;
}

static enum err sqlite_prepare_cached(struct sqlite_conn *c, const char *sql, int count,
                                      bool temporary, struct sqlite_statement **ret)
{
    struct sqlite_statement *st = mem_new(sizeof *st);
    int code = sqlite_reach_prepare(c, sql, temporary ? 0 : SQLITE_PREPARE_PERSISTENT, &st->stmt,
                                    &st->reach);
    enum err e = code == SQLITE_OK ? OK : sqlite_error(c, code, sql);

    st->temporary = temporary;
    st->reads_only = !e && sqlite3_stmt_readonly(st->stmt);
    if (!e && !find_places(st, count)) {
        log_error("store: %d values for the parameters of: %s", count, sql);
        e = ERR_INTERNAL;
    }
    if (e) {
        statement_free(st);
        return e;
    }
    *ret = st;
    return OK;
}

/* Cursors that are open keep their statement: it becomes a temporary one. */
static void forget_statements(struct sqlite_conn *c)
{
    struct sqlite_statement *st;
    size_t at = 0;

    while ((st = map_next(&c->statements, &at))) {
        if (st->busy)
            st->temporary = true;
        else
            statement_free(st);
    }
    map_clear(&c->statements);
}

static enum err take_statement(struct sqlite_conn *c, const char *sql, int count,
                               struct sqlite_statement **ret)
{
    uint64_t key = (uint64_t)(uintptr_t)sql;
    struct sqlite_statement *st = map_get(&c->statements, key);

    assert(!st || strcmp(sqlite3_sql(st->stmt), sql) == 0);
    if (!st || st->busy) {
        enum err e = sqlite_prepare_cached(c, sql, count, st != NULL, &st);

        if (e)
            return e;
        if (!st->temporary) {
            if (c->statements.count >= MAX_STATEMENTS)
                forget_statements(c);
            map_put(&c->statements, key, st);
        }
    }
    st->busy = true;
    *ret = st;
    return OK;
}

static void release_statement(struct sqlite_statement *st)
{
    st->busy = false;
    if (st->temporary)
        statement_free(st);
}

/* --- parameters and rows -------------------------------------------------------------- */

static int bind_value(sqlite3_stmt *stmt, int place, const struct value *v)
{
    switch (v->kind) {
    case VALUE_INT:
        return sqlite3_bind_int64(stmt, place, v->i);
    case VALUE_REAL:
        return sqlite3_bind_double(stmt, place, v->d);
    case VALUE_TEXT:
        return sqlite3_bind_text64(stmt, place, v->s.p ? v->s.p : "", v->s.n, SQLITE_STATIC,
                                   SQLITE_UTF8);
    case VALUE_BYTES:
        return sqlite3_bind_blob64(stmt, place, v->s.p ? v->s.p : "", v->s.n, SQLITE_STATIC);
    case VALUE_NULL:
        break;
    }
    return sqlite3_bind_null(stmt, place);
}

static struct sqlite_cursor *add_cursor(struct tx *tx, const char *sql, int columns,
                                        struct rows *ret)
{
    struct sqlite_cursor *cursor = arena_alloc(tx_arena(tx), sizeof *cursor);

    cursor->sql = sql;
    ret->columns = columns;
    tx_add_cursor(tx, &cursor->cursor, columns);
    ret->cursor = &cursor->cursor;
    return cursor;
}

/* --- rows that were read before ------------------------------------------------------- */

/* SQLite takes its snapshot with the first statement that it runs: before something from memory is
 * given out there has to be one, so that all is of the same moment. */
bool sqlite_snapshot_taken(struct sqlite_conn *c)
{
    return sqlite3_txn_state(c->db, "main") != SQLITE_TXN_NONE ||
           (sqlite_conn_do(c, "pragma schema_version") == SQLITE_OK &&
            sqlite3_txn_state(c->db, "main") != SQLITE_TXN_NONE);
}

/* The writer sees what it has written itself: its statements note that before they run, so that
 * nothing from before is given out. */
static bool can_remember(struct tx *tx, const char *sql)
{
    struct sqlite_conn *c = tx->connection;

    if (!c->recalls || c->has_lost_track)
        return false;
    if (!work_writes(tx->work))
        return c->in_snapshot;
    const struct sqlite_statement *st = map_get(&c->statements, (uint64_t)(uintptr_t)sql);
    c->seen = atomic_load_explicit(&tx->store->commits, memory_order_relaxed);
    return !st || !st->reach->writes.count;
}

static bool query_recalled(struct tx *tx, const char *sql, const struct value *values, size_t count,
                           struct sqlite_asking *asking, struct rows *ret)
{
    struct sqlite_conn *c = tx->connection;

    *asking = (struct sqlite_asking){ 0 };
    if (!can_remember(tx, sql))
        return false;
    const struct recalled *r =
        sqlite_recall((struct sqlite *)tx->store, c, sql, values, count, ret->single, asking);
    if (r)
        add_cursor(tx, sql, sqlite_recalled_columns(r), ret)->recalled = r;
    return r;
}

/* The caller's own may be gone before all rows are there. */
static const struct value *values_copy(struct arena *a, const struct value *values, size_t count)
{
    struct value *copy = arena_raw(a, count * sizeof *copy);

    for (size_t i = 0; i < count; i++)
        copy[i] = values[i].kind == VALUE_TEXT
                      ? value_copy(a, VALUE_TEXT, values[i].s.p, values[i].s.n)
                      : values[i];
    return copy;
}

static void ask_to_remember(struct tx *tx, struct sqlite_cursor *cursor,
                            const struct sqlite_asking *asking, const struct value *values,
                            size_t count, const struct rows *ret)
{
    const struct sqlite_reach *reach = cursor->statement->reach;

    if (!asking->hash || reach->is_fickle || reach->reads.too_many || reach->writes.count ||
        !cursor->statement->reads_only)
        return;
    struct sqlite_asking *a = cursor->asking = arena_raw(tx_arena(tx), sizeof *a);
    *a = *asking;
    a->sql = cursor->sql;
    a->reads = &reach->reads;
    a->values = values_copy(tx_arena(tx), values, count);
    a->count = count;
    a->single = ret->single;
    a->columns = ret->columns;
}

/* Those that stop early have not seen all there is. */
static void cursor_remember(struct sqlite_conn *c, const struct sqlite_cursor *cursor)
{
    const struct sqlite_asking *a = cursor->asking;

    if (a && a->hash && (cursor->at_end || (a->single && a->rows)))
        sqlite_recall_keep(c, a);
}

/* --- queries -------------------------------------------------------------------------- */

static enum err sqlite_query_at(struct tx *tx, const char *sql, const struct value *values,
                                size_t count, struct sqlite_asking *asking, struct rows *ret)
{
    struct sqlite_conn *c = tx->connection;
    struct sqlite_statement *st;
    enum err e = take_statement(c, sql, (int)count, &st);

    if (!e && tx->work->mode == STORE_READ && !st->reads_only) {
        release_statement(st);
        e = tx_refuse_write(sql);
    }
    if (e)
        return tx_fail(tx, e);
    c->has_written |= !st->reads_only;
    if (work_writes(tx->work))
        sqlite_reach_write((struct sqlite *)tx->store, st->reach);
    for (size_t i = 0; i < count; i++) {
        int code = bind_value(st->stmt, st->place[i], &values[i]);

        if (code != SQLITE_OK) {
            e = tx_fail(tx, sqlite_error(c, code, sql));
            release_statement(st);
            return e;
        }
    }

    struct sqlite_cursor *cursor = add_cursor(tx, sql, sqlite3_column_count(st->stmt), ret);
    cursor->statement = st;
    ask_to_remember(tx, cursor, asking, values, count, ret);
    return OK;
}

enum err sqlite_query(struct tx *tx, const char *sql, const struct value *values, size_t count,
                      struct rows *ret)
{
    struct sqlite_asking asking;

    if (query_recalled(tx, sql, values, count, &asking, ret))
        return OK;
    return sqlite_query_at(tx, sql, values, count, &asking, ret);
}

/* a: where text and bytes are copied to; NULL: they are not. */
static struct value column_bytes(struct arena *a, enum value_kind kind, const void *p, size_t n)
{
    if (a)
        return value_copy(a, kind, p, n);
    return (struct value){ .kind = kind, .s = { p, n } };
}

static struct value sqlite_column(struct arena *a, sqlite3_stmt *stmt, int i)
{
    /* One look at the column instead of one for its type, value and length each; the
     * statement is this thread's alone. */
    sqlite3_value *v = sqlite3_column_value(stmt, i);

    switch (sqlite3_value_type(v)) {
    case SQLITE_INTEGER:
        return v_int(sqlite3_value_int64(v));
    case SQLITE_FLOAT:
        return v_real(sqlite3_value_double(v));
    case SQLITE_TEXT: {
        const unsigned char *p = sqlite3_value_text(v);

        return column_bytes(a, VALUE_TEXT, p, (size_t)sqlite3_value_bytes(v));
    }
    case SQLITE_BLOB: {
        const void *p = sqlite3_value_blob(v);

        return column_bytes(a, VALUE_BYTES, p, (size_t)sqlite3_value_bytes(v));
    }
    default:
        return v_null();
    }
}

/* What is made of a row may take longer than finding it: no step of SQLite's would see that. */
static bool is_over_share(struct sqlite_conn *c)
{
    return c->share.by_row && look_at_share(&c->share);
}

/* One step; what went wrong is found by sqlite3_reset in sqlite_end. */
static bool sqlite_step_row(struct rows *r, struct sqlite_cursor *cursor)
{
    if (cursor->at_end)
        return false;
    if (is_over_share(r->tx->connection)) {
        cursor->at_end = true;
        return false;
    }
    if (sqlite3_step(cursor->statement->stmt) == SQLITE_ROW)
        return true;
    cursor->at_end = true;
    r->changed = sqlite3_changes64(((struct sqlite_conn *)r->tx->connection)->db);
    return false;
}

static bool next_recalled(struct rows *r, struct sqlite_cursor *cursor)
{
    struct arena *a = r->lent ? NULL : tx_arena(r->tx);

    if (is_over_share(r->tx->connection) ||
        !sqlite_recalled_row(cursor->recalled, cursor->next_row, a, cursor->cursor.row))
        return false;
    cursor->next_row++;
    r->row = cursor->cursor.row;
    return true;
}

bool sqlite_next(struct rows *r)
{
    struct sqlite_cursor *cursor = (struct sqlite_cursor *)r->cursor;

    if (cursor->recalled)
        return next_recalled(r, cursor);
    if (!sqlite_step_row(r, cursor))
        return false;
    struct arena *a = r->lent ? NULL : tx_arena(r->tx);
    for (int i = 0; i < r->columns; i++)
        cursor->cursor.row[i] = sqlite_column(a, cursor->statement->stmt, i);
    r->row = cursor->cursor.row;
    if (cursor->asking && r->lent)
        cursor->asking->hash = 0; /* gone before all rows are there */
    if (cursor->asking && cursor->asking->hash)
        sqlite_asking_row(tx_arena(r->tx), cursor->asking, r->row, r->columns);
    return true;
}

static enum err end_recalled(struct rows *r, struct sqlite_cursor *cursor)
{
    struct sqlite_conn *c = r->tx->connection;

    sqlite_recalled_done(cursor->recalled);
    tx_remove_cursor(r->tx, &cursor->cursor);
    return c->share.is_spent ? tx_fail(r->tx, ERR_STORE_RETRY) : OK;
}

/* What it wrote was not found out. */
static void lose_track(struct tx *tx)
{
    struct sqlite_conn *c = tx->connection;

    c->has_lost_track = false;
    if (!work_writes(tx->work))
        return;
    forget_statements(c);
    c->reach_age++;
    sqlite_reach_write_all((struct sqlite *)tx->store);
}

enum err sqlite_end(struct rows *r)
{
    struct sqlite_cursor *cursor = (struct sqlite_cursor *)r->cursor;
    struct sqlite_conn *c = r->tx->connection;

    if (cursor->recalled)
        return end_recalled(r, cursor);
    sqlite3_stmt *stmt = cursor->statement->stmt;
    /* A write is whole only at its end, where its foreign keys are looked at. */
    if (!cursor->statement->reads_only)
        while (sqlite_step_row(r, cursor))
            ;
    int code = sqlite3_reset(stmt);
    enum err e = OK;
    if (code != SQLITE_OK)
        e = tx_fail(r->tx, sqlite_error(c, code, cursor->sql));
    else if (c->share.is_spent)
        e = tx_fail(r->tx, ERR_STORE_RETRY); /* between two rows, which SQLite knows nothing of */
    else
        cursor_remember(c, cursor);
    tx_remove_cursor(r->tx, &cursor->cursor);
    release_statement(cursor->statement);
    if (c->has_lost_track)
        lose_track(r->tx);
    return e;
}

/* The library counts the changes that a connection has come across; connections count
 * each for themselves. */
uint64_t sqlite_version(struct tx *tx)
{
    struct sqlite_conn *c = tx->connection;
    unsigned changes = 0;

    if (sqlite3_file_control(c->db, "main", SQLITE_FCNTL_DATA_VERSION, &changes) != SQLITE_OK)
        return 0;
    return c->number << 32 | (changes + 1);
}

enum err sqlite_script(struct tx *tx, const char *sql)
{
    struct sqlite_conn *c = tx->connection;
    c->has_written = true;
    int code = sqlite3_exec(c->db, sql, NULL, NULL, NULL);

    return code == SQLITE_OK ? OK : tx_fail(tx, sqlite_error(c, code, sql));
}

/* --- opening -------------------------------------------------------------------------- */

static const char settings[] = "pragma journal_mode = wal;"
                               "pragma synchronous = full;"
                               "pragma foreign_keys = on;"
                               "pragma temp_store = memory;";

static void configure_library(void)
{
    /* Counting every allocation takes a lock that all threads share. */
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

enum err sqlite_conn_open(const char *path, struct sqlite_conn **ret)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    static _Atomic uint64_t opened;
    struct sqlite_conn *c = mem_new(sizeof *c);
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;

    pthread_once(&once, configure_library);
    map_init(&c->statements);
    map_init(&c->reaches);
    c->number = ++opened;
    if (sqlite3_open_v2(path, &c->db, flags, NULL) != SQLITE_OK ||
        sqlite3_busy_timeout(c->db, SQLITE_BUSY_MS) != SQLITE_OK || !sqlite_reach_begin(c) ||
        sqlite3_exec(c->db, settings, NULL, NULL, NULL) != SQLITE_OK) {
        log_error("store: cannot open '%s': %s", path, sqlite3_errmsg(c->db));
        sqlite_conn_close(c);
        return ERR_UNAVAILABLE;
    }
    *ret = c;
    return OK;
}

void sqlite_conn_close(struct sqlite_conn *c)
{
    if (!c)
        return;
    forget_statements(c);
    sqlite_reaches_clear(c);
    sqlite_recalls_free(c->recalls);
    sqlite3_close(c->db);
    mem_free(c);
}

int sqlite_conn_do(struct sqlite_conn *c, const char *sql)
{
    struct sqlite_statement *st;

    if (take_statement(c, sql, 0, &st))
        return sqlite3_errcode(c->db);
    sqlite3_step(st->stmt);
    int code = sqlite3_reset(st->stmt);
    release_statement(st);
    return code;
}
