/* walk.c - iterates over all blobs, and locks them against deletion during a backup. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "store/internal.h"

static bool build_backup_lock_path(struct store *s, char path[PATH_MAX])
{
    return snprintf(path, PATH_MAX, "%s/backup.lock", s->folder) < PATH_MAX;
}

/* Creates the lock file when the server starts, because a file that a backup creates as root would
 * belong to root. */
void blobs_create_deletion_lock_file(struct store *s)
{
    char path[PATH_MAX];
    int fd = build_backup_lock_path(s, path) ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;

    if (fd >= 0 && folder_chown_file(s->folder, fd))
        close(fd);
    else if (errno == EACCES && access(path, R_OK) != 0)
        log_warn(
            "store: the server cannot delete unused files, because the file '%s' belongs to another "
            "operating system user; delete this file",
            path);
}

enum err blobs_lock_deletion(struct store *s, int *ret)
{
    char path[PATH_MAX];

    if (s->blob_connections) {
        *ret = -1;
        return postgres_lock_blob_deletion(s);
    }
    int fd = build_backup_lock_path(s, path) ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;

    *ret = -1;
    if (fd < 0 && errno == EROFS) /* on a read-only file system nothing can be deleted, so no lock
                                   * is needed */
        return OK;
    /* Backups often run as root, but the server must be able to open the lock file. */
    if (fd < 0 || !folder_chown_file(s->folder, fd) || flock(fd, LOCK_SH) != 0) {
        log_error("store: cannot lock the files of '%s' against deletion: %s", s->folder,
                  strerror(errno));
        if (fd >= 0)
            close(fd);
        return ERR_UNAVAILABLE;
    }
    *ret = fd;
    return OK;
}

bool blobs_deletion_is_locked(struct store *s)
{
    char path[PATH_MAX];

    if (s->blob_connections)
        return postgres_blob_deletion_is_locked(s);
    int fd = build_backup_lock_path(s, path) ? open(path, O_RDWR | O_CLOEXEC) : -1;

    if (fd < 0 && errno == EACCES) /* root owns the file, for example because flock(1) created it:
                                    * try to open it for reading */
        fd = open(path, O_RDONLY | O_CLOEXEC);
    /* If the lock file cannot be opened, assume that another process has locked it. */
    bool is_locked = fd >= 0 ? flock(fd, LOCK_EX | LOCK_NB) != 0 : errno != ENOENT;

    if (fd >= 0)
        close(fd);
    return is_locked;
}

enum err blob_open_without_caching(struct store *s, const char *name, int *ret_fd,
                                   int64_t *ret_size)
{
    return s->remote_blobs ? remote_blob_open_temporary_copy(s, name, ret_fd, ret_size)
                           : blob_open(s, name, ret_fd, ret_size);
}

struct blob_walk {
    visit_blob_file_fn *found;
    void *arg;
    char name[PATH_MAX]; /* path relative to the start folder */
    bool deep;
};

static enum err visit_files_below_folder(struct blob_walk *w, int parent, const char *path,
                                         size_t length);

static enum err visit_blob_file(struct blob_walk *w, int folder, const char *entry)
{
    struct stat st;
    int fd = openat(folder, entry, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0 && errno == ENOENT)
        return OK; /* nothing to do: the file was deleted meanwhile (a marker, or a blob without a
                    * row) */
    if (fd < 0 || fstat(fd, &st) != 0) {
        log_error("store: cannot read the stored file '%s': %s", w->name, strerror(errno));
        if (fd >= 0)
            close(fd);
        return ERR_UNAVAILABLE;
    }
    enum err e = S_ISREG(st.st_mode) ? w->found(w->arg, w->name, fd, st.st_mtime) : OK;
    close(fd);
    return e;
}

static enum err visit_folder_entry(struct blob_walk *w, DIR *d, const struct dirent *entry,
                                   size_t length)
{
    int n = snprintf(w->name + length, sizeof w->name - length, "%s%s", length ? "/" : "",
                     entry->d_name);
    struct stat st;

    if (n < 0 || length + (size_t)n >= sizeof w->name)
        return ERR_UNAVAILABLE;
    if (w->deep && fstatat(dirfd(d), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISDIR(st.st_mode))
        return visit_files_below_folder(w, dirfd(d), entry->d_name, length + (size_t)n);
    return visit_blob_file(w, dirfd(d), entry->d_name);
}

static enum err visit_files_below_folder(struct blob_walk *w, int parent, const char *path,
                                         size_t length)
{
    int fd = openat(parent, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *entry;
    enum err e = OK;

    if (!d) {
        if (errno == ENOENT)
            return OK;
        log_error("store: cannot read the folder '%s': %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return ERR_UNAVAILABLE;
    }
    /* Skips markers and temporary files, whose names begin with a dot. */
    while (!e && (entry = readdir(d)))
        if (entry->d_name[0] != '.')
            e = visit_folder_entry(w, d, entry, length);
    closedir(d);
    return e;
}

static enum err visit_files_of_data_subfolder(const struct store *s, const char *below, bool deep,
                                              visit_blob_file_fn *found, void *arg)
{
    struct blob_walk w = { .found = found, .arg = arg, .deep = deep };
    char path[PATH_MAX];

    if (snprintf(path, sizeof path, "%s/%s", s->folder, below) >= (int)sizeof path)
        return ERR_UNAVAILABLE;
    return visit_files_below_folder(&w, AT_FDCWD, path, 0);
}

enum err blobs_visit_folder(const struct store *s, const char *below, visit_blob_file_fn *found,
                            void *arg)
{
    return visit_files_of_data_subfolder(s, below, true, found, arg);
}

/* --- remote blobs --------------------------------------------------------------------- */

struct remote_blob_walk {
    struct store *store;
    visit_blob_file_fn *found;
    void *arg;
};

/* Reads the blob without caching it, because a copy would evict copies that are in use. */
static enum err visit_remote_blob(void *arg, const struct stored_blob *name)
{
    const struct remote_blob_walk *w = arg;
    int64_t size;
    int fd;
    enum err e = remote_blob_open_temporary_copy(w->store, name->name, &fd, &size);

    if (e)
        return e == ERR_NOT_FOUND ? OK : e; /* no error if the blob was deleted after it was
                                             * listed */
    e = w->found(w->arg, name->name, fd, name->put_at);
    close(fd);
    return e;
}

static enum err visit_remote_marker(void *arg, const struct stored_blob *name)
{
    const struct remote_blob_walk *w = arg;
    char marker[PATH_MAX];

    blob_format_uncommitted_marker_name(name->name, marker, sizeof marker);
    return w->found(w->arg, marker, -1, name->put_at);
}

enum err blobs_visit_all(struct store *s, visit_blob_file_fn *found, void *arg)
{
    if (s->remote_blobs)
        return s->remote_blobs->list(s, -1, visit_remote_blob,
                                     &(struct remote_blob_walk){ s, found, arg });
    return visit_files_of_data_subfolder(s, "blobs", true, found, arg);
}

enum err uncommitted_blob_markers_visit_all(struct store *s, visit_blob_file_fn *found, void *arg)
{
    if (s->remote_blobs)
        return s->remote_blobs->list(s, 0, visit_remote_marker,
                                     &(struct remote_blob_walk){ s, found, arg });
    return visit_files_of_data_subfolder(s, "blobs/.new", false, found, arg);
}
