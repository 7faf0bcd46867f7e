/* restore.c - checks a backup, or restores it into an empty folder. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "store/backup/archive.h"
#include "store/backup/backup.h"
#include "store/backup/database_check.h"
#include "store/backup/write_pacing.h"
#include "store/internal.h"

static bool file_name_ends_with(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);

    return n > m && strcmp(name + n - m, end) == 0;
}

static bool is_key_file_name(const char *name)
{
    return !strchr(name, '/') && name[0] != '.' &&
           (file_name_ends_with(name, ".key") || file_name_ends_with(name, ".pem"));
}

/* Accepts only names that belong in a data folder, because the backup may come from an untrusted
 * source. */
static bool is_name_of_data_folder_file(const char *name)
{
    if (strcmp(name, "guildhall.db") == 0 || is_key_file_name(name))
        return true;
    if (strncmp(name, "blobs/.new/", 11) == 0)
        return is_uncommitted_blob_marker_name(name + 11);
    return strncmp(name, "blobs/", 6) == 0 && is_blob_name(name + 6);
}

struct backup_reading {
    struct backup_archive archive;
    /* Folder into which the backup is restored; NULL if the backup is only checked. */
    const char *folder;
    bool salvage; /* whether to continue after a damaged file or line of the backup */
    struct backup_database *rows; /* during a check: the database of the backup, once it was read;
                                   * otherwise NULL */
    int rows_fd;                  /* descriptor of the file that contains the database, or -1 */
    bool has_rows, differs; /* has_rows: the backup contains a database; differs: a file does not
                             * match its database row */
    int64_t lost;
};

/* Returns a descriptor of the file that contains the database: the archive itself, or for a stream
 * an unlinked temporary file to which the database is copied. */
static int open_database_copy(struct backup_archive *a, int64_t *ret_at)
{
    *ret_at = ftello(a->f);
    if (*ret_at >= 0)
        return fcntl(fileno(a->f), F_DUPFD_CLOEXEC, 0);
    *ret_at = 0;
    return temporary_file_create();
}

static enum err check_backup_database(struct backup_reading *b,
                                      const struct backup_archive_file_header *entry)
{
    int64_t at;

    if (b->rows_fd >= 0)
        return ERR_BAD_REQUEST; /* the archive contains a second database */
    b->rows_fd = open_database_copy(&b->archive, &at);
    if (b->rows_fd < 0)
        return ERR_UNAVAILABLE;
    enum err e = backup_archive_extract_file(&b->archive, entry, at ? -1 : b->rows_fd);
    if (!e)
        e = backup_database_open(b->rows_fd, at, entry->size, &b->rows);
    if (e) {
        backup_database_close(b->rows);
        b->rows = NULL;
    }
    return e;
}

static enum err check_archived_file(struct backup_reading *b,
                                    const struct backup_archive_file_header *entry)
{
    if (strcmp(entry->name, "guildhall.db") == 0)
        return check_backup_database(b, entry);
    enum err e = backup_archive_extract_file(&b->archive, entry, -1);
    if (!e && b->rows && strncmp(entry->name, "blobs/", 6) == 0 && entry->name[6] != '.')
        b->differs |= !backup_database_compare_blob_with_row(b->rows, entry->name + 6, entry->size,
                                                             b->archive.sum);
    return e;
}

static int create_file_with_parents(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd >= 0 || errno != ENOENT)
        return fd;
    char parent[PATH_MAX];
    strcpy(parent, path);
    *strrchr(parent, '/') = '\0';
    if (folder_create(parent))
        return -1;
    return open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
}

static enum err restore_archived_file(struct backup_reading *b,
                                      const struct backup_archive_file_header *entry)
{
    char path[PATH_MAX];

    if (snprintf(path, sizeof path, "%s/%s", b->folder, entry->name) >= (int)sizeof path)
        return ERR_UNAVAILABLE;
    int fd = create_file_with_parents(path);
    if (fd < 0) {
        log_error("backup: cannot create the restored file '%s': %s", path, strerror(errno));
        return ERR_UNAVAILABLE;
    }
    enum err e = backup_archive_extract_file(&b->archive, entry, fd);
    if (close(fd) != 0 && !e)
        e = ERR_UNAVAILABLE;
    /* Retain a damaged database, because SQLite can read most of it. A partial blob or key file is
     * useless. */
    if (e && strcmp(entry->name, "guildhall.db") != 0)
        unlink(path);
    return e;
}

/* Checks or restores one file; counts it as lost if it is damaged. */
static enum err check_or_restore_archived_file(struct backup_reading *b,
                                               const struct backup_archive_file_header *entry)
{
    if (!is_name_of_data_folder_file(entry->name)) {
        log_error("backup: the backup '%s' contains a file that does not belong in a backup: '%s'",
                  b->archive.path, entry->name);
        return ERR_BAD_REQUEST;
    }
    b->has_rows |= strcmp(entry->name, "guildhall.db") == 0;
    enum err e = b->folder ? restore_archived_file(b, entry) : check_archived_file(b, entry);
    if (e != ERR_FILE_DAMAGED)
        return e;
    log_error("backup: the file '%s' is damaged in the backup '%s'", entry->name, b->archive.path);
    b->lost++;
    /* a check (without a folder) continues after a fault, to list all faults */
    return b->salvage || !b->folder ? OK : ERR_BAD_REQUEST;
}

/* Finds the next file after a damaged line of the archive. Stored content may contain text that
 * looks like a "file" line, so the next file is accepted only if it is a blob that does not exist
 * yet in the folder. */
static enum err find_next_file_after_damage(struct backup_reading *b,
                                            struct backup_archive_file_header *entry,
                                            bool *ret_more)
{
    struct stat st;
    char path[PATH_MAX];

    log_error("backup: a part of '%s' cannot be read and is skipped", b->archive.path);
    b->lost++;
    while ((*ret_more = backup_archive_find_next_file_header(&b->archive, entry))) {
        int n = snprintf(path, sizeof path, "%s/%s", b->folder, entry->name);

        if (strncmp(entry->name, "blobs/", 6) == 0 && is_name_of_data_folder_file(entry->name) &&
            n < (int)sizeof path && lstat(path, &st) != 0)
            return check_or_restore_archived_file(b, entry);
    }
    return OK;
}

static enum err check_or_restore_all_archived_files(struct backup_reading *b)
{
    struct backup_archive_file_header entry;
    bool more = true;
    enum err e = OK;

    while (!e && more) {
        e = backup_archive_read_next_file_header(&b->archive, &entry, &more);
        if (!e && more)
            e = check_or_restore_archived_file(b, &entry);
        while (e == ERR_BAD_REQUEST && b->salvage && more)
            e = find_next_file_after_damage(b, &entry, &more);
    }
    if (e != ERR_BAD_REQUEST || !b->salvage)
        return e;
    b->lost++;
    return OK;
}

static void fill_backup_report(const struct backup_reading *b, struct backup_report *ret)
{
    *ret = (struct backup_report){ .files = b->archive.files,
                                   .bytes = b->archive.bytes,
                                   .damaged = b->archive.damaged,
                                   .lost = b->lost,
                                   .has_rows = b->has_rows };
}

static void backup_reading_close(struct backup_reading *b)
{
    backup_database_close(b->rows);
    if (b->rows_fd >= 0)
        close(b->rows_fd);
    backup_archive_close(&b->archive);
}

enum err backup_check(const char *path, struct backup_report *ret)
{
    struct backup_reading b = { .rows_fd = -1 };
    enum err e = backup_archive_open(&b.archive, path);

    if (!e)
        e = check_or_restore_all_archived_files(&b);
    if (!e && b.rows && !b.lost && !backup_database_has_no_missing_blobs(b.rows))
        b.differs = true;
    fill_backup_report(&b, ret);
    backup_reading_close(&b);
    return e || !(b.differs || b.lost || ret->damaged) ? e : ERR_BAD_REQUEST;
}

/* --- restore -------------------------------------------------------------------------- */

static bool is_empty_folder(const char *folder)
{
    DIR *d = opendir(folder);
    struct dirent *entry;
    bool empty = d != NULL;

    /* The folder lost+found of a mount point is ignored. */
    while (d && empty && (entry = readdir(d)))
        empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
                strcmp(entry->d_name, "lost+found") == 0;
    if (d)
        closedir(d);
    return empty;
}

static enum err create_restore_folder_with_marker(const char *folder, char mark[PATH_MAX])
{
    enum err e = folder_create(folder);

    if (e)
        return e;
    if (!is_empty_folder(folder)) {
        log_error("backup: the folder '%s' is not empty; restore into an empty folder", folder);
        return ERR_BAD_REQUEST;
    }
    if (snprintf(mark, PATH_MAX, "%s/%s", folder, RESTORE_MARKER_FILE) >= PATH_MAX)
        return ERR_UNAVAILABLE;
    int fd = open(mark, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 || close(fd) != 0 || !sync_folder_to_disk(folder)) {
        log_error("backup: cannot write to the folder '%s': %s", folder, strerror(errno));
        return ERR_UNAVAILABLE;
    }
    return OK;
}

/* Syncs all restored files with one syncfs instead of one fsync each. */
static bool sync_file_system_of_folder(const char *folder)
{
    if (write_pacing_is_disabled())
        return true;
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool ok = fd >= 0 && syncfs(fd) == 0;

    if (fd >= 0)
        close(fd);
    return ok;
}

/* Creates the folder after the backup was opened, so that no folder is created if the name of the
 * backup is wrong. */
enum err backup_restore(const char *path, const char *folder, bool salvage,
                        struct backup_report *ret)
{
    struct backup_reading b = { .folder = folder, .salvage = salvage, .rows_fd = -1 };
    char mark[PATH_MAX];
    enum err e = backup_archive_open(&b.archive, path);

    if (!e)
        e = create_restore_folder_with_marker(folder, mark);
    if (e) {
        backup_reading_close(&b);
        return e;
    }
    e = check_or_restore_all_archived_files(&b);
    fill_backup_report(&b, ret);
    backup_reading_close(&b);
    if (!e && ret->has_rows && !ret->lost)
        e = backup_database_delete_object_storage_rows(folder);
    if (!e && (!folder_chown_all(folder) || !sync_file_system_of_folder(folder) ||
               unlink(mark) != 0 || !sync_folder_to_disk(folder))) {
        log_error("backup: cannot write to the folder '%s': %s", folder, strerror(errno));
        e = ERR_UNAVAILABLE;
    }
    if (e)
        log_error(
            "backup: the data in '%s' was not restored; empty the folder before the next attempt. If the backup is "
            "damaged, 'restore --salvage' restores all undamaged files",
            folder);
    return e || !ret->lost ? e : ERR_FILE_DAMAGED;
}
