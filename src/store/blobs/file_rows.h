/* file_rows.h - iterates over the table `files`, which lists all blobs with size and digest. */
#ifndef STORE_FILE_ROWS_H
#define STORE_FILE_ROWS_H

#include "store/store.h"

struct file_row {
    snowflake id;
    const char *name;
    int64_t size;       /* -1: unknown */
    const char *digest; /* see blob_compute_digest; "" if unknown */
    bool gone;          /* whether the row is marked for deletion; then the blob may be missing */
};

/* Calls found for each row of `files`, oldest first. No transaction is open during the call. */
enum err file_rows_visit_all(struct store *s,
                             enum err (*found)(void *arg, const struct file_row *row), void *arg);

/* Returns whether a blob (size -1 if it is missing) matches its row. Logs a difference. */
bool blob_matches_file_row(const struct file_row *row, int64_t size, const char *digest);

struct blob_check_report {
    int64_t files, bytes, damaged;
};
/* Reads every blob that a row names and compares it with the row. Logs differences and then returns
 * ERR_FILE_DAMAGED. */
enum err file_rows_compare_with_all_blobs(struct store *s, struct blob_check_report *ret);

#endif
