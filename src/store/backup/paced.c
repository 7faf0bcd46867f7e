/* paced.c - limits the disk writes of backups, so that the server's commits are not delayed. */
#include "store/backup/paced.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/ioprio.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SECOND INT64_C(1000000000)

int64_t paced_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * SECOND + t.tv_nsec;
}

void paced_begin(void)
{
    const struct sched_param none = { 0 };

    /* If these calls fail, the server only waits longer. The idle priority classes are not used: on
     * a busy machine the backup would hold its snapshot for hours, and the server's WAL would
     * grow. */
    sched_setscheduler(0, SCHED_BATCH, &none);
    (void)!nice(5);
    syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, IOPRIO_PRIO_VALUE(IOPRIO_CLASS_BE, 7));
}

static bool write_out(int fd)
{
    enum { ALL = SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER };

    if (sync_file_range(fd, 0, 0, ALL) == 0)
        return true;
    if (errno == ESPIPE) /* a pipe cannot be flushed */
        return true;
    /* Some file systems do not support sync_file_range. */
    return (errno == ENOSYS || errno == EINVAL) && fdatasync(fd) == 0;
}

/* Pauses for as long as the work took, or longer if the write rate would be exceeded. */
static void rest_after(int64_t began, int64_t bytes)
{
    int64_t took = paced_now() - began, rest = bytes * SECOND / PACED_RATE - took;

    if (rest < took)
        rest = took;
    if (rest > PACED_PAUSE_MS * (SECOND / 1000))
        rest = PACED_PAUSE_MS * (SECOND / 1000);
    nanosleep(&(struct timespec){ rest / SECOND, rest % SECOND }, NULL);
}

bool paced_write_out(int fd, int64_t bytes)
{
    int64_t began = paced_now();
    bool ok = write_out(fd);

    if (ok)
        rest_after(began, bytes);
    return ok;
}

void paced_rest(int64_t began)
{
    rest_after(began, 0);
}
