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
    bool replace;            /* overwrite an existing file */
    int64_t max_files;       /* rename an existing file to path.1 and so on, up to this number of
                              * files; 0: no */
    bool even_if_damaged;    /* save the database even if SQLite reports damage */
};

/* Creates a backup. The file gets its name, with mode 0600, when it is complete. Files are in a
 * fixed order, oldest first, so that deduplicating backup tools recognise old data. A damaged
 * database is an error unless even_if_damaged is set. Damaged or missing files are marked in the
 * backup. With keep, a backup with marks never replaces a good one: it is named path.damaged. */
enum err backup_create(struct store *s, const struct backup_options *options,
                       struct backup_report *ret);
/* Reads the whole backup ("-": standard input) and checks checksums, counts and names, the
 * integrity of the database, and the files against their rows. Logs each fault. */
enum err backup_check(const char *path, struct backup_report *ret);
/* Restores into a folder that is empty or does not exist. If the restore is interrupted, no server
 * starts on the folder. salvage: restores all undamaged files of a damaged backup, logs the others
 * and returns ERR_FILE_DAMAGED; a server can start on the folder. */
enum err backup_restore(const char *path, const char *folder, bool salvage,
                        struct backup_report *ret);

#endif
