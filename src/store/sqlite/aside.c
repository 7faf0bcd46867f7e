/* aside.c - background threads for reads that may take long.
 *
 * A search over half a million members would block its loop, and all sockets of that loop. Here it
 * delays other long reads only. */
#include <stdlib.h>

#include "base/log.h"
#include "store/sqlite/sqlite.h"

static enum err aside_open(struct sqlite_aside *a)
{
    if (a->conn)
        return OK;
    enum err e = sqlite_reader_open(a->engine->path, &a->conn);

    if (!e && !a->takes_long)
        sqlite_share_watch_aside(a->conn);
    return e;
}

/* Runs a read with a time limit. True: the limit was exceeded and the read must restart. */
static bool aside_try(struct sqlite_aside *a, struct work *w, enum err *ret)
{
    struct arena *arena = w->arena;

    *ret = aside_open(a);
    if (*ret)
        return false;
    if (!a->takes_long && !w->urgent && !w->is_long)
        sqlite_share_begin(a->conn, false);
    *ret = sqlite_read_once(&a->engine->store, w, &a->conn);
    if (!sqlite_share_end(a->conn))
        return false;
    w->arena = arena; /* the aborted run may have switched arenas */
    return true;
}

/* Runs a long read, or queues it again if it exceeded its limit. If the store is closing, no other
 * thread takes it, so it restarts here. */
static void aside_run(struct sqlite_aside *a, struct work *w)
{
    struct sqlite *q = a->engine;
    enum err e;

    while (aside_try(a, w, &e)) {
        w->is_long = true;
        if (lanes_push(&q->aside, w))
            return;
    }
    work_finish(&q->store, w, e);
}

static void *aside_live(void *arg)
{
    struct sqlite_aside *a = arg;
    struct work *w;

    while ((w = lanes_take(&a->engine->aside, a->takes_long, -1)))
        aside_run(a, w);
    return NULL;
}

void sqlite_asides_start(struct sqlite *q)
{
    for (int i = 0; i < SQLITE_ASIDES; i++) {
        struct sqlite_aside *a = &q->asides[i];

        a->engine = q;
        a->takes_long = i == SQLITE_ASIDES - 1;
        if (pthread_create(&a->thread, NULL, aside_live, a) != 0) {
            log_error("store: cannot start a thread for background reads");
            abort();
        }
        a->has_thread = true;
    }
}

void sqlite_asides_stop(struct sqlite *q)
{
    lanes_close(&q->aside);
    for (int i = 0; i < SQLITE_ASIDES; i++) {
        struct sqlite_aside *a = &q->asides[i];

        if (a->has_thread)
            pthread_join(a->thread, NULL);
        a->has_thread = false;
        sqlite_conn_close(a->conn);
    }
}
