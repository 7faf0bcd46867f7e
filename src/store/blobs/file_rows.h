/* file_rows.h - the rows of `files`: which blobs there have to be, and what is in them. */
#ifndef STORE_FILE_ROWS_H
#define STORE_FILE_ROWS_H

#include "store/store.h"

struct file_row {
    snowflake id;
    const char *name;
    int64_t size;       /* -1 when it is not known */
    const char *digest; /* see blob_digest; "" when it is not known */
    bool gone;          /* about to be deleted; the blob may be missing */
};

/* In the order of their ids, that is, oldest first. No transaction is open while found runs. */
enum err file_rows_each(struct store *s, enum err (*found)(void *arg, const struct file_row *row),
                        void *arg);

/* Whether a blob is what its row says. size -1: it is missing. False after a line in the log. */
bool file_row_fits(const struct file_row *row, int64_t size, const char *digest);

struct file_report {
    int64_t files, bytes, damaged;
};
/* Reads every blob that a row names and compares it with the row. ERR_FILE_DAMAGED when one
 * differs, after a line in the log for each. */
enum err file_rows_check(struct store *s, struct file_report *ret);

#endif
