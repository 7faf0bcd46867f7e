/* backup.h - all that a server keeps, in one file and back.
 *
 * A backup has the rows (SQLite; with PostgreSQL they are pg_dump's), the blobs and the keys.
 * It is made beside a running server: the rows are one snapshot, and as long as it is made the
 * server deletes no blob, so that every blob that a row of the snapshot names is there. */
#ifndef STORE_BACKUP_H
#define STORE_BACKUP_H

#include "store/store.h"

struct backup_report {
    int64_t files, bytes;
    bool has_rows;
    /* Of those in a folder (increment.h): which one it is, and what of it is new there. */
    int64_t number, written;
};

/* keys: names of files in the folder that are taken when they are there, ended by NULL. The
 * name appears, for its owner alone, when the backup is whole. Logs why it cannot. */
enum err backup_make(struct store *s, const char *path, const char *const *keys,
                     struct backup_report *ret);
/* The same into a folder, of which only what is new is written; keep: of so many, 0: of all. */
enum err backup_make_increment(struct store *s, const char *folder, const char *const *keys,
                               int64_t keep, struct backup_report *ret);
/* Reads all of it: sums and counts are right, and names are ours. Logs what is wrong. */
enum err backup_check(const char *path, struct backup_report *ret);
/* Into a folder that is empty or not there. number: which one of a folder of them, 0: the last. A
 * restore that did not come to its end leaves a folder that no server starts on. */
enum err backup_restore(const char *path, int64_t number, const char *folder,
                        struct backup_report *ret);

#endif
