/* backup.h - saves all data of a server in one file, checks it and restores it.
 *
 * A backup contains the rows (SQLite only; use pg_dump for PostgreSQL), the blobs and the keys. The
 * server keeps running. The rows are one snapshot, and the server deletes no blob until the backup
 * is complete, so every blob that a row of the snapshot names is included. */
#ifndef STORE_BACKUP_H
#define STORE_BACKUP_H

#include "store/store.h"

struct backup_report {
    int64_t files, bytes;
    int64_t damaged; /* files that were damaged or missing when the backup was made */
    int64_t lost;    /* files of the backup that are damaged now */
    bool has_rows;
};

struct backup_options {
    const char *path;        /* "-": standard output */
    const char *const *keys; /* files of the data folder to save, if they exist; ended by NULL */
    bool replace;            /* overwrite an existing file … */
    int64_t keep;            /* … or rename it to path.1 …, up to so many; 0: no */
    bool even_if_damaged;    /* save a database that SQLite reports as damaged */
};

/* The file gets its name, with mode 0600, when the backup is complete. Files are in a fixed order,
 * older ones first, so that deduplicating backup tools recognise old data. Logs failures.
 *
 * A damaged database is an error unless even_if_damaged is set. Damaged or missing files are marked
 * in the backup. With keep, a backup with marks never replaces a good one: it is named
 * path.damaged. */
enum err backup_make(struct store *s, const struct backup_options *options,
                     struct backup_report *ret);
/* Reads the whole backup ("-": standard input): checks checksums, counts and names, the database by
 * SQLite, and the files against their rows. Logs each fault. */
enum err backup_check(const char *path, struct backup_report *ret);
/* Restores into a folder that is empty or does not exist. If it is interrupted, no server starts on
 * the folder. salvage: restores all undamaged files of a damaged backup and logs the others; then
 * it returns ERR_FILE_DAMAGED, and a server can start. */
enum err backup_restore(const char *path, const char *folder, bool salvage,
                        struct backup_report *ret);

#endif
