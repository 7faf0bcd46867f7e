/* backup.c - writes a backup of a running server to a file or a stream. */
#include "store/backup/backup.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/log.h"
#include "store/backup/archive.h"
#include "store/blobs/file_rows.h"
#include "store/internal.h"

/* Tolerance in seconds for coarse file timestamps: a blob that was written up to this long before
 * the backup began also counts as newer than the backup. */
enum { CLOCK_SLACK_S = 2 };

struct backup_in_progress {
    struct store *store;
    struct backup_archive archive;
    const char *const *keys;
    bool is_stream;
    char part[PATH_MAX];
    int rows_fd; /* if the backup goes to a stream: descriptor of a temporary copy of the database;
                  * otherwise -1 */
    char sum[ARCHIVE_CHECKSUM_SIZE]; /* checksum of the last blob */
    struct map seen;                 /* hashes of the names of blobs that are in the backup */
    time_t began;
    bool has_rows, database_reserved, even_if_damaged;
};

static enum err add_open_file_to_backup(struct backup_in_progress *b, const char *name, int fd)
{
    struct stat st;

    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        log_error("backup: cannot back up '%s', because it is not a regular file", name);
        return ERR_UNAVAILABLE;
    }
    return backup_archive_add_file(&b->archive, name, fd, st.st_size);
}

static enum err add_data_file_to_backup(struct backup_in_progress *b, const char *name)
{
    char path[PATH_MAX];

    if (snprintf(path, sizeof path, "%s/%s", b->store->folder, name) >= (int)sizeof path)
        return ERR_UNAVAILABLE;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return OK;
    if (fd < 0) {
        log_error("backup: cannot read the file '%s': %s", path, strerror(errno));
        return ERR_UNAVAILABLE;
    }
    enum err e = add_open_file_to_backup(b, name, fd);
    close(fd);
    return e;
}

/* Chooses where SQLite writes the copy of the database. SQLite writes pages in any order, so if the
 * backup is a stream, SQLite first writes a complete temporary copy. */

static enum err choose_destination_of_database_copy(void *arg, int64_t size,
                                                    struct database_copy_destination *ret)
{
    struct backup_in_progress *b = arg;

    b->database_reserved = true;
    if (!b->is_stream)
        return backup_archive_reserve_file(&b->archive, "guildhall.db", size, &ret->fd,
                                           &ret->offset);
    b->rows_fd = temporary_file_create();
    *ret = (struct database_copy_destination){ .fd = b->rows_fd };
    return b->rows_fd < 0 ? ERR_UNAVAILABLE : OK;
}

static enum err add_database_to_backup(struct backup_in_progress *b)
{
    bool damaged = false;
    enum err e =
        b->store->engine->backup(b->store, choose_destination_of_database_copy, b, &damaged);

    /* If SQLite cannot open the database, save the raw file, which may help to recover data. */
    if (e && b->even_if_damaged && !b->database_reserved) {
        b->has_rows = true;
        e = add_data_file_to_backup(b, "guildhall.db");
        return e ? e : backup_archive_mark_file_damaged(&b->archive, "guildhall.db");
    }

    if (!e && damaged && !b->even_if_damaged) {
        log_error("backup: the database is damaged: no backup was written, and older backups are "
                  "unchanged; restore the last good one, or "
                  "back up the damaged database with --even-if-damaged");
        e = ERR_FILE_DAMAGED;
    }
    if (!e)
        e = b->is_stream ? add_open_file_to_backup(b, "guildhall.db", b->rows_fd)
                         : backup_archive_finish_reserved_file(&b->archive);
    if (b->rows_fd >= 0)
        close(b->rows_fd);
    b->rows_fd = -1;
    b->has_rows = true;
    return e || !damaged ? e : backup_archive_mark_file_damaged(&b->archive, "guildhall.db");
}

/* Adds a marker file of blobs/.new to the backup. A marker means that the database row of its blob
 * may not be committed yet. A server that starts on the restored folder checks the blob and deletes
 * it if it has no row. */
static enum err add_blob_marker_to_backup(void *arg, const char *marker, int fd, time_t written)
{
    struct backup_in_progress *b = arg;
    char name[ARCHIVE_NAME_MAX];

    (void)fd, (void)written;
    if (snprintf(name, sizeof name, "blobs/.new/%s", marker) >= (int)sizeof name)
        return ERR_UNAVAILABLE;
    return backup_archive_add_file(&b->archive, name, -1, 0);
}

static enum err add_blob_to_backup(void *arg, const char *blob, int fd, time_t written)
{
    struct backup_in_progress *b = arg;
    char name[ARCHIVE_NAME_MAX], marker[ARCHIVE_NAME_MAX];

    if (snprintf(name, sizeof name, "blobs/%s", blob) >= (int)sizeof name)
        return ERR_UNAVAILABLE;
    enum err e = add_open_file_to_backup(b, name, fd);
    memcpy(b->sum, b->archive.sum, sizeof b->sum);
    if (e || written < b->began - CLOCK_SLACK_S)
        return e;
    /* The blob may be newer than the snapshot of the database, so add its marker file: a server
     * that starts on the restored folder then checks whether the blob has a row. */
    blob_format_uncommitted_marker_name(blob, marker, sizeof marker);
    return add_blob_marker_to_backup(b, marker, -1, 0);
}

static enum err add_blob_of_file_row(void *arg, const struct file_row *row)
{
    struct backup_in_progress *b = arg;
    char name[ARCHIVE_NAME_MAX];
    int64_t size = -1;
    struct stat st;
    int fd = -1;
    enum err e = blob_open(b->store, row->name, &fd, &size);

    if (e && e != ERR_NOT_FOUND)
        return e;
    map_set_value(&b->seen, hash_str(str_of(row->name)), b);
    if (!e) {
        e = fstat(fd, &st) == 0 ? add_blob_to_backup(b, row->name, fd, st.st_mtime)
                                : ERR_UNAVAILABLE;
        close(fd);
        if (e)
            return e;
    }
    if (row->gone || blob_matches_file_row(row, size, b->sum))
        return OK;
    snprintf(name, sizeof name, "blobs/%s", row->name);
    return backup_archive_mark_file_damaged(&b->archive, name);
}

static enum err add_blob_without_file_row(void *arg, const char *blob, int fd, time_t written)
{
    struct backup_in_progress *b = arg;

    return map_find_value(&b->seen, hash_str(str_of(blob)))
               ? OK
               : add_blob_to_backup(b, blob, fd, written);
}

/* Writes blobs in the order of their ids. So blobs that are newer than the previous backup come
 * after the blobs of that backup. */
static enum err add_blobs_to_backup(struct backup_in_progress *b)
{
    enum err e =
        b->store->remote_blobs ? OK : file_rows_visit_all(b->store, add_blob_of_file_row, b);

    if (e && b->archive.damaged) /* ignore the error: some rows of a damaged database cannot be
                                  * read */
        e = OK;
    return e ? e : blobs_visit_all(b->store, add_blob_without_file_row, b);
}

/* Adds the markers before the database. So if the row of a blob is committed after the database's
 * snapshot began, the backup still contains the marker of the blob. */
static enum err add_all_data_to_backup(struct backup_in_progress *b)
{
    enum err e = uncommitted_blob_markers_visit_all(b->store, add_blob_marker_to_backup, b);

    if (!e && b->store->engine->backup)
        e = add_database_to_backup(b);
    for (const char *const *key = b->keys; !e && *key; key++)
        e = add_data_file_to_backup(b, *key);
    return e ? e : add_blobs_to_backup(b);
}

/* Renames path to path.1, path.1 to path.2, and so on; retains `keep` files. */
static bool rotate_backups(const char *path, int64_t keep)
{
    char from[PATH_MAX], to[PATH_MAX];

    for (int64_t i = keep - 1; i > 0; i--) {
        int n = i > 1 ? snprintf(from, sizeof from, "%s.%lld", path, (long long)i - 1)
                      : snprintf(from, sizeof from, "%s", path);

        if (n >= (int)sizeof from ||
            snprintf(to, sizeof to, "%s.%lld", path, (long long)i) >= (int)sizeof to ||
            (rename(from, to) != 0 && errno != ENOENT))
            return false;
    }
    return true;
}

static enum err rename_backup_to_final_name(struct backup_in_progress *b,
                                            const struct backup_options *o)
{
    char folder[PATH_MAX], path[PATH_MAX];
    bool replace = o->replace || o->max_files, is_damaged = o->max_files && b->archive.damaged;

    if (snprintf(path, sizeof path, "%s%s", o->path, is_damaged ? ".damaged" : "") >=
        (int)sizeof path)
        return ERR_UNAVAILABLE;
    /* Use link, which fails if another process has created the file meanwhile; rename would replace
     * that file. */
    if ((o->max_files && !is_damaged && !rotate_backups(o->path, o->max_files)) ||
        (replace ? rename(b->part, path) : link(b->part, path)) != 0) {
        log_error("backup: cannot create the backup file '%s': %s", path, strerror(errno));
        return ERR_UNAVAILABLE;
    }
    if (is_damaged)
        log_warn("backup: the backup '%s' contains damaged files; no older backup was deleted",
                 path);
    if (!replace)
        unlink(b->part);
    snprintf(folder, sizeof folder, "%s", o->path);
    char *slash = strrchr(folder, '/');
    if (slash)
        slash[slash == folder] = '\0';
    return sync_folder_to_disk(slash ? folder : ".") ? OK : ERR_UNAVAILABLE;
}

static enum err choose_partial_backup_name(struct backup_in_progress *b,
                                           const struct backup_options *o)
{
    if (snprintf(b->part, sizeof b->part, "%s%s", o->path, b->is_stream ? "" : ".part") >=
        (int)sizeof b->part) {
        log_error("backup: the name of the backup file is too long");
        return ERR_UNAVAILABLE;
    }
    if (b->is_stream || o->replace || o->max_files || access(o->path, F_OK) != 0)
        return OK;
    log_error(
        "backup: the file '%s' exists already; --force overwrites it, --keep N keeps the last N backups",
        o->path);
    return ERR_BAD_REQUEST;
}

enum err backup_create(struct store *s, const struct backup_options *o, struct backup_report *ret)
{
    struct backup_in_progress b = { .store = s,
                                    .keys = o->keys,
                                    .rows_fd = -1,
                                    .began = time(NULL),
                                    .even_if_damaged = o->even_if_damaged };
    int lock = -1;

    b.is_stream = strcmp(o->path, "-") == 0;
    enum err e = choose_partial_backup_name(&b, o);
    if (!e)
        e = blobs_lock_deletion(s, &lock);
    if (e)
        return e;
    map_init(&b.seen);
    if (!b.is_stream)
        unlink(b.part);
    e = backup_archive_create(&b.archive, b.part);
    if (!e)
        e = add_all_data_to_backup(&b);
    if (!e)
        e = backup_archive_finish(&b.archive);
    if (!e && !b.is_stream)
        e = rename_backup_to_final_name(&b, o);
    *ret = (struct backup_report){ .files = b.archive.files,
                                   .bytes = b.archive.bytes,
                                   .damaged = b.archive.damaged,
                                   .has_rows = b.has_rows };
    backup_archive_close(&b.archive);
    map_clear(&b.seen);
    if (e && !b.is_stream)
        unlink(b.part);
    if (lock >= 0)
        close(lock);
    return e;
}
