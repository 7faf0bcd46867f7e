/* write_pacing.h - limits the disk writes of backups, so that the server's commits need not wait.
 */
#ifndef STORE_PACED_H
#define STORE_PACED_H

#include <stdbool.h>
#include <stdint.h>

enum {
    /* Number of bytes written between two pauses. A commit of the server waits at most for the
     * writing of so many bytes. */
    PACING_FLUSH_BYTES = 128 * 1024,
    /* Maximum write rate in bytes per second. If a disk accepts data faster, it only buffers the
     * data in its cache, and the next sync of the server has to wait for that cache. */
    PACING_BYTES_PER_SECOND = 32 * 1024 * 1024,
    /* Longest pause in ms, however slow the disk is: a server that is stopping waits for the
     * backup. */
    PACING_MAX_PAUSE_MS = 100
};

/* While quick is set, copies on this thread neither pause nor wait for the disk. Only for snapshots
 * of test servers, because a power cut may destroy the data. */
void write_pacing_set_disabled(bool quick);
bool write_pacing_is_disabled(void);

/* Lowers the CPU and disk priority of this process. */
void lower_process_priority(void);

/* Flushes a file to which `bytes` bytes were written since the last call, then pauses for at least
 * as long as the flush took, to stay below the write rate. Uses sync_file_range, because an fsync
 * commits the file system's journal and delays the server's commits. The caller syncs the file at
 * the end. */
bool flush_file_and_pause(int fd, int64_t bytes);
/* pause_for_as_long_as_work_took pauses for as long as the work took since `began` (monotonic_ns).
 */
int64_t monotonic_ns(void);
void pause_for_as_long_as_work_took(int64_t began);

#endif
