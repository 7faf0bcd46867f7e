/* paced.h - writing much to a disk that a server needs meanwhile. */
#ifndef STORE_PACED_H
#define STORE_PACED_H

#include <stdbool.h>

enum {
    /* So much is written between two syncs: a commit of the server waits for no more than this
     * when the disk has both. */
    PACED_BYTES = 256 * 1024
};

/* What was written to the file goes to the disk, and the disk is left to others for as long as
 * that took: the server's commits have at least half of it. */
bool paced_sync(int fd);

#endif
