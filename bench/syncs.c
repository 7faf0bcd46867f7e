/* syncs.c - measures how many single appends per second a folder makes durable.
 *
 *   syncs FOLDER SECONDS
 *
 * The reference for the server's durable writes: append a small record, fdatasync, repeat. The
 * file is removed afterwards. "waited" is the share of the time in which other programs occupied
 * the processor: a high share makes the figure unreliable. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

enum { RECORD = 128 };

/* Returns the nanoseconds for which this thread waited for a processor. */
static int64_t time_stored_waiting(void)
{
    long long ran, waited = 0;
    FILE *f = fopen("/proc/thread-self/schedstat", "r");

    if (!f || fscanf(f, "%lld %lld", &ran, &waited) != 2)
        waited = 0;
    if (f)
        fclose(f);
    return waited;
}

int main(int argc, char **argv)
{
    char record[RECORD], path[4096];
    long count = 0;

    if (argc != 3) {
        fprintf(stderr, "usage: syncs FOLDER SECONDS\n");
        return 2;
    }
    memset(record, 'x', sizeof record);
    snprintf(path, sizeof path, "%s/syncs.%d", argv[1], (int)getpid());
    int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0) {
        fprintf(stderr, "syncs: cannot write in '%s': %s\n", argv[1], strerror(errno));
        return 1;
    }
    unlink(path);
    int64_t retained = time_stored_waiting();
    int64_t began = clock_monotonic_ns(), deadline = began + (int64_t)(strtod(argv[2], NULL) * 1e9),
            now;
    do {
        if (write(fd, record, sizeof record) != sizeof record || fdatasync(fd) != 0) {
            fprintf(stderr, "syncs: %s\n", strerror(errno));
            return 1;
        }
        count++;
        now = clock_monotonic_ns();
    } while (now < deadline);
    double seconds = (double)(now - began) / 1e9;
    double waited = (double)(time_stored_waiting() - retained) / 1e9 / seconds;
    printf("{\"syncs\":%ld,\"seconds\":%.6f,\"per_second\":%.1f,\"waited\":%.3f}\n", count, seconds,
           (double)count / seconds, waited);
    return 0;
}
