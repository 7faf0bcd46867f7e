/* paced.c - writing much to a disk that a server needs meanwhile. */
#include "store/paced.h"

#include <stdint.h>
#include <time.h>
#include <unistd.h>

static int64_t monotonic_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

bool paced_sync(int fd)
{
    int64_t began = monotonic_ns();
    bool ok = fdatasync(fd) == 0;
    int64_t took = monotonic_ns() - began;

    if (ok)
        nanosleep(&(struct timespec){ took / 1000000000, took % 1000000000 }, NULL);
    return ok;
}
