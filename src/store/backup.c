/* backup.c - all that a server keeps, into one file or a folder of increments while it runs. */
#include "store/backup.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "store/archive.h"
#include "store/increment.h"
#include "store/internal.h"

/* Clocks of file systems are coarse. */
enum { CLOCK_SLACK_S = 2 };

struct backup_run {
    struct store *store;
    struct archive archive;
    struct increment *increment; /* instead of the archive */
    char part[PATH_MAX], rows[PATH_MAX];
    int rows_fd;
    time_t began;
    bool has_rows;
};

static enum err add_file(struct backup_run *b, const char *name, int fd)
{
    struct stat st;

    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        log_error("backup: '%s' is not a file", name);
        return ERR_UNAVAILABLE;
    }
    if (!b->increment)
        return archive_add(&b->archive, name, fd, st.st_size);
    return increment_add(b->increment, name, fd, st.st_size,
                         st.st_mtim.tv_sec * INT64_C(1000000000) + st.st_mtim.tv_nsec);
}

static enum err add_key(struct backup_run *b, const char *name)
{
    char path[PATH_MAX];

    if (snprintf(path, sizeof path, "%s/%s", b->store->folder, name) >= (int)sizeof path)
        return ERR_UNAVAILABLE;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return OK;
    if (fd < 0) {
        log_error("backup: cannot read '%s': %s", path, strerror(errno));
        return ERR_UNAVAILABLE;
    }
    enum err e = add_file(b, name, fd);
    close(fd);
    return e;
}

/* A folder of increments takes the rows in pieces, in order, and SQLite copies them in an order of
 * its own: they are written beside first. That file never has a name for long: nothing of it
 * stays, however this ends. */
static enum err open_rows(struct backup_run *b)
{
    unlink(b->rows);
    b->rows_fd = open(b->rows, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    unlink(b->rows);
    if (b->rows_fd >= 0)
        return OK;
    log_error("backup: cannot make '%s': %s", b->rows, strerror(errno));
    return ERR_UNAVAILABLE;
}

static enum err place_rows(void *arg, int64_t size, struct rows_place *ret)
{
    struct backup_run *b = arg;

    if (!b->increment)
        return archive_begin(&b->archive, "guildhall.db", size, &ret->fd, &ret->at);
    enum err e = open_rows(b);
    *ret = (struct rows_place){ .fd = b->rows_fd };
    return e;
}

static enum err add_rows(struct backup_run *b)
{
    enum err e = b->store->engine->backup(b->store, place_rows, b);

    if (!e && !b->increment)
        e = archive_end(&b->archive);
    else if (!e)
        e = add_file(b, "guildhall.db", b->rows_fd);
    if (b->rows_fd >= 0)
        close(b->rows_fd);
    b->rows_fd = -1;
    b->has_rows = true;
    return e;
}

/* A note says that nobody knows whether the blob has a row; whoever starts on the restored
 * folder looks, and deletes blobs that have none. */
static enum err add_note(void *arg, const char *note, int fd, time_t written)
{
    struct backup_run *b = arg;
    char name[ARCHIVE_NAME];

    (void)fd, (void)written;
    if (snprintf(name, sizeof name, "blobs/.new/%s", note) >= (int)sizeof name)
        return ERR_UNAVAILABLE;
    return b->increment ? increment_add(b->increment, name, -1, 0, 0)
                        : archive_add(&b->archive, name, -1, 0);
}

static enum err add_blob(void *arg, const char *blob, int fd, time_t written)
{
    struct backup_run *b = arg;
    char name[ARCHIVE_NAME], note[ARCHIVE_NAME];

    if (snprintf(name, sizeof name, "blobs/%s", blob) >= (int)sizeof name)
        return ERR_UNAVAILABLE;
    enum err e = add_file(b, name, fd);
    if (e || written < b->began - CLOCK_SLACK_S)
        return e;
    /* It may be younger than the snapshot of the rows. */
    blob_note_name(blob, note, sizeof note);
    return add_note(b, note, -1, 0);
}

/* Notes before the rows: a blob that is older than this backup and whose row is committed after
 * the snapshot has its note until then. */
static enum err add_all(struct backup_run *b, const char *const *keys)
{
    enum err e = blobs_walk_notes(b->store, add_note, b);

    if (!e && b->store->engine->backup)
        e = add_rows(b);
    for (; !e && *keys; keys++)
        e = add_key(b, *keys);
    return e ? e : blobs_walk(b->store, add_blob, b);
}

static enum err finish_file(struct backup_run *b, const char *path)
{
    char folder[PATH_MAX];
    enum err e = archive_finish(&b->archive);

    if (!e && rename(b->part, path) != 0) {
        log_error("backup: cannot make '%s': %s", path, strerror(errno));
        e = ERR_UNAVAILABLE;
    }
    if (e)
        return e;
    snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash)
        slash[slash == folder] = '\0';
    return folder_sync(slash ? folder : ".") ? OK : ERR_UNAVAILABLE;
}

enum err backup_make(struct store *s, const char *path, const char *const *keys,
                     struct backup_report *ret)
{
    struct backup_run b = { .store = s, .rows_fd = -1, .began = time(NULL) };
    int lock = -1;

    if (snprintf(b.part, sizeof b.part, "%s.part", path) >= (int)sizeof b.part) {
        log_error("backup: the name is too long");
        return ERR_UNAVAILABLE;
    }
    enum err e = blobs_hold(s, &lock);
    unlink(b.part);
    if (!e)
        e = archive_create(&b.archive, b.part);
    if (!e)
        e = add_all(&b, keys);
    if (!e)
        e = finish_file(&b, path);
    *ret = (struct backup_report){ .files = b.archive.files,
                                   .bytes = b.archive.bytes,
                                   .has_rows = b.has_rows };
    archive_close(&b.archive);
    if (e)
        unlink(b.part);
    if (lock >= 0)
        close(lock);
    return e;
}

enum err backup_make_increment(struct store *s, const char *folder, const char *const *keys,
                               int64_t keep, struct backup_report *ret)
{
    struct backup_run b = { .store = s, .rows_fd = -1, .began = time(NULL) };
    int lock = -1;

    if (snprintf(b.rows, sizeof b.rows, "%s/rows.part", folder) >= (int)sizeof b.rows) {
        log_error("backup: the name is too long");
        return ERR_UNAVAILABLE;
    }
    enum err e = blobs_hold(s, &lock);
    if (!e)
        e = increment_create(folder, &b.increment);
    if (!e)
        e = add_all(&b, keys);
    if (!e)
        e = increment_finish(b.increment, keep);
    if (!e) {
        *ret = (struct backup_report){ .has_rows = b.has_rows,
                                       .number = increment_number(b.increment) };
        increment_count(b.increment, &ret->files, &ret->bytes, &ret->written);
    }
    increment_close(b.increment);
    if (lock >= 0)
        close(lock);
    return e;
}
