/* write_pacing.c - limits the disk writes of backups, so that the server's commits need not wait.
 */
#include "store/backup/write_pacing.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/ioprio.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SECOND INT64_C(1000000000)

static _Thread_local bool quick_copies;

void write_pacing_set_disabled(bool quick)
{
    quick_copies = quick;
}

bool write_pacing_is_disabled(void)
{
    return quick_copies;
}

int64_t monotonic_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * SECOND + t.tv_nsec;
}

void lower_process_priority(void)
{
    const struct sched_param none = { 0 };

    /* Errors are ignored, because without the lower priority the server only becomes slower. The
     * idle priority classes are not used, because on a busy machine the backup would take hours,
     * and the WAL of the server grows until the backup ends. */
    sched_setscheduler(0, SCHED_BATCH, &none);
    (void)!nice(5);
    syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, IOPRIO_PRIO_VALUE(IOPRIO_CLASS_BE, 7));
}

static bool flush_file(int fd)
{
    enum { ALL = SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER };

    if (sync_file_range(fd, 0, 0, ALL) == 0)
        return true;
    if (errno == ESPIPE) /* a pipe cannot be flushed */
        return true;
    /* Some file systems do not support sync_file_range. */
    return (errno == ENOSYS || errno == EINVAL) && fdatasync(fd) == 0;
}

/* Pauses for at least as long as the write took; longer if needed to stay below the write rate. */
static void pause_for_as_long_as_write_took(int64_t began, int64_t bytes)
{
    int64_t took = monotonic_ns() - began, rest = bytes * SECOND / PACING_BYTES_PER_SECOND - took;

    if (quick_copies)
        return;
    if (rest < took)
        rest = took;
    if (rest > PACING_MAX_PAUSE_MS * (SECOND / 1000))
        rest = PACING_MAX_PAUSE_MS * (SECOND / 1000);
    nanosleep(&(struct timespec){ rest / SECOND, rest % SECOND }, NULL);
}

bool flush_file_and_pause(int fd, int64_t bytes)
{
    int64_t began = monotonic_ns();
    bool ok = quick_copies || flush_file(fd);

    if (ok)
        pause_for_as_long_as_write_took(began, bytes);
    return ok;
}

void pause_for_as_long_as_work_took(int64_t began)
{
    pause_for_as_long_as_write_took(began, 0);
}
