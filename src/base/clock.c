/* clock.c - wall clock, steady clock and CPU time. */
#include "base/clock.h"

#include <stdatomic.h>
#include <time.h>

static _Atomic int64_t moved;   /* microseconds that tests or operators have added to both the wall
                                 * clock and the steady clock */
static _Atomic int64_t stepped; /* microseconds that tests have added to the wall clock only */
static _Atomic int64_t stopped; /* wall-clock time at which tests stopped both clocks, in µs; 0 if
                                 * the clocks run */
static _Atomic int64_t ahead;   /* difference in µs between wall clock and steady clock when the
                                 * clocks were stopped */

/* First value of the steady clock, in µs. Not 0, because 0 means "never". */
#define STEADY_BEGIN (INT64_C(100) * 86400 * 1000 * 1000)

static int64_t read_clock_ns(clockid_t id)
{
    struct timespec t;

    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Returns 0 if the clocks run. If they are stopped, returns the time at which they were stopped,
 * plus 1 µs for each call of this function. */
static int64_t read_stopped_clock_us(void)
{
    int64_t at = atomic_load_explicit(&stopped, memory_order_relaxed);

    while (at && !atomic_compare_exchange_weak(&stopped, &at, at + 1))
        ;
    return at;
}

int64_t clock_us(void)
{
    int64_t at = read_stopped_clock_us();

    if (!at)
        at = read_clock_ns(CLOCK_REALTIME) / 1000;
    return at + atomic_load_explicit(&moved, memory_order_relaxed) +
           atomic_load_explicit(&stepped, memory_order_relaxed);
}

int64_t clock_steady_ms(void)
{
    int64_t at = read_stopped_clock_us();

    at = at ? at - atomic_load(&ahead) : read_clock_ns(CLOCK_BOOTTIME) / 1000;
    return (at + atomic_load_explicit(&moved, memory_order_relaxed) + STEADY_BEGIN) / 1000;
}

int64_t clock_ms(void)
{
    return clock_us() / 1000;
}

int64_t clock_s(void)
{
    return clock_us() / 1000000;
}

int64_t clock_monotonic_ns(void)
{
    return read_clock_ns(CLOCK_MONOTONIC);
}

int64_t clock_thread_cpu_ns(void)
{
    return read_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

void clock_advance_wall_and_monotonic(int64_t us)
{
    atomic_fetch_add(&moved, us);
}

void clock_step_wall_clock(int64_t us)
{
    atomic_fetch_add(&stepped, us);
}

void clock_stop_wall_and_monotonic(void)
{
    atomic_store(&ahead, (read_clock_ns(CLOCK_REALTIME) - read_clock_ns(CLOCK_BOOTTIME)) / 1000);
    atomic_store(&stopped, (read_clock_ns(CLOCK_REALTIME) / 1000000000 + 1) * 1000000);
}

void clock_restart_wall_and_monotonic(void)
{
    int64_t at = atomic_exchange(&stopped, 0);

    if (at)
        atomic_fetch_add(&moved, at - read_clock_ns(CLOCK_REALTIME) / 1000);
}

void clock_restore_real_time(void)
{
    atomic_store(&stopped, 0);
    atomic_store(&moved, 0);
    atomic_store(&stepped, 0);
}

int64_t clock_wall_offset_us(void)
{
    return atomic_load(&moved) + atomic_load(&stepped);
}
