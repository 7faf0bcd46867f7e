/* files.c - copies missing blobs and keys of a move, then compares all of them. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sodium.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/io.h"
#include "base/mem.h"
#include "store/move/internal.h"

enum { COPY_BUFFER_SIZE = 256 * 1024, DIGEST_SIZE = 32 };

struct file_copy {
    struct store *to;
    const struct data_move_options *o;
    struct data_move_report *report;
    char *piece;
    bool compares;
    struct blob_location *location; /* see copy_and_compare_moved_files */
    int64_t total, done; /* progress in files; each file counts twice: when it is copied and when it
                          * is compared */
};

static enum err log_file_error(const char *verb, const char *path)
{
    int code = errno;

    log_error(
        "move: cannot %s the file or folder '%s': %s; fix the cause and run the command again",
        verb, path, strerror(code));
    return code == ENOSPC || code == EDQUOT ? ERR_STORAGE_FULL : ERR_UNAVAILABLE;
}

/* Copies a file from its current offset, and computes its digest. If `to` is -1, only computes the
 * digest. */
static bool copy_file_and_compute_digest(struct file_copy *f, int from, int to,
                                         unsigned char digest[DIGEST_SIZE])
{
    crypto_generichash_state sum;
    ssize_t n;

    crypto_generichash_init(&sum, NULL, 0, DIGEST_SIZE);
    while ((n = read(from, f->piece, COPY_BUFFER_SIZE)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 || (to >= 0 && !write_all_bytes(to, str_slice(f->piece, (size_t)n))))
            return false;
        crypto_generichash_update(&sum, (const unsigned char *)f->piece, (size_t)n);
    }
    crypto_generichash_final(&sum, digest, DIGEST_SIZE);
    return true;
}

static int create_file(const char *path)
{
    return open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
}

/* Creates the folder only if rename fails, because most blobs go into existing folders. */
static bool rename_and_create_parent_folder(const char *part, const char *path)
{
    char parent[PATH_MAX];

    if (rename(part, path) == 0)
        return true;
    strcpy(parent, path);
    *strrchr(parent, '/') = '\0';
    return errno == ENOENT && !folder_create(parent) && rename(part, path) == 0;
}

/* Writes the file under a temporary name, and renames it when it is complete and synced. */
static enum err copy_one_file(struct file_copy *f, int from, const char *path)
{
    unsigned char digest[DIGEST_SIZE];
    char part[PATH_MAX];

    if (snprintf(part, sizeof part, "%s/blobs/.part-move", f->to->folder) >= (int)sizeof part)
        return ERR_UNAVAILABLE;
    int to = create_file(part);
    if (to < 0)
        return log_file_error("create", part);
    bool ok = copy_file_and_compute_digest(f, from, to, digest);
    ok &= close(to) == 0;
    if (!ok || !rename_and_create_parent_folder(part, path)) {
        enum err e = log_file_error("write", path);

        unlink(part);
        return e;
    }
    return OK;
}

static enum err compare_file_with_copy(struct file_copy *f, int from, int to, const char *path)
{
    unsigned char one[DIGEST_SIZE], other[DIGEST_SIZE];
    bool ok = to >= 0 && copy_file_and_compute_digest(f, from, -1, one) &&
              copy_file_and_compute_digest(f, to, -1, other);

    if (to >= 0)
        close(to);
    if (!ok)
        return log_file_error("read", path);
    if (memcmp(one, other, DIGEST_SIZE) == 0)
        return OK;
    log_error(
        "move: the file '%s' differs from its source; delete the file and run the command again",
        path);
    return ERR_UNAVAILABLE;
}

static enum err copy_or_compare_file(struct file_copy *f, const char *name, int fd)
{
    struct stat from, to;
    char path[PATH_MAX];

    if (fstat(fd, &from) != 0 ||
        snprintf(path, sizeof path, "%s/%s", f->to->folder, name) >= (int)sizeof path)
        return ERR_UNAVAILABLE;
    if (f->compares) {
        f->report->files++;
        f->report->bytes += from.st_size;
        return compare_file_with_copy(f, fd, open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC), path);
    }
    /* A file of this size was copied by an interrupted move; its content is compared later. */
    if (lstat(path, &to) == 0 && to.st_size == from.st_size)
        return OK;
    return copy_one_file(f, fd, path);
}

/* --- copying blobs into the database or object storage -------------------------------- */

static enum err copy_remote_blob(struct file_copy *f, const char *blob, int fd, size_t size)
{
    char *bytes = mem_new(size + 1);
    ssize_t n = 0;
    size_t got = 0;

    while (got < size && (n = pread(fd, bytes + got, size - got, (off_t)got)) > 0)
        got += (size_t)n;
    enum err e = got == size ? f->to->remote_blobs->put(f->to, blob, str_slice(bytes, size))
                             : ERR_UNAVAILABLE;
    mem_free(bytes);
    return e ? e : f->to->remote_blobs->set_committed(f->to, blob, true);
}

/* Compares a source file with the remote blob. (A file in the target folder does not count, because
 * that may be the source folder.) */
static enum err compare_remote_blob(struct file_copy *f, const char *blob, int fd)
{
    char part[PATH_MAX];
    int64_t size;

    if (snprintf(part, sizeof part, "%s/blobs/.part-move", f->to->folder) >= (int)sizeof part)
        return ERR_UNAVAILABLE;
    int to = open(part, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (to < 0)
        return log_file_error("create", part);
    unlink(part);
    enum err e = f->to->remote_blobs->read(f->to, blob, to, &size);
    if (e || lseek(to, 0, SEEK_SET) != 0) {
        close(to);
        return e ? e : log_file_error("read", part);
    }
    return compare_file_with_copy(f, fd, to, blob);
}

static enum err copy_or_compare_remote_blob(struct file_copy *f, const char *blob, int fd)
{
    struct stat from;
    int64_t size = -1;

    if (fstat(fd, &from) != 0)
        return ERR_UNAVAILABLE;
    if (f->compares) {
        f->report->files++;
        f->report->bytes += from.st_size;
        return compare_remote_blob(f, blob, fd);
    }
    enum err e = f->to->remote_blobs->read(f->to, blob, -1, &size);
    if (e == ERR_NOT_FOUND)
        return copy_remote_blob(f, blob, fd, (size_t)from.st_size);
    /* A blob of this size was copied by an interrupted move; its content is compared later. */
    return e || size == from.st_size ? e : copy_remote_blob(f, blob, fd, (size_t)from.st_size);
}

static enum err add_blob_to_total(void *arg, const char *blob, int fd, time_t written)
{
    (void)blob, (void)fd, (void)written;
    ((struct file_copy *)arg)->total += 2;
    return OK;
}

static enum err add_remote_blob_to_total(void *arg, const struct stored_blob *name)
{
    (void)name;
    ((struct file_copy *)arg)->total += 2;
    return OK;
}

static enum err copy_or_compare_blob(void *arg, const char *blob, int fd, time_t written)
{
    struct file_copy *f = arg;
    char name[PATH_MAX];

    (void)written;
    if (snprintf(name, sizeof name, "blobs/%s", blob) >= (int)sizeof name)
        return ERR_UNAVAILABLE;
    if (f->o->on_progress)
        f->o->on_progress(f->o->arg, "files", ++f->done, f->total);
    if (f->location)
        store_swap_blob_locations(f->to, f->location);
    enum err e = f->to->remote_blobs ? copy_or_compare_remote_blob(f, blob, fd)
                                     : copy_or_compare_file(f, name, fd);
    if (f->location)
        store_swap_blob_locations(f->to, f->location);
    return e;
}

static enum err create_marker_file(const struct store *to, const char *marker)
{
    char path[PATH_MAX];

    if (snprintf(path, sizeof path, "%s/blobs/.new/%s", to->folder, marker) >= (int)sizeof path)
        return ERR_UNAVAILABLE;
    int made = create_file(path);
    if (made < 0)
        return log_file_error("create", path);
    close(made);
    return OK;
}

/* Copies a blob's marker file, so that a server on the target checks whether the blob has a row. */
static enum err copy_blob_marker(void *arg, const char *marker, int fd, time_t written)
{
    char name[PATH_MAX];
    struct file_copy *f = arg;
    enum err e;

    (void)fd, (void)written;
    if (f->location)
        store_swap_blob_locations(f->to, f->location);
    if (f->to->remote_blobs) {
        blob_name_from_uncommitted_marker(marker, name, sizeof name);
        e = f->to->remote_blobs->set_committed(f->to, name, false);
    } else {
        e = create_marker_file(f->to, marker);
    }
    if (f->location)
        store_swap_blob_locations(f->to, f->location);
    return e;
}

static enum err copy_or_compare_key_file(struct file_copy *f, const struct store *from,
                                         const char *name)
{
    char path[PATH_MAX];

    if (snprintf(path, sizeof path, "%s/%s", from->folder, name) >= (int)sizeof path)
        return ERR_UNAVAILABLE;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? OK : log_file_error("read", path);
    enum err e = copy_or_compare_file(f, name, fd);
    close(fd);
    return e;
}

static enum err copy_or_compare_all_files(struct file_copy *f, struct store *from)
{
    enum err e = OK;

    for (const char *const *key = f->location ? NULL : f->o->keys; !e && key && *key; key++)
        e = copy_or_compare_key_file(f, from, *key);
    return e || f->report->blobs_stay ? e : blobs_visit_all(from, copy_or_compare_blob, f);
}

static enum err sync_target_folder(const struct store *to)
{
    int fd = open(to->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    enum err e = fd >= 0 && syncfs(fd) == 0 ? OK : log_file_error("write to", to->folder);

    if (fd >= 0)
        close(fd);
    return e;
}

/* If the target is a folder, copies the markers before the blobs. If the target is the database,
 * copies them after the blobs, because there a marker is a column of the blob's row. For object
 * storage the order does not matter. */
static enum err copy_files_and_markers(struct file_copy *f, struct store *from)
{
    bool into_folder = f->location ? !f->location->remote_blobs : !f->to->remote_blobs;
    enum err e = from->remote_blobs
                     ? from->remote_blobs->list(from, -1, add_remote_blob_to_total, f)
                     : blobs_visit_all(from, add_blob_to_total, f);

    if (!e && into_folder && !f->report->blobs_stay)
        e = uncommitted_blob_markers_visit_all(from, copy_blob_marker, f);
    if (!e)
        e = copy_or_compare_all_files(f, from);
    if (!e && !into_folder)
        e = uncommitted_blob_markers_visit_all(from, copy_blob_marker, f);
    return e;
}

enum err copy_and_compare_moved_files(struct store *from, struct store *to,
                                      struct blob_location *location,
                                      const struct data_move_options *o,
                                      struct data_move_report *ret)
{
    struct file_copy f = {
        .to = to, .location = location, .o = o, .report = ret, .piece = mem_new(COPY_BUFFER_SIZE)
    };
    enum err e = copy_files_and_markers(&f, from);

    f.compares = true;
    if (!e)
        e = copy_or_compare_all_files(&f, from);
    if (!e)
        e = sync_target_folder(to);
    mem_free(f.piece);
    return e;
}
