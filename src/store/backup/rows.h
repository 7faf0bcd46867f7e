/* rows.h - the database inside a backup: whether SQLite finds it sound, and whether the
 * files of the backup are those that its rows name. */
#ifndef STORE_BACKUP_ROWS_H
#define STORE_BACKUP_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/errors.h"

struct backup_rows;

/* size bytes of the file, from at on. ERR_FILE_DAMAGED, with a line in the log, when SQLite finds
 * it damaged. Close *ret in any case. */
enum err backup_rows_open(int fd, int64_t at, int64_t size, struct backup_rows **ret);
/* Compares a blob with its row, if it has one. False after a line in the log. */
bool backup_rows_compare(struct backup_rows *r, const char *blob, int64_t size, const char *digest);
/* Whether every blob that a row names was compared. False after a line in the log for each. */
bool backup_rows_complete(struct backup_rows *r);
/* Accepts NULL. */
void backup_rows_close(struct backup_rows *r);

#endif
