/* jump_clock.c - a clock that a test can move forward; for LD_PRELOAD.
 *
 * The file named by JUMP_CLOCK_FILE contains the nanoseconds that are added to the wall and
 * monotonic clocks. Timed waits on these clocks still use the kernel's time. time() is unchanged,
 * because it is compared with file times. */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SECOND = 1000 * 1000 * 1000 };

static _Atomic int64_t none, *ahead = &none;

__attribute__((constructor)) static void clock_open(void)
{
    const char *path = getenv("JUMP_CLOCK_FILE");
    int fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;

    if (fd < 0)
        return;
    if (ftruncate(fd, sizeof *ahead) == 0) {
        void *shared = mmap(NULL, sizeof *ahead, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (shared != MAP_FAILED)
            ahead = shared;
    }
    close(fd);
}

static void shift(struct timespec *t, int64_t by)
{
    int64_t ns = t->tv_sec * (int64_t)SECOND + t->tv_nsec + by;

    t->tv_sec = ns / SECOND;
    t->tv_nsec = ns % SECOND;
}

int clock_gettime(clockid_t clock, struct timespec *t)
{
    int result = (int)syscall(SYS_clock_gettime, clock, t);

    if (result == 0 && clock != CLOCK_THREAD_CPUTIME_ID && clock != CLOCK_PROCESS_CPUTIME_ID)
        shift(t, *ahead);
    return result;
}

int pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *until)
{
    static int (*real)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
    struct timespec t = *until;

    if (!real)
        real = (int (*)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *))dlsym(
            RTLD_NEXT, "pthread_cond_timedwait");
    shift(&t, -*ahead);
    return real(c, m, &t);
}
