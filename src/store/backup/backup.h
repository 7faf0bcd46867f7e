#ifndef STORE_BACKUP_H
#define STORE_BACKUP_H

#include "store/store.h"

struct backup_report {
    int64_t files, bytes;
    int64_t damaged; /* number of files that were already damaged or missing when the backup was
                      * made */
    int64_t lost;    /* number of files whose bytes in the backup are damaged */
    bool has_rows;
};

struct backup_options {
    const char *path;        /* "-" means standard output */
    const char *const *keys; /* names of files in the data folder to save, if they exist; NULL at
                              * end */
    bool replace;            /* whether to overwrite an existing file */
    int64_t max_files;       /* if above 0: rename an existing backup to path.1, path.1 to path.2,
                              * …, and retain this many files */
    bool even_if_damaged;    /* whether to save the database even if SQLite reports damage */
};

/* Creates a backup. The backup gets its final name, with mode 0600, when it is complete. Files are
 * in a fixed order, oldest first, so that deduplicating backup tools recognise old data. A damaged
 * database is an error unless even_if_damaged is set. Damaged or missing files are marked in the
 * backup. With max_files, such a marked backup is named path.damaged and replaces no other. */
enum err backup_create(struct store *s, const struct backup_options *options,
                       struct backup_report *ret);
/* Reads the whole backup (path "-" means standard input) and checks checksums, counts, names, the
 * integrity of the database, and the files against their database rows. Logs each fault. */
enum err backup_check(const char *path, struct backup_report *ret);
/* Restores a backup into a folder that is empty or does not exist. If the restore is interrupted,
 * no server starts on the folder. With `salvage`, all undamaged files of a damaged backup are
 * restored, damaged ones are logged, and the result is ERR_FILE_DAMAGED; a server can start on the
 * folder. */
enum err backup_restore(const char *path, const char *folder, bool salvage,
                        struct backup_report *ret);

#endif
