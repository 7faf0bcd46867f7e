/* restore.c - a backup read again: to look whether it is whole, or into an empty folder. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "store/archive.h"
#include "store/backup.h"
#include "store/increment.h"
#include "store/internal.h"

static bool ends_with(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);

    return n > m && strcmp(name + n - m, end) == 0;
}

static bool is_key_name(const char *name)
{
    return !strchr(name, '/') && name[0] != '.' &&
           (ends_with(name, ".key") || ends_with(name, ".pem"));
}

/* A backup may come from anywhere: it puts files where ours are, and nowhere else. */
static bool is_archive_name(const char *name)
{
    if (strcmp(name, "guildhall.db") == 0 || is_key_name(name))
        return true;
    if (strncmp(name, "blobs/.new/", 11) == 0)
        return is_note_name(name + 11);
    return strncmp(name, "blobs/", 6) == 0 && is_blob_name(name + 6);
}

/* A file, or a folder of increments. */
struct backup_source {
    struct archive archive;
    struct increment *increment;
};

static bool is_folder(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static enum err source_open(struct backup_source *b, const char *path, int64_t number)
{
    if (is_folder(path))
        return increment_open(path, number, &b->increment);
    if (!number)
        return archive_open(&b->archive, path);
    log_error("backup: '%s' is one backup; numbers are for a folder of them", path);
    return ERR_BAD_REQUEST;
}

static enum err source_next(struct backup_source *b, struct archive_entry *ret, bool *ret_more)
{
    return b->increment ? increment_next(b->increment, ret, ret_more)
                        : archive_next(&b->archive, ret, ret_more);
}

static enum err source_take(struct backup_source *b, const struct archive_entry *entry, int fd)
{
    return b->increment ? increment_take(b->increment, entry, fd)
                        : archive_take(&b->archive, entry, fd);
}

static void source_report(struct backup_source *b, bool has_rows, struct backup_report *ret)
{
    *ret = (struct backup_report){ .files = b->archive.files,
                                   .bytes = b->archive.bytes,
                                   .has_rows = has_rows };
    if (!b->increment)
        return;
    ret->number = increment_number(b->increment);
    increment_count(b->increment, &ret->files, &ret->bytes, &ret->written);
}

static void source_close(struct backup_source *b)
{
    archive_close(&b->archive);
    increment_close(b->increment);
}

/* Gives each file to take, which says where its bytes go. */
static enum err read_backup(const char *path, int64_t number,
                            enum err (*take)(struct backup_source *b,
                                             const struct archive_entry *entry, const char *folder),
                            const char *folder, struct backup_report *ret)
{
    struct backup_source b = { 0 };
    struct archive_entry entry;
    bool more = true, has_rows = false;
    enum err e = source_open(&b, path, number);

    while (!e && more) {
        e = source_next(&b, &entry, &more);
        if (e || !more)
            break;
        if (!is_archive_name(entry.name)) {
            log_error("backup: '%s' has a file that is none of ours: '%s'", path, entry.name);
            e = ERR_BAD_REQUEST;
            break;
        }
        has_rows |= strcmp(entry.name, "guildhall.db") == 0;
        e = take(&b, &entry, folder);
    }
    if (!e)
        source_report(&b, has_rows, ret);
    source_close(&b);
    return e;
}

static enum err take_nowhere(struct backup_source *b, const struct archive_entry *entry,
                             const char *folder)
{
    (void)folder;
    return source_take(b, entry, -1);
}

/* The last one of a folder is read as it would be restored; of the others, every piece. */
static enum err check_others(const char *path)
{
    struct increment *i = NULL;
    enum err e = increment_open(path, 0, &i);

    if (!e)
        e = increment_check_all(i);
    increment_close(i);
    return e;
}

enum err backup_check(const char *path, struct backup_report *ret)
{
    enum err e = read_backup(path, 0, take_nowhere, NULL, ret);

    return e || !ret->number ? e : check_others(path);
}

/* --- restore -------------------------------------------------------------------------- */

static int open_in_folder(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (fd >= 0 || errno != ENOENT)
        return fd;
    char parent[PATH_MAX];
    strcpy(parent, path);
    *strrchr(parent, '/') = '\0';
    if (folder_make(parent))
        return -1;
    return open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
}

static enum err take_into_folder(struct backup_source *b, const struct archive_entry *entry,
                                 const char *folder)
{
    char path[PATH_MAX];

    if (snprintf(path, sizeof path, "%s/%s", folder, entry->name) >= (int)sizeof path)
        return ERR_UNAVAILABLE;
    int fd = open_in_folder(path);
    if (fd < 0) {
        log_error("backup: cannot make '%s': %s", path, strerror(errno));
        return ERR_UNAVAILABLE;
    }
    enum err e = source_take(b, entry, fd);
    if (close(fd) != 0 && !e)
        e = ERR_UNAVAILABLE;
    return e;
}

static bool is_empty_folder(const char *folder)
{
    DIR *d = opendir(folder);
    struct dirent *entry;
    bool empty = d != NULL;

    /* A file system of its own has a folder of its own. */
    while (d && empty && (entry = readdir(d)))
        empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
                strcmp(entry->d_name, "lost+found") == 0;
    if (d)
        closedir(d);
    return empty;
}

static enum err begin_restore(const char *folder, char mark[PATH_MAX])
{
    enum err e = folder_make(folder);

    if (e)
        return e;
    if (!is_empty_folder(folder)) {
        log_error("backup: '%s' is not empty; restore into a folder that is", folder);
        return ERR_BAD_REQUEST;
    }
    if (snprintf(mark, PATH_MAX, "%s/%s", folder, RESTORE_MARK) >= PATH_MAX)
        return ERR_UNAVAILABLE;
    int fd = open(mark, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 || close(fd) != 0 || !folder_sync(folder)) {
        log_error("backup: cannot write to '%s': %s", folder, strerror(errno));
        return ERR_UNAVAILABLE;
    }
    return OK;
}

/* One sync for all files instead of one each. */
static bool sync_everything(const char *folder)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool ok = fd >= 0 && syncfs(fd) == 0;

    if (fd >= 0)
        close(fd);
    return ok;
}

enum err backup_restore(const char *path, int64_t number, const char *folder,
                        struct backup_report *ret)
{
    char mark[PATH_MAX];
    enum err e = begin_restore(folder, mark);

    if (e)
        return e;
    e = read_backup(path, number, take_into_folder, folder, ret);
    if (!e && (!folder_give_all(folder) || !sync_everything(folder) || unlink(mark) != 0 ||
               !folder_sync(folder))) {
        log_error("backup: cannot write to '%s': %s", folder, strerror(errno));
        e = ERR_UNAVAILABLE;
    }
    if (e)
        log_error("backup: '%s' is not restored; empty it before the next try", folder);
    return e;
}
