/* cache.c - copies of blobs that are in the database, in a folder with a bound.
 *
 * Who opens a blob that has no copy reads it from the database into one. A blob never changes, but
 * another server may delete it: a copy's time of change says when the database was last asked
 * whether it is still there, and after an hour it is asked again. The time of access says when the
 * copy was last opened; it is set here, because file systems are often told not to keep it. When
 * the copies take more than they may, a thread of its own deletes those that were opened longest
 * ago: who brings a new one does not wait for it.
 *
 * This is not a struct cache: the folder is the table, which outlives the process.
 *
 * The folder is none of those that hold the only copy of something: all in it may be deleted. */
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
    CHECKED_S = 3600, /* so long a copy is used without asking the database */
    OPENED_S = 60,    /* so exact is the time of access */
    PART_S = 3600,    /* so old a half-written copy is one that a crash left */
    AGE_CLASSES = 512,
};

struct blob_cache {
    pthread_mutex_t lock;
    int64_t most;   /* bytes; 0: any */
    int64_t bytes;  /* of the copies, as far as this process knows */
    int64_t enough; /* above it copies are counted, and some go; at first with any new one */
    bool is_swept;  /* by one thread at a time: … */
    pthread_t sweeper;
    bool has_sweeper;    /* … which is to be joined */
    bool is_uncountable; /* and that was said */
    _Atomic bool ending;
};

struct blob_cache *blob_cache_new(int64_t most)
{
    struct blob_cache *c = mem_new(sizeof *c);

    pthread_mutex_init(&c->lock, NULL);
    c->most = most;
    c->enough = INT64_MIN;
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

static enum err cache_failed(const char *verb, const char *path)
{
    int code = errno;

    log_error("store: cannot %s '%s': %s", verb, path, strerror(code));
    return code == ENOSPC || code == EDQUOT ? ERR_STORAGE_FULL : ERR_UNAVAILABLE;
}

static bool copy_path(const struct store *s, const char *name, char path[PATH_MAX])
{
    return snprintf(path, PATH_MAX, "%s/" BLOB_CACHE "/%s", s->folder, name) < PATH_MAX;
}

/* Folders in which the last copy was. Somebody may put one there at the same time: then it is not
 * empty, or they make it again (name_copy). */
static void remove_empty_folders(const struct store *s, char path[PATH_MAX])
{
    size_t root = strlen(s->folder) + sizeof "/" BLOB_CACHE;

    for (char *end; (end = strrchr(path, '/')) && end > path + root;) {
        *end = '\0';
        if (rmdir(path) != 0)
            return;
    }
}

/* --- what a crash left ---------------------------------------------------------------- */

static void remove_old_parts(const char *path)
{
    DIR *folder = opendir(path);
    const struct dirent *entry;
    struct stat st;

    while (folder && (entry = readdir(folder)))
        if (strncmp(entry->d_name, ".part-", 6) == 0 &&
            fstatat(dirfd(folder), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            st.st_mtime < time(NULL) - PART_S)
            unlinkat(dirfd(folder), entry->d_name, 0);
    if (folder)
        closedir(folder);
}

enum err blob_cache_open_folder(const struct store *s)
{
    char path[PATH_MAX];

    if (snprintf(path, sizeof path, "%s/" BLOB_CACHE, s->folder) >= (int)sizeof path)
        return ERR_UNAVAILABLE;
    enum err e = folder_make(path);
    if (e)
        return e;
    /* A tool that root runs must not keep it from the server. */
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || !folder_give_file(s->folder, fd))
        e = cache_failed("give away", path);
    if (fd >= 0)
        close(fd);
    remove_old_parts(path);
    return e;
}

/* --- the bound ------------------------------------------------------------------------ */

/* Classes of ages, each an eighth longer than the one before: what is how old is known without
 * a list of all files. */
static unsigned age_class(int64_t seconds)
{
    unsigned bits = 3;

    if (seconds < 8)
        return seconds < 0 ? 0 : (unsigned)seconds;
    while (seconds >> (bits + 1))
        bits++;
    return (bits - 2) * 8 + (unsigned)(seconds >> (bits - 3) & 7);
}

struct cache_sweep {
    const struct store *store;
    int64_t now, total, bytes[AGE_CLASSES];
    unsigned oldest; /* files of older classes go, and of this one … */
    int64_t spare;   /* … so many bytes */
};

static enum err count_copy(void *arg, const char *name, int fd, time_t written)
{
    struct cache_sweep *sweep = arg;
    struct stat st;

    (void)name, (void)written;
    if (fstat(fd, &st) == 0) {
        sweep->bytes[age_class(sweep->now - st.st_atime)] += st.st_size;
        sweep->total += st.st_size;
    }
    return atomic_load(&sweep->store->cache->ending) ? ERR_UNAVAILABLE : OK;
}

static enum err remove_copy(void *arg, const char *name, int fd, time_t written)
{
    struct cache_sweep *sweep = arg;
    char path[PATH_MAX];
    struct stat st;

    (void)written;
    if (fstat(fd, &st) != 0 || !copy_path(sweep->store, name, path))
        return OK;
    unsigned class = age_class(sweep->now - st.st_atime);
    if (class < sweep->oldest || (class == sweep->oldest && sweep->spare <= 0))
        return OK;
    if (unlink(path) != 0)
        return OK; /* it stays counted */
    if (class == sweep->oldest)
        sweep->spare -= st.st_size;
    sweep->total -= st.st_size;
    remove_empty_folders(sweep->store, path);
    return atomic_load(&sweep->store->cache->ending) ? ERR_UNAVAILABLE : OK;
}

/* Which files have to go for so few bytes to be left. */
static void choose_oldest(struct cache_sweep *sweep, int64_t left)
{
    int64_t over = sweep->total - left;

    sweep->oldest = AGE_CLASSES;
    while (over > 0 && sweep->oldest > 0) {
        sweep->spare = over;
        over -= sweep->bytes[--sweep->oldest];
    }
}

/* The walk has said which file it was; it is said once what follows from it. */
static void note_uncountable(struct blob_cache *c, bool failed)
{
    if (failed && !c->is_uncountable && !atomic_load(&c->ending))
        log_warn("store: not all copies in " BLOB_CACHE " can be looked at; they may take more "
                 "than they should");
    c->is_uncountable = failed;
}

/* An eighth more than has to goes, so that this is done once for many new copies. */
static int64_t cache_sweep(const struct store *s, int64_t most)
{
    struct cache_sweep *sweep = mem_new(sizeof *sweep);

    sweep->store = s;
    sweep->now = time(NULL);
    enum err e = blobs_walk_folder(s, BLOB_CACHE, count_copy, sweep);
    if (sweep->total > most) {
        choose_oldest(sweep, most - most / 8);
        enum err removed = blobs_walk_folder(s, BLOB_CACHE, remove_copy, sweep);
        e = e ? e : removed;
    }
    note_uncountable(s->cache, e != OK);
    int64_t left = sweep->total;
    mem_free(sweep);
    return left;
}

static bool cache_begin_sweep(struct blob_cache *c, int64_t size)
{
    pthread_mutex_lock(&c->lock);
    c->bytes += size;
    bool begins = c->most && !c->is_swept && c->bytes > c->enough;
    if (begins) {
        c->is_swept = true;
        c->bytes = 0; /* what comes meanwhile may be counted twice, until the next time */
    }
    pthread_mutex_unlock(&c->lock);
    return begins;
}

static void cache_end_sweep(struct blob_cache *c, int64_t left)
{
    pthread_mutex_lock(&c->lock);
    c->bytes += left;
    /* Copies that cannot be deleted are not tried again at every new one. */
    c->enough = left > c->most ? left + c->most / 8 : c->most;
    c->is_swept = false;
    pthread_mutex_unlock(&c->lock);
}

static void *sweep_run(void *arg)
{
    const struct store *s = arg;

    do
        cache_end_sweep(s->cache, cache_sweep(s, s->cache->most));
    while (cache_begin_sweep(s->cache, 0)); /* for those that came meanwhile */
    return NULL;
}

/* Only who has begun a sweep gets here, so the thread of the one before is at its end. The new
 * one ends its sweep with the lock, so nobody begins another before this one is noted. */
static void cache_added(struct store *s, int64_t size)
{
    struct blob_cache *c = s->cache;

    if (!cache_begin_sweep(c, size))
        return;
    if (c->has_sweeper)
        pthread_join(c->sweeper, NULL);
    pthread_mutex_lock(&c->lock);
    bool begun = pthread_create(&c->sweeper, NULL, sweep_run, s) == 0;
    c->has_sweeper = begun;
    pthread_mutex_unlock(&c->lock);
    if (!begun)
        sweep_run(s);
}

void blob_cache_drop(const struct store *s, const char *name)
{
    char path[PATH_MAX];
    struct stat st;

    if (!copy_path(s, name, path) || lstat(path, &st) != 0 || unlink(path) != 0)
        return;
    remove_empty_folders(s, path);
    pthread_mutex_lock(&s->cache->lock);
    s->cache->bytes -= st.st_size;
    pthread_mutex_unlock(&s->cache->lock);
}

/* --- one copy ------------------------------------------------------------------------- */

/* One of the same number may be there that a killed process left: in containers it had the same id.
 */
static int make_part(struct store *s, char part[PATH_MAX])
{
    int fd;

    do {
        uint64_t count = atomic_fetch_add(&s->blobs, 1);

        if (snprintf(part, PATH_MAX, "%s/" BLOB_CACHE "/.part-%lx-%lx", s->folder, (long)getpid(),
                     (long)count) >= PATH_MAX)
            return -1;
        fd = open(part, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    } while (fd < 0 && errno == EEXIST);
    return fd;
}

/* Most copies go where others are, so folders are made when one is missed; and again, when it was
 * empty for too long. */
static bool name_copy(const char *part, const char *path)
{
    enum { TRIES = 4 };
    char folder[PATH_MAX];

    strcpy(folder, path);
    *strrchr(folder, '/') = '\0';
    for (int i = 0; i < TRIES; i++) {
        if (rename(part, path) == 0)
            return true;
        if (errno != ENOENT || folder_make(folder))
            return false;
    }
    return false;
}

enum err blob_cache_read(struct store *s, const char *name, int *ret_fd, int64_t *ret_size)
{
    char part[PATH_MAX];
    int fd = make_part(s, part);

    if (fd < 0)
        return cache_failed("make a file in", s->folder);
    unlink(part);
    enum err e = postgres_blob_read(s, name, fd, ret_size);
    if (!e && lseek(fd, 0, SEEK_SET) != 0)
        e = cache_failed("read", part);
    if (e)
        close(fd);
    else
        *ret_fd = fd;
    return e;
}

/* On the disk before it has its name: after a power cut a copy is whole or not there. */
static enum err copy_make(struct store *s, const char *name, const char *path, int *ret_fd,
                          int64_t *ret_size)
{
    char part[PATH_MAX];
    int fd = make_part(s, part);

    if (fd < 0)
        return cache_failed("make a file in", s->folder);
    enum err e = postgres_blob_read(s, name, fd, ret_size);
    if (!e && (fdatasync(fd) != 0 || lseek(fd, 0, SEEK_SET) != 0))
        e = cache_failed("write", part);
    if (e || !name_copy(part, path))
        unlink(part); /* one without a name serves this once */
    if (e) {
        close(fd);
        return e;
    }
    cache_added(s, *ret_size);
    *ret_fd = fd;
    return OK;
}

/* ERR_NOT_FOUND: what is there is no copy of it. */
static enum err copy_open(const char *path, int *ret_fd, struct stat *ret)
{
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0)
        return errno == ENOENT ? ERR_NOT_FOUND : cache_failed("open", path);
    if (fstat(fd, ret) != 0 || !S_ISREG(ret->st_mode)) {
        close(fd);
        return ERR_NOT_FOUND;
    }
    *ret_fd = fd;
    return OK;
}

static bool is_checked(const struct stat *st)
{
    return st->st_mtime > time(NULL) - CHECKED_S;
}

static void note_opened(int fd, const struct stat *st)
{
    const struct timespec times[2] = { { .tv_nsec = UTIME_NOW }, { .tv_nsec = UTIME_OMIT } };

    if (st->st_atime < time(NULL) - OPENED_S)
        futimens(fd, times);
}

/* A copy that the database was not asked about lately is as good as none when the blob is gone. */
static enum err copy_check(struct store *s, const char *name, int fd, const struct stat *st)
{
    int64_t size;

    if (is_checked(st)) {
        note_opened(fd, st);
        return OK;
    }
    enum err e = postgres_blob_read(s, name, -1, &size);
    if (!e && size != st->st_size)
        e = ERR_NOT_FOUND;
    if (e == ERR_NOT_FOUND)
        blob_cache_drop(s, name);
    if (!e)
        futimens(fd, NULL);
    return e;
}

bool blob_cache_open_near(const struct store *s, const char *name, int *ret_fd, int64_t *ret_size)
{
    char path[PATH_MAX];
    struct stat st;
    int fd;

    if (!copy_path(s, name, path) || copy_open(path, &fd, &st))
        return false;
    if (!is_checked(&st)) {
        close(fd);
        return false;
    }
    note_opened(fd, &st);
    *ret_fd = fd;
    *ret_size = st.st_size;
    return true;
}

enum err blob_cache_open(struct store *s, const char *name, int *ret_fd, int64_t *ret_size)
{
    char path[PATH_MAX];
    struct stat st;
    int fd;

    if (!copy_path(s, name, path))
        return ERR_NOT_FOUND;
    enum err e = copy_open(path, &fd, &st);
    if (e)
        return e == ERR_NOT_FOUND ? copy_make(s, name, path, ret_fd, ret_size) : e;
    e = copy_check(s, name, fd, &st);
    if (!e) {
        *ret_fd = fd;
        *ret_size = st.st_size;
        return OK;
    }
    close(fd);
    return e == ERR_NOT_FOUND ? copy_make(s, name, path, ret_fd, ret_size) : e;
}
