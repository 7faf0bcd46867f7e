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
    int64_t damaged; /* files that were damaged or missing when the backup was made */
    int64_t lost;    /* files of the backup that are damaged now */
    bool has_rows;
};

struct backup_options {
    const char *path;        /* "-": standard output */
    const char *const *keys; /* files of the folder that are saved if they exist, ended by NULL */
    bool replace;            /* an existing file is overwritten … */
    int64_t keep;            /* … or becomes path.1, and so on, until there are so many; 0: not */
    bool even_if_damaged;    /* save a database that SQLite finds damaged */
};

/* A file appears under its name, readable for its owner alone, when the backup is complete. Files
 * are written in a fixed order, older ones first, so that a program that stores only new data
 * recognises what the backup before had. Logs why it fails.
 *
 * A damaged database is refused. A backup of it that is made all the same, or of files that are
 * missing or altered, has marks that say so. With keep it never takes the place of a good one: it
 * is called path.damaged. */
enum err backup_make(struct store *s, const struct backup_options *options,
                     struct backup_report *ret);
/* Reads all of it ("-": standard input): sums and counts are right, names are ours, SQLite finds
 * the database sound, and the files are those that its rows name. Logs what is wrong. */
enum err backup_check(const char *path, struct backup_report *ret);
/* Into a folder that is empty or does not exist. A restore that was interrupted leaves a folder
 * that no server starts on. salvage: of a damaged backup everything that is whole, and a line in
 * the log for the rest; ERR_FILE_DAMAGED then, and a server can start. */
enum err backup_restore(const char *path, const char *folder, bool salvage,
                        struct backup_report *ret);

#endif
