/* blobs.c - stores each blob as a file under <folder>/blobs.
 *
 * A blob is written under a temporary name, synced and renamed: after a crash it is complete or
 * absent. Before that, an empty marker file with the blob's name is created in blobs/.new; it stays
 * until the row of the blob is committed. So reading that small folder is enough to find all blobs
 * without a row.
 *
 * If blobs are in the database (blobs/database.c) or in object storage (blobs/objects.c),
 * blobs/cache.c stores copies of some blobs as files. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/io.h"
#include "base/log.h"
#include "store/internal.h"
#include "store/backup/write_pacing.h"

/* Maximum length of a blob name, which is also a file name: the name of the blob's marker file in
 * blobs/.new, with '+' for each slash. */
enum { MAX_BLOB_NAME = 255 };
static const char MARKER_SLASH = '+';

static bool is_blob_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
}

/* A blob name has at least two segments, an area and a name, none of which begins with a dot. */
bool is_blob_name(const char *name)
{
    size_t segments = 0, n = 0;

    if (strlen(name) > MAX_BLOB_NAME)
        return false;
    for (const char *p = name;; p++) {
        if (*p && *p != '/') {
            if (!is_blob_name_char(*p) || (n == 0 && *p == '.'))
                return false;
            n++;
            continue;
        }
        if (n == 0)
            return false;
        segments++;
        n = 0;
        if (!*p)
            return segments >= 2;
    }
}

static enum err build_blob_path(struct store *s, const char *name, char path[PATH_MAX])
{
    if (!is_blob_name(name)) {
        log_warn("store: '%s' is not a valid name of a stored file", name);
        return ERR_NOT_FOUND;
    }
    if (snprintf(path, PATH_MAX, "%s/blobs/%s", s->folder, name) >= PATH_MAX)
        return ERR_NOT_FOUND;
    return OK;
}

void blob_format_uncommitted_marker_name(const char *blob, char *out, size_t size)
{
    snprintf(out, size, "%s", blob);
    for (char *p = out; *p; p++)
        if (*p == '/')
            *p = MARKER_SLASH;
}

static void convert_marker_name_to_blob_name(char *marker)
{
    for (char *p = marker; *p; p++)
        if (*p == MARKER_SLASH)
            *p = '/';
}

void blob_name_from_uncommitted_marker(const char *marker, char *out, size_t size)
{
    snprintf(out, size, "%s", marker);
    convert_marker_name_to_blob_name(out);
}

bool is_uncommitted_blob_marker_name(const char *marker)
{
    char name[MAX_BLOB_NAME + 2];

    snprintf(name, sizeof name, "%s", marker);
    convert_marker_name_to_blob_name(name);
    return !strchr(marker, '/') && is_blob_name(name);
}

static enum err build_path_of_blob_marker(struct store *s, const char *name, char path[PATH_MAX])
{
    int n = snprintf(path, PATH_MAX, "%s/blobs/.new/", s->folder);

    if (!is_blob_name(name) || n < 0 || n + MAX_BLOB_NAME >= PATH_MAX)
        return ERR_NOT_FOUND;
    blob_format_uncommitted_marker_name(name, path + n, PATH_MAX - (size_t)n);
    return OK;
}

static enum err log_file_error(const char *what, const char *path)
{
    int code = errno;

    if (code == ENOENT)
        return ERR_NOT_FOUND;
    bool full = code == ENOSPC || code == EDQUOT;
    if (!full || disk_full_message_may_be_logged())
        log_error("store: cannot %s '%s' (file or folder): %s", what, path, strerror(code));
    return full ? ERR_STORAGE_FULL : ERR_UNAVAILABLE;
}

static void remove_partial_files(const char *path)
{
    DIR *folder = opendir(path);
    struct dirent *entry;

    while (folder && (entry = readdir(folder)))
        if (strncmp(entry->d_name, ".part-", 6) == 0)
            unlinkat(dirfd(folder), entry->d_name, 0);
    if (folder)
        closedir(folder);
}

enum err blobs_open_folder(struct store *s)
{
    char path[PATH_MAX];

    if (snprintf(path, sizeof path, "%s/" RESTORE_MARKER_FILE, s->folder) >= (int)sizeof path)
        return ERR_UNAVAILABLE;
    if (access(path, F_OK) == 0) {
        log_error("store: a restore into '%s' was interrupted; empty the folder and restore again. "
                  "If the backup is damaged, 'guildhall restore FILE --salvage' restores all "
                  "undamaged files",
                  s->folder);
        return ERR_UNAVAILABLE;
    }
    snprintf(path, sizeof path, "%s/blobs", s->folder);
    enum err e = folder_create(path);
    if (!e && s->lock >= 0)
        remove_partial_files(path);
    if (!e)
        blobs_create_deletion_lock_file(s);
    if (!e && s->remote_blobs)
        e = blob_cache_open_folder(s);
    if (snprintf(path, sizeof path, "%s/blobs/.new", s->folder) >= (int)sizeof path)
        return ERR_UNAVAILABLE;
    return e ? e : folder_create(path);
}

static enum err write_synced_file(const char *path, struct str bytes)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    if (fd < 0)
        return log_file_error("create", path);
    enum err e = write_all_bytes(fd, bytes) && fsync(fd) == 0 ? OK : log_file_error("write", path);
    if (close(fd) != 0 && !e)
        e = log_file_error("write", path);
    return e;
}

/* Creates the folder only if rename fails, because most blobs go into existing folders. */
static enum err rename_blob_and_sync_folder(const char *from, const char *to)
{
    char folder[PATH_MAX];

    strcpy(folder, to);
    *strrchr(folder, '/') = 0;
    if (rename(from, to) != 0) {
        if (errno != ENOENT)
            return log_file_error("rename a file to", to);
        enum err e = folder_create(folder);
        if (e)
            return e;
        if (rename(from, to) != 0)
            return log_file_error("rename a file to", to);
    }
    return sync_folder_to_disk(folder) ? OK : log_file_error("sync", folder);
}

/* Creates the marker file of a blob. No sync is needed: the file system writes the marker to disk
 * before the rename of the blob, which is synced. */
static enum err create_blob_marker(struct store *s, const char *name)
{
    char path[PATH_MAX];
    enum err e = build_path_of_blob_marker(s, name, path);

    if (e)
        return e;
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return log_file_error("create", path);
    close(fd);
    return OK;
}

/* Formats a temporary file name, which contains the process id and a counter, so that it is unique
 * even if nodes share the folder. */
static bool format_temporary_blob_name(struct store *s, char part[PATH_MAX])
{
    uint64_t count = atomic_fetch_add(&s->blobs, 1);

    return snprintf(part, PATH_MAX, "%s/blobs/.part-%lx-%lx", s->folder, (long)getpid(),
                    (long)count) < PATH_MAX;
}

static enum err write_blob_file(struct store *s, const char *name, const char *path,
                                struct str bytes)
{
    char part[PATH_MAX];
    enum err e = create_blob_marker(s, name);

    if (e)
        return e;
    if (!format_temporary_blob_name(s, part))
        return ERR_NOT_FOUND;
    e = write_synced_file(part, bytes);
    if (!e)
        e = rename_blob_and_sync_folder(part, path);
    if (e)
        unlink(part);
    return e;
}

enum err blob_put(struct store *s, const char *name, struct str bytes)
{
    char path[PATH_MAX];
    enum err e = build_blob_path(s, name, path);

    if (!e && s->remote_blobs) {
        blob_cache_delete(s, name); /* delete the cached copy of an older blob with this name */
        return s->remote_blobs->put(s, name, bytes);
    }
    if (!e)
        e = write_blob_file(s, name, path, bytes);
    if (e == ERR_STORAGE_FULL)
        store_set_disk_full(s);
    return e;
}

bool blobs_are_remote(const struct store *s)
{
    return s->remote_blobs;
}

bool blob_open_without_network(struct store *s, const char *name, int *ret_fd, int64_t *ret_size)
{
    if (s->remote_blobs)
        return is_blob_name(name) && blob_cache_open_recently_checked(s, name, ret_fd, ret_size);
    return blob_open(s, name, ret_fd, ret_size) == OK;
}

enum err blob_open(struct store *s, const char *name, int *ret_fd, int64_t *ret_size)
{
    char path[PATH_MAX];
    struct stat st;
    enum err e = build_blob_path(s, name, path);

    if (!e && s->remote_blobs)
        return blob_cache_open(s, name, ret_fd, ret_size);
    if (e)
        return e;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return log_file_error("open", path);
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        return ERR_NOT_FOUND;
    }
    *ret_fd = fd;
    *ret_size = st.st_size;
    return OK;
}

/* Logs a damaged blob at most once a minute, because any client may request it repeatedly. */
static void log_damaged_blob(struct store *s, const char *name, int64_t size, int64_t found)
{
    static _Atomic uint64_t last_name, last_ns;
    uint64_t hash = hash_str(str_of(name)), now = (uint64_t)monotonic_ns();
    char found_text[64] = "is missing";

    if (atomic_load(&last_name) == hash && now - atomic_load(&last_ns) < 60 * UINT64_C(1000000000))
        return;
    atomic_store(&last_name, hash);
    atomic_store(&last_ns, now);
    if (found >= 0)
        snprintf(found_text, sizeof found_text, "has %lld bytes instead of %lld", (long long)found,
                 (long long)size);
    log_error("store: the file '%s/blobs/%s' %s; restore a backup into another folder (guildhall "
              "restore FILE --data DIR) and copy the file from there",
              s->folder, name, found_text);
}

enum err blob_open_and_check_size(struct store *s, const char *name, int64_t size, int *ret_fd,
                                  int64_t *ret_size)
{
    int64_t found = -1;
    int fd = -1;
    enum err e = blob_open(s, name, &fd, &found);

    if (!e && (size < 0 || size == found)) {
        *ret_fd = fd;
        *ret_size = found;
        return OK;
    }
    if (e && e != ERR_NOT_FOUND)
        return e;
    if (!e)
        close(fd);
    atomic_fetch_add_explicit(&s->damaged_files, 1, memory_order_relaxed);
    log_damaged_blob(s, name, size, e ? -1 : found);
    return ERR_FILE_DAMAGED;
}

void blob_compute_digest(struct str bytes, char ret[BLOB_DIGEST_SIZE])
{
    unsigned char digest[crypto_generichash_BYTES];

    crypto_generichash(digest, sizeof digest, (const unsigned char *)bytes.p, bytes.n, NULL, 0);
    sodium_bin2hex(ret, BLOB_DIGEST_SIZE, digest, sizeof digest);
}

enum err blob_mark_row_committed(struct store *s, const char *name)
{
    char path[PATH_MAX];
    enum err e = build_path_of_blob_marker(s, name, path);

    if (!e && s->remote_blobs)
        return s->remote_blobs->set_committed(s, name, true);
    if (!e && unlink(path) != 0 && errno != ENOENT)
        e = log_file_error("delete", path);
    return e;
}

enum err blob_delete(struct store *s, const char *name)
{
    char path[PATH_MAX];
    enum err e = build_blob_path(s, name, path);

    if (e)
        return e;
    if (s->remote_blobs) {
        e = s->remote_blobs->delete (s, name);
        blob_cache_delete(s, name);
        return e;
    }
    if (unlink(path) != 0)
        e = log_file_error("delete", path);
    enum err marker_error = e && e != ERR_NOT_FOUND ? OK : blob_mark_row_committed(s, name);
    return e ? e : marker_error;
}

/* --- blobs whose database row is not committed ------------------------------------------ */

/* Compares file timestamps with a precise clock, because time() may be up to a second behind. */
static bool blob_file_is_older_than(int folder, const char *name, int64_t seconds)
{
    struct timespec now;
    struct stat st;

    clock_gettime(CLOCK_REALTIME, &now);
    return fstatat(folder, name, &st, 0) == 0 && st.st_mtime <= now.tv_sec - seconds;
}

struct uncommitted_list {
    void (*found)(void *arg, const char *name);
    void *arg;
};

static enum err visit_uncommitted_blob(void *arg, const struct stored_blob *name)
{
    const struct uncommitted_list *w = arg;

    w->found(w->arg, name->name);
    return OK;
}

enum err blobs_list_uncommitted(struct store *s, int64_t seconds,
                                void (*found)(void *arg, const char *name), void *arg)
{
    char path[PATH_MAX];
    struct dirent *entry;

    if (s->remote_blobs)
        return s->remote_blobs->list(s, seconds, visit_uncommitted_blob,
                                     &(struct uncommitted_list){ found, arg });
    if (snprintf(path, sizeof path, "%s/blobs/.new", s->folder) >= (int)sizeof path)
        return ERR_UNAVAILABLE;
    DIR *folder = opendir(path);
    if (!folder)
        return log_file_error("read", path);
    while ((entry = readdir(folder))) {
        if (entry->d_name[0] == '.' ||
            !blob_file_is_older_than(dirfd(folder), entry->d_name, seconds))
            continue;
        convert_marker_name_to_blob_name(entry->d_name);
        found(arg, entry->d_name);
    }
    closedir(folder);
    return OK;
}
