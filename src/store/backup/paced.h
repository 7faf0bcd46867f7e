/* paced.h - limits the disk writes of backups, so that the server's commits are not delayed. */
#ifndef STORE_PACED_H
#define STORE_PACED_H

#include <stdbool.h>
#include <stdint.h>

enum {
    /* Bytes written between two pauses. A commit of the server waits at most until they are
     * written. */
    PACED_BYTES = 128 * 1024,
    /* Maximum write rate in bytes per second. A disk that accepts more buffers it in its cache, and
     * the next sync of the server waits until that cache is flushed. */
    PACED_RATE = 32 * 1024 * 1024,
    /* Longest pause, even on a slow disk, because a server that stops waits for the backup to
     * end. */
    PACED_PAUSE_MS = 100
};

/* Lowers the CPU and disk priority of this process. */
void paced_begin(void);

/* Flushes a file to which `bytes` bytes were written since the last call, then pauses for at least
 * as long as the flush took, to stay below the rate. Uses sync_file_range, because an fsync commits
 * the file system's journal and delays the server's commits. The caller syncs the file at the
 * end. */
bool paced_write_out(int fd, int64_t bytes);
/* paced_rest pauses for as long as the work since `began` (from paced_now) took. */
int64_t paced_now(void);
void paced_rest(int64_t began);

#endif
