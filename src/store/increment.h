/* increment.h - backups in a folder, of which each writes only what the ones before it have not.
 *
 *   catalogue.db   which files each backup has, and of which pieces: an SQLite database
 *   objects/ab/…   pieces of at most 1 MiB, of rows 64 KiB, named by their BLAKE2b-256
 *
 * A piece is on the disk before it has its name, and a backup is in the catalogue when all of its
 * pieces are: one that is killed leaves the others whole, and pieces that the next one finds. A
 * file whose size and time of change are those of the backup before is not read again. */
#ifndef STORE_INCREMENT_H
#define STORE_INCREMENT_H

#include "store/archive.h"

struct increment;

/* --- writing -------------------------------------------------------------------------- */

/* Makes the folder where it is missing, and has it alone. Logs. */
enum err increment_create(const char *folder, struct increment **ret);
/* size bytes of the descriptor (-1: none). changed: when it was, in nanoseconds; 0: read it. */
enum err increment_add(struct increment *i, const char *name, int fd, int64_t size,
                       int64_t changed);
/* Now it counts. Of all that there are the last ones are kept; keep 0: all. */
enum err increment_finish(struct increment *i, int64_t keep);

/* --- reading -------------------------------------------------------------------------- */

/* number 0: the last one. */
enum err increment_open(const char *folder, int64_t number, struct increment **ret);
enum err increment_next(struct increment *i, struct archive_entry *ret, bool *ret_more);
/* Its bytes go to the descriptor (-1: nowhere), each piece compared with its name. */
enum err increment_take(struct increment *i, const struct archive_entry *entry, int fd);
/* Reads every piece once, and looks whether all files of all backups have theirs. */
enum err increment_check_all(struct increment *i);

/* --- both ----------------------------------------------------------------------------- */

int64_t increment_number(const struct increment *i);
/* Files and bytes of the backup so far, and of these what was not in the folder before. */
void increment_count(const struct increment *i, int64_t *files, int64_t *bytes, int64_t *written);
void increment_close(struct increment *i); /* accepts NULL */

#endif
