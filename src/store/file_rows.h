/* file_rows.h - the rows of `files`, one after the other: which blobs there have to be. */
#ifndef STORE_FILE_ROWS_H
#define STORE_FILE_ROWS_H

#include "store/store.h"

struct file_row {
    snowflake id;
    const char *name;
    int64_t size;
    int64_t created_at; /* microseconds */
    bool gone;          /* about to be deleted; the blob may be missing */
};

/* In the order of their ids, that is, oldest first. No transaction is open while found runs. */
enum err file_rows_each(struct store *s, enum err (*found)(void *arg, const struct file_row *row),
                        void *arg);

#endif
