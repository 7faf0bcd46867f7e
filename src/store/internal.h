/* internal.h - what the store's own files share.
 *
 * store.c and rows.c know works, rows and values; an engine knows connections,
 * transactions and statements. This is where they meet. */
#ifndef STORE_INTERNAL_H
#define STORE_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "base/map.h"
#include "store/folder.h"
#include "store/store.h"

/* Where a copy of the rows goes: into an open file, from there on. */
struct rows_place {
    int fd;
    int64_t at;
};
/* Makes room for so many bytes. */
typedef enum err rows_place_fn(void *arg, int64_t size, struct rows_place *ret);

struct engine {
    const char *name;
    /* Returns with the schema up to date and its threads running. */
    enum err (*open)(const struct store_options *options, struct store **ret);
    /* Accepts the half-opened. */
    void (*close)(struct store *s);
    bool (*ready)(struct store *s);
    void (*submit)(struct store *s, struct work *w);
    void (*turn_end)(struct store *s, struct loop *loop);
    /* All rows as they are now, to the place that is asked for once their size is known. NULL: the
     * engine has tools of its own. The copy is checked; if it is damaged, that is logged. */
    enum err (*backup)(struct store *s, rows_place_fn *place, void *arg, bool *ret_damaged);
    enum err (*check)(struct store *s);
    enum err (*take)(struct store *s); /* see store_take; NULL: nothing to do */

    /* query puts its cursor into tx->open; end takes it out. next fills r->row,
     * and sets r->changed and r->error when there is none. */
    enum err (*query)(struct tx *tx, const char *sql, const struct value *values, size_t count,
                      struct rows *ret);
    bool (*next)(struct rows *r);
    enum err (*end)(struct rows *r);
    /* See tx_prefetch and tx_exec_soon; NULL: no query is a round trip. */
    void (*prefetch)(struct tx *tx, const char *sql, const struct value *values, size_t count);
    enum err (*exec_soon)(struct tx *tx, struct sql sql, const struct value *values, size_t count);
    unsigned (*lane)(const struct tx *tx); /* see tx_lane; NULL: 0 */
    bool (*go_aside)(struct tx *tx);       /* see tx_expect_long; NULL: nothing runs on loops */
    /* See tx_seen; NULL: nothing can be cached. */
    bool (*seen)(struct tx *tx, struct tx_seen *ret);
    bool (*unchanged)(struct tx *tx, const struct tx_seen *since, const uint16_t *slots,
                      size_t count);
    void (*touch)(struct tx *tx, enum noted_rows rows, uint64_t id);
    /* Several statements without parameters or rows, for migrations. */
    enum err (*script)(struct tx *tx, const char *sql);
    /* What the words of migrations stand for. */
    const char *id_word, *clustered_word;
    /* Whether a server runs that does not know this step, or with `lately` ran a moment ago. NULL:
     * there is one program at a time. step_words: a script before a step that others may meet. */
    const char *step_words;
    enum err (*has_older)(struct tx *tx, int64_t step, bool lately, bool *ret);
};

extern const struct engine sqlite_engine, postgres_engine;

/* How often SQLite reported a damaged database to this process. */
uint64_t sqlite_corruptions(void);

struct store {
    const struct engine *engine;
    char *folder;
    int lock; /* keeps other processes out of the folder; -1: none held */
    _Atomic uint64_t reads, writes, commits, retries, failures, round_trips, damaged_files;
    _Atomic int64_t
        full_since; /* when the last write found no room (clock_mono); 0: there is room */
    _Atomic(const char *) retried; /* the name of the work that was last tried again, or NULL */
    _Atomic uint64_t blobs;        /* names of blobs that are being written */
    struct blob_sides *inside;     /* blobs are in the database, and this leads there; or NULL */
    struct blob_cache *cache;      /* then: copies of some */
    _Atomic bool unfinished;       /* steps wait for the end of older servers … */
    _Atomic bool outgrown;         /* … or were applied that this program cannot live with */
    void (*voided)(void *arg, int64_t position); /* see store_hear_voids; or NULL */
    void *voided_arg;
};

/* One run of one work. */
struct tx {
    struct store *store;
    struct work *work;
    void *connection;        /* the engine's */
    struct row_cursor *open; /* queries that were not ended, newest first */
    enum err failed;         /* the first query that failed decides */
    struct tx_reads *reads;  /* collects what queries read; or NULL */
};

/* The part of a cursor that every engine has; its first member. */
struct row_cursor {
    struct row_cursor *next;
    struct value *row;
};

/* Runs the work's function inside a transaction that the engine has begun, ends
 * the cursors that it left open and returns what became of it. */
enum err tx_run(struct tx *tx);

void tx_add_cursor(struct tx *tx, struct row_cursor *c, int columns);
void tx_remove_cursor(struct tx *tx, struct row_cursor *c);

/* Notes that the transaction cannot succeed any more; returns e. */
enum err tx_fail(struct tx *tx, enum err e);

/* A read that tries to write is a bug: ends the process. */
enum err tx_refuse_write(const char *sql);

/* Hands the result over, on the work's loop; the work is its owner's again. */
void work_finish(struct store *s, struct work *w, enum err result);

/* space.c: a write found no room on the disk; a write was committed. */
void space_refused(struct store *s);
void space_found(struct store *s);
/* Whether a statement or file that found no room may be logged: at most once per 10 s. */
bool space_may_log(void);

/* Copies into the arena, never NULL. */
struct value value_copy(struct arena *a, enum value_kind kind, const void *p, size_t n);

/* --- works that wait, queue.c --------------------------------------------------------- */

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
/* Those linked from first to last are the next that are taken. Somebody who takes is awake. */
void queue_push_back(struct queue *q, struct work *first, struct work *last);
/* Up to max works, linked by next, oldest first; waits for the first one as long
 * as patience_ms (-1: any time). NULL: none came, or closed and empty. */
struct work *queue_take(struct queue *q, unsigned max, int64_t patience_ms);
/* The oldest, and those right behind it that can be done together with it: works that add and have
 * said what they will ask, each of another owner. */
struct work *queue_take_alike(struct queue *q, unsigned max, int64_t patience_ms);
/* Nothing more will be pushed: whoever waits is woken. */
void queue_close(struct queue *q);
bool queue_closed(struct queue *q);

/* Of threads that wait so long. */
void wait_init(pthread_cond_t *c);
struct timespec wait_deadline(int64_t ms);

/* --- long reads that wait, lanes.c ---------------------------------------------------- */

enum lane_name {
    LANE_URGENT, /* taken before all others */
    LANE_LONG,   /* had their share: for threads that take long ones, before fresh ones */
    LANE_FRESH,
    LANE_KINDS,
};
/* Of a thread for those that do not take long. Nobody knows beforehand which do: one that takes
 * more is broken off, and begins anew among the long ones. */
enum { LANE_SHARE_MS = 40 };
/* The time of so many round trips to the database is not counted. */
enum { LANE_FREE_ROUND_TRIPS = 16 };

struct lanes {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    struct lane_kind {
        struct link turns; /* struct lane, in the order of their turns */
        struct map by_owner;
    } kinds[LANE_KINDS];
    unsigned sleepers;
    bool closed;
};

void lanes_init(struct lanes *l);
void lanes_clear(struct lanes *l);
/* False: closed. The work is its caller's still. */
bool lanes_push(struct lanes *l, struct work *w);
/* Waits for one as long as patience_ms (-1: any time). NULL: none came, or closed and empty. */
struct work *lanes_take(struct lanes *l, bool takes_long, int64_t patience_ms);
/* Nothing more will be pushed by callers: whoever waits is woken. */
void lanes_close(struct lanes *l);
bool lanes_closed(struct lanes *l);

/* --- migrations.c --------------------------------------------------------------------- */

/* Runs a work at once, in a transaction of its own, on the calling thread. */
typedef enum err run_at_once(struct store *s, struct work *w);

/* Brings the schema up to date; as_is: only looks whether it is. The caller sees to it that
 * nobody else does so at the same time. */
enum err migrations_apply(struct store *s, bool as_is, run_at_once *run);
/* Applies those that waited for the end of older servers, if that has come. */
enum err migrations_finish(struct store *s, run_at_once *run);

/* --- folder.c ------------------------------------------------------------------------- */

/* Makes the folder and those above it where they are missing; logs. */
enum err folder_make(const char *path);
/* Takes the folder for this process; logs a sentence when another one has it. */
enum err folder_lock(const char *path, int *ret);

/* A file without a name in TMPDIR, or /var/tmp, for a copy of the rows: nothing of it stays,
 * however the process ends. Logs; -1. */
int temporary_file(void);

/* A file of this name stays while a backup is restored into the folder. */
#define RESTORE_MARK "restore.part"

/* --- blobs.c -------------------------------------------------------------------------- */

bool is_blob_name(const char *name);
/* How a blob is called in the folder of notes, and whether something is called so. */
void blob_note_name(const char *blob, char *out, size_t size);
bool is_note_name(const char *note);
void blob_of_note(const char *note, char *out, size_t size);

/* --- blobs in the database, postgres_blobs.c --------------------------------------------- */

struct blob_name {
    const char *name;
    time_t put_at;
};

struct blob_sides *blob_sides_new(void);
void blob_sides_free(struct blob_sides *all); /* accepts NULL */
enum err postgres_blob_put(struct store *s, const char *name, struct str bytes);
enum err postgres_blob_settle(struct store *s, const char *name, bool settled);
/* ERR_NOT_FOUND when it is not there. */
enum err postgres_blob_delete(struct store *s, const char *name);
/* Writes it to fd, from the beginning; fd -1: only looks how long it is. The same. */
enum err postgres_blob_read(struct store *s, const char *name, int fd, int64_t *ret_size);
/* Each that was put so many seconds ago and not settled since; -1: each there is. */
enum err postgres_blobs_each(struct store *s, int64_t seconds,
                             enum err (*found)(void *arg, const struct blob_name *name), void *arg);
/* See blobs_hold and blobs_held. Until the store is closed. */
enum err postgres_blobs_hold(struct store *s);
bool postgres_blobs_held(struct store *s);

/* --- copies of those in the database, blob_cache.c ------------------------------------- */

#define BLOB_CACHE "blob-cache" /* the folder, beside that of blobs */

struct blob_cache *blob_cache_new(int64_t most); /* bytes; 0: any */
void blob_cache_free(struct blob_cache *c);      /* accepts NULL */
enum err blob_cache_open_folder(const struct store *s);
/* Opens the copy, when there is one that the database need not be asked about. */
bool blob_cache_open_near(const struct store *s, const char *name, int *ret_fd, int64_t *ret_size);
/* Opens the copy, which is made when there is none. ERR_NOT_FOUND: there is no such blob. */
enum err blob_cache_open(struct store *s, const char *name, int *ret_fd, int64_t *ret_size);
/* The same from the database, and no copy stays. */
enum err blob_cache_read(struct store *s, const char *name, int *ret_fd, int64_t *ret_size);
void blob_cache_drop(const struct store *s, const char *name);

/* --- blobs_walk.c --------------------------------------------------------------------- */

/* Makes the file that backups lock. */
void blobs_make_hold(struct store *s);
/* Until the descriptor is closed, or the process ends, no server deletes a blob of the folder
 * that has a row. */
enum err blobs_hold(struct store *s, int *ret);

/* As blob_open, but of a blob in the database no copy is left in the cache. */
enum err blob_open_once(struct store *s, const char *name, int *ret_fd, int64_t *ret_size);

/* fd is open for reading, and the walk's to close. */
typedef enum err blob_found(void *arg, const char *name, int fd, time_t written);
enum err blobs_walk(struct store *s, blob_found *found, void *arg);
enum err blobs_walk_notes(struct store *s, blob_found *found, void *arg);
/* All files below a folder of the store's. */
enum err blobs_walk_folder(const struct store *s, const char *below, blob_found *found, void *arg);

/* Makes the folder of the blobs; when the store has the folder for itself, also
 * removes what a crash left half written. */
enum err blobs_open(struct store *s);

#endif
