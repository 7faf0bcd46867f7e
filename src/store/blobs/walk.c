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

static bool hold_path(struct store *s, char path[PATH_MAX])
{
    return snprintf(path, PATH_MAX, "%s/backup.lock", s->folder) < PATH_MAX;
}

/* The server creates the lock file before the first backup, so that the server owns it. */
void blobs_make_hold(struct store *s)
{
    char path[PATH_MAX];
    int fd = hold_path(s, path) ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;

    if (fd >= 0 && folder_give_file(s->folder, fd))
        close(fd);
    else if (errno == EACCES && access(path, R_OK) != 0)
        log_warn("store: '%s' belongs to another user; delete it, because until then the server "
                 "cannot delete unused files",
                 path);
}

enum err blobs_hold(struct store *s, int *ret)
{
    char path[PATH_MAX];

    if (s->inside) {
        *ret = -1;
        return postgres_blobs_hold(s);
    }
    int fd = hold_path(s, path) ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;

    *ret = -1;
    if (fd < 0 && errno == EROFS) /* on a read-only file system nothing can be deleted */
        return OK;
    /* Root often makes backups, but the server must be able to open the file. */
    if (fd < 0 || !folder_give_file(s->folder, fd) || flock(fd, LOCK_SH) != 0) {
        log_error("store: cannot lock the files of '%s' against deletion: %s", s->folder,
                  strerror(errno));
        if (fd >= 0)
            close(fd);
        return ERR_UNAVAILABLE;
    }
    *ret = fd;
    return OK;
}

bool blobs_held(struct store *s)
{
    char path[PATH_MAX];

    if (s->inside)
        return postgres_blobs_held(s);
    int fd = hold_path(s, path) ? open(path, O_RDWR | O_CLOEXEC) : -1;

    if (fd < 0 && errno == EACCES) /* root created the file, for example with flock(1) */
        fd = open(path, O_RDONLY | O_CLOEXEC);
    /* If the file cannot be opened, assume that it is locked. */
    bool held = fd >= 0 ? flock(fd, LOCK_EX | LOCK_NB) != 0 : errno != ENOENT;

    if (fd >= 0)
        close(fd);
    return held;
}

enum err blob_open_once(struct store *s, const char *name, int *ret_fd, int64_t *ret_size)
{
    return s->inside ? blob_cache_read(s, name, ret_fd, ret_size)
                     : blob_open(s, name, ret_fd, ret_size);
}

struct blob_walk {
    blob_found *found;
    void *arg;
    char name[PATH_MAX]; /* relative to the start folder */
    bool deep;
};

static enum err walk_folder(struct blob_walk *w, int parent, const char *path, size_t length);

static enum err walk_file(struct blob_walk *w, int folder, const char *entry)
{
    struct stat st;
    int fd = openat(folder, entry, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0 && errno == ENOENT)
        return OK; /* deleted meanwhile: a marker of a committed row, or a blob without a row */
    if (fd < 0 || fstat(fd, &st) != 0) {
        log_error("store: cannot read '%s': %s", w->name, strerror(errno));
        if (fd >= 0)
            close(fd);
        return ERR_UNAVAILABLE;
    }
    enum err e = S_ISREG(st.st_mode) ? w->found(w->arg, w->name, fd, st.st_mtime) : OK;
    close(fd);
    return e;
}

static enum err walk_entry(struct blob_walk *w, DIR *d, const struct dirent *entry, size_t length)
{
    int n = snprintf(w->name + length, sizeof w->name - length, "%s%s", length ? "/" : "",
                     entry->d_name);
    struct stat st;

    if (n < 0 || length + (size_t)n >= sizeof w->name)
        return ERR_UNAVAILABLE;
    if (w->deep && fstatat(dirfd(d), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISDIR(st.st_mode))
        return walk_folder(w, dirfd(d), entry->d_name, length + (size_t)n);
    return walk_file(w, dirfd(d), entry->d_name);
}

static enum err walk_folder(struct blob_walk *w, int parent, const char *path, size_t length)
{
    int fd = openat(parent, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *entry;
    enum err e = OK;

    if (!d) {
        if (errno == ENOENT)
            return OK;
        log_error("store: cannot read '%s': %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return ERR_UNAVAILABLE;
    }
    /* Skips markers and temporary files, whose names begin with a dot. */
    while (!e && (entry = readdir(d)))
        if (entry->d_name[0] != '.')
            e = walk_entry(w, d, entry, length);
    closedir(d);
    return e;
}

static enum err walk_below(const struct store *s, const char *below, bool deep, blob_found *found,
                           void *arg)
{
    struct blob_walk w = { .found = found, .arg = arg, .deep = deep };
    char path[PATH_MAX];

    if (snprintf(path, sizeof path, "%s/%s", s->folder, below) >= (int)sizeof path)
        return ERR_UNAVAILABLE;
    return walk_folder(&w, AT_FDCWD, path, 0);
}

enum err blobs_walk_folder(const struct store *s, const char *below, blob_found *found, void *arg)
{
    return walk_below(s, below, true, found, arg);
}

/* --- blobs in the database ------------------------------------------------------------ */

struct inside_walk {
    struct store *store;
    blob_found *found;
    void *arg;
};

/* Reads the blob without caching it, because a copy would evict copies that are in use. */
static enum err inside_found(void *arg, const struct blob_name *name)
{
    const struct inside_walk *w = arg;
    int64_t size;
    int fd;
    enum err e = blob_cache_read(w->store, name->name, &fd, &size);

    if (e)
        return e == ERR_NOT_FOUND ? OK : e; /* the blob was deleted since it was listed */
    e = w->found(w->arg, name->name, fd, name->put_at);
    close(fd);
    return e;
}

static enum err inside_note_found(void *arg, const struct blob_name *name)
{
    const struct inside_walk *w = arg;
    char note[PATH_MAX];

    blob_note_name(name->name, note, sizeof note);
    return w->found(w->arg, note, -1, name->put_at);
}

enum err blobs_walk(struct store *s, blob_found *found, void *arg)
{
    if (s->inside)
        return postgres_blobs_each(s, -1, inside_found, &(struct inside_walk){ s, found, arg });
    return walk_below(s, "blobs", true, found, arg);
}

enum err blobs_walk_notes(struct store *s, blob_found *found, void *arg)
{
    if (s->inside)
        return postgres_blobs_each(s, 0, inside_note_found, &(struct inside_walk){ s, found, arg });
    return walk_below(s, "blobs/.new", false, found, arg);
}
