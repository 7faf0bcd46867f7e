/* cache.c - bounded cache of blobs as files, if the blobs are in the database or in object storage.
 *
 * A blob is copied into a file when it is first opened. A blob never changes, but another node may
 * delete it. So a copy is checked against the storage once per hour; its mtime is the time of the
 * last check. The atime is the time of the last open; it is set explicitly, because many file
 * systems are mounted with noatime. If the copies exceed the limit, a background thread deletes
 * those that were not opened for the longest time.
 *
 * The folder itself is the index, which survives a restart; so base/cache.h is not used here. The
 * folder never holds the only copy of a blob: all files in it may be deleted. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "store/internal.h"

enum {
    RECHECK_S = 3600, /* seconds after which a copy is checked again against the storage of the
                       * blobs */
    ATIME_RESOLUTION_S = 60, /* resolution of the access time, in seconds */
    STALE_PARTIAL_S = 3600,  /* a partial copy older than this (in s) was left by a crash */
    AGE_CLASSES = 512,
};

struct blob_cache {
    pthread_mutex_t lock;
    int64_t max_bytes; /* maximum size of all copies in bytes; 0 means no limit */
    int64_t bytes;     /* size of all cached copies in bytes, as far as this process knows */
    int64_t sweep_above_bytes; /* size in bytes: if .bytes exceeds it, adding a copy starts a
                                * sweep */
    bool is_swept;             /* whether a sweep (eviction of old copies) is running */
    pthread_t sweeper;
    bool has_sweeper; /* whether .sweeper is a thread that was started and must be joined */
    /* Whether the last sweep could not count all copies, and this was logged. */
    bool is_uncountable;
    _Atomic bool ending;
};

struct blob_cache *blob_cache_new(int64_t most)
{
    struct blob_cache *c = mem_new(sizeof *c);

    pthread_mutex_init(&c->lock, NULL);
    c->max_bytes = most;
    c->sweep_above_bytes = INT64_MIN;
    return c;
}

void blob_cache_free(struct blob_cache *c)
{
    if (!c)
        return;
    atomic_store(&c->ending, true);
    if (c->has_sweeper)
        pthread_join(c->sweeper, NULL);
    pthread_mutex_destroy(&c->lock);
    mem_free(c);
}

static enum err log_file_error(const char *verb, const char *path)
{
    int code = errno;

    log_error("store: cannot %s '%s' (cached file or its folder): %s", verb, path, strerror(code));
    return code == ENOSPC || code == EDQUOT ? ERR_STORAGE_FULL : ERR_UNAVAILABLE;
}

static bool build_cached_copy_path(const struct store *s, const char *name, char path[PATH_MAX])
{
    return snprintf(path, PATH_MAX, "%s/" BLOB_CACHE_FOLDER "/%s", s->folder, name) < PATH_MAX;
}

/* Removes folders that have become empty. If another thread adds a copy to such a folder at the
 * same time, rmdir fails, or rename_to_cached_copy creates the folder again. */
static void remove_empty_folders(const struct store *s, char path[PATH_MAX])
{
    size_t root = strlen(s->folder) + sizeof "/" BLOB_CACHE_FOLDER;

    for (char *end; (end = strrchr(path, '/')) && end > path + root;) {
        *end = '\0';
        if (rmdir(path) != 0)
            return;
    }
}

/* --- after a crash -------------------------------------------------------------------- */

static void remove_stale_partial_copies(const char *path)
{
    DIR *folder = opendir(path);
    const struct dirent *entry;
    struct stat st;

    while (folder && (entry = readdir(folder)))
        if (strncmp(entry->d_name, ".part-", 6) == 0 &&
            fstatat(dirfd(folder), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            st.st_mtime < time(NULL) - STALE_PARTIAL_S)
            unlinkat(dirfd(folder), entry->d_name, 0);
    if (folder)
        closedir(folder);
}

enum err blob_cache_open_folder(const struct store *s)
{
    char path[PATH_MAX];

    if (snprintf(path, sizeof path, "%s/" BLOB_CACHE_FOLDER, s->folder) >= (int)sizeof path)
        return ERR_UNAVAILABLE;
    enum err e = folder_create(path);
    if (e)
        return e;
    /* If root runs a tool, the new folder must get the owner of the data folder. */
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || !folder_chown_file(s->folder, fd))
        e = log_file_error("change the owner of", path);
    if (fd >= 0)
        close(fd);
    remove_stale_partial_copies(path);
    return e;
}

/* --- eviction ------------------------------------------------------------------------- */

/* Returns the age class of a cached copy. Copies are grouped into classes by age, which is cheaper
 * than sorting them. Each class spans an eighth more time than the class before it. */
static unsigned compute_age_class_of_copy(int64_t seconds)
{
    unsigned bits = 3;

    if (seconds < 8)
        return seconds < 0 ? 0 : (unsigned)seconds;
    while (seconds >> (bits + 1))
        bits++;
    return (bits - 2) * 8 + (unsigned)(seconds >> (bits - 3) & 7);
}

struct eviction_sweep {
    const struct store *store;
    int64_t now, total, bytes[AGE_CLASSES];
    unsigned oldest; /* newest age class to evict from; older classes are evicted completely */
    int64_t spare;   /* bytes to evict from the class `oldest` */
};

static enum err count_copy_in_age_class(void *arg, const char *name, int fd, time_t written)
{
    struct eviction_sweep *sweep = arg;
    struct stat st;

    (void)name, (void)written;
    if (fstat(fd, &st) == 0) {
        sweep->bytes[compute_age_class_of_copy(sweep->now - st.st_atime)] += st.st_size;
        sweep->total += st.st_size;
    }
    return atomic_load(&sweep->store->cache->ending) ? ERR_UNAVAILABLE : OK;
}

static enum err evict_copy_if_old_enough(void *arg, const char *name, int fd, time_t written)
{
    struct eviction_sweep *sweep = arg;
    char path[PATH_MAX];
    struct stat st;

    (void)written;
    if (fstat(fd, &st) != 0 || !build_cached_copy_path(sweep->store, name, path))
        return OK;
    unsigned class = compute_age_class_of_copy(sweep->now - st.st_atime);
    if (class < sweep->oldest || (class == sweep->oldest && sweep->spare <= 0))
        return OK;
    if (unlink(path) != 0)
        return OK; /* no error: the copy could not be deleted and stays counted */
    if (class == sweep->oldest)
        sweep->spare -= st.st_size;
    sweep->total -= st.st_size;
    remove_empty_folders(sweep->store, path);
    return atomic_load(&sweep->store->cache->ending) ? ERR_UNAVAILABLE : OK;
}

/* Chooses the age classes to evict, so that `left` bytes remain in the cache. */
static void choose_age_classes_to_evict(struct eviction_sweep *sweep, int64_t left)
{
    int64_t over = sweep->total - left;

    sweep->oldest = AGE_CLASSES;
    while (over > 0 && sweep->oldest > 0) {
        sweep->spare = over;
        over -= sweep->bytes[--sweep->oldest];
    }
}

/* Logs once that some copies could not be counted. blobs_visit_folder has already logged which file
 * could not be read. */
static void log_unreadable_copies(struct blob_cache *c, bool failed)
{
    if (failed && !c->is_uncountable && !atomic_load(&c->ending))
        log_warn("store: cannot read all files of the cache folder '%s'; the cache may use more "
                 "disk space than its limit",
                 BLOB_CACHE_FOLDER);
    c->is_uncountable = failed;
}

/* Evicts an eighth of the limit more than needed, so that many copies fit before the next sweep. */
static int64_t evict_old_copies(const struct store *s, int64_t most)
{
    struct eviction_sweep *sweep = mem_new(sizeof *sweep);

    sweep->store = s;
    sweep->now = time(NULL);
    enum err e = blobs_visit_folder(s, BLOB_CACHE_FOLDER, count_copy_in_age_class, sweep);
    if (sweep->total > most) {
        choose_age_classes_to_evict(sweep, most - most / 8);
        enum err removed =
            blobs_visit_folder(s, BLOB_CACHE_FOLDER, evict_copy_if_old_enough, sweep);
        e = e ? e : removed;
    }
    log_unreadable_copies(s->cache, e != OK);
    int64_t left = sweep->total;
    mem_free(sweep);
    return left;
}

static bool add_size_and_try_begin_eviction(struct blob_cache *c, int64_t size)
{
    pthread_mutex_lock(&c->lock);
    c->bytes += size;
    bool begins = c->max_bytes && !c->is_swept && c->bytes > c->sweep_above_bytes;
    if (begins) {
        c->is_swept = true;
        c->bytes = 0; /* copies added during the sweep may be counted twice until the next sweep */
    }
    pthread_mutex_unlock(&c->lock);
    return begins;
}

static void finish_eviction_of_cached_copies(struct blob_cache *c, int64_t left)
{
    pthread_mutex_lock(&c->lock);
    c->bytes += left;
    /* If copies cannot be deleted, wait until the cache has grown before the next sweep. */
    c->sweep_above_bytes = left > c->max_bytes ? left + c->max_bytes / 8 : c->max_bytes;
    c->is_swept = false;
    pthread_mutex_unlock(&c->lock);
}

static void *eviction_thread(void *arg)
{
    const struct store *s = arg;

    do
        finish_eviction_of_cached_copies(s->cache, evict_old_copies(s, s->cache->max_bytes));
    while (
        add_size_and_try_begin_eviction(s->cache, 0)); /* repeat if copies were added meanwhile */
    return NULL;
}

/* Starts the sweeper thread if the cache is too large. add_size_and_try_begin_eviction returns true
 * only after the previous sweep, and to one thread. The new sweeper needs the lock to end its
 * sweep, so no other thread starts a sweeper before has_sweeper is set. */
static void add_copy_size_and_evict(struct store *s, int64_t size)
{
    struct blob_cache *c = s->cache;

    if (!add_size_and_try_begin_eviction(c, size))
        return;
    if (c->has_sweeper)
        pthread_join(c->sweeper, NULL);
    pthread_mutex_lock(&c->lock);
    bool begun = pthread_create(&c->sweeper, NULL, eviction_thread, s) == 0;
    c->has_sweeper = begun;
    pthread_mutex_unlock(&c->lock);
    if (!begun)
        eviction_thread(s);
}

void blob_cache_delete(const struct store *s, const char *name)
{
    char path[PATH_MAX];
    struct stat st;

    if (!build_cached_copy_path(s, name, path) || lstat(path, &st) != 0 || unlink(path) != 0)
        return;
    remove_empty_folders(s, path);
    pthread_mutex_lock(&s->cache->lock);
    s->cache->bytes -= st.st_size;
    pthread_mutex_unlock(&s->cache->lock);
}

/* If the file name exists, tries the next number: a killed process may have left the file, because
 * process ids repeat in containers. */
static int create_partial_copy(struct store *s, char part[PATH_MAX])
{
    int fd;

    do {
        uint64_t count = atomic_fetch_add(&s->blobs, 1);

        if (snprintf(part, PATH_MAX, "%s/" BLOB_CACHE_FOLDER "/.part-%lx-%lx", s->folder,
                     (long)getpid(), (long)count) >= PATH_MAX)
            return -1;
        fd = open(part, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    } while (fd < 0 && errno == EEXIST);
    return fd;
}

/* Creates the folder only if rename fails, because most copies go into existing folders. Retries,
 * because remove_empty_folders may remove the folder again. */
static bool rename_to_cached_copy(const char *part, const char *path)
{
    enum { TRIES = 4 };
    char folder[PATH_MAX];

    strcpy(folder, path);
    *strrchr(folder, '/') = '\0';
    for (int i = 0; i < TRIES; i++) {
        if (rename(part, path) == 0)
            return true;
        if (errno != ENOENT || folder_create(folder))
            return false;
    }
    return false;
}

enum err remote_blob_open_temporary_copy(struct store *s, const char *name, int *ret_fd,
                                         int64_t *ret_size)
{
    char part[PATH_MAX];
    int fd = create_partial_copy(s, part);

    if (fd < 0)
        return log_file_error("create a file in", s->folder);
    unlink(part);
    enum err e = s->remote_blobs->read(s, name, fd, ret_size);
    if (!e && lseek(fd, 0, SEEK_SET) != 0)
        e = log_file_error("read", part);
    if (e)
        close(fd);
    else
        *ret_fd = fd;
    return e;
}

/* Syncs the copy before it is renamed: after a power cut the copy is complete or absent. */
static enum err create_cached_copy(struct store *s, const char *name, const char *path, int *ret_fd,
                                   int64_t *ret_size)
{
    char part[PATH_MAX];
    int fd = create_partial_copy(s, part);

    if (fd < 0)
        return log_file_error("create a file in", s->folder);
    enum err e = s->remote_blobs->read(s, name, fd, ret_size);
    if (!e && (fdatasync(fd) != 0 || lseek(fd, 0, SEEK_SET) != 0))
        e = log_file_error("write", part);
    if (e || !rename_to_cached_copy(part, path))
        unlink(part); /* delete the partial copy; the caller of this function may still read it by
                       * its descriptor */
    if (e) {
        close(fd);
        return e;
    }
    add_copy_size_and_evict(s, *ret_size);
    *ret_fd = fd;
    return OK;
}

/* Opens a cached copy. Returns ERR_NOT_FOUND if there is no copy or it is no regular file. */
static enum err open_cached_copy(const char *path, int *ret_fd, struct stat *ret)
{
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0)
        return errno == ENOENT ? ERR_NOT_FOUND : log_file_error("open", path);
    if (fstat(fd, ret) != 0 || !S_ISREG(ret->st_mode)) {
        close(fd);
        return ERR_NOT_FOUND;
    }
    *ret_fd = fd;
    return OK;
}

static bool copy_was_checked_recently(const struct stat *st)
{
    return st->st_mtime > time(NULL) - RECHECK_S;
}

static void update_access_time(int fd, const struct stat *st)
{
    const struct timespec times[2] = { { .tv_nsec = UTIME_NOW }, { .tv_nsec = UTIME_OMIT } };

    if (st->st_atime < time(NULL) - ATIME_RESOLUTION_S)
        futimens(fd, times);
}

/* Checks a cached copy against its storage if the last check is too old. If the blob was deleted or
 * differs, deletes the copy and returns ERR_NOT_FOUND. While the object storage does not answer,
 * copies are valid without a check. */
static enum err check_cached_copy(struct store *s, const char *name, int fd, const struct stat *st)
{
    int64_t size;

    if (copy_was_checked_recently(st)) {
        update_access_time(fd, st);
        return OK;
    }
    enum err e = s->remote_blobs->read(s, name, -1, &size);
    if (!e && size != st->st_size)
        e = ERR_NOT_FOUND;
    if (e == ERR_NOT_FOUND)
        blob_cache_delete(s, name);
    if (!e)
        futimens(fd, NULL);
    if (e == ERR_FILES_UNAVAILABLE)
        update_access_time(fd, st);
    return e == ERR_FILES_UNAVAILABLE ? OK : e;
}

bool blob_cache_open_recently_checked(const struct store *s, const char *name, int *ret_fd,
                                      int64_t *ret_size)
{
    char path[PATH_MAX];
    struct stat st;
    int fd;

    if (!build_cached_copy_path(s, name, path) || open_cached_copy(path, &fd, &st))
        return false;
    if (!copy_was_checked_recently(&st)) {
        close(fd);
        return false;
    }
    update_access_time(fd, &st);
    *ret_fd = fd;
    *ret_size = st.st_size;
    return true;
}

enum err blob_cache_open(struct store *s, const char *name, int *ret_fd, int64_t *ret_size)
{
    char path[PATH_MAX];
    struct stat st;
    int fd;

    if (!build_cached_copy_path(s, name, path))
        return ERR_NOT_FOUND;
    enum err e = open_cached_copy(path, &fd, &st);
    if (e)
        return e == ERR_NOT_FOUND ? create_cached_copy(s, name, path, ret_fd, ret_size) : e;
    e = check_cached_copy(s, name, fd, &st);
    if (!e) {
        *ret_fd = fd;
        *ret_size = st.st_size;
        return OK;
    }
    close(fd);
    return e == ERR_NOT_FOUND ? create_cached_copy(s, name, path, ret_fd, ret_size) : e;
}
