/* postgres.h - what the files of the PostgreSQL engine share. */
#ifndef STORE_POSTGRES_H
#define STORE_POSTGRES_H

#include "base/links.h"
#include "base/map.h"
#include "store/internal.h"
#include "store/postgres/libpq.h"

/* --- one connection, postgres_conn.c: used by one thread at a time -------------------- */

enum {
    POSTGRES_MOST_ERRANDS = 128,
    POSTGRES_MOST_ASKED = 256, /* of a loop */
    POSTGRES_GATHERED = 16,
    POSTGRES_KINDS = 1 << 12,
};
struct postgres_statement;
struct postgres_values;
struct postgres;

/* How long the current read may run before it is aborted and queued again (lanes.c). */
struct read_share {
    int64_t until; /* the end of the share of the read that runs (lanes.c); 0: it has none */
    unsigned free_round_trips; /* so many more put that end off */
    int64_t way_ns;  /* the least that one took on this connection; 0: none was measured */
    bool is_spent;   /* it was broken off then */
    bool is_hurried; /* the database breaks off what takes longer than a share */
};

struct postgres_conn {
    PGconn *pg;            /* NULL: not connected */
    unsigned lane;         /* see tx_lane */
    struct map statements; /* by the address of the SQL */
    unsigned named;        /* statements so far, for their names */
    bool lost;             /* noticed while it was used … */
    bool silent;           /* … by its silence: others may be silent too */
    int patience_ms;       /* for an answer; 0: any time */
    struct read_share share;
    _Atomic uint64_t *round_trips; /* counts blocking ones; or NULL */
    const char *begin;             /* a transaction that was not begun yet, by these words */
    int64_t position;              /* the last of the log that it was told; 0: none yet */
    bool ending;                /* the commit of a read was sent, and its answer not waited for */
    bool at_once;               /* a read that ends with its first way … */
    bool is_over;               /* … has ended … */
    bool wants_more;            /* … and asks something else: it begins anew */
    unsigned began;             /* round trips of this transaction so far */
    const struct work *culprit; /* whose errand failed; NULL: none's that is known */
    bool may_be_written;        /* a commit was sent, and is not known to have come to nothing */
    bool gathers;               /* works of a group run: what they write waits for its end … */
    bool leaves;                /* … and that which runs cannot be one of them */
    bool on_loop;               /* nothing is waited for: what is not here is put off … */
    bool is_full;               /* … unless there is no room for it … */
    bool wants_room;            /* … among the statements, which are too many */
    struct arena *arena;        /* where that is kept */
    int64_t rows_until;         /* on a loop: a read that is measured leaves then, … */
    int64_t rows_spent;         /* … if the thread has spent so much; until is 0: it is not */
    unsigned errand_count;
    struct postgres_errand {
        const char *sql;
        struct postgres_statement *statement;
        const struct postgres_values *values;
        size_t count;
        const struct work *work; /* whose it is */
        bool writes;             /* nobody waits for it; else it was prefetched */
        bool prepares;           /* on a loop: it is the first of its statement */
        bool used;               /* on a loop: its rows were wanted */
        uint8_t round;           /* on a loop: with which questions of its work it went */
        uint8_t guess;           /* which of prefetch.c, or 0 */
        PGresult *result;        /* of what was prefetched, once it was asked for */
    } errands[POSTGRES_MOST_ASKED];
};

/* False when the database cannot be reached; says why, when asked to. */
bool postgres_conn_open(struct postgres_conn *c, const char *where, bool log);
/* For servers: from now on nothing takes longer than a caller waits, and tools that want
 * the database for themselves are kept out; false, and logged, when one is there. The
 * others see who it is that has this connection (postgres_peers.c). */
bool postgres_conn_serve(struct postgres_conn *c, struct postgres *p);
/* For such a tool, until its connection ends. */
enum err postgres_keep_servers_out(struct tx *tx);
/* Whether statements end that take longer than a share; else they have the time of a caller. */
bool postgres_conn_hurry(struct postgres_conn *c, bool hurry, bool serves);
void postgres_conn_close(struct postgres_conn *c);
/* Looks whether the other side hung up while nothing was asked of it. */
bool postgres_conn_alive(struct postgres_conn *c);

/* A command of ours without parameters or rows. */
enum err postgres_conn_do(struct postgres_conn *c, const char *sql);
/* A question without parameters: the first column of the first row; "": there is none. */
enum err postgres_conn_ask(struct postgres_conn *c, const char *sql, char *out, size_t size);

/* Something is sent, and its answer will be waited for. */
void postgres_conn_count(struct postgres_conn *c);
/* Waits for the answer to a commit that nobody waited for. */
void postgres_conn_settle(struct postgres_conn *c);

/* What became of the command that was just sent, if it was: the last result of all, or
 * the first bad one. NULL: the connection is lost. */
PGresult *postgres_last_result(struct postgres_conn *c, int sent);
PGresult *postgres_next_result(struct postgres_conn *c);
/* Whether TLS has read more than libpq had room for: the socket says nothing of that. */
bool postgres_conn_has_more(const struct postgres_conn *c);
bool postgres_is_good(const PGresult *result);
/* What the result says, when it is not good; logs what nobody else will. */
enum err postgres_error(struct postgres_conn *c, const PGresult *result, const char *sql);
/* The same of any result, which it takes. */
enum err postgres_outcome(struct postgres_conn *c, PGresult *result, const char *sql);

/* --- beginnings and ends, postgres_commit.c ------------------------------------------- */

/* A transaction: it begins together with its first query, which saves the way
 * there and back. `how` is "begin …". */
void postgres_conn_begin(struct postgres_conn *c, const char *how);
/* The same, of a read that has asked all at once before: it is committed with its first way. Should
 * it ask for more it fails, with c->wants_more. */
void postgres_conn_begin_once(struct postgres_conn *c, const char *how);
enum err postgres_conn_commit(struct postgres_conn *c);
/* Commits with a row of the log. *ret is its position if it was told, also when the commit
 * failed; 0: it was not. */
enum err postgres_conn_commit_logged(struct postgres_conn *c, struct str body, int64_t *ret);
/* After the rollback of one that failed: a position that it took and was not told; 0: there is
 * none, or this connection never had one before. */
int64_t postgres_conn_untold_position(struct postgres_conn *c);
/* Commits a group, with the rows of the log of those that have one. */
enum err postgres_conn_commit_group(struct postgres_conn *c, struct work *const *works,
                                    unsigned count);
void postgres_conn_roll_back(struct postgres_conn *c);
/* Ends a read, which has all that it wanted: nobody waits for the answer. */
void postgres_conn_let_go(struct postgres_conn *c);

/* --- queries, postgres_query.c --------------------------------------------------------- */

void postgres_forget_statements(struct postgres_conn *c);
void postgres_forget_errands(struct postgres_conn *c);
/* Those of one work of a group. */
void postgres_drop_errands(struct postgres_conn *c, const struct work *work);
/* See tx_prefetch and tx_exec_soon. */
void postgres_prefetch(struct tx *tx, const char *sql, const struct value *values, size_t count);
enum err postgres_exec_soon(struct tx *tx, struct sql sql, const struct value *values,
                            size_t count);
enum err postgres_query(struct tx *tx, const char *sql, const struct value *values, size_t count,
                        struct rows *ret);
bool postgres_next(struct rows *r);
enum err postgres_end(struct rows *r);
enum err postgres_script(struct tx *tx, const char *sql);

/* --- values on their way, postgres_values.c ------------------------------------------- */

enum { POSTGRES_MAX_VALUES = 64 };
struct postgres_values {
    const char *text[POSTGRES_MAX_VALUES];
    int length[POSTGRES_MAX_VALUES];
    int binary[POSTGRES_MAX_VALUES];
};

/* What a statement takes; text lives in the arena. */
void postgres_fill_values(struct postgres_values *p, struct arena *a, const struct value *values,
                          size_t count);
struct value postgres_column(struct arena *a, const PGresult *result, int row, int i);

/* --- who else is there, postgres_peers.c ---------------------------------------------- */

/* The first of the two numbers of the lock; the second is the identity. */
#define PEER_CLASS "(7166183 # hashtext(current_schema()))"

/* A new one, by the number of this node. */
uint32_t postgres_identity(bool alone);
/* Whether no other server is connected that may not be beside this one; says which. Waits
 * a little for one that is ending. */
bool postgres_alone(struct postgres_conn *c, uint32_t identity);

/* --- servers of two versions, postgres_versions.c -------------------------------------- */

/* Whether this program can use the tables as they are now; says why not, and notes it. A server
 * that stood still may find them changed when it connects again. */
bool postgres_fits(struct postgres_conn *c, struct postgres *p);
enum err postgres_has_older(struct tx *tx, int64_t step, bool lately, bool *ret);
/* Ends the connections of servers that do not know the step. */
enum err postgres_end_older(struct tx *tx, int64_t step);

/* --- where their files are, postgres_files.c ------------------------------------------- */

/* Before the others can see this server: puts its mark into the folder of blobs, and refuses when
 * one of theirs is not there. Nobody else begins meanwhile. */
enum err postgres_files_share(struct postgres *p, struct postgres_conn *c);
void postgres_files_leave(const struct postgres *p);

/* --- files in the database, postgres_blobs.c ------------------------------------------- */

/* Refuses a server that would look for them in the wrong place. */
enum err postgres_blobs_check(const struct postgres *p, struct postgres_conn *c);

/* --- the order of commits, postgres_line.c -------------------------------------------- */

struct commit_line {
    pthread_mutex_t lock;
    struct link works; /* whose commit was sent, in that order */
    bool announcing;   /* somebody does */
};

void commit_line_init(struct commit_line *l);
void commit_line_clear(struct commit_line *l);
/* Before COMMIT is sent. */
void commit_line_enter(struct commit_line *l, struct work *w);
/* It failed, or nobody knows: the work is its caller's again. */
void commit_line_leave(struct commit_line *l, struct store *s, struct work *w);
/* It succeeded: finishes the work in its turn, by this thread or another. */
void commit_line_finish(struct commit_line *l, struct store *s, struct work *w);

/* --- one work, postgres_worker.c ------------------------------------------------------ */

struct postgres_worker {
    struct postgres *pool;
    bool is_aside;   /* it does reads that may take long, … */
    bool takes_long; /* … those too that have had their share */
    bool is_beside;  /* no caller's: it meets none of them, and waits for none */
    struct postgres_conn conn;
    pthread_t thread;
    bool has_thread;
    int64_t wait_ms;      /* before the next try to connect */
    unsigned silences;    /* of the pool, when it connected */
    unsigned connections; /* so far */
    unsigned random;      /* state of its dice */
};

struct postgres {
    struct store store;
    char *where; /* never logged: it may hold a password */
    bool serves; /* see postgres_conn_serve */
    bool shared; /* beside others, and its mark is in the folder of blobs */
    uint32_t identity;
    struct queue queue;
    struct lanes aside; /* reads that may take long */
    struct commit_line line;
    struct postgres_kind {
        _Atomic uint16_t both;
    } kinds[POSTGRES_KINDS];           /* of reads, by their names: see postgres_kinds.c */
    pthread_rwlock_t writing;          /* held alone by a work that met others too often */
    _Atomic unsigned connected;        /* workers that are */
    _Atomic unsigned silences;         /* how often a connection fell silent */
    atomic_bool away;                  /* none was, since last we logged it */
    struct postgres_worker *finishing; /* see store_side_finish */
    unsigned count;                    /* of workers, those for long reads last */
    unsigned reader_count;             /* of loops that read by themselves */
    struct postgres_reader *readers;
    struct postgres_worker *workers;
};

/* To the workers, or those for long reads. */
void postgres_hand_over(struct postgres *p, struct work *w);
/* Above 0, and different at each node. */
unsigned postgres_lane_of(unsigned worker);
/* Connects, or connects again; false when that has to wait. */
bool postgres_worker_connect(struct postgres_worker *w, bool log);
/* Runs a work to its end, with all its tries. One that has something to announce
 * stands in line afterwards, if it succeeded. */
enum err postgres_worker_run(struct postgres_worker *w, struct work *work);
/* The words that a transaction begins with, by enum store_mode. */
extern const char *const postgres_begin_words[];
/* Tries until the work's patience is over. */
bool postgres_worker_connect_for(struct postgres_worker *w, const struct work *work);
void postgres_worker_hang_up(struct postgres_worker *w);
/* The positions of transactions that came to nothing would be waited for. */
void postgres_void_position(struct postgres_worker *w, int64_t position);
/* Hands a work over, in its turn. */
void postgres_worker_finish(struct postgres_worker *w, struct work *work, enum err e);
/* Closes its connection. */
void postgres_worker_leave(struct postgres_worker *w);
/* The life of a worker's thread. */
void *postgres_worker_live(void *arg);

/* --- what reads do, postgres_kinds.c --------------------------------------------------- */

/* Whether those of its kind have lately asked all they wanted in so many round trips; whether a
 * loop may run it. */
bool postgres_kind_ends_with(struct postgres *p, const struct work *work, unsigned round_trips);
bool postgres_kind_fits_loop(struct postgres *p, const struct work *work);
/* It has asked in so many round trips, or more. */
void postgres_kind_note(struct postgres *p, const struct work *work, unsigned round_trips);
/* Not on loops for a while. */
void postgres_kind_bar(struct postgres *p, const struct work *work);

/* --- what they will ask, prefetch.c: used by one thread ---------------------------------- */

struct prefetcher {
    struct map by_kind;
};
void prefetcher_clear(struct prefetcher *h);
/* After the first run of a read: adds what it will probably ask later. */
void prefetcher_guess(struct prefetcher *h, struct postgres_conn *c, struct work *work);
/* Its errands are answered, and it has all it wants. */
void prefetcher_learn(struct prefetcher *h, const struct postgres_conn *c, const struct work *work);
/* Adds an errand of that number, unless it is there. */
void postgres_prefetch_add(struct postgres_conn *c, const struct work *work, const char *sql,
                           const struct postgres_values *p, size_t count, unsigned number);

/* --- reads on loops, postgres_loop_reads.c ---------------------------------------------- */

struct postgres_reader;
/* On the work's loop. False: it is for a worker. */
bool postgres_reader_take(struct postgres *p, struct work *w);

/* --- … and the connections of these, postgres_loop_conn.c ------------------------------- */

void postgres_readers_init(struct postgres *p, unsigned count);
/* Gives what was not answered to the workers; nothing is taken any more. */
void postgres_readers_end(struct postgres *p);

/* --- several works in one transaction, postgres_group.c -------------------------------- */

/* Runs works, linked by next, to their ends and hands them over. */
void postgres_group_run(struct postgres_worker *w, struct work *first);

#endif
