/* paced.h - limits the disk writes of backups, so that the server's commits are not delayed. */
#ifndef STORE_PACED_H
#define STORE_PACED_H

#include <stdbool.h>
#include <stdint.h>

enum {
    /* Bytes written between two pauses: a commit of the server waits for no more than this. */
    PACED_BYTES = 128 * 1024,
    /* Maximum bytes per second. Disks that accept more buffer it in their own cache, and the next
     * sync of the server waits until that is flushed. */
    PACED_RATE = 32 * 1024 * 1024,
    /* Longest pause, however slow the disk is: a server that stops waits for its end. */
    PACED_PAUSE_MS = 100
};

/* Lowers the priority of this process for processor and disk. */
void paced_begin(void);

/* Flushes the file, to which `bytes` were written since the last call, and then pauses for at least
 * as long as that took, to stay below the rate. Uses sync_file_range, which does not commit the
 * file system's journal, because each such commit would delay the server's own. The caller syncs
 * the file once at the end. */
bool paced_write_out(int fd, int64_t bytes);
/* paced_rest pauses for as long as the work since `began` took, without a write. */
int64_t paced_now(void);
void paced_rest(int64_t began);

#endif
