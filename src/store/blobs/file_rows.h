/* file_rows.h - iterates over the rows of `files`, which list all blobs with size and digest. */
#ifndef STORE_FILE_ROWS_H
#define STORE_FILE_ROWS_H

#include "store/store.h"

struct file_row {
    snowflake id;
    const char *name;
    int64_t size;       /* -1: unknown */
    const char *digest; /* see blob_digest; "": unknown */
    bool gone;          /* marked for deletion; the blob may be missing */
};

/* Calls found for each row, oldest first. No transaction is open during the call. */
enum err file_rows_for_each(struct store *s,
                            enum err (*found)(void *arg, const struct file_row *row), void *arg);

/* Whether a blob matches its row. size -1: the blob is missing. Logs a difference. */
bool blob_matches_file_row(const struct file_row *row, int64_t size, const char *digest);

struct file_report {
    int64_t files, bytes, damaged;
};
/* Reads every blob that a row names and compares it with the row. Logs differences and then returns
 * ERR_FILE_DAMAGED. */
enum err file_rows_check_blobs(struct store *s, struct file_report *ret);

#endif
