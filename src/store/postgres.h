/* postgres.h - what the files of the PostgreSQL engine share. */
#ifndef STORE_POSTGRES_H
#define STORE_POSTGRES_H

#include "base/links.h"
#include "base/map.h"
#include "store/internal.h"
#include "store/libpq.h"

/* --- one connection, postgres_conn.c: used by one thread at a time -------------------- */

struct postgres_conn {
    PGconn *pg;            /* NULL: not connected */
    unsigned lane;         /* see tx_lane */
    struct map statements; /* by the address of the SQL */
    unsigned named;        /* statements so far, for their names */
    bool lost;             /* noticed while it was used … */
    bool silent;           /* … by its silence: others may be silent too */
    int patience_ms;       /* for an answer; 0: any time */
    const char *begin;     /* a transaction that was not begun yet, by these words */
};

/* False when the database cannot be reached; says why, when asked to. */
bool postgres_conn_open(struct postgres_conn *c, const char *where, bool log);
/* For servers: from now on nothing takes longer than a caller waits, and tools that want
 * the database for themselves are kept out; false, and logged, when one is there. The
 * others see who it is that has this connection (postgres_peers.c). */
bool postgres_conn_serve(struct postgres_conn *c, uint32_t identity);
/* For such a tool, until its connection ends. */
enum err postgres_keep_servers_out(struct tx *tx);
void postgres_conn_close(struct postgres_conn *c);
/* Looks whether the other side hung up while nothing was asked of it. */
bool postgres_conn_alive(struct postgres_conn *c);

/* A command of ours without parameters or rows. */
enum err postgres_conn_do(struct postgres_conn *c, const char *sql);
/* A question without parameters: the first column of the first row; "": there is none. */
enum err postgres_conn_ask(struct postgres_conn *c, const char *sql, char *out, size_t size);

/* A transaction: it begins together with its first query, which saves the way
 * there and back. `how` is "begin …", `end` "commit" or "rollback". */
void postgres_conn_begin(struct postgres_conn *c, const char *how);
enum err postgres_conn_end(struct postgres_conn *c, const char *end);
/* Commits with a row of the log. *ret is its position as soon as there is one, also when
 * the commit failed; 0: it has none. */
enum err postgres_conn_commit(struct postgres_conn *c, struct str body, int64_t *ret);

enum err postgres_query(struct tx *tx, const char *sql, const struct value *values, size_t count,
                        struct rows *ret);
bool postgres_next(struct rows *r);
enum err postgres_end(struct rows *r);
enum err postgres_script(struct tx *tx, const char *sql);

/* --- who else is there, postgres_peers.c ---------------------------------------------- */

/* The first of the two numbers of the lock; the second is the identity. */
#define PEER_CLASS "(7166183 # hashtext(current_schema()))"

/* A new one, by the number of this node. */
uint32_t postgres_identity(bool alone);
/* Whether no other server is connected that may not be beside this one; says which. Waits
 * a little for one that is ending. */
bool postgres_alone(struct postgres_conn *c, uint32_t identity);

struct postgres;

/* --- where their files are, postgres_files.c ------------------------------------------- */

/* Before the others can see this server: puts its mark into the folder of blobs, and refuses when
 * one of theirs is not there. Nobody else begins meanwhile. */
enum err postgres_files_share(struct postgres *p, struct postgres_conn *c);
void postgres_files_leave(const struct postgres *p);

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
    struct queue *queue; /* whose works it does */
    struct postgres_conn conn;
    pthread_t thread;
    bool has_thread;
    int64_t wait_ms;   /* before the next try to connect */
    unsigned silences; /* of the pool, when it connected */
    unsigned random;   /* state of its dice */
};

struct postgres {
    struct store store;
    char *where; /* never logged: it may hold a password */
    bool serves; /* see postgres_conn_serve */
    bool shared; /* beside others, and its mark is in the folder of blobs */
    uint32_t identity;
    struct queue queue;
    struct queue aside; /* reads that may take long */
    struct commit_line line;
    pthread_rwlock_t writing;   /* held alone by a work that met others too often */
    _Atomic unsigned connected; /* workers that are */
    _Atomic unsigned silences;  /* how often a connection fell silent */
    atomic_bool away;           /* none was, since last we logged it */
    unsigned count;             /* of workers, those for long reads last */
    struct postgres_worker *workers;
};

/* Connects, or connects again; false when that has to wait. */
bool postgres_worker_connect(struct postgres_worker *w, bool log);
/* Runs a work to its end, with all its tries. One that has something to announce
 * stands in line afterwards, if it succeeded. */
enum err postgres_worker_run(struct postgres_worker *w, struct work *work);
/* Closes its connection. */
void postgres_worker_leave(struct postgres_worker *w);
/* The life of a worker's thread. */
void *postgres_worker_live(void *arg);

#endif
