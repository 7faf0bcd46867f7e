/* sqlite_aside.c - threads for reads that may take long.
 *
 * A search of half a million members would hold its loop, and with it everybody whose
 * sockets live there. Here it holds only those who also asked for something long. */
#include <stdlib.h>

#include "base/log.h"
#include "store/sqlite.h"

static void *aside_live(void *arg)
{
    struct sqlite_aside *a = arg;
    struct sqlite *q = a->engine;

    for (;;) {
        struct work *w = queue_take(&q->aside, 1, -1);

        if (!w)
            return NULL;
        work_finish(&q->store, w, sqlite_read_once(&q->store, w, &a->conn));
    }
}

void sqlite_asides_start(struct sqlite *q)
{
    for (int i = 0; i < SQLITE_ASIDES; i++) {
        struct sqlite_aside *a = &q->asides[i];

        a->engine = q;
        if (pthread_create(&a->thread, NULL, aside_live, a) != 0) {
            log_error("store: cannot start a reader's thread");
            abort();
        }
        a->has_thread = true;
    }
}

void sqlite_asides_stop(struct sqlite *q)
{
    queue_close(&q->aside);
    for (int i = 0; i < SQLITE_ASIDES; i++) {
        struct sqlite_aside *a = &q->asides[i];

        if (a->has_thread)
            pthread_join(a->thread, NULL);
        a->has_thread = false;
        sqlite_conn_close(a->conn);
    }
}
