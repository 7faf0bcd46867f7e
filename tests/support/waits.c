/* waits.c - waits for background work of a server. */
#include "waits.h"

#include <time.h>
#include <unistd.h>

#include "api/internal.h"
#include "base/clock.h"
#include "gateway/sessions/gateway_loop.h"
#include "gateway/sessions/registry.h"
#include "internal.h"
#include "net/loop.h"
#include "test_guild.h"

/* Two minutes on an idle machine. Each check takes processor time from the server, so slow
 * conditions are checked less often. */
enum { MOST_LOOKS = 6000, PACE_US = 1000, LONGEST_PACE_US = 20 * 1000, LOOKS_TO_SLOW = 8 };

static void sleep_before_next_check(int read_step)
{
    int pause = PACE_US * (1 + read_step / LOOKS_TO_SLOW);

    usleep((useconds_t)(pause < LONGEST_PACE_US ? pause : LONGEST_PACE_US));
}

void wait_on(const char *file, int line, const char *condition, int read_step)
{
    if (read_step == MOST_LOOKS)
        fail_test(file, line, "not true after %d checks: %s", read_step, condition);
    sleep_before_next_check(read_step);
}

/* --- announcements -------------------------------------------------------------------- */

const struct arrivals *received_soon(const struct arrivals *(*next)(void *of), void *of)
{
    const struct arrivals *h = next(of);

    for (int read_step = 0; !h && read_step < MOST_LOOKS; read_step++) {
        sleep_before_next_check(read_step);
        h = next(of);
    }
    return h;
}

/* --- the clock ------------------------------------------------------------------------ */

static void check_deadlines_on_loop(struct loop *loop, void *arg)
{
    (void)arg;
    loop_expire_due_deadlines(loop);
}

/* Servers check the clock a few times per second. Due work is started immediately, so that a
 * test does not depend on the next check. */
void world_wait(struct world *w, double seconds)
{
    clock_advance_wall_and_monotonic((int64_t)(seconds * 1e6));
    if (!w->server)
        return;
    struct api *api = guildhall_get_api(w->server);
    for (unsigned i = 0; i < loops_get_count(api->loops); i++)
        loop_run_function_and_wait(loops_get_loop_at(api->loops, i), check_deadlines_on_loop, NULL);
    job_scheduler_wake_at(api->jobs, clock_us());
}

/* A job's row stays due until its writes are committed; a call counts as running until its
 * events are emitted. A job with several steps starts the next step before the last one ends. */
static bool is_at_rest(struct world *w)
{
    int64_t next =
        world_number(w, "select coalesce(min(due), %lld) from jobs", (long long)INT64_MAX);

    return next > clock_us() && guildhall_get_api(w->server)->running == 0;
}

void world_settle(struct world *w)
{
    expect_soon(is_at_rest(w));
}

struct position_read {
    const struct gateway *gateway;
    uint64_t least;
};

static void check_loop_position(struct loop *loop, void *arg)
{
    struct position_read *l = arg;
    uint64_t position = l->gateway->gateway_loops[loop_get_index(loop)]->position;

    if (position < l->least)
        l->least = position;
}

static uint64_t least_position(struct world *w)
{
    struct position_read l = { .gateway = guildhall_get_gateway(w->server), .least = UINT64_MAX };

    for (unsigned i = 0; i < l.gateway->gateway_loop_count; i++)
        loop_run_function_and_wait(l.gateway->gateway_loops[i]->loop, check_loop_position, &l);
    return l.least;
}

void world_received(struct world *w)
{
    uint64_t published = guildhall_get_gateway(w->server)->published;

    expect_soon(least_position(w) >= published);
}

double processor_time(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}
