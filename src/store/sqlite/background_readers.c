/* background_readers.c - background threads for reads that may take long.
 *
 * A search over half a million members would block its loop, and all sockets of that loop. On a
 * background thread the search delays only other long reads. */
#include <stdlib.h>

#include "base/log.h"
#include "store/sqlite/sqlite.h"

static enum err open_reader_connection(struct background_reader *a)
{
    if (a->conn)
        return OK;
    enum err e = sqlite_open_read_connection(a->engine->path, &a->conn);

    if (!e && !a->runs_longest_reads)
        sqlite_set_background_read_time_limit(a->conn);
    return e;
}

/* Runs a read with a time limit. Returns true if the read exceeded the limit and must restart. */
static bool run_read_with_limit(struct background_reader *a, struct work_item *w, enum err *ret)
{
    struct arena *arena = w->arena;

    *ret = open_reader_connection(a);
    if (*ret)
        return false;
    if (!a->runs_longest_reads && !w->urgent && !w->is_long)
        sqlite_read_time_limit_begin(a->conn, false);
    *ret = sqlite_run_read_in_own_snapshot(&a->engine->store, w, &a->conn);
    if (!sqlite_read_time_limit_end(a->conn))
        return false;
    w->arena = arena; /* restore the arena, which the aborted read may have replaced */
    return true;
}

/* Runs a long read, or queues it again if it exceeded its time limit. If the store is closing, no
 * other thread takes the read, so it restarts here. */
static void run_or_requeue_read(struct background_reader *a, struct work_item *w)
{
    struct sqlite *q = a->engine;
    enum err e;

    while (run_read_with_limit(a, w, &e)) {
        w->is_long = true;
        if (fair_queue_push(&q->long_reads, w))
            return;
    }
    work_item_call_callbacks(&q->store, w, e);
}

static void *background_reader_thread(void *arg)
{
    struct background_reader *a = arg;
    struct work_item *w;

    while ((w = fair_queue_pop(&a->engine->long_reads, a->runs_longest_reads, -1)))
        run_or_requeue_read(a, w);
    return NULL;
}

void background_readers_start(struct sqlite *q)
{
    for (int i = 0; i < SQLITE_BACKGROUND_READERS; i++) {
        struct background_reader *a = &q->background_readers[i];

        a->engine = q;
        a->runs_longest_reads = i == SQLITE_BACKGROUND_READERS - 1;
        if (pthread_create(&a->thread, NULL, background_reader_thread, a) != 0) {
            log_error("store: cannot start a thread for background reads");
            abort();
        }
        a->has_thread = true;
    }
}

void background_readers_stop(struct sqlite *q)
{
    fair_queue_close(&q->long_reads);
    for (int i = 0; i < SQLITE_BACKGROUND_READERS; i++) {
        struct background_reader *a = &q->background_readers[i];

        if (a->has_thread)
            pthread_join(a->thread, NULL);
        a->has_thread = false;
        sqlite_conn_close(a->conn);
    }
}
