/* paced.h - writing much to a disk that a server needs meanwhile. */
#ifndef STORE_PACED_H
#define STORE_PACED_H

#include <stdbool.h>
#include <stdint.h>

enum {
    /* So much is written between two pauses: a commit of the server that meets it waits for no
     * more than this. */
    PACED_BYTES = 128 * 1024,
    /* Bytes a second, at most: disks that take more at once keep it in a cache of theirs, and the
     * server's next sync has to wait until that is empty. */
    PACED_RATE = 32 * 1024 * 1024,
    /* No pause is longer, however long the disk took: whoever stops a server waits for its end. */
    PACED_PAUSE_MS = 100
};

/* This process gives way: others have the processor and the disk first. */
void paced_begin(void);

/* What was written to the file, so many bytes since the last time, is handed to the disk; then the
 * disk is left to others for as long as that took, or longer, so that it is no more than the
 * rate. The file system commits nothing for it, because each commit would hold up those of the
 * server: what has to last is synced once, at its end. */
bool paced_write_out(int fd, int64_t bytes);
/* The same for work that began then and writes nothing: as long again for others. */
int64_t paced_now(void);
void paced_rest(int64_t began);

#endif
