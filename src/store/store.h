/* store.h - where everything that must last is kept.
 *
 * One interface, two engines: SQLite in a folder (the default) and PostgreSQL.
 * A piece of work is a function that runs inside one transaction; where it runs
 * is the store's business:
 *
 *   SQLite     reads run at once on the calling loop, on that loop's own
 *              connection. Reads that may take long run aside, on threads with
 *              connections of their own, and so does again, from its beginning, one
 *              that turns out to take longer than a few milliseconds. Writes go to the
 *              one writer thread, which takes every write that is waiting into one
 *              transaction and commits once: one sync serves them all.
 *   PostgreSQL reads that may be begun anew are asked from the calling loop, on that
 *              loop's own connection, without waiting. All else goes to a pool of workers, a
 *              connection each; reads that may take long have workers of their own.
 *
 * Either way the work's done function is called on the loop it came from, after
 * the commit. */
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

enum store_mode {
    STORE_NONE,
    STORE_READ,
    /* Serializable: as if works ran one after the other. */
    STORE_WRITE,
    /* For works that add rows which no decision of their like depends on, such as
     * messages. On PostgreSQL two that change the same row still meet, but nobody
     * watches what was read: many can add to one place without getting in each other's
     * way. What one of them has read may have changed when it commits. */
    STORE_APPEND,
};

struct store_options {
    const char *folder;   /* SQLite database and blobs; made when missing */
    const char *postgres; /* "postgres://…" or "host=/run/…"; NULL: SQLite */
    bool serves;          /* callers wait: nothing may take longer than they do */
    bool shared;          /* PostgreSQL: beside other servers, who are told by the log */
    bool beside;          /* a tool that only reads, beside a server that may run */
    bool as_is;           /* refused when it is not there, or not up to date */
    bool moves;           /* a tool that moves a world into it (move.h); others are refused then */
    bool blobs_inside;    /* PostgreSQL: blobs are in the database, the folder has copies of some */
    int64_t blob_cache;   /* bytes that those copies may take; 0: any */
    bool no_sync;         /* SQLite: commits do not wait for the disk */
    unsigned workers;     /* PostgreSQL connections, besides those of readers; 0: 4 */
    unsigned readers;     /* loops that will read: loop_index is below it */
};

/* Opens, or makes, the database and brings it up to date. Logs a sentence that
 * an operator understands when it cannot. */
enum err store_open(const struct store_options *options, struct store **ret);
/* Finishes what was submitted, then closes. Nothing may be submitted any more
 * and no turn be ended; loops that wait for a done must still be running.
 * Accepts NULL. */
void store_close(struct store *s);

/* For tools that change what a server remembers: no server runs on the database, and none
 * begins until the store is closed. Logs a sentence when one does. SQLite is taken when
 * it is opened. */
enum err store_take(struct store *s);

/* "sqlite" or "postgres". */
const char *store_engine(const struct store *s);

/* Ready to answer: the database can be reached (for /readyz). */
bool store_ready(struct store *s);
/* The last writes found no room on the disk. From any thread. */
bool store_full(struct store *s);

/* --- work ----------------------------------------------------------------------------- */

/* Embedded in whatever needs a transaction; must stay until done was called. */
struct work {
    enum store_mode mode;
    bool aside;    /* a read whose rows nobody can bound: not on a loop, not before others */
    bool measured; /* the same, but most have few: on a loop, with a look at the clock for each
                    * row, until it has taken its share of a turn */
    /* Of two that wait aside, that of the owner comes first who was served longer ago: an account,
     * or the hash of an address; 0: the server's own. Urgent: many wait for it, not only its owner,
     * so that it comes before all others. */
    uint64_t owner;
    bool urgent;
    const char *name;  /* a literal, for those who look for what takes long; or NULL */
    struct loop *loop; /* where done is called; NULL: on the store's own thread */
    /* Runs inside the transaction, maybe more than once (a serialisation failure
     * is tried again, a read that takes long begins anew aside): it must start from
     * scratch each time. An error rolls its own writes back, and only those; so does
     * an arena that was spoiled (ERR_ENTITY_TOO_LARGE). Strings it reads live in
     * tx_arena. */
    enum err (*run)(struct work *w, struct tx *tx);
    bool again; /* of STORE_READ: run may be begun anew, it leaves nothing behind but its answer */
    /* Of STORE_APPEND; may be NULL. Says what run is going to ask (tx_prefetch), where there is a
     * way to be saved. Works that do so may be run one after the other in one transaction, in which
     * none sees what the others write. */
    void (*prefetch)(struct work *w, struct tx *tx);
    /* May be NULL. Right after a commit that kept this work's writes and before done,
     * on a thread of the store, one at a time and in the order of the commits: a work
     * that saw or overwrote what another wrote comes after it. */
    void (*committed)(struct work *w);
    /* Result of run, or why the commit failed. ERR_STORAGE_FULL: no room left;
     * ERR_UNAVAILABLE: the database cannot be reached or written, or was lost
     * while it committed (then nobody knows whether it did); ERR_STORE_RETRY:
     * others kept getting in the way. */
    void (*done)(struct work *w, enum err e);
    struct arena *arena; /* what rows are copied into */

    /* the store's own */
    struct post post;
    struct work *next;
    bool is_long;   /* aside: it has had more than its share */
    bool by_itself; /* PostgreSQL: it is in no group any more */
    int64_t since;
    enum err result;
    struct str log;   /* see tx_log … */
    int64_t position; /* … */
    struct link line; /* PostgreSQL: its place among the commits, … */
    bool in_line;     /* … if it has one, … */
    bool answered;    /* … and whether it may be announced */
};

static inline bool work_writes(const struct work *w)
{
    return w->mode == STORE_WRITE || w->mode == STORE_APPEND;
}

/* Called on w->loop. May call done before it returns (a SQLite read does). */
void store_submit(struct store *s, struct work *w);

/* For tools and tests without loops: run in a transaction and wait. */
enum err store_run(struct store *s, enum store_mode mode, struct arena *arena,
                   enum err (*run)(struct tx *tx, void *arg), void *arg);

/* PostgreSQL: a connection of its own for one thread, so that what it does waits for no
 * caller. store_side_run is store_run there. Freed before the store is closed. */
struct store_side;
struct store_side *store_side_new(struct store *s);
enum err store_side_run(struct store_side *side, enum store_mode mode, struct arena *arena,
                        enum err (*run)(struct tx *tx, void *arg), void *arg);
void store_side_free(struct store_side *side); /* accepts NULL */
/* How often it has connected: what is there now may be another database, that took the place of the
 * first. */
unsigned store_side_connections(const struct store_side *side);

/* The last step of the tables that this program knows. */
int64_t store_schema(void);
/* Servers of two versions may share a PostgreSQL: whether steps wait for the end of the older
 * ones, or newer ones have applied some that this program cannot live with. */
bool store_unfinished(const struct store *s);
bool store_outgrown(const struct store *s);
/* Applies those steps if no older server is left; ends connections that one has made since. */
enum err store_side_finish(struct store_side *side);

/* What the connections of this server are known by (server_connections.identity). */
uint32_t store_identity(const struct store *s);
/* The number of a node in such an identity. */
unsigned store_identity_node(uint32_t identity);

/* At the end of a loop's turn: lets go of the snapshot that the turn's reads
 * shared (an old one would hold up checkpoints). */
void store_turn_end(struct store *s, struct loop *loop);

/* --- queries -------------------------------------------------------------------------- */

struct arena *tx_arena(struct tx *tx);
/* From now on rows go to another arena; returns the one before, to be put back. */
struct arena *tx_use_arena(struct tx *tx, struct arena *a);

/* Where one writes at a time: 0. Else a number that no other work has at the same time,
 * of this server or another: works that count in a row of their own for each lane do not
 * get in each other's way. */
unsigned tx_lane(const struct tx *tx);

/* What comes next takes long and does not ask the store. A read on a loop has to end with the
 * error that this returns, and begins anew aside; anywhere else it is OK. */
enum err tx_expect_long(struct tx *tx);

/* Where one process writes (SQLite), everything that a cached result may depend on has a version
 * slot: each column, each row of the tables below, and the rows of an owner. A result that was made
 * of them can be used by later reads of the same thread until one of its slots changes. */
enum noted_rows {
    NOTED_MESSAGES,
    NOTED_USERS,
    NOTED_CHANNELS,
    NOTED_COMMANDS,
    NOTED_RELATIONSHIPS, /* of an account, by its id: all in its list */
    NOTED_MEMBERS        /* of a guild, by its id: all of them, with their roles */
};
struct tx_seen {
    uint64_t connection, commits;
};
/* The commits that this read has seen, or more. False: nothing can be cached (writes; PostgreSQL).
 */
bool tx_seen(struct tx *tx, struct tx_seen *ret);
uint16_t row_slot(enum noted_rows rows, snowflake id);
/* Whether an earlier read of the same connection saw in these slots what this one would see. */
bool tx_unchanged(struct tx *tx, const struct tx_seen *since, const uint16_t *slots, size_t count);
/* Collects the slots of all columns that queries of the transaction read; NULL: not any more. */
enum { TX_MOST_SLOTS = 256 };
struct tx_reads {
    uint16_t slots[TX_MOST_SLOTS];
    size_t count;
    bool is_unknown; /* there are too many, or a result does not follow from rows alone */
};
void tx_collect_reads(struct tx *tx, struct tx_reads *to);

/* Of a new row nobody has seen the id: who makes a command says which application's it is. */
void tx_touch(struct tx *tx, enum noted_rows rows, snowflake id);

/* What this transaction announces, as one row of the log. When it has committed, work->position
 * says which. The bytes live as long as the work. SQLite keeps so many of them. */
enum { STORE_LOG_KEPT = 20000 };
void tx_log(struct tx *tx, struct str body);
/* Positions that were taken by a transaction which came to nothing: from any thread, as soon as
 * that is certain. Before the first of them. */
void store_hear_voids(struct store *s, void (*voided)(void *arg, int64_t position), void *arg);

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

/* Rows of one query, taken one after the other. */
struct rows {
    struct tx *tx;
    struct row_cursor *cursor; /* NULL once ended */
    const struct value *row;   /* the current one, in the arena */
    int columns;
    int64_t changed; /* rows touched, known at the end */
    enum err error;
    bool lent;   /* text and bytes may be gone with the next row */
    bool single; /* the first row is all that is asked for */
};

/* The text of a statement. Prepared statements are cached by the address of their text, so it must
 * be a string literal or a static const array of char. SQL() does not compile with anything else,
 * such as text that is built at run time. The functions below accept a literal, a static array or
 * a struct sql. A helper takes a struct sql and is called with SQL(FIND); a table of statements has
 * rows of SQL_TEXT("delete from notes where user_id = $1"). */
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

/* SQL is written in the words both engines share: $1, on conflict … do update, returning. All of
 * $1 … $count occur in it. PostgreSQL takes a parameter's type from where it
 * stands; where that says nothing, write it: cast($1 as bigint).
 *
 * Values live until the rows are ended. Text with a NUL byte, which PostgreSQL
 * cannot hold, is ERR_BAD_REQUEST on both. A table is not written while its
 * rows are being walked. Always call rows_end, also after rows_next said false:
 * it reports what went wrong. The first query that fails ends the transaction:
 * every later one returns the same error and the work cannot succeed. */
#define tx_query(tx, sql, ...) tx_query_sql(tx, SQL(sql), __VA_ARGS__)
enum err tx_query_sql(struct tx *tx, struct sql sql, const struct value *values, size_t count,
                      struct rows *ret);
bool rows_next(struct rows *r);
enum err rows_end(struct rows *r);

/* Columns of the current row, from 0; a null is 0, false or empty. Text and bytes
 * are in the arena and outlive the rows, unless .lent was set before the row was
 * asked for: then they need not be copied, for those who do that themselves at once. */
bool row_null(const struct rows *r, int column);
int64_t row_int(const struct rows *r, int column);
snowflake row_id(const struct rows *r, int column);
double row_real(const struct rows *r, int column);
bool row_bool(const struct rows *r, int column);
struct str row_text(const struct rows *r, int column);
struct str row_bytes(const struct rows *r, int column);

/* A query that returns nothing. ret_changed (may be NULL): rows touched. */
#define tx_exec(tx, sql, ...) tx_exec_sql(tx, SQL(sql), __VA_ARGS__)
enum err tx_exec_sql(struct tx *tx, struct sql sql, const struct value *values, size_t count,
                     int64_t *ret_changed);

/* A query that will be sent soon. PostgreSQL sends it together with the next query, in one round
 * trip, and has the rows when they are wanted; a write in between makes them forgotten. On SQLite
 * this does nothing. Reads on loops learn most of this by themselves (postgres/prefetch.c). */
#define tx_prefetch(tx, sql, ...) tx_prefetch_sql(tx, SQL(sql), __VA_ARGS__)
void tx_prefetch_sql(struct tx *tx, struct sql sql, const struct value *values, size_t count);
/* Each query is a network round trip: batch them. */
bool tx_is_remote(const struct tx *tx);

/* Like tx_exec, for writes that cannot meet a row of the same key and of which nobody has to
 * know before the end: it may travel with what comes next, or with the commit, which fails
 * when it does. Bytes among the values stay until then. */
#define tx_exec_soon(tx, sql, ...) tx_exec_soon_sql(tx, SQL(sql), __VA_ARGS__)
enum err tx_exec_soon_sql(struct tx *tx, struct sql sql, const struct value *values, size_t count);

/* A query that returns at most one row, left in ret for row_*; *ret_found says
 * whether there was one. Needs no rows_end. */
#define tx_one(tx, sql, ...) tx_one_sql(tx, SQL(sql), __VA_ARGS__)
enum err tx_one_sql(struct tx *tx, struct sql sql, const struct value *values, size_t count,
                    struct rows *ret, bool *ret_found);

/* True when e came from a unique constraint: name taken, already there. The
 * work cannot go on after it and returns an error, this or a better one. Where
 * it should go on, write `on conflict do nothing` and look at what changed. */
#define ERR_IS_CONFLICT(e) ((e) == ERR_STORE_CONFLICT)

/* --- blobs ---------------------------------------------------------------------------- */

/* Bytes that are not rows: avatars, attachments. A name is "area/a/b.ext" of
 * [a-z0-9_.-]; a blob is whole and synced before put returns, or not there. It waits for
 * a disk, so never on a loop or inside a transaction. */
enum err blob_put(struct store *s, const char *name, struct str bytes);
/* Its row is committed. Until then it is one of those that blobs_unsettled names. */
enum err blob_settle(struct store *s, const char *name);
/* Names blobs that were put at least so many seconds ago and not settled since: their row
 * may never have been committed. */
enum err blobs_unsettled(struct store *s, int64_t seconds,
                         void (*found)(void *arg, const char *name), void *arg);
/* Is a backup being made? Then blobs whose rows are gone have to stay for now. */
bool blobs_held(struct store *s);
/* Does this process have the folder of the blobs for itself? */
bool store_is_alone(const struct store *s);
/* ERR_NOT_FOUND when it is not there; the fd is the caller's to close. Not on a loop where blobs
 * are in the database, from where it may have to be read first. */
enum err blob_open(struct store *s, const char *name, int *ret_fd, int64_t *ret_size);
/* The same for a blob whose row says what it has to be. size: of the row, -1 when it is not known.
 * ERR_FILE_DAMAGED, with a line in the log, when the blob is missing or has another size. */
enum err blob_open_checked(struct store *s, const char *name, int64_t size, int *ret_fd,
                           int64_t *ret_size);
/* BLAKE2b-256 in hex, as `files` has it. */
enum { BLOB_DIGEST = 65 };
void blob_digest(struct str bytes, char ret[BLOB_DIGEST]);
bool blobs_are_inside(const struct store *s);
/* Opens what need not be read from there; false: it has to, or there is no such blob. */
bool blob_open_near(struct store *s, const char *name, int *ret_fd, int64_t *ret_size);
/* ERR_NOT_FOUND when it is not there any more. */
enum err blob_delete(struct store *s, const char *name);

/* Integrity check for tests and `guildhall check`; logs what is wrong. */
enum err store_check(struct store *s);

/* For /metrics. */
struct store_stats {
    uint64_t reads, writes, commits, retries, failures;
    uint64_t round_trips;   /* to PostgreSQL, that somebody waited for */
    uint64_t corruptions;   /* statements that met a damaged database (SQLite) */
    uint64_t damaged_files; /* that were asked for, and missing or of another size */
    const char *retried;    /* which work was last tried again; NULL: none with a name */
};
void store_stats(struct store *s, struct store_stats *ret);

#endif
