/* postgres_kept.c - reuses PostgreSQL connections for the next test worlds. */
#include "support/postgres_kept.h"

#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/postgres/libpq.h"

enum { MOST_STORED = 64, RENEWAL_MS = 3000 };

struct stored_connection {
    PGconn *pg; /* NULL: a free slot */
    char *words;
    bool taken;
};

static struct {
    pthread_mutex_t lock;
    struct stored_connection all[MOST_STORED];
    __typeof__(PQconnectdbParams) *connect;
    __typeof__(PQfinish) *finish;
} retained = { .lock = PTHREAD_MUTEX_INITIALIZER };

static char *words_of(const char *const *keys, const char *const *values)
{
    size_t room = 1;

    for (int i = 0; keys[i]; i++)
        room += strlen(keys[i]) + strlen(values[i] ? values[i] : "") + 2;
    char *words = mem_new(room);
    words[0] = '\0';
    for (int i = 0; keys[i]; i++) {
        strcat(words, keys[i]);
        strcat(words, "=");
        strcat(words, values[i] ? values[i] : "");
        strcat(words, " ");
    }
    return words;
}

/* A connection that the server ended has unread data. */
static bool is_quiet(PGconn *pg)
{
    struct pollfd p = { .fd = pq.socket(pg), .events = POLLIN };

    return pq.status(pg) == CONNECTION_OK && poll(&p, 1, 0) == 0;
}

static void clear_connection_slot(struct stored_connection *k)
{
    mem_free(k->words);
    *k = (struct stored_connection){ 0 };
}

static PGconn *take_stored(const char *words)
{
    for (int i = 0; i < MOST_STORED; i++) {
        struct stored_connection *k = &retained.all[i];
        if (!k->pg || k->taken || strcmp(k->words, words) != 0)
            continue;
        if (is_quiet(k->pg)) {
            k->taken = true;
            return k->pg;
        }
        retained.finish(k->pg);
        clear_connection_slot(k);
    }
    return NULL;
}

/* Returns the slot of a connection, or a free slot for NULL. */
static struct stored_connection *find_connection_slot(const PGconn *pg)
{
    for (int i = 0; i < MOST_STORED; i++)
        if (retained.all[i].pg == pg)
            return &retained.all[i];
    return NULL;
}

/* Records a connection; takes ownership of its connection string. */
static void record_connection(PGconn *pg, char *words)
{
    struct stored_connection *k =
        pg && pq.status(pg) == CONNECTION_OK ? find_connection_slot(NULL) : NULL;

    if (k)
        *k = (struct stored_connection){ .pg = pg, .words = words, .taken = true };
    else
        mem_free(words);
}

static PGconn *connect_or_take(const char *const *keys, const char *const *values, int expand)
{
    char *words = words_of(keys, values);

    pthread_mutex_lock(&retained.lock);
    PGconn *pg = take_stored(words);
    pthread_mutex_unlock(&retained.lock);
    if (pg) {
        mem_free(words);
        return pg;
    }
    pg = retained.connect(keys, values, expand);
    pthread_mutex_lock(&retained.lock);
    record_connection(pg, words);
    pthread_mutex_unlock(&retained.lock);
    return pg;
}

static bool answers_soon(PGconn *pg)
{
    struct pollfd p = { .fd = pq.socket(pg), .events = POLLIN };

    while (pq.isBusy(pg))
        if (poll(&p, 1, RENEWAL_MS) <= 0 || !pq.consumeInput(pg))
            return false;
    return true;
}

/* Returns whether all pending statements succeeded. */
static bool read_pending_results(PGconn *pg)
{
    bool good = true;
    PGresult *result = NULL;

    while ((good = answers_soon(pg) && good) && (result = pq.getResult(pg))) {
        good = pq.resultStatus(result) == PGRES_COMMAND_OK;
        pq.clear(result);
    }
    return good;
}

/* Resets statements, locks, settings and the blocking mode, as on a new connection. Returns
 * false if the connection is busy or lost. An unread reply may still arrive. */
static bool renew_connection(PGconn *pg)
{
    return pq.status(pg) == CONNECTION_OK && read_pending_results(pg) && pq.exitPipelineMode(pg) &&
           pq.setnonblocking(pg, 0) == 0 && pq.sendQuery(pg, "discard all") &&
           read_pending_results(pg);
}

static void close_or_reuse_connection(PGconn *pg)
{
    pthread_mutex_lock(&retained.lock);
    struct stored_connection *k = pg ? find_connection_slot(pg) : NULL;
    pthread_mutex_unlock(&retained.lock);
    bool again = k && renew_connection(pg);
    pthread_mutex_lock(&retained.lock);
    if (k && again)
        k->taken = false;
    else if (k)
        clear_connection_slot(k);
    pthread_mutex_unlock(&retained.lock);
    if (!again)
        retained.finish(pg);
}

void postgres_keep_connections(void)
{
    if (retained.connect)
        return;
    retained.connect = pq.connectdbParams;
    retained.finish = pq.finish;
    pq.connectdbParams = connect_or_take;
    pq.finish = close_or_reuse_connection;
}

void postgres_end_stored(void)
{
    for (int i = 0; i < MOST_STORED; i++) {
        if (!retained.all[i].pg || retained.all[i].taken)
            continue;
        retained.finish(retained.all[i].pg);
        clear_connection_slot(&retained.all[i]);
    }
}
