/* pool.c - blocks the threads of libuv's pool for a test. */
#include "pool.h"

#include <semaphore.h>
#include <uv.h>

#include "api/internal.h"
#include "net/loop.h"
#include "waits.h"

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

static void count_active_pool_requests(struct loop *loop, void *arg)
{
    *(unsigned *)arg += loop_get_uv_loop(loop)->active_reqs.count;
}

static unsigned waiting_requests(struct world *w)
{
    const struct loops *loops = guildhall_get_api(world_server(w))->loops;
    unsigned count = 0;

    for (unsigned i = 0; i < loops_get_count(loops); i++)
        loop_run_function_and_wait(loops_get_loop_at(loops, i), count_active_pool_requests, &count);
    return count;
}

void pool_await(struct world *w, unsigned requests)
{
    expect_soon(waiting_requests(w) >= requests);
}

void pool_release(void)
{
    for (int i = 0; i < HELD; i++)
        sem_post(&held.open);
    uv_run(&held.loop, UV_RUN_DEFAULT);
    uv_loop_close(&held.loop);
    sem_destroy(&held.open);
}
