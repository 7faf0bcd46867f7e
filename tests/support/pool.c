/* pool.c - the threads of libuv's pool, held by a test. */
#include "pool.h"

#include <semaphore.h>
#include <uv.h>

enum { HELD = 64 };

static struct {
    uv_loop_t loop;
    uv_work_t works[HELD];
    sem_t open;
} held;

static void wait_there(uv_work_t *w)
{
    (void)w;
    sem_wait(&held.open);
}

void pool_hold(void)
{
    sem_init(&held.open, 0, 0);
    uv_loop_init(&held.loop);
    for (int i = 0; i < HELD; i++)
        uv_queue_work(&held.loop, &held.works[i], wait_there, NULL);
}

void pool_release(void)
{
    for (int i = 0; i < HELD; i++)
        sem_post(&held.open);
    uv_run(&held.loop, UV_RUN_DEFAULT);
    uv_loop_close(&held.loop);
    sem_destroy(&held.open);
}
