/* database.c - blobs as rows of PostgreSQL, in parts of 256 KiB.
 *
 * To open a blob, blobs/cache.c first copies it into a file. All functions of this file use
 * connections of their own, because a worker may wait for such a function while the worker occupies
 * its connection. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/io.h"
#include "base/mem.h"
#include "store/postgres/postgres.h"

enum { PART_BYTES = 256 * 1024, CONNECTIONS = 2 };

struct blob_connections {
    pthread_mutex_t lock;
    pthread_cond_t freed;
    struct store_connection *connections[CONNECTIONS]; /* unused connections; NULL if a connection
                                                        * is in use or was never opened */
    unsigned used;
    /* Connection that holds the backup lock, or NULL. */
    struct store_connection *backup_lock_connection;
};

/* Advisory lock that backups hold in shared mode. The numbers 7166182 to 7166184 are used by the
 * locks of servers, identities and moves. */
#define BACKUP_LOCK "(7166185, hashtext(current_schema()))"

struct blob_connections *blob_connections_new(void)
{
    struct blob_connections *all = mem_new(sizeof *all);

    pthread_mutex_init(&all->lock, NULL);
    pthread_cond_init(&all->freed, NULL);
    return all;
}

void blob_connections_free(struct blob_connections *all)
{
    if (!all)
        return;
    for (unsigned i = 0; i < CONNECTIONS; i++)
        store_connection_free(all->connections[i]);
    store_connection_free(all->backup_lock_connection);
    pthread_cond_destroy(&all->freed);
    pthread_mutex_destroy(&all->lock);
    mem_free(all);
}

static struct store_connection *acquire_blob_connection(struct store *s)
{
    struct blob_connections *all = s->blob_connections;
    struct store_connection *side = NULL;

    pthread_mutex_lock(&all->lock);
    while (all->used == CONNECTIONS)
        pthread_cond_wait(&all->freed, &all->lock);
    all->used++;
    for (unsigned i = 0; i < CONNECTIONS && !side; i++) {
        side = all->connections[i];
        all->connections[i] = NULL;
    }
    pthread_mutex_unlock(&all->lock);
    return side ? side : store_connection_new(s);
}

static void release_blob_connection(struct store *s, struct store_connection *side)
{
    struct blob_connections *all = s->blob_connections;
    unsigned at = 0;

    pthread_mutex_lock(&all->lock);
    while (all->connections[at])
        at++;
    all->connections[at] = side;
    all->used--;
    pthread_cond_signal(&all->freed);
    pthread_mutex_unlock(&all->lock);
}

enum err run_transaction_on_blob_connection(struct store *s, enum transaction_mode mode,
                                            enum err (*run)(struct tx *tx, void *arg), void *arg)
{
    if (!s->blob_connections)
        return store_run_transaction_and_wait(s, mode, NULL, run, arg);
    struct store_connection *side = acquire_blob_connection(s);
    struct arena *arena = arena_new();
    enum err e = store_connection_run_transaction(side, mode, arena, run, arg);

    arena_free(arena);
    release_blob_connection(s, side);
    return e;
}

struct blob_request {
    struct str name;
    struct str bytes; /* content to write */
    int fd;           /* destination of a read, or -1 */
    int64_t size;
    bool found, committed;
};

static const char INSERT_BLOB[] =
    "insert into blobs (name, size) values ($1, $2) on conflict (name) do update set "
    "size = excluded.size, put_at = clock_timestamp(), settled = false";
static const char INSERT_BLOB_PART[] =
    "insert into blob_parts (name, part, bytes) values ($1, $2, $3)";

static enum err insert_blob(struct tx *tx, void *arg)
{
    const struct blob_request *t = arg;
    struct value name = v_text(t->name);
    enum err e = tx_exec(tx, INSERT_BLOB, BIND(name, v_int((int64_t)t->bytes.n)), NULL);

    if (!e)
        e = tx_exec(tx, "delete from blob_parts where name = $1", BIND(name), NULL);
    for (size_t at = 0; !e && at < t->bytes.n; at += PART_BYTES) {
        size_t left = t->bytes.n - at;
        struct str part = str_slice(t->bytes.p + at, left < PART_BYTES ? left : PART_BYTES);

        e = tx_exec(tx, INSERT_BLOB_PART,
                    BIND(name, v_int((int64_t)(at / PART_BYTES)), v_bytes(part)), NULL);
    }
    return e;
}

static enum err postgres_blob_put(struct store *s, const char *name, struct str bytes)
{
    struct blob_request t = { .name = str_of(name), .bytes = bytes };

    return run_transaction_on_blob_connection(s, STORE_APPEND, insert_blob, &t);
}

static enum err set_blob_committed_in_row(struct tx *tx, void *arg)
{
    const struct blob_request *t = arg;

    return tx_exec(tx,
                   "update blobs set settled = ($2 = 1) where name = $1 and settled <> ($2 = 1)",
                   BIND(v_text(t->name), v_int(t->committed)), NULL);
}

static enum err postgres_blob_set_committed(struct store *s, const char *name, bool settled)
{
    struct blob_request t = { .name = str_of(name), .committed = settled };

    return run_transaction_on_blob_connection(s, STORE_APPEND, set_blob_committed_in_row, &t);
}

static enum err delete_blob(struct tx *tx, void *arg)
{
    struct blob_request *t = arg;
    int64_t changed = 0;
    enum err e = tx_exec(tx, "delete from blobs where name = $1", BIND(v_text(t->name)), &changed);

    t->found = changed > 0;
    return e;
}

static enum err postgres_blob_delete(struct store *s, const char *name)
{
    struct blob_request t = { .name = str_of(name) };
    enum err e = run_transaction_on_blob_connection(s, STORE_APPEND, delete_blob, &t);

    return e || t.found ? e : ERR_NOT_FOUND;
}

/* Reads one part of a blob and writes it to the file, so that the whole blob is never in memory. */
static enum err read_blob_part(struct tx *tx, const struct blob_request *t, int64_t part,
                               int64_t *ret_size)
{
    struct arena *own = arena_new(), *before = tx_replace_arena(tx, own);
    struct rows r;
    bool found = false;
    enum err e = tx_one(tx, "select bytes from blob_parts where name = $1 and part = $2",
                        BIND(v_text(t->name), v_int(part)), &r, &found);

    if (!e && !found)
        e = ERR_NOT_FOUND;
    if (!e) {
        *ret_size += (int64_t)row_bytes(&r, 0).n;
        if (!write_all_bytes(t->fd, row_bytes(&r, 0)))
            e = errno == ENOSPC ? ERR_STORAGE_FULL : ERR_UNAVAILABLE;
    }
    tx_replace_arena(tx, before);
    arena_free(own);
    return e;
}

static enum err read_blob(struct tx *tx, void *arg)
{
    struct blob_request *t = arg;
    struct rows r;
    int64_t size = 0;
    enum err e =
        tx_one(tx, "select size from blobs where name = $1", BIND(v_text(t->name)), &r, &t->found);

    if (e || !t->found)
        return e;
    int64_t whole = t->size = row_int(&r, 0);
    if (t->fd < 0)
        return OK;
    if (lseek(t->fd, 0, SEEK_SET) != 0 || ftruncate(t->fd, 0) != 0)
        return ERR_UNAVAILABLE;
    for (int64_t part = 0; !e && size < whole; part++)
        e = read_blob_part(tx, t, part, &size);
    return !e && size != whole ? ERR_INTERNAL : e;
}

static enum err postgres_blob_read(struct store *s, const char *name, int fd, int64_t *ret_size)
{
    struct blob_request t = { .name = str_of(name), .fd = fd };
    enum err e = run_transaction_on_blob_connection(s, STORE_READ, read_blob, &t);

    *ret_size = t.size;
    return e || t.found ? e : ERR_NOT_FOUND;
}

/* --- lists of blobs ------------------------------------------------------------------- */

static const char FIND_BLOBS[] =
    "select name, cast(extract(epoch from put_at) as bigint) from blobs "
    "where name > $1 order by name limit $2";
static const char FIND_UNCOMMITTED[] =
    "select name, cast(extract(epoch from put_at) as bigint) from blobs where name > $1 and "
    "not settled and put_at <= clock_timestamp() - cast($3 as double precision) * "
    "interval '1 second' order by name limit $2";

enum err stored_blob_page_read(struct stored_blob_page *p, struct rows *r)
{
    p->count = 0;
    while (rows_next(r))
        p->blobs[p->count++] = (struct stored_blob){ str_dup_cstring(p->arena, row_text(r, 0)),
                                                     (time_t)row_int(r, 1) };
    return rows_end(r);
}

enum err stored_blob_pages_visit(struct store *s, enum err (*read)(struct tx *tx, void *page),
                                 int64_t seconds,
                                 enum err (*found)(void *arg, const struct stored_blob *blob),
                                 void *arg)
{
    struct stored_blob_page *p = mem_new(sizeof *p);
    enum err e = OK;

    p->arena = arena_new();
    p->seconds = seconds;
    do {
        arena_reset(p->arena);
        e = run_transaction_on_blob_connection(s, STORE_READ, read, p);
        for (size_t i = 0; !e && i < p->count; i++)
            e = found(arg, &p->blobs[i]);
        if (!e && p->count)
            snprintf(p->after, sizeof p->after, "%s", p->blobs[p->count - 1].name);
    } while (!e && p->count == STORED_BLOBS_PER_PAGE);
    arena_free(p->arena);
    mem_free(p);
    return e;
}

static enum err read_page_of_blobs(struct tx *tx, void *arg)
{
    struct stored_blob_page *p = arg;
    const struct value values[] = { v_text(str_of(p->after)), v_int(STORED_BLOBS_PER_PAGE),
                                    v_int(p->seconds) };
    struct rows r;
    enum err e = p->seconds < 0 ? tx_query(tx, FIND_BLOBS, values, 2, &r)
                                : tx_query(tx, FIND_UNCOMMITTED, values, 3, &r);

    return e ? e : stored_blob_page_read(p, &r);
}

static enum err postgres_list_blobs(struct store *s, int64_t seconds,
                                    enum err (*found)(void *arg, const struct stored_blob *blob),
                                    void *arg)
{
    return stored_blob_pages_visit(s, read_page_of_blobs, seconds, found, arg);
}

const struct remote_blobs database_blobs = {
    .put = postgres_blob_put,
    .set_committed = postgres_blob_set_committed,
    .delete = postgres_blob_delete,
    .read = postgres_blob_read,
    .list = postgres_list_blobs,
};

/* --- backup lock ---------------------------------------------------------------------- */

static enum err acquire_backup_lock(struct tx *tx, void *arg)
{
    struct rows r;
    bool found;

    (void)arg;
    return tx_one(tx, "select pg_advisory_lock_shared" BACKUP_LOCK, NO_BIND, &r, &found);
}

enum err postgres_lock_blob_deletion(struct store *s)
{
    struct arena *arena = arena_new();

    if (!s->blob_connections->backup_lock_connection)
        s->blob_connections->backup_lock_connection = store_connection_new(s);
    enum err e = store_connection_run_transaction(s->blob_connections->backup_lock_connection,
                                                  STORE_READ, arena, acquire_backup_lock, NULL);
    arena_free(arena);
    return e;
}

static enum err read_whether_backup_lock_is_held(struct tx *tx, void *arg)
{
    bool *is_locked = arg, found;
    struct rows r;
    enum err e = tx_one(tx, "select pg_try_advisory_xact_lock" BACKUP_LOCK, NO_BIND, &r, &found);

    *is_locked = e || !row_bool(&r, 0);
    return e;
}

bool postgres_blob_deletion_is_locked(struct store *s)
{
    bool is_locked = true;

    run_transaction_on_blob_connection(s, STORE_READ, read_whether_backup_lock_is_held, &is_locked);
    return is_locked;
}

/* --- check at start ------------------------------------------------------------------- */

static const char HAS_DATABASE_BLOBS[] = "select 1 from blobs limit 1";
static const char HAS_FILE_ROWS[] = "select 1 from files where gone = 0 limit 1";

enum err postgres_check_blob_location(const struct postgres *p, struct postgres_conn *c)
{
    bool inside = p->store.remote_blobs == &database_blobs;
    char some[8], address[600] = "";
    enum err e = postgres_conn_query_text(c, HAS_DATABASE_BLOBS, some, sizeof some);

    if (!e && !p->store.objects)
        e = postgres_conn_query_text(c, "select address from object_location", address,
                                     sizeof address);
    if (!e && address[0])
        return blobs_log_wrong_location(NULL, str_of(address));
    if (e || (some[0] && inside))
        return e;
    if (some[0]) {
        log_error(
            "store: the files of this server are in the database; start with --blobs postgres%s",
            p->store.objects ? ", or copy them with 'guildhall move --to-blobs'" : "");
        return ERR_UNAVAILABLE;
    }
    if (inside)
        e = postgres_conn_query_text(c, HAS_FILE_ROWS, some, sizeof some);
    if (!e && some[0]) {
        log_error("store: the files of this server are not in the database; start without "
                  "--blobs postgres, or copy them with 'guildhall move'");
        e = ERR_UNAVAILABLE;
    }
    return e;
}
