/* slow_sync.c - makes every sync slower and counts it; for LD_PRELOAD.
 *
 * SLOW_SYNC_US is added to each fsync, fdatasync and sync_file_range. The file
 * named by SLOW_SYNC_FILE holds the struct below as long as the process lives,
 * so that a test can read it at any time. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

int sync_file_range(int fd, off64_t from, off64_t bytes, unsigned flags);

struct tally {
    _Atomic uint64_t calls;
    _Atomic uint64_t nanoseconds; /* time of all syncs, including the delay */
};

static struct tally unshared, *tally = &unshared;
static long delay_us;

__attribute__((constructor)) static void tally_open(void)
{
    const char *path = getenv("SLOW_SYNC_FILE"), *us = getenv("SLOW_SYNC_US");
    int fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;

    delay_us = us ? atol(us) : 0;
    if (fd < 0)
        return;
    if (ftruncate(fd, sizeof *tally) == 0) {
        void *shared = mmap(NULL, sizeof *tally, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (shared != MAP_FAILED)
            tally = shared;
    }
    close(fd);
}

static int64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static int64_t sync_begin(void)
{
    int64_t began = now();
    struct timespec delay = { .tv_sec = delay_us / 1000000, .tv_nsec = delay_us % 1000000 * 1000 };

    while (delay_us && nanosleep(&delay, &delay) != 0)
        ;
    return began;
}

static void sync_end(int64_t began)
{
    atomic_fetch_add(&tally->nanoseconds, (uint64_t)(now() - began));
    atomic_fetch_add(&tally->calls, 1);
}

int fsync(int fd)
{
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
    int64_t began = sync_begin();
    int result = real(fd);
    sync_end(began);
    return result;
}

int fdatasync(int fd)
{
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
    int64_t began = sync_begin();
    int result = real(fd);
    sync_end(began);
    return result;
}

int sync_file_range(int fd, off64_t from, off64_t bytes, unsigned flags)
{
    int (*real)(int, off64_t, off64_t, unsigned) =
        (int (*)(int, off64_t, off64_t, unsigned))dlsym(RTLD_NEXT, "sync_file_range");
    int64_t began = sync_begin();
    int result = real(fd, from, bytes, flags);
    sync_end(began);
    return result;
}
