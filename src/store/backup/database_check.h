/* database_check.h - checks the database in a backup, and compares its rows with the backup's
 * files. */
#ifndef STORE_BACKUP_DATABASE_CHECK_H
#define STORE_BACKUP_DATABASE_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/errors.h"

struct backup_database;

/* Opens the database that occupies `size` bytes at offset `at` of the file. If SQLite finds damage,
 * logs it and returns ERR_FILE_DAMAGED. The caller always closes *ret. */
enum err backup_database_open(int fd, int64_t at, int64_t size, struct backup_database **ret);
/* Compares a blob with its database row, if any. Returns false and logs a line if they differ. */
bool backup_database_compare_blob_with_row(struct backup_database *r, const char *blob,
                                           int64_t size, const char *digest);
/* Returns whether backup_database_compare_blob_with_row was called for every blob that a database
 * row names. Logs each missing blob. */
bool backup_database_has_no_missing_blobs(struct backup_database *r);
/* Accepts NULL. */
void backup_database_close(struct backup_database *r);

/* Deletes the database rows that say that blobs are in object storage, because after a restore all
 * blobs are in the folder. */
enum err backup_database_delete_object_storage_rows(const char *folder);

#endif
