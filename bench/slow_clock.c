/* slow_clock.c - slows the clocks down as much as callgrind slows a server down; for LD_PRELOAD.
 *
 * Instructions under callgrind take some fifty times as long. A server that checks the time would
 * interrupt reads that take too long for a loop, and run jobs between any two requests. Therefore
 * all clocks run 64 times slower here, and timed waits take that much longer. time() is unchanged.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SECOND = 1000 * 1000 * 1000, SLOWER = 64 };

static int64_t began[2]; /* real time, monotonic time */

static int64_t clock_read(clockid_t clock)
{
    struct timespec t = { 0 };

    syscall(SYS_clock_gettime, clock, &t);
    return t.tv_sec * (int64_t)SECOND + t.tv_nsec;
}

__attribute__((constructor)) static void clocks_begin(void)
{
    began[0] = clock_read(CLOCK_REALTIME);
    began[1] = clock_read(CLOCK_MONOTONIC);
}

/* Returns the time from which a clock is slow: processor time from the beginning. */
static int64_t clock_begin(clockid_t clock)
{
    return clock == CLOCK_REALTIME ? began[0] : clock == CLOCK_MONOTONIC ? began[1] : 0;
}

int clock_gettime(clockid_t clock, struct timespec *t)
{
    int64_t from = clock_begin(clock), ns = from + (clock_read(clock) - from) / SLOWER;

    t->tv_sec = ns / SECOND;
    t->tv_nsec = ns % SECOND;
    return 0;
}

/* Handles conditions on the monotonic clock, like all of the server's. */
int pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *until)
{
    static int (*real)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
    int64_t ns = until->tv_sec * (int64_t)SECOND + until->tv_nsec - began[1];

    if (!real)
        real = (int (*)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *))dlsym(
            RTLD_NEXT, "pthread_cond_timedwait");
    ns = began[1] + ns * SLOWER;
    return real(c, m, &(struct timespec){ ns / SECOND, ns % SECOND });
}

static int slow_timeout(int ms)
{
    return ms < 0 || ms > INT32_MAX / SLOWER ? -1 : ms * SLOWER;
}

int epoll_pwait(int fd, struct epoll_event *events, int count, int ms, const sigset_t *signals)
{
    return (int)syscall(SYS_epoll_pwait, fd, events, count, slow_timeout(ms), signals, 8);
}

int epoll_wait(int fd, struct epoll_event *events, int count, int ms)
{
    return epoll_pwait(fd, events, count, ms, NULL);
}
